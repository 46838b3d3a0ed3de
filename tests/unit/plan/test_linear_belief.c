/* The posterior of a linear MDP against a plain version of the formulas of docs/why/posterior-linear.md: explicit inverses, visits by
 * walking through all trajectories; and what is publicly known of the features. */
#include "plan/posterior/linear_belief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/check.h"
#include "support/played.h"
#include "support/random.h"
#include "support/solve.h"

SCOPED_TYPE(tacit__linear_model, tacit__linear_model_destroy)
SCOPED_TYPE(tacit__linear_belief, tacit__linear_belief_destroy)

enum { STATES = 4, ACTIONS = 2, D = 3, PAIRS = STATES * ACTIONS, HORIZON = 3 };
enum { BATCHES = 4, TRANSITIONS = (HORIZON - 1) * STATES * D };
enum { NUMBERS = TRANSITIONS + HORIZON * D };

static double features[PAIRS][D];

static void row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    memcpy(out, features[state * ACTIONS + action], sizeof features[0]);
}

static const tacit_linear simplex = {.dimension = D, .bound = 1, .simplex = true, .row = row};
static const tacit_linear ball = {.dimension = D, .bound = 3, .row = row};

static tacit__linear_model *draw_model(uint64_t seed)
{
    tacit__linear_model *m = NULL;
    for (size_t pair = 0; pair < PAIRS; pair++)
        random_simplex(&seed, D, features[pair]);
    features[3][0] = 1; /* one of the corners, so that the longest has length 1 */
    features[3][1] = features[3][2] = 0;
    assert_ok(tacit__linear_model_create(&simplex, STATES, ACTIONS, HORIZON, 1000, &m, NULL));
    return m;
}

/* --- The model ------------------------------------------------------------------------------------- */

/* Up to a step of the lattice, and never longer. */
TEST(features_are_placed_in_units_of_the_longest)
{
    tacit__linear_model *m = NULL;
    uint64_t seed = 3;
    for (int signs = 0; signs < 2; signs++) {
        double longest = 0;
        for (size_t i = 0; i < PAIRS; i++) {
            double square = 0;
            for (size_t j = 0; j < D; j++) {
                features[i][j] = signs ? random_normal(&seed) / 2 : random_unit(&seed);
                square += features[i][j] * features[i][j];
            }
            longest = fmax(longest, sqrt(square));
        }
        assert_ok(tacit__linear_model_create(&ball, STATES, ACTIONS, HORIZON, 1000, &m, NULL));
        const double step = ldexp(1, -m->scores.feature_bits);
        for (size_t i = 0; i < PAIRS * D; i++) {
            const double wanted = features[i / D][i % D] / longest, got = m->features[i];
            assert_close(got, m->scores.features[i] * step, 1e-15);
            assert_within(fabs(wanted) - fabs(got), -1e-12, step);
            assert_true(got * wanted >= 0);
        }
        tacit__linear_model_destroy(m);
    }
}

/* K users add at most 2^60, whatever K. */
TEST(many_users_have_room)
{
    tacit__linear_model *m = draw_model(1);
    tacit__linear_model_destroy(m);
    for (int bits = 0; bits < 53; bits++) {
        const uint64_t users = (uint64_t)1 << bits;
        tacit_error err = {.message = ""};
        tacit_status status =
            tacit__linear_model_create(&simplex, STATES, ACTIONS, HORIZON, users, &m, &err);
        assert_true(status == TACIT_OK || (bits > 36 && status == TACIT_NO_ROOM));
        if (status != TACIT_OK)
            continue;
        assert_true(m->scores.feature_bits >= 6);
        assert_true(tacit__feature_scores_bits(&m->scores) + 4 + bits <= 60);
        tacit__linear_model_destroy(m);
    }
}

