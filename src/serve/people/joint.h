/* What deciding and observing have in common. */
#ifndef TACIT_SERVE_PEOPLE_JOINT_H
#define TACIT_SERVE_PEOPLE_JOINT_H

#include "serve/http/request.h"
#include "serve/learner/learner.h"

/* The learner of a ticket that is not too old; NULL: refused. */
tacit__learner *tacit__joint_learner(tacit__request *r, const tacit__ticket *ticket);

/* Whether no user is accepted, since the store must not learn; then the request was refused. */
bool tacit__joint_is_closed(tacit__request *r);

/* The user's id, of the body or the header. False: refused. */
enum { TACIT__MAX_USER = 256 }; /* bytes */
bool tacit__joint_read_user(const tacit__body *body, const tacit__learner_config *config, bool *has,
                            char id[TACIT__MAX_USER + 1]);
/* What the store knows a person by: a keyed hash of the learner's number and the id. */
void tacit__joint_hash_user(const tacit_service *service, int64_t learner, const char *id,
                            uint8_t person[TACIT__VAULT_KEY]);

/* The word for a person who has taken part as often as they may. */
const char *tacit__joint_returning(const tacit__learner_config *config);

#endif
