/* Local answers about tables: the public rule, what a report is made of, and that estimates are right on average. */
#include <math.h>

#include "contribute/table_answers.h"
#include "support/random.h"
#include "support/weighted.h"

enum { S = 3, A = 2, H = 5, ROWS = S * A, MOVES = ROWS * S };

static tacit__weighted_options options_of(double epsilon, uint64_t visits, bool pooled)
{
    return (tacit__weighted_options){.space = {S, A, H, pooled ? 1 : H},
                                     .episodes = 100000,
                                     VISITS_OF(visits, 1),
                                     .guarantee = {TACIT_MODEL_LOCAL, epsilon, 0}};
}

typedef struct user {
    uint32_t states[H + 1], actions[H];
    double rewards[H];
} user;

static user random_user(uint64_t *seed)
{
    user u = {.states = {0}};
    for (size_t h = 0; h < H; h++) {
        u.actions[h] = random_below(seed, 4) == 0;
        u.states[h + 1] = random_below(seed, 3) == 0 ? 2 : u.actions[h];
        u.rewards[h] = u.states[h] == 2 ? 0.75 : 0;
    }
    return u;
}

static tacit_trajectory of(const user *u)
{
    return (tacit_trajectory){STEPS_OF(u->states, u->actions, u->rewards)};
}

/* One batch of so many users, who answer. */
static tacit__curator *ask(const tacit__weighted_options *o, uint64_t users, uint64_t seed)
{
    return weighted_create(&(tacit__posterior_schedule){.counts = *o, .first = users}, seed);
}

/* The same user over and over. */
static tacit__weighted_counts ask_often(tacit__curator *c, const user *u, uint64_t users)
{
    const tacit_trajectory t = of(u);
    for (uint64_t k = 0; k < users; k++)
        assert_ok(weighted_add(c, &t));
    return tacit__posterior_counts(c);
}

TEST(one_answer_unless_several_are_nearly_always_true)
{
    tacit__table_answers_shape shape;
    static const struct {
        double epsilon;
        uint64_t visits;
        size_t each;
        bool hashed, apart;
    } cases[] = {{0.1, 1, 1, true, true},  {1, 1, 1, true, true},    {1.6, 1, 1, true, true},
                 {3, 1, 1, false, true},   {6, 1, 1, false, true},   {10, 1, 1, false, false},
                 {20, 1, 1, false, false}, {24, 1, 2, false, false}, {100, 1, 5, false, false},
                 {24, 2, 1, false, false}, {22, 20, 1, true, true},  {10, 3, 1, false, true}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit__weighted_options o = options_of(cases[i].epsilon, cases[i].visits, true);
        assert_true(tacit__table_answers_find(&o, &shape));
        assert_int_equal(shape.each, cases[i].each);
        assert_int_equal(shape.hashed, cases[i].hashed);
        assert_int_equal(shape.apart, cases[i].apart);
        assert_int_equal(shape.cells, shape.apart ? MOVES + 2 * ROWS : shape.levels * MOVES);
    }
    tacit__weighted_options large = options_of(1, 1, true);
    large.space.n_states = 10000;
    assert_false(tacit__table_answers_find(&large, &shape));
    const tacit__weighted_options nothing = options_of(0, 1, true);
    assert_false(tacit__table_answers_find(&nothing, &shape));
}

/* The variance of an answer about another cell, by the formulas of docs/why/posterior-tabular.md. */
static double plain_variance(double k, double epsilon)
{
    const double e = exp(epsilon);
    return k >= 3 * e + 2 ? 4 * e / ((e - 1) * (e - 1)) : (k - 2 + e) / ((e - 1) * (e - 1));
}

/* (1/4 + 1 / (4 (L-1)^2) + 4 L v max(400, m)) / J, or infinite where several answers are not sure enough. */
static double plain_error(double moves, double epsilon, double each, double levels)
{
    const double k = moves * levels, v = plain_variance(k, epsilon / each);
    if (each > 1 && epsilon / each < log(k) + 7)
        return HUGE_VAL;
    return (0.25 + 0.25 / ((levels - 1) * (levels - 1)) + 4 * levels * v * fmax(400, moves)) / each;
}

TEST(levels_of_rewards_and_answers_are_those_of_the_least_error)
{
    static const double epsilons[] = {1, 5, 8, 9, 10, 12, 15, 20, 30, 50, 100};
    static const size_t states[] = {3, 10, 30};
    size_t fewest = 100, most = 0;
    for (size_t i = 0; i < N_OF(epsilons) * N_OF(states); i++) {
        const double epsilon = epsilons[i % N_OF(epsilons)];
        tacit__weighted_options o = options_of(epsilon, 1, true);
        tacit__table_answers_shape shape;
        o.space.n_states = states[i / N_OF(epsilons)];
        const double moves = (double)(o.space.n_states * o.space.n_states * A);
        assert_true(tacit__table_answers_find(&o, &shape));
        const double k = shape.apart ? moves : (double)shape.cells;
        assert_close(shape.variance, plain_variance(k, epsilon / (double)shape.each),
                     0.2); /* with a hash, the number of answers is rounded */
        if (shape.apart) { /* two levels are better than more, and noisy: see the next test */
            assert_int_equal(shape.levels, 2);
            fewest = 2;
            continue;
        }
        const double found = plain_error(moves, epsilon, (double)shape.each, (double)shape.levels);
        for (size_t each = 1; each <= H; each++)
            for (size_t levels = 2; levels <= 16; levels++)
                assert_true(found <=
                            plain_error(moves, epsilon, (double)each, (double)levels) * (1 + 1e-6));
        fewest = shape.levels < fewest ? shape.levels : fewest;
        most = shape.levels > most ? shape.levels : most;
    }
    assert_int_equal(fewest, 2);
    assert_int_equal(most, 16);
}

