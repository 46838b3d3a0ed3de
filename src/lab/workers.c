/* See lab/workers.h. A thread takes the next job and writes only to that job's part of the results, so the
 * results do not depend on which thread plays what, or when. The watcher and the writer read progress from
 * the slots, without locks; a finished job goes onto a list. */
#include "lab/workers.h"

#include <stdio.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/experiment.h"

tacit_status tacit__workers_create(tacit_results *results, size_t n_threads, size_t n_processes,
                                   tacit__workers **out, tacit_error *err)
{
    TACIT__REQUIRE(n_threads > 0 && n_processes > 0);
    const size_t n_slots = n_threads * n_processes, n_jobs = results->n_jobs;
    tacit__workers w = {.experiment = results->experiment,
                        .results = results,
                        .n_threads = n_threads,
                        .n_slots = n_slots};
    tacit__workers *workers =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.slots, n_slots), TACIT__PIECE(w.threads, n_threads),
                         TACIT__PIECE(w.jobs, n_jobs), TACIT__PIECE(w.finished, n_jobs),
                         TACIT__PIECE(w.lasted, n_jobs), TACIT__PIECE(w.paces, results->n_pairs),
                         TACIT__PIECE(w.earlier, results->n_pairs), TACIT__PIECE(w.seen, n_slots),
                         TACIT__PIECE(w.running, n_slots));
    if (workers == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__condition_create(&workers->changed);
    tacit__condition_create(&workers->work);
    (void)pthread_mutex_init(&workers->lock, NULL);
    for (size_t i = 0; i < workers->n_slots; i++)
        atomic_init(&workers->slots[i].job, TACIT__NO_JOB);
    *out = workers;
    return TACIT_OK;
}

void tacit__workers_destroy(tacit__workers *workers)
{
    if (workers == NULL)
        return;
    (void)pthread_cond_destroy(&workers->changed);
    (void)pthread_cond_destroy(&workers->work);
    (void)pthread_mutex_destroy(&workers->lock);
    tacit__workspace_destroy(workers);
}

/* --- The list of jobs ---------------------------------------------------------------------------- */

void tacit__workers_add_job(tacit__workers *workers, uint32_t job)
{
    (void)pthread_mutex_lock(&workers->lock);
    TACIT__REQUIRE(workers->n_jobs < workers->results->n_jobs && !workers->closed);
    workers->jobs[workers->n_jobs++] = job;
    (void)pthread_cond_signal(&workers->work);
    (void)pthread_mutex_unlock(&workers->lock);
}

void tacit__workers_close(tacit__workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    workers->closed = true;
    (void)pthread_cond_broadcast(&workers->work);
    (void)pthread_mutex_unlock(&workers->lock);
}

void tacit__workers_stop(tacit__workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    atomic_store(&workers->stop, true);
    (void)pthread_cond_broadcast(&workers->work);
    (void)pthread_cond_broadcast(&workers->changed);
    (void)pthread_mutex_unlock(&workers->lock);
}

static size_t next_locked(tacit__workers *workers)
{
    return workers->n_begun < workers->n_jobs ? workers->jobs[workers->n_begun++] : TACIT__NO_JOB;
}

size_t tacit__workers_next_job(tacit__workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    size_t job = next_locked(workers);
    (void)pthread_mutex_unlock(&workers->lock);
    return job;
}

/* The next job, or NO_JOB when the thread should end. */
static size_t wait_for_job(tacit__workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    while (workers->n_begun == workers->n_jobs && !workers->closed && !atomic_load(&workers->stop))
        (void)pthread_cond_wait(&workers->work, &workers->lock);
    size_t job = atomic_load(&workers->stop) ? TACIT__NO_JOB : next_locked(workers);
    (void)pthread_mutex_unlock(&workers->lock);
    return job;
}

void tacit__workers_finish_job(tacit__workers *workers, size_t job, double seconds)
{
    (void)pthread_mutex_lock(&workers->lock);
    workers->lasted[workers->n_finished] = seconds;
    workers->finished[workers->n_finished++] = (uint32_t)job;
    tacit__pace *pace = &workers->paces[job % workers->results->n_pairs];
    pace->seconds += seconds;
    pace->episodes += (double)workers->experiment->facts.episodes;
    (void)pthread_cond_broadcast(&workers->changed);
    (void)pthread_mutex_unlock(&workers->lock);
}

