/* See contribute/user_check.h. */
#include "contribute/user_check.h"

#include <math.h>

#include "base/error.h"

static const char closed[] = "an earlier charge was refused halfway; the sums are closed";

tacit_status tacit__check_step(size_t h, uint32_t action, size_t n_actions, double reward,
                               tacit_error *err)
{
    if (action >= n_actions)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the action is not below %zu", h,
                           n_actions);
    if (!(reward >= 0 && reward <= 1))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the reward is not in [0, 1]", h);
    return TACIT_OK;
}

tacit_status tacit__check_trajectory(const tacit_trajectory *u, size_t n_states, size_t n_actions,
                                     size_t horizon, tacit_error *err)
{
    TACIT__REQUIRE(n_states > 0 && n_actions > 0 && horizon > 0);
    for (size_t h = 0; h <= horizon; h++)
        if (u->states[h] >= n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               n_states);
    for (size_t h = 0; h < horizon; h++)
        TRY(tacit__check_step(h, u->actions[h], n_actions, u->rewards[h], err));
    return TACIT_OK;
}

tacit_status tacit__check_room(bool broken, uint64_t users, uint64_t most, tacit_error *err)
{
    if (broken)
        return tacit__fail(err, TACIT_SYSTEM, "%s", closed);
    if (users >= most)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)most);
    return TACIT_OK;
}

double tacit__visits_within(uint64_t visits, uint64_t apart, uint64_t users)
{
    const uint64_t fit = users > 0 ? 1 + (users - 1) / (apart > 0 ? apart : 1) : 1;
    return fmax(1, (double)(visits < fit ? visits : fit));
}

void tacit__saved_check_curator(tacit__saved *s, bool broken, bool fresh)
{
    if (broken)
        tacit__saved_fail(s, TACIT_SYSTEM, closed);
    if (s->pass == TACIT__CHECK && !fresh)
        tacit__saved_fail(s, TACIT_BAD_ARGUMENT, "a saved learner is loaded into a fresh one");
}
