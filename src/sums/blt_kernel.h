/* The arithmetic of a buffered linear Toeplitz sum on n coordinates. The formulas, and why they are
 * private, are at the head of blt.c.
 *
 * The rows of buffers are interleaved by cache lines: coordinates 8k .. 8k+7 of row 0, then of row 1, and so
 * on, so that a step streams through one piece of memory in order. */
#ifndef TACIT_SUMS_BLT_KERNEL_H
#define TACIT_SUMS_BLT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "sums/blt_tune.h"

enum { TACIT__LINE = 8 }; /* coordinates in a cache line */

/* Buffers stop here. A step adds less than five times this, so that nothing overflows on the way. */
#define TACIT__BLT_LIMIT ((int64_t)1 << 60)

typedef struct tacit__blt_coefficients {
    unsigned buffers;
    int64_t decay[TACIT__MAX_BUFFERS];                       /* A_j < 2^31 */
    int64_t output[TACIT__MAX_BUFFERS];                      /* W_j <= 2^29 */
    int guard;                                               /* G */
    int fraction;                                            /* F >= 1 */
    double a[TACIT__MAX_BUFFERS], omega[TACIT__MAX_BUFFERS]; /* what they stand for, exactly */
} tacit__blt_coefficients;

/* y = x + floor((2^(F-1) + floor(sum_j S_j W_j / 2^32)) / 2^F). `buffer` has `buffers` rows. */
void tacit__blt_encode(const tacit__blt_coefficients *c, const int64_t *buffer, size_t n,
                       const int64_t *x, int64_t *y);

/* S_j += (x - y) << G;  S_j -= floor(S_j A_j / 2^32), then clamped to +-LIMIT;  shown += y unit. y is what
 * was released, so `shown` is its sum: exact up to 2^53 units, and nothing but post-processing. */
void tacit__blt_absorb(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                       const int64_t *x, const int64_t *y, double unit, double *shown);

#endif
