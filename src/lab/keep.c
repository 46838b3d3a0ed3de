/* The keeper looks on from a thread of its own, about once a second: what is on the list of finished jobs, and how far
 * the curves at the seats have come, goes to the disk in one transaction. Players never wait for it, nor know of it. */
#include "lab/keep.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/workspace.h"
#include "lab/experiment.h"
#include "lab/load.h"

enum { PERIOD_MS = 1000 };

struct tacit__keeper {
    tacit__crew *crew;
    tacit__store *store; /* NULL: to be created */
    char *directory;
    uint8_t identity[TACIT__IDENTITY_BYTES];
    uint16_t *written;   /* [n_jobs] points of each curve that are in the store */
    size_t n_recorded;   /* of the crew's list of finished jobs */
    bool started, done;  /* `done` is guarded by the crew's lock */
    tacit_error failure; /* the thread's own, until it has gone home; status TACIT_OK: none */
    pthread_t thread;
    pthread_cond_t wake;
};

/* --- What is there already ----------------------------------------------------------------------- */

/* Results are there: whose? */
static tacit_status compare(tacit__keeper *k, tacit__store *store, tacit_lab_mode mode,
                            tacit_error *err)
{
    tacit__kept_head head;
    uint64_t n = 0;
    tacit_status status = tacit__store_read_head(store, &head, err);
    if (status == TACIT_OK)
        status = tacit__store_count_jobs(store, &n, err);
    if (status != TACIT_OK)
        return status;
    if (strcmp(head.version, tacit_version()) != 0)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "%.200s: was begun by version %.20s, and this is %s; results would be "
                           "mixed",
                           tacit__store_path(store), head.version, tacit_version());
    if (memcmp(head.identity, k->identity, sizeof k->identity) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN,
                           "%.200s: holds the results of another experiment, '%.100s' (%llu "
                           "episodes, %llu jobs)",
                           tacit__store_path(store), head.title, (unsigned long long)head.episodes,
                           (unsigned long long)head.n_jobs);
    if (mode == TACIT_LAB_RESUME)
        return TACIT_OK;
    return tacit__fail(
        err, TACIT_EXISTS, "%.200s: holds this experiment already, %llu of %llu jobs finished",
        tacit__store_path(store), (unsigned long long)n, (unsigned long long)head.n_jobs);
}

/* Jobs that were finished earlier are not played again; others are, from their first episode. */
static tacit_status load_earlier(tacit__keeper *k, tacit_error *err)
{
    tacit__crew *crew = k->crew;
    tacit_results *r = crew->results;
    tacit_status status = tacit__load_jobs(k->store, r, err);
    for (size_t job = 0; status == TACIT_OK && job < r->n_jobs; job++) {
        k->written[job] = (uint16_t)r->jobs[job].n_points;
        if (!r->jobs[job].done)
            continue;
        crew->n_earlier++;
        crew->earlier[job % r->n_pairs]++;
    }
    return status;
}

static tacit_status look(tacit__keeper *k, tacit_lab_mode mode, tacit_error *err)
{
    tacit_status status = tacit__experiment_identity(k->crew->experiment, k->identity, err);
    if (status == TACIT_OK)
        status = tacit__store_open(k->directory, TACIT__STORE_WRITE, &k->store, err);
    if (status != TACIT_OK || k->store == NULL)
        return status;
    if (mode == TACIT_LAB_REPLACE) {
        status = tacit__store_remove(k->store, err);
        k->store = NULL;
        return status;
    }
    status = compare(k, k->store, mode, err);
    return status == TACIT_OK ? load_earlier(k, err) : status;
}

