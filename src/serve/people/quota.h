/* The number of users that a token may send per day. The store counts them, in the transaction that
 * acknowledges them, so neither a restart nor simultaneous requests exceed the limit. Days are those of the
 * service clock: setting the wall clock does not begin a new day. */
#ifndef TACIT_SERVE_PEOPLE_QUOTA_H
#define TACIT_SERVE_PEOPLE_QUOTA_H

#include "serve/http/request.h"

/* Sets the quota of the token of this request for a user, who is checked against it when they are added. */
void tacit__quota_set(const tacit__request *r, tacit__vault_user *user);
/* Refuses the request because the quota is used up. */
void tacit__quota_refuse(tacit__request *r);

#endif
