/* One job: one agent plays one run. */
#ifndef TACIT_LAB_PLAY_H
#define TACIT_LAB_PLAY_H

#include <stdalign.h>
#include <stdatomic.h>

#include <tacit/lab.h>

/* All jobs in one world share this. */
typedef struct tacit__lab_world {
    const tacit_experiment *experiment;
    size_t number; /* of the world */
    tacit_world *world;
    double optimal;     /* the best policy's value, with rewards in [0, 1] */
    double unit;        /* what a reward of 1 is in original units */
    const uint64_t *at; /* the curve's episodes, ascending, the last is the number of episodes */
    atomic_bool *stop;  /* checked before every episode */
} tacit__lab_world;

/* The progress of a worker's job, which other threads may read. A cache line each, since neighboring slots
 * are written at the same time. */
typedef struct tacit__worker_slot {
    alignas(64) atomic_uint_fast64_t episodes; /* played */
    atomic_size_t points;                      /* of the curve that are there */
    atomic_size_t job;                         /* or TACIT__NO_JOB */
    _Atomic double since;                      /* when it began */
} tacit__worker_slot;

/* Plays and fills *job and curve; the slot shows progress. When stopped, job->done is false and the rest
 * is undefined; that is no failure. */
TACIT_MUST_USE tacit_status tacit__play(const tacit__lab_world *lab_world, size_t agent,
                                        uint64_t run, tacit__worker_slot *slot, double *curve,
                                        tacit_job *job, tacit_error *err);

/* Seconds of processor time that a user takes at least, from the second on, in a trial of about this
 * length: some plan anew for each user, others more and more rarely. 0: not known, as in bandit worlds. */
double tacit__play_pace(const tacit__lab_world *lab_world, size_t agent, double seconds);

#endif
