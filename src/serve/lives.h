/* The privacy cost for a person whose data are in several lines of one store. */
#ifndef TACIT_SERVE_LIVES_H
#define TACIT_SERVE_LIVES_H

#include "base/text.h"
#include "serve/learner.h"
#include "store/service_store.h"

/* ,"lives":...,"adoptions":[...] and, if `cost` is not NULL, what that costs a person in all of them:
 * ,"in_all_lives":{...} or null. */
TACIT_MUST_USE tacit_status tacit__lives_describe(tacit__vault *vault,
                                                  const tacit__learner *learner,
                                                  const tacit__share *cost, tacit__text *out,
                                                  tacit_error *err);

#endif
