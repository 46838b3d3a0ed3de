/* Random mixtures: at step h the transitions are sum_j w_hj P_j for d known kernels P_j and unknown weights
 * w_h.
 *
 * Rows of the kernels and the weights are drawn from Dirichlet distributions, and rewards are uniform in [0,
 * 1] (`rewards: hidden`: they are means of 0 and 1). The world follows from its parameters and `seed` alone.
 * Everyone starts in state 0.
 *
 * With d kernels and rewards for every state and action, all drawn at random, a plan by the even mixture is
 * nearly optimal: there is little to learn (docs/why/posterior-mixture.md#worlds-that-give-the-plan-away). So
 * worlds are balanced, unless it is asked otherwise: a state has d rows, which its actions have in different
 * orders, and rewards depend on the state alone. The even mixture is then the same for all actions, and what
 * is known tells nothing about what to do.
 *
 * Features P_j / sqrt(d), parameter sqrt(d) w; |sum_s' phi v| <= 1 for |v| <= 1 since every component is a
 * mean of v over sqrt(d), and |w|_2 <= |w|_1 = 1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "worlds/dice.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"d", TACIT_PARAMETER_INTEGER, "5", 1, 10000, "base kernels"},
    {"states", TACIT_PARAMETER_INTEGER, "8", 1, 100000, "number of states"},
    {"actions", TACIT_PARAMETER_INTEGER, "4", 1, 10000, "number of actions"},
    TACIT__HORIZON_PARAMETER("6"),
    TACIT__SEED_PARAMETER("of the world; all runs play in the same one"),
    {"concentration", TACIT_PARAMETER_REAL, "0.2", 1e-3, 1e6,
     "of the Dirichlet distribution of a kernel's rows"},
    {"evenness", TACIT_PARAMETER_REAL, "0.3", 1e-3, 1e6,
     "of the weights: concentration of their Dirichlet distribution"},
    {"stationary", TACIT_PARAMETER_FLAG, "no", 0, 0, "the same weights at every step"},
    TACIT__REWARDS_PARAMETER,
    {"balanced", TACIT_PARAMETER_FLAG, "yes", 0, 0,
     "all actions are alike to those who do not know the weights"},
};

/* The callbacks read these: kernels [state][action][d][state], weights [layer][d], rewards
 * [state][action]. */
typedef struct mixture {
    size_t d, n_states, n_actions;
    bool hidden; /* rewards are 0 or 1 */
    double *kernels, *weights, *rewards;
} mixture;

static const double *kernels_of(const mixture *m, uint32_t state, uint32_t action)
{
    return m->kernels + ((size_t)state * m->n_actions + action) * m->d * m->n_states;
}

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    const mixture *m = context;
    const double *kernels = kernels_of(m, s, action), *weights = m->weights + layer * m->d;
    for (size_t next = 0; next < m->n_states; next++) {
        double prob = 0;
        for (size_t j = 0; j < m->d; j++)
            prob += weights[j] * kernels[j * m->n_states + next];
        out[next] =
            (tacit_outcome){(uint32_t)next, prob, m->rewards[(size_t)s * m->n_actions + action]};
    }
    return m->hidden ? tacit__flip_rewards(out, m->n_states) : m->n_states;
}

static void features(void *context, uint32_t state, uint32_t action, double *out)
{
    const mixture *m = context;
    const double *kernels = kernels_of(m, state, action), scale = 1 / sqrt((double)m->d);
    for (size_t i = 0; i < m->d * m->n_states; i++)
        out[i] = scale * kernels[i];
}

/* The rows of the first action, in an order of its own (Fisher and Yates) for each other one. */
static void balance(mixture *m, tacit__dice *dice)
{
    const size_t S = m->n_states, n = m->d * S;
    for (size_t s = 0; s < S; s++) {
        const double *first = m->kernels + s * m->n_actions * n;
        for (size_t a = 1; a < m->n_actions; a++) {
            double *kernels = m->kernels + (s * m->n_actions + a) * n;
            tacit__dice_next(dice);
            memcpy(kernels, first, n * sizeof *kernels);
            for (size_t j = m->d; j-- > 1;) {
                const size_t other = (size_t)(tacit__dice_uniform(dice) * (double)(j + 1));
                for (size_t i = 0; i < S && other != j; i++) {
                    const double kept = kernels[j * S + i];
                    kernels[j * S + i] = kernels[other * S + i];
                    kernels[other * S + i] = kept;
                }
            }
        }
    }
    for (size_t s = 0; s < S; s++)
        for (size_t a = 1; a < m->n_actions; a++)
            m->rewards[s * m->n_actions + a] = m->rewards[s * m->n_actions];
}

