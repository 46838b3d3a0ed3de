/* Access to the service: the tokens of the store, as they were when last read. */
#ifndef TACIT_SERVE_HTTP_ACCESS_H
#define TACIT_SERVE_HTTP_ACCESS_H

#include "serve/http/request.h"

typedef struct tacit__bearer_row tacit__bearer_row;

/* Reads the tokens of the store; on failure those that were known stay. */
TACIT_MUST_USE tacit_status tacit__access_read(tacit_service *service, tacit_error *err);

/* Whether the bearer of this header may use a route of this scope; sets r->bearer. False: refused. */
bool tacit__access_check(tacit__request *r, const char *authorization, unsigned scope);

/* The request was as many more: a batch. Its bearer waits for them afterwards (limits.rate), since
 * a batch may be larger than what a token may ask at once. */
void tacit__access_charge(const tacit__request *r, size_t more);

#endif
