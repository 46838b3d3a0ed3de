/* The baselines: what a learner must beat, and what it cannot beat.
 *
 * `uniform`, `constant` and `no-data` say what is possible without data; `optimal` has regret 0 by definition
 * and is evaluated like any other policy, so that rounding cancels. */
#include "lab/baseline.h"

#include <string.h>

#include <tacit/lab.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

typedef tacit_status value_fn(const tacit_world *world, double *scratch, double *value,
                              tacit_error *err);

static tacit_status value_of_uniform(const tacit_world *world, double *scratch, double *value,
                                     tacit_error *err)
{
    const tacit_world_facts *space = tacit_world_describe(world);
    size_t n;
    if (__builtin_mul_overflow(space->horizon * space->n_states, space->n_actions, &n))
        return tacit__fail_plain(err, TACIT_TOO_LARGE);
    double *mixed = tacit__alloc(n, sizeof *mixed);
    if (mixed == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        mixed[i] = 1 / (double)space->n_actions;
    tacit_status status = tacit_world_evaluate_mixed(world, mixed, scratch, value);
    tacit__free(mixed);
    return status == TACIT_OK ? TACIT_OK : tacit__fail_plain(err, status);
}

/* The best single action of a table, and its value. */
static tacit_status best_constant(const tacit_world *world, double *scratch, uint32_t *out,
                                  double *value, tacit_error *err)
{
    const tacit_world_facts *space = tacit_world_describe(world);
    size_t n = space->horizon * space->n_states;
    uint32_t *policy = tacit__alloc(n, sizeof *policy);
    if (policy == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = TACIT_OK;
    double best = -1;
    for (uint32_t action = 0; action < space->n_actions && status == TACIT_OK; action++) {
        double v = 0;
        for (size_t i = 0; i < n; i++)
            policy[i] = action;
        status = tacit_world_evaluate(world, policy, scratch, &v);
        *out = v > best ? action : *out;
        best = v > best ? v : best;
    }
    tacit__free(policy);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    *value = best;
    return TACIT_OK;
}

static tacit_status value_of_constant(const tacit_world *world, double *scratch, double *value,
                                      tacit_error *err)
{
    uint32_t action = 0;
    return best_constant(world, scratch, &action, value, err);
}

static tacit_status value_of_optimal(const tacit_world *world, double *scratch, double *value,
                                     tacit_error *err)
{
    const tacit_world_facts *space = tacit_world_describe(world);
    uint32_t *policy;
    double *values;
    if (TACIT__PIECES(TACIT__PIECE(policy, space->horizon * space->n_states),
                      TACIT__PIECE(values, (space->horizon + 1) * space->n_states)) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit_world_solve(world, policy, values, err);
    if (status == TACIT_OK) {
        status = tacit_world_evaluate(world, policy, scratch, value);
        if (status != TACIT_OK)
            (void)tacit__fail_plain(err, status);
    }
    tacit__workspace_destroy(policy);
    return status;
}

static const struct {
    tacit__agent_row row;
    value_fn *value;
} baselines[] = {
    {{.kind = {.name = "uniform",
               .help = "random actions, all equally likely",
               .source = "a baseline: what not learning costs",
               .models = TACIT_AGENT_NONE}},
     value_of_uniform},
    {{.kind = {.name = "constant",
               .help = "always the same action: the best single one",
               .source = "a baseline: the best that is possible without looking at states",
               .models = TACIT_AGENT_NONE}},
     value_of_constant},
    {{.kind = {.name = "no-data",
               .help = "the plan before the first person, where rewards and kernels are known",
               .source = "a baseline: what public knowledge is worth without learning",
               .models = TACIT_AGENT_NONE}},
     tacit__no_data_value},
    {{.kind = {.name = "optimal",
               .help = "knows the world and plays its best policy",
               .source = "a baseline: regret 0, by exact backward induction",
               .models = TACIT_AGENT_NONE}},
     value_of_optimal},
};
enum { N_BASELINES = sizeof baselines / sizeof *baselines };

size_t tacit_baseline_count(void)
{
    return N_BASELINES;
}

const tacit_agent_kind *tacit_baseline_at(size_t i)
{
    return i < N_BASELINES ? &baselines[i].row.kind : NULL;
}

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < N_BASELINES && strcmp(baselines[i].row.kind.name, name) != 0)
        i++;
    return i;
}

const tacit_agent_kind *tacit_baseline_find(const char *name)
{
    return name != NULL ? tacit_baseline_at(find(name)) : NULL;
}

const tacit__agent_row *tacit__baseline_row(const char *name)
{
    size_t i = find(name);
    return i < N_BASELINES ? &baselines[i].row : NULL;
}

tacit_status tacit__baseline_value(const char *name, const tacit_world *world, double *value,
                                   tacit_error *err)
{
    TACIT__REQUIRE(name != NULL && world != NULL && value != NULL);
    size_t i = find(name);
    if (i == N_BASELINES)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_world_facts *facts = tacit_world_describe(world);
    if (facts->family == TACIT_WORLD_BANDIT && baselines[i].value == value_of_optimal) {
        *value = facts->optimal_value; /* the others are played, see play_rounds.c */
        return TACIT_OK;
    }
    double *scratch = tacit__alloc(tacit_world_scratch(world), sizeof *scratch);
    if (scratch == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = baselines[i].value(world, scratch, value, err);
    tacit__free(scratch);
    return status;
}

/* Finds the action with the largest mean over the world's first `rounds` people. */
static tacit_status best_of_rounds(const tacit_world *world, uint64_t rounds, tacit_noise *root,
                                   uint32_t *out, tacit_error *err)
{
    const size_t n = tacit_world_describe(world)->n_actions;
    tacit_rounds *people = NULL;
    tacit_visitor v;
    double *sums = tacit__alloc(n, sizeof *sums);
    tacit_status status = sums != NULL ? tacit_rounds_create(world, root, &people, err)
                                       : tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (uint64_t k = 0; status == TACIT_OK && k < rounds; k++) {
        if ((status = tacit_rounds_begin(people, k, &v)) == TACIT_OK && v.means == NULL)
            status = tacit__fail(err, TACIT_UNSUPPORTED,
                                 "the best constant action of a log is not known before the end");
        for (size_t a = 0; status == TACIT_OK && a < n; a++)
            sums[a] += v.means[a];
    }
    for (uint32_t a = *out = 0; status == TACIT_OK && a < n; a++)
        *out = sums[a] > sums[*out] ? a : *out;
    tacit_rounds_destroy(people);
    tacit__free(sums);
    return status;
}

tacit_status tacit__baseline_constant(const tacit_world *world, uint64_t rounds, tacit_noise *root,
                                      uint32_t *out, tacit_error *err)
{
    TACIT__REQUIRE(world != NULL && out != NULL);
    if (tacit_world_describe(world)->family == TACIT_WORLD_BANDIT)
        return best_of_rounds(world, rounds, root, out, err);
    double value, *scratch = tacit__alloc(tacit_world_scratch(world), sizeof *scratch);
    if (scratch == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *out = 0;
    tacit_status status = best_constant(world, scratch, out, &value, err);
    tacit__free(scratch);
    return status;
}
