/* Buffered linear Toeplitz: the choice of C for a declared number of users. */
#ifndef TACIT_SUMS_BLT_TUNE_H
#define TACIT_SUMS_BLT_TUNE_H

#include <stdint.h>

#include "sums/returning.h"

enum { TACIT__MAX_BUFFERS = 5 };

/* C(x) = prod (1 - b_j x) / prod (1 - a_j x) = const + sum omega_j / (1 - a_j x), given by
 * one_minus_a and one_minus_b, interlaced and ascending: 1-a_1 < 1-b_1 < 1-a_2 < ... < 1. */
typedef struct tacit__blt {
    unsigned buffers;
    double one_minus_a[TACIT__MAX_BUFFERS], one_minus_b[TACIT__MAX_BUFFERS];
} tacit__blt;

/* The residues omega_j; all positive because of the interlacing. */
void tacit__blt_residues(const tacit__blt *blt, double omega[TACIT__MAX_BUFFERS]);

/* (column norm of C) x (largest row norm of B = A C^-1) over `users` steps: the largest standard
 * deviation of a released prefix at mu = 1 and sensitivity 1, for these visits of one person.
 * Closed form; for more than 64 visits it is interpolated between visits. */
double tacit__blt_error(const tacit__blt *blt, uint64_t users, const tacit__returning *visits);

/* The squared norm of the row of B for that many users. */
double tacit__blt_row_square(const tacit__blt *blt, double users);

/* The best C found for this many users and visits, with as few buffers as come within 0.2 % of the best. For
 * several visits the best is that of the times at which learners learn; the last prefix comes within 1.5 % of
 * its own best. */
tacit__blt tacit__blt_tune(uint64_t users, const tacit__returning *visits);

#endif
