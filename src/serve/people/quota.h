/* The number of users that a token may send per day. The store counts them, in the transaction that
 * acknowledges them, so neither a restart nor simultaneous requests exceed the limit. Days are those of the
 * service clock: setting the wall clock does not begin a new day. */
#ifndef TACIT_SERVE_PEOPLE_QUOTA_H
#define TACIT_SERVE_PEOPLE_QUOTA_H

#include "serve/http/request.h"

/* Finds out whether the token of this request may send one more user. Called before anything is stored. */
TACIT_MUST_USE tacit_status tacit__quota_check(const tacit__request *r, tacit__vault *vault,
                                               bool *may, tacit_error *err);
/* Announces this read. */
void tacit__quota_expect(const tacit__request *r, tacit__vault *vault);
/* Counts one user. */
TACIT_MUST_USE tacit_status tacit__quota_use(const tacit__request *r, tacit__vault *vault,
                                             tacit_error *err);
/* Refuses the request because the quota is used up. */
void tacit__quota_refuse(tacit__request *r);

#endif
