/* Plans for linear mixtures from rare releases: several exploring ones, drawn by the posterior of the
 * weights, and a greedy one. See docs/why/posterior-mixture.md. */
#ifndef TACIT_PLAN_POSTERIOR_MIXTURE_PLANNER_H
#define TACIT_PLAN_POSTERIOR_MIXTURE_PLANNER_H

#include "plan/posterior/mixture_belief.h"
#include "plan/posterior/score_planner.h"

/* `model` must outlive the planner, and says how many states, actions and numbers the batches have.
 * `stationary`: rewards are [1][pair], and all steps have the same weights; else they are [horizon][pair].
 * They are copied. NULL, if the model learns them. */
TACIT_MUST_USE tacit_status tacit__mixture_planner_create(const tacit__mixture_model *model,
                                                          bool stationary, const double *rewards,
                                                          const tacit__batch_plans_options *batches,
                                                          tacit__score_planner **out);

/* The weights that such a planner plans by: for tests. */
const tacit__mixture_belief *tacit__mixture_planner_weights(const tacit__score_planner *planner);

#endif