TEST(features_that_are_not_what_was_declared_are_refused)
{
    static const double wrong[] = {1.5, -0.1, (double)NAN, HUGE_VAL};
    tacit__linear_model *m = draw_model(4);
    tacit_linear none = simplex;
    tacit__linear_model_destroy(m);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        tacit_error err = {.message = ""};
        m = draw_model(4);
        tacit__linear_model_destroy(m);
        features[5][1] = wrong[i];
        assert_status(tacit__linear_model_create(&simplex, STATES, ACTIONS, HORIZON, 10, &m, &err),
                      TACIT_OUT_OF_BOUND);
        assert_non_null(strstr(err.message, "state 2, action 1"));
    }
    none.dimension = 0;
    assert_status(tacit__linear_model_create(&none, STATES, ACTIONS, HORIZON, 10, &m, NULL),
                  TACIT_BAD_ARGUMENT);
}

TEST(the_first_batch_halves_the_prior_variance)
{
    SCOPED(tacit__linear_model) *m = draw_model(6);
    double f2 = 0, c2 = 0;
    for (size_t i = 0; i < D * D; i++) {
        double cell = 0;
        for (size_t pair = 0; pair < PAIRS; pair++)
            cell += m->features[pair * D + i / D] * m->features[pair * D + i % D] / PAIRS;
        f2 += cell * cell / D;
        c2 += i / D == i % D ? cell / (D * STATES) : 0;
    }
    assert_halves_the_prior(tacit__linear_model_users, m, f2, c2, 2 * STATES);
    tacit__linear_model_destroy(m);
    memset(features, 0, sizeof features); /* tell nothing: all users */
    assert_ok(tacit__linear_model_create(&ball, STATES, ACTIONS, HORIZON, 1000, &m, NULL));
    assert_int_equal(tacit__linear_model_users(m, NOISE(1, 0), 1, 77), 77);
}

/* --- The posterior --------------------------------------------------------------------------------- */

/* What the plain version has of each table. */
typedef struct plain {
    size_t tables;
    double chances[HORIZON][PAIRS][STATES], rewards[HORIZON][PAIRS];
    double spread[HORIZON][PAIRS], reward_spread[HORIZON][PAIRS];
    double start[STATES];
} plain;

static tacit__walk walk_of(const plain *x)
{
    return (tacit__walk){SPACE_OF(STATES, ACTIONS, HORIZON), .steps = HORIZON, .tables = x->tables,
                         .chances = &x->chances[0][0][0], .start = x->start};
}

/* Precision and targets of one table. */
typedef struct knowledge {
    double precision[D * D], targets[STATES][D];
} knowledge;

/* What n batches tell of one step: their J, and columns x. */
typedef struct lesson {
    double j[BATCHES][D * D], x[BATCHES][STATES][D];
} lesson;

static void note(const tacit__linear_model *m, const double *visits, double *j)
{
    for (size_t i = 0; i < D * D; i++) {
        j[i] = 0;
        for (size_t pair = 0; pair < PAIRS; pair++)
            j[i] += visits[pair] * m->features[pair * D + i / D] * m->features[pair * D + i % D];
    }
}

/* The covariance of all batches together, with what neighbors have in common beside the diagonal: J' R^-1 J and J' R^-1 x. */
static void tell(const played *batches, size_t n, const lesson *l, double moment, size_t columns,
                 knowledge *k)
{
    static double r[BATCHES * D * BATCHES * D], inverse[BATCHES * D * BATCHES * D];
    const size_t all = n * D;
    memset(r, 0, sizeof r);
    for (size_t b = 0; b < n; b++) {
        const tacit__played_batch *of = &batches[b].batch;
        const double common = b > 0 ? of->fade * of->variance : 0,
                     own = of->variance + of->fade * common + 1e-6 * (double)of->shown.users;
        for (size_t i = 0; i < D * D; i++)
            r[(b * D + i / D) * all + b * D + i % D] =
                moment * l->j[b][i] + (i / D == i % D ? own : 0);
        for (size_t i = 0; i < D && b > 0; i++) {
            const size_t here = b * D + i, before = here - D;
            r[here * all + before] = r[before * all + here] = -common;
        }
    }
    if (n > 0)
        invert_plainly(all, r, inverse);
    for (size_t at = 0; at < all * all; at++) {
        const size_t a = at / all, b = at % all;
        for (size_t i = 0; i < D; i++) {
            const double left = l->j[a / D][a % D * D + i] * inverse[at];
            for (size_t j = 0; j < D; j++)
                k->precision[i * D + j] += left * l->j[b / D][b % D * D + j];
            for (size_t c = 0; c < columns; c++)
                k->targets[c][i] += left * l->x[b / D][c][b % D];
        }
    }
}

