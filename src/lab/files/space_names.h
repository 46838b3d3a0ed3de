/* Names in a space: of actions, and of the columns from which features are made. Grammar and encoding are
 * those of the world logged-bandit (worlds/columns.h). */
#ifndef TACIT_LAB_SPACE_NAMES_H
#define TACIT_LAB_SPACE_NAMES_H

#include "lab/files/learner_config.h"
#include "lab/files/yaml.h"

/* `actions: 3`, or `actions: [low, medium, high]`, of a space. */
TACIT_MUST_USE tacit_status tacit__action_names_read_actions(const tacit__node *space,
                                                             tacit__learner_config *out,
                                                             tacit_error *err);
/* `context: 'age 17..90, country {DE | FR}'` with `intercept` and `unit`: how many features there are, and
 * that every action learns its own parameters for them. Nothing if `context` is a number, or not there. */
TACIT_MUST_USE tacit_status tacit__action_names_read_context(const tacit__node *space,
                                                             tacit__learner_config *out,
                                                             tacit_error *err);
void tacit__action_names_free(tacit__learner_config *l);

#endif
