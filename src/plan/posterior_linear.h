/* Plans for linear MDPs with numbered states from rare releases: bold ones, drawn by the posterior of
 * measures and rewards, and calm ones. See docs/why/posterior-linear.md. */
#ifndef TACIT_PLAN_POSTERIOR_LINEAR_H
#define TACIT_PLAN_POSTERIOR_LINEAR_H

#include "plan/bold_batches.h"
#include "plan/linear_posterior.h"

typedef struct tacit__linear_plans {
    const tacit__linear_model *model; /* must outlive the planner */
    bool stationary;                  /* all steps are alike */
    tacit__bold_options
        batches; /* the model says how many states, actions, steps and numbers there are */
} tacit__linear_plans;

typedef struct tacit__posterior_linear tacit__posterior_linear;

TACIT_MUST_USE tacit_status tacit__posterior_linear_create(const tacit__linear_plans *options,
                                                           tacit__posterior_linear **out);
void tacit__posterior_linear_destroy(void *planner);

/* The batch is over, and this was shown of it: a new posterior, and the plans of the next batch. */
void tacit__posterior_linear_absorb(void *planner, const tacit__score_sums *shown);

/* Its batches, which say by which plan a user acts. */
tacit__bold_batches *tacit__posterior_linear_batches(const tacit__posterior_linear *planner);

/* One plan with this xi, into policy[horizon][state]. */
void tacit__posterior_linear_plan(tacit__posterior_linear *planner, double xi, uint32_t *policy);

/* Q of the last plan that was made, [horizon][state][action], and the posterior behind it: for tests. */
const double *tacit__posterior_linear_q(const tacit__posterior_linear *planner);
const tacit__linear_posterior *tacit__posterior_linear_get(const tacit__posterior_linear *planner);

/* As part of a saved state (base/bytes.h), into a fresh planner of the same options. Returns how many
 * batches are over in what is saved or loaded. */
size_t tacit__posterior_linear_fields(void *planner, tacit__saved *s);

#endif
