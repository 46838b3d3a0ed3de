/* Whether a trajectory is one of a numbered space. */
#ifndef TACIT_CURATE_USER_CHECK_H
#define TACIT_CURATE_USER_CHECK_H

#include <tacit/billboard.h>

#include "base/error.h"

/* Also of what a learner does not use: users are refused alike, whatever it looks at. */
static inline tacit_status tacit__check_trajectory(const tacit_trajectory *u, size_t n_states,
                                                   size_t n_actions, size_t horizon,
                                                   tacit_error *err)
{
    for (size_t h = 0; h <= horizon; h++)
        if (u->states[h] >= n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               n_states);
    for (size_t h = 0; h < horizon; h++)
        if (u->actions[h] >= n_actions || !(u->rewards[h] >= 0 && u->rewards[h] <= 1))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the action is not below %zu, or the reward not in [0, 1]",
                               h, n_actions);
    return TACIT_OK;
}

#endif
