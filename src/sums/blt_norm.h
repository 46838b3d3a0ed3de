/* The norms of a buffered linear Toeplitz sum: what its columns cost, which is charged, and how its rows
 * spread, which is reported. */
#ifndef TACIT_SUMS_BLT_NORM_H
#define TACIT_SUMS_BLT_NORM_H

#include "sums/blt_kernel.h"
#include "sums/strategy.h"

/* The squared norm of a column of C with what integers add (the head of blt.c): sum over n < K of (c_n +
 * e_n sqrt(m) / D)^2. In closed form, about a thousand steps whatever K is, and never below it; by
 * summation, K steps, and below it by less than 10^-12 of it, which the factor in tacit__blt_column_norm
 * covers. */
long double tacit__blt_column_summed(const tacit__blt_coefficients *c, const tacit__shape *shape);
long double tacit__blt_column_closed(const tacit__blt_coefficients *c, const tacit__shape *shape);

/* The same for several visits: their columns of C together, without what integers add; an upper bound. */
long double tacit__blt_visits_closed(const tacit__blt_coefficients *c, uint64_t steps,
                                     const tacit__returning *visits);

/* The column norm that is charged. One visit: summed for up to 2^20 users, closed for more. */
double tacit__blt_column_norm(const tacit__blt_coefficients *c, const tacit__shape *shape);

/* Poles and zeros of the C with these coefficients. */
tacit__blt tacit__blt_factors(const tacit__blt_coefficients *c);

/* The squared norm of row k of B = A C^-1, up to rounding: summed for k up to 2^12, closed for more. */
double tacit__blt_row(const tacit__blt_coefficients *c, const tacit__blt *factors, uint64_t k);

#endif
