/* See pivoted.h. Left-looking: a pivot's column is the kernel's minus what the features so far explain, one
 * matrix-vector product; n p^2 / 2 multiplications in all, and n p kernel values. */
#include "linalg/pivoted.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "linalg/blas.h"

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
    TACIT__REQUIRE(tol >= 0);
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
            tacit__blas_gemv(true, p, n, -1, psi, cap, psi + pivot * cap, 1, scratch);
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

size_t tacit__eigen_scratch(size_t d)
{
    return tacit__blas_syevd_scratch(d);
}

void tacit__eigen(size_t d, double *full, double *values, double *scratch)
{
    tacit__blas_syevd(d, full, d, values, scratch);
}

void tacit__rotate_many(size_t d, size_t n, const double *q, const double *columns, double *out)
{
    tacit__blas_gemm(true, false, d, n, d, 1, q, d, columns, d, 0, out, d);
}

void tacit__products(size_t d, size_t n, size_t m, const double *columns, const double *other,
                     double *out)
{
    tacit__blas_gemm(true, false, m, n, d, 1, other, d, columns, d, 0, out, m);
}

void tacit__combine(size_t d, size_t n, const double *columns, const double *weight, double *out)
{
    tacit__blas_gemv(false, d, n, 1, columns, d, weight, 0, out);
}

void tacit__solve_upper_many(size_t d, size_t n, const double *factor, double *b)
{
    if (n > 0)
        tacit__blas_trsm_left(true, d, n, factor, d, b, d);
}

void tacit__subtract_gram(size_t d, size_t n, const double *columns, double *full)
{
    tacit__blas_gemm(true, false, n, n, d, -1, columns, d, columns, d, 1, full, n);
}
