/* Gate 4: a black-box audit with controls.
 *
 * The adversary knows all users but the first and sees every release. Each coordinate of a wide sum is an
 * independent trial of the one-dimensional mechanism, so one run gives thousands. Half of them serve to learn
 * the score (the linear discriminant of the releases, which is optimal for Gaussian noise), the other half to
 * test it at a threshold fixed beforehand; Clopper-Pearson bounds then prove a lower bound on mu or epsilon
 * with error probability 1e-6.
 *
 * The real mechanism must not be convicted; with half the noise, or with a clip removed, it must be. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include <tacit/sum.h>

#include "support/solve.h"
#include "support/stats.h"

enum { TRIALS = 16000, USERS = 12 };

#define ERROR_PROBABILITY 1e-6

typedef struct scenario {
    tacit_sum_mechanism mechanism;
    tacit_law law;
    double noise_factor; /* 1: as calibrated; 0.5: the first control */
    double contribution; /* of the planted user, in units of the bound per coordinate */
    bool clip, remove_clip;
} scenario;

/* releases[k][i]: prefix k+1 of trial i when the first user contributes `first` in every coordinate. */
static void observe(const scenario *s, uint64_t seed, double first, double *claimed,
                    double releases[USERS][TRIALS])
{
    /* One coordinate may hold up to 1: the vector of all ones has L2 norm sqrt(TRIALS). */
    double norm = s->law == TACIT_LAW_GAUSSIAN ? sqrt(TRIALS) : TRIALS;
    tacit_sum_spec spec = {SUM_OF(s->mechanism, s->law, TRIALS, USERS), .bound = {.clip = s->clip}};
    *(s->law == TACIT_LAW_GAUSSIAN ? &spec.bound.l2 : &spec.bound.l1) = norm;
    if (s->remove_clip) { /* the broken curator: accepts more, and declares the old sensitivity */
        spec.bound.l1 *= 4;
        spec.bound.l2 *= 4;
        spec.reason = "not true: this is the control";
        spec.sensitivity_l1 = 2 * norm;
        spec.sensitivity_l2 = 2 * norm;
        spec.sensitivity_on_lattice = true;
    }
    tacit_release release;
    SCOPED(tacit_plan) *plan = NULL;
    SCOPED(tacit_ledger) *ledger = NULL;
    SCOPED(tacit_noise) *noise = NULL;
    SCOPED(tacit_sum) *sum = NULL;
    assert_int_equal(tacit_sum_declare(&spec, "sum", &release, NULL), TACIT_OK);
    assert_int_equal(tacit_plan_create(&plan), TACIT_OK);
    assert_int_equal(tacit_plan_declare(plan, &release, NULL), TACIT_OK);
    /* A trial's own sensitivity is 2; its mechanism claims mu = 1 or epsilon = 1. */
    double column = s->law == TACIT_LAW_GAUSSIAN ? release.column_l2 : release.column_l1;
    *claimed = 1;
    assert_int_equal(tacit_plan_set_scale(plan, "sum", s->law, s->noise_factor * 2 * column, NULL),
                     TACIT_OK);
    assert_int_equal(tacit_noise_create_simulated(seed, &noise), TACIT_OK);
    assert_int_equal(tacit_ledger_create(plan, noise, &ledger, NULL), TACIT_OK);
    assert_int_equal(tacit_sum_create(&spec, ledger, "sum", &sum, NULL), TACIT_OK);
    static double x[TRIALS];
    for (size_t k = 0; k < USERS; k++) {
        for (size_t i = 0; i < TRIALS; i++)
            x[i] = k == 0 ? first * s->contribution : 0;
        assert_int_equal(tacit_sum_add(sum, x, NULL), TACIT_OK);
        assert_int_equal(tacit_sum_release(sum, releases[k], NULL), TACIT_OK);
    }
}

