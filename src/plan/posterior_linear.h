/* Plans for linear MDPs with numbered states from rare releases: bold ones, drawn by the posterior of
 * measures and rewards, and calm ones. See docs/why/posterior-linear.md. */
#ifndef TACIT_PLAN_POSTERIOR_LINEAR_H
#define TACIT_PLAN_POSTERIOR_LINEAR_H

#include "plan/linear_posterior.h"
#include "plan/score_planner.h"

/* `model` must outlive the planner, and says how many states, actions, steps and numbers the batches have.
 * `stationary`: all steps are alike. */
TACIT_MUST_USE tacit_status tacit__posterior_linear_create(const tacit__linear_model *model,
                                                           bool stationary,
                                                           const tacit__bold_options *batches,
                                                           tacit__score_planner **out);

#endif
