/* See serve/http/http.h. Starts and stops the daemon; exchange.c handles the requests.
 *
 * A few threads use epoll, so a slow client occupies a connection, not a thread.
 *
 * libmicrohttpd 0.9.75 sends the head of some error answers twice: for a Content-Length that is not a number
 * (400) or too large (413), and for more cookies than it has room for (431). It builds the answer when it
 * processes the headers, continues as if nothing were wrong, and builds the head again after the first one.
 * There is no callback in between, so this file cannot prevent it. The status is right, the body is the
 * beginning of the second head, and the connection is closed. Its other errors (lines that are no headers,
 * chunks, versions, texts that are too long) are sent once. MHD_OPTION_STRICT_FOR_CLIENT would add a missing
 * Host to the first group, so it is not used: this file checks Host itself, and the other checks of that
 * option concern harmless things (spaces in a path, which no route has).
 *
 * libmicrohttpd does not notice the end of a connection that arrives together with data, because epoll is
 * edge-triggered and a read that does not fill the buffer counts as the last one. A client that closes at
 * once is answered, and occupies a connection for limits.timeout.
 *
 * A connection keeps the certificate that it began with. A reload affects later connections only, and closes
 * none. */
#include "serve/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"
#include "serve/http/descriptors.h"
#include "serve/http/http_inside.h"
#include "serve/http/routes.h"
#include "serve/http/strict.h"

/* Called when a connection begins or ends. With TLS it keeps the certificate with which it began. */
static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct tacit__http *http = cls;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        tacit__certificate_release(tacit__deadline_end(http->deadlines, *context));
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info->connect_fd;
    tacit__acceptor_begun(http->acceptor);
    pthread_mutex_lock(&http->lock);
    tacit__certificate *certificate =
        http->certificate != NULL ? tacit__certificate_acquire(http->certificate) : NULL;
    pthread_mutex_unlock(&http->lock);
    *context = tacit__deadline_begin(http->deadlines, fd, tacit__http_timeout(http), certificate);
    if (*context == NULL) {
        tacit__certificate_release(certificate);
        (void)shutdown(fd, SHUT_RDWR);
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (certificate != NULL && info != NULL && info->tls_session != NULL)
        tacit__certificate_attach(certificate, info->tls_session);
}

/* Counts a connection that was refused because there are too many, as an answer without a route. */
static void on_refused(void *context)
{
    struct tacit__http *http = context;
    tacit__figures_add(&http->service->figures[tacit__n_routes], 503, 0);
}

/* Where a daemon listens, and its limits. */
typedef struct listener {
    const char *host;
    uint64_t port, threads, connections, per_address, timeout;
    bool admin;
    char *url; /* of the service, 128 bytes: set when it is known */
} listener;

static listener public_listener(tacit_service *s)
{
    const tacit__service_config *c = &s->config;
    return (listener){.host = c->host,
                      .port = c->port,
                      .threads = c->threads,
                      .connections = c->limits.connections,
                      .per_address = c->limits.per_address,
                      .timeout = c->limits.timeout,
                      .url = s->url};
}

/* The admin listener has a thread and connections of its own, so that health can be asked however many
 * clients occupy the public listener. The limits are stated choices: enough for a few probes, a Prometheus
 * and a browser at a time, none of which is slow. */
static listener admin_listener(tacit_service *s)
{
    const tacit__service_config *c = &s->config;
    enum { CONNECTIONS = 64, TIMEOUT = 5 };
    return (listener){.host = c->admin_host,
                      .port = c->admin_port,
                      .threads = 1,
                      .connections = CONNECTIONS,
                      .timeout = c->limits.timeout < TIMEOUT ? c->limits.timeout : TIMEOUT,
                      .admin = true,
                      .url = s->admin_url};
}

/* Lowers the numbers of connections to what the limit of open files allows. FILES are reserved for everything
 * else that is opened later: two for each thread of libmicrohttpd, logs, certificates, a connection that is
 * refused. With fewer than FEWEST connections the service would be of no use. These are stated choices. */
