/* See base/parallel.h. Threads take job numbers from one counter; the calling thread calls `tick`
 * meanwhile. */
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"

enum { MAX_THREADS = 1024, TICK_MS = 100 };

typedef struct crew {
    tacit__job_fn *job;
    void *context;
    size_t n;
    atomic_size_t next, done;
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned at_work; /* guarded by `lock`, like the rest */
    size_t failed_job;
    tacit_error failure; /* status TACIT_OK: none */
} crew;

static void run_one(crew *c, size_t job)
{
    tacit_error err = {.message = ""};
    tacit_status status = c->job(c->context, job, &err);
    if (status == TACIT_OK) {
        atomic_fetch_add(&c->done, 1);
        return;
    }
    atomic_store(&c->stop, true);
    (void)pthread_mutex_lock(&c->lock);
    if (c->failure.status == TACIT_OK || job < c->failed_job) {
        c->failed_job = job;
        if (err.message[0] != '\0')
            (void)tacit__fail(&c->failure, status, "%s", err.message);
        else
            (void)tacit__fail_plain(&c->failure, status);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void *work(void *context)
{
    crew *c = context;
    size_t job;
    while (!atomic_load(&c->stop) && (job = atomic_fetch_add(&c->next, 1)) < c->n)
        run_one(c, job);
    (void)pthread_mutex_lock(&c->lock);
    c->at_work--;
    (void)pthread_cond_signal(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* True if the tick asked to stop. */
static bool watch(crew *c, tacit__tick_fn *tick, double start)
{
    bool stopped = false;
    (void)pthread_mutex_lock(&c->lock);
    while (c->at_work > 0) {
        (void)tacit__wait_ms(&c->changed, &c->lock, TICK_MS);
        if (tick == NULL)
            continue;
        (void)pthread_mutex_unlock(&c->lock);
        if (!tick(c->context, atomic_load(&c->done), tacit__now_seconds() - start)) {
            stopped = true;
            atomic_store(&c->stop, true);
        }
        (void)pthread_mutex_lock(&c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return stopped;
}

tacit_status tacit__parallel(size_t n, unsigned n_threads, tacit__job_fn *job, tacit__tick_fn *tick,
                             void *context, bool *stopped, tacit_error *err)
{
    TACIT__REQUIRE(job != NULL && stopped != NULL);
    unsigned wanted = n_threads > 0 ? n_threads : tacit__processors(), n_started = 0;
    *stopped = false;
    if (n == 0)
        return TACIT_OK;
    wanted = wanted < MAX_THREADS ? wanted : MAX_THREADS;
    if (wanted > n)
        wanted = (unsigned)n;
    pthread_t *threads = tacit__alloc(wanted, sizeof *threads);
    if (threads == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    crew c = {.job = job, .context = context, .n = n, .at_work = wanted};
    tacit__condition_create(&c.changed);
    (void)pthread_mutex_init(&c.lock, NULL);
    double began = tacit__now_seconds();
    for (int refused = 0; n_started < wanted && refused == 0; n_started += refused == 0)
        refused = pthread_create(&threads[n_started], NULL, work, &c);
    (void)pthread_mutex_lock(&c.lock);
    c.at_work -= wanted - n_started; /* fewer threads than wished for do as well */
    (void)pthread_mutex_unlock(&c.lock);
    if (n_started > 0)
        *stopped = watch(&c, tick, began);
    for (unsigned i = 0; i < n_started; i++)
        (void)pthread_join(threads[i], NULL);
    tacit__free(threads);
    (void)pthread_cond_destroy(&c.changed);
    (void)pthread_mutex_destroy(&c.lock);
    if (n_started == 0)
        return tacit__fail(err, TACIT_SYSTEM, "cannot start a thread");
    if (c.failure.status != TACIT_OK)
        return tacit__fail(err, c.failure.status, "%s", c.failure.message);
    *stopped = *stopped && atomic_load(&c.done) < n;
    return TACIT_OK;
}
