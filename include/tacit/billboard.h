/* What passes between an agent and its users: the billboard that users act by, where they stand,
 * and what happened to them. */
#ifndef TACIT_BILLBOARD_H
#define TACIT_BILLBOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* At most one of policy [horizon][states] and mixed [horizon][states][actions] is set, both live
 * until the next call; neither where states are not numbered: then only tacit_agent_act tells.
 * `version` grows when the policy changes. */
typedef struct tacit_billboard {
    uint64_t version;
    const uint32_t *policy;
    const double *mixed;
} tacit_billboard;

/* Where a user stands: at this step (from 0), in this state or, where states are not numbered, with
 * these features of each action [actions][dimension] (of the context alone, [dimension], in bandit
 * worlds with disjoint actions). */
typedef struct tacit_situation {
    size_t step;
    uint32_t state;
    const double *features;
} tacit_situation;

/* One user: states[horizon + 1], actions[horizon], rewards[horizon], in [0, 1] or in the declared range;
 * where states are not numbered, features[horizon + 1][actions][dimension] instead of states. In bandit
 * worlds there is one step, what would follow it is not looked at, and features are as in tacit_situation.
 * What does not fit is refused and changes nothing, or is cut, as tacit_agent_request.outside says.
 *
 * An episode may end before the horizon: after `length` steps, in states[length] (or features[length]).
 * Nothing after that is looked at. The end counts as a state that is never left and in which every reward is
 * 0, whatever the action: learners see exactly the episode that goes on there, with the billboard's actions,
 * so the space needs a state that means the end. An episode that was only stopped, by a limit on time for
 * example, has no such state and must not be told as ended. 0: the episode has `horizon` steps, as in bandit
 * worlds always. */
typedef struct tacit_trajectory {
    const uint32_t *states, *actions;
    const double *rewards;
    const double *features;
    size_t length;
} tacit_trajectory;

#ifdef __cplusplus
}
#endif

#endif
