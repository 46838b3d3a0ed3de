/* A crew: threads that take numbered jobs from one list, in its order, until the list is closed and empty.
 *
 * base/parallel.h runs jobs that are all known beforehand; the lab adds some while others run. If every job
 * writes to memory of its own, the result does not depend on which thread ran which job. */
#ifndef TACIT_BASE_CREW_H
#define TACIT_BASE_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#define TACIT__NO_JOB SIZE_MAX

/* `member`: which thread, from 0. */
typedef tacit_status tacit__crew_fn(void *context, size_t member, size_t job, tacit_error *err);

typedef struct tacit__crew {
    tacit__crew_fn *run;
    void *context;
    pthread_t *threads; /* [n_threads] */
    size_t n_threads, n_started;
    atomic_bool stop;

    pthread_mutex_t lock;         /* for all that follows; owners may guard their own with it */
    pthread_cond_t work;          /* there is a job, or there will be none */
    pthread_cond_t changed;       /* a thread ended; owners may signal it for their own */
    uint32_t *jobs;               /* the list; NULL: job i is number i */
    size_t n_jobs, n_begun, room; /* the list has room for this many */
    bool closed;                  /* no job will be added */
    size_t n_members;
    unsigned n_running; /* threads that have not ended */
    size_t failed_job;
    tacit_error failure; /* status TACIT_OK: none */
} tacit__crew;

/* `jobs` [n_jobs] and `threads` are the owner's memory; without `jobs` the list is 0 .. n_jobs - 1, and
 * closed. */
void tacit__crew_create(tacit__crew *crew, tacit__crew_fn *run, void *context, pthread_t *threads,
                        size_t n_threads, uint32_t *jobs, size_t n_jobs);
/* After all threads have ended. */
void tacit__crew_destroy(tacit__crew *crew);

/* False: the list is full. */
TACIT_MUST_USE bool tacit__crew_add(tacit__crew *crew, uint32_t job);
/* No more jobs will be added: threads end when the list is empty. */
void tacit__crew_close(tacit__crew *crew);

/* Starts the threads. Fewer than asked for are enough; none is SYSTEM. */
TACIT_MUST_USE tacit_status tacit__crew_start(tacit__crew *crew, tacit_error *err);
/* Waits for the threads, which end with the list or at `stop`. */
void tacit__crew_join(tacit__crew *crew);
/* Waits for a change, but not longer. Returns whether threads are running. */
bool tacit__crew_wait(tacit__crew *crew, double ms);

/* The next job of the list, or TACIT__NO_JOB; does not wait. */
size_t tacit__crew_next(tacit__crew *crew);
/* Stops everything. Of several failures the one of the first job is kept. */
void tacit__crew_fail(tacit__crew *crew, size_t job, const tacit_error *failure);
void tacit__crew_stop(tacit__crew *crew);

#endif
