/* How far noise can be off: two-sided quantiles of sums of draws. */
#ifndef TACIT_CONTRIBUTE_LEVELS_H
#define TACIT_CONTRIBUTE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

/* y such that |sum of m standard normal draws| <= y with probability at least 1 - eta. */
double tacit__level_gaussian(double m, double eta);

/* The same for m standard Laplace draws, by the Chernoff bound. */
double tacit__level_laplace(double m, double eta);

/* y such that a symmetric matrix of order d whose packed coordinates are sums of m standard draws
 * has an operator norm of at most y with probability at least 1 - eta; the same for the length of d
 * such sums. */
double tacit__level_matrix(double m, size_t d, double eta, bool laplace);
double tacit__level_vector(double m, size_t d, double eta, bool laplace);

#endif
