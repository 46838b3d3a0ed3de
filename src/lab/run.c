/* Running an experiment: worlds, a rehearsal, a crew, and a watcher, which is the thread that called: it reports
 * progress, passes on the wish to stop, and talks to other processes if there are any. */
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "lab/crew.h"
#include "lab/experiment.h"
#include "lab/keep.h"
#include "lab/ranks.h"

/* Milliseconds: between two reports, and, where others wait for an answer, between two looks. */
enum { MAX_THREADS = 1024, TICK_MS = 100, SHORT_TICK_MS = 5 };

static size_t choose_threads(const tacit_lab_options *options, size_t n_jobs)
{
    size_t n = options->n_threads;
    if (n == 0)
        n = options->transport != NULL ? 1 : tacit__processors();
    n = n < MAX_THREADS ? n : MAX_THREADS;
    return n < n_jobs ? n : n_jobs;
}

/* What is to be taken down again. */
typedef struct run {
    const tacit_lab_options *options;
    bool first; /* of several processes, or alone */
    tacit_results *results;
    tacit__crew *crew;
    tacit__keeper *keeper;
    tacit__ranks *ranks;
} run;

/* Waits for a change, but not for long. Returns whether threads are at work. */
static bool wait_a_tick(const run *r)
{
    tacit__crew *crew = r->crew;
    (void)pthread_mutex_lock(&crew->lock);
    if (crew->at_work > 0 || r->ranks != NULL)
        (void)tacit__wait_ms(&crew->changed, &crew->lock,
                             r->ranks != NULL ? SHORT_TICK_MS : TICK_MS);
    bool at_work = crew->at_work > 0;
    (void)pthread_mutex_unlock(&crew->lock);
    return at_work;
}

static void report(const run *r, double start)
{
    tacit_lab_progress p;
    if (r->options->progress == NULL)
        return;
    tacit__crew_measure(r->crew, start, &p);
    if (!r->options->progress(r->options->context, &p))
        tacit__crew_stop(r->crew);
}

static void watch(const run *r)
{
    const double start = tacit__now_seconds();
    double next = start;
    for (bool busy = true; busy;) {
        busy = wait_a_tick(r);
        if (r->ranks != NULL)
            busy = tacit__ranks_poll(r->ranks) || busy;
        if (!busy || tacit__now_seconds() >= next) {
            report(r, start);
            next = tacit__now_seconds() + (r->ranks != NULL ? 1e-3 * TICK_MS : 0);
        }
    }
}

static tacit_status play_all(const run *r, tacit_error *err)
{
    tacit__crew *crew = r->crew;
    for (uint32_t job = 0; r->first && job < r->results->n_jobs; job++)
        if (!r->results->jobs[job].done)
            tacit__crew_add(crew, job);
    if (r->first)
        tacit__crew_close(crew);
    tacit_status status = tacit__crew_start(crew, err);
    if (status != TACIT_OK)
        return status;
    watch(r);
    tacit__crew_join(crew);
    if (crew->failure.status != TACIT_OK)
        return tacit__fail_again(err, &crew->failure);
    return TACIT_OK;
}

static tacit_status prepare(run *r, const tacit_experiment *experiment, tacit_error *err)
{
    const tacit_lab_options *options = r->options;
    tacit_status status = tacit__results_create(experiment, &r->results, err);
    if (status == TACIT_OK)
        status = tacit__crew_create(
            r->results, choose_threads(options, r->results->n_jobs),
            options->transport != NULL && r->first ? options->transport->size : 1, &r->crew, err);
    if (status == TACIT_OK)
        status = tacit__stages_create(r->results, &r->crew->stop, &r->crew->stages, err);
    if (status == TACIT_OK && r->first && options->directory != NULL)
        status = tacit__keeper_open(r->crew, options->directory, options->mode, &r->keeper, err);
    if (status == TACIT_OK && r->first)
        status = tacit__rehearse(r->crew->stages, r->results, err);
    if (status == TACIT_OK && options->transport != NULL)
        status = tacit__ranks_create(r->crew, options->transport, &r->ranks, err);
    if (status == TACIT_OK && r->keeper != NULL)
        status = tacit__keeper_start(r->keeper, err);
    return status;
}

static void take_down(run *r, const tacit_experiment *experiment)
{
    tacit__keeper_destroy(r->keeper);
    tacit__ranks_destroy(r->ranks);
    if (r->crew != NULL)
        tacit__stages_destroy(r->crew->stages, experiment->facts.n_worlds);
    tacit__crew_destroy(r->crew);
}

tacit_status tacit_lab_run(const tacit_experiment *experiment, const tacit_lab_options *options,
                           tacit_results **out, tacit_error *err)
{
    static const tacit_lab_options defaults;
    tacit_error local = {.message = ""};
    if (experiment == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (err == NULL)
        err = &local;
    run r = {.options = options != NULL ? options : &defaults};
    r.first = r.options->transport == NULL || r.options->transport->rank == 0;
    tacit_status status = prepare(&r, experiment, err);
    if (status == TACIT_OK) {
        status = play_all(&r, err);
        /* What was found is kept, also when something went wrong; the first failure is told. */
        tacit_status kept = tacit__keeper_finish(r.keeper, status == TACIT_OK ? err : NULL);
        status = status == TACIT_OK ? kept : status;
        if (status == TACIT_OK && r.ranks != NULL)
            status = tacit__ranks_check(r.ranks, err);
    } else {
        tacit_lab_absent(r.options->transport, err);
    }
    take_down(&r, experiment);
    if (status != TACIT_OK || !r.first) {
        tacit_results_destroy(r.results);
        r.results = NULL;
    }
    if (status == TACIT_OK)
        *out = r.results;
    return status;
}
