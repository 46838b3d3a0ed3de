/* The dense kernels under symmetric.c and pivoted.c, twice: blas_lapack.c calls OpenBLAS and LAPACK, for
 * servers and experiments; blas_plain.c is loops, for devices, where matrices are small and a library of
 * megabytes is not wanted. A library is built with one of them.
 *
 * Names and meanings are those of BLAS and LAPACK. Matrices are column-major; `lda` is the distance of
 * columns. Factors are lower triangles without unit diagonal, and what is above the diagonal is not looked
 * at. Vectors are contiguous. With beta = 0 the target is written only, never read. Any size may be 0. */
#ifndef TACIT_LINALG_BLAS_H
#define TACIT_LINALG_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* C = alpha op(A) op(B) + beta C; C is m x n, the inner dimension is k. */
void tacit__blas_gemm(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                      double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                      double beta, double *c, size_t ldc);

/* y = alpha op(A) x + beta y; A is m x n. */
void tacit__blas_gemv(bool transpose, size_t m, size_t n, double alpha, const double *a, size_t lda,
                      const double *x, double beta, double *y);

/* Lower triangle of C += A A^T; C is d x d, A is d x n. */
void tacit__blas_syrk(size_t d, size_t n, const double *a, size_t lda, double *c, size_t ldc);

/* X in the place of B, d x n: op(L) X = B, L of order d. */
void tacit__blas_trsm_left(bool transpose, size_t d, size_t n, const double *factor, size_t lda,
                           double *b, size_t ldb);

/* X in the place of B, n x d: X L^T = B, L of order d. */
void tacit__blas_trsm_right(size_t n, size_t d, const double *factor, size_t lda, double *b,
                            size_t ldb);

/* The factor in the place of the lower triangle; false: not positive definite, and the triangle is
 * spoilt. */
bool tacit__blas_potrf(size_t d, double *a, size_t lda);

/* L^-1 in the place of L, which has no zero on its diagonal. */
void tacit__blas_trtri(size_t d, double *a, size_t lda);

/* Returns how many doubles of scratch the next function needs; at least d^2. */
size_t tacit__blas_syevd_scratch(size_t d);

/* Eigenvectors in the columns of A, whose lower triangle is read, and ascending eigenvalues. Finite
 * input. */
void tacit__blas_syevd(size_t d, double *a, size_t lda, double *values, double *scratch);

#endif
