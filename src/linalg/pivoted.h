/* Features from a kernel: pivoted Cholesky, and dense products of what it makes. */
#ifndef TACIT_LINALG_PIVOTED_H
#define TACIT_LINALG_PIVOTED_H

#include <stdbool.h>
#include <stddef.h>

#include "linalg/kernel_function.h"

/* psi(w) in R^p for n points, so that psi(w) . psi(w') = <P phi(w), P phi(w')>, P the projector on the
 * span of the pivots; residual[w] = k(w, w) - |psi(w)|^2 >= 0. Pivots are those of the points marked in
 * `candidate` (NULL: all) with the largest residual, ties to the lowest index, until it is at most tol or
 * there are `cap` of them. Point i is points[which[i]]. psi has room for [n][cap] and comes as [n][p];
 * returns p. scratch: n doubles. */
size_t tacit__pivoted_features(const tacit__kernel *kernel, size_t n, const double *points,
                               const size_t *which, const bool *candidate, double tol, size_t cap,
                               double *psi, double *residual, double *scratch);

/* Eigenvectors in the columns of `full` (lower triangle read) and ascending eigenvalues. */
size_t tacit__eigen_scratch(size_t d);
void tacit__eigen(size_t d, double *full, double *values, double *scratch);

/* out[i] = Q^T columns[i] for n columns [n][d]; Q is d x d, column-major. */
void tacit__rotate_many(size_t d, size_t n, const double *q, const double *columns, double *out);

/* out[i][j] = columns[i] . other[j], for n columns and m others [.][d]; out is [n][m]. */
void tacit__products(size_t d, size_t n, size_t m, const double *columns, const double *other,
                     double *out);

/* out = sum_i weight[i] columns[i]. */
void tacit__combine(size_t d, size_t n, const double *columns, const double *weight, double *out);

/* L^T X = B for n columns [n][d], in the place of B. */
void tacit__solve_upper_many(size_t d, size_t n, const double *factor, double *b);

/* full[i][j] -= columns[i] . columns[j] for n columns [n][d]; full is [n][n]. */
void tacit__subtract_gram(size_t d, size_t n, const double *columns, double *full);

#endif
