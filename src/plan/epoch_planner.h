/* Planners in epochs: the table that makes an algorithm for bandits with numbered contexts one.
 *
 * In each epoch users act by one mixed policy and add y v(w), a vector for each pair of a context and an
 * action, no longer than 1. When it is over, its sum is shown, and the next epoch is made of what was shown.
 * The last epoch releases nothing. Who adds, and with which noise, is no business of a planner. */
#ifndef TACIT_PLAN_EPOCH_PLANNER_H
#define TACIT_PLAN_EPOCH_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

/* The epoch that is being played. Users of the last one are not needed: nothing follows it. */
typedef struct tacit__epoch {
    size_t number, n_epochs; /* from 0 */
    uint64_t users;
    /* [n_epochs] users until each is over; public, and fixed from the beginning */
    const uint64_t *ends;
    bool last;
    const double *mixed; /* [contexts][actions]: how to play */
    size_t p, most;      /* numbers of a vector; of those of any epoch, at most */
    const double *v;     /* [rows][p]: the vectors; of no use in the last epoch, */
    const size_t *place; /* [pairs] -> row, or SIZE_MAX: there is none; nor is this */
} tacit__epoch;

typedef struct tacit__epoch_planner {
    tacit_status (*create)(const void *options, void **out);
    void (*destroy)(void *planner); /* accepts NULL */
    /* Prepares the first epoch. `scale` is that of the noise in released sums of unit vectors, which is known
     * only when their dimension is; 0: none. */
    void (*start)(void *planner, double scale);
    tacit__epoch (*get)(const void *planner);
    /* The epoch is over: `sum` is what its users added, noisy or not. */
    void (*close)(void *planner, const double *sum);
} tacit__epoch_planner;

#endif
