/* What a user of a bandit without contexts adds: the reward, from its middle, in the cell of the action,
 *
 *     x = (y - 1/2) e_a,
 *
 * and nothing else. How many users took each action need not be told, because they act by public plans.
 *
 * Replace the user. If both took one action, a single cell moves by |y - y'| <= 1; if not, two cells move by
 * at most 1/2 each. So L1 moves by at most 1 and L2 by at most 1: sqrt(1/2) for two actions, 1 for one. Both
 * bounds are attained, by rewards 0 and 1 of one action. Rewards are rounded to the lattice before anything
 * else; 0 and 1 lie on it, so the bounds stay.
 *
 * In steps of 2^-11, y = Y / 2^10 adds 2 Y - 2^10. Sums of scores have one number more, for the only first
 * state, to which nobody adds anything (`start` is 0). */
#include "contribute/arm_rewards.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static void write_reward(const void *context, const tacit_trajectory *u, int64_t *out)
{
    const tacit__score_table *arms = context;
    const int64_t whole = (int64_t)1 << TACIT__REWARD_BITS;
    memset(out, 0, arms->n_actions * sizeof *out);
    out[u->actions[0]] = 2 * llrint(ldexp(u->rewards[0], TACIT__REWARD_BITS)) - whole;
}

tacit__score_form tacit__score_form_of_arms(const tacit__score_table *arms)
{
    TACIT__REQUIRE(arms->n_states == 1 && arms->steps == 0 && arms->reward == 1);
    return (tacit__score_form){
        .n_states = 1,
        .n_actions = arms->n_actions,
        .horizon = 1,
        .numbers = arms->n_actions,
        .bits = TACIT__REWARD_BITS + 1,
        .largest = 1 << TACIT__REWARD_BITS,
        .l1 = 1,
        .l2 = 1,
        .reason =
            "the reward, from its middle, in the cell of the action: one cell moves by at most 1, "
            "or two "
            "by at most 1/2 each; a user is in one batch only, so batches compose in parallel",
        .fading_reason = "the reward, from its middle, in the cell of the action: one cell moves "
                         "by at most 1, or two by "
                         "at most 1/2 each; each sum has a fixed share of the one before it, so a "
                         "user is in later ones "
                         "with powers of that share, whose squares add up",
        .write = write_reward,
        .context = arms,
        .table = arms};
}
