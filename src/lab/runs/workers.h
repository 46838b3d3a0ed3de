/* Threads that play jobs, and what they share. */
#ifndef TACIT_LAB_WORKERS_H
#define TACIT_LAB_WORKERS_H

#include "base/crew.h"
#include "base/wait.h"
#include "lab/runs/lab_worlds.h"

/* The job of a slot at some moment. */
typedef struct tacit__slot_state {
    size_t job, points;
    uint64_t episodes;
    double since;
} tacit__slot_state;

/* The time that the finished jobs of a pair took. */
typedef struct tacit__pace {
    double seconds, episodes;
} tacit__pace;

typedef struct tacit__workers {
    const tacit_experiment *experiment;
    tacit_results *results;
    tacit__lab_world *lab_worlds;
    tacit__crew crew;

    /* Slots of the threads here, then those of other processes, n_threads for each. */
    tacit__worker_slot *slots;
    size_t n_slots;

    /* All that follows is guarded by the crew's lock. */
    uint32_t *finished; /* [results->n_jobs], in the order in which they were */
    double *lasted;     /* [results->n_jobs], how long they took by the clock */
    size_t n_finished;
    size_t n_earlier;   /* jobs that were found finished; not in the list */
    uint32_t *earlier;  /* [results->n_pairs], how many of them for each pair */
    tacit__pace *paces; /* [results->n_pairs] */

    /* The watcher's own. */
    tacit__slot_state *seen;    /* [n_slots] */
    tacit_lab_running *running; /* [n_slots] */
    uint64_t reported;          /* episodes, last time */
} tacit__workers;

/* `results` and `lab_worlds` must outlive the workers. There are `n_processes` times `n_threads`
 * slots. The list of jobs is empty. */
TACIT_MUST_USE tacit_status tacit__workers_create(tacit_results *results, size_t n_threads,
                                                  size_t n_processes, tacit__workers **out,
                                                  tacit_error *err);
/* After all threads have ended. */
void tacit__workers_destroy(tacit__workers *workers);

/* A job was finished, its results are in their place. `seconds`: how long it took by the clock. */
void tacit__workers_finish_job(tacit__workers *workers, size_t job, double seconds);

/* False if the slot is empty. */
bool tacit__slot_read(tacit__worker_slot *slot, tacit__slot_state *out);

/* Only the watcher may call this; `running` lives until the next call. */
void tacit__workers_measure(tacit__workers *workers, double start, tacit_lab_progress *out);

#endif
