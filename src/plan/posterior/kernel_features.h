/* Features of a kernel on finitely many pairs, in the order of what uniform play tells about them, and the
 * weights that a sum of them is shown with. Public, all of it. See docs/why/posterior-kernel.md. */
#ifndef TACIT_PLAN_POSTERIOR_KERNEL_FEATURES_H
#define TACIT_PLAN_POSTERIOR_KERNEL_FEATURES_H

#include "plan/estimator.h"

#define TACIT__KERNEL_BOUND 0.5 /* b: rewards are in [0, 1], centered */
#define TACIT__KERNEL_SPREAD                                                                       \
    (TACIT__KERNEL_BOUND / 3) /* root mean square of a centered reward, as is assumed */

typedef struct tacit__kernel_features {
    tacit__pairs pairs;
    size_t n, p;               /* pairs; features */
    double *phi;               /* [n][p]: phi(w), no longer than 1 */
    double *lambda;            /* [p], descending: eigenvalues of E phi phi^T under uniform play */
    double variance;           /* E f^2 of a random sum of bumps of this norm, under uniform play */
    double prior;              /* v0: variance of each parameter beforehand, if all have the same */
    double *spectrum, *weight; /* [p] scratch */
} tacit__kernel_features;

/* `norm`: of the mean reward minus 1/2, in the kernel's space; at most `rank` features. */
TACIT_MUST_USE tacit_status tacit__kernel_features_create(const tacit__pairs *pairs, size_t rank,
                                                          double norm,
                                                          tacit__kernel_features **out);
void tacit__kernel_features_destroy(tacit__kernel_features *features);

/* Variances [p] of parameters in proportion to lambda_j^power, under which E f^2 is `share` of `variance`. */
void tacit__kernel_features_prior(const tacit__kernel_features *features, double power,
                                  double share, double *out);

/* The noise in sums of unit vectors: of every sum, or of every user. */
typedef struct tacit__kernel_noise {
    double scale; /* standard deviation; 0: none */
    bool local;   /* every user has it */
} tacit__kernel_noise;

/* Variance of the noise in a sum over this many users, in units of the data (b times unit vectors). */
double tacit__kernel_noise_variance(const tacit__kernel_noise *noise, double users);

/* Water-filling: of directions in which the mean reward has the variances `spectrum` [p], descending, a sum
 * over this many users with this noise variance is to have weights [p], for coordinates whose mean square is
 * the spectrum; what is not worth its noise has weight 0, and comes last. A weighted vector has the mean
 * square 1. Returns how many weights are above 0. */
size_t tacit__kernel_fill(size_t p, const double *spectrum, double users, double variance,
                          double *weight);

/* What is left of the variance of the mean reward after this many users who play uniformly, as a share of
 * what there was; and how many leave half of it; at most `most`. */
double tacit__kernel_features_left(const tacit__kernel_features *features,
                                   const tacit__kernel_noise *noise, double users);
uint64_t tacit__kernel_features_users(const tacit__kernel_features *features,
                                      const tacit__kernel_noise *noise, double most);

/* How many of this many users explore, if they play uniformly and all others by what was released of them. */
uint64_t tacit__kernel_features_explore(const tacit__kernel_features *features,
                                        const tacit__kernel_noise *noise, double users);

#endif
