/* What users add where scores are features, and how far apart two of them are declared to be: against a plain version, and against a
 * search over all that can happen in a step. */
#include "contribute/feature_reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

enum {
    STATES = 3,
    ACTIONS = 2,
    D = 3,
    PAIRS = STATES * ACTIONS,
    FEATURE_BITS = 12,
    REWARD_BITS = 8
};
enum { BITS = FEATURE_BITS + REWARD_BITS, HORIZON = 4 };
enum { TRANSITIONS = (HORIZON - 1) * STATES * D, NUMBERS = TRANSITIONS + HORIZON * D };

static int32_t table[PAIRS * D];

static tacit__feature_scores scores_of(size_t horizon)
{
    return (tacit__feature_scores){SPACE_OF(STATES, ACTIONS, horizon), .dimension = D,
                                   .feature_bits = FEATURE_BITS, .reward_bits = REWARD_BITS,
                                   .features = table};
}

/* Of length at most 1; `low` -1: of any sign. */
static void draw_table(uint64_t seed, double low)
{
    for (size_t pair = 0; pair < PAIRS; pair++) {
        double x[D], square = 0;
        for (size_t j = 0; j < D; j++) {
            x[j] = low + (1 - low) * random_unit(&seed);
            square += x[j] * x[j];
        }
        const double size = pair == 0 ? 1 : random_unit(&seed);
        for (size_t j = 0; j < D; j++)
            table[pair * D + j] = (int32_t)trunc(ldexp(x[j] * size / sqrt(square), FEATURE_BITS));
    }
}

typedef struct user {
    uint32_t states[HORIZON + 1], actions[HORIZON];
    double rewards[HORIZON];
} user;

static tacit_trajectory see(const user *u)
{
    return (tacit_trajectory){STEPS_OF(u->states, u->actions, u->rewards)};
}

static double distance(const tacit__score_form *form, const user *a, const user *b)
{
    int64_t x[NUMBERS + STATES], y[NUMBERS + STATES];
    const tacit_trajectory one = see(a), other = see(b);
    double square = 0;
    tacit__scores_contribute(form, &one, x);
    tacit__scores_contribute(form, &other, y);
    for (size_t i = 0; i < form->numbers + form->n_states; i++)
        square += pow(ldexp((double)(x[i] - y[i]), -BITS), 2);
    return sqrt(square);
}

/* By hand: phi in the row of the next state, but not at the last step, and phi (2 y - 1) with y rounded to the lattice. */
TEST(a_user_adds_features_and_rewards)
{
    uint64_t seed = 5;
    draw_table(1, -1);
    const tacit__feature_scores f = scores_of(HORIZON);
    const tacit__score_form form = tacit__score_form_of_features(&f);
    assert_int_equal(form.numbers, NUMBERS);
    assert_int_equal(form.bits, BITS);
    for (int trial = 0; trial < 50; trial++) {
        user u;
        int64_t got[NUMBERS + STATES];
        double wanted[NUMBERS] = {0};
        for (size_t h = 0; h <= HORIZON; h++)
            u.states[h] = (uint32_t)random_below(&seed, STATES);
        for (size_t h = 0; h < HORIZON; h++) {
            u.actions[h] = (uint32_t)random_below(&seed, ACTIONS);
            u.rewards[h] = trial < 10 ? (double)random_below(&seed, 2) : random_unit(&seed);
            for (size_t j = 0; j < D; j++) {
                const double phi =
                    ldexp(table[(u.states[h] * ACTIONS + u.actions[h]) * D + j], -FEATURE_BITS);
                const double y = ldexp(rint(ldexp(u.rewards[h], REWARD_BITS)), -REWARD_BITS);
                if (h + 1 < HORIZON)
                    wanted[(h * STATES + u.states[h + 1]) * D + j] += phi;
                wanted[TRANSITIONS + h * D + j] = phi * (2 * y - 1);
            }
        }
        const tacit_trajectory t = see(&u);
        tacit__scores_contribute(&form, &t, got);
        for (size_t i = 0; i < NUMBERS; i++) {
            assert_true(ldexp((double)got[i], -BITS) == wanted[i]);
            assert_true(fabs((double)got[i]) <= form.largest);
        }
        for (size_t s = 0; s < STATES; s++)
            assert_int_equal(got[NUMBERS + s], s == u.states[0] ? form.start : 0);
        assert_true((double)form.start <= form.largest);
    }
}

/* The square that the numbers move by, without the first state: l2^2 - 2 start^2. */
static double square_of(size_t horizon)
{
    const tacit__feature_scores f = scores_of(horizon);
    const tacit__score_form form = tacit__score_form_of_features(&f);
    const double start = ldexp((double)form.start, -BITS);
    assert_close(start * start, form.l2 * form.l2 / 34, 1e-4); /* 1/32 of the rest */
    return form.l2 * form.l2 - 2 * start * start;
}

