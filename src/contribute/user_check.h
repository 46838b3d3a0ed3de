/* What curators check alike: a user, whether there is room for one, and what a saved state is loaded into. */
#ifndef TACIT_CONTRIBUTE_USER_CHECK_H
#define TACIT_CONTRIBUTE_USER_CHECK_H

#include <tacit/billboard.h>

#include "base/bytes.h"

/* Whether the action and the reward of step h are possible. */
TACIT_MUST_USE tacit_status tacit__check_step(size_t h, uint32_t action, size_t n_actions,
                                              double reward, tacit_error *err);

/* Whether a trajectory is one of a numbered space. Also of what a learner does not use: users are refused
 * alike, whatever it looks at. */
TACIT_MUST_USE tacit_status tacit__check_trajectory(const tacit_trajectory *user, size_t n_states,
                                                    size_t n_actions, size_t horizon,
                                                    tacit_error *err);

/* Whether a curator that has had `users` of the `most` users that it was declared for has room for another.
 * `broken`: a charge was refused halfway through a user, and nothing is released ever after. */
TACIT_MUST_USE tacit_status tacit__check_room(bool broken, uint64_t users, uint64_t most,
                                              tacit_error *err);

/* Visits of one person among `users` users, if any two of them are `apart` apart (0: 1); at least 1. */
double tacit__visits_within(uint64_t visits, uint64_t apart, uint64_t users);

/* Fails if the curator is broken, or if a state is loaded into one that is not `fresh`. */
void tacit__saved_check_curator(tacit__saved *s, bool broken, bool fresh);

#endif
