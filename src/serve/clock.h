/* The service clock: the seconds that a service has run. It decides when episodes and stored answers expire.
 *
 * It begins with the wall-clock time when a store is created, continues at every start from the value in the
 * store, and advances with CLOCK_MONOTONIC while the service runs. So setting the wall clock, by hand or
 * because a machine woke up in 1970, does not make anything expire. Neither does time in which the service
 * was down or the machine slept, which is why the clock is not CLOCK_BOOTTIME. A crash loses what was not yet
 * written, at most a minute (serve/sweeper.c), and everything expires that much later.
 *
 * Only differences of this clock have a meaning. Times in answers are converted to wall-clock time, as an
 * estimate. */
#ifndef TACIT_SERVE_CLOCK_H
#define TACIT_SERVE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

typedef struct tacit__clock {
    int64_t base; /* the value of the clock at `start` */
    struct timespec start;
    /* how far the wall clock was ahead of this clock when it was last read */
    atomic_int_fast64_t ahead;
} tacit__clock;

/* Starts the clock at `seconds`. */
void tacit__clock_start(tacit__clock *clock, int64_t seconds);
int64_t tacit__clock_now(const tacit__clock *clock);
/* The wall-clock time, in seconds since 1970, at which this clock will show `seconds`, if the service runs
 * until then and the wall clock is right. The result is the same for the same `seconds` as long as neither
 * clock is set. */
int64_t tacit__clock_to_wall(tacit__clock *clock, int64_t seconds);

#endif
