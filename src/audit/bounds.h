/* Confidence bounds from counts, and the number of trials that a proof takes. Plain doubles; see
 * bounds.c for accuracy. */
#ifndef TACIT_AUDIT_BOUNDS_H
#define TACIT_AUDIT_BOUNDS_H

#include <stdint.h>

/* One-sided Clopper-Pearson bounds for `hits` of `n` at this error probability: the true probability is
 * lower than the first, or higher than the second, with at most that probability. */
double tacit__proportion_low(uint64_t hits, uint64_t n, double error);
double tacit__proportion_high(uint64_t hits, uint64_t n, double error);

/* An event was seen `hits` times in n trials of one world and `alarms` times in n of its neighbor. The
 * largest epsilon (at this delta), and the largest mu of Gaussian DP, that this refutes; -inf where it
 * refutes nothing. The error probability is halved between the two counts. */
double tacit__epsilon_proved(uint64_t hits, uint64_t alarms, uint64_t n, double delta,
                             double error);
double tacit__mu_proved(uint64_t hits, uint64_t alarms, uint64_t n, double error);

/* The same from proportions, by the score interval: quick and good enough to choose an event by. */
double tacit__epsilon_guess(double p, double q, double n, double delta, double error);
double tacit__mu_guess(double p, double q, double n, double error);

/* Return how many trials in each world convict, with 90 % probability: a mechanism that is mu-GDP and
 * claims less; a mechanism with an event of probability p, and q in the neighboring world, that claims
 * (epsilon, delta). HUGE_VAL: none do. */
double tacit__trials_for_mu(double mu, double claim, double error);
double tacit__trials_for_event(double p, double q, double epsilon, double delta, double error);

#endif
