/* The yardsticks: what a learner must beat, and what it cannot beat.
 *
 * `uniform` and `constant` bracket what is possible without data; `optimal` has regret 0 by definition
 * and is evaluated like any other policy, so that rounding cancels. */
#include "lab/yardstick.h"

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

static tacit_status value_of_constant(const tacit_world *world, double *scratch, double *value,
                                      tacit_error *err)
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
        best = v > best ? v : best;
    }
    tacit__free(policy);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    *value = best;
    return TACIT_OK;
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
    tacit_agent_kind face;
    value_fn *value;
} yardsticks[] = {
    {{.name = "uniform",
      .help = "random actions, all equally likely",
      .source = "a yardstick: what not learning costs",
      .models = TACIT_AGENT_NONE},
     value_of_uniform},
    {{.name = "constant",
      .help = "always the same action: the best single one",
      .source = "a yardstick: the best that is possible without looking at states",
      .models = TACIT_AGENT_NONE},
     value_of_constant},
    {{.name = "optimal",
      .help = "knows the world and plays its best policy",
      .source = "a yardstick: regret 0, by exact backward induction",
      .models = TACIT_AGENT_NONE},
     value_of_optimal},
};
enum { N_YARDSTICKS = sizeof yardsticks / sizeof *yardsticks };

size_t tacit_yardstick_count(void)
{
    return N_YARDSTICKS;
}

const tacit_agent_kind *tacit_yardstick_at(size_t i)
{
    return i < N_YARDSTICKS ? &yardsticks[i].face : NULL;
}

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < N_YARDSTICKS && strcmp(yardsticks[i].face.name, name) != 0)
        i++;
    return i;
}

const tacit_agent_kind *tacit_yardstick_find(const char *name)
{
    return name != NULL ? tacit_yardstick_at(find(name)) : NULL;
}

tacit_status tacit__yardstick_value(const char *name, const tacit_world *world, double *value,
                                    tacit_error *err)
{
    TACIT__REQUIRE(name != NULL && world != NULL && value != NULL);
    size_t i = find(name);
    if (i == N_YARDSTICKS)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_world_facts *facts = tacit_world_describe(world);
    if (facts->family == TACIT_WORLD_BANDIT && yardsticks[i].value == value_of_optimal) {
        *value = facts->optimal_value; /* the others are played, see play_rounds.c */
        return TACIT_OK;
    }
    double *scratch = tacit__alloc(tacit_world_scratch(world), sizeof *scratch);
    if (scratch == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = yardsticks[i].value(world, scratch, value, err);
    tacit__free(scratch);
    return status;
}
