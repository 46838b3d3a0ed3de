/* Counts: the release that the planner of a tabular learner sees. S states, A actions, H steps;
 * `tables` is H, or 1 when all steps share a model. */
#ifndef TACIT_BOARD_COUNTS_H
#define TACIT_BOARD_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit__space {
    size_t n_states, n_actions, horizon, tables;
} tacit__space;

/* The next states that have followed a pair so far, in order of appearance. */
typedef struct tacit__sparse_row {
    uint32_t *next;
    double *count;
    uint32_t length, capacity;
} tacit__sparse_row;

/* Noisy (or, for the learner without privacy, exact) counts of users 1 .. users. Row-major
 * [table][state][action] and [table][state][action][next state]. */
typedef struct tacit__counts {
    uint64_t users;
    bool again;           /* it is the release that the planner has seen last */
    const double *visits; /* N */
    const double *moves;  /* M; NULL: see rows */
    bool drop_last; /* the moves have no table for the last step, after which nothing follows */
    /* M as a list for each (table, state, action): large spaces, exact counts */
    const tacit__sparse_row *rows;
    const double *rewards; /* sum of r - center */
    double center;         /* 1/2 for centered rewards, else 0 */
    /* With probability 1 - failure/3 every |noisy - exact| is at most this, now and before. 0: exact. */
    double visits_error, moves_error, rewards_error;
    /* Of the noise in a cell, no cell has more. 0: exact. */
    double visits_stddev, moves_stddev, rewards_stddev;
} tacit__counts;

#endif
