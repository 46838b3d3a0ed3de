/* What deciding and observing have in common. */
#ifndef TACIT_SERVE_JOINT_H
#define TACIT_SERVE_JOINT_H

#include "serve/learner.h"
#include "serve/request.h"

/* The learner of a ticket that is not too old; NULL: refused. */
tacit__learner *tacit__joint_learner(tacit__request *r, const tacit__ticket *ticket);

/* A state, or features for each action, into `state` or `features` (to be freed). False: refused. *has: it was given; a NULL
 * `has` means that it must be. With `next` it is where an action has led to. */
bool tacit__joint_read_place(const tacit__body *b, const tacit__learner_config *c, bool next,
                             bool *has, uint32_t *state, double **features);

#endif
