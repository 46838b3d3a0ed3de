/* Random linear worlds: features on the simplex, so that phi(s, a) . 1 = 1, and
 *
 *     P_h(s' | s, a) = sum_j phi_j(s, a) mu_hj(s'),     r_h(s, a) = sum_j phi_j(s, a) theta_hj
 *
 * with measures mu_hj drawn from a Dirichlet distribution over the states and theta_hj uniform in [0, 1]:
 * a linear MDP [JYWJ20] whose transitions are a mixture of d next-state distributions, weighted by the
 * features. Features are drawn from a Dirichlet distribution too; the smaller the concentration, the
 * closer they are to the corners, and the more depends on the choice of an action. The world follows from
 * its parameters and `seed` alone. Everyone starts in state 0. */
#include <math.h>

#include "base/error.h"
#include "base/workspace.h"
#include "worlds/dice.h"
#include "worlds/kind.h"

static const tacit_parameter parameters[] = {
    {"d", TACIT_PARAMETER_INTEGER, "5", 1, 1000, "dimension of the features"},
    {"states", TACIT_PARAMETER_INTEGER, "20", 1, 100000, "number of states"},
    {"actions", TACIT_PARAMETER_INTEGER, "4", 1, 10000, "number of actions"},
    TACIT__HORIZON_PARAMETER("5"),
    TACIT__SEED_PARAMETER("of the world; all runs play in the same one"),
    {"concentration", TACIT_PARAMETER_REAL, "0.3", 1e-3, 1e6,
     "of the Dirichlet distributions of features and measures"},
    {"stationary", TACIT_PARAMETER_FLAG, "no", 0, 0,
     "the same measures and rewards at all steps; no: fresh ones for each"},
};

/* The callback of the features reads this; it lives as long as the world. */
typedef struct features {
    size_t d, n_actions;
    double *table; /* [states][actions][d] */
} features;

typedef struct maker {
    const features *features;
    size_t n_states;
    double *measures; /* [layer][d][states] */
    double *rewards;  /* [layer][d] */
} maker;

static void feature_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const features *f = context;
    const double *phi = f->table + ((size_t)state * f->n_actions + action) * f->d;
    for (size_t j = 0; j < f->d; j++)
        out[j] = phi[j];
}

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    const maker *m = context;
    const features *f = m->features;
    const double *phi = f->table + ((size_t)s * f->n_actions + action) * f->d;
    const double *measures = m->measures + layer * f->d * m->n_states,
                 *rewards = m->rewards + layer * f->d;
    double reward = 0, sum = 0;
    for (size_t j = 0; j < f->d; j++)
        reward += phi[j] * rewards[j];
    for (uint32_t next = 0; next < m->n_states; next++) {
        double prob = 0;
        for (size_t j = 0; j < f->d; j++)
            prob += phi[j] * measures[j * m->n_states + next];
        out[next] = (tacit_outcome){.next = next, .prob = prob, .reward = fmin(fmax(reward, 0), 1)};
        sum += prob;
    }
    for (uint32_t next = 0; next < m->n_states; next++)
        out[next].prob = out[next].prob / sum < TACIT__LEAST_PROB ? 0 : out[next].prob / sum;
    return m->n_states;
}

/* All numbers of the world, each row from words of its own. */
static tacit_status draw_world(maker *m, features *f, const tacit__values *values, size_t layers)
{
    tacit__dice dice;
    TRY(tacit__dice_open(&dice, (uint64_t)tacit__value_of(values, "seed")->integer,
                         "random linear"));
    double concentration = tacit__value_real(values, "concentration");
    for (size_t i = 0; i < m->n_states * f->n_actions; i++) {
        tacit__dice_next(&dice);
        tacit__dice_simplex(&dice, concentration, f->d, f->table + i * f->d);
    }
    for (size_t i = 0; i < layers * f->d; i++) {
        tacit__dice_next(&dice);
        m->rewards[i] = tacit__dice_uniform(&dice);
        tacit__dice_simplex(&dice, concentration, m->n_states, m->measures + i * m->n_states);
    }
    return TACIT_OK;
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    size_t d = (size_t)tacit__value_of(values, "d")->integer,
           n_states = (size_t)tacit__value_of(values, "states")->integer,
           n_actions = (size_t)tacit__value_of(values, "actions")->integer,
           horizon = (size_t)tacit__value_of(values, "horizon")->integer;
    size_t layers = tacit__value_of(values, "stationary")->flag ? 1 : horizon;
    features w = {.d = d, .n_actions = n_actions};
    features *f = NULL;
    maker m = {.n_states = n_states};
    const tacit__mdp_spec spec = {.n_states = n_states,
                                  .n_actions = n_actions,
                                  .horizon = horizon,
                                  .stationary = tacit__value_of(values, "stationary")->flag,
                                  .reward_high = 1,
                                  .row_max = n_states,
                                  .row = row,
                                  .context = &m};
    tacit_error inner = {.message = ""};
    tacit_status status = tacit__mdp_check_size(&spec, d, &inner); /* before anything is drawn */
    if (status == TACIT_OK) {
        f = TACIT__WORKSPACE(w, TACIT__PIECE(w.table, n_states * n_actions * d));
        m.features = f;
        const bool room =
            f != NULL && TACIT__PIECES(TACIT__PIECE(m.measures, layers * d * n_states),
                                       TACIT__PIECE(m.rewards, layers * d)) != NULL;
        status = room ? draw_world(&m, f, values, layers) : TACIT_NO_MEMORY;
        if (status == TACIT_OK)
            status = tacit__mdp_create(&spec, &out->mdp, &inner);
    }
    tacit__workspace_destroy(m.measures);
    if (status == TACIT_TOO_LARGE)
        (void)tacit__fail_at(err, status, values->origin.file, (size_t)values->origin.line,
                             "%s; fewer states, actions or steps would do", inner.message);
    else if (status != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    if (status != TACIT_OK) {
        tacit__workspace_destroy(f);
        return status;
    }
    out->features = f;
    out->linear = (tacit_linear){
        .dimension = d, .bound = 1, .simplex = true, .row = feature_row, .context = f};
    return TACIT_OK;
}

const tacit__kind tacit__kind_random_linear = {
    .face = {"random-linear",
             "a linear world drawn at random: features on the simplex, measures, rewards",
             "after Jin, Yang, Wang and Jordan 2020 (linear MDPs)", parameters,
             TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};
