/* See base/crew.h. One lock guards the list and the counters; jobs are long beside it. */
#include "base/crew.h"

#include "base/error.h"
#include "base/thread.h"
#include "base/wait.h"

void tacit__crew_create(tacit__crew *crew, tacit__crew_fn *run, void *context, pthread_t *threads,
                        size_t n_threads, uint32_t *jobs, size_t n_jobs)
{
    TACIT__REQUIRE(run != NULL && threads != NULL && n_threads > 0);
    *crew = (tacit__crew){.run = run,
                          .context = context,
                          .threads = threads,
                          .n_threads = n_threads,
                          .jobs = jobs,
                          .n_jobs = jobs == NULL ? n_jobs : 0,
                          .room = n_jobs,
                          .closed = jobs == NULL};
    tacit__condition_create(&crew->work);
    tacit__condition_create(&crew->changed);
    (void)pthread_mutex_init(&crew->lock, NULL);
}

void tacit__crew_destroy(tacit__crew *crew)
{
    TACIT__REQUIRE(crew->n_started == 0);
    (void)pthread_cond_destroy(&crew->work);
    (void)pthread_cond_destroy(&crew->changed);
    (void)pthread_mutex_destroy(&crew->lock);
}

/* --- The list ------------------------------------------------------------------------------------ */

bool tacit__crew_add(tacit__crew *crew, uint32_t job)
{
    (void)pthread_mutex_lock(&crew->lock);
    TACIT__REQUIRE(crew->jobs != NULL && !crew->closed);
    const bool fits = crew->n_jobs < crew->room;
    if (fits)
        crew->jobs[crew->n_jobs++] = job;
    (void)pthread_cond_signal(&crew->work);
    (void)pthread_mutex_unlock(&crew->lock);
    return fits;
}

void tacit__crew_close(tacit__crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->closed = true;
    (void)pthread_cond_broadcast(&crew->work);
    (void)pthread_mutex_unlock(&crew->lock);
}

void tacit__crew_stop(tacit__crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->stop, true);
    (void)pthread_cond_broadcast(&crew->work);
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
}

void tacit__crew_fail(tacit__crew *crew, size_t job, const tacit_error *failure)
{
    TACIT__REQUIRE(failure->status != TACIT_OK);
    (void)pthread_mutex_lock(&crew->lock);
    if (crew->failure.status == TACIT_OK || job < crew->failed_job) {
        crew->failed_job = job;
        crew->failure = *failure;
    }
    (void)pthread_mutex_unlock(&crew->lock);
    tacit__crew_stop(crew);
}

static size_t next_locked(tacit__crew *crew)
{
    if (crew->n_begun == crew->n_jobs)
        return TACIT__NO_JOB;
    const size_t at = crew->n_begun++;
    return crew->jobs != NULL ? crew->jobs[at] : at;
}

size_t tacit__crew_next(tacit__crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    const size_t job = next_locked(crew);
    (void)pthread_mutex_unlock(&crew->lock);
    return job;
}

/* The next job, or NO_JOB when the thread should end. */
static size_t wait_for_job(tacit__crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->n_begun == crew->n_jobs && !crew->closed && !atomic_load(&crew->stop))
        (void)pthread_cond_wait(&crew->work, &crew->lock);
    const size_t job = atomic_load(&crew->stop) ? TACIT__NO_JOB : next_locked(crew);
    (void)pthread_mutex_unlock(&crew->lock);
    return job;
}

/* --- Threads ------------------------------------------------------------------------------------- */

static void *work(void *context)
{
    tacit__crew *crew = context;
    (void)pthread_mutex_lock(&crew->lock);
    const size_t member = crew->n_members++;
    (void)pthread_mutex_unlock(&crew->lock);
    for (size_t job; (job = wait_for_job(crew)) != TACIT__NO_JOB;) {
        tacit_error err = TACIT_ERROR_INIT;
        const tacit_status status = crew->run(crew->context, member, job, &err);
        if (status == TACIT_OK)
            continue;
        if (err.status == TACIT_OK)
            (void)tacit__fail_plain(&err, status);
        tacit__crew_fail(crew, job, &err);
    }
    (void)pthread_mutex_lock(&crew->lock);
    crew->n_running--;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

tacit_status tacit__crew_start(tacit__crew *crew, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    size_t n = 0;
    (void)pthread_mutex_lock(&crew->lock);
    while (n < crew->n_threads && status == TACIT_OK) {
        status = tacit__thread_start(&crew->threads[n], work, crew, err);
        n += status == TACIT_OK;
    }
    crew->n_started = n;
    crew->n_running = (unsigned)n;
    (void)pthread_mutex_unlock(&crew->lock);
    return n > 0 ? TACIT_OK : status;
}

void tacit__crew_join(tacit__crew *crew)
{
    for (size_t i = 0; i < crew->n_started; i++)
        (void)pthread_join(crew->threads[i], NULL);
    crew->n_started = 0;
}

bool tacit__crew_wait(tacit__crew *crew, double ms)
{
    TACIT__REQUIRE(ms >= 0);
    (void)pthread_mutex_lock(&crew->lock);
    if (crew->n_running > 0)
        (void)tacit__wait_ms(&crew->changed, &crew->lock, ms);
    const bool running = crew->n_running > 0;
    (void)pthread_mutex_unlock(&crew->lock);
    return running;
}
