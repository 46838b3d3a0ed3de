/* Weighted counts: the release that planners with rare releases see.
 *
 * A visit of a row, (table, state, action), counts with a weight that was public before the user
 * came, and as much of it as the user's budget leaves (contribute/user_share.h). A row's moves sum
 * to its visits, up to the noise. Row-major as in board/counts.h. */
#ifndef TACIT_BOARD_WEIGHTED_COUNTS_H
#define TACIT_BOARD_WEIGHTED_COUNTS_H

#include <stdint.h>

#include "board/counts.h"

typedef struct tacit__weighted_counts {
    uint64_t users;        /* 0: there has been no release */
    const double *visits;  /* [rows] */
    const double *moves;   /* [rows][states] */
    const double *rewards; /* [rows], of r - 1/2 */
    const double *starts;  /* [states]: users that began there */
    const double *sampled; /* [rows]: visits by whose chance rewards are off; NULL: visits */
    /* standard deviations of a cell's noise; 0: exact; infinite: not told. Visits or moves are told,
     * and moves are unless there is one step, or one state. */
    double visits_stddev, moves_stddev, rewards_stddev, starts_stddev;
} tacit__weighted_counts;

#endif
