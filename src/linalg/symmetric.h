/* Symmetric matrices: packed for sums and noise, full for factorizations.
 *
 * Packed ("isometric") coordinates of a symmetric M of order d are the d (d + 1) / 2 numbers
 *
 *     M_00, sqrt(2) M_01, M_11, sqrt(2) M_02, sqrt(2) M_12, M_22, …    (the upper triangle by columns)
 *
 * so that the length of the packed vector is the Frobenius norm of M: sensitivities are the same in both
 * forms, and noise of one standard deviation on every packed coordinate favors no direction.
 *
 * Full matrices are column-major with leading dimension d; factors are lower triangles L with M = L L^T,
 * and what is above the diagonal is not looked at. The dense kernels are those of linalg/blas.h and run on
 * the calling thread. */
#ifndef TACIT_LINALG_SYMMETRIC_H
#define TACIT_LINALG_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

static inline size_t tacit__packed_size(size_t d)
{
    return d * (d + 1) / 2;
}

/* out = packed (scale x x^T). */
void tacit__packed_outer(size_t d, double scale, const double *x, double *out);

/* Lower triangle of full = packed + shift I. */
void tacit__packed_expand(size_t d, const double *packed, double shift, double *full);

/* The factor of a matrix in its place, lower triangle only. False: not positive definite (to working
 * precision); the triangle is then spoilt. */
bool tacit__cholesky(size_t d, double *full);

/* Returns how many doubles of scratch the next function needs. */
size_t tacit__floor_scratch(size_t d);

/* The nearest matrix (in Frobenius norm) whose eigenvalues are all at least `floor`, in its place; returns
 * how many were below. The lower triangle is read, both are written. */
size_t tacit__eigen_floor(size_t d, double *full, double floor, double *scratch);

/* 2 sum log L_ii. */
double tacit__log_determinant(size_t d, const double *factor);

/* x in the place of b: L x = b, L^T x = b, and L L^T x = b. */
void tacit__solve_lower(size_t d, const double *factor, double *b);
void tacit__solve_upper(size_t d, const double *factor, double *b);
void tacit__solve(size_t d, const double *factor, double *b);

/* L X = B for n columns, [n][d], in the place of B. */
void tacit__solve_lower_many(size_t d, size_t n, const double *factor, double *b);

/* out = L^-1, with zeros above the diagonal. For many columns a product with it is several times faster
 * than a solve. */
void tacit__invert_lower(size_t d, const double *factor, double *out);

/* out[i] = M columns[i] for n columns [n][d] and a full matrix M, all of it looked at. */
void tacit__multiply_many(size_t d, size_t n, const double *full, const double *columns,
                          double *out);

/* out[i] = sum_j columns[i][j] x[j], for n columns [n][d]. */
void tacit__inner_many(size_t d, size_t n, const double *columns, const double *x, double *out);

/* out[i] = |columns[i]|^2. */
void tacit__squares_many(size_t d, size_t n, const double *columns, double *out);

/* The same three for n columns that are stored row by row, [d][n], so that loops run over columns:
 * L X = B in the place of B; out[i] = sum_j x[j] rows[j][i]; out[i] = sum_j rows[j][i]^2. */
void tacit__solve_lower_rows(size_t d, size_t n, const double *factor, double *b);
void tacit__combine_rows(size_t d, size_t n, const double *rows, const double *x, double *out);
void tacit__squares_rows(size_t d, size_t n, const double *rows, double *out);

/* Lower triangle of full += sum_i scale[i] x_i x_i^T over n columns [n][d], scale[i] >= 0; scale NULL:
 * ones. `work` is [n][d], or NULL if scale is. */
void tacit__rank_update(size_t d, size_t n, const double *scale, const double *columns,
                        double *work, double *full);

#endif
