/* Planners make these of noisy rows when their bonus does not cover the noise: chances that sum to one,
 * moves that may be nothing but noise, and how far noise moves Q. */
#ifndef TACIT_PLAN_NOISY_ROWS_H
#define TACIT_PLAN_NOISY_ROWS_H

#include "plan/induct.h"

/* The share of its width that dp-ucbvi adds by default; docs/why/tabular.md#what-the-noise-is-worth. */
#define TACIT__NOISE_SCALE 0.2

/* In most rows no noise of `n` cells is above this many standard deviations [DJ94]. */
double tacit__noise_threshold(size_t n);

/* The row `y` with what is below `least` so low that no projection raises it above 0, in `out`; or `y`, if
 * nothing would be left. */
const double *tacit__leave_large(const double *y, size_t n, double least, double *out);

/* Chances of next states, TACIT__BLOCK apart, from noisy moves: projected so that they sum to `visits`
 * (plan/project.h), over that sum or over 1, if that is more. `scratch` has 2 n. */
void tacit__estimate_chances(const double *moves, size_t n, double visits, double *scratch,
                             double *chances);

/* Of visits: of a pair with less nothing is known. One, and one standard deviation of the noise. */
double tacit__least_known(const tacit__counts *c);

/* Adds to q, for all pairs of step h, `scale` times how far noise moves the estimate, to first order:
 *     sqrt(s_P^2 sum_s' (V(s') - E V)^2 + s_R^2) / (max(n, 0) + s_N).
 * `mean` is E V, `visits` is n. */
void tacit__add_noise_width(const tacit__induction *in, const tacit__counts *c, double scale,
                            size_t h, const double *visits, const double *mean, double *q);

#endif
