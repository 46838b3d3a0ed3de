/* See base/wait.h. Every condition uses CLOCK_MONOTONIC, so deadlines are absolute times of that clock. */
#include "base/wait.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/error.h"

double tacit__now_ms(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

double tacit__now_seconds(void)
{
    return 1e-3 * tacit__now_ms();
}

void tacit__condition_create(pthread_cond_t *condition)
{
    pthread_condattr_t steady;
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &steady);
    (void)pthread_condattr_destroy(&steady);
}

bool tacit__wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double deadline_ms)
{
    TACIT__REQUIRE(condition != NULL && lock != NULL);
    if (!isfinite(deadline_ms)) {
        (void)pthread_cond_wait(condition, lock);
        return true;
    }
    const struct timespec until = {.tv_sec = (time_t)(deadline_ms / 1e3),
                                   .tv_nsec = (long)(1e6 * fmod(deadline_ms, 1e3))};
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

bool tacit__wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, double ms)
{
    return tacit__wait_until(condition, lock, tacit__now_ms() + ms);
}
