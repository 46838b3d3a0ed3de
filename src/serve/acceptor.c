/* See serve/acceptor.h.
 *
 * libmicrohttpd knows how many connections its workers have. It counts a new connection only when a worker
 * begins with it, so this file counts those in between: added minus begun. libmicrohttpd does not report a
 * connection that it drops for lack of memory, so a connection that has been in between for a second counts
 * as dropped. */
#include "serve/acceptor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

struct tacit__acceptor {
    int fd; /* -1: closed */
    uint64_t limit;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool runs;
    atomic_bool stop;
    atomic_uint_fast64_t begun;
    uint_fast64_t added; /* of the thread */
};

enum { PAUSE_MS = 5, DROPPED_AFTER_MS = 1000 };

static void pause_briefly(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

/* Never too few: one that begins in between is counted twice. */
static uint64_t connections(const tacit__acceptor *a)
{
    TACIT__REQUIRE(a->daemon != NULL);
    const uint64_t on_the_way = a->added - atomic_load(&a->begun);
    return on_the_way +
           MHD_get_daemon_info(a->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* Waits until there is room for one more; false: the thread must stop. */
static bool wait_for_room(tacit__acceptor *a)
{
    for (int waited = 0; !atomic_load(&a->stop); waited += PAUSE_MS) {
        if (connections(a) < a->limit)
            return true;
        if (waited >= DROPPED_AFTER_MS)
            a->added = atomic_load(&a->begun);
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
            accept4(a->fd, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            if (MHD_add_connection(a->daemon, fd, (struct sockaddr *)&peer, length) == MHD_YES)
                a->added++; /* else it is closed: too many of one address, or no memory */
        } else if (errno != EINTR && errno != ECONNABORTED) {
            pause_briefly(); /* no descriptors, or no memory: those that are there have to end first */
        }
    }
    return NULL;
}

tacit_status tacit__acceptor_create(int fd, uint64_t limit, tacit__acceptor **out, tacit_error *err)
{
    TACIT__REQUIRE(fd >= 0 && limit > 0);
    tacit__acceptor *a = tacit__alloc(1, sizeof *a);
    if (a == NULL) {
        (void)close(fd);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    a->fd = fd;
    a->limit = limit;
    *out = a;
    return TACIT_OK;
}

tacit_status tacit__acceptor_start(tacit__acceptor *a, struct MHD_Daemon *daemon, tacit_error *err)
{
    TACIT__REQUIRE(!a->runs && a->fd >= 0);
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
    if (a->fd < 0)
        return;
    atomic_store(&a->stop, true);
    (void)shutdown(a->fd, SHUT_RDWR); /* ends accept4 */
    if (a->runs)
        (void)pthread_join(a->thread, NULL);
    (void)close(a->fd);
    a->fd = -1;
}

void tacit__acceptor_destroy(tacit__acceptor *a)
{
    if (a == NULL)
        return;
    tacit__acceptor_stop(a);
    tacit__free(a);
}
