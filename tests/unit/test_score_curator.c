/* The curator of scores: its batches, its sums, what it refuses, and the sensitivity that it declares, against plain versions. */
#include "curate/score_curator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/door.h"
#include "base/memory.h"
#include "curate/curator.h"
#include "support/check.h"
#include "support/random.h"

SCOPED_TYPE(tacit__scores, tacit__scores_destroy)

enum { STATES = 3, ACTIONS = 2, WIDTH = 2, STEPS = 3, ROWS = STATES * ACTIONS * STATES, BITS = 20 };
enum { DIMENSION = STEPS * WIDTH + STATES, HORIZON = STEPS + 1 };

static int32_t scores[ROWS * WIDTH];

static tacit__score_table draw_table(uint64_t seed)
{
    for (size_t i = 0; i < N_OF(scores); i++)
        scores[i] = (int32_t)random_below(&seed, 1 << BITS) - (1 << (BITS - 1));
    return (tacit__score_table){.n_states = STATES,
                                .n_actions = ACTIONS,
                                .steps = STEPS,
                                .width = WIDTH,
                                .bits = BITS,
                                .scores = scores};
}

static tacit__score_form form_in(const tacit__score_table *t, bool is_l1)
{
    tacit__score_form form;
    assert_ok(tacit__score_form_of_table(t, is_l1, &form));
    assert_true((form.l1 > 0) == is_l1 && (form.l2 > 0) == !is_l1);
    return form;
}

static tacit__score_form form_of(const tacit__score_table *t)
{
    return form_in(t, false);
}

/* The form of the table that was drawn last. */
static tacit__score_form draw_form(uint64_t seed, bool is_l1)
{
    static tacit__score_table table;
    table = draw_table(seed);
    return form_in(&table, is_l1);
}

static tacit__scores *hire_for(tacit_guarantee guarantee, uint64_t users, uint64_t first,
                               double growth)
{
    const tacit__scores_options o = {.form = draw_form(1, tacit__scores_are_pure(guarantee)),
                                     .episodes = users,
                                     .first = first,
                                     .growth = growth,
                                     .guarantee = guarantee};
    tacit__scores *c = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    assert_ok(tacit__scores_create(&o, noise, &c, NULL));
    return c;
}

static tacit__scores *hire(tacit_model model, uint64_t users, uint64_t first, double growth)
{
    const bool none = model == TACIT_MODEL_NONE;
    return hire_for((tacit_guarantee){model, none ? 0 : 1, none ? 0 : 1e-5}, users, first, growth);
}

typedef struct user {
    uint32_t states[HORIZON + 1], actions[HORIZON];
    double rewards[HORIZON];
} user;

static tacit_trajectory draw_user(uint64_t *seed, user *u)
{
    for (size_t h = 0; h <= HORIZON; h++)
        u->states[h] = (uint32_t)random_below(seed, STATES);
    for (size_t h = 0; h < HORIZON; h++) {
        u->actions[h] = (uint32_t)random_below(seed, ACTIONS);
        u->rewards[h] = random_unit(seed);
    }
    return (tacit_trajectory){STEPS_OF(u->states, u->actions, u->rewards)};
}

/* --- How far apart two users are ------------------------------------------------------------------- */

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

/* --- Batches and sums ------------------------------------------------------------------------------ */

TEST(batches_grow_and_a_short_rest_is_joined)
{
    static const struct {
        uint64_t users, first;
        double growth;
        size_t n;
        uint64_t ends[8];
    } cases[] = {{100, 10, 1.5, 7, {10, 15, 23, 35, 53, 80, 100}},
                 {88, 10, 1.5, 6, {10, 15, 23, 35, 53, 88}}, /* 8 is less than 0.3 of 27 */
                 {100, 10, 3, 3, {10, 30, 100}},
                 {100, 90, 1.5, 1, {100}},
                 {100, 200, 1.5, 1, {100}},
                 {7, 1, 1.1, 7, {1, 2, 3, 4, 5, 6, 7}},
                 {1, 1, 1.5, 1, {1}}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        SCOPED(tacit__scores) *c =
            hire(TACIT_MODEL_NONE, cases[i].users, cases[i].first, cases[i].growth);
        const uint64_t *ends = tacit__scores_ends(c);
        const size_t n = tacit__scores_batches(c) + 1;
        for (size_t k = 0; k < n; k++)
            assert_int_equal(ends[k], cases[i].ends[k]);
        assert_int_equal(n, cases[i].n);
    }
}

