/* The context of a request as features: plain numbers, or the encoded values of named columns. */
#ifndef TACIT_SERVE_PEOPLE_CONTEXT_H
#define TACIT_SERVE_PEOPLE_CONTEXT_H

#include "serve/config.h"
#include "serve/http/request.h"

/* The value of `key` as out[per_user]: an array of this many numbers or, where columns are named, an object
 * with their values. *has is whether it is there; a NULL `has` means that it must be. What lies outside
 * the columns is refused, or encoded as the nearest that is inside, as the learner's `outside` says; the
 * request's `outside` is then set. Returns false if the request was refused. */
bool tacit__context_read(const tacit__body *b, const tacit__learner_config *c, const char *key,
                         bool *has, double *out);

#endif
