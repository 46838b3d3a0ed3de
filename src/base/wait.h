/* Waiting by CLOCK_MONOTONIC: setting the wall clock must not lengthen or shorten a wait. */
#ifndef TACIT_BASE_WAIT_H
#define TACIT_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>

/* Time since some moment in the past. */
double tacit__now_ms(void);
double tacit__now_seconds(void);

/* A condition whose deadlines are times of tacit__now_ms. It is signaled and destroyed like any other. */
void tacit__condition_create(pthread_cond_t *condition);

/* Both wait for a signal, with the lock held, and return false when the time is over; HUGE_VAL: no
 * deadline. Like pthread_cond_wait, they may return true without a signal. */
bool tacit__wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double deadline_ms);
bool tacit__wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, double ms);

#endif
