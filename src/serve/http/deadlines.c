/* See serve/http/deadlines.h.
 *
 * A lock protects the list of records. It is taken when a connection begins and ends, and once a second by
 * the thread that checks the list. A request only stores its deadline, counted in checks, which are a second
 * or more apart. So requests do not read the clock, and if the thread is late, no connection is closed too
 * early. The thread shuts a socket down under the lock, and a record leaves the list under the lock before
 * its descriptor can be used again: libmicrohttpd 0.9.75 reports the end of a connection before it closes
 * the socket (MHD_cleanup_connections, and new_connection_process_ for a connection that could not begin). A
 * connection that makes progress exactly when its time ends may still be closed, as with any time limit. */
#include "serve/http/deadlines.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"

struct tacit__deadline {
    tacit__deadline *previous, *next;
    int fd;
    atomic_uint_fast64_t until; /* the check at which the connection is closed */
    void *keep;
};

struct tacit__deadlines {
    pthread_t thread;
    atomic_uint_fast64_t looks;
    pthread_mutex_t lock;
    pthread_cond_t news;
    tacit__deadline *first;
    bool stop;
};

static void *watch(void *context)
{
    tacit__deadlines *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->stop) {
        while (!all->stop && all->first == NULL)
            (void)pthread_cond_wait(&all->news, &all->lock);
        const double then = tacit__now_ms() + 1000;
        while (!all->stop && tacit__wait_until(&all->news, &all->lock, then))
            ;
        uint_fast64_t now = atomic_fetch_add_explicit(&all->looks, 1, memory_order_relaxed) + 1;
        for (tacit__deadline *a = all->first; a != NULL; a = a->next)
            if (atomic_load_explicit(&a->until, memory_order_relaxed) <= now) {
                (void)shutdown(a->fd, SHUT_RDWR);
                tacit__deadline_wait(a); /* do not shut it down again */
            }
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

tacit_status tacit__deadlines_create(tacit__deadlines **out, tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    tacit__deadlines *all = tacit__alloc(1, sizeof *all);
    if (all == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)pthread_mutex_init(&all->lock, NULL);
    tacit__condition_create(&all->news);
    tacit_status status = tacit__thread_start(&all->thread, watch, all, err);
    if (status != TACIT_OK) {
        (void)pthread_cond_destroy(&all->news);
        (void)pthread_mutex_destroy(&all->lock);
        tacit__free(all);
        return status;
    }
    *out = all;
    return TACIT_OK;
}

void tacit__deadlines_destroy(tacit__deadlines *all)
{
    if (all == NULL)
        return;
    pthread_mutex_lock(&all->lock);
    all->stop = true;
    pthread_cond_signal(&all->news);
    pthread_mutex_unlock(&all->lock);
    (void)pthread_join(all->thread, NULL);
    (void)pthread_cond_destroy(&all->news);
    (void)pthread_mutex_destroy(&all->lock);
    tacit__free(all);
}

tacit__deadline *tacit__deadline_begin(tacit__deadlines *all, int fd, uint64_t seconds, void *keep)
{
    TACIT__REQUIRE(all != NULL && fd >= 0);
    tacit__deadline *a = tacit__alloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->fd = fd;
    a->keep = keep;
    tacit__deadline_allow(all, a, seconds);
    pthread_mutex_lock(&all->lock);
    if (all->first == NULL)
        pthread_cond_signal(&all->news);
    else
        all->first->previous = a;
    a->next = all->first;
    all->first = a;
    pthread_mutex_unlock(&all->lock);
    return a;
}

void *tacit__deadline_end(tacit__deadlines *all, tacit__deadline *a)
{
    if (a == NULL)
        return NULL;
    pthread_mutex_lock(&all->lock);
    if (a->previous != NULL)
        a->previous->next = a->next;
    else
        all->first = a->next;
    if (a->next != NULL)
        a->next->previous = a->previous;
    pthread_mutex_unlock(&all->lock);
    void *keep = a->keep;
    tacit__free(a);
    return keep;
}

void tacit__deadline_allow(tacit__deadlines *all, tacit__deadline *a, uint64_t seconds)
{
    /* the next check may come at once */
    uint_fast64_t now = atomic_load_explicit(&all->looks, memory_order_relaxed);
    atomic_store_explicit(&a->until, now + seconds + 1, memory_order_relaxed);
}

void tacit__deadline_wait(tacit__deadline *a)
{
    atomic_store_explicit(&a->until, UINT_FAST64_MAX, memory_order_relaxed);
}