/* The score's weights and threshold, from the first half of the trials. */
static double learn(double low[USERS][TRIALS], double high[USERS][TRIALS], double weights[USERS])
{
    static double covariance[USERS][USERS];
    double mean_low[USERS], mean_high[USERS];
    const size_t half = TRIALS / 2;
    for (size_t k = 0; k < USERS; k++) {
        mean_low[k] = mean_high[k] = 0;
        for (size_t i = 0; i < half; i++) {
            mean_low[k] += low[k][i] / (double)half;
            mean_high[k] += high[k][i] / (double)half;
        }
        weights[k] = mean_high[k] - mean_low[k];
    }
    for (size_t k = 0; k < USERS; k++)
        for (size_t l = 0; l < USERS; l++) {
            covariance[k][l] = 0;
            for (size_t i = 0; i < half; i++)
                covariance[k][l] += (low[k][i] - mean_low[k]) * (low[l][i] - mean_low[l]);
        }
    (void)solve_plainly(USERS, &covariance[0][0], weights, weights);
    double threshold = 0;
    for (size_t k = 0; k < USERS; k++)
        threshold += weights[k] * (mean_low[k] + mean_high[k]) / 2;
    return threshold;
}

/* Proven lower bound divided by the claim. */
static double audit(const scenario *s)
{
    static double low[USERS][TRIALS], high[USERS][TRIALS];
    double weights[USERS], claimed;
    observe(s, 21, -1, &claimed, low);
    observe(s, 22, 1, &claimed, high);
    double threshold = learn(low, high, weights);
    uint64_t hits = 0, alarms = 0;
    for (size_t i = TRIALS / 2; i < TRIALS; i++) {
        double score_low = 0, score_high = 0;
        for (size_t k = 0; k < USERS; k++) {
            score_low += weights[k] * low[k][i];
            score_high += weights[k] * high[k][i];
        }
        hits += score_high > threshold;
        alarms += score_low > threshold;
    }
    double proven = s->law == TACIT_LAW_GAUSSIAN
                        ? stats_gdp_low(hits, alarms, TRIALS / 2, ERROR_PROBABILITY)
                        : stats_epsilon_low(hits, alarms, TRIALS / 2, ERROR_PROBABILITY);
    return proven / claimed;
}

static const tacit_sum_mechanism gaussian[] = {TACIT_SUM_TREE, TACIT_SUM_SMOOTH, TACIT_SUM_BLT,
                                               TACIT_SUM_LOCAL};
static const tacit_sum_mechanism laplace[] = {TACIT_SUM_TREE, TACIT_SUM_SMOOTH, TACIT_SUM_LOCAL};

TEST(sound_mechanisms_are_not_convicted)
{
    for (size_t i = 0; i < sizeof gaussian / sizeof *gaussian; i++) {
        double proven = audit(&(scenario){gaussian[i], TACIT_LAW_GAUSSIAN, 1, 1, false, false});
        assert_true(proven <= 1);
        assert_true(proven >= 0.8); /* and the attack is a strong one: it finds most of the loss */
    }
    for (size_t i = 0; i < sizeof laplace / sizeof *laplace; i++)
        assert_true(audit(&(scenario){laplace[i], TACIT_LAW_LAPLACE, 1, 1, false, false}) <= 1);
}

TEST(half_the_noise_is_convicted)
{
    for (size_t i = 0; i < sizeof gaussian / sizeof *gaussian; i++)
        assert_true(audit(&(scenario){gaussian[i], TACIT_LAW_GAUSSIAN, 0.5, 1, false, false}) >
                    1.5);
    assert_true(audit(&(scenario){TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE, 0.5, 1, false, false}) > 1.2);
}

TEST(a_clipped_outlier_is_not_convicted)
{
    assert_true(audit(&(scenario){TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, 1, 3, true, false}) <= 1);
    assert_true(audit(&(scenario){TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE, 1, 3, true, false}) <= 1);
}

TEST(a_removed_clip_is_convicted)
{
    assert_true(audit(&(scenario){TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, 1, 3, true, true}) > 2);
    assert_true(audit(&(scenario){TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE, 1, 3, true, true}) > 1.5);
}
