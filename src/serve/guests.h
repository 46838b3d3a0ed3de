/* Who may use the service: the tokens of the store, as they were when they were last read. */
#ifndef TACIT_SERVE_GUESTS_H
#define TACIT_SERVE_GUESTS_H

#include "serve/request.h"

typedef struct tacit__guest tacit__guest;

/* Reads the tokens of the store; on failure those that were known stay. */
TACIT_MUST_USE tacit_status tacit__guests_read(tacit_service *service, tacit_error *err);

/* Whether the bearer of this header may use a route of this scope; sets r->bearer. False: refused. */
bool tacit__guests_admit(tacit__request *r, const char *authorization, unsigned scope);

/* The request was as many more: a batch. Its bearer waits for them afterwards (limits.rate), since
 * a batch may be larger than what a token may ask at once. */
void tacit__guests_charge(const tacit__request *r, size_t more);

#endif
