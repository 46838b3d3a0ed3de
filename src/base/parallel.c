/* See base/parallel.h. A crew does the jobs; the calling thread calls `tick` meanwhile. */
#include "base/parallel.h"

#include "base/crew.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"

enum { MAX_THREADS = 1024, TICK_MS = 100 };

typedef struct batch {
    tacit__job_fn *job;
    void *context;
    atomic_size_t done;
} batch;

static tacit_status run_one(void *context, size_t member, size_t job, tacit_error *err)
{
    batch *b = context;
    (void)member;
    const tacit_status status = b->job(b->context, job, err);
    if (status == TACIT_OK)
        atomic_fetch_add(&b->done, 1);
    return status;
}

/* True if the tick asked to stop. */
static bool watch(tacit__crew *crew, batch *b, tacit__tick_fn *tick)
{
    const double start = tacit__now_seconds();
    bool stopped = false;
    for (bool running = true; running;) {
        running = tacit__crew_wait(crew, TICK_MS);
        if (tick != NULL &&
            !tick(b->context, atomic_load(&b->done), tacit__now_seconds() - start)) {
            stopped = true;
            tacit__crew_stop(crew);
        }
    }
    return stopped;
}

tacit_status tacit__parallel(size_t n, unsigned n_threads, tacit__job_fn *job, tacit__tick_fn *tick,
                             void *context, bool *stopped, tacit_error *err)
{
    TACIT__REQUIRE(job != NULL && stopped != NULL);
    size_t wanted = n_threads > 0 ? n_threads : tacit__processors();
    *stopped = false;
    if (n == 0)
        return TACIT_OK;
    wanted = wanted < MAX_THREADS ? wanted : MAX_THREADS;
    wanted = wanted < n ? wanted : n;
    pthread_t *threads = tacit__alloc(wanted, sizeof *threads);
    if (threads == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    batch b = {.job = job, .context = context};
    tacit__crew crew;
    tacit__crew_create(&crew, run_one, &b, threads, wanted, NULL, n);
    tacit_status status = tacit__crew_start(&crew, err);
    if (status == TACIT_OK) {
        *stopped = watch(&crew, &b, tick) && atomic_load(&b.done) < n;
        tacit__crew_join(&crew);
        if (crew.failure.status != TACIT_OK)
            status = tacit__fail_again(err, &crew.failure);
    }
    tacit__crew_destroy(&crew);
    tacit__free(threads);
    return status;
}
