/* Users of a table of scores who answer which row of it a step was: what the server adds up is right on average and as uncertain as
 * it is declared, and what no device can have made is refused. */
#include "contribute/score_answers.h"

#include <math.h>
#include <string.h>

#include "support/score_tables.h"

enum { PAIRS = STATES * ACTIONS, NUMBERS = STEPS * WIDTH + HORIZON * PAIRS };

static tacit__score_table table;

static tacit__scores_options options_for(double epsilon, size_t each, bool rewards, uint64_t users)
{
    table = draw_table(1);
    table.reward = rewards ? 1 << (BITS - TACIT__REWARD_BITS - 1) : 0;
    return (tacit__scores_options){.form = form_in(&table, true),
                                   .episodes = 2 * users,
                                   .guarantee = {TACIT_MODEL_LOCAL, epsilon, 0},
                                   .each = each};
}

/* One batch of so many users, who answer. */
static tacit__curator *hire(double epsilon, size_t each, bool rewards, uint64_t users,
                            uint64_t seed, tacit__score_noise *known)
{
    const tacit__scores_options o = options_for(epsilon, each, rewards, users);
    tacit__curator *c = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(seed);
    assert_ok(hire_batches(o, users, HUGE_VAL, 0, noise, &c));
    assert_ok(tacit__scores_noise(&o, known, NULL));
    return c;
}

static double score(const user *u, size_t h, size_t i)
{
    const size_t row = (u->states[h] * ACTIONS + u->actions[h]) * STATES + u->states[h + 1];
    return ldexp(scores[row * WIDTH + i], -BITS);
}

/* Mean and variance of a number of a score over all rows. */
static void even(size_t i, double *mean, double *variance)
{
    double sum = 0, square = 0;
    for (size_t row = 0; row < ROWS; row++) {
        sum += ldexp(scores[row * WIDTH + i], -BITS) / ROWS;
        square += pow(ldexp(scores[row * WIDTH + i], -BITS), 2) / ROWS;
    }
    *mean = sum;
    *variance = square - sum * sum;
}

/* `x` is made of `asked` answers about something that is `truth`, which is `mean` on average and has this variance if every answer is
 * as likely. Six standard deviations: a false alarm in 5e8. */
static void check_number(double x, double asked, double truth, double mean, double variance,
                         const tacit__score_noise *noise)
{
    const double stddev =
        sqrt(asked * (pow(truth - mean, 2) / noise->truth + noise->spread * variance));
    assert_within((x - asked * truth) / stddev, -6, 6);
}

/* The sums of a step are what those who were asked about it add on average. With a small epsilon there is a hash. */
static void check_sums(double epsilon, size_t each, bool rewards, bool devices)
{
    enum { USERS = 3000 };
    tacit__score_noise noise;
    SCOPED(tacit__curator) *c = hire(epsilon, each, rewards, USERS, 3, &noise);
    const size_t steps = STEPS + (rewards ? 1 : 0);
    uint64_t seed = 9;
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    assert_int_equal(noise.each, each);
    for (uint64_t k = 0; k < USERS; k++) {
        uint8_t report[16 * HORIZON];
        size_t size = sizeof report;
        if (!devices) {
            assert_ok(add_user(c, &t));
            continue;
        }
        assert_ok(make_report(c, &t, report, &size));
        assert_int_equal(size, 8 * each * (epsilon / (double)each < 1.6 ? 2 : 1));
        assert_ok(tacit__curator_check_report(c, report, size, NULL));
        assert_ok(tacit__curator_absorb(c, report, size, NULL));
    }
    const tacit__score_sums s = last_release(c, rewards ? NUMBERS : STEPS * WIDTH);
    double all = 0;
    for (size_t h = 0; h < steps; h++) {
        all += s.asked[h];
        assert_within(s.asked[h], 0.85 * USERS * noise.share, 1.15 * USERS * noise.share);
        for (size_t i = 0; i < WIDTH && h < STEPS; i++) {
            double mean, variance;
            even(i, &mean, &variance);
            check_number(s.sums[h * WIDTH + i], s.asked[h], score(&u, h, i), mean, variance,
                         &noise);
        }
        for (size_t pair = 0; pair < PAIRS && rewards; pair++) {
            const bool here = pair == u.states[h] * ACTIONS + u.actions[h];
            check_number(s.sums[STEPS * WIDTH + h * PAIRS + pair], s.asked[h],
                         here ? u.rewards[h] - 0.5 : 0, here ? 1 : 0, 0.25 / PAIRS, &noise);
        }
    }
    assert_true(all == (double)each * USERS);
    for (size_t state = 0; state < STATES; state++)
        check_number(s.starts[state], s.asked[0], state == u.states[0], 1.0 / STATES, 1.0 / STATES,
                     &noise);
}