tacit_status tacit__keeper_open(tacit__crew *crew, const char *directory, tacit_lab_mode mode,
                                tacit__keeper **out, tacit_error *err)
{
    tacit__keeper w = {.crew = crew};
    tacit__keeper *k = TACIT__WORKSPACE(w, TACIT__PIECE(w.directory, strlen(directory) + 1),
                                        TACIT__PIECE(w.written, crew->results->n_jobs));
    if (k == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__condition_create(&k->wake);
    memcpy(k->directory, directory, strlen(directory) + 1);
    tacit_status status = look(k, mode, err);
    if (status == TACIT_OK)
        *out = k;
    else
        tacit__keeper_destroy(k);
    return status;
}

/* --- The head of a new database ------------------------------------------------------------------ */

static const char *model_name(tacit_model model)
{
    return model == TACIT_MODEL_JOINT ? "joint" : model == TACIT_MODEL_LOCAL ? "local" : "none";
}

static const char *calibration_name(tacit_calibration calibration)
{
    return calibration == TACIT_CALIBRATION_TIGHT       ? "tight"
           : calibration == TACIT_CALIBRATION_PUBLISHED ? "published"
                                                        : "figure";
}

static tacit_status write_head(tacit__keeper *k, tacit_error *err)
{
    const tacit_experiment *e = k->crew->experiment;
    tacit__kept_head head = {.version = tacit_version(),
                             .file = e->facts.file,
                             .title = e->facts.title,
                             .episodes = e->facts.episodes,
                             .runs = e->facts.runs,
                             .n_jobs = e->facts.n_jobs,
                             .changed_episodes = e->changes.episodes,
                             .changed_runs = e->changes.runs};
    memcpy(head.identity, k->identity, sizeof head.identity);
    head.text = tacit__yaml_text(e->yaml, &head.text_size);
    return tacit__store_write_head(k->store, &head, err);
}

static tacit_status write_facts(tacit__keeper *k, tacit_error *err)
{
    const tacit_experiment *e = k->crew->experiment;
    const tacit_results *r = k->crew->results;
    tacit_status status = write_head(k, err);
    for (size_t i = 0; i < e->facts.n_worlds && status == TACIT_OK; i++)
        status = tacit__store_write_world(k->store, i, e->worlds[i].label, e->worlds[i].kind,
                                          &r->worlds[i], r->optimal[i], err);
    for (size_t i = 0; i < e->facts.n_agents && status == TACIT_OK; i++) {
        const tacit_entry *entry = &e->agents[i];
        const tacit__kept_agent agent = {entry->label,
                                         entry->kind,
                                         model_name(entry->guarantee.model),
                                         calibration_name(entry->calibration),
                                         entry->guarantee.epsilon,
                                         entry->guarantee.delta};
        status = tacit__store_write_agent(k->store, i, &agent, err);
    }
    for (size_t i = 0; i < e->n_pairs && status == TACIT_OK; i++)
        status = tacit__store_write_part(k->store, i, e->pairs[i].world, e->pairs[i].agent,
                                         r->parts[i].remark, r->parts[i].plan, err);
    return status;
}

static tacit_status create(tacit__keeper *k, tacit_error *err)
{
    tacit_status status = tacit__store_open(k->directory, TACIT__STORE_CREATE, &k->store, err);
    if (status == TACIT_OK)
        status = write_facts(k, err);
    if (status == TACIT_OK)
        status = tacit__store_commit(k->store, err);
    return status;
}

/* --- Writing down -------------------------------------------------------------------------------- */

static tacit_status write_points(tacit__keeper *k, size_t job, size_t n, tacit_error *err)
{
    const tacit_results *r = k->crew->results;
    size_t first = k->written[job];
    if (n <= first)
        return TACIT_OK;
    tacit_status status = tacit__store_write_points(k->store, job, n - first, r->at + first,
                                                    r->curves + job * r->n_points + first, err);
    if (status == TACIT_OK)
        k->written[job] = (uint16_t)n;
    return status;
}

static tacit_status write_finished(tacit__keeper *k, size_t number, tacit_error *err)
{
    const tacit_results *r = k->crew->results;
    const tacit_job *job = &r->jobs[number];
    const tacit__kept_job kept = {.number = number,
                                  .part = number % r->n_pairs,
                                  .run = number / r->n_pairs,
                                  .regret = job->regret,
                                  .late_regret = job->late_regret,
                                  .seconds = job->seconds,
                                  .switches = job->switches};
    tacit_status status = write_points(k, number, job->n_points, err);
    return status == TACIT_OK ? tacit__store_write_job(k->store, &kept, err) : status;
}

/* Everything that there is, in one transaction. `all`: also the curves of jobs that were stopped. */
static tacit_status write_news(tacit__keeper *k, bool all, tacit_error *err)
{
    tacit__crew *crew = k->crew;
    (void)pthread_mutex_lock(&crew->lock);
    size_t n = crew->n_finished;
    (void)pthread_mutex_unlock(&crew->lock);
    tacit_status status = tacit__store_begin(k->store, err);
    for (size_t i = 0; i < crew->n_seats && status == TACIT_OK; i++) {
        tacit__glimpse g;
        if (tacit__seat_look(&crew->seats[i], &g))
            status = write_points(k, g.job, g.points, err);
    }
    for (; k->n_recorded < n && status == TACIT_OK; k->n_recorded++)
        status = write_finished(k, crew->finished[k->n_recorded], err);
    for (size_t job = 0; all && job < crew->results->n_jobs && status == TACIT_OK; job++)
        if (!crew->results->jobs[job].done)
            status = write_points(k, job, crew->results->jobs[job].n_points, err);
    if (status == TACIT_OK)
        status = tacit__store_commit(k->store, err);
    return status == TACIT_SYSTEM ? tacit__fail_hinted(err, status, TACIT_HINT_RESUME) : status;
}

/* False when it is time to go home. */
static bool sleep_a_while(tacit__keeper *k)
{
    const double until = tacit__now_ms() + PERIOD_MS;
    (void)pthread_mutex_lock(&k->crew->lock);
    while (!k->done && tacit__wait_until(&k->wake, &k->crew->lock, until))
        ;
    bool go_on = !k->done;
    (void)pthread_mutex_unlock(&k->crew->lock);
    return go_on;
}

static void *keep(void *context)
{
    tacit__keeper *k = context;
    while (sleep_a_while(k)) {
        tacit_status status = write_news(k, false, &k->failure);
        if (status == TACIT_OK)
            continue;
        tacit__crew_fail(k->crew, 0, &k->failure);
        break;
    }
    return NULL;
}

tacit_status tacit__keeper_start(tacit__keeper *k, tacit_error *err)
{
    tacit_status status = k->store == NULL ? create(k, err) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    k->started = pthread_create(&k->thread, NULL, keep, k) == 0;
    return k->started ? TACIT_OK : tacit__fail(err, TACIT_SYSTEM, "cannot start a thread");
}

static void go_home(tacit__keeper *k)
{
    if (!k->started)
        return;
    (void)pthread_mutex_lock(&k->crew->lock);
    k->done = true;
    (void)pthread_cond_signal(&k->wake);
    (void)pthread_mutex_unlock(&k->crew->lock);
    (void)pthread_join(k->thread, NULL);
    k->started = false;
}

tacit_status tacit__keeper_finish(tacit__keeper *k, tacit_error *err)
{
    if (k == NULL || !k->started)
        return TACIT_OK;
    go_home(k);
    /* The crew may have gone home while the thread failed, and not know of it. */
    if (k->failure.status != TACIT_OK)
        return tacit__fail_again(err, &k->failure);
    return write_news(k, true, err);
}

void tacit__keeper_destroy(tacit__keeper *k)
{
    if (k == NULL)
        return;
    go_home(k);
    tacit__store_close(k->store);
    (void)pthread_cond_destroy(&k->wake);
    tacit__workspace_destroy(k);
}
