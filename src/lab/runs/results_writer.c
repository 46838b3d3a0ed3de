/* See lab/runs/results_writer.h. About once a second a thread of its own writes the finished jobs, and the
 * points of running ones, in one transaction. Workers never wait for it. */
#include "lab/runs/results_writer.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/experiment.h"
#include "lab/grow.h"
#include "lab/load.h"

enum { PERIOD_MS = 1000 };

struct tacit__results_writer {
    tacit__workers *workers;
    tacit__store *store; /* NULL: to be created */
    char *directory;
    uint8_t identity[TACIT__IDENTITY_BYTES];
    uint16_t *written;   /* [n_jobs] points of each curve that are in the store */
    size_t n_recorded;   /* of the workers' list of finished jobs */
    bool grown;          /* the store holds a smaller experiment, and is written anew */
    bool started, done;  /* `done` is guarded by the workers' lock */
    tacit_error failure; /* the thread's own, until it has ended; status TACIT_OK: none */
    pthread_t thread;
    pthread_cond_t wake;
};

/* --- Earlier results ----------------------------------------------------------------------------- */

static tacit_status fail_exists(const tacit__results_writer *writer, const char *what,
                                tacit_error *err)
{
    tacit__kept_head head;
    uint64_t n = 0;
    TRY(tacit__store_read_head(writer->store, &head, err));
    TRY(tacit__store_count_jobs(writer->store, &n, err));
    return tacit__fail(err, TACIT_EXISTS, "%.200s: already has %s, %llu of %llu jobs finished",
                       tacit__store_path(writer->store), what, (unsigned long long)n,
                       (unsigned long long)head.n_jobs);
}

/* Jobs that were finished earlier are not played again; others are, from their first episode. */
static void count_earlier(tacit__results_writer *writer)
{
    tacit__workers *workers = writer->workers;
    tacit_results *r = workers->results;
    for (size_t job = 0; job < r->n_jobs; job++) {
        writer->written[job] = writer->grown ? 0 : (uint16_t)r->jobs[job].n_points;
        if (!r->jobs[job].done)
            continue;
        workers->n_earlier++;
        workers->earlier[job % r->n_pairs]++;
    }
}

/* Checks whether the worlds of the earlier experiment read files that have changed since: then it has
 * another identity today. */
static tacit_status compare_files(tacit__results_writer *writer, const tacit_experiment *earlier,
                                  tacit_error *err)
{
    tacit__kept_head head;
    uint8_t today[TACIT__IDENTITY_BYTES];
    TRY(tacit__experiment_identity(earlier, today, err));
    TRY(tacit__store_read_head(writer->store, &head, err));
    if (memcmp(head.identity, today, sizeof today) == 0)
        return TACIT_OK;
    return tacit__fail(err, TACIT_WRONG_PLAN,
                       "%.200s: has the results of another experiment, '%.100s': a file that its "
                       "worlds read has changed since",
                       tacit__store_path(writer->store), head.title);
}

/* Not the same experiment: is this one larger? */
static tacit_status grow(tacit__results_writer *writer, tacit_lab_mode mode, tacit_error *err)
{
    tacit_results *earlier = NULL, *r = writer->workers->results;
    char why[TACIT__DIFFERENCE] = "";
    TRY(tacit__load_results(writer->store, &earlier, err));
    tacit_status status = TACIT_OK;
    if (!tacit__experiment_contains(r->experiment, earlier->experiment, why))
        status = tacit__fail(
            err, TACIT_WRONG_PLAN, "%.200s: has the results of another experiment, '%.60s': %s",
            tacit__store_path(writer->store), earlier->experiment->facts.title, why);
    else
        status = compare_files(writer, earlier->experiment, err);
    if (status == TACIT_OK && earlier->n_points != r->n_points)
        status = tacit__fail(err, TACIT_WRONG_PLAN,
                             "%.200s: has curves of %zu points; with %zu jobs they would have %zu",
                             tacit__store_path(writer->store), earlier->n_points, r->n_jobs,
                             r->n_points);
    if (status == TACIT_OK && mode != TACIT_LAB_RESUME)
        status = fail_exists(writer, "a part of this experiment", err);
    if (status == TACIT_OK) {
        writer->grown = true;
        tacit__results_adopt(r, earlier);
    }
    tacit_results_destroy(earlier);
    return status;
}

/* The directory holds results: do they belong to this experiment and version? */
static tacit_status load_earlier(tacit__results_writer *writer, tacit_lab_mode mode,
                                 tacit_error *err)
{
    tacit__kept_head head;
    TRY(tacit__store_read_head(writer->store, &head, err));
    if (strcmp(head.version, tacit_version()) != 0)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "%.200s: was begun by version %.20s, and this is %s; results would be "
                           "mixed",
                           tacit__store_path(writer->store), head.version, tacit_version());
    if (memcmp(head.identity, writer->identity, sizeof writer->identity) != 0)
        TRY(grow(writer, mode, err));
    else if (mode != TACIT_LAB_RESUME)
        return fail_exists(writer, "this experiment", err);
    else
        TRY(tacit__load_jobs(writer->store, writer->workers->results, err));
    count_earlier(writer);
    return TACIT_OK;
}

