/* Plans for bandits without contexts from rare releases of rewards: bold ones and a greedy one, by the
 * posterior of the arms' mean rewards. See docs/why/posterior-bandit.md. */
#ifndef TACIT_PLAN_POSTERIOR_BANDIT_PLANNER_H
#define TACIT_PLAN_POSTERIOR_BANDIT_PLANNER_H

#include "plan/posterior/score_planner.h"

/* n1: how many users halve the prior variance of every arm's mean, if they take the arms in turn, with such
 * noise; `arms` is a tacit__score_table (contribute/arm_rewards.c). Without bounds; and at most `most`. */
double tacit__bandit_wanted(const void *arms, const tacit__score_noise *noise, size_t steps);
uint64_t tacit__bandit_users(const void *arms, const tacit__score_noise *noise, size_t steps,
                             double most);

TACIT_MUST_USE tacit_status tacit__bandit_planner_create(size_t n_actions,
                                                         const tacit__batch_plans_options *batches,
                                                         tacit__score_planner **out);

/* The posterior of an arm's mean reward, less 1/2: for tests. */
typedef struct tacit__arm_belief {
    double mean, stddev;
} tacit__arm_belief;
const tacit__arm_belief *tacit__bandit_planner_arms(const tacit__score_planner *planner);

#endif
