/* How far noise can be off: two-sided quantiles of sums of draws. */
#ifndef TACIT_CURATE_LEVELS_H
#define TACIT_CURATE_LEVELS_H

/* y such that |sum of m standard normal draws| <= y with probability at least 1 - eta. */
double tacit__level_gaussian(double m, double eta);

/* The same for m standard Laplace draws, by the Chernoff bound. */
double tacit__level_laplace(double m, double eta);

#endif
