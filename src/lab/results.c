/* Results: memory for every job, and summaries over the runs of an agent. */
#include "lab/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/student.h"
#include "base/workspace.h"
#include "lab/experiment.h"

tacit_status tacit__results_create(const tacit_experiment *experiment, tacit_results **out,
                                   tacit_error *err)
{
    TACIT__REQUIRE(experiment != NULL && out != NULL);
    const tacit_experiment_facts *facts = &experiment->facts;
    uint64_t n = TACIT__ALL_POINTS / facts->n_jobs;
    n = n < TACIT__MAX_POINTS ? n : TACIT__MAX_POINTS;
    n = n < facts->episodes ? n : facts->episodes;
    tacit_results w = {
        .n_pairs = experiment->n_pairs, .n_jobs = (size_t)facts->n_jobs, .n_points = (size_t)n};
    tacit_results *r = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.at, w.n_points), TACIT__PIECE(w.jobs, w.n_jobs),
        TACIT__PIECE(w.curves, w.n_jobs * w.n_points), TACIT__PIECE(w.worlds, facts->n_worlds),
        TACIT__PIECE(w.remarks, facts->n_worlds), TACIT__PIECE(w.optimal, facts->n_worlds),
        TACIT__PIECE(w.parts, w.n_pairs));
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    r->experiment = tacit__experiment_share(experiment);
    (void)snprintf(r->version, sizeof r->version, "%s", tacit_version());
    for (size_t job = 0; job < r->n_jobs; job++)
        r->jobs[job].curve = r->curves + job * r->n_points;
    /* Point i at ceil((i + 1) K / n), without overflow: K = whole n + rest. */
    uint64_t whole = facts->episodes / n, rest = facts->episodes % n;
    for (uint64_t i = 1; i <= n; i++)
        r->at[i - 1] = i * whole + (i * rest + n - 1) / n;
    *out = r;
    return TACIT_OK;
}

void tacit_results_destroy(tacit_results *results)
{
    if (results == NULL)
        return;
    for (size_t pair = 0; pair < results->n_pairs; pair++)
        tacit_plan_destroy(results->parts[pair].plan);
    tacit_experiment_destroy(results->experiment);
    tacit__workspace_destroy(results);
}

const tacit_experiment_facts *tacit_results_describe(const tacit_results *results)
{
    return &results->experiment->facts;
}

const char *tacit_results_version(const tacit_results *results)
{
    return results->version;
}

bool tacit_results_complete(const tacit_results *results)
{
    for (size_t job = 0; job < results->n_jobs; job++)
        if (!results->jobs[job].done)
            return false;
    return true;
}

const tacit_world_facts *tacit_results_world(const tacit_results *results, size_t world)
{
    return world < results->experiment->facts.n_worlds ? &results->worlds[world] : NULL;
}

double tacit_results_optimal_value(const tacit_results *results, size_t world)
{
    return world < results->experiment->facts.n_worlds ? results->optimal[world] : (double)NAN;
}

/* The number of a pair, or NO_PAIR. */
static uint32_t pair_of(const tacit_results *results, size_t world, size_t agent)
{
    const tacit_experiment *e = results->experiment;
    if (world >= e->facts.n_worlds || agent >= e->facts.n_agents)
        return TACIT__NO_PAIR;
    return e->pair_of[world * e->facts.n_agents + agent];
}

const tacit_plan *tacit_results_plan(const tacit_results *results, size_t world, size_t agent)
{
    uint32_t pair = pair_of(results, world, agent);
    return pair != TACIT__NO_PAIR ? results->parts[pair].plan : NULL;
}

const tacit_job *tacit_results_job(const tacit_results *results, size_t world, size_t agent,
                                   uint64_t run)
{
    uint32_t pair = pair_of(results, world, agent);
    if (pair == TACIT__NO_PAIR || run >= results->experiment->facts.runs)
        return NULL;
    return &results->jobs[(size_t)run * results->n_pairs + pair];
}

size_t tacit_results_points(const tacit_results *results)
{
    return results->n_points;
}

uint64_t tacit_results_episode(const tacit_results *results, size_t point)
{
    return point < results->n_points ? results->at[point] : 0;
}

/* Mean and standard error of a member of the finished jobs, as differences to the first of them: equal
 * runs have exactly their value as the mean, and error 0. */
