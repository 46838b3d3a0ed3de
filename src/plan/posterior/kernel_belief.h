/* The posterior of a mean reward with a kernel, given weighted sums over batches of users: Gaussian, in
 * information form, with the noise of the sums in it; and which prior and spread the sums speak for. See
 * docs/why/posterior-kernel.md. */
#ifndef TACIT_PLAN_POSTERIOR_KERNEL_BELIEF_H
#define TACIT_PLAN_POSTERIOR_KERNEL_BELIEF_H

#include "plan/posterior/kernel_features.h"

/* What was shown of a batch, and how its users played. */
typedef struct tacit__kernel_batch {
    double users;
    double variance;    /* of the noise in each number */
    size_t m;           /* numbers */
    const double *v;    /* [pairs][m] */
    const double *play; /* [pairs]: how likely each pair was for each user */
    const double *sum;  /* [m]: of (y - 1/2) v(w) */
} tacit__kernel_batch;

typedef struct tacit__kernel_belief {
    const tacit__kernel_features *features;
    size_t n_priors, n_spreads, n_batches;
    size_t prior, spread; /* those that the posterior goes by */
    double *priors;       /* [n_priors][p]: variances of parameters beforehand */
    double *told;         /* [n_spreads][p][p]: sum J^T R^-1 J, lower triangle */
    double *target;       /* [n_spreads][p]: sum J^T R^-1 x */
    double *fit;          /* [n_spreads]: -(x^T R^-1 x + log det R) / 2 */
    double *mean, *sd;    /* [pairs]: of the mean reward minus 1/2 */
    /* scratch */
    double *cover, *moment, *gain, *solved, *factor, *rest;
    double *zeta;   /* [pairs][p]: L^-1 phi, with L L^T the precision */
    double *turned; /* [pairs][p] */
    double *eigen, *values, *spectrum, *weight, *work;
} tacit__kernel_belief;

/* The prior: variances that are all the same, and rewards that spread as is assumed, or those of several that
 * the sums speak for (`chooses`). `features` must outlive it. */
TACIT_MUST_USE tacit_status tacit__kernel_belief_create(const tacit__kernel_features *features,
                                                        bool chooses, tacit__kernel_belief **out);
void tacit__kernel_belief_destroy(tacit__kernel_belief *q);

/* Back to what was before there were sums. */
void tacit__kernel_belief_clear(tacit__kernel_belief *q);

/* One more batch; the choice, `mean` and `sd` follow with tacit__kernel_belief_solve. */
void tacit__kernel_belief_add(tacit__kernel_belief *q, const tacit__kernel_batch *b);
void tacit__kernel_belief_solve(tacit__kernel_belief *q);

/* The logarithm of how likely one of the priors with one of the spreads is by all sums, up to what is the
 * same for all. */
double tacit__kernel_belief_evidence(tacit__kernel_belief *q, size_t prior, size_t spread);

/* The vectors v [pairs][m] that tell most about the mean reward where people `play` [pairs], in a sum over
 * this many users with this noise variance; none is longer than `length`, and m, which is returned, is at
 * most `most`. */
size_t tacit__kernel_belief_design(tacit__kernel_belief *q, const double *play, double users,
                                   double variance, double length, size_t most, double *v);

#endif
