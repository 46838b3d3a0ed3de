/* The posterior of a mixture's weights, given sums of scores over batches of users: Gaussian, in
 * information form, with the noise of the sums in it. See docs/why/posterior-mixture.md. */
#ifndef TACIT_PLAN_POSTERIOR_MIXTURE_BELIEF_H
#define TACIT_PLAN_POSTERIOR_MIXTURE_BELIEF_H

#include "base/bytes.h"
#include "plan/posterior/mixture_model.h"
#include "plan/posterior/played_batch.h"

typedef struct tacit__mixture_belief {
    const tacit__mixture_model *model;
    size_t steps, tables; /* tables: steps, or 1 if all steps have the same weights */
    double *weights;      /* [table][part]: the mean, in the simplex */
    double *factor;       /* [table][width][width]: lower triangle of L, L L' = the precision */
    double *deviation;    /* [table][part]: of each weight by itself */
    double *start;        /* [state]: chances of the first state */
    /* Rewards that are learned, [steps + 1, or 1][pair]; else NULL: mean, from 1/2, and standard deviation */
    double *rewards, *spread;
    /* scratch */
    double *target;            /* [table][width]: precision times mean */
    double *best;              /* [table][part]: means that fit best so far */
    double *chances, *moments; /* [table]: see mixture_model.h */
    double *visits;            /* [step][pair]: expected, of a batch */
    double *here, *after;      /* [state] */
    double *cover;             /* [width][width]: covariance of a step's sum */
    double *gain;              /* [width][width] */
    double *rest;              /* [width] */
    double *unsure;            /* as `rewards`: the variance of one reward */
    double *sorted;            /* [larger of parts and states] */
} tacit__mixture_belief;

/* The prior. `model` must outlive it. `same`: all steps have the same weights. */
TACIT_MUST_USE tacit_status tacit__mixture_belief_create(const tacit__mixture_model *model,
                                                         size_t steps, bool same,
                                                         tacit__mixture_belief **out);
void tacit__mixture_belief_destroy(tacit__mixture_belief *posterior);

/* The posterior given these batches, n of them; estimates of where users were begin with the last mean. */
void tacit__mixture_belief_fit(tacit__mixture_belief *posterior, const tacit__played_batch *batches,
                               size_t n);

/* visits[step][pair]: expected number of users, with the present means. */
void tacit__mixture_belief_visits(tacit__mixture_belief *posterior,
                                  const tacit__played_batch *batch, double *visits);

#endif
