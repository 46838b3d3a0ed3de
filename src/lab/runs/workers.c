/* See workers.h. A thread takes the next job and writes only to that job's part of the results, so the
 * results do not depend on which thread plays what, or when. The watcher and the writer read progress from
 * the slots, without locks; a finished job goes onto a list. Threads and jobs are a crew's (base/crew.h). */
#include "lab/runs/workers.h"

#include <stdio.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/experiment.h"

static tacit_status play_job(void *context, size_t member, size_t job, tacit_error *err);

tacit_status tacit__workers_create(tacit_results *results, size_t n_threads, size_t n_processes,
                                   tacit__workers **out, tacit_error *err)
{
    TACIT__REQUIRE(n_threads > 0 && n_processes > 0);
    const size_t n_slots = n_threads * n_processes, n_jobs = results->n_jobs;
    tacit__workers w = {.experiment = results->experiment, .results = results, .n_slots = n_slots};
    pthread_t *threads;
    uint32_t *jobs;
    tacit__workers *workers =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.slots, n_slots), TACIT__PIECE(threads, n_threads),
                         TACIT__PIECE(jobs, n_jobs), TACIT__PIECE(w.finished, n_jobs),
                         TACIT__PIECE(w.lasted, n_jobs), TACIT__PIECE(w.paces, results->n_pairs),
                         TACIT__PIECE(w.earlier, results->n_pairs), TACIT__PIECE(w.seen, n_slots),
                         TACIT__PIECE(w.running, n_slots));
    if (workers == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__crew_create(&workers->crew, play_job, workers, threads, n_threads, jobs, n_jobs);
    for (size_t i = 0; i < workers->n_slots; i++)
        atomic_init(&workers->slots[i].job, TACIT__NO_JOB);
    *out = workers;
    return TACIT_OK;
}

void tacit__workers_destroy(tacit__workers *workers)
{
    if (workers == NULL)
        return;
    tacit__crew_destroy(&workers->crew);
    tacit__workspace_destroy(workers);
}

void tacit__workers_finish_job(tacit__workers *workers, size_t job, double seconds)
{
    tacit__crew *crew = &workers->crew;
    (void)pthread_mutex_lock(&crew->lock);
    TACIT__REQUIRE(workers->n_finished < workers->results->n_jobs);
    workers->lasted[workers->n_finished] = seconds;
    workers->finished[workers->n_finished++] = (uint32_t)job;
    tacit__pace *pace = &workers->paces[job % workers->results->n_pairs];
    pace->seconds += seconds;
    pace->episodes += (double)workers->experiment->facts.episodes;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
}

/* The same failure, and whose. */
static tacit_status fail_job(const tacit__workers *workers, size_t job, uint64_t episodes,
                             tacit_status status, tacit_error *err)
{
    const tacit_experiment *e = workers->experiment;
    const tacit__world_agent *pair = &e->pairs[job % e->n_pairs];
    const tacit_entry *entry = &e->agents[pair->agent];
    const tacit_error cause = *err;
    char place[128] = "";
    if (e->facts.n_worlds > 1)
        (void)snprintf(place, sizeof place, "world '%.60s', ", e->worlds[pair->world].label);
    return tacit__fail(err, status, "%.80s:%d: %sagent '%.60s', run %zu, episode %llu: %.150s",
                       e->facts.file, entry->line, place, entry->label, job / e->n_pairs + 1,
                       (unsigned long long)episodes + 1, cause.message);
}

static tacit_status play_job(void *context, size_t member, size_t job, tacit_error *err)
{
    tacit__workers *workers = context;
    TACIT__REQUIRE(job < workers->results->n_jobs);
    tacit__worker_slot *slot = &workers->slots[member];
    tacit_results *r = workers->results;
    const tacit__world_agent *pair = &workers->experiment->pairs[job % r->n_pairs];
    tacit_job result;
    double start = tacit__now_seconds();
    atomic_store(&slot->episodes, 0);
    atomic_store(&slot->points, 0);
    atomic_store(&slot->since, start);
    atomic_store(&slot->job, job);
    tacit_status status =
        tacit__play(&workers->lab_worlds[pair->world], pair->agent, job / r->n_pairs, slot,
                    r->curves + job * r->n_points, &result, err);
    uint64_t episodes = atomic_load(&slot->episodes);
    if (status == TACIT_OK && !result.done)
        result.n_points = atomic_load(&slot->points);
    atomic_store(&slot->job, TACIT__NO_JOB);
    if (status != TACIT_OK)
        return fail_job(workers, job, episodes, status, err);
    r->jobs[job] = result;
    if (result.done)
        tacit__workers_finish_job(workers, job, tacit__now_seconds() - start);
    return TACIT_OK;
}
