/* From results to the plain data of a report. The only file here that knows them.
 *
 * Curves keep at most BUDGET points in all, so that a page stays small whatever the experiment; the last
 * episode is always among them. A band covers the middle of the runs: the lowest and the highest tenth are
 * left out, which for fewer than ten runs is empty. */
#include "report/model.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

enum {
    BUDGET = 60000,
    FEWEST = 60
}; /* stated choices: some 1.5 MB of numbers; a curve without corners */

void tacit__report_empty(tacit__report *r)
{
    for (size_t w = 0; w < r->n_worlds; w++)
        for (size_t i = 0; i < r->n_agents; i++) {
            tacit__workspace_destroy(r->worlds[w].outcomes[i].per_run);
            tacit_explanation_destroy(r->worlds[w].outcomes[i].promise);
        }
    tacit__workspace_destroy(r->worlds);
    *r = (tacit__report){0};
}

/* --- Curves -------------------------------------------------------------------------------------- */

/* Which of the results' points is point i here. */
static size_t source_point(const tacit__report *r, size_t n_all, size_t i)
{
    return (i + 1) * n_all / r->n_points - 1;
}

static size_t points_of(size_t n_all, size_t n_curves)
{
    size_t most = n_curves > 0 && BUDGET / n_curves > FEWEST ? BUDGET / n_curves : FEWEST;
    return n_all < most ? n_all : most;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_point(double *values, size_t n, const tacit__report_outcome *o, size_t point)
{
    TACIT__REQUIRE(n > 0);
    size_t cut = n / 10;
    qsort(values, n, sizeof *values, ascending);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i] - values[0];
    double mean = values[0] + sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    o->mean[point] = mean;
    o->low[point] = values[cut];
    o->high[point] = values[n - 1 - cut];
    o->errors[point] = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
}

static tacit_status fill_curves(const tacit__report *r, const tacit_results *results, size_t world,
                                size_t agent, tacit__report_outcome *o)
{
    size_t n_all = tacit_results_points(results);
    double *values = tacit__alloc((size_t)o->n_runs, sizeof *values);
    if (values == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < r->n_points; i++) {
        size_t point = source_point(r, n_all, i), n = 0;
        for (uint64_t run = 0; run < r->runs; run++) {
            const tacit_job *job = tacit_results_job(results, world, agent, run);
            if (job->done)
                values[n++] = job->curve[point];
        }
        fill_point(values, n, o, i);
    }
    tacit__free(values);
    return TACIT_OK;
}

/* The promise of an agent is not known before it has played. */
static tacit_status explain(const tacit_results *results, size_t world, size_t agent,
                            const tacit_entry *entry, const char *kind, const char *remark,
                            tacit_explanation **out, tacit_error *err)
{
    const tacit_explanation_request request = {.claim = entry->guarantee,
                                               .calibration = entry->calibration,
                                               .plan = tacit_results_plan(results, world, agent),
                                               .kind = kind,
                                               .remark = remark,
                                               .outside = entry->outside,
                                               .baseline = entry->baseline};
    if (request.plan == NULL && entry->guarantee.model != TACIT_MODEL_NONE)
        return TACIT_OK;
    return tacit_explanation_create(&request, out, err);
}

