/* What passes between an agent and its users: the billboard that users act by, the situations that they
 * are in, and what happened to them. */
#ifndef TACIT_BILLBOARD_H
#define TACIT_BILLBOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* At most one of policy [horizon][states] and mixed [horizon][states][actions] is set; it lives until the
 * next call. Neither is set where states are not numbered: then use tacit_agent_act. `version` grows when
 * the policy changes. */
typedef struct tacit_billboard {
    uint64_t version;
    const uint32_t *policy;
    const double *mixed;
} tacit_billboard;

/* A user's situation: the step (from 0) and the state or, where states are not numbered, the features of
 * each action [actions][dimension] (those of the context alone, [dimension], in bandit worlds with disjoint
 * actions). */
typedef struct tacit_situation {
    size_t step;
    uint32_t state;
    const double *features;
} tacit_situation;

/* One user: states[horizon + 1], actions[horizon], rewards[horizon], in [0, 1] or in the declared range;
 * where states are not numbered, features[horizon + 1][actions][dimension] instead of states. In bandit
 * worlds there is one step, whatever follows it is ignored, and features are as in tacit_situation. Values
 * outside the domain are refused and change nothing, or are clipped, as tacit_agent_request.outside says.
 *
 * An episode may end before the horizon: after `length` steps, in states[length] (or features[length]).
 * Whatever follows is ignored. The end counts as a state that is never left and in which every reward is 0,
 * whatever the action. Learners see the episode as if it continued there with the billboard's actions, so
 * the space needs a state that means the end. An episode that was only stopped, by a time limit for example,
 * has no such state and must not be given as ended. 0: the episode has `horizon` steps, as all episodes of
 * bandit worlds. */
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
