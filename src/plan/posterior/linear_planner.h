/* Plans for linear MDPs with numbered states from rare releases: exploring ones, drawn by the posterior of
 * measures and rewards, and steady ones. See docs/why/posterior-linear.md. */
#ifndef TACIT_PLAN_POSTERIOR_LINEAR_PLANNER_H
#define TACIT_PLAN_POSTERIOR_LINEAR_PLANNER_H

#include "plan/posterior/linear_belief.h"
#include "plan/posterior/score_planner.h"

/* `model` must outlive the planner, and says how many states, actions, steps and numbers the batches have.
 * `stationary`: all steps are alike. */
TACIT_MUST_USE tacit_status tacit__linear_planner_create(const tacit__linear_model *model,
                                                         bool stationary,
                                                         const tacit__batch_plans_options *batches,
                                                         tacit__score_planner **out);

#endif
