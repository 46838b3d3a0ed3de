/* The read connections behind tacit__service_acquire_reader (serve/service_inside.h). */
#ifndef TACIT_SERVE_READ_POOL_H
#define TACIT_SERVE_READ_POOL_H

#include "serve/service_inside.h"

TACIT_MUST_USE tacit_status tacit__read_pool_open(tacit_service *service, const uint8_t *key,
                                                  tacit_error *err);
/* Accepts a pool that was opened only in part. */
void tacit__read_pool_close(tacit_service *service);
/* Ends all snapshots, so that no reader keeps the log in use unless a search begins meanwhile. */
void tacit__read_pool_end_snapshots(void *service);

#endif