/* 2 v max(400, m) is at least 1, v being that of answers about both. */
TEST(questions_are_apart_where_noise_dominates)
{
    size_t together = 0, apart = 0;
    for (size_t i = 0; i < 60; i++) {
        tacit__weighted_options o = options_of(0.5 + 0.2 * (double)(i % 50), 1, true);
        tacit__table_answers_shape shape;
        o.space.n_states = i < 30 ? 3 : 12;
        const double moves = (double)(o.space.n_states * o.space.n_states * A),
                     noise = 2 * plain_variance(2 * moves, o.guarantee.epsilon) * fmax(400, moves);
        assert_true(tacit__table_answers_find(&o, &shape));
        if (fabs(noise - 1) >
            0.3) /* levels may be more than 2, and answers of a hash are rounded */
            assert_int_equal(shape.apart, noise > 1);
        apart += shape.apart;
        together += !shape.apart;
        o.space.horizon = 1;
        assert_true(tacit__table_answers_find(&o, &shape));
        assert_false(shape.apart);
        assert_int_equal(shape.cells, shape.levels * o.space.n_states * A);
    }
    assert_true(apart > 10 && together > 10);
}

/* Of a single step a row's visits have the noise of its levels, not of all that may follow: the mean square of the scores of 6 rows
 * and 40 crowds has a standard deviation of sqrt(2 / 240) = 0.09, and is off by five of them once in a million tests. */
TEST(nothing_follows_a_single_step)
{
    enum { USERS = 2000, CROWDS = 40 };
    tacit__weighted_options o = options_of(2, 1, true);
    double square = 0, paid = 0;
    o.space.horizon = 1;
    for (uint64_t crowd = 1; crowd <= CROWDS; crowd++) {
        SCOPED(tacit__curator) *c = ask(&o, USERS, crowd);
        const user u = {.states = {1, 2}, .rewards = {1}};
        const tacit__weighted_counts n = ask_often(c, &u, USERS);
        assert_close(n.visits_stddev, sqrt(2 * USERS * plain_variance(2 * ROWS, 2)), 1e-3);
        assert_true(isinf(n.moves_stddev));
        for (size_t row = 0; row < ROWS; row++) {
            const double off = n.visits[row] - (row == 1 * A ? USERS : 0);
            square += off * off / (n.visits_stddev * n.visits_stddev) / (ROWS * CROWDS);
            assert_true(n.moves[row * S] == 0);
        }
        paid += n.rewards[A] / USERS / CROWDS;
    }
    assert_within(square, 0.55, 1.45);
    assert_within(paid, 0.48, 0.52);
}

TEST(levels_of_rewards_do_not_make_a_table_too_large)
{
    tacit__weighted_options o = options_of(60, 1, true);
    tacit__table_answers_shape shape;
    o.space.n_states = 512; /* 2^19 moves, */
    assert_true(tacit__table_answers_find(&o, &shape));
    assert_int_equal(shape.levels, 2);
    o.space.n_states = 4096; /* and as many as there may be */
    assert_true(tacit__table_answers_find(&o, &shape));
    assert_int_equal(shape.cells, (size_t)1 << 26);
}

/* A reward that is always 0.7 is told as 10/15 or 11/15 and not as 0 or 1, right on average. */
TEST(rewards_are_told_finely_where_answers_are_nearly_always_true)
{
    enum { USERS = 4000 };
    const tacit__weighted_options o = options_of(20, 1, true);
    SCOPED(tacit__curator) *c = ask(&o, USERS, 9);
    user u = {.states = {0}};
    for (size_t h = 0; h < H; h++)
        u.rewards[h] = 0.7;
    const tacit__weighted_counts n = ask_often(c, &u, USERS);
    assert_close(n.visits[0], USERS, 1e-3);
    /* 0.7 is 10.5 / 15: a variance of 1 / (4 * 225), where a bit has 0.21; five standard deviations */
    assert_within(n.rewards[0] - USERS * 0.2, -5 * sqrt(USERS / 900.0), 5 * sqrt(USERS / 900.0));
}

/* Estimates of all moves and rewards, against what users did, in standard deviations: noise, and the step and the reward that chance
 * chose. The largest of 18 + 6 scores is above 5 once in 70,000 tests. */
