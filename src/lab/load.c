/* Loads saved results. Everything is checked against the experiment: a number that does not fit means that
 * the file is damaged. */
#include "lab/load.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "lab/experiment.h"

typedef struct loader {
    const tacit__store *store;
    tacit_results *results;
} loader;

static tacit_status fail_damaged(const loader *l, const char *what, tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT, "%.200s: the database is damaged: %s",
                       tacit__store_path(l->store), what);
}

static tacit_status load_point(void *context, uint64_t number, uint64_t episode, double regret,
                               tacit_error *err)
{
    loader *l = context;
    tacit_results *r = l->results;
    if (number >= r->n_jobs)
        return fail_damaged(l, "a point of a job that does not exist", err);
    tacit_job *job = &r->jobs[number];
    if (job->n_points == r->n_points || r->at[job->n_points] != episode || !isfinite(regret))
        return fail_damaged(l, "a curve has a point too many, or one is missing", err);
    r->curves[number * r->n_points + job->n_points++] = regret;
    return TACIT_OK;
}

static tacit_status load_job(void *context, const tacit__kept_job *kept, tacit_error *err)
{
    loader *l = context;
    tacit_results *r = l->results;
    if (kept->number >= r->n_jobs || kept->part != kept->number % r->n_pairs ||
        kept->run != kept->number / r->n_pairs)
        return fail_damaged(l, "a job that does not exist", err);
    tacit_job *job = &r->jobs[kept->number];
    if (job->n_points != r->n_points || !isfinite(kept->regret) || !isfinite(kept->late_regret) ||
        !(kept->seconds >= 0))
        return fail_damaged(l, "a finished job without its whole curve", err);
    job->done = true;
    job->regret = kept->regret;
    job->late_regret = kept->late_regret;
    job->switches = kept->switches;
    job->seconds = kept->seconds;
    return TACIT_OK;
}

tacit__kept_estimate tacit__kept_estimate_of(const tacit_estimate *e, uint64_t job)
{
    return (tacit__kept_estimate){.job = job,
                                  .ips = e->ips,
                                  .ips_error = e->ips_error,
                                  .self_normalized = e->self_normalized,
                                  .self_normalized_error = e->self_normalized_error,
                                  .doubly_robust = e->doubly_robust,
                                  .doubly_robust_error = e->doubly_robust_error,
                                  .effective = e->effective,
                                  .logging = e->logging,
                                  .logging_error = e->logging_error,
                                  .constant = e->constant,
                                  .constant_error = e->constant_error,
                                  .lift_logging = e->lift_logging,
                                  .lift_logging_error = e->lift_logging_error,
                                  .lift_constant = e->lift_constant,
                                  .lift_constant_error = e->lift_constant_error,
                                  .matched = e->matched};
}

static tacit_status load_estimate(void *context, const tacit__kept_estimate *kept, tacit_error *err)
{
    loader *l = context;
    tacit_results *r = l->results;
    if (kept->job >= r->n_jobs || !r->jobs[kept->job].done)
        return fail_damaged(l, "an estimate of a job that was not played", err);
    r->jobs[kept->job].estimate =
        (tacit_estimate){.known = true,
                         .ips = kept->ips,
                         .ips_error = kept->ips_error,
                         .self_normalized = kept->self_normalized,
                         .self_normalized_error = kept->self_normalized_error,
                         .doubly_robust = kept->doubly_robust,
                         .doubly_robust_error = kept->doubly_robust_error,
                         .effective = kept->effective,
                         .logging = kept->logging,
                         .logging_error = kept->logging_error,
                         .constant = kept->constant,
                         .constant_error = kept->constant_error,
                         .lift_logging = kept->lift_logging,
                         .lift_logging_error = kept->lift_logging_error,
                         .lift_constant = kept->lift_constant,
                         .lift_constant_error = kept->lift_constant_error,
                         .matched = kept->matched};
    return TACIT_OK;
}

tacit_status tacit__load_jobs(tacit__store *store, tacit_results *results, tacit_error *err)
{
    TACIT__REQUIRE(store != NULL && results != NULL);
    loader l = {store, results};
    TRY(tacit__store_read_points(store, load_point, &l, err));
    TRY(tacit__store_read_jobs(store, load_job, &l, err));
    return tacit__store_read_estimates(store, load_estimate, &l, err);
}

static tacit_status load_facts(tacit__store *store, tacit_results *r, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < r->experiment->facts.n_worlds && status == TACIT_OK; i++)
        status = tacit__store_read_world(store, i, &r->worlds[i], &r->optimal[i], r->remarks[i],
                                         sizeof r->remarks[i], err);
    for (size_t i = 0; i < r->n_pairs && status == TACIT_OK; i++)
        status = tacit__store_read_part(store, i, r->parts[i].kind, sizeof r->parts[i].kind,
                                        r->parts[i].remark, sizeof r->parts[i].remark,
                                        &r->parts[i].plan, err);
    return status;
}

tacit_status tacit__load_results(tacit__store *store, tacit_results **out, tacit_error *err)
{
    TACIT__REQUIRE(store != NULL && out != NULL);
    tacit__kept_head head;
    tacit_experiment *experiment = NULL;
    tacit_results *results = NULL;
    TRY(tacit__store_read_head(store, &head, err));
    const tacit_experiment_changes changes = {
        .episodes = head.changed_episodes, .runs = head.changed_runs, .seed = head.changed_seed};
    tacit_status status =
        tacit__experiment_reopen(head.text, head.text_size, head.file, &changes, &experiment, err);
    if (status == TACIT_OK)
        status = tacit__results_create(experiment, &results, err);
    tacit_experiment_destroy(experiment);
    if (status == TACIT_OK) {
        (void)snprintf(results->version, sizeof results->version, "%s", head.version);
        status = load_facts(store, results, err);
    }
    if (status == TACIT_OK)
        status = tacit__load_jobs(store, results, err);
    if (status == TACIT_OK)
        *out = results;
    else
        tacit_results_destroy(results);
    return status;
}

tacit_status tacit_results_open(const char *directory, tacit_results **out, tacit_error *err)
{
    if (directory == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__store *store = NULL;
    tacit_status status = tacit__store_open(directory, TACIT__STORE_READ, &store, err);
    if (status == TACIT_OK)
        status = tacit__load_results(store, out, err);
    tacit__store_close(store);
    return status;
}
