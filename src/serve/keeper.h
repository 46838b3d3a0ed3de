/* The keeper: a thread of a service whose store is shared with other processes. It keeps the leases of the
 * learners that this process learns, notices what the others have done, and whether the database went
 * back. A service whose store is its own needs none: its learners have their leases from the start. */
#ifndef TACIT_SERVE_KEEPER_H
#define TACIT_SERVE_KEEPER_H

#include <tacit/service.h>

#include "noise/stream.h"

/* Before the learners are started. */
TACIT_MUST_USE tacit_status tacit__keeper_open(tacit_service *service, const uint8_t *key,
                                               tacit_error *err);
/* After that. */
TACIT_MUST_USE tacit_status tacit__keeper_start(tacit_service *service, tacit_error *err);
/* The thread ends; learners that finish still have their leases, until it is closed. */
/* The database has answered lately. A connection whose packets are lost is given up only after seconds, and
 * nothing can be written meanwhile. */
bool tacit__keeper_hears(const tacit_service *service);
void tacit__keeper_stop(tacit_service *service);
void tacit__keeper_close(tacit_service *service);

#endif
