/* Weights of a mixture that agree with themselves and not with the data. Means say where users were, and where users were says what
 * sums tell of the weights: passes that begin with a wrong mean may end with another wrong one. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/posterior/mixture_belief.h"
#include "support/check.h"
#include "support/random.h"

SCOPED_TYPE(tacit__mixture_model, tacit__mixture_model_destroy)
SCOPED_TYPE(tacit__mixture_belief, tacit__mixture_belief_destroy)

enum { STATES = 6, ACTIONS = 3, PARTS = 4, WIDTH = PARTS - 1, PAIRS = STATES * ACTIONS };
enum { STEPS = 7, HORIZON = STEPS + 1, USERS = 2000 };

static double kernels[PAIRS][PARTS][STATES];

static void row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    memcpy(out, kernels[state * ACTIONS + action], sizeof kernels[0]);
}

static const tacit_mixture mixture = {.dimension = PARTS,
                                      .bound = 1,
                                      .parameter_norm = 1,
                                      .kernels = true,
                                      .nonnegative = true,
                                      .row = row};

/* States of health, doses, and kinds of patients: each dose helps one kind, or two, and the others hardly. */
static tacit__mixture_model *draw_patients(uint64_t *seed)
{
    tacit__mixture_model *m = NULL;
    for (size_t i = 0; i < PAIRS * PARTS; i++) {
        const size_t state = i / PARTS / ACTIONS, action = i / PARTS % ACTIONS, j = i % PARTS;
        const bool helps = action == j % ACTIONS;
        const double best = action == 0 ? 0.2 : 0.5,
                     up = helps ? fmin(0.7, best * (0.5 + random_unit(seed)))
                                : 0.05 + 0.1 * random_unit(seed),
                     down = helps ? 0.15 : fmin(0.29, 0.15 + 0.35 * random_unit(seed));
        double *x = kernels[i / PARTS][j];
        memset(x, 0, sizeof kernels[0][0]);
        x[state + 1 < STATES ? state + 1 : state] += up;
        x[state > 0 ? state - 1 : 0] += down;
        x[state] += 1 - up - down;
    }
    assert_ok(tacit__mixture_model_create(&mixture, STATES, ACTIONS, 20000, false, &m, NULL));
    return m;
}

typedef struct crowd {
    uint32_t plan[HORIZON * STATES];
    uint64_t players;
    double sums[STEPS * WIDTH + STATES];
    tacit__played_batch batch;
} crowd;

/* Everybody takes one dose; the sums are what they are on average. */
static void fill(crowd *c, const tacit__mixture_model *m, const double *weights, uint32_t dose)
{
    static double chances[PAIRS * STATES], visits[STEPS * PAIRS];
    double start[STATES], here[STATES], after[STATES];
    for (size_t i = 0; i < N_OF(c->plan); i++)
        c->plan[i] = dose;
    for (size_t s = 0; s < STATES; s++)
        start[s] = 1.0 / STATES;
    c->players = USERS;
    c->batch = (tacit__played_batch){.shown = {USERS, c->sums, c->sums + STEPS * WIDTH, NULL},
                                     .truth = 1,
                                     .n_plans = 1,
                                     .plans = c->plan,
                                     .players = &c->players,
                                     .start = 0.4};
    tacit__mixture_model_mix(m, weights, chances);
    const tacit__walk walk = {.n_states = STATES,
                              .n_actions = ACTIONS,
                              .horizon = HORIZON,
                              .steps = STEPS,
                              .tables = 1,
                              .chances = chances,
                              .start = start,
                              .here = here,
                              .after = after};
    memset(visits, 0, sizeof visits);
    tacit__walk_visits(&walk, &c->batch, visits);
    memset(c->sums, 0, sizeof c->sums);
    for (size_t s = 0; s < STATES; s++)
        c->sums[STEPS * WIDTH + s] = 0.4 * USERS * start[s];
    for (size_t i = 0; i < STEPS * PAIRS * STATES; i++) {
        const size_t h = i / (PAIRS * STATES), move = i % (PAIRS * STATES);
        for (size_t k = 0; k < WIDTH; k++)
            c->sums[h * WIDTH + k] += visits[h * PAIRS + move / STATES] * chances[move] *
                                      ldexp(m->scores[move * WIDTH + k], -m->bits);
    }
}

/* Some doses tell little, and weights are then off by up to 0.26; in a trap they are by 0.85. With one beginning two of these 120 end in
 * one. */
TEST(weights_that_agree_with_themselves_alone_are_left)
{
    static const double truth[PARTS] = {0.1, 0.7, 0.15, 0.05};
    enum { MODELS = 40 };
    uint64_t seed = 13;
    int wrong = 0;
    for (int i = 0; i < MODELS; i++) {
        SCOPED(tacit__mixture_model) *m = draw_patients(&seed);
        for (uint32_t dose = 0; dose < ACTIONS; dose++) {
            SCOPED(tacit__mixture_belief) *p = NULL;
            static crowd c;
            double most = 0;
            fill(&c, m, truth, dose);
            assert_ok(tacit__mixture_belief_create(m, STEPS, true, &p));
            for (int again = 0; again < 10; again++)
                tacit__mixture_belief_fit(p, &c.batch, 1);
            for (size_t j = 0; j < PARTS; j++)
                most = fmax(most, fabs(p->weights[j] - truth[j]));
            wrong += most > 0.4;
        }
    }
    assert_int_equal(wrong, 0);
}