/* The sums of a batch are those of its users' rows: exact without privacy, within ten standard deviations with it. */
static void check_sums(tacit_guarantee g, bool devices)
{
    enum { USERS = 60 };
    SCOPED(tacit__scores) *c = hire_for(g, USERS, 7, 2);
    const tacit__score_noise noise = tacit__scores_noise(c);
    uint64_t seed = 9;
    double exact[DIMENSION] = {0};
    size_t shown = 0;
    uint64_t begun = 0;
    for (uint64_t k = 0; k < USERS; k++) {
        user u;
        int64_t x[DIMENSION];
        const tacit_trajectory t = draw_user(&seed, &u);
        const tacit__score_form form = draw_form(1, tacit__scores_are_pure(g));
        tacit__scores_contribute(&form, &t, x);
        for (size_t h = 0; h < STEPS; h++) /* by hand */
            for (size_t i = 0; i < WIDTH; i++)
                exact[h * WIDTH + i] += ldexp(
                    scores[((u.states[h] * ACTIONS + u.actions[h]) * STATES + u.states[h + 1]) *
                               WIDTH +
                           i],
                    -BITS);
        exact[STEPS * WIDTH + u.states[0]] += noise.start;
        if (devices) {
            uint8_t report[8 * DIMENSION];
            size_t size = 0;
            assert_ok(tacit__scores_report(c, NULL, NULL, &size, NULL));
            assert_int_equal(size, sizeof report);
            assert_ok(tacit__scores_report(c, &t, report, &size, NULL));
            assert_ok(tacit__scores_check_report(c, report, sizeof report, NULL));
            assert_ok(tacit__scores_absorb(c, report, sizeof report, NULL));
        } else {
            assert_ok(tacit__scores_add(c, &t, NULL));
        }
        assert_int_equal(tacit__scores_users(c), k + 1);
        if (tacit__scores_shown(c) == shown)
            continue;
        const tacit__score_sums s = tacit__scores_release(c);
        const double n = (double)s.users, stddev = sqrt(noise.sum + n * noise.user);
        assert_int_equal(tacit__scores_ends(c)[shown++], k + 1);
        assert_int_equal(s.users, k + 1 - begun);
        begun = k + 1;
        for (size_t i = 0; i < DIMENSION; i++) {
            const double got = i < STEPS * WIDTH ? s.sums[i] : s.starts[i - STEPS * WIDTH];
            assert_within(got - exact[i], -10 * stddev - 1e-9, 10 * stddev + 1e-9);
            exact[i] = 0;
        }
    }
    assert_int_equal(shown, tacit__scores_batches(c));
    assert_true(shown >= 2);
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    assert_status(tacit__scores_add(c, &t, NULL), TACIT_EXHAUSTED);
}

/* Nothing after `last` is shown, and the prediction is what the curator then declares. */
static void check_last(double delta)
{
    tacit__scores_options o = {.form = draw_form(1, delta == 0),
                               .episodes = 1000,
                               VISITS_OF(5, 100),
                               .first = 10,
                               .growth = 1.5,
                               .guarantee = {TACIT_MODEL_JOINT, 1, delta}};
    tacit__scores_prediction all, some;
    assert_ok(tacit__scores_predict(&o, &all, NULL));
    o.last = 300;
    assert_ok(tacit__scores_predict(&o, &some, NULL));
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    SCOPED(tacit__scores) *c = NULL;
    assert_ok(tacit__scores_create(&o, noise, &c, NULL));
    const size_t n = tacit__scores_batches(c);
    assert_true(tacit__scores_ends(c)[n - 1] == some.shown && some.shown <= 300 &&
                some.shown > 200);
    assert_true(tacit__scores_ends(c)[n] == 1000);
    assert_true(all.shown > 600 && some.column < 0.8 * all.column && some.column >= 1);
    const tacit_plan *plan = tacit_ledger_plan(tacit__score_curator.ledger(c));
    const tacit_release *line = tacit_plan_release(plan, 0);
    assert_close(delta == 0 ? line->column_l1 : line->column_l2, some.column, 1e-12);
}

TEST(releases_stop_where_they_are_told_to)
{
    check_last(1e-5);
    check_last(0);
}

TEST(sums_are_those_of_the_batch)
{
    check_sums((tacit_guarantee){.model = TACIT_MODEL_NONE}, false);
    for (int i = 0; i < 2; i++) {
        const double delta = i == 0 ? 1e-5 : 0;
        check_sums((tacit_guarantee){TACIT_MODEL_JOINT, 1, delta}, false);
        check_sums((tacit_guarantee){TACIT_MODEL_LOCAL, 1, delta}, false);
        check_sums((tacit_guarantee){TACIT_MODEL_LOCAL, 1, delta}, true);
    }
}

