/* Running an experiment: worlds, a rehearsal, a crew, and a watcher, which is the thread that called: it reports
 * progress, and passes on the wish to stop. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "lab/crew.h"
#include "lab/experiment.h"
#include "lab/keep.h"

enum { MAX_THREADS = 1024, TICK_MS = 100 };

static size_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}

static size_t choose_threads(const tacit_lab_options *options, size_t n_jobs)
{
    size_t n = options->n_threads > 0 ? options->n_threads : processors();
    n = n < MAX_THREADS ? n : MAX_THREADS;
    return n < n_jobs ? n : n_jobs;
}

/* Waits for a change, but not for long. */
static void wait_a_tick(tacit__crew *crew)
{
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
}

static void watch(tacit__crew *crew, const tacit_lab_options *options, double start)
{
    for (bool at_work = true; at_work;) {
        tacit_lab_progress p;
        (void)pthread_mutex_lock(&crew->lock);
        if (crew->at_work > 0)
            wait_a_tick(crew);
        at_work = crew->at_work > 0;
        (void)pthread_mutex_unlock(&crew->lock);
        if (options->progress == NULL)
            continue;
        tacit__crew_measure(crew, start, &p);
        if (!options->progress(options->context, &p))
            tacit__crew_stop(crew);
    }
}

static tacit_status play_all(tacit__crew *crew, const tacit_lab_options *options, tacit_error *err)
{
    for (uint32_t job = 0; job < crew->results->n_jobs; job++)
        if (!crew->results->jobs[job].done)
            tacit__crew_add(crew, job);
    tacit__crew_close(crew);
    double start = tacit__clock();
    tacit_status status = tacit__crew_start(crew, err);
    if (status != TACIT_OK)
        return status;
    watch(crew, options, start);
    tacit__crew_join(crew);
    if (crew->failure.status != TACIT_OK)
        return tacit__fail(err, crew->failure.status, "%s", crew->failure.message);
    return TACIT_OK;
}

/* What is to be taken down again. */
typedef struct run {
    tacit_results *results;
    tacit__crew *crew;
    tacit__keeper *keeper;
} run;

static tacit_status prepare(run *r, const tacit_experiment *experiment,
                            const tacit_lab_options *options, tacit_error *err)
{
    tacit_status status = tacit__results_create(experiment, &r->results, err);
    if (status == TACIT_OK)
        status = tacit__crew_create(r->results, choose_threads(options, r->results->n_jobs), 1,
                                    &r->crew, err);
    if (status == TACIT_OK)
        status = tacit__stages_create(r->results, &r->crew->stop, &r->crew->stages, err);
    if (status == TACIT_OK && options->directory != NULL)
        status = tacit__keeper_open(r->crew, options->directory, options->mode, &r->keeper, err);
    if (status == TACIT_OK)
        status = tacit__rehearse(r->crew->stages, r->results, err);
    if (status == TACIT_OK && r->keeper != NULL)
        status = tacit__keeper_start(r->keeper, err);
    return status;
}

tacit_status tacit_lab_run(const tacit_experiment *experiment, const tacit_lab_options *options,
                           tacit_results **out, tacit_error *err)
{
    static const tacit_lab_options defaults;
    if (experiment == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (options == NULL)
        options = &defaults;
    run r = {NULL, NULL, NULL};
    tacit_status status = prepare(&r, experiment, options, err);
    if (status == TACIT_OK) {
        status = play_all(r.crew, options, err);
        /* What was found is kept, also when something went wrong; the first failure is told. */
        tacit_status kept = tacit__keeper_finish(r.keeper, status == TACIT_OK ? err : NULL);
        status = status == TACIT_OK ? kept : status;
    }
    tacit__keeper_destroy(r.keeper);
    if (r.crew != NULL)
        tacit__stages_destroy(r.crew->stages, experiment->facts.n_worlds);
    tacit__crew_destroy(r.crew);
    if (status == TACIT_OK)
        *out = r.results;
    else
        tacit_results_destroy(r.results);
    return status;
}
