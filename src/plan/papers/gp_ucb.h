/* GP-UCB: optimism on the exact posterior, without privacy. */
#ifndef TACIT_PLAN_PAPERS_GP_UCB_H
#define TACIT_PLAN_PAPERS_GP_UCB_H

#include "plan/gaussian_process.h"

typedef struct tacit__gp_ucb_options {
    double bonus_scale; /* omega */
    double failure, norm;
} tacit__gp_ucb_options;

/* x = argmax mu + omega beta sigma with beta = B + (R / sqrt(tau)) sqrt(2 (gain + 1 + ln(1 / p))), R = 1/2
 * [SKKS12; CG17, Thm. 3]. Ties to the smallest action. n_actions steps. */
uint32_t tacit__gp_ucb_act(const tacit__gaussian_process *q, const tacit__gp_ucb_options *options,
                           size_t state);

#endif
