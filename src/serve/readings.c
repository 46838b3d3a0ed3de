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
#include "serve/readings.h"

#define OLDEST 0.1 /* seconds: what an error has left in a snapshot is gone then */

struct tacit__vault_reader {
    pthread_mutex_t lock;
    tacit__vault *vault;
    bool held;       /* it has a snapshot: */
    uint64_t writes; /* not older than this many of the committer's */
    double since;    /* seconds */
};

/* The connection that is this thread's. Threads are numbered as they come. */
static struct tacit__vault_reader *own(const tacit_service *s)
{
    TACIT__REQUIRE(s->n_readings > 0);
    static atomic_size_t threads;
    static _Thread_local size_t number;
    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return &s->readings[number % s->n_readings];
}

tacit_status tacit__readings_open(tacit_service *s, const uint8_t *key, tacit_error *err)
{
    TACIT__REQUIRE(s->readings == NULL && s->n_readings == 0);
    const size_t n = s->config.threads > 0 ? s->config.threads : 1;
    s->readings = tacit__alloc(n, sizeof *s->readings);
    if (s->readings == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    for (; s->n_readings < n && status == TACIT_OK; s->n_readings++) {
        struct tacit__vault_reader *r = &s->readings[s->n_readings];
        (void)pthread_mutex_init(&r->lock, NULL);
        status = tacit__vault_open(s->config.store, TACIT__VAULT_READ, key, &r->vault, err);
    }
    return status;
}

void tacit__readings_close(tacit_service *s)
{
    for (size_t i = 0; i < s->n_readings; i++) {
        tacit__vault_close(s->readings[i].vault);
        (void)pthread_mutex_destroy(&s->readings[i].lock);
    }
    tacit__free(s->readings);
}

static void end_snapshot(struct tacit__vault_reader *r)
{
    if (r->held)
        tacit__vault_end_reading(r->vault);
    r->held = false;
}

tacit__vault *tacit__service_read(tacit_service *s)
{
    struct tacit__vault_reader *r = own(s);
    pthread_mutex_lock(&r->lock);
    const uint64_t writes = tacit__committer_writes(s->committer);
    const double now = tacit__now_seconds();
    if (writes != r->writes || now > r->since + OLDEST)
        end_snapshot(r);
    if (!r->held) {
        r->held = tacit__vault_begin_reading(r->vault); /* else every search has its own */
        r->writes = writes;
        r->since = now;
    }
    return r->vault;
}

void tacit__service_read_end(tacit_service *s)
{
    pthread_mutex_unlock(&own(s)->lock);
}

void tacit__readings_end_snapshots(void *service)
{
    const tacit_service *s = service;
    for (size_t i = 0; i < s->n_readings; i++) {
        pthread_mutex_lock(&s->readings[i].lock);
        end_snapshot(&s->readings[i]);
        pthread_mutex_unlock(&s->readings[i].lock);
    }
}
