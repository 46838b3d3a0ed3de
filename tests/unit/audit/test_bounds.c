/* What counts prove: against sums of binomial probabilities, and against simulated power. */
#include "support/check.h"

#include <math.h>

#include "audit/bounds.h"
#include "support/random.h"
#include "support/stats.h"

TEST(clopper_pearson_agrees_with_sums_of_probabilities)
{
    static const uint64_t sizes[] = {1, 2, 16, 1000, 20000};
    static const double errors[] = {0.5, 0.05, 1e-3, 1e-6};
    for (size_t s = 0; s < 5; s++)
        for (size_t e = 0; e < 4; e++)
            for (int i = 0; i <= 8; i++) {
                uint64_t n = sizes[s], hits = n * (uint64_t)i / 8;
                double low = tacit__proportion_low(hits, n, errors[e]),
                       high = tacit__proportion_high(hits, n, errors[e]);
                assert_within(low, stats_proportion_low(hits, n, errors[e]) - 1e-9,
                              stats_proportion_low(hits, n, errors[e]) + 1e-9);
                assert_within(high, stats_proportion_high(hits, n, errors[e]) - 1e-9,
                              stats_proportion_high(hits, n, errors[e]) + 1e-9);
            }
}

TEST(large_counts_have_narrow_bounds)
{
    uint64_t n = 10000000;
    double low = tacit__proportion_low(n / 4, n, 1e-3),
           high = tacit__proportion_high(n / 4, n, 1e-3);
    double width = 3.0902 * sqrt(0.25 * 0.75 / (double)n);
    assert_within(0.25 - low, 0.98 * width, 1.02 * width);
    assert_within(high - 0.25, 0.98 * width, 1.02 * width);
    /* never: p <= 1 - error^(1/n) */
    assert_within(tacit__proportion_high(0, n, 1e-3) * (double)n, 6.9077, 6.9078);
}

TEST(nothing_is_proved_by_nothing)
{
    assert_true(tacit__epsilon_proved(0, 0, 100, 0, 0.05) == -HUGE_VAL);
    assert_true(tacit__mu_proved(0, 0, 100, 0.05) == -HUGE_VAL);
    assert_true(tacit__mu_proved(100, 100, 100, 0.05) == -HUGE_VAL);
    assert_true(tacit__epsilon_proved(50, 50, 100, 0, 0.05) < 0);
    assert_true(tacit__epsilon_proved(5, 0, 100, 0.5, 0.05) == -HUGE_VAL); /* all within delta */
}

/* The ceiling of n perfect runs at 95 %: 3.3, 5.6, 7.9, 10.2 for 1e2 .. 1e5. */
TEST(perfect_runs_prove_the_known_ceiling)
{
    static const double known[] = {3.3, 5.6, 7.9, 10.2};
    uint64_t n = 100;
    for (size_t i = 0; i < 4; i++, n *= 10)
        assert_within(tacit__epsilon_proved(n, 0, n, 0, 0.05), known[i] - 0.05, known[i] + 0.05);
}

/* Gaussian worlds mu apart, and a threshold in the middle: how often is the claim refuted? */
static double convictions(double mu, double claim, uint64_t n, double error)
{
    uint64_t seed = 12345, rounds = 400, convicted = 0;
    double p = 0.5 * erfc(-mu / 2 / M_SQRT2);
    for (uint64_t r = 0; r < rounds; r++) {
        uint64_t hits = 0, alarms = 0;
        for (uint64_t i = 0; i < n; i++) {
            hits += random_unit(&seed) < p;
            alarms += random_unit(&seed) < 1 - p;
        }
        convicted += tacit__mu_proved(hits, alarms, n, error) > claim;
    }
    return (double)convicted / (double)rounds;
}

TEST(the_number_of_trials_gives_the_power)
{
    static const double truths[] = {1.2, 1.5, 2};
    for (size_t i = 0; i < 3; i++) {
        double n = tacit__trials_for_mu(truths[i], 1, 0.05);
        /* 90 % wanted; 400 rounds: beyond 0.82 and 0.98 by chance once in a million */
        assert_within(convictions(truths[i], 1, (uint64_t)ceil(n), 0.05), 0.82, 0.98);
        assert_true(convictions(1, 1, (uint64_t)ceil(n), 0.05) <= 0.05 + 0.05);
    }
    assert_within(tacit__trials_for_mu(1.2, 1, 0.05), 1400, 1560); /* spec: 1,480 */
    assert_true(tacit__trials_for_mu(1, 1, 0.05) == HUGE_VAL);
    assert_true(tacit__trials_for_event(0.1, 0.1, 0.5, 0, 0.05) == HUGE_VAL);
    /* randomized response at epsilon 2 against a claim of 1: some 70 trials */
    double p = exp(2) / (1 + exp(2));
    assert_within(tacit__trials_for_event(p, 1 - p, 1, 0, 0.05), 50, 110);
}

TEST(guesses_are_close_to_proofs)
{
    double proved = tacit__epsilon_proved(3000, 1000, 20000, 0, 0.01),
           guess = tacit__epsilon_guess(0.15, 0.05, 20000, 0, 0.01);
    assert_within(guess, proved - 0.02, proved + 0.02);
    proved = tacit__mu_proved(3000, 1000, 20000, 0.01);
    guess = tacit__mu_guess(0.15, 0.05, 20000, 0.01);
    assert_within(guess, proved - 0.02, proved + 0.02);
}
