/* See serve/http.h.
 *
 * A few threads with epoll: a slow client costs a connection, not a thread. A request that waits for the disk is suspended and
 * resumed by the scribe. Who may not ask is answered before the body is read.
 *
 * libmicrohttpd 0.9.75 answers a length that is no number (400) or too large a one (413), and more cookies than it has room for
 * (431), with the head twice: the answer is built when it looks at the headers as a whole, but it goes on as if nothing were
 * wrong, and builds the head again behind the first. No callback lies between, so it cannot be helped here. The status is true, the
 * body is the beginning of the second head, and the connection is closed. Its other errors (lines that are no headers, chunks,
 * versions, what is too long) are sent once. So not MHD_OPTION_STRICT_FOR_CLIENT, which adds a missing Host to the former: what it
 * checks is checked here (Host), or harmless (spaces in a path that nobody has).
 *
 * An end that comes with the data is not seen by it, since epoll is edge-triggered and a read that leaves room is taken for the
 * last. Who hangs up at once is answered, and keeps the place for limits.timeout.
 *
 * Its time limit is for silence only. That a head, a body and the taking of an answer come to an end is seen to by serve/callers.h:
 * limits.timeout for each, and a second more for every SLOWEST bytes of a body or an answer.
 *
 * A connection shows the certificate that was there when it began, and keeps it: a reload is about those that come later, and
 * closes none. */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/stream.h"
#include "serve/callers.h"
#include "serve/certificate.h"
#include "serve/routes.h"
#include "serve/service.h"

/* SLOWEST: bytes a second, a stated choice: a poor mobile connection. */
enum { OVERFLOW_TIMES = 4, SLOWEST = 1 << 14 };

struct tacit__http {
    struct MHD_Daemon *daemon;
    tacit_service *service;
    tacit__callers *callers;
    atomic_uint requests; /* begun and not answered */
    atomic_uint waiting;  /* of them, those that are with the scribe, or may be */
    atomic_int stage;
    pthread_mutex_t lock;            /* of the certificate, which a reload changes */
    tacit__certificate *certificate; /* NULL: no TLS */
};

/* The end of a daemon. LAST: what is asked on connections that are there is answered, and closes them. OVER: nothing is begun.
 * libmicrohttpd ends the program if it is stopped while a connection is suspended, so that must be certain, not likely. */
typedef enum stage { SERVING, LAST, OVER } stage;

/* A request on its way. */
typedef enum phase { RUNNING, SUSPENDED, DONE } phase;

typedef struct exchange {
    tacit__request request;
    struct tacit__http *http;
    struct MHD_Connection *connection;
    tacit__caller *caller;
    struct timespec start;
    char *body;
    size_t size, capacity;
    bool prepared, handled, overflow, waits;
    atomic_int phase;
} exchange;

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static uint64_t timeout_of(const struct tacit__http *http)
{
    return http->service->config.limits.timeout;
}

/* So many bytes are to come or to go from now on. */
static void allow(exchange *e, uint64_t bytes)
{
    tacit__caller_allow(e->http->callers, e->caller, timeout_of(e->http) + bytes / SLOWEST);
}

/* --- Answers ------------------------------------------------------------------------------------ */

