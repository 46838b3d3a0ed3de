/* Columns of equal length: what users' vectors are multiplied by before they enter a blt sum of few
 * releases. */
#ifndef TACIT_SUMS_BLT_GAIN_H
#define TACIT_SUMS_BLT_GAIN_H

#include <stdbool.h>

#include "sums/blt_kernel.h"
#include "sums/strategy.h"

enum { TACIT__GAIN_BITS = 20, TACIT__MOST_GAINS = 1 << 12 };

/* Returns whether a sum of this shape has gains: few releases, and each person in one of them. */
bool tacit__blt_has_gains(const tacit__shape *shape);

/* gain[steps] = q_t 2^GAIN_BITS, an integer below 2^(GAIN_BITS + 1), and from 2^GAIN_BITS on;
 * row[steps]: the squared norms of the rows of A diag(1/q) C^-1. */
void tacit__blt_gains(const tacit__blt_coefficients *k, uint64_t steps, int64_t *gain, double *row);

/* The column norm that is charged with gains. */
double tacit__blt_gained_norm(const tacit__blt_coefficients *k, const tacit__shape *shape);

/* out = floor(x gain / 2^GAIN_BITS), for |x| < 2^61. */
void tacit__blt_multiply(int64_t gain, size_t n, const int64_t *x, int64_t *out);

#endif