static void average(const tacit_results *results, uint32_t pair,
                    double (*member)(const tacit_job *), double *mean, double *error)
{
    double n = 0, first = 0, sum = 0, squares = 0;
    for (size_t i = pair; i < results->n_jobs; i += results->n_pairs) {
        const tacit_job *job = &results->jobs[i];
        if (!job->done)
            continue;
        first = n == 0 ? member(job) : first;
        sum += member(job) - first;
        n++;
    }
    *mean = n > 0 ? first + sum / n : (double)NAN;
    for (size_t i = pair; i < results->n_jobs; i += results->n_pairs) {
        const tacit_job *job = &results->jobs[i];
        if (job->done)
            squares += (member(job) - *mean) * (member(job) - *mean);
    }
    *error = n > 1 ? sqrt(squares / (n - 1) / n) : (double)NAN;
}

static double regret_of(const tacit_job *job)
{
    return job->regret;
}

static double late_of(const tacit_job *job)
{
    return job->late_regret;
}

static double switches_of(const tacit_job *job)
{
    return (double)job->switches;
}

static double seconds_of(const tacit_job *job)
{
    return job->seconds;
}

bool tacit_results_logged(const tacit_results *results, size_t world)
{
    return world < results->experiment->facts.n_worlds && results->worlds[world].people > 0 &&
           isnan(results->optimal[world]);
}

/* The numbers of an estimate, so that they can be averaged one by one; the second of each pair is an
 * error. */
enum { N_PAIRS_OF_NUMBERS = 7 };
static void list_numbers(tacit_estimate *e, double *out[N_PAIRS_OF_NUMBERS][2])
{
    double *all[N_PAIRS_OF_NUMBERS][2] = {{&e->ips, &e->ips_error},
                                          {&e->self_normalized, &e->self_normalized_error},
                                          {&e->doubly_robust, &e->doubly_robust_error},
                                          {&e->logging, &e->logging_error},
                                          {&e->constant, &e->constant_error},
                                          {&e->lift_logging, &e->lift_logging_error},
                                          {&e->lift_constant, &e->lift_constant_error}};
    (void)memcpy(out, all, sizeof all);
}

tacit_estimate tacit_results_estimate(const tacit_results *results, size_t world, size_t agent)
{
    tacit_estimate sum = {0};
    double n = 0, matched = 0, *to[N_PAIRS_OF_NUMBERS][2], *from[N_PAIRS_OF_NUMBERS][2];
    list_numbers(&sum, to);
    for (uint64_t run = 0; run < results->experiment->facts.runs; run++) {
        const tacit_job *job = tacit_results_job(results, world, agent, run);
        if (job == NULL || !job->done || !job->estimate.known)
            continue;
        tacit_estimate one = job->estimate;
        list_numbers(&one, from);
        for (size_t i = 0; i < N_PAIRS_OF_NUMBERS; i++) {
            *to[i][0] += *from[i][0];
            *to[i][1] += *from[i][1] * *from[i][1];
        }
        sum.effective += one.effective;
        matched += (double)one.matched;
        n++;
    }
    if (n == 0)
        return sum;
    for (size_t i = 0; i < N_PAIRS_OF_NUMBERS; i++) {
        *to[i][0] /= n;
        *to[i][1] = sqrt(*to[i][1] / n);
    }
    sum.effective /= n;
    sum.matched = (uint64_t)(matched / n + 0.5);
    sum.known = true;
    return sum;
}

tacit_summary tacit_results_summary(const tacit_results *results, size_t world, size_t agent)
{
    tacit_summary s = {.kind = "", .remark = "", .regret_half = (double)NAN};
    double ignored;
    uint32_t pair = pair_of(results, world, agent);
    if (pair == TACIT__NO_PAIR)
        return s;
    s.kind = results->parts[pair].kind;
    s.remark = results->parts[pair].remark;
    for (size_t i = pair; i < results->n_jobs; i += results->n_pairs)
        s.runs += results->jobs[i].done;
    average(results, pair, regret_of, &s.regret_mean, &s.regret_error);
    average(results, pair, late_of, &s.late_mean, &s.late_error);
    average(results, pair, switches_of, &s.switches, &ignored);
    average(results, pair, seconds_of, &s.seconds, &ignored);
    if (s.runs > 1)
        s.regret_half = tacit__student_limit(s.runs - 1) * s.regret_error;
    for (uint64_t run = 0; run < results->experiment->facts.runs; run++)
        s.runs_not_learned += tacit_results_not_learned(results, world, agent, run);
    s.did_not_learn = s.runs > 0 && 2 * s.runs_not_learned >= s.runs;
    return s;
}
