/* Lattice distributions of privacy loss under an exponential tilt, and their sums. */
#ifndef TACIT_ACCOUNT_TILTED_PMF_H
#define TACIT_ACCOUNT_TILTED_PMF_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "account/lattice_pair.h"
#include "account/loss.h"

enum { TACIT__LOW, TACIT__HIGH };

/* Two distributions on the points first*step .. (first+n-1)*step: one whose delta is below and one
 * whose delta is above the true one. The probability of the loss l is
 * mass * exp(log_scale - lambda l); the masses sum to about 1. The errors that are not in the
 * masses are bounded apart: in every case the true tilted expectation of a function with values
 * in [0, top of f] is within (1 +- relative) of the computed one, up to lost * top + noise. */
typedef struct tacit__tilted_pmf {
    double step, lambda;
    int64_t first;
    size_t n;
    double *mass[2];
    double log_scale[2];
    double lost;     /* tilted mass that is missing or misplaced */
    double noise;    /* rounding of the transforms, weighed with f */
    double relative; /* rounding of masses and scales */
    double shift;    /* rounding of the losses */
} tacit__tilted_pmf;

/* The largest transform, and the largest table of one release. */
#define TACIT__MAX_LOG2_POINTS 22
#define TACIT__MAX_CELLS ((size_t)1 << 21)

/* f(x) = exp(-lambda x) (1 - exp(-x)), x > 0, is what a tilted loss of eps + x adds to delta:
 * its largest value, and the 2-norm of its values on a lattice of `width` points. */
double tacit__f_top(double lambda);
double tacit__f_norm(double lambda, double step, double width);

/* One part of a composition on the lattice of `step`. Laplace losses are put on a lattice of their
 * own first, own_step = size / integer, and composed there. TACIT_TOO_LARGE: too many points. */
tacit_status tacit__tilted_pmf_create(tacit__tilted_pmf *out, const tacit__loss *loss,
                                      double lambda, double step, double own_step);
void tacit__tilted_pmf_destroy(tacit__tilted_pmf *t);

/* t becomes the sum of t and other, which have the same step and lambda. */
tacit_status tacit__tilted_pmf_add(tacit__tilted_pmf *t, const tacit__tilted_pmf *other);

/* Helpers that tilted_pmf.c and loss_power.c share. */
int tacit__tilted_pmf_alloc(tacit__tilted_pmf *t, double step, double lambda, int64_t first,
                            size_t n);
double tacit__tilted_pmf_norm(const tacit__tilted_pmf *t);
/* t becomes the sum of `count` copies of itself. */
tacit_status tacit__tilted_pmf_power(tacit__tilted_pmf *t, uint64_t count);

#endif