static double length(const double *inverse, const double *phi)
{
    double square = 0;
    for (size_t i = 0; i < D * D; i++)
        square += phi[i / D] * inverse[i] * phi[i % D];
    return sqrt(square);
}

static void conclude(const tacit__linear_model *m, const knowledge *measures,
                     const knowledge *rewards, size_t t, plain *x)
{
    double inverse[D * D], reward_inverse[D * D], sorted[STATES];
    invert_plainly(D, measures->precision, inverse);
    invert_plainly(D, rewards->precision, reward_inverse);
    for (size_t pair = 0; pair < PAIRS; pair++) {
        const double *phi = m->features + pair * D;
        double reward = 1;
        x->spread[t][pair] = length(inverse, phi);
        x->reward_spread[t][pair] = length(reward_inverse, phi) / 2;
        for (size_t next = 0; next < STATES; next++) {
            x->chances[t][pair][next] = 1.0 / STATES;
            for (size_t i = 0; i < D * D; i++)
                x->chances[t][pair][next] +=
                    phi[i / D] * inverse[i] * measures->targets[next][i % D];
        }
        tacit__simplex_project(STATES, x->chances[t][pair], sorted);
        for (size_t i = 0; i < D * D; i++)
            reward += phi[i / D] * reward_inverse[i] * rewards->targets[0][i % D];
        x->rewards[t][pair] = fmin(1, fmax(0, reward / 2));
    }
}

static void plain_pass(const tacit__linear_model *m, const played *batches, size_t n, plain *x)
{
    const tacit__walk walk = walk_of(x);
    knowledge measures[HORIZON] = {{.precision = {0}}}, rewards[HORIZON] = {{.precision = {0}}};
    for (size_t i = 0; i < HORIZON * D; i++) {
        measures[i / D].precision[i % D * (D + 1)] = 2 * STATES;
        rewards[i / D].precision[i % D * (D + 1)] = 3;
    }
    static double visits[BATCHES][HORIZON][PAIRS];
    memset(visits, 0, sizeof visits);
    for (size_t k = 0; k < n; k++)
        played_walk(&batches[k].batch, &walk, &visits[k][0][0]);
    for (size_t h = 0; h < HORIZON; h++) {
        static lesson l;
        const size_t t = x->tables == 1 ? 0 : h;
        for (size_t k = 0; k < n; k++) {
            note(m, visits[k][h], l.j[k]);
            memcpy(l.x[k][0], batches[k].sums + TRANSITIONS + h * D, sizeof l.x[k][0]);
        }
        tell(batches, n, &l, 1.0 / 3, 1, &rewards[t]);
        if (h + 1 == HORIZON)
            continue;
        for (size_t i = 0; i < n * STATES * D; i++) {
            const double *sums = batches[i / (STATES * D)].sums + h * STATES * D;
            double mean = 0;
            for (size_t next = 0; next < STATES; next++)
                mean += sums[next * D + i % D] / STATES;
            l.x[i / (STATES * D)][i / D % STATES][i % D] = sums[i % (STATES * D)] - mean;
        }
        tell(batches, n, &l, 1.0 / STATES, STATES, &measures[t]);
    }
    for (size_t t = 0; t < x->tables; t++)
        conclude(m, &measures[t], &rewards[t], t, x);
}

