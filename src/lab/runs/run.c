/* Running an experiment: creates worlds, checks every agent, starts workers and the results writer. The
 * calling thread is the watcher: it reports progress, stops the workers on request, and exchanges messages
 * with other processes if there are any. */
#include "base/error.h"
#include "base/thread.h"
#include "lab/estimate.h"
#include "lab/experiment.h"
#include "lab/runs/ranks.h"
#include "lab/runs/results_writer.h"
#include "lab/runs/workers.h"

/* Milliseconds: between two reports, and, where others wait for an answer, between two polls. */
enum { MAX_THREADS = 1024, TICK_MS = 100, SHORT_TICK_MS = 5 };

static size_t choose_threads(const tacit_lab_options *options, size_t n_jobs)
{
    size_t n = options->n_threads;
    if (n == 0)
        n = options->transport != NULL ? 1 : tacit__processors();
    n = n < MAX_THREADS ? n : MAX_THREADS;
    return n < n_jobs ? n : n_jobs;
}

/* The objects that a run creates and destroys. */
typedef struct run {
    const tacit_lab_options *options;
    bool first; /* of several processes, or alone */
    tacit_results *results;
    tacit__workers *workers;
    tacit__results_writer *writer;
    tacit__ranks *ranks;
} run;

/* Returns whether threads are running. Other processes are polled even when they are not. */
static bool wait_a_tick(const run *r)
{
    tacit__crew *crew = &r->workers->crew;
    if (r->ranks == NULL)
        return tacit__crew_wait(crew, TICK_MS);
    (void)pthread_mutex_lock(&crew->lock);
    (void)tacit__wait_ms(&crew->changed, &crew->lock, SHORT_TICK_MS);
    const bool running = crew->n_running > 0;
    (void)pthread_mutex_unlock(&crew->lock);
    return running;
}

static void report(const run *r, double start)
{
    tacit_lab_progress p;
    if (r->options->progress == NULL)
        return;
    tacit__workers_measure(r->workers, start, &p);
    if (!r->options->progress(r->options->context, &p))
        tacit__crew_stop(&r->workers->crew);
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
    tacit__workers *workers = r->workers;
    for (uint32_t job = 0; r->first && job < r->results->n_jobs; job++)
        if (!r->results->jobs[job].done)
            TACIT__REQUIRE(tacit__crew_add(&workers->crew, job));
    if (r->first)
        tacit__crew_close(&workers->crew);
    TRY(tacit__crew_start(&workers->crew, err));
    watch(r);
    tacit__crew_join(&workers->crew);
    if (workers->crew.failure.status != TACIT_OK)
        return tacit__fail_again(err, &workers->crew.failure);
    return TACIT_OK;
}

static double estimate(const run *r)
{
    const size_t n_processes = r->options->transport != NULL ? r->options->transport->size : 1;
    return tacit__lab_estimate(r->workers->lab_worlds, r->results,
                               r->workers->crew.n_threads * n_processes);
}

static tacit_status prepare(run *r, const tacit_experiment *experiment, tacit_error *err)
{
    const tacit_lab_options *options = r->options;
    tacit_status status = tacit__results_create(experiment, &r->results, err);
    if (status == TACIT_OK)
        status = tacit__workers_create(
            r->results, choose_threads(options, r->results->n_jobs),
            options->transport != NULL && r->first ? options->transport->size : 1, &r->workers,
            err);
    if (status == TACIT_OK)
        status = tacit__lab_worlds_create(r->results, &r->workers->crew.stop,
                                          &r->workers->lab_worlds, err);
    if (status == TACIT_OK &&
        r->first) /* before the worlds are solved: that may take half a minute */
        status = tacit__check_agents(r->workers->lab_worlds, r->results, err);
    if (status == TACIT_OK)
        status = tacit__lab_worlds_solve(r->workers->lab_worlds, r->results, err);
    if (status == TACIT_OK && r->first && options->directory != NULL)
        status = tacit__results_writer_open(r->workers, options->directory, options->mode,
                                            &r->writer, err);
    if (status == TACIT_OK && options->begin != NULL)
        options->begin(options->context, r->first ? estimate(r) : 0);
    if (status == TACIT_OK && options->transport != NULL)
        status = tacit__ranks_create(r->workers, options->transport, &r->ranks, err);
    if (status == TACIT_OK && r->writer != NULL)
        status = tacit__results_writer_start(r->writer, err);
    return status;
}

static void destroy_run(run *r, const tacit_experiment *experiment)
{
    tacit__results_writer_destroy(r->writer);
    tacit__ranks_destroy(r->ranks);
    if (r->workers != NULL)
        tacit__lab_worlds_destroy(r->workers->lab_worlds, experiment->facts.n_worlds);
    tacit__workers_destroy(r->workers);
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
        /* Results are saved even after a failure; the first failure is reported. */
        tacit_status kept = tacit__results_writer_finish(r.writer, status == TACIT_OK ? err : NULL);
        status = status == TACIT_OK ? kept : status;
        if (status == TACIT_OK && r.ranks != NULL)
            status = tacit__ranks_check(r.ranks, err);
    } else {
        tacit_lab_absent(r.options->transport, err);
    }
    destroy_run(&r, experiment);
    if (status != TACIT_OK || !r.first) {
        tacit_results_destroy(r.results);
        r.results = NULL;
    }
    if (status == TACIT_OK)
        *out = r.results;
    return status;
}
