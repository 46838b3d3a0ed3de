/* The thread that looks after the store once a second: episodes and answers that are too old end, the
 * service clock is written down, and a store that could not be written is tried again, so that it is found
 * to have recovered although nobody writes. */
#ifndef TACIT_SERVE_SWEEPER_H
#define TACIT_SERVE_SWEEPER_H

#include <tacit/service.h>

/* Seconds without a commit after which the store counts as stuck: the clock is written every minute, so
 * two were missed. */
enum { TACIT__STUCK_SECONDS = 150 };

TACIT_MUST_USE tacit_status tacit__sweeper_start(tacit_service *service, tacit_error *err);
/* Ends it, and writes the clock down. Accepts a service whose sweeper never started. */
void tacit__sweeper_stop(tacit_service *service);

#endif
