/* See serve/http/acceptor.h.
 *
 * libmicrohttpd knows how many connections its workers have. It counts a new connection only when a worker
 * begins with it, so this file counts those in between: added minus begun. libmicrohttpd does not report a
 * connection that it drops for lack of memory, so a connection that has been in between for a second counts
 * as dropped. */
#include "serve/http/acceptor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

struct tacit__acceptor {
    tacit__acceptor_terms terms; /* fd -1: closed */
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool runs;
    atomic_bool stop;
    atomic_uint_fast64_t begun;
    uint_fast64_t added; /* of the thread */
};

enum { PAUSE_MS = 5, PATIENCE_MS = 1000 };

#define SENTENCE "all connections are in use (limits.connections); try again after a second"
#define BODY "{\"error\":{\"code\":\"busy\",\"message\":\"" SENTENCE "\"}}"

static void pause_briefly(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

/* The number is never too low: a connection that begins meanwhile is counted twice. */
static uint64_t connections(const tacit__acceptor *a)
{
    TACIT__REQUIRE(a->daemon != NULL);
    const uint64_t on_the_way = a->added - atomic_load(&a->begun);
    return on_the_way +
           MHD_get_daemon_info(a->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* Sends the answer, as far as that is possible at once. Then it reads what the client has sent, because
 * closing a socket with unread data discards what was sent on it. */
static void refuse(const tacit__acceptor *a, int fd)
{
    char head[200], unread[4096];
    const int n = snprintf(head, sizeof head,
                           "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: "
                           "1\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                           sizeof BODY - 1);
    if (!a->terms.tls && send(fd, head, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE) == n &&
        send(fd, BODY, sizeof BODY - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        (void)shutdown(fd, SHUT_WR);
    for (int i = 0; i < 16 && recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0; i++)
        ;
    (void)close(fd);
    a->terms.refused(a->terms.context);
}

/* Refuses one waiting connection, if there is any. */
static void refuse_next(const tacit__acceptor *a)
{
    struct pollfd p = {.fd = a->terms.fd, .events = POLLIN};
    const int fd = poll(&p, 1, PAUSE_MS) > 0
                       ? accept4(a->terms.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)
                       : -1;
    if (fd >= 0)
        refuse(a, fd);
}

/* Waits until there is room for one more connection, and refuses others meanwhile. Returns false if the
 * thread must stop. */
static bool wait_for_room(tacit__acceptor *a)
{
    for (int waited = 0; !atomic_load(&a->stop); waited += PAUSE_MS) {
        if (connections(a) < a->terms.limit)
            return true;
        if (waited == PATIENCE_MS) /* what has not begun by now was dropped */
            a->added = atomic_load(&a->begun);
        if (waited > PATIENCE_MS)
            refuse_next(a);
        else
            pause_briefly();
    }
    return false;
}

static void *run(void *context)
{
    tacit__acceptor *a = context;
    while (wait_for_room(a)) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        const int fd =
            accept4(a->terms.fd, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            if (MHD_add_connection(a->daemon, fd, (struct sockaddr *)&peer, length) == MHD_YES)
                a->added++; /* else it is closed: too many of one address, or no memory */
        } else if (errno != EINTR && errno != ECONNABORTED) {
            /* no descriptors, or no memory: those that are there have to end first */
            pause_briefly();
        }
    }
    return NULL;
}

tacit_status tacit__acceptor_create(const tacit__acceptor_terms *terms, tacit__acceptor **out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(terms->fd >= 0 && terms->limit > 0 && terms->refused != NULL);
    tacit__acceptor *a = tacit__alloc(1, sizeof *a);
    if (a == NULL) {
        (void)close(terms->fd);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    a->terms = *terms;
    *out = a;
    return TACIT_OK;
}

tacit_status tacit__acceptor_start(tacit__acceptor *a, struct MHD_Daemon *daemon, tacit_error *err)
{
    TACIT__REQUIRE(!a->runs && a->terms.fd >= 0);
    a->daemon = daemon;
    tacit_status status = tacit__thread_start(&a->thread, run, a, err);
    a->runs = status == TACIT_OK;
    return status;
}

void tacit__acceptor_begun(tacit__acceptor *a)
{
    atomic_fetch_add(&a->begun, 1);
}

void tacit__acceptor_stop(tacit__acceptor *a)
{
    if (a->terms.fd < 0)
        return;
    atomic_store(&a->stop, true);
    (void)shutdown(a->terms.fd, SHUT_RDWR); /* ends accept4 */
    if (a->runs)
        (void)pthread_join(a->thread, NULL);
    (void)close(a->terms.fd);
    a->terms.fd = -1;
}

void tacit__acceptor_destroy(tacit__acceptor *a)
{
    if (a == NULL)
        return;
    tacit__acceptor_stop(a);
    tacit__free(a);
}