static void add_headers(struct MHD_Response *response, const tacit__request *r)
{
    char text[64];
    (void)MHD_add_response_header(response, "Content-Type",
                                  r->type != NULL ? r->type : "application/json");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (r->max_age > 0 && (r->status == 200 || r->status == 304)) {
        (void)snprintf(text, sizeof text, "public, max-age=%u", r->max_age);
        (void)MHD_add_response_header(response, "Cache-Control", text);
    } else {
        (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    }
    if (r->etag[0] != '\0')
        (void)MHD_add_response_header(response, "ETag", r->etag);
    if (r->retry_after > 0) {
        (void)snprintf(text, sizeof text, "%u", r->retry_after);
        (void)MHD_add_response_header(response, "Retry-After", text);
    }
    if (r->status == 405)
        (void)MHD_add_response_header(response, "Allow", r->allow);
    if (r->status == 401)
        (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (r->type != NULL && strncmp(r->type, "text/html", 9) == 0) {
        (void)MHD_add_response_header(
            response, "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            "connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'");
        (void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    }
}

static enum MHD_Result answer(exchange *e)
{
    tacit__request *r = &e->request;
    if (r->answer.failed) {
        r->answer.failed = false;
        r->type = NULL;
        (void)tacit__refuse(r, 503, "memory", NULL, "out of memory");
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(
        r->answer.length, r->answer.data != NULL ? r->answer.data : (void *)(uintptr_t) "",
        MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    add_headers(response, r);
    if (atomic_load(&e->http->stage) != SERVING)
        (void)MHD_add_response_header(response, "Connection", "close");
    allow(e, r->answer.length);
    enum MHD_Result result = MHD_queue_response(e->connection, r->status, response);
    MHD_destroy_response(response);
    if (r->route != NULL)
        tacit__figures_add(&r->service->figures[r->route - tacit__routes], r->status,
                           seconds_since(&e->start));
    return result;
}

/* --- Requests ----------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Finds the route and checks who asks. False: refused. */
static bool admit(exchange *e, const char *url, const char *method, const char *version)
{
    tacit__request *r = &e->request;
    const tacit__service_config *c = &r->service->config;
    const char *known;
    if (strcmp(version, MHD_HTTP_VERSION_1_1) == 0 && header(e->connection, "Host") == NULL)
        return !tacit__refuse(r, 400, "host", NULL, "HTTP/1.1 needs a header Host");
    if (header(e->connection, "Content-Length") != NULL &&
        header(e->connection, "Transfer-Encoding") !=
            NULL) /* who is in front may read another end */
        return !tacit__refuse(r, 400, "length", NULL,
                              "Content-Length and Transfer-Encoding contradict each other");
    r->route = tacit__route_find(method, url, &r->path_id, &r->path_id_length, &known);
    r->allow = known;
    if (r->route == NULL)
        return !(known != NULL
                     ? tacit__refuse(r, 405, "method", NULL, "this route has another method")
                     : tacit__refuse(r, 404, "no_route", NULL, "there is no such route"));
    switch (
        tacit__service_admit(r->service, header(e->connection, "Authorization"), r->route->scope)) {
    case 401:
        return !tacit__refuse(r, 401, "token", NULL, "a valid token is needed");
    case 403:
        return !tacit__refuse(r, 403, "scope", NULL, "the token has not the scope %s",
                              tacit__scope_name(r->route->scope));
    case 429:
        r->retry_after = 1;
        return !tacit__refuse(r, 429, "rate", NULL, "this token asks too often");
    default:
        break;
    }
    const char *length = header(e->connection, "Content-Length");
    if (length != NULL && strtoull(length, NULL, 10) > c->limits.body)
        return !tacit__refuse(r, 413, "too_large", NULL, "the body has more than %llu bytes",
                              (unsigned long long)c->limits.body);
    return true;
}

static bool store_body(exchange *e, const char *data, size_t size)
{
    uint64_t limit = e->request.service->config.limits.body;
    if (e->size + size > limit || e->overflow) {
        e->overflow = true;
        e->size += size; /* counted, not kept */
        return e->size < OVERFLOW_TIMES * limit;
    }
    if (e->size + size > e->capacity) {
        size_t capacity = e->capacity < 1024 ? 1024 : e->capacity;
        while (capacity < e->size + size)
            capacity *= 2;
        char *larger = tacit__alloc(capacity, 1);
        if (larger == NULL)
            return false;
        if (e->size > 0)
            memcpy(larger, e->body, e->size);
        tacit__free_secret(e->body, e->capacity);
        e->body = larger;
        e->capacity = capacity;
    }
    memcpy(e->body + e->size, data, size);
    e->size += size;
    return true;
}

/* Whether it will be suspended, and has to be made ready for that: the next call is to handle it.
 *
 * libmicrohttpd 0.9.75 reads from a resumed connection before it asks for the answer, if reading was what it did last; and a
 * client that has hung up on its side is then sent away without the answer to what has been written. Only if the oldest connection of a thread
 * is the one resumed does it ask first. A request that is whole and is looked at once more without an answer is no longer
 * read from, so that is waited for; it costs one turn of the loop. */
static bool prepare(exchange *e)
{
    const unsigned written = TACIT__SCOPE_OBSERVE | TACIT__SCOPE_REPORT;
    bool first = !e->prepared && !e->overflow &&
                 ((e->request.route->scope & written) != 0 ||
                  header(e->connection, "Idempotency-Key") != NULL);
    e->prepared = true;
    return first;
}

/* Called by the scribe. */
static void resume(tacit__request *r)
{
    exchange *e = (exchange *)(void *)((char *)r - offsetof(exchange, request));
    struct MHD_Connection *connection = e->connection;
    if (atomic_exchange(&e->phase, DONE) == SUSPENDED)
        MHD_resume_connection(connection);
}

/* The scribe has nothing more to do with this. Called by the connection's own thread. */
static void settle(exchange *e)
{
    if (e->waits)
        atomic_fetch_sub(&e->http->waiting, 1);
    e->waits = false;
}

static enum MHD_Result settle_and_answer(exchange *e)
{
    settle(e);
    return answer(e);
}

static enum MHD_Result handle(exchange *e)
{
    tacit__request *r = &e->request;
    tacit__caller_wait(e->caller);
    e->handled = e->waits = true;
    atomic_fetch_add(&e->http->waiting, 1); /* before the look at the stage: see finish() */
    if (atomic_load(&e->http->stage) == OVER) {
        r->retry_after = 1;
        (void)tacit__refuse(r, 503, "stopping", NULL, "the service is being stopped");
        return settle_and_answer(e);
    }
    if (e->overflow) {
        (void)tacit__refuse(r, 413, "too_large", NULL, "the body has more than %llu bytes",
                            (unsigned long long)r->service->config.limits.body);
        return settle_and_answer(e);
    }
    r->learner = MHD_lookup_connection_value(e->connection, MHD_GET_ARGUMENT_KIND, "learner");
    r->idempotency = header(e->connection, "Idempotency-Key");
    r->if_none_match = header(e->connection, "If-None-Match");
    r->body = e->body;
    r->body_size = e->size;
    r->resume = resume;
    if (r->route->handle(r))
        return settle_and_answer(e);
    MHD_suspend_connection(e->connection);
    int running = RUNNING;
    if (!atomic_compare_exchange_strong(&e->phase, &running, SUSPENDED))
        MHD_resume_connection(e->connection); /* the scribe was faster */
    return MHD_YES;
}

static enum MHD_Result begin(struct tacit__http *http, struct MHD_Connection *connection,
                             const char *url, const char *method, const char *version,
                             void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info->socket_context == NULL) /* it could not be begun, and is shut down */
        return MHD_NO;
    exchange *e = tacit__alloc(1, sizeof *e);
    if (e == NULL)
        return MHD_NO;
    *context = e;
    e->http = http;
    e->connection = connection;
    e->caller = info->socket_context;
    e->request.service = http->service;
    (void)clock_gettime(CLOCK_MONOTONIC, &e->start);
    atomic_fetch_add(&http->requests, 1);
    if (admit(e, url, method, version)) {
        const char *length = header(connection, "Content-Length");
        allow(e, length != NULL ? strtoull(length, NULL, 10) : http->service->config.limits.body);
        return MHD_YES;
    }
    e->handled = true;
    return answer(e);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context)
{
    exchange *e = *context;
    if (e == NULL)
        return begin(cls, connection, url, method, version, context);
    if (*size > 0) {
        bool good = e->handled || store_body(e, data, *size);
        *size = 0;
        return good ? MHD_YES : MHD_NO;
    }
    if (!e->handled && prepare(e))
        return MHD_YES;
    if (!e->handled) {
        /* the path is kept by the connection, but not for good: look it up again */
        const char *known;
        (void)tacit__route_find(method, url, &e->request.path_id, &e->request.path_id_length,
                                &known);
        return handle(e);
    }
    return atomic_load(&e->phase) == DONE ? settle_and_answer(e) : MHD_YES;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection, (void)code;
    exchange *e = *context;
    *context = NULL;
    if (e == NULL)
        return;
    struct tacit__http *http = e->http;
    /* silent until the next request for as long as one may be, and then its head */
    tacit__caller_allow(http->callers, e->caller, 2 * timeout_of(http));
    settle(e);
    tacit__free_secret(e->body, e->capacity);
    tacit__free_secret(e->request.data, e->request.data != NULL ? e->request.data_size : 0);
    tacit__text_destroy(&e->request.answer);
    tacit__free_secret(e, sizeof *e);
    atomic_fetch_sub(&http->requests, 1);
}

/* --- Daemons ------------------------------------------------------------------------------------ */

/* A connection begins or ends. With TLS it holds the certificate of its time. */
static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct tacit__http *http = cls;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        tacit__certificate_give(tacit__caller_end(http->callers, *context));
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info->connect_fd;
    pthread_mutex_lock(&http->lock);
    tacit__certificate *certificate =
        http->certificate != NULL ? tacit__certificate_take(http->certificate) : NULL;
    pthread_mutex_unlock(&http->lock);
    *context = tacit__caller_begin(http->callers, fd, timeout_of(http), certificate);
    if (*context == NULL) {
        tacit__certificate_give(certificate);
        (void)shutdown(fd, SHUT_RDWR);
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (certificate != NULL && info != NULL && info->tls_session != NULL)
        tacit__certificate_attach(certificate, info->tls_session);
}

/* The socket that is listened on; -1: not yet there. */
static int listen_on(tacit_service *s, tacit_error *err)
{
    const tacit__service_config *c = &s->config;
    bool six = strchr(c->host, ':') != NULL;
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)c->port)};
    struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
    int one = 1,
        fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    unsigned port = (unsigned)c->port;
    if (getsockname(fd, (struct sockaddr *)&bound, &length) == 0)
        port = ntohs(six ? ((struct sockaddr_in6 *)&bound)->sin6_port
                         : ((struct sockaddr_in *)&bound)->sin_port);
    (void)snprintf(s->url, sizeof s->url, six ? "%s://[%s]:%u" : "%s://%s:%u",
                   c->certificate != NULL ? "https" : "http", c->host, port);
    return fd;
}

static void free_http(struct tacit__http *http)
{
    tacit__callers_destroy(http->callers);
    tacit__certificate_give(http->certificate);
    (void)pthread_mutex_destroy(&http->lock);
    tacit__free(http);
}

/* A daemon on a socket, which it owns if it could be started. The certificate is its own from now on; NULL: no TLS. */
static tacit_status start(tacit_service *s, int fd, tacit__certificate *certificate,
                          tacit_error *err)
{
    const tacit__service_config *c = &s->config;
    struct tacit__http *http = tacit__alloc(1, sizeof *http);
    if (http == NULL) {
        tacit__certificate_give(certificate);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    http->service = s;
    http->certificate = certificate;
    (void)pthread_mutex_init(&http->lock, NULL);
    tacit_status status = tacit__callers_create(&http->callers, err);
    if (status != TACIT_OK) {
        free_http(http);
        return status;
    }
    bool tls = certificate != NULL;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tacit__certificate_callback()},
        /* libmicrohttpd's default still takes TLS 1.0 and 1.1, which RFC 8996 has ended */
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     (tls ? MHD_USE_TLS : 0);
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)(c->threads > 1 ? c->threads : 0),
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)c->limits.connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)c->limits.per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)c->limits.timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)c->limits.header, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_ARRAY,
        tls ? secure : none, MHD_OPTION_END);
    if (http->daemon == NULL) {
        free_http(http);
        return tacit__fail(
            err, TACIT_SYSTEM,
            tls ? "the server could not be started; can this libmicrohttpd speak TLS?"
                : "the server could not be started");
    }
    s->http = http;
    return TACIT_OK;
}

