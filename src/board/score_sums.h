/* Scores of steps: a public table of vectors for what can happen in a step, and sums of them over
 * the users of a batch. The planner makes the table, the curator adds by it, and the planner sees
 * the sums. */
#ifndef TACIT_BOARD_SCORE_SUMS_H
#define TACIT_BOARD_SCORE_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* The same at all steps that are scored. Integers on the lattice of step 2^-bits: what is added is
 * what the table says, without rounding. */
typedef struct tacit__score_table {
    size_t n_states, n_actions;
    size_t steps; /* that are scored, from the first one on */
    size_t width; /* numbers of a score */
    int bits;
    const int32_t *scores; /* [state][action][next state][width] */
} tacit__score_table;

/* A batch that is over: sums [steps][width] of its users' scores, and [states] of a fixed number for
 * each first state. */
typedef struct tacit__score_sums {
    uint64_t users;
    const double *sums, *starts;
} tacit__score_sums;

/* What is known of such sums beforehand: what a user adds for the first state, and the variance of
 * each number's noise, sum + user for each user of the batch; 0: exact. */
typedef struct tacit__score_noise {
    double start, sum, user;
} tacit__score_noise;

#endif