static void compare(double epsilon, bool pooled)
{
    enum { USERS = 20000, TABLES = H };
    const tacit__weighted_options o = options_of(epsilon, 1, pooled);
    const size_t tables = pooled ? 1 : TABLES;
    SCOPED(tacit__curator) *c = ask(&o, USERS, 3);
    double moves[TABLES * MOVES] = {0}, rewards[TABLES * ROWS] = {0}, own = 0;
    uint8_t report[16 * H];
    uint64_t seed = 5;
    for (int k = 0; k < USERS; k++) {
        const user u = random_user(&seed);
        const tacit_trajectory t = of(&u);
        for (size_t h = 0; h < H; h++) {
            const size_t row = ((pooled ? 0 : h) * S + u.states[h]) * A + u.actions[h];
            moves[row * S + u.states[h + 1]] += 1.0 / H;
            rewards[row] += (u.rewards[h] - 0.5) / H;
        }
        size_t size = sizeof report;
        assert_ok(
            tacit__curator_report(c, &(tacit__user_view){.trajectory = &t}, report, &size, NULL));
        assert_ok(tacit__curator_absorb(c, report, size, NULL));
    }
    tacit__table_answers_shape shape;
    assert_true(tacit__table_answers_find(&o, &shape));
    const tacit__weighted_counts n = tacit__posterior_counts(c);
    const double each = (double)shape.each, noisy = n.moves_stddev,
                 rewards_noise = n.rewards_stddev,
                 parts = shape.apart ? 2 : 1; /* an answer stands for two of all users' */
    for (size_t i = 0; i < tables * MOVES;
         i++) { /* an answer about the cell itself varies by at most 1 / gain */
        own = parts * each * moves[i] / shape.gain;
        assert_within(n.moves[i] - each * moves[i], -5 * sqrt(noisy * noisy + own) - 1e-9,
                      5 * sqrt(noisy * noisy + own) + 1e-9);
    }
    for (size_t row = 0; row < tables * ROWS; row++) {
        double sum = 0, count = 0;
        for (size_t next = 0; next < S; next++) {
            sum += n.moves[row * S + next];
            count += moves[row * S + next];
        }
        own = sqrt(rewards_noise * rewards_noise + parts * each * count / shape.gain);
        if (shape.apart) {
            const double wide =
                sqrt(n.visits_stddev * n.visits_stddev + 2 * each * count / shape.gain);
            assert_within(n.visits[row] - each * count, -5 * wide, 5 * wide);
        } else {
            assert_close(n.visits[row] + 1, sum + 1, 1e-9);
            assert_true(isinf(n.visits_stddev));
        }
        assert_within(n.rewards[row] - each * rewards[row], -5 * own - 1e-9, 5 * own + 1e-9);
    }
}

TEST(estimates_are_right_on_average)
{
    static const double epsilons[] = {1, 3, 10, 100};
    for (size_t i = 0; i < N_OF(epsilons); i++) {
        compare(epsilons[i], true);
        compare(epsilons[i], false);
    }
}

/* Users who were in one state at step h tell that state as often as another step. */
TEST(every_step_is_as_likely)
{
    enum { USERS = 20000 };
    static const double epsilons[] = {12, 34}; /* 1 and 2 answers */
    for (size_t i = 0; i < N_OF(epsilons); i++) {
        const tacit__weighted_options o = options_of(epsilons[i], 1, false);
        SCOPED(tacit__curator) *c = ask(&o, USERS, 4);
        const user u = {.states = {0}};
        const tacit__weighted_counts n = ask_often(c, &u, USERS);
        const double each = (double)(i + 1), wanted = USERS * each / H;
        for (size_t h = 0; h < H; h++)
            assert_within(n.visits[h * ROWS] - wanted, -5 * sqrt(wanted), 5 * sqrt(wanted));
    }
}

TEST(answers_that_no_device_gives_are_refused)
{
    static const double epsilons[] = {1, 10};
    for (size_t i = 0; i < N_OF(epsilons); i++) {
        const tacit__weighted_options o = options_of(epsilons[i], 1, true);
        SCOPED(tacit__curator) *c = ask(&o, 10, 6);
        uint8_t report[32] = {0};
        tacit__table_answers_shape shape;
        assert_true(tacit__table_answers_find(&o, &shape) && shape.cells < 256);
        size_t size = 0;
        assert_ok(tacit__curator_report(c, NULL, NULL, &size, NULL));
        assert_int_equal(size, i == 0 ? 16 : 8);
        assert_ok(tacit__curator_check_report(c, report, size, NULL));
        assert_status(tacit__curator_check_report(c, report, size - 1, NULL), TACIT_OUT_OF_BOUND);
        assert_status(tacit__curator_check_report(c, report, size + 8, NULL), TACIT_OUT_OF_BOUND);
        /* e + 1, rounded, answers to each of two questions; and one for each cell */
        report[size - 8] = i == 0 ? 8 : (uint8_t)shape.cells;
        assert_status(tacit__curator_check_report(c, report, size, NULL), TACIT_OUT_OF_BOUND);
        report[size - 8]--;
        assert_ok(tacit__curator_check_report(c, report, size, NULL));
        report[size - 1] = 0x80;
        assert_status(tacit__curator_check_report(c, report, size, NULL), TACIT_OUT_OF_BOUND);
    }
}
