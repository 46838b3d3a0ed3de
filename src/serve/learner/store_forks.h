/* The privacy cost for a person whose data are in several forks of one store. A store that was adopted may
 * have continued elsewhere as well; answers call the number of forks `lives`. */
#ifndef TACIT_SERVE_LEARNER_STORE_FORKS_H
#define TACIT_SERVE_LEARNER_STORE_FORKS_H

#include "serve/learner/learner.h"
#include "store/vault/vault.h"
#include "text/text.h"

/* ,"lives":...,"adoptions":[...] and, if `cost` is not NULL, what that costs a person in all of them:
 * ,"in_all_lives":{...} or null. */
TACIT_MUST_USE tacit_status tacit__store_forks_describe(tacit__vault *vault,
                                                        const tacit__learner *learner,
                                                        const tacit__share *cost, tacit__text *out,
                                                        tacit_error *err);

#endif
