/* The statistics that tests need, in plain doubles. */
#ifndef TACIT_TESTS_STATS_H
#define TACIT_TESTS_STATS_H

#include <stddef.h>
#include <stdint.h>

/* z with P(N > z) = p, for p in (0, 1). */
double stats_normal_quantile_upper(double p);

/* Number of standard deviations that a chi-square value of this many degrees lies above its mean, by the
 * Wilson-Hilferty cube root: close to a normal score, also far out. */
double stats_chi_square_score(double chi_square, double degrees);

/* One-sided Clopper-Pearson bounds for `hits` of `n` at this error probability. */
double stats_proportion_low(uint64_t hits, uint64_t n, double error);
double stats_proportion_high(uint64_t hits, uint64_t n, double error);

/* Largest mu that n trials in each world prove, at this error probability, for a test that says "second
 * world" when the score exceeds a fixed threshold: Phi^-1(TPR) - Phi^-1(FPR) at the worst ends. */
double stats_gdp_low(uint64_t true_positives, uint64_t false_positives, uint64_t n, double error);

/* Likewise the largest pure epsilon: ln(TPR / FPR). */
double stats_epsilon_low(uint64_t true_positives, uint64_t false_positives, uint64_t n,
                         double error);

#endif