static tacit_status fit_connections(tacit_service *s, listener *open, listener *admin,
                                    tacit_error *err)
{
    enum { FILES = 12, FEWEST = 4, PER_THREAD = 2 };
    const tacit__descriptors d = tacit__descriptors_count();
    const uint64_t needed = FILES + PER_THREAD * (open->threads + admin->threads),
                   wanted = open->connections;
    uint64_t room = d.left > needed ? d.left - needed : 0;
    if (admin->host != NULL && admin->connections > room / 4)
        admin->connections = room / 4;
    room -= admin->host != NULL ? admin->connections : 0;
    if (room < FEWEST || (admin->host != NULL && admin->connections < FEWEST / 2))
        return tacit__fail(err, TACIT_SYSTEM,
                           "the service may open %llu files, which leaves too few for connections; "
                           "raise the limit (ulimit -n, or LimitNOFILE of systemd) to %llu or more",
                           (unsigned long long)d.limit,
                           (unsigned long long)(d.limit - d.left + needed + 4 * FEWEST));
    if (room >= wanted)
        return TACIT_OK;
    if (open->per_address == (wanted + 3) / 4) /* the default: a quarter */
        open->per_address = (room + 3) / 4;
    open->connections = room;
    tacit__service_log(s, TACIT__WARNING, "listen",
                       "limits.connections is %llu, but the service may open %llu files: there "
                       "are at most %llu connections; raise the limit (ulimit -n, or LimitNOFILE "
                       "of systemd)",
                       (unsigned long long)wanted, (unsigned long long)d.limit,
                       (unsigned long long)room);
    return TACIT_OK;
}

/* Opens the listening socket; -1 on failure. */
static int listen_on(const listener *c, bool tls, tacit_error *err)
{
    bool six = strchr(c->host, ':') != NULL;
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)c->port)};
    struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
    int one = 1, fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)inet_pton(six ? AF_INET6 : AF_INET, c->host,
                    six ? (void *)&a6.sin6_addr : (void *)&a4.sin_addr);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, six ? (struct sockaddr *)&a6 : (struct sockaddr *)&a4,
             six ? sizeof a6 : sizeof a4) != 0 ||
        listen(fd, 1024) != 0) {
        (void)tacit__fail(err, TACIT_SYSTEM, "cannot listen on %s port %llu: %s", c->host,
                          (unsigned long long)c->port, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    socklen_t length = six ? sizeof a6 : sizeof a4; /* the port that was bound, if any would do */
    (void)getsockname(fd, six ? (struct sockaddr *)&a6 : (struct sockaddr *)&a4, &length);
    unsigned port = ntohs(six ? a6.sin6_port : a4.sin_port);
    (void)snprintf(c->url, sizeof((tacit_service *)NULL)->url, six ? "%s://[%s]:%u" : "%s://%s:%u",
                   tls ? "https" : "http", c->host, port);
    return fd;
}

static void free_http(struct tacit__http *http)
{
    if (http->acceptor != NULL)
        tacit__acceptor_stop(http->acceptor);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    tacit__acceptor_destroy(http->acceptor);
    tacit__deadlines_destroy(http->deadlines);
    tacit__certificate_release(http->certificate);
    (void)pthread_mutex_destroy(&http->lock);
    tacit__free(http);
}

/* libmicrohttpd with its workers; NULL: it does not start. A pool needs something to listen on: it gets
 * an event that never comes, since the acceptor brings the connections.
 *
 * The acceptor also keeps the limit of connections. A worker's share of libmicrohttpd's own limit must never
 * be reached: 0.9.75 refuses a connection from outside without unlocking what it has locked
 * (new_connection_process_), and that worker is stuck permanently. Every share is twice the whole limit.
 *
 * The workers are patient threads: see base/thread.h. Those for health are not, since they have little to do
 * and must not wait. */
static struct MHD_Daemon *start_daemon(struct tacit__http *http, const listener *c, bool tls)
{
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tacit__certificate_callback()},
        /* libmicrohttpd's default still takes TLS 1.0 and 1.1, which RFC 8996 has ended */
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     (tls ? MHD_USE_TLS : 0);
    const int silent = eventfd(0, EFD_CLOEXEC);
    if (silent < 0)
        return NULL;
    const bool patient = !c->admin && tacit__thread_set_patient(true);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, tacit__exchange_continue, http, MHD_OPTION_LISTEN_SOCKET, silent,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)(c->threads > 1 ? c->threads : 0),
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(2 * c->connections * c->threads),
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)c->per_address, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)c->timeout, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)http->service->config.limits.header, MHD_OPTION_UNESCAPE_CALLBACK,
        tacit__strict_unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED, tacit__exchange_end, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_ARRAY, tls ? secure : none,
        MHD_OPTION_END);
    if (patient)
        (void)tacit__thread_set_patient(false);
    if (daemon == NULL)
        (void)close(silent);
    return daemon;
}

/* Serves the connections of a listening socket. It owns the socket and the certificate from now on, even on
 * failure. Without a certificate there is no TLS. */