/* The worst two single steps: all pairs of actions and next states, and rewards on a grid with both ends, by what users add. */
static double search(bool last)
{
    const tacit__feature_scores f = scores_of(last ? 1 : 2);
    const tacit__score_form form = tacit__score_form_of_features(&f);
    double most = 0;
    for (uint32_t i = 0; i < PAIRS * PAIRS * STATES * STATES * 9; i++) {
        const double y = i % 3 / 2.0, z = i / 3 % 3 / 2.0;
        const uint32_t x = i / 9;
        user a = {.states = {x % PAIRS / ACTIONS}, .actions = {x % ACTIONS}, .rewards = {y}},
             b = {.states = {x / PAIRS % PAIRS / ACTIONS},
                  .actions = {x / PAIRS % ACTIONS},
                  .rewards = {z}};
        a.states[1] = x / (PAIRS * PAIRS) % STATES;
        b.states[1] = x / (PAIRS * PAIRS * STATES) % STATES;
        int64_t one[2 * STATES * D], other[2 * STATES * D];
        const tacit_trajectory s = see(&a), t = see(&b);
        double square = 0;
        form.write(form.context, &s, one);
        form.write(form.context, &t, other);
        /* of two steps the first one's rewards and transitions */
        for (size_t k = 0; k < (last ? D : STATES * D + D); k++)
            square += pow(ldexp((double)(one[k] - other[k]), -BITS), 2);
        most = fmax(most, square);
    }
    return most;
}

/* The bound is what the search finds, exactly, for every step: it is the diameter of what a step can add. */
TEST(the_declared_distance_is_that_of_the_worst_steps)
{
    for (uint64_t trial = 1; trial <= 12; trial++) {
        draw_table(trial, trial % 2 ? 0 : -1);
        const double step = search(false), last = search(true);
        assert_close(square_of(1), last, 1e-9);
        assert_close(square_of(2), step + last, 1e-9);
        assert_close(square_of(HORIZON), (HORIZON - 1) * step + last, 1e-9);
    }
}

/* For features of length 1 these are 6 and 4, with negative ones 8 and 4; shorter ones move less. */
TEST(the_largest_distances_are_known)
{
    memset(table, 0, sizeof table);
    for (size_t pair = 0; pair < PAIRS; pair++)
        table[pair * D + pair % ACTIONS] = 1 << FEATURE_BITS;
    assert_close(square_of(1), 4, 1e-9);
    assert_close(square_of(HORIZON), 6 * (HORIZON - 1) + 4, 1e-9);
    table[0] = -table[0];
    assert_close(square_of(HORIZON), 8 * (HORIZON - 1) + 4, 1e-9);
    for (size_t i = 0; i < PAIRS * D; i++)
        table[i] /= 2;
    assert_close(square_of(HORIZON), (8 * (HORIZON - 1) + 4) / 4.0, 1e-9);
}

/* Whole trajectories: no two are farther apart than declared, and the first state is in it. */
TEST(no_two_users_are_farther_apart_than_declared)
{
    uint64_t seed = 9;
    for (uint64_t trial = 1; trial <= 10; trial++) {
        draw_table(trial, trial % 2 ? 0 : -1);
        const tacit__feature_scores f = scores_of(HORIZON);
        const tacit__score_form form = tacit__score_form_of_features(&f);
        double most = 0;
        for (int pair = 0; pair < 4000; pair++) {
            user u[2];
            for (size_t i = 0; i < 2 * (HORIZON + 1); i++)
                u[i % 2].states[i / 2] = (uint32_t)random_below(&seed, STATES);
            for (size_t i = 0; i < 2 * HORIZON; i++) {
                u[i % 2].actions[i / 2] = (uint32_t)random_below(&seed, ACTIONS);
                u[i % 2].rewards[i / 2] = (double)random_below(&seed, 2);
            }
            most = fmax(most, distance(&form, &u[0], &u[1]));
        }
        assert_within(most, 0.7 * form.l2, form.l2);
    }
}

/* Above 4,096 rows the bounds of the longest vector are used, those with signs if there is one. */
TEST(large_tables_are_enclosed)
{
    enum { S = 700, A = 6, N = S * A };
    SCOPED_FREE int32_t *rows = calloc((size_t)N * 2, sizeof *rows);
    tacit__feature_scores f = {SPACE_OF(S, A, 3), .dimension = 2, .feature_bits = FEATURE_BITS,
                               .reward_bits = REWARD_BITS, .features = rows};
    for (size_t i = 0; i < N; i++)
        rows[2 * i + i % 2] = 1 << (FEATURE_BITS - 1);
    for (int negative = 0; negative < 2; negative++) {
        rows[16] *= negative ? -1 : 1;
        const tacit__score_form form = tacit__score_form_of_features(&f);
        const double start = ldexp((double)form.start, -BITS);
        assert_close(form.l2 * form.l2 - 2 * start * start, ((negative ? 8 : 6) * 2 + 4) / 4.0,
                     1e-9);
    }
}
