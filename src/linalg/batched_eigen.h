/* Many small systems of equations at once, with matrices that noise may have left indefinite. */
#ifndef TACIT_LINALG_BATCHED_EIGEN_H
#define TACIT_LINALG_BATCHED_EIGEN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TACIT__EIGEN_BATCH = 16, /* systems that are solved side by side, one in each lane */
    TACIT__EIGEN_ORDER = 16  /* the largest order that is worth it; above it LAPACK is faster */
};

/* n <= TACIT__EIGEN_BATCH systems (M + add I) x = b of order d <= TACIT__EIGEN_ORDER. Each is a packed M
 * (symmetric.h) followed by b, `stride` numbers after the last. */
typedef struct tacit__eigen_batch {
    size_t d, n, stride;
    const double *packed;
    double add;
    double floor;     /* > 0: of the eigenvalues of M + add I */
    bool exact;       /* M is not below 0: no eigenvalue is looked at */
    double *factor;   /* out: [n][d][d], lower triangles by columns of L with L L^T = M + add I */
    double *solution; /* out: [n][d] */
} tacit__eigen_batch;

/* The number of doubles of scratch that tacit__eigen_batch_solve needs. */
size_t tacit__eigen_batch_scratch(size_t d);

/* Solves. Where an eigenvalue of M + add I is below `floor`, the matrix is replaced by the nearest one with
 * none, up to a part in 10^9; returns in how many. failed[n]: a matrix that even so has no factor, whose
 * results are no numbers to use. Others are those of tacit__cholesky and tacit__solve, bit for bit, unless
 * repaired. */
size_t tacit__eigen_batch_solve(const tacit__eigen_batch *problem, double *scratch, bool *failed);

#endif
