/* What deciding and observing have in common. */
#ifndef TACIT_SERVE_JOINT_H
#define TACIT_SERVE_JOINT_H

#include "serve/learner.h"
#include "serve/request.h"

/* The learner of a ticket that is not too old; NULL: refused. */
tacit__learner *tacit__joint_learner(tacit__request *r, const tacit__ticket *ticket);

/* Whether nothing is taken from anybody, since the store must not learn; then it was refused. */
bool tacit__joint_is_closed(tacit__request *r);

/* What an answer has if nothing is learned: `,"learned":false`, else "". */
const char *tacit__joint_learned(bool learned);

#endif
