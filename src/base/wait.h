/* Waiting by CLOCK_MONOTONIC: a clock that is set must not make anybody wait, or stop waiting. */
#ifndef TACIT_BASE_WAIT_H
#define TACIT_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>

/* Time since some moment in the past. */
double tacit__now_ms(void);
double tacit__now_seconds(void);

/* A condition whose deadlines are times of tacit__now_ms. It is signalled and destroyed as any other. */
void tacit__condition_create(pthread_cond_t *condition);

/* Wait, with the lock, until the condition is signalled or the time is over, which is when they return false; HUGE_VAL never
 * is. They may return true without a signal, as pthread_cond_wait may. */
bool tacit__wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double deadline_ms);
bool tacit__wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, double ms);

#endif