void tacit__workers_fail(tacit__workers *workers, size_t job, const tacit_error *failure)
{
    (void)pthread_mutex_lock(&workers->lock);
    if (workers->failure.status == TACIT_OK || job < workers->failed_job) {
        workers->failed_job = job;
        workers->failure = *failure;
    }
    (void)pthread_mutex_unlock(&workers->lock);
    tacit__workers_stop(workers);
}

/* --- Threads ------------------------------------------------------------------------------------- */

static void fail_job(tacit__workers *workers, size_t job, uint64_t episodes, tacit_status status,
                     const tacit_error *err)
{
    const tacit_experiment *e = workers->experiment;
    const tacit__world_agent *pair = &e->pairs[job % e->n_pairs];
    const tacit_entry *entry = &e->agents[pair->agent];
    tacit_error failure;
    char place[128] = "";
    if (e->facts.n_worlds > 1)
        (void)snprintf(place, sizeof place, "world '%.60s', ", e->worlds[pair->world].label);
    (void)tacit__fail(&failure, status, "%.80s:%d: %sagent '%.60s', run %zu, episode %llu: %.150s",
                      e->facts.file, entry->line, place, entry->label, job / e->n_pairs + 1,
                      (unsigned long long)episodes + 1, err->message);
    tacit__workers_fail(workers, job, &failure);
}

static void play_job(tacit__workers *workers, tacit__worker_slot *slot, size_t job)
{
    tacit_results *r = workers->results;
    const tacit__world_agent *pair = &workers->experiment->pairs[job % r->n_pairs];
    tacit_error err = {.message = ""};
    tacit_job result;
    double start = tacit__now_seconds();
    atomic_store(&slot->episodes, 0);
    atomic_store(&slot->points, 0);
    atomic_store(&slot->since, start);
    atomic_store(&slot->job, job);
    tacit_status status =
        tacit__play(&workers->lab_worlds[pair->world], pair->agent, job / r->n_pairs, slot,
                    r->curves + job * r->n_points, &result, &err);
    uint64_t episodes = atomic_load(&slot->episodes);
    if (status == TACIT_OK && !result.done)
        result.n_points = atomic_load(&slot->points);
    atomic_store(&slot->job, TACIT__NO_JOB);
    if (status == TACIT_OK)
        r->jobs[job] = result;
    if (status != TACIT_OK)
        fail_job(workers, job, episodes, status, &err);
    else if (result.done)
        tacit__workers_finish_job(workers, job, tacit__now_seconds() - start);
}

static void *work(void *context)
{
    tacit__workers *workers = context;
    (void)pthread_mutex_lock(&workers->lock);
    tacit__worker_slot *slot = &workers->slots[workers->n_assigned++];
    (void)pthread_mutex_unlock(&workers->lock);
    for (size_t job; (job = wait_for_job(workers)) != TACIT__NO_JOB;)
        play_job(workers, slot, job);
    (void)pthread_mutex_lock(&workers->lock);
    workers->n_running--;
    (void)pthread_cond_broadcast(&workers->changed);
    (void)pthread_mutex_unlock(&workers->lock);
    return NULL;
}

tacit_status tacit__workers_start(tacit__workers *workers, tacit_error *err)
{
    size_t n = 0;
    (void)pthread_mutex_lock(&workers->lock);
    while (n < workers->n_threads && pthread_create(&workers->threads[n], NULL, work, workers) == 0)
        n++;
    workers->n_started = n;
    workers->n_running = (unsigned)n;
    (void)pthread_mutex_unlock(&workers->lock);
    return n > 0 ? TACIT_OK : tacit__fail(err, TACIT_SYSTEM, "cannot start a thread");
}

void tacit__workers_join(tacit__workers *workers)
{
    for (size_t i = 0; i < workers->n_started; i++)
        (void)pthread_join(workers->threads[i], NULL);
    workers->n_started = 0;
}
