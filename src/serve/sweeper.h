/* The thread that maintains the store once a second. It removes episodes and answers that have expired,
 * stores the service clock, and tries to write to a store that has failed, so that its recovery is noticed
 * even if there are no other writes. */
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
