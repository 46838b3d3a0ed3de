/* A thread takes the next job and writes to the places of that job alone, so which thread plays what, and when, leaves no
 * trace in the results. Others look on through the seats, without locks; a job that is finished is put on a list. */
#include "lab/crew.h"

#include <stdio.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/experiment.h"

tacit_status tacit__crew_create(tacit_results *results, size_t n_threads, size_t n_processes,
                                tacit__crew **out, tacit_error *err)
{
    const size_t n_seats = n_threads * n_processes, n_jobs = results->n_jobs;
    tacit__crew w = {.experiment = results->experiment,
                     .results = results,
                     .n_threads = n_threads,
                     .n_seats = n_seats};
    tacit__crew *crew =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.seats, n_seats), TACIT__PIECE(w.threads, n_threads),
                         TACIT__PIECE(w.jobs, n_jobs), TACIT__PIECE(w.finished, n_jobs),
                         TACIT__PIECE(w.lasted, n_jobs), TACIT__PIECE(w.paces, results->n_pairs),
                         TACIT__PIECE(w.earlier, results->n_pairs), TACIT__PIECE(w.seen, n_seats),
                         TACIT__PIECE(w.running, n_seats));
    if (crew == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__condition_create(&crew->changed);
    tacit__condition_create(&crew->work);
    (void)pthread_mutex_init(&crew->lock, NULL);
    for (size_t i = 0; i < crew->n_seats; i++)
        atomic_init(&crew->seats[i].job, TACIT__NO_JOB);
    *out = crew;
    return TACIT_OK;
}

void tacit__crew_destroy(tacit__crew *crew)
{
    if (crew == NULL)
        return;
    (void)pthread_cond_destroy(&crew->changed);
    (void)pthread_cond_destroy(&crew->work);
    (void)pthread_mutex_destroy(&crew->lock);
    tacit__workspace_destroy(crew);
}

/* --- The list of jobs ---------------------------------------------------------------------------- */

void tacit__crew_add(tacit__crew *crew, uint32_t job)
{
    (void)pthread_mutex_lock(&crew->lock);
    TACIT__REQUIRE(crew->n_jobs < crew->results->n_jobs && !crew->closed);
    crew->jobs[crew->n_jobs++] = job;
    (void)pthread_cond_signal(&crew->work);
    (void)pthread_mutex_unlock(&crew->lock);
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

static size_t take_locked(tacit__crew *crew)
{
    return crew->n_taken < crew->n_jobs ? crew->jobs[crew->n_taken++] : TACIT__NO_JOB;
}

size_t tacit__crew_take(tacit__crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    size_t job = take_locked(crew);
    (void)pthread_mutex_unlock(&crew->lock);
    return job;
}

/* The next job, or NO_JOB when it is time to go home. */
static size_t wait_for_job(tacit__crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->n_taken == crew->n_jobs && !crew->closed && !atomic_load(&crew->stop))
        (void)pthread_cond_wait(&crew->work, &crew->lock);
    size_t job = atomic_load(&crew->stop) ? TACIT__NO_JOB : take_locked(crew);
    (void)pthread_mutex_unlock(&crew->lock);
    return job;
}

void tacit__crew_finish(tacit__crew *crew, size_t job, double seconds)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->lasted[crew->n_finished] = seconds;
    crew->finished[crew->n_finished++] = (uint32_t)job;
    tacit__pace *pace = &crew->paces[job % crew->results->n_pairs];
    pace->seconds += seconds;
    pace->episodes += (double)crew->experiment->facts.episodes;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
}

void tacit__crew_fail(tacit__crew *crew, size_t job, const tacit_error *failure)
{
    (void)pthread_mutex_lock(&crew->lock);
    if (crew->failure.status == TACIT_OK || job < crew->failed_job) {
        crew->failed_job = job;
        crew->failure = *failure;
    }
    (void)pthread_mutex_unlock(&crew->lock);
    tacit__crew_stop(crew);
}

/* --- Threads ------------------------------------------------------------------------------------- */

static void fail_job(tacit__crew *crew, size_t job, uint64_t episodes, tacit_status status,
                     const tacit_error *err)
{
    const tacit_experiment *e = crew->experiment;
    const tacit__world_agent *pair = &e->pairs[job % e->n_pairs];
    const tacit_entry *entry = &e->agents[pair->agent];
    tacit_error failure;
    char place[128] = "";
    if (e->facts.n_worlds > 1)
        (void)snprintf(place, sizeof place, "world '%.60s', ", e->worlds[pair->world].label);
    (void)tacit__fail(&failure, status, "%.80s:%d: %sagent '%.60s', run %zu, episode %llu: %.150s",
                      e->facts.file, entry->line, place, entry->label, job / e->n_pairs + 1,
                      (unsigned long long)episodes + 1, err->message);
    tacit__crew_fail(crew, job, &failure);
}

static void play_job(tacit__crew *crew, tacit__seat *seat, size_t job)
{
    tacit_results *r = crew->results;
    const tacit__world_agent *pair = &crew->experiment->pairs[job % r->n_pairs];
    tacit_error err = {.message = ""};
    tacit_job result;
    double start = tacit__now_seconds();
    atomic_store(&seat->episodes, 0);
    atomic_store(&seat->points, 0);
    atomic_store(&seat->since, start);
    atomic_store(&seat->job, job);
    tacit_status status = tacit__play(&crew->stages[pair->world], pair->agent, job / r->n_pairs,
                                      seat, r->curves + job * r->n_points, &result, &err);
    uint64_t episodes = atomic_load(&seat->episodes);
    if (status == TACIT_OK && !result.done)
        result.n_points = atomic_load(&seat->points);
    atomic_store(&seat->job, TACIT__NO_JOB);
    if (status == TACIT_OK)
        r->jobs[job] = result;
    if (status != TACIT_OK)
        fail_job(crew, job, episodes, status, &err);
    else if (result.done)
        tacit__crew_finish(crew, job, tacit__now_seconds() - start);
}

static void *work(void *context)
{
    tacit__crew *crew = context;
    (void)pthread_mutex_lock(&crew->lock);
    tacit__seat *seat = &crew->seats[crew->n_seated++];
    (void)pthread_mutex_unlock(&crew->lock);
    for (size_t job; (job = wait_for_job(crew)) != TACIT__NO_JOB;)
        play_job(crew, seat, job);
    (void)pthread_mutex_lock(&crew->lock);
    crew->at_work--;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

tacit_status tacit__crew_start(tacit__crew *crew, tacit_error *err)
{
    size_t n = 0;
    (void)pthread_mutex_lock(&crew->lock);
    while (n < crew->n_threads && pthread_create(&crew->threads[n], NULL, work, crew) == 0)
        n++;
    crew->n_started = n;
    crew->at_work = (unsigned)n;
    (void)pthread_mutex_unlock(&crew->lock);
    return n > 0 ? TACIT_OK : tacit__fail(err, TACIT_SYSTEM, "cannot start a thread");
}

void tacit__crew_join(tacit__crew *crew)
{
    for (size_t i = 0; i < crew->n_started; i++)
        (void)pthread_join(crew->threads[i], NULL);
    crew->n_started = 0;
}