/* What passes the door: every sum, exact and released. */
typedef struct passed {
    int64_t exact[16][DIMENSION];
    double released[16][DIMENSION];
} passed;

static void record(void *context, const tacit__passage *p)
{
    passed *to = context;
    assert_true(p->step < 16 && p->offset == 0 && p->n == DIMENSION);
    memcpy(to->exact[p->step], p->exact, sizeof to->exact[0]);
    for (size_t i = 0; i < DIMENSION; i++)
        to->released[p->step][i] = ldexp((double)p->released[i], -BITS);
}

static tacit__scores *hire_fading(uint32_t fade, double *column)
{
    const tacit__scores_options o = {.form = draw_form(1, false),
                                     .episodes = 200,
                                     .first = 7,
                                     .growth = 1.5,
                                     .fade = fade,
                                     .guarantee = {TACIT_MODEL_JOINT, 1, 1e-5}};
    tacit__scores *c = NULL;
    tacit__scores_prediction of;
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    assert_ok(tacit__scores_create(&o, noise, &c, NULL));
    assert_ok(tacit__scores_predict(&o, &of, NULL));
    *column = of.column;
    return c;
}

/* Each sum has a share of the one before, in whole lattice steps; what the planner sees is without it. Replace the first user by
 * hand: all sums together move by no more than is declared, with the rounding, and by nearly all of it without. */
TEST(sums_that_fade_have_shares_of_earlier_ones)
{
    enum { FADE = 45678 };
    const double fade = FADE / 65536.0;
    double column, square = 0, first = 0;
    SCOPED(tacit__scores) *c = hire_fading(FADE, &column), *d = hire_fading(FADE, &column);
    static passed here, there;
    int64_t wanted[DIMENSION] = {0};
    double before[DIMENSION] = {0};
    uint64_t seed = 21;
    tacit__ledger_set_recorder(tacit__score_curator.ledger(c), record, &here);
    tacit__ledger_set_recorder(tacit__score_curator.ledger(d), record, &there);
    const tacit_release *line =
        tacit_plan_release(tacit_ledger_plan(tacit__score_curator.ledger(c)), 0);
    const tacit__score_form form = draw_form(1, false);
    for (uint64_t k = 0; k < 200; k++) {
        user u, v;
        int64_t x[DIMENSION];
        const tacit_trajectory t = draw_user(&seed, &u), other = draw_user(&seed, &v);
        const size_t shown = tacit__scores_shown(c);
        tacit__scores_contribute(&form, &t, x);
        for (size_t i = 0; i < DIMENSION; i++)
            wanted[i] += x[i];
        assert_ok(tacit__scores_add(c, &t, NULL));
        assert_ok(tacit__scores_add(d, k == 0 ? &other : &t, NULL));
        if (tacit__scores_shown(c) == shown)
            continue;
        const tacit__score_sums s = tacit__scores_release(c);
        double moved = 0;
        for (size_t i = 0; i < DIMENSION; i++) {
            assert_int_equal(here.exact[shown][i], wanted[i]);
            assert_close(s.sums[i], here.released[shown][i] - fade * before[i], 1e-9);
            moved += pow(ldexp((double)(here.exact[shown][i] - there.exact[shown][i]), -BITS), 2);
            before[i] = here.released[shown][i];
            wanted[i] = (int64_t)trunc((double)wanted[i] * FADE / 65536);
        }
        square += moved;
        first = shown == 0 ? moved : first;
    }
    const double n = (double)tacit__scores_batches(c), step = ldexp(1, -BITS);
    assert_true(n == 8 && first > 0);
    assert_within(line->l2 - form.l2, sqrt(n * DIMENSION) * step / (1 - fade) * (1 - 1e-6),
                  sqrt(n * DIMENSION) * step / (1 - fade) * (1 + 1e-6));
    assert_close(line->column_l2, sqrt((1 - pow(fade, 2 * n)) / (1 - fade * fade)), 1e-9);
    assert_true(line->column_l2 == column);
    assert_within(sqrt(square), 0.999 * sqrt(first) * column,
                  sqrt(first) * column + sqrt(n * DIMENSION) * step / (1 - fade));
    assert_close(tacit__scores_noise(c).fade, fade, 1e-12);
}

