/* The privacy cost for a person whose data are in several lines of one store. */
#ifndef TACIT_SERVE_LIVES_H
#define TACIT_SERVE_LIVES_H

#include <tacit/plan.h>

#include "base/text.h"
#include "serve/learner.h"
#include "store/service_store.h"

/* Learner and monitor together (plans may be NULL), in `lives` lines. False: there is no number. A report
 * of a device is made once, with its noise, whatever is done with it afterwards: under local privacy lines
 * cost nothing. */
bool tacit__lives_cost(const tacit_plan *plan, const tacit_guarantee *guarantee,
                       const tacit_plan *monitor, const tacit_guarantee *of_monitor, uint64_t lives,
                       tacit_guarantee *out);

/* ,"lives":...,"adoptions":[...] and, if `cost`, ,"in_all_lives":{...} or null. */
TACIT_MUST_USE tacit_status tacit__lives_describe(tacit__vault *vault,
                                                  const tacit__learner *learner, bool cost,
                                                  tacit__text *out, tacit_error *err);

#endif
