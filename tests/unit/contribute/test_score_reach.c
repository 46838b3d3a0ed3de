/* How far apart two users' scores are declared to be, in L2 and in L1, against plain versions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/score_tables.h"

static tacit__score_form form_of(const tacit__score_table *t)
{
    return form_in(t, false);
}

/* What a move counts: its square, or in L1 its size. */
static double size_of(double move, bool is_l1)
{
    return is_l1 ? fabs(move) : move * move;
}

/* The largest distance of two users at one step, in lattice steps, by rows x and y and rewards of 0 and 1; the last step has
 * no rows (`scored`). */
static double plain_move(size_t x, size_t y, bool scored, double whole, bool is_l1)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < 4; i++) {
        const double one = i % 2 == 0 ? -whole / 2 : whole / 2,
                     other = i < 2 ? -whole / 2 : whole / 2;
        most = fmax(most, x / STATES == y / STATES ? size_of(one - other, is_l1)
                                                   : size_of(one, is_l1) + size_of(other, is_l1));
    }
    for (size_t j = 0; j < WIDTH && scored; j++)
        sum += size_of(scores[x * WIDTH + j] - scores[y * WIDTH + j], is_l1);
    return most + sum;
}

/* Of two users who are in s and t, all steps together: every way that both can take is tried. */
static double plain_ways(size_t s, size_t t, size_t steps, double whole, bool is_l1)
{
    enum { NEXT = ACTIONS * STATES };
    double most = 0;
    if (steps == 0)
        return plain_move(s * NEXT, t * NEXT, false, whole, is_l1);
    for (size_t i = 0; i < NEXT * NEXT; i++) {
        const size_t x = s * NEXT + i / NEXT, y = t * NEXT + i % NEXT;
        most = fmax(most, plain_move(x, y, true, whole, is_l1) +
                              plain_ways(x % STATES, y % STATES, steps - 1, whole, is_l1));
    }
    return most;
}

static double plain_most(double whole, bool is_l1)
{
    double most = 0;
    for (size_t i = 0; i < STATES * STATES; i++)
        most = fmax(most, plain_ways(i / STATES, i % STATES, STEPS, whole, is_l1));
    return most;
}

/* L times the worst step, which two users can hardly take every time. */
static double plain_steps(double whole, bool is_l1)
{
    double most = 0;
    for (size_t i = 0; i < ROWS * ROWS; i++)
        most = fmax(most, plain_move(i / ROWS, i % ROWS, true, whole, is_l1));
    return STEPS * most + size_of(whole, is_l1);
}

/* The form declares `ways` and two first states, in units of the data; returns that. */
static double assert_declared(const tacit__score_form *form, double ways, bool is_l1)
{
    const double both = ways + 2 * size_of((double)form->start, is_l1);
    const double declared = ldexp(is_l1 ? both : sqrt(both), -BITS);
    assert_close(is_l1 ? form->l1 : form->l2, declared, 1e-12);
    return is_l1 ? form->l1 : form->l2;
}

static double distance_of(const int64_t *x, const int64_t *y, size_t n, bool is_l1)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += size_of((double)(x[i] - y[i]), is_l1);
    return ldexp(is_l1 ? sum : sqrt(sum), -BITS);
}

/* Two users are apart by the worst two ways through the table, and in the first state; no two are farther. */
TEST(the_declared_distance_is_that_of_the_worst_pair)
{
    uint64_t seed = 5;
    for (uint64_t trial = 1; trial <= 40; trial++) {
        const bool is_l1 = trial > 20;
        const tacit__score_table t = draw_table(trial);
        const tacit__score_form form = form_in(&t, is_l1);
        const double ways = plain_most(0, is_l1), reach = assert_declared(&form, ways, is_l1);
        double most = 0;
        assert_close(size_of((double)form.start, is_l1), ways / 32, 1e-5);
        for (int pair = 0; pair < 500; pair++) {
            user one, other;
            int64_t x[DIMENSION], y[DIMENSION];
            const tacit_trajectory a = draw_user(&seed, &one), b = draw_user(&seed, &other);
            tacit__scores_contribute(&form, &a, x);
            tacit__scores_contribute(&form, &b, y);
            most = fmax(most, distance_of(x, y, DIMENSION, is_l1));
        }
        assert_within(most, 0.5 * reach, reach);
    }
}

/* Small and large rewards beside the scores, so that either kind of pair is the worst. */
TEST(learned_rewards_move_by_what_is_declared)
{
    enum { CELLS = HORIZON * STATES * ACTIONS, ALL = DIMENSION + CELLS };
    uint64_t seed = 6;
    size_t less[2] = {0, 0};
    for (uint64_t trial = 1; trial <= 48; trial++) {
        const bool is_l1 = trial > 24;
        tacit__score_table t = draw_table(trial);
        t.reward = 1 << (trial % 12);
        const tacit__score_form form = form_in(&t, is_l1);
        const double whole = ldexp((double)t.reward, 11), ways = plain_most(whole, is_l1),
                     reach = assert_declared(&form, ways, is_l1);
        assert_int_equal(form.numbers, DIMENSION - STATES + CELLS);
        less[is_l1] += ways < 0.9 * plain_steps(whole, is_l1);
        double most = 0;
        for (int pair = 0; pair < 500; pair++) {
            user one, other;
            int64_t x[ALL], y[ALL];
            const tacit_trajectory a = draw_user(&seed, &one);
            if (pair % 2 == 0)
                other = one;
            const tacit_trajectory b =
                pair % 2 == 0
                    ? (tacit_trajectory){STEPS_OF(other.states, other.actions, other.rewards)}
                    : draw_user(&seed, &other);
            for (size_t h = 0; h < HORIZON; h++) {
                one.rewards[h] = (double)random_below(&seed, 2);
                other.rewards[h] =
                    pair % 2 == 0 ? 1 - one.rewards[h] : (double)random_below(&seed, 2);
            }
            tacit__scores_contribute(&form, &a, x);
            tacit__scores_contribute(&form, &b, y);
            most = fmax(most, distance_of(x, y, ALL, is_l1));
        }
        assert_within(most, 0.5 * reach, reach);
    }
    assert_true(less[0] > 0 && less[1] > 0);
}

