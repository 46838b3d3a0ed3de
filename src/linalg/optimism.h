/* Optimistic linear values: for features phi, a positive definite M = L L^T, and weights w,
 *
 *     Q(phi) = offset + scale (phi . w + bonus |phi|_{M^-1}),     cut to [low, high].
 *
 * A value function of this form is a handful of public numbers; with features at hand it can be evaluated
 * on many of them at once: one product with L^-1 for a block of columns, then one pass, because phi . w =
 * (L^-1 phi) . (L^T w). (The triangular solve in its place takes ten times as long at d = 32.) */
#ifndef TACIT_LINALG_OPTIMISM_H
#define TACIT_LINALG_OPTIMISM_H

#include <stddef.h>

typedef struct tacit__optimism {
    size_t dimension;
    const double *inverse; /* L^-1, column-major [d][d] */
    const double *slope;   /* L^T w, [d] */
    double unit;           /* features are given as multiples of it */
    double offset, scale, bonus;
    double low, high;
} tacit__optimism;

/* slope = L^T w. */
void tacit__optimism_slope(size_t d, const double *factor, const double *weights, double *slope);

/* Q of n columns [n][d] into out[n]; work is [n][d]. */
void tacit__optimism_evaluate(const tacit__optimism *o, size_t n, const double *columns,
                              double *work, double *out);

/* The same from phi . w and |phi|_{M^-1}: for diagonal M, where both are at hand. */
static inline double tacit__optimism_cut(const tacit__optimism *o, double inner, double norm)
{
    double q = o->offset + o->scale * (inner + o->bonus * norm);
    return q > o->high ? o->high : q > o->low ? q : o->low; /* NaN is low */
}

#endif
