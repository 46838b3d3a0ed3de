/* See pivoted.h. Left-looking: a pivot's column is the kernel's minus what the features so far explain, one
 * matrix-vector product; n p^2 / 2 multiplications in all, and n p kernel values. */
#include "linalg/pivoted.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "linalg/symmetric.h"

static size_t largest(size_t n, const double *residual, const bool *candidate)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if ((candidate == NULL || candidate[i]) && (best == n || residual[i] > residual[best]))
            best = i;
    return best;
}

size_t tacit__pivoted_features(const tacit__kernel *kernel, size_t n, const double *points,
                               const size_t *which, const bool *candidate, double tol, size_t cap,
                               double *psi, double *residual, double *scratch)
{
    tacit__blas_start();
    size_t p = 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = points + (which != NULL ? which[i] : i) * kernel->dimension;
        residual[i] = tacit__kernel_value(kernel, x, x);
    }
    for (; p < cap; p++) {
        size_t pivot = largest(n, residual, candidate);
        if (pivot == n || !(residual[pivot] > tol))
            break;
        const double *y = points + (which != NULL ? which[pivot] : pivot) * kernel->dimension;
        tacit__kernel_column(kernel, n, points, which, y, scratch);
        if (p > 0)
            cblas_dgemv(CblasColMajor, CblasTrans, (int)p, (int)n, -1, psi, (int)cap,
                        psi + pivot * cap, 1, 1, scratch, 1);
        double inverse = 1 / sqrt(residual[pivot]);
        for (size_t i = 0; i < n; i++) {
            double x = scratch[i] * inverse;
            psi[i * cap + p] = x;
            residual[i] = fmax(0, residual[i] - x * x);
        }
        residual[pivot] = 0;
    }
    for (size_t i = 1; i < n && p < cap; i++)
        memmove(psi + i * p, psi + i * cap, p * sizeof *psi);
    return p;
}

/* dsyevd with vectors: 1 + 6 d + 2 d^2 of work and 3 + 5 d integers. */
size_t tacit__eigen_scratch(size_t d)
{
    return (1 + 6 * d + 2 * d * d) + (3 + 5 * d);
}

void tacit__eigen(size_t d, double *full, double *values, double *scratch)
{
    tacit__blas_start();
    size_t n_work = 1 + 6 * d + 2 * d * d, n_integers = 3 + 5 * d;
    lapack_int *integers = (lapack_int *)(scratch + n_work), order = (lapack_int)d;
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, full, order, values, scratch,
                            (lapack_int)n_work, integers, (lapack_int)n_integers);
    TACIT__REQUIRE(info == 0); /* finite input: the QR iteration converges */
}

void tacit__rotate_many(size_t d, size_t n, const double *q, const double *columns, double *out)
{
    tacit__blas_start();
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)d, (int)n, (int)d, 1, q, (int)d,
                columns, (int)d, 0, out, (int)d);
}

void tacit__products(size_t d, size_t n, size_t m, const double *columns, const double *other,
                     double *out)
{
    tacit__blas_start();
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)d, 1, other, (int)d,
                columns, (int)d, 0, out, (int)m);
}

void tacit__combine(size_t d, size_t n, const double *columns, const double *weight, double *out)
{
    tacit__blas_start();
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)d, (int)n, 1, columns, (int)d, weight, 1, 0, out,
                1);
}

void tacit__solve_upper_many(size_t d, size_t n, const double *factor, double *b)
{
    if (n == 0)
        return;
    tacit__blas_start();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)d, (int)n, 1,
                factor, (int)d, b, (int)d);
}

void tacit__subtract_gram(size_t d, size_t n, const double *columns, double *full)
{
    tacit__blas_start();
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)n, (int)n, (int)d, -1, columns,
                (int)d, columns, (int)d, 1, full, (int)n);
}

void tacit__downdate(size_t d, double factor, const double *s, double *full)
{
    tacit__blas_start();
    cblas_dger(CblasColMajor, (int)d, (int)d, -factor, s, 1, s, 1, full, (int)d);
}
