/* Results: memory for every job, and what the runs of an agent say together. */
#include "lab/results.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

tacit_status tacit__results_create(const tacit_experiment_facts *facts, tacit_results **out,
                                   tacit_error *err)
{
    tacit_results *r = tacit__alloc(1, sizeof *r);
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    r->n_agents = facts->n_agents;
    r->n_runs = facts->runs;
    r->n_points = facts->episodes < TACIT__MAX_POINTS ? (size_t)facts->episodes : TACIT__MAX_POINTS;
    size_t n_jobs = r->n_agents * (size_t)r->n_runs;
    r->at = tacit__alloc(r->n_points, sizeof *r->at);
    r->jobs = tacit__alloc(n_jobs, sizeof *r->jobs);
    r->curves = tacit__alloc(n_jobs * r->n_points, sizeof *r->curves);
    r->remarks = tacit__alloc(r->n_agents, sizeof *r->remarks);
    if (r->at == NULL || r->jobs == NULL || r->curves == NULL || r->remarks == NULL) {
        tacit_results_destroy(r);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    /* Point i at ceil((i + 1) K / n), without overflow: K = whole n + rest. */
    uint64_t n = r->n_points, whole = facts->episodes / n, rest = facts->episodes % n;
    for (uint64_t i = 1; i <= n; i++)
        r->at[i - 1] = i * whole + (i * rest + n - 1) / n;
    *out = r;
    return TACIT_OK;
}

void tacit_results_destroy(tacit_results *results)
{
    if (results == NULL)
        return;
    tacit__free(results->at);
    tacit__free(results->jobs);
    tacit__free(results->curves);
    tacit__free(results->remarks);
    tacit__free(results);
}

bool tacit_results_complete(const tacit_results *results)
{
    for (size_t i = 0; i < results->n_agents * (size_t)results->n_runs; i++)
        if (!results->jobs[i].done)
            return false;
    return true;
}

double tacit_results_optimal_value(const tacit_results *results)
{
    return results->optimal_value;
}

const tacit_job *tacit_results_job(const tacit_results *results, size_t agent, uint64_t run)
{
    if (agent >= results->n_agents || run >= results->n_runs)
        return NULL;
    return &results->jobs[(size_t)run * results->n_agents + agent];
}

size_t tacit_results_points(const tacit_results *results)
{
    return results->n_points;
}

uint64_t tacit_results_episode(const tacit_results *results, size_t point)
{
    return point < results->n_points ? results->at[point] : 0;
}

/* Mean and standard error of a member of the finished jobs, as differences to the first of them: equal runs have exactly
 * their value as the mean, and error 0. */
static void average(const tacit_results *results, size_t agent, double (*member)(const tacit_job *),
                    double *mean, double *error)
{
    double n = 0, first = 0, sum = 0, squares = 0;
    for (uint64_t run = 0; run < results->n_runs; run++) {
        const tacit_job *job = tacit_results_job(results, agent, run);
        if (!job->done)
            continue;
        first = n == 0 ? member(job) : first;
        sum += member(job) - first;
        n++;
    }
    *mean = n > 0 ? first + sum / n : (double)NAN;
    for (uint64_t run = 0; run < results->n_runs; run++) {
        const tacit_job *job = tacit_results_job(results, agent, run);
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

tacit_summary tacit_results_summary(const tacit_results *results, size_t agent)
{
    tacit_summary s = {.remark = ""};
    double ignored;
    if (agent >= results->n_agents)
        return s;
    s.remark = results->remarks[agent];
    for (uint64_t run = 0; run < results->n_runs; run++)
        s.runs += tacit_results_job(results, agent, run)->done;
    average(results, agent, regret_of, &s.regret_mean, &s.regret_error);
    average(results, agent, late_of, &s.late_mean, &s.late_error);
    average(results, agent, switches_of, &s.switches, &ignored);
    average(results, agent, seconds_of, &s.seconds, &ignored);
    return s;
}
