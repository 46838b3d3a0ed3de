/* Plans for linear mixtures from rare releases: several bold ones, drawn by the posterior of the
 * weights, and a greedy one. See docs/why/posterior-mixture.md. */
#ifndef TACIT_PLAN_POSTERIOR_MIXTURE_H
#define TACIT_PLAN_POSTERIOR_MIXTURE_H

#include "plan/bold_batches.h"
#include "plan/mixture_posterior.h"

typedef struct tacit__mixture_plans {
    const tacit__mixture_model *model; /* must outlive the planner */
    bool stationary;             /* rewards are [1][pair], and all steps have the same weights */
    const double *rewards;       /* [horizon or 1][pair]; copied */
    tacit__bold_options batches; /* the model says how many states, actions and numbers there are */
} tacit__mixture_plans;

typedef struct tacit__posterior_mixture tacit__posterior_mixture;

TACIT_MUST_USE tacit_status tacit__posterior_mixture_create(const tacit__mixture_plans *options,
                                                            tacit__posterior_mixture **out);
void tacit__posterior_mixture_destroy(void *planner);

/* The batch is over, and this was shown of it: a new posterior, and the plans of the next batch. */
void tacit__posterior_mixture_absorb(void *planner, const tacit__score_sums *shown);

/* Its batches, which say by which plan a user acts. */
tacit__bold_batches *tacit__posterior_mixture_batches(const tacit__posterior_mixture *planner);

/* One plan with this xi, into policy[horizon][state]. */
void tacit__posterior_mixture_plan(tacit__posterior_mixture *planner, double xi, uint32_t *policy);

/* Q of the last plan that was made, [horizon][state][action], and the posterior behind it: for tests. */
const double *tacit__posterior_mixture_q(const tacit__posterior_mixture *planner);
const tacit__mixture_posterior *tacit__posterior_mixture_get(
    const tacit__posterior_mixture *planner);

/* As part of a saved state (base/bytes.h), into a fresh planner of the same options. Returns how many
 * batches are over in what is saved or loaded. */
size_t tacit__posterior_mixture_fields(void *planner, tacit__saved *s);

#endif