static tacit_status start(tacit_service *s, int fd, tacit__certificate *certificate,
                          const listener *c, struct tacit__http **out, tacit_error *err)
{
    struct tacit__http *http = tacit__alloc(1, sizeof *http);
    if (http == NULL) {
        (void)close(fd);
        tacit__certificate_release(certificate);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    http->service = s;
    http->admin = c->admin;
    http->timeout = c->timeout;
    http->certificate = certificate;
    (void)pthread_mutex_init(&http->lock, NULL);
    tacit_status status = tacit__acceptor_create(
        &(tacit__acceptor_terms){fd, c->connections, certificate != NULL, on_refused, http},
        &http->acceptor, err);
    if (status == TACIT_OK)
        status = tacit__deadlines_create(&http->deadlines, err);
    if (status == TACIT_OK) {
        char needs[300];
        http->daemon = start_daemon(http, c, certificate != NULL);
        status = http->daemon != NULL
                     ? tacit__acceptor_start(http->acceptor, http->daemon, err)
                     : tacit__fail(err, TACIT_SYSTEM,
                                   "the server could not be started%s; it needs %llu %s",
                                   certificate != NULL ? "; can this libmicrohttpd speak TLS?" : "",
                                   (unsigned long long)c->threads,
                                   tacit__thread_needs(needs, sizeof needs));
    }
    if (status == TACIT_OK)
        *out = http;
    else
        free_http(http);
    return status;
}

/* Reads the certificate that the configuration names; NULL without TLS. */
static tacit_status read_certificate(const tacit_service *s, tacit__certificate **out,
                                     tacit_error *err)
{
    *out = NULL;
    if (s->config.certificate == NULL)
        return TACIT_OK;
    return tacit__certificate_read(s->config.certificate, s->config.private_key, out, err);
}

static tacit_status start_at(tacit_service *s, const listener *c, struct tacit__http **out,
                             tacit_error *err)
{
    tacit__certificate *certificate;
    tacit_status status = read_certificate(s, &certificate, err);
    int fd = status == TACIT_OK ? listen_on(c, certificate != NULL, err) : -1;
    if (status == TACIT_OK && fd < 0) {
        tacit__certificate_release(certificate);
        return TACIT_SYSTEM;
    }
    return status == TACIT_OK ? start(s, fd, certificate, c, out, err) : status;
}

tacit_status tacit__http_start(tacit_service *s, tacit_error *err)
{
    TACIT__REQUIRE(s->http == NULL && s->admin == NULL);
    listener open = public_listener(s), admin = admin_listener(s);
    tacit_status status = fit_connections(s, &open, &admin, err);
    if (status == TACIT_OK)
        status = start_at(s, &open, &s->http, err);
    if (status == TACIT_OK && admin.host != NULL)
        status = start_at(s, &admin, &s->admin, err);
    return status;
}

/* Waits until the requests are answered, then ends the daemon. It waits for slow clients no longer than the
 * time limit, but always for requests with the committer, since these are being written to disk. */
static void finish(struct tacit__http *http)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    const double until = tacit__now_seconds() + (double)http->timeout;
    atomic_store(&http->stage, LAST);
    while (atomic_load(&http->requests) > 0 && tacit__now_seconds() < until)
        (void)nanosleep(&nap, NULL);
    atomic_store(&http->stage, OVER);
    while (atomic_load(&http->waiting) > 0)
        (void)nanosleep(&nap, NULL);
    free_http(http);
}

static void change_certificate(struct tacit__http *http, tacit__certificate *certificate)
{
    pthread_mutex_lock(&http->lock);
    tacit__certificate *old = http->certificate;
    http->certificate = certificate;
    pthread_mutex_unlock(&http->lock);
    tacit__certificate_release(old);
}

/* A certificate that does not work is not used: the service continues with the last one that did. */
tacit_status tacit__http_reload(tacit_service *s, tacit_error *err)
{
    TACIT__REQUIRE(s->http != NULL);
    tacit__certificate *certificate;
    tacit_status status = read_certificate(s, &certificate, err);
    if (status != TACIT_OK || certificate == NULL)
        return status;
    if (s->admin != NULL)
        change_certificate(s->admin, tacit__certificate_acquire(certificate));
    change_certificate(s->http, certificate);
    return TACIT_OK;
}

static void stop(struct tacit__http *http)
{
    if (http == NULL)
        return;
    tacit__acceptor_stop(http->acceptor);
    finish(http);
}

void tacit__http_stop(tacit_service *s)
{
    stop(s->http); /* health can be asked until the last answer */
    stop(s->admin);
    s->http = s->admin = NULL;
}
