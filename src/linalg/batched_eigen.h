/* Many small systems of equations at once, with matrices that noise may have left indefinite. */
#ifndef TACIT_LINALG_BATCHED_EIGEN_H
#define TACIT_LINALG_BATCHED_EIGEN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TACIT__LANES = 16,      /* systems side by side */
    TACIT__LANES_ORDER = 16 /* the largest that are worth it; LAPACK is faster from there on */
};

/* n <= TACIT__LANES systems (M + add I) x = b of order d <= TACIT__LANES_ORDER. Each is a packed M
 * (symmetric.h) followed by b, `stride` numbers after the last. */
typedef struct tacit__lanes_problem {
    size_t d, n, stride;
    const double *packed;
    double add;
    double floor;     /* > 0: of the eigenvalues of M + add I */
    bool exact;       /* M is not below 0: no eigenvalue is looked at */
    double *factor;   /* out: [n][d][d], lower triangles by columns of L with L L^T = M + add I */
    double *solution; /* out: [n][d] */
} tacit__lanes_problem;

/* How many doubles of scratch the next one needs. */
size_t tacit__lanes_scratch(size_t d);

/* Solves. Where an eigenvalue of M + add I is below `floor`, the matrix is replaced by the nearest one with
 * none, up to a part in 10^9; returns in how many. failed[n]: a matrix that even so has no factor, whose
 * results are no numbers to use. Others are those of tacit__cholesky and tacit__solve, bit for bit, unless
 * repaired. */
size_t tacit__lanes_fit(const tacit__lanes_problem *problem, double *scratch, bool *failed);

#endif