/* Nothing raw is left after the last sum: a saved state then has none. */
TEST(the_last_sum_leaves_nothing)
{
    double column;
    SCOPED(tacit__scores) *c = hire_fading(45678, &column);
    uint64_t seed = 22;
    const uint64_t last = tacit__scores_ends(c)[tacit__scores_batches(c) - 1];
    for (uint64_t k = 0; k < last; k++) {
        user u;
        const tacit_trajectory t = draw_user(&seed, &u);
        assert_ok(tacit__scores_add(c, &t, NULL));
        uint8_t bytes[4096];
        size_t size = sizeof bytes;
        tacit__saved s = tacit__saved_save(bytes, &size, NULL);
        while (tacit__saved_next(&s))
            (void)tacit__scores_fields(c, &s);
        assert_ok(s.status);
        const int64_t none[DIMENSION] = {0};
        /* after the number of users */
        assert_true((memcmp(bytes + 8, none, sizeof none) == 0) == (k + 1 == last));
    }
}

TEST(users_outside_the_space_are_refused_and_change_nothing)
{
    SCOPED(tacit__scores) *c = hire(TACIT_MODEL_JOINT, 20, 5, 2);
    uint64_t seed = 1;
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    u.states[HORIZON] = STATES;
    assert_status(tacit__scores_add(c, &t, NULL), TACIT_OUT_OF_BOUND);
    u.states[HORIZON] = 0;
    u.actions[HORIZON - 1] = ACTIONS;
    assert_status(tacit__scores_add(c, &t, NULL), TACIT_OUT_OF_BOUND);
    u.actions[HORIZON - 1] = 0;
    u.rewards[1] = (double)NAN;
    assert_status(tacit__scores_add(c, &t, NULL), TACIT_OUT_OF_BOUND);
    u.rewards[1] = 1;
    assert_int_equal(tacit__scores_users(c), 0);
    assert_ok(tacit__scores_add(c, &t, NULL));
    assert_int_equal(tacit__scores_users(c), 1);
}

TEST(reports_that_no_device_makes_are_refused)
{
    SCOPED(tacit__scores) *c = hire(TACIT_MODEL_LOCAL, 20, 5, 2);
    uint64_t seed = 1;
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    uint8_t report[8 * DIMENSION], bad[8 * DIMENSION];
    static const double wrong[] = {0.1 / (1 << BITS), 1e300, -HUGE_VAL, (double)NAN};
    size_t size = sizeof report;
    assert_ok(tacit__scores_report(c, &t, report, &size, NULL));
    for (size_t i = 0; i < N_OF(wrong); i++) {
        memcpy(bad, report, sizeof bad);
        memcpy(bad + 8 * 4, &wrong[i], 8);
        assert_status(tacit__scores_absorb(c, bad, sizeof bad, NULL), TACIT_OUT_OF_BOUND);
    }
    assert_status(tacit__scores_absorb(c, report, sizeof report - 8, NULL), TACIT_OUT_OF_BOUND);
    assert_int_equal(tacit__scores_users(c), 0);
    assert_ok(tacit__scores_absorb(c, report, sizeof report, NULL));
}

/* Laplace noise of scale b has the variance 2 b^2, and epsilon is the reach divided by b. */
TEST(pure_privacy_has_laplace_noise_of_the_reach_in_l1)
{
    for (int i = 0; i < 2; i++) {
        const tacit_guarantee g = {i == 0 ? TACIT_MODEL_JOINT : TACIT_MODEL_LOCAL, 2, 0};
        SCOPED(tacit__scores) *c = hire_for(g, 20, 5, 2);
        const tacit__score_noise noise = tacit__scores_noise(c);
        const double scale = draw_form(1, true).l1 / 2;
        assert_true(tacit_plan_law(tacit_ledger_plan(tacit__score_curator.ledger(c))) ==
                    TACIT_LAW_LAPLACE);
        assert_close(i == 0 ? noise.sum : noise.user, 2 * scale * scale, 1e-9);
        assert_true((i == 0 ? noise.user : noise.sum) == 0);
    }
}

TEST(pure_privacy_needs_a_reach_in_l1)
{
    const tacit__scores_options o = {.form = draw_form(1, false),
                                     .episodes = 10,
                                     .first = 2,
                                     .growth = 2,
                                     .guarantee = {TACIT_MODEL_JOINT, 1, 0}};
    tacit__scores *c = NULL;
    assert_status(tacit__scores_create(&o, NULL, &c, NULL), TACIT_UNSUPPORTED);
}

TEST(no_memory_is_survived)
{
    const tacit__scores_options o = {.form = draw_form(1, false),
                                     .episodes = 10,
                                     .first = 2,
                                     .growth = 2,
                                     .guarantee = {TACIT_MODEL_JOINT, 1, 1e-5}};
    SCOPED(tacit__scores) *c = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    assert_survives_no_memory(tacit__scores_create(&o, noise, &c, NULL), );
}
