/* Optimism in linear bandits: LinUCB, on exact or noisy sums. */
#ifndef TACIT_PLAN_PAPERS_LIN_UCB_H
#define TACIT_PLAN_PAPERS_LIN_UCB_H

#include <stdbool.h>

#include <tacit/status.h>

#include "base/bytes.h"
#include "board/moments.h"

typedef struct tacit__lin_ucb_options {
    size_t dimension, blocks, n_actions;
    uint64_t users;
    double bonus_scale;    /* omega; 1 is the theorem */
    double regularizer;    /* lambda */
    double failure;        /* that the confidence sets fail */
    double parameter_norm; /* S: |theta| <= S, for rewards in [-1, 1] */
    double shift;          /* multiples of the noise's norm that are added to the Gram matrix, */
    bool raise;            /* or that its eigenvalues are raised to */
} tacit__lin_ucb_options;

typedef struct tacit__lin_ucb tacit__lin_ucb;

TACIT_MUST_USE tacit_status tacit__lin_ucb_create(const tacit__lin_ucb_options *options,
                                                  tacit__lin_ucb **out);
void tacit__lin_ucb_destroy(tacit__lin_ucb *planner);

/* Follows a release; true if the policy may have changed. */
bool tacit__lin_ucb_update(tacit__lin_ucb *planner, const tacit__moments *moments);

/* Returns how many doubles of scratch `act` needs. */
size_t tacit__lin_ucb_act_scratch(const tacit__lin_ucb *planner);
/* The action for features [actions][d] (one block) or [d] (a block for each action), scaled so that
 * they are at most 1 long. Ties are broken by chance in [0, 1); *probability is that of the action.
 * It writes scores[actions]. */
uint32_t tacit__lin_ucb_act(const tacit__lin_ucb *planner, const double *features, double chance,
                            double *probability, double *scores, double *scratch);

/* Another planner that acts as this one does now, and does nothing else. */
TACIT_MUST_USE tacit_status tacit__lin_ucb_copy(const tacit__lin_ucb *planner,
                                                tacit__lin_ucb **out);

/* Everything that the next look depends on, so that a factorization that has followed its sums goes
 * on with the same rounding, as part of a saved state (base/bytes.h). Numbers of 64 bits only. */
void tacit__lin_ucb_fields(tacit__lin_ucb *planner, tacit__saved *s);

/* Writes, for tests, theta[d] of a block, and the width's multiplier. */
void tacit__lin_ucb_estimate(const tacit__lin_ucb *planner, size_t i, double *theta, double *beta);

#endif
