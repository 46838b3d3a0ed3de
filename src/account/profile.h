/* The composed distribution as a function of epsilon. */
#ifndef TACIT_ACCOUNT_PROFILE_H
#define TACIT_ACCOUNT_PROFILE_H

#include "account/pld.h"
#include "account/tilted_pmf.h"

/* The lattice steps of one attempt. own_step[i] belongs to losses[i]. */
typedef struct tacit__steps {
    double step;
    double *own_step;
    int at_limit; /* a finer lattice would not fit */
} tacit__steps;

/* Cumulants of all losses together. */
tacit__cumulants tacit__pld_cumulants(const tacit__pld *pld, double lambda);

/* Steps such that the width of delta is about `tol` of it. */
void tacit__steps_choose(const tacit__pld *pld, double lambda, double tol, tacit__steps *steps);

/* The composed pair, turned into suffix sums so that delta at any epsilon costs O(1). */
typedef struct tacit__profile {
    tacit__tilted_pmf sum; /* mass[] holds the sums b of profile.c */
    double *rise[2];       /* the sums d */
    tacit_interval fail;
} tacit__profile;

tacit_status tacit__profile_create(tacit__profile *out, const tacit__pld *pld, double lambda,
                                   const tacit__steps *steps);
void tacit__profile_destroy(tacit__profile *profile);
tacit_interval tacit__profile_delta(const tacit__profile *profile, double epsilon);

#endif
