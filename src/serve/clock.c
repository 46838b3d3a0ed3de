/* See serve/clock.h. */
#include "serve/clock.h"

void tacit__clock_start(tacit__clock *clock, int64_t seconds)
{
    clock->base = seconds;
    (void)clock_gettime(CLOCK_MONOTONIC, &clock->start);
    atomic_store(&clock->ahead, (int64_t)time(NULL) - seconds);
}

int64_t tacit__clock_now(const tacit__clock *clock)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return clock->base + (int64_t)(now.tv_sec - clock->start.tv_sec) -
           (now.tv_nsec < clock->start.tv_nsec);
}

int64_t tacit__clock_to_wall(tacit__clock *clock, int64_t seconds)
{
    enum { JITTER = 2 }; /* seconds: two clocks that are read one after the other, rounded down */
    int64_t ahead = (int64_t)time(NULL) - tacit__clock_now(clock);
    int64_t known = atomic_load(&clock->ahead);
    if (ahead - known >= JITTER || known - ahead >= JITTER)
        atomic_store(&clock->ahead, known = ahead);
    return seconds + known;
}