static tacit_status fill_outcome(tacit__report *r, const tacit_results *results, size_t world,
                                 size_t agent, tacit_error *err)
{
    TACIT__REQUIRE(world < r->n_worlds && agent < r->n_agents);
    tacit__report_outcome *o = &r->worlds[world].outcomes[agent];
    tacit_summary s = tacit_results_summary(results, world, agent);
    *o = (tacit__report_outcome){.kind = s.kind[0] != '\0' ? s.kind : r->agents[agent].entry->kind,
                                 .n_runs = s.runs,
                                 .regret = s.regret_mean,
                                 .error = s.regret_error,
                                 .half = s.regret_half,
                                 .late = s.late_mean,
                                 .switches = s.switches,
                                 .seconds = s.seconds,
                                 .n_not_learned = s.runs_not_learned,
                                 .flagged = s.did_not_learn,
                                 .estimate = tacit_results_estimate(results, world, agent),
                                 .plays = tacit_results_job(results, world, agent, 0) != NULL};
    if (!o->plays)
        return TACIT_OK;
    r->n_jobs += r->runs;
    r->n_done += s.runs;
    if (TACIT__PIECES(TACIT__PIECE(o->per_run, (size_t)r->runs),
                      TACIT__PIECE_IF(s.runs > 0, o->mean, r->n_points),
                      TACIT__PIECE_IF(s.runs > 0, o->low, r->n_points),
                      TACIT__PIECE_IF(s.runs > 0, o->high, r->n_points),
                      TACIT__PIECE_IF(s.runs > 0, o->errors, r->n_points)) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (uint64_t run = 0; run < r->runs; run++) {
        const tacit_job *job = tacit_results_job(results, world, agent, run);
        o->per_run[run] = job->done ? job->regret : (double)NAN;
    }
    tacit_status status = s.runs > 0 ? fill_curves(r, results, world, agent, o) : TACIT_OK;
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    return explain(results, world, agent, r->agents[agent].entry, o->kind, s.remark, &o->promise,
                   err);
}

/* --- All of it ----------------------------------------------------------------------------------- */

/* All arrays, and the outcomes of each world. */
static bool allocate(tacit__report *r)
{
    const size_t n = r->n_agents;
    tacit__report_outcome *outcomes;
    if (TACIT__PIECES(TACIT__PIECE(r->worlds, r->n_worlds), TACIT__PIECE(outcomes, r->n_worlds * n),
                      TACIT__PIECE(r->agents, n), TACIT__PIECE(r->families, n),
                      TACIT__PIECE(r->members, n), TACIT__PIECE(r->at, r->n_points)) == NULL)
        return false;
    for (size_t w = 0; w < r->n_worlds; w++)
        r->worlds[w].outcomes = outcomes + w * n;
    return true;
}

static void fill_agents(tacit__report *r, const tacit_experiment_facts *facts)
{
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_entry *entry = &facts->agents[i];
        r->agents[i] =
            (tacit__report_agent){.entry = entry,
                                  .kind = entry->baseline ? tacit_baseline_find(entry->kind)
                                                          : tacit_agent_kind_find(entry->kind)};
        if (r->agents[i].kind == NULL)
            r->agents[i].kind = tacit_agent_alias_find(entry->kind);
    }
    tacit__report_families(r);
}

static tacit_status fill_world(tacit__report *r, const tacit_results *results, size_t world,
                               tacit_error *err)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit_world_entry *entry = &tacit_results_describe(results)->worlds[world];
    const tacit_world_facts *space = tacit_results_world(results, world);
    tacit__report_world *to = &r->worlds[world];
    double optimal = tacit_results_optimal_value(results, world);
    *to = (tacit__report_world){.name = entry->label,
                                .kind = entry->kind,
                                .settings = entry->settings,
                                .n_settings = entry->n_settings,
                                .visitors = entry->visitors,
                                .n_states = space->n_states,
                                .n_actions = space->n_actions,
                                .horizon = space->horizon,
                                .logged = tacit_results_logged(results, world),
                                .bar = tacit_results_bar(results, world),
                                .has_share = space->reward_low == 0 && optimal > 0,
                                .optimal_value = optimal,
                                .outcomes = to->outcomes};
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < r->n_agents && status == TACIT_OK; i++)
        status = fill_outcome(r, results, world, i, err);
    return status;
}

tacit_status tacit__report_fill(const tacit_results *results, tacit__report *out, tacit_error *err)
{
    TACIT__REQUIRE(results != NULL && out != NULL);
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    tacit__report r = {.title = facts->title,
                       .file = facts->file,
                       .version = tacit_results_version(results),
                       .episodes = facts->episodes,
                       .runs = facts->runs,
                       .seed = facts->seed,
                       .n_worlds = facts->n_worlds,
                       .n_agents = facts->n_agents};
    const size_t n_all = tacit_results_points(results);
    r.n_points = points_of(n_all, r.n_worlds * r.n_agents);
    if (!allocate(&r))
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    fill_agents(&r, facts);
    for (size_t i = 0; i < r.n_points; i++)
        r.at[i] = tacit_results_episode(results, source_point(&r, n_all, i));
    tacit_status status = TACIT_OK;
    for (size_t w = 0; w < r.n_worlds && status == TACIT_OK; w++)
        status = fill_world(&r, results, w, err);
    if (status == TACIT_OK)
        *out = r;
    else
        tacit__report_empty(&r);
    return status;
}

tacit_status tacit__report_check(const tacit__report *report, size_t world, const size_t *agents,
                                 size_t n_agents, tacit_error *err)
{
    if (world >= report->n_worlds)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "there is no world %zu, expected 0 to %zu",
                           world, report->n_worlds - 1);
    for (size_t i = 0; agents != NULL && i < n_agents; i++)
        if (agents[i] >= report->n_agents)
            return tacit__fail(err, TACIT_BAD_ARGUMENT, "there is no agent %zu, expected 0 to %zu",
                               agents[i], report->n_agents - 1);
    return TACIT_OK;
}
