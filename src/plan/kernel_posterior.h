/* The posterior of a mean reward with a kernel, given weighted sums over batches of users: Gaussian, in
 * information form, with the noise of the sums in it. See docs/why/posterior-kernel.md. */
#ifndef TACIT_PLAN_KERNEL_POSTERIOR_H
#define TACIT_PLAN_KERNEL_POSTERIOR_H

#include "plan/kernel_features.h"

/* What was shown of a batch, and how its users played. */
typedef struct tacit__kernel_batch {
    double users;
    double variance;    /* of the noise in each number */
    size_t m;           /* numbers */
    const double *v;    /* [pairs][m] */
    const double *play; /* [pairs]: how likely each pair was for each user */
    const double *sum;  /* [m]: of (y - 1/2) v(w) */
} tacit__kernel_batch;

typedef struct tacit__kernel_posterior {
    const tacit__kernel_features *features;
    double *precision, *target; /* [p][p], lower triangle; [p]: precision times mean */
    double *mean, *sd;          /* [pairs]: of the mean reward minus 1/2 */
    /* scratch */
    double *cover, *gain, *factor, *rest;
    double *zeta;   /* [pairs][p]: L^-1 phi, with L L^T the precision */
    double *turned; /* [pairs][p] */
    double *eigen, *values, *spectrum, *weight, *work;
} tacit__kernel_posterior;

/* The prior. `features` must outlive it. */
TACIT_MUST_USE tacit_status tacit__kernel_posterior_create(const tacit__kernel_features *features,
                                                           tacit__kernel_posterior **out);
void tacit__kernel_posterior_destroy(tacit__kernel_posterior *q);

/* Back to the prior. */
void tacit__kernel_posterior_clear(tacit__kernel_posterior *q);

/* One more batch; `mean` and `sd` follow with tacit__kernel_posterior_solve. */
void tacit__kernel_posterior_add(tacit__kernel_posterior *q, const tacit__kernel_batch *b);
void tacit__kernel_posterior_solve(tacit__kernel_posterior *q);

/* The vectors v [pairs][m] that tell most about the mean reward where people `play` [pairs], in a sum over
 * this many users with this noise variance; none is longer than `length`, and m, which is returned, is at
 * most `most`. */
size_t tacit__kernel_posterior_design(tacit__kernel_posterior *q, const double *play, double users,
                                      double variance, double length, size_t most, double *v);

#endif
