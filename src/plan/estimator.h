/* The estimator of one epoch of a kernel bandit [PSZ25, eq. 4] (docs/why/kernel.md#the-estimator):
 * everything about it that is fixed before the epoch's data, computed from public numbers alone. */
#ifndef TACIT_PLAN_ESTIMATOR_H
#define TACIT_PLAN_ESTIMATOR_H

#include <stdint.h>

#include "linalg/kernel_function.h"

/* The pairs w = (context, action), numbered context * n_actions + action. */
typedef struct tacit__pairs {
    size_t n_contexts, n_actions;
    const double *points;  /* [pairs][kernel.dimension] */
    const double *weights; /* of contexts; NULL: equal */
    tacit__kernel kernel;
} tacit__pairs;

/* Public chance: words first .. first+n-1 of a stream; first is a multiple of 8. */
typedef void tacit__words_fn(void *context, uint64_t stream, uint64_t first, size_t n,
                             uint64_t *out);

typedef struct tacit__estimator_design {
    const bool *active; /* [pairs]; at least one action in each context */
    double users;       /* T_r */
    double copies;      /* covariance points for each user, drawn; 0: their exact expectation */
    bool sampled;       /* projection on T_r drawn points; false: on all active ones */
    double tol;         /* residual at which the projection is good enough */
    double tau;         /* 0: chosen to make the predicted error least */
    double bound;       /* b: |y| <= b */
    double norm;        /* of the mean reward, in the kernel's space */
    double noise; /* variance of the noise in each coordinate of the sum of y v / (b norm of v) */
    tacit__words_fn *words;
    void *context;
    uint64_t stream;
} tacit__estimator_design;

typedef struct tacit__estimator {
    tacit__pairs pairs;
    size_t cap;       /* largest rank */
    size_t n, p;      /* active pairs; rank */
    size_t *which;    /* [n] -> pair, ascending, so a context's are neighbors */
    size_t *start;    /* [contexts + 1]: a context's first place in `which` */
    size_t *place;    /* [pairs] -> place in `which`, or SIZE_MAX */
    double *psi;      /* [n][p] */
    double *residual; /* [n]: squared distance from the span */
    double *factor;   /* C: C C^T = sum_R omega psi psi^T + tau I */
    double *v;        /* [n][p]: C^-1 psi / length; no longer than 1. The vectors that are summed */
    double *square;   /* [n]: |v|^2 before the division */
    double tau, length; /* length: of the longest C^-1 psi, with a margin for rounding */
    double sigma_max;   /* largest (|v|^2 + residual / tau)^(1/2), before the division */
    double leak;        /* sum_R omega residual */
    double copies;
    bool projected; /* psi is that of all active pairs, at this tolerance */
    double tol;
    size_t rank;
    double error; /* predicted root mean squared error of the estimates */
    /* scratch */
    double *omega, *eigen, *values, *scratch, *grid;
    bool *candidate;
} tacit__estimator;

/* Room for all pairs and ranks up to `cap`. */
TACIT_MUST_USE tacit_status tacit__estimator_create(const tacit__pairs *pairs, size_t cap,
                                                    tacit__estimator **out);
void tacit__estimator_destroy(tacit__estimator *estimator);

/* The first half of a build: active pairs and their features psi, with a rank of at most `rank`.
 * What is there already, for the same pairs, is kept. */
void tacit__estimator_project(tacit__estimator *estimator, const tacit__estimator_design *design,
                              size_t rank);

/* Builds everything for an epoch. */
void tacit__estimator_build(tacit__estimator *estimator, const tacit__estimator_design *design,
                            size_t rank);

/* Published calibrations divide by sigma_max instead of the longest vector, which is not longer. */
void tacit__estimator_divide(tacit__estimator *estimator, double length);

#endif
