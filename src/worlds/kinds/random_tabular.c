/* Random finite worlds: transition rows from a Dirichlet distribution, rewards uniform in [0, 1].
 *
 * concentration 1 is uniform on the simplex; smaller values give rows with few likely successors. With
 * branching b every row has b successors, chosen without replacement. The world follows from its parameters
 * and `seed` alone. Everyone starts in state 0. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "worlds/dice.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"states", TACIT_PARAMETER_INTEGER, "10", 1, 1000000, "number of states"},
    {"actions", TACIT_PARAMETER_INTEGER, "4", 1, 10000, "number of actions"},
    TACIT__HORIZON_PARAMETER("10"),
    TACIT__SEED_PARAMETER("of the world; all runs play in the same one"),
    {"concentration", TACIT_PARAMETER_REAL, "1", 1e-3, 1e6,
     "of the Dirichlet distribution of a row"},
    {"branching", TACIT_PARAMETER_INTEGER, "0", 0, 1000000,
     "successors of a state and action; 0: all states"},
    {"stationary", TACIT_PARAMETER_FLAG, "yes", 0, 0,
     "one model for all steps; no: a fresh one for each"},
};

typedef struct maker {
    tacit__dice dice;
    size_t n_states, branching;
    double concentration;
    uint32_t *order; /* a permutation of the states, shuffled on from row to row */
} maker;

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    maker *m = context;
    TACIT__REQUIRE(m->branching > 0 && m->branching <= m->n_states);
    tacit__dice *dice = &m->dice;
    tacit__dice_next(dice);
    (void)layer, (void)s, (void)action; /* rows come in order */
    double reward = tacit__dice_uniform(dice), largest = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < m->branching; i++) {
        if (m->branching < m->n_states) { /* Fisher and Yates, the first `branching` places */
            size_t rest = m->n_states - i;
            size_t j = i + (size_t)(((tacit__u128)tacit__dice_word(dice) * rest) >> 64);
            uint32_t swap = m->order[i];
            m->order[i] = m->order[j];
            m->order[j] = swap;
        }
        out[i].next = m->order[i];
        out[i].reward = reward;
        out[i].prob = tacit__dice_log_gamma(dice, m->concentration);
        largest = fmax(largest, out[i].prob);
    }
    for (size_t i = 0; i < m->branching; i++) {
        out[i].prob = exp(out[i].prob - largest);
        sum += out[i].prob;
    }
    for (size_t i = 0; i < m->branching; i++)
        out[i].prob = out[i].prob / sum < TACIT__LEAST_PROB ? 0 : out[i].prob / sum;
    return m->branching;
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    size_t n_states = (size_t)tacit__value_of(values, "states")->integer;
    size_t branching = (size_t)tacit__value_of(values, "branching")->integer;
    if (branching > n_states)
        return tacit__value_fail(
            values, "branching", err, TACIT_BAD_ARGUMENT,
            "branching is %zu, but there are %zu states; expected at most that", branching,
            n_states);
    maker m = {.n_states = n_states,
               .branching = branching > 0 ? branching : n_states,
               .concentration = tacit__value_real(values, "concentration"),
               .order = tacit__alloc(n_states, sizeof *m.order)};
    tacit_status status = tacit__dice_open(
        &m.dice, (uint64_t)tacit__value_of(values, "seed")->integer, "random tabular");
    for (uint32_t s = 0; m.order != NULL && s < n_states; s++)
        m.order[s] = s;
    const tacit__mdp_spec spec = {.n_states = n_states,
                                  .n_actions = (size_t)tacit__value_of(values, "actions")->integer,
                                  .horizon = (size_t)tacit__value_of(values, "horizon")->integer,
                                  .stationary = tacit__value_of(values, "stationary")->flag,
                                  .reward_high = 1,
                                  .row_max = m.branching,
                                  .row = row,
                                  .context = &m};
    tacit_error inner = {.message = ""};
    if (status == TACIT_OK)
        status = m.order != NULL ? tacit__mdp_create(&spec, &out->mdp, &inner) : TACIT_NO_MEMORY;
    if (status == TACIT_TOO_LARGE)
        status = tacit__fail_at(err, status, values->origin.file, (size_t)values->origin.line,
                                "%s; fewer states or a smaller branching would do", inner.message);
    else if (status != TACIT_OK)
        status = tacit__fail_plain(err, status);
    tacit__free(m.order);
    return status;
}

const tacit__kind tacit__kind_random_tabular = {
    .face = {"random-tabular",
             "a finite world drawn at random: Dirichlet transitions, uniform rewards",
             "after Archibald, McKinnon and Thomas 1995 (Garnet)", parameters,
             TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};
