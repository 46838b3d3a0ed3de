/* Threads that play jobs, and what they share. */
#ifndef TACIT_LAB_CREW_H
#define TACIT_LAB_CREW_H

#include "base/wait.h"
#include "lab/stage.h"

/* What a seat plays at some moment. */
typedef struct tacit__glimpse {
    size_t job, points;
    uint64_t episodes;
    double since;
} tacit__glimpse;

/* How long the finished jobs of a pair took. */
typedef struct tacit__pace {
    double seconds, episodes;
} tacit__pace;

typedef struct tacit__crew {
    const tacit_experiment *experiment;
    tacit_results *results;
    tacit__stage *stages;
    atomic_bool stop;

    /* Seats of the threads here, then those of other processes, n_threads for each. */
    tacit__seat *seats;
    size_t n_seats, n_threads;
    pthread_t *threads;
    size_t n_started;

    /* All that follows is guarded. */
    pthread_mutex_t lock;
    pthread_cond_t work;    /* there is a job, or there will be none */
    pthread_cond_t changed; /* a job was finished, or a thread went home */
    uint32_t *jobs;         /* [results->n_jobs] to be played, in this order */
    size_t n_jobs, n_taken;
    bool closed;        /* no job will be added */
    uint32_t *finished; /* [results->n_jobs], in the order in which they were */
    double *lasted;     /* [results->n_jobs], how long they took by the clock */
    size_t n_finished;
    size_t n_earlier;   /* jobs that were found finished; not in the list */
    uint32_t *earlier;  /* [results->n_pairs], how many of them for each pair */
    tacit__pace *paces; /* [results->n_pairs] */
    size_t n_seated;    /* threads that have found their seat */
    unsigned at_work;   /* threads that have not gone home */
    size_t failed_job;
    tacit_error failure; /* status TACIT_OK: none */

    /* The watcher's own. */
    tacit__glimpse *seen;       /* [n_seats] */
    tacit_lab_running *running; /* [n_seats] */
    uint64_t told;              /* episodes, last time */
} tacit__crew;

/* `results` and `stages` must outlive the crew. Seats for `n_processes` times `n_threads`. The list of jobs is
 * empty. */
TACIT_MUST_USE tacit_status tacit__crew_create(tacit_results *results, size_t n_threads,
                                               size_t n_processes, tacit__crew **out,
                                               tacit_error *err);
/* After all threads have gone home. */
void tacit__crew_destroy(tacit__crew *crew);

void tacit__crew_add(tacit__crew *crew, uint32_t job);
/* No more jobs will be added: threads go home when the list is empty. */
void tacit__crew_close(tacit__crew *crew);

/* Starts the threads; fewer than wished for do as well, none is SYSTEM. */
TACIT_MUST_USE tacit_status tacit__crew_start(tacit__crew *crew, tacit_error *err);
/* Waits for the threads, which go home at the end of the list or at `stop`. */
void tacit__crew_join(tacit__crew *crew);

/* The next job of the list, or TACIT__NO_JOB: now, never waiting. */
size_t tacit__crew_take(tacit__crew *crew);
/* A job was finished, its results are in their place. `seconds`: how long it took by the clock. */
void tacit__crew_finish(tacit__crew *crew, size_t job, double seconds);
/* Stops everything; of several failures the one of the first job is told. */
void tacit__crew_fail(tacit__crew *crew, size_t job, const tacit_error *failure);
void tacit__crew_stop(tacit__crew *crew);

/* False if the seat is empty. */
bool tacit__seat_look(tacit__seat *seat, tacit__glimpse *out);

/* For the watcher alone; `running` lives until the next call. */
void tacit__crew_measure(tacit__crew *crew, double start, tacit_lab_progress *out);

#endif