static tacit_status open_earlier(tacit__results_writer *writer, tacit_lab_mode mode,
                                 tacit_error *err)
{
    TRY(tacit__experiment_identity(writer->workers->experiment, writer->identity, err));
    TRY(tacit__store_open(writer->directory, TACIT__STORE_WRITE, &writer->store, err));
    if (writer->store == NULL)
        return TACIT_OK;
    if (mode == TACIT_LAB_REPLACE) {
        tacit_status status = tacit__store_remove(writer->store, err);
        writer->store = NULL;
        return status;
    }
    return load_earlier(writer, mode, err);
}

tacit_status tacit__results_writer_open(tacit__workers *workers, const char *directory,
                                        tacit_lab_mode mode, tacit__results_writer **out,
                                        tacit_error *err)
{
    TACIT__REQUIRE(workers != NULL && directory != NULL);
    tacit__results_writer w = {.workers = workers};
    tacit__results_writer *writer =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.directory, strlen(directory) + 1),
                         TACIT__PIECE(w.written, workers->results->n_jobs));
    if (writer == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__condition_create(&writer->wake);
    memcpy(writer->directory, directory, strlen(directory) + 1);
    tacit_status status = open_earlier(writer, mode, err);
    if (status == TACIT_OK)
        *out = writer;
    else
        tacit__results_writer_destroy(writer);
    return status;
}

/* --- The head of a new database ------------------------------------------------------------------ */

static const char *model_name(tacit_model model)
{
    return model == TACIT_MODEL_JOINT ? "joint" : model == TACIT_MODEL_LOCAL ? "local" : "none";
}

static tacit_status write_head(tacit__results_writer *writer, tacit_error *err)
{
    const tacit_experiment *e = writer->workers->experiment;
    tacit__kept_head head = {.version = tacit_version(),
                             .file = e->facts.file,
                             .title = e->facts.title,
                             .episodes = e->facts.episodes,
                             .runs = e->facts.runs,
                             .n_jobs = e->facts.n_jobs,
                             .changed_episodes = e->changes.episodes,
                             .changed_runs = e->changes.runs,
                             .changed_seed = e->changes.seed};
    memcpy(head.identity, writer->identity, sizeof head.identity);
    head.text = tacit__yaml_text(e->yaml, &head.text_size);
    return tacit__store_write_head(writer->store, &head, err);
}

static tacit_status write_facts(tacit__results_writer *writer, tacit_error *err)
{
    const tacit_experiment *e = writer->workers->experiment;
    const tacit_results *r = writer->workers->results;
    tacit_status status = write_head(writer, err);
    for (size_t i = 0; i < e->facts.n_worlds && status == TACIT_OK; i++)
        status = tacit__store_write_world(writer->store, i, e->worlds[i].label, e->worlds[i].kind,
                                          &r->worlds[i], r->optimal[i], err);
    for (size_t i = 0; i < e->facts.n_agents && status == TACIT_OK; i++) {
        const tacit_entry *entry = &e->agents[i];
        const tacit__kept_agent agent = {entry->label,
                                         entry->kind,
                                         model_name(entry->guarantee.model),
                                         tacit_calibration_name(entry->calibration),
                                         entry->guarantee.epsilon,
                                         entry->guarantee.delta};
        status = tacit__store_write_agent(writer->store, i, &agent, err);
    }
    for (size_t i = 0; i < e->n_pairs && status == TACIT_OK; i++)
        status =
            tacit__store_write_part(writer->store, i, e->pairs[i].world, e->pairs[i].agent,
                                    r->parts[i].kind, r->parts[i].remark, r->parts[i].plan, err);
    return status;
}

static tacit_status create(tacit__results_writer *writer, tacit_error *err)
{
    TRY(tacit__store_open(writer->directory, TACIT__STORE_CREATE, &writer->store, err));
    TRY(write_facts(writer, err));
    return tacit__store_commit(writer->store, err);
}

/* --- Writing ------------------------------------------------------------------------------------- */

static tacit_status write_points(tacit__results_writer *writer, size_t job, size_t n,
                                 tacit_error *err)
{
    TACIT__REQUIRE(job < writer->workers->results->n_jobs &&
                   n <= writer->workers->results->n_points);
    const tacit_results *r = writer->workers->results;
    size_t first = writer->written[job];
    if (n <= first)
        return TACIT_OK;
    tacit_status status = tacit__store_write_points(writer->store, job, n - first, r->at + first,
                                                    r->curves + job * r->n_points + first, err);
    if (status == TACIT_OK)
        writer->written[job] = (uint16_t)n;
    return status;
}

