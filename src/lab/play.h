/* One job: one agent plays one run. */
#ifndef TACIT_LAB_PLAY_H
#define TACIT_LAB_PLAY_H

#include <stdatomic.h>

#include <tacit/lab.h>

/* What all jobs of an experiment share. */
typedef struct tacit__stage {
    const tacit_experiment *experiment;
    const tacit_world *world;
    double optimal;     /* the best policy's value, with rewards in [0, 1] */
    double unit;        /* what a reward of 1 is in original units */
    const uint64_t *at; /* the curve's episodes, ascending, the last is the number of episodes */
    atomic_bool *stop;  /* looked at before every episode */
} tacit__stage;

/* Plays and fills *job and curve. `episodes` counts along. When stopped, job->done is false and the rest is
 * undefined; that is no failure. */
TACIT_MUST_USE tacit_status tacit__play(const tacit__stage *stage, size_t agent, uint64_t run,
                                        atomic_uint_fast64_t *episodes, double *curve,
                                        tacit_job *job, tacit_error *err);

#endif
