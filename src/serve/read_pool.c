/* Read connections for requests. A thread that serves requests reads often and briefly. As long as there are
 * no more threads than connections, each thread has its own connection, and no thread waits for another.
 *
 * A snapshot costs two system calls, more than the lookup in it. So a connection keeps its snapshot until the
 * committer has written something, or OLDEST has passed: a client that was told of a write finds it. The
 * committer ends all snapshots before it copies the log into the file, since snapshots keep the log in
 * use. */
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "serve/read_pool.h"

#define OLDEST 0.1 /* seconds: after an error, a stale snapshot does not last longer */

struct tacit__vault_reader {
    pthread_mutex_t lock;
    tacit__vault *vault;
    bool has_snapshot; /* a snapshot is open, */
    uint64_t writes;   /* which is not older than this many commits */
    double since;      /* seconds */
};

/* The connection of this thread. Threads are numbered in the order in which they first ask. */
static struct tacit__vault_reader *own(const tacit_service *s)
{
    TACIT__REQUIRE(s->n_readers > 0);
    static atomic_size_t threads;
    static _Thread_local size_t number;
    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return &s->readers[number % s->n_readers];
}

tacit_status tacit__read_pool_open(tacit_service *s, const uint8_t *key, tacit_error *err)
{
    TACIT__REQUIRE(s->readers == NULL && s->n_readers == 0);
    const size_t n = s->config.threads > 0 ? s->config.threads : 1;
    s->readers = tacit__alloc(n, sizeof *s->readers);
    if (s->readers == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    for (; s->n_readers < n && status == TACIT_OK; s->n_readers++) {
        struct tacit__vault_reader *r = &s->readers[s->n_readers];
        (void)pthread_mutex_init(&r->lock, NULL);
        status = tacit__vault_open(s->config.store, TACIT__VAULT_READ, key, &r->vault, err);
    }
    return status;
}

void tacit__read_pool_close(tacit_service *s)
{
    for (size_t i = 0; i < s->n_readers; i++) {
        tacit__vault_close(s->readers[i].vault);
        (void)pthread_mutex_destroy(&s->readers[i].lock);
    }
    tacit__free(s->readers);
}

static void end_snapshot(struct tacit__vault_reader *r)
{
    if (r->has_snapshot)
        tacit__vault_drop_snapshot(r->vault);
    r->has_snapshot = false;
}

tacit__vault *tacit__service_acquire_reader(tacit_service *s)
{
    struct tacit__vault_reader *r = own(s);
    pthread_mutex_lock(&r->lock);
    const uint64_t writes = tacit__committer_writes(s->committer);
    const double now = tacit__now_seconds();
    if (writes != r->writes || now > r->since + OLDEST)
        end_snapshot(r);
    if (!r->has_snapshot) {
        r->has_snapshot =
            tacit__vault_hold_snapshot(r->vault); /* on failure, every search has its own */
        r->writes = writes;
        r->since = now;
    }
    return r->vault;
}

void tacit__service_release_reader(tacit_service *s)
{
    pthread_mutex_unlock(&own(s)->lock);
}

void tacit__read_pool_end_snapshots(void *service)
{
    const tacit_service *s = service;
    for (size_t i = 0; i < s->n_readers; i++) {
        pthread_mutex_lock(&s->readers[i].lock);
        end_snapshot(&s->readers[i]);
        pthread_mutex_unlock(&s->readers[i].lock);
    }
}
