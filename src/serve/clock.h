/* The service clock: seconds that a service has run, by which episodes and kept answers grow old.
 *
 * It begins at the time on the wall when a store is made, goes on from where the store says at every
 * start, and advances with CLOCK_MONOTONIC while the service runs. So setting the clock on the wall, by
 * hand or by a machine that woke up in 1970, ages nothing, and neither does time in which nothing was
 * served: a service that was down, or a machine that slept, which is why it is not CLOCK_BOOTTIME. A crash
 * loses what was not yet written, a minute at most (serve/sweeper.c), and things live that much longer.
 *
 * Only differences of this clock mean something. What users are told is translated into time on the wall,
 * as an estimate. */
#ifndef TACIT_SERVE_CLOCK_H
#define TACIT_SERVE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

typedef struct tacit__clock {
    int64_t base; /* what it showed at `start` */
    struct timespec start;
    atomic_int_fast64_t ahead; /* of it, the clock on the wall, when that was last looked at */
} tacit__clock;

/* From now on it shows `seconds` and more. */
void tacit__clock_start(tacit__clock *clock, int64_t seconds);
int64_t tacit__clock_now(const tacit__clock *clock);
/* When this clock will show `seconds`, in seconds since 1970, if the service runs until then and the clock
 * on the wall is right. The same again for the same `seconds` while neither is set. */
int64_t tacit__clock_to_wall(tacit__clock *clock, int64_t seconds);

#endif