/* Everything that is drawn. */
static tacit_status draw(const tacit__values *values, size_t layers, mixture **out)
{
    size_t d = (size_t)tacit__value_of(values, "d")->integer,
           n_states = (size_t)tacit__value_of(values, "states")->integer;
    size_t n_actions = (size_t)tacit__value_of(values, "actions")->integer,
           pairs = n_states * n_actions;
    size_t n_kernels;
    if (__builtin_mul_overflow(pairs * d, n_states, &n_kernels) || n_kernels > SIZE_MAX / 16)
        return TACIT_NO_MEMORY;
    mixture w = {.d = d, .n_states = n_states, .n_actions = n_actions};
    mixture *m =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.kernels, n_kernels), TACIT__PIECE(w.weights, layers * d),
                         TACIT__PIECE(w.rewards, pairs));
    tacit__dice dice;
    tacit_status status =
        m != NULL ? tacit__dice_open(&dice, (uint64_t)tacit__value_of(values, "seed")->integer,
                                     "random mixture")
                  : TACIT_NO_MEMORY;
    if (status != TACIT_OK) {
        tacit__workspace_destroy(m);
        return status;
    }
    for (size_t i = 0; i < pairs * d; i++) {
        tacit__dice_next(&dice);
        tacit__dice_simplex(&dice, tacit__value_real(values, "concentration"), n_states,
                            m->kernels + i * n_states);
    }
    for (size_t h = 0; h < layers; h++) {
        tacit__dice_next(&dice);
        tacit__dice_simplex(&dice, tacit__value_real(values, "evenness"), d, m->weights + h * d);
    }
    tacit__dice_next(&dice);
    for (size_t i = 0; i < pairs; i++)
        m->rewards[i] = tacit__dice_uniform(&dice);
    if (tacit__value_of(values, "balanced")->flag)
        balance(m, &dice);
    *out = m;
    return TACIT_OK;
}

/* Before anything is drawn: the process, and the kernels that it is mixed of. */
static tacit_status check_size(const tacit__mdp_spec *spec, size_t d, const tacit__values *values,
                               tacit_error *err)
{
    tacit_error inner = {.message = ""};
    tacit_status status = tacit__mdp_check_size(spec, d, &inner);
    const double kernels =
        (double)d * (double)spec->n_states * (double)spec->n_states * (double)spec->n_actions;
    if (status == TACIT_OK && kernels > TACIT__MAX_OUTCOMES) {
        (void)snprintf(inner.message, sizeof inner.message,
                       "%zu kernels of %zu states and %zu actions are too many numbers; at most %d "
                       "can be kept",
                       d, spec->n_states, spec->n_actions, TACIT__MAX_OUTCOMES);
        status = TACIT_TOO_LARGE;
    }
    return status == TACIT_OK
               ? TACIT_OK
               : tacit__fail_at(err, status, values->origin.file, (size_t)values->origin.line,
                                "%s; fewer states, actions or steps would do", inner.message);
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    size_t horizon = (size_t)tacit__value_of(values, "horizon")->integer;
    bool stationary = tacit__value_of(values, "stationary")->flag;
    mixture *m = NULL;
    TRY(tacit__read_rewards(values, &out->hides_rewards, err));
    tacit__mdp_spec spec = {.n_states = (size_t)tacit__value_of(values, "states")->integer,
                            .n_actions = (size_t)tacit__value_of(values, "actions")->integer,
                            .horizon = horizon,
                            .stationary = stationary,
                            .reward_high = 1,
                            .row_max = (out->hides_rewards ? 2 : 1) *
                                       (size_t)tacit__value_of(values, "states")->integer,
                            .row = row};
    TRY(check_size(&spec, (size_t)tacit__value_of(values, "d")->integer, values, err));
    tacit_status status = draw(values, stationary ? 1 : horizon, &m);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, values->origin.file, (size_t)values->origin.line,
                              "the kernels do not fit into memory; fewer states or a smaller d do");
    m->hidden = out->hides_rewards;
    out->features = m;
    out->mixture = (tacit_mixture){.dimension = m->d,
                                   .bound = 1,
                                   .parameter_norm = sqrt((double)m->d),
                                   .kernels = true,
                                   .nonnegative = true,
                                   .row = features,
                                   .context = m};
    spec.context = m;
    return tacit__mdp_create(&spec, &out->mdp, err);
}

const tacit__kind tacit__kind_random_mixture = {
    .face = {"random-mixture", "a mixture of d known kernels drawn at random, with unknown weights",
             "linear mixture MDPs: Ayoub, Jia, Szepesvari, Wang, Yang 2020", parameters,
             TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};
