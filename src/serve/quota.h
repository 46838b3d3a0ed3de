/* Users that a token may bring in a day. They are counted in the store, in the transaction that
 * acknowledges them, so that neither a restart nor two requests at once bring more. A day is one of the
 * service clock: a clock that is set opens no new one. */
#ifndef TACIT_SERVE_QUOTA_H
#define TACIT_SERVE_QUOTA_H

#include "serve/request.h"

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