/* What the configuration names; NULL without TLS. */
static tacit_status read_certificate(const tacit_service *s, tacit__certificate **out,
                                     tacit_error *err)
{
    *out = NULL;
    if (s->config.certificate == NULL)
        return TACIT_OK;
    return tacit__certificate_read(s->config.certificate, s->config.private_key, out, err);
}

tacit_status tacit__http_start(tacit_service *s, tacit_error *err)
{
    tacit__certificate *certificate;
    tacit_status status = read_certificate(s, &certificate, err);
    int fd = status == TACIT_OK ? listen_on(s, err) : -1;
    if (status == TACIT_OK && fd < 0) {
        tacit__certificate_give(certificate);
        return TACIT_SYSTEM;
    }
    if (status == TACIT_OK)
        status = start(s, fd, certificate, err);
    if (status != TACIT_OK && fd >= 0)
        (void)close(fd);
    return status;
}

/* Waits until the requests are answered, then ends the daemon. Who is slow is waited for no longer than the time limit; what is
 * with the scribe, always, since it is on its way to the disk. */
static void finish(const tacit_service *s, struct tacit__http *http)
{
    struct timespec start_time, nap = {.tv_nsec = 2000000};
    (void)clock_gettime(CLOCK_MONOTONIC, &start_time);
    atomic_store(&http->stage, LAST);
    while (atomic_load(&http->requests) > 0 &&
           seconds_since(&start_time) < (double)s->config.limits.timeout)
        (void)nanosleep(&nap, NULL);
    atomic_store(&http->stage, OVER);
    while (atomic_load(&http->waiting) > 0)
        (void)nanosleep(&nap, NULL);
    MHD_stop_daemon(http->daemon);
    free_http(http);
}

/* One that does not work is not taken: it goes on with the one that did. */
tacit_status tacit__http_reload(tacit_service *s, tacit_error *err)
{
    tacit__certificate *certificate;
    tacit_status status = read_certificate(s, &certificate, err);
    if (status != TACIT_OK || certificate == NULL)
        return status;
    pthread_mutex_lock(&s->http->lock);
    tacit__certificate *old = s->http->certificate;
    s->http->certificate = certificate;
    pthread_mutex_unlock(&s->http->lock);
    tacit__certificate_give(old);
    return TACIT_OK;
}

void tacit__http_stop(tacit_service *s)
{
    if (s->http == NULL)
        return;
    MHD_socket fd = MHD_quiesce_daemon(s->http->daemon);
    /* nobody connects any more; the number stays taken until the daemon, which may still name it, has ended */
    if (fd != MHD_INVALID_SOCKET)
        (void)shutdown(fd, SHUT_RDWR);
    finish(s, s->http);
    if (fd != MHD_INVALID_SOCKET)
        (void)close(fd);
    s->http = NULL;
}