static tacit_status write_finished(tacit__results_writer *writer, size_t number, tacit_error *err)
{
    TACIT__REQUIRE(number < writer->workers->results->n_jobs);
    const tacit_results *r = writer->workers->results;
    const tacit_job *job = &r->jobs[number];
    const tacit__kept_job kept = {.number = number,
                                  .part = number % r->n_pairs,
                                  .run = number / r->n_pairs,
                                  .regret = job->regret,
                                  .late_regret = job->late_regret,
                                  .seconds = job->seconds,
                                  .switches = job->switches};
    TRY(write_points(writer, number, job->n_points, err));
    if (job->estimate.known) {
        const tacit__kept_estimate estimate = tacit__kept_estimate_of(&job->estimate, number);
        TRY(tacit__store_write_estimate(writer->store, &estimate, err));
    }
    return tacit__store_write_job(writer->store, &kept, err);
}

/* A smaller experiment becomes this one, in one transaction: a reader sees the one or the other. */
static tacit_status rewrite(tacit__results_writer *writer, tacit_error *err)
{
    const tacit_results *r = writer->workers->results;
    TRY(tacit__store_begin(writer->store, err));
    TRY(tacit__store_clear(writer->store, err));
    TRY(write_facts(writer, err));
    for (size_t job = 0; job < r->n_jobs; job++)
        if (r->jobs[job].done)
            TRY(write_finished(writer, job, err));
    return tacit__store_commit(writer->store, err);
}

/* Everything that is new, in one transaction. `all`: also the curves of jobs that were stopped. */
static tacit_status write_new(tacit__results_writer *writer, bool all, tacit_error *err)
{
    tacit__workers *workers = writer->workers;
    (void)pthread_mutex_lock(&workers->crew.lock);
    size_t n = workers->n_finished;
    (void)pthread_mutex_unlock(&workers->crew.lock);
    tacit_status status = tacit__store_begin(writer->store, err);
    for (size_t i = 0; i < workers->n_slots && status == TACIT_OK; i++) {
        tacit__slot_state g;
        if (tacit__slot_read(&workers->slots[i], &g))
            status = write_points(writer, g.job, g.points, err);
    }
    for (; writer->n_recorded < n && status == TACIT_OK; writer->n_recorded++)
        status = write_finished(writer, workers->finished[writer->n_recorded], err);
    for (size_t job = 0; all && job < workers->results->n_jobs && status == TACIT_OK; job++)
        if (!workers->results->jobs[job].done)
            status = write_points(writer, job, workers->results->jobs[job].n_points, err);
    if (status == TACIT_OK)
        status = tacit__store_commit(writer->store, err);
    return status == TACIT_SYSTEM ? tacit__fail_hinted(err, status, TACIT_HINT_RESUME) : status;
}

/* False when the thread should end. */
static bool wait_period(tacit__results_writer *writer)
{
    const double until = tacit__now_ms() + PERIOD_MS;
    (void)pthread_mutex_lock(&writer->workers->crew.lock);
    while (!writer->done && tacit__wait_until(&writer->wake, &writer->workers->crew.lock, until))
        ;
    bool go_on = !writer->done;
    (void)pthread_mutex_unlock(&writer->workers->crew.lock);
    return go_on;
}

static void *write_regularly(void *context)
{
    tacit__results_writer *writer = context;
    while (wait_period(writer)) {
        tacit_status status = write_new(writer, false, &writer->failure);
        if (status == TACIT_OK)
            continue;
        tacit__crew_fail(&writer->workers->crew, 0, &writer->failure);
        break;
    }
    return NULL;
}

tacit_status tacit__results_writer_start(tacit__results_writer *writer, tacit_error *err)
{
    TACIT__REQUIRE(!writer->started);
    TRY(writer->store == NULL ? create(writer, err)
        : writer->grown       ? rewrite(writer, err)
                              : TACIT_OK);
    writer->started = pthread_create(&writer->thread, NULL, write_regularly, writer) == 0;
    return writer->started ? TACIT_OK : tacit__fail(err, TACIT_SYSTEM, "cannot start a thread");
}

static void join_thread(tacit__results_writer *writer)
{
    if (!writer->started)
        return;
    (void)pthread_mutex_lock(&writer->workers->crew.lock);
    writer->done = true;
    (void)pthread_cond_signal(&writer->wake);
    (void)pthread_mutex_unlock(&writer->workers->crew.lock);
    (void)pthread_join(writer->thread, NULL);
    writer->started = false;
}

tacit_status tacit__results_writer_finish(tacit__results_writer *writer, tacit_error *err)
{
    if (writer == NULL || !writer->started)
        return TACIT_OK;
    join_thread(writer);
    /* The thread may have failed after the workers had ended. */
    if (writer->failure.status != TACIT_OK)
        return tacit__fail_again(err, &writer->failure);
    return write_new(writer, true, err);
}

void tacit__results_writer_destroy(tacit__results_writer *writer)
{
    if (writer == NULL)
        return;
    join_thread(writer);
    tacit__store_close(writer->store);
    (void)pthread_cond_destroy(&writer->wake);
    tacit__workspace_destroy(writer);
}
