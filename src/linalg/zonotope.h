/* The longest vector of a zonotope. */
#ifndef TACIT_LINALG_ZONOTOPE_H
#define TACIT_LINALG_ZONOTOPE_H

#include <stddef.h>
#include <stdint.h>

/* All vectors sum_i u_i a_i with u_i in [low, 1]; a_i is column i of rows[d][n]. */
typedef struct tacit__zonotope {
    size_t d, n;
    const double *rows;
    double low; /* -1 or 0 */
} tacit__zonotope;

/* The longest one has a length between `met`, which one of them has, and `proved`. */
typedef struct tacit__length {
    double met, proved;
} tacit__length;

/* Doubles of scratch. */
size_t tacit__zonotope_scratch(size_t d, size_t n);

/* met == proved, or both at most `limit`, if *steps steps are enough to tell; they are counted down. Exact
 * to rounding. */
tacit__length tacit__zonotope_longest(const tacit__zonotope *z, double limit, uint64_t *steps,
                                      double *scratch);

#endif