static void compare(const tacit__linear_belief *p, const plain *x)
{
    for (size_t i = 0; i < x->tables * PAIRS; i++) {
        const size_t t = i / PAIRS, pair = i % PAIRS;
        for (size_t next = 0; next < STATES; next++)
            assert_within(p->chances[i * STATES + next] - x->chances[t][pair][next], -1e-8, 1e-8);
        assert_within(p->expected[i] - x->rewards[t][pair], -1e-8, 1e-8);
        assert_within(p->spread[i] - x->spread[t][pair], -1e-8, 1e-8);
        assert_within(p->reward_spread[i] - x->reward_spread[t][pair], -1e-8, 1e-8);
    }
}

TEST(the_posterior_is_that_of_the_formulas)
{
    for (int same = 0; same < 2; same++)
        for (int noisy = 0; noisy < 3; noisy++) { /* 2: batches share noise */
            SCOPED(tacit__linear_model) *m = draw_model(7);
            SCOPED(tacit__linear_belief) *p = NULL;
            uint64_t seed = 11;
            static played batches[BATCHES];
            tacit__played_batch list[BATCHES];
            double sorted[STATES];
            plain x = {.tables = same ? 1 : HORIZON};
            const tacit__walk walk = walk_of(&x);
            assert_ok(tacit__linear_belief_create(m, same != 0, &p));
            plain_pass(m, batches, 0, &x);
            compare(p, &x);
            for (size_t n = 1; n <= BATCHES; n++) {
                played_draw(&batches[n - 1], &walk, NUMBERS, 30 * n, noisy ? 25 : 0, &seed);
                batches[n - 1].batch.fade = noisy == 2 ? 0.7 : 0;
                list[n - 1] = batches[n - 1].batch;
                tacit__played_start(list, n, STATES, x.start, sorted);
                for (int round = 0; round < 3; round++)
                    plain_pass(m, batches, n, &x);
                tacit__linear_belief_fit(p, list, n);
                compare(p, &x);
            }
        }
}

/* Counts of first states, with the covariance of all batches together. */
TEST(starts_are_those_of_all_batches_together)
{
    static played batches[BATCHES];
    tacit__played_batch list[BATCHES];
    const plain x = {.tables = HORIZON};
    const tacit__walk walk = walk_of(&x);
    for (int faded = 0; faded < 2; faded++) {
        uint64_t seed = 17;
        double r[BATCHES * BATCHES] = {0}, inverse[BATCHES * BATCHES], wanted[STATES],
                           start[STATES], sorted[STATES], precision = STATES;
        for (size_t k = 0; k < BATCHES; k++) {
            played_draw(&batches[k], &walk, NUMBERS, 400 * (k + 1), 25, &seed);
            batches[k].batch.fade = faded ? 0.6 : 0;
            for (size_t s = 0; s < STATES; s++) /* near the simplex, so that no state is cut off */
                batches[k].sums[NUMBERS + s] *= 1.0 / STATES / 0.5;
            list[k] = batches[k].batch;
            const double noise = 25 / (0.4 * 0.4), common = faded ? 0.6 * noise : 0;
            r[k * (BATCHES + 1)] =
                noise + (k > 0 ? list[k].fade * common : 0) + 100 * ((double)k + 1);
            if (k > 0)
                r[k * BATCHES + k - 1] = r[(k - 1) * BATCHES + k] = -common;
        }
        invert_plainly(BATCHES, r, inverse);
        for (size_t i = 0; i < BATCHES * BATCHES; i++)
            precision += 160000 * (double)((i / BATCHES + 1) * (i % BATCHES + 1)) * inverse[i];
        for (size_t s = 0; s < STATES; s++) {
            wanted[s] = 1;
            for (size_t i = 0; i < BATCHES * BATCHES; i++)
                wanted[s] += 400 * (double)(i / BATCHES + 1) * inverse[i] *
                             batches[i % BATCHES].sums[NUMBERS + s] / 0.4;
            wanted[s] /= precision;
        }
        tacit__simplex_project(STATES, wanted, sorted);
        tacit__played_start(list, BATCHES, STATES, start, sorted);
        for (size_t s = 0; s < STATES; s++)
            assert_close(start[s], wanted[s], 1e-9);
    }
}

