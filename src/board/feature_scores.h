/* Features as scores: a public table of features on a lattice, and how what a user adds is laid out. The
 * planner makes the table, the curator adds by it, and the planner sees the sums.
 *
 * With phi the features of what a user did at step h, s' the state that followed and y the reward, a user
 * adds
 *
 *     transitions [H - 1][S][d]:  phi in the row of s';        nothing follows the last step
 *     rewards     [H][d]:         phi (2 y - 1).
 *
 * In lattice steps of 2^-bits, bits = feature_bits + reward_bits, all of this is exact: phi is an integer
 * times 2^reward_bits, and 2 y - 1 = (2 Y - 2^reward_bits) / 2^reward_bits for y = Y / 2^reward_bits. */
#ifndef TACIT_BOARD_FEATURE_SCORES_H
#define TACIT_BOARD_FEATURE_SCORES_H

#include <stddef.h>
#include <stdint.h>

typedef struct tacit__feature_scores {
    size_t n_states, n_actions, horizon, dimension;
    int feature_bits, reward_bits;
    const int32_t *features; /* [state][action][dimension], of length at most 2^feature_bits */
} tacit__feature_scores;

static inline int tacit__feature_scores_bits(const tacit__feature_scores *f)
{
    return f->feature_bits + f->reward_bits;
}

/* Where the rewards of step h begin, and with h = H how many numbers there are; transitions begin at 0. */
static inline size_t tacit__feature_scores_rewards(const tacit__feature_scores *f, size_t h)
{
    return ((f->horizon - 1) * f->n_states + h) * f->dimension;
}

#endif
