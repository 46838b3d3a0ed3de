/* See tacit__service_read in serve/service_inside.h. */
#ifndef TACIT_SERVE_READINGS_H
#define TACIT_SERVE_READINGS_H

#include "serve/service_inside.h"

TACIT_MUST_USE tacit_status tacit__readings_open(tacit_service *service, const uint8_t *key,
                                                 tacit_error *err);
/* Whatever of it was opened. */
void tacit__readings_close(tacit_service *service);
/* No reader keeps the log in use, except for a search that begins meanwhile. */
void tacit__readings_end_snapshots(void *service);

#endif