TEST(sums_are_those_of_the_users_on_average)
{
    static const double epsilons[] = {0.5, 1, 3, 10};
    for (size_t i = 0; i < 4 * N_OF(epsilons); i++)
        for (size_t each = 1; each <= STEPS; each++)
            check_sums(epsilons[i % N_OF(epsilons)], each, i / N_OF(epsilons) % 2 == 1,
                       i >= 2 * N_OF(epsilons));
}

/* The variance is not only an upper bound: sums of 400 batches scatter as much. The mean of their squares has a standard error
 * of 0.07; the bound leaves out what is spared where the truth is far from the middle. */
TEST(sums_are_as_uncertain_as_is_declared)
{
    enum { USERS = 60, TRIALS = 400 };
    for (int hashed = 0; hashed < 2; hashed++) {
        double square = 0, mean, variance;
        uint64_t seed = 9;
        user u;
        const tacit_trajectory t = draw_user(&seed, &u);
        for (int trial = 0; trial < TRIALS; trial++) {
            tacit__score_noise noise;
            SCOPED(tacit__curator) *c =
                hire(hashed ? 0.7 : 2.5, 1, false, USERS, 100 + (uint64_t)trial, &noise);
            for (uint64_t k = 0; k < USERS; k++)
                assert_ok(add_user(c, &t));
            const tacit__score_sums s = last_release(c, STEPS * WIDTH);
            even(0, &mean, &variance);
            const double left = s.sums[0] - s.asked[0] * score(&u, 0, 0);
            square += left * left / (s.asked[0] * noise.spread * variance) / TRIALS;
        }
        assert_within(square, 0.6, 1.6);
    }
}

TEST(what_no_device_can_have_made_is_refused)
{
    tacit__score_noise noise;
    SCOPED(tacit__curator) *c = hire(10, 2, false, 10, 3, &noise);
    const uint8_t zero[24] = {0};
    uint8_t report[16];
    size_t size = sizeof report;
    uint64_t seed = 9;
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    assert_ok(make_report(c, &t, report, &size));
    assert_ok(tacit__curator_check_report(c, report, size, NULL));
    assert_status(tacit__curator_check_report(c, report, size - 1, NULL), TACIT_OUT_OF_BOUND);
    assert_status(tacit__curator_check_report(c, zero, 24, NULL), TACIT_OUT_OF_BOUND);
    assert_status(tacit__curator_check_report(c, zero, 16, NULL),
                  TACIT_OUT_OF_BOUND); /* one step */
    memset(report + 8, 0xff, 8);
    assert_status(tacit__curator_absorb(c, report, size, NULL), TACIT_OUT_OF_BOUND);
    assert_int_equal(tacit__curator_users(c), 0);
}

/* epsilon / (each visits) for each answer, and never more than there are. */
TEST(several_answers_share_epsilon)
{
    table = draw_table(1);
    tacit__score_noise one, two, come_back;
    assert_true(tacit__score_answers_find(&table, 4, 1, 1, &one));
    assert_true(tacit__score_answers_find(&table, 4, 1, 2, &two));
    assert_true(tacit__score_answers_find(&table, 4, 2, 1, &come_back));
    assert_close(one.truth, expm1(4) / (expm1(4) + ROWS), 1e-9);
    assert_close(two.truth, expm1(2) / (expm1(2) + ROWS), 1e-9);
    assert_true(come_back.truth == two.truth && come_back.share == one.share);
    assert_close(one.spread, (1 - one.truth) / (one.truth * one.truth), 0.05);
    assert_false(tacit__score_answers_find(&table, 1e-30, 1, 1, &one));
}
