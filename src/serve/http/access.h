/* Access to the service: the tokens of the store as of the last read. */
#ifndef TACIT_SERVE_HTTP_ACCESS_H
#define TACIT_SERVE_HTTP_ACCESS_H

#include "serve/http/request.h"

typedef struct tacit__bearer_row tacit__bearer_row;

/* Reads the tokens of the store. On failure the known tokens stay. */
TACIT_MUST_USE tacit_status tacit__access_read(tacit_service *service, tacit_error *err);

/* Checks whether the bearer of this header may use a route of this scope, and sets r->bearer. Returns false
 * if the request was refused. */
bool tacit__access_check(tacit__request *r, const char *authorization, unsigned scope);

/* Charges the bearer for the further requests of a batch. A batch may be larger than what a token may ask at
 * once, so the bearer waits for them afterwards (limits.rate). */
void tacit__access_charge(const tacit__request *r, size_t more);

#endif
