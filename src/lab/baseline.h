/* The values of baselines, which do not learn, so that one number is enough; and baselines as agents, for
 * programs that play the users themselves. */
#ifndef TACIT_LAB_BASELINE_H
#define TACIT_LAB_BASELINE_H

#include <tacit/agent.h>
#include <tacit/world.h>

#include "agents/family.h"

/* The row of a baseline; NULL: there is none of this name. */
const tacit__agent_row *tacit__baseline_row(const char *name);

/* The value of a baseline's policy in a world, with rewards in [0, 1], exactly. */
TACIT_MUST_USE tacit_status tacit__baseline_value(const char *name, const tacit_world *world,
                                                  double *value, tacit_error *err);

/* The best single action of a world: exact for tables; for bandits it is the best one for the people of the
 * first `rounds` rounds, whose chance comes from `root`. */
TACIT_MUST_USE tacit_status tacit__baseline_constant(const tacit_world *world, uint64_t rounds,
                                                     tacit_noise *root, uint32_t *out,
                                                     tacit_error *err);

/* An agent that always takes one action or, if `action` is request->n_actions, a random one. The request
 * names the baseline. */
TACIT_MUST_USE tacit_status tacit__baseline_agent_create(const tacit_agent_request *request,
                                                         uint32_t action, tacit_agent **out,
                                                         tacit_error *err);

/* Returns whether something can be planned in this world without data: no_data.c. */
bool tacit__no_data_fits(const tacit_world *world);
TACIT_MUST_USE tacit_status tacit__no_data_value(const tacit_world *world, double *scratch,
                                                 double *value, tacit_error *err);

#endif
