/* The exact posterior of a function on finitely many pairs: mean and covariance, from what was
 * observed at them. For learners without privacy. */
#ifndef TACIT_PLAN_GAUSSIAN_PROCESS_H
#define TACIT_PLAN_GAUSSIAN_PROCESS_H

#include "board/moments.h"
#include "plan/estimator.h"

enum { TACIT__POSTERIOR_RECENT = 48 };

typedef struct tacit__gaussian_process {
    tacit__pairs pairs;
    size_t n;            /* pairs */
    double tau;          /* regularizer, the variance of the noise in the model */
    double *mean;        /* [n] */
    double *variance;    /* [n] */
    double *count, *sum; /* [n]: observations of each pair */
    double gain;         /* information: sum of log(1 + variance / tau) / 2 when observed */
    uint64_t steps;      /* since the covariance was computed anew */
    double *covariance;  /* [n][n], without what is waiting */
    double *recent;      /* [n][RECENT]: columns that wait to be subtracted, then zeros */
    /* scratch */
    size_t *seen;
    double *column, *solve, *factor;
} tacit__gaussian_process;

TACIT_MUST_USE tacit_status tacit__gaussian_process_create(const tacit__pairs *pairs, double tau,
                                                           tacit__gaussian_process **out);
void tacit__gaussian_process_destroy(tacit__gaussian_process *q);

/* Forgets everything. */
void tacit__gaussian_process_clear(tacit__gaussian_process *q);

/* Adds an observation. Mean and variance follow (n^2) unless `lazy`; then tacit__gaussian_process_solve
 * must be called before they are read. */
void tacit__gaussian_process_add(tacit__gaussian_process *q, size_t pair, double y, bool lazy);

/* Mean, variance and covariance from the counts alone, without what rounding has added up. */
void tacit__gaussian_process_solve(tacit__gaussian_process *q);

#endif
