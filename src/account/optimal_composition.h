/* Optimal composition of copies of one (epsilon, delta) black box. */
#ifndef TACIT_ACCOUNT_OPTIMAL_COMPOSITION_H
#define TACIT_ACCOUNT_OPTIMAL_COMPOSITION_H

#include <stdint.h>

#include <tacit/account.h>

/* The sums have about 20 sqrt(count) terms; beyond this they are refused by the callers. */
#define TACIT__OPTIMAL_MAX_COUNT UINT64_C(1000000000)

/* log of C(n, j) p^j (1-p)^(n-j) with p = 1/(1 + exp(-logit)), to full double precision. */
double tacit__log_binomial(uint64_t n, uint64_t j, double logit);

/* 1 - (1-delta)^count, the chance that one of the boxes fails, enclosed. */
tacit_interval tacit__any_failure(double delta, uint64_t count);

/* delta at any epsilon >= 0, and epsilon at any delta, of `count` copies of (box_epsilon, box_delta);
 * both enclosed to about 1e-11. epsilon is +inf where delta is too small for any. */
tacit_interval tacit__optimal_delta(double box_epsilon, double box_delta, uint64_t count,
                                    double epsilon);
tacit_interval tacit__optimal_epsilon(double box_epsilon, double box_delta, uint64_t count,
                                      double delta);

#endif
