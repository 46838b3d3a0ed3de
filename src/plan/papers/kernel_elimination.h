/* Elimination in epochs with the exact posterior, without privacy: what private elimination is compared
 * with. */
#ifndef TACIT_PLAN_PAPERS_KERNEL_ELIMINATION_H
#define TACIT_PLAN_PAPERS_KERNEL_ELIMINATION_H

#include "plan/gaussian_process.h"

typedef struct tacit__kernel_elimination_options {
    double bonus_scale; /* omega */
    double failure, norm;
    bool by_variance;        /* play what is known least instead of a uniformly drawn action */
    bool greedy;             /* in the last epoch */
    const uint64_t *lengths; /* of the epochs; copied */
    size_t n_epochs;
} tacit__kernel_elimination_options;

/* All that changes, so that it can be saved. */
typedef struct tacit__kernel_elimination {
    tacit__kernel_elimination_options o;
    uint64_t length[64];
    tacit__gaussian_process *posterior; /* of this epoch; not owned */
    uint64_t in_epoch, epoch;
    bool *active;          /* [pairs] */
    double *mixed, *guess; /* [pairs]: how to play; the last epoch's estimates */
} tacit__kernel_elimination;

TACIT_MUST_USE tacit_status tacit__kernel_elimination_create(
    const tacit__kernel_elimination_options *options, tacit__gaussian_process *posterior,
    tacit__kernel_elimination **out);
void tacit__kernel_elimination_destroy(tacit__kernel_elimination *planner);

/* The action that is known least, ties to the smallest; only with by_variance. */
uint32_t tacit__kernel_elimination_least_known(const tacit__kernel_elimination *planner,
                                               size_t state);

/* One more reward y in [-1/2, 1/2]; true if how to play has changed. */
bool tacit__kernel_elimination_add(tacit__kernel_elimination *planner, size_t pair, double y);

#endif