/* Exact sums of a hundred million users, as they are on average: chances, rewards and starts are found. */
TEST(exact_sums_of_many_users_tell_the_world)
{
    SCOPED(tacit__linear_model) *m = draw_model(8);
    SCOPED(tacit__linear_belief) *p = NULL;
    uint64_t seed = 13;
    static played b;
    static plain truth = {.tables = HORIZON};
    double visits[HORIZON][PAIRS] = {{0}}, measures[HORIZON][D][STATES], theta[HORIZON][D];
    const tacit__walk walk = walk_of(&truth);
    played_draw(&b, &walk, NUMBERS, 100000000, 0, &seed);
    b.players[1] = b.players[2] /= 2;
    for (size_t i = 0; i < HORIZON * D; i++) {
        random_simplex(&seed, STATES, measures[i / D][i % D]);
        theta[i / D][i % D] = random_unit(&seed);
    }
    for (size_t i = 0; i < HORIZON * PAIRS * D; i++) {
        const size_t h = i / (PAIRS * D), pair = i / D % PAIRS, j = i % D;
        truth.rewards[h][pair] += features[pair][j] * theta[h][j];
        for (size_t next = 0; next < STATES; next++)
            truth.chances[h][pair][next] += features[pair][j] * measures[h][j][next];
    }
    random_simplex(&seed, STATES, truth.start);
    played_walk(&b.batch, &walk, &visits[0][0]);
    memset(b.sums, 0, sizeof b.sums);
    for (size_t s = 0; s < STATES; s++)
        b.sums[NUMBERS + s] = 0.4 * 1e8 * truth.start[s];
    for (size_t i = 0; i < HORIZON * PAIRS * D; i++) {
        const size_t h = i / (PAIRS * D), pair = i / D % PAIRS, j = i % D;
        const double seen = visits[h][pair] * m->features[pair * D + j];
        b.sums[TRANSITIONS + h * D + j] += seen * (2 * truth.rewards[h][pair] - 1);
        for (size_t next = 0; next < STATES && h + 1 < HORIZON; next++)
            b.sums[(h * STATES + next) * D + j] += seen * truth.chances[h][pair][next];
    }
    assert_ok(tacit__linear_belief_create(m, false, &p));
    for (int i = 0; i < 20; i++)
        tacit__linear_belief_fit(p, &b.batch, 1);
    for (size_t s = 0; s < STATES; s++)
        assert_within(p->start[s] - truth.start[s], -1e-6, 1e-6);
    for (size_t i = 0; i < HORIZON * PAIRS; i++) {
        assert_within(p->expected[i] - truth.rewards[i / PAIRS][i % PAIRS], -2e-3, 2e-3);
        for (size_t next = 0; next < STATES && i / PAIRS + 1 < HORIZON; next++)
            assert_within(p->chances[i * STATES + next] - truth.chances[i / PAIRS][i % PAIRS][next],
                          -2e-3, 2e-3);
    }
}

TEST(no_memory_is_survived)
{
    SCOPED(tacit__linear_model) *m = draw_model(9), *other = NULL;
    SCOPED(tacit__linear_belief) *p = NULL;
    assert_survives_no_memory(
        tacit__linear_model_create(&simplex, STATES, ACTIONS, HORIZON, 10, &other, NULL), );
    assert_survives_no_memory(tacit__linear_belief_create(m, false, &p), );
}
