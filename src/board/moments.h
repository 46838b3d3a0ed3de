/* What passes between the rooms of a bandit learner: the releases that planners see. Plain data. */
#ifndef TACIT_BOARD_MOMENTS_H
#define TACIT_BOARD_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Sums of x x^T and x y over users 1 .. users, |x| <= 1 and |y| <= 1, noisy or exact; one block for
 * all actions, or one for each. */
typedef struct tacit__moments {
    uint64_t users;
    uint64_t version;       /* grows with every release */
    const double *gram;     /* [blocks][d (d + 1) / 2], packed as in linalg/symmetric.h */
    const double *response; /* [blocks][d] */
    double gram_stddev;     /* of the noise in every packed coordinate; 0: exact */
    double response_stddev;
    /* Exact sums only: the last user's x and block, so that a factorization can follow; NULL: none yet. */
    const double *last;
    size_t last_block;
} tacit__moments;

/* Exact sums over rounds of a bandit with finitely many pairs of a context and an action: how often each was
 * played, and what it brought, [pairs]. */
typedef struct tacit__pair_sums {
    const double *count, *sum;
} tacit__pair_sums;

#endif
