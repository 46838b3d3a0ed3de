/* Private-UCB-VI and Private-UCB-PO [CZ22]: optimism from plain noisy ratios, greedy or by policy
 * optimization. */
#ifndef TACIT_PLAN_PAPERS_PRIVATE_UCB_H
#define TACIT_PLAN_PAPERS_PRIVATE_UCB_H

#include "plan/planner.h"

extern const tacit__planner tacit__private_ucb_vi;
/* Its own setting: step_size, eta; 0: sqrt(2 ln A / (H^2 K)). */
extern const tacit__planner tacit__private_ucb_po;

#endif
