/* A thread of a service that shares its store with other processes. It renews the leases of the learners that
 * learn in this process, follows what the other processes write, and notices if the database went back to an
 * earlier state. A service with a store of its own needs no such thread: its learners have their leases from
 * the start. */
#ifndef TACIT_SERVE_STORE_SYNC_H
#define TACIT_SERVE_STORE_SYNC_H

#include <tacit/service.h>

#include "noise/stream.h"

/* Called before the learners are started. */
TACIT_MUST_USE tacit_status tacit__store_sync_open(tacit_service *service, const uint8_t *key,
                                                   tacit_error *err);
/* Called after the learners are started. */
TACIT_MUST_USE tacit_status tacit__store_sync_start(tacit_service *service, tacit_error *err);
/* Whether the database has answered within the last seconds. A connection whose packets are lost is given up
 * only after some seconds, and nothing can be written meanwhile. */
bool tacit__store_sync_is_connected(const tacit_service *service);
/* Ends the thread. Learners that are finishing keep their leases until `close`. */
void tacit__store_sync_stop(tacit_service *service);
void tacit__store_sync_close(tacit_service *service);

#endif
