/* The number of users that a token may send per day. The store counts them, in the transaction that
 * acknowledges them, so neither a restart nor simultaneous requests exceed the limit. Days are those of the
 * service clock: setting the wall clock does not begin a new day. */
#ifndef TACIT_SERVE_PEOPLE_QUOTA_H
#define TACIT_SERVE_PEOPLE_QUOTA_H

#include "serve/http/request.h"

/* Whether the token of this request may bring one more user; to be asked before anything is kept. */
TACIT_MUST_USE tacit_status tacit__quota_check(const tacit__request *r, tacit__vault *vault,
                                               bool *may, tacit_error *err);
/* Says that it will be asked. */
void tacit__quota_expect(const tacit__request *r, tacit__vault *vault);
/* One was taken. */
TACIT_MUST_USE tacit_status tacit__quota_use(const tacit__request *r, tacit__vault *vault,
                                             tacit_error *err);
/* Answers that it may not. */
void tacit__quota_refuse(tacit__request *r);

#endif