/* A reward is in the cell of its step and pair, from its middle. */
TEST(rewards_are_added_in_the_cell_of_what_was_done)
{
    uint64_t seed = 8;
    user u;
    tacit__score_table t = draw_table(3);
    t.reward = 1 << (BITS - 11);
    const tacit__score_form form = form_of(&t);
    int64_t x[DIMENSION + HORIZON * STATES * ACTIONS];
    const tacit_trajectory a = draw_user(&seed, &u);
    tacit__scores_contribute(&form, &a, x);
    for (size_t i = 0; i < HORIZON * STATES * ACTIONS; i++) {
        const size_t h = i / (STATES * ACTIONS), pair = i % (STATES * ACTIONS);
        const bool here = pair == u.states[h] * ACTIONS + u.actions[h];
        assert_within(ldexp((double)x[STEPS * WIDTH + i], -BITS) - (here ? u.rewards[h] - 0.5 : 0),
                      -0x1p-11, 0x1p-11);
    }
}

/* The squares of the largest integers do not overflow, and the bound is rounded up. */
TEST(the_largest_numbers_do_not_overflow)
{
    tacit__score_table t = draw_table(1);
    t.bits = 31;
    for (size_t i = 0; i < N_OF(scores); i++)
        scores[i] = i % 4 < 2 ? INT32_MAX : INT32_MIN;
    const tacit__score_form reach = form_of(&t);
    const double start = ldexp((double)reach.start, -31);
    assert_close(reach.l2, sqrt(STEPS * 2 * 4 + 2 * start * start), 1e-9);
    assert_true(reach.l2 * reach.l2 >= STEPS * 2 * pow(2 - 0x1p-31, 2) + 2 * start * start);
    const tacit__score_form pure = form_in(&t, true);
    const double steps = STEPS * 2 * (2 - 0x1p-31) + 2 * ldexp((double)pure.start, -31);
    assert_within(pure.l1, steps, steps * (1 + 1e-12));
}

/* Where there are too many ways, each step counts as the worst one. */
TEST(many_ways_count_step_by_step)
{
    enum { S = 30, N = S * S };
    static int32_t rows[N];
    uint64_t seed = 9;
    for (size_t i = 0; i < N; i++)
        rows[i] = (int32_t)random_below(&seed, 1000);
    rows[17] = -600;
    rows[18] = 1000;
    tacit__score_table t = {
        .n_states = S, .n_actions = 1, .steps = 3, .width = 1, .bits = 10, .scores = rows};
    const tacit__score_form large = form_of(&t);
    t.n_states = 3;
    t.n_actions = 100;
    t.steps = 250000;
    const tacit__score_form lengthy = form_of(&t);
    const double one = ldexp((double)large.start, -10), other = ldexp((double)lengthy.start, -10);
    assert_close(large.l2, sqrt(3 * pow(1600.0 / 1024, 2) + 2 * one * one), 1e-12);
    assert_close(lengthy.l2, sqrt(250000 * pow(1600.0 / 1024, 2) + 2 * other * other), 1e-12);
    const tacit__score_form pure = form_in(&t, true);
    assert_close(pure.l1, 250000 * 1600.0 / 1024 + 2 * ldexp((double)pure.start, -10), 1e-12);
}

/* Above 4,096 rows every row lies in a ball, and the bound is its diameter. */
TEST(large_tables_are_enclosed)
{
    enum { S = 40, A = 4, N = S * A * S };
    SCOPED_FREE int32_t *rows = calloc(N, sizeof *rows);
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i++)
        rows[i] = (int32_t)random_below(&seed, 1000);
    rows[17] = -600;
    rows[18] = 1000;
    const tacit__score_table t = {
        .n_states = S, .n_actions = A, .steps = 1, .width = 1, .bits = 10, .scores = rows};
    const tacit__score_form reach = form_of(&t);
    const double start = ldexp((double)reach.start, -10);
    assert_close(reach.l2, sqrt(pow(2000.0 / 1024, 2) + 2 * start * start), 1e-12);
    const tacit__score_form pure = form_in(&t, true);
    assert_close(pure.l1, 2000.0 / 1024 + 2 * ldexp((double)pure.start, -10), 1e-12);
}

/* A table of equal rows tells nothing, and moves by its first state only. */
TEST(equal_rows_move_by_the_first_state_only)
{
    tacit__score_table t = draw_table(1);
    memset(scores, 0, sizeof scores);
    const tacit__score_form reach = form_of(&t);
    assert_int_equal(reach.start, 1 << BITS);
    assert_close(reach.l2, M_SQRT2, 1e-12);
    assert_true(reach.l2 >= M_SQRT2);
    const tacit__score_form pure = form_in(&t, true);
    assert_int_equal(pure.start, 1 << BITS);
    assert_within(pure.l1, 2, 2 + 1e-12);
}
