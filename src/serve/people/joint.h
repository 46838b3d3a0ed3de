/* What deciding and observing have in common. */
#ifndef TACIT_SERVE_PEOPLE_JOINT_H
#define TACIT_SERVE_PEOPLE_JOINT_H

#include "serve/http/request.h"
#include "serve/learner/learner.h"

/* Finds the learner of a ticket that has not expired. Returns NULL if the request was refused. */
tacit__learner *tacit__joint_learner(tacit__request *r, const tacit__ticket *ticket);

/* Refuses the request, and returns true, if the store must not learn and so accepts no user. */
bool tacit__joint_is_closed(tacit__request *r);

/* Reads the user's id from the body or the header. Returns false if the request was refused. */
enum { TACIT__MAX_USER = 256 }; /* bytes */
bool tacit__joint_read_user(const tacit__body *body, const tacit__learner_config *config, bool *has,
                            char id[TACIT__MAX_USER + 1]);
/* Computes the keyed hash of learner and id by which the store knows a person. */
void tacit__joint_hash_user(const tacit_service *service, int64_t learner, const char *id,
                            uint8_t person[TACIT__VAULT_KEY]);

/* The code for a person who has taken part as often as they may. */
const char *tacit__joint_returning(const tacit__learner_config *config);

#endif
