/* See blas.h: plain loops over contiguous columns, in textbook form [GV13, 1.1, 3.1, 4.2.5, 8.5]. Sums run in
 * the order of the indices, so results depend on nothing but the input.
 *
 * Departures from LAPACK, all within its error bounds: sums are not blocked, and eigenvectors come from
 * cyclic Jacobi rotations, which are short and accurate; about 6 sweeps of 3 d^3 multiplications each, so
 * a few milliseconds at d = 32 and a second at d = 300. */
#include "linalg/blas.h"

#include <float.h>
#include <math.h>

#include "base/error.h"

enum { SWEEPS = 60 }; /* 6 to 10 are usual; convergence is quadratic */

/* y += alpha x */
static void add(size_t n, double alpha, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

static double inner(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void scale(size_t n, double beta, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = beta == 0 ? 0 : beta * y[i]; /* what is there may be anything, NaN too */
}

void tacit__blas_gemv(bool transpose, size_t m, size_t n, double alpha, const double *a, size_t lda,
                      const double *x, double beta, double *y)
{
    scale(transpose ? n : m, beta, y);
    for (size_t j = 0; j < n; j++)
        if (transpose)
            y[j] += alpha * inner(m, a + j * lda, x);
        else
            add(m, alpha * x[j], a + j * lda, y);
}

/* Column j of op(A) op(B) is op(A) times column j of op(B), which is a row of B if that is transposed. */
void tacit__blas_gemm(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                      double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                      double beta, double *c, size_t ldc)
{
    for (size_t j = 0; j < n; j++) {
        double *column = c + j * ldc;
        scale(m, beta, column);
        for (size_t l = 0; l < k && !transpose_a; l++)
            add(m, alpha * (transpose_b ? b[l * ldb + j] : b[j * ldb + l]), a + l * lda, column);
        for (size_t i = 0; i < m && transpose_a; i++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += a[i * lda + l] * (transpose_b ? b[l * ldb + j] : b[j * ldb + l]);
            column[i] += alpha * sum;
        }
    }
}

void tacit__blas_syrk(size_t d, size_t n, const double *a, size_t lda, double *c, size_t ldc)
{
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < n; l++)
            add(d - j, a[l * lda + j], a + l * lda + j, c + j * ldc + j);
}

void tacit__blas_trsm_left(bool transpose, size_t d, size_t n, const double *factor, size_t lda,
                           double *b, size_t ldb)
{
    for (size_t i = 0; i < n; i++) {
        double *x = b + i * ldb;
        for (size_t k = 0; k < d; k++) {
            size_t j = transpose ? d - 1 - k : k;
            const double *column = factor + j * lda;
            if (transpose)
                x[j] -= inner(d - j - 1, column + j + 1, x + j + 1);
            x[j] /= column[j];
            if (!transpose)
                add(d - j - 1, -x[j], column + j + 1, x + j + 1);
        }
    }
}

/* Column j of X L^T = B: x_j L_jj = b_j - sum over l < j of x_l L_jl. */
void tacit__blas_trsm_right(size_t n, size_t d, const double *factor, size_t lda, double *b,
                            size_t ldb)
{
    for (size_t j = 0; j < d; j++) {
        double *x = b + j * ldb;
        for (size_t i = 0; i < n; i++)
            x[i] /= factor[j * lda + j];
        for (size_t k = j + 1; k < d; k++)
            add(n, -factor[j * lda + k], x, b + k * ldb);
    }
}

bool tacit__blas_potrf(size_t d, double *a, size_t lda)
{
    for (size_t j = 0; j < d; j++) {
        double *column = a + j * lda, pivot = column[j];
        if (!(pivot > 0))
            return false;
        double root = sqrt(pivot);
        column[j] = root;
        for (size_t i = j + 1; i < d; i++)
            column[i] /= root;
        for (size_t k = j + 1; k < d; k++)
            add(d - k, -column[k], column + k, a + k * lda + k);
    }
    return true;
}

/* From the last column to the first: with L^-1 of what is below and to the right in place, column j of
 * L^-1 is -L^-1 l_j / L_jj; its product goes from the bottom up, so that it needs no room. */
void tacit__blas_trtri(size_t d, double *a, size_t lda)
{
    for (size_t j = d; j-- > 0;) {
        double *column = a + j * lda;
        TACIT__REQUIRE(column[j] != 0); /* a factor has no zero on its diagonal */
        column[j] = 1 / column[j];
        for (size_t i = d; i-- > j + 1;) {
            double sum = 0;
            for (size_t l = j + 1; l <= i; l++)
                sum += a[l * lda + i] * column[l];
            column[i] = -column[j] * sum;
        }
    }
}

/* --- Eigenvalues -------------------------------------------------------------------------------- */

size_t tacit__blas_syevd_scratch(size_t d)
{
    return d * d;
}

/* Columns p and q of m become c p - s q and s p + c q. */
static void rotate(size_t d, double c, double s, double *restrict p, double *restrict q)
{
    for (size_t i = 0; i < d; i++) {
        double x = p[i], y = q[i];
        p[i] = c * x - s * y;
        q[i] = s * x + c * y;
    }
}

/* The rotation that makes M_pq zero, on both sides of M (kept whole), and on the vectors. */
static void annihilate(size_t d, size_t p, size_t q, double *m, double *vectors, size_t lda)
{
    double tau = (m[q * d + q] - m[p * d + p]) / (2 * m[q * d + p]);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
    double c = 1 / sqrt(1 + t * t), s = t * c, moved = t * m[q * d + p];
    double low = m[p * d + p] - moved, high = m[q * d + q] + moved;
    rotate(d, c, s, m + p * d, m + q * d);
    for (size_t j = 0; j < d; j++) { /* rows are columns again */
        m[j * d + p] = m[p * d + j];
        m[j * d + q] = m[q * d + j];
    }
    m[p * d + p] = low;
    m[q * d + q] = high;
    m[p * d + q] = m[q * d + p] = 0;
    rotate(d, c, s, vectors + p * lda, vectors + q * lda);
}

/* Ascending values, and their columns with them. */
static void sort(size_t d, double *values, double *vectors, size_t lda)
{
    for (size_t j = 0; j < d; j++) {
        size_t least = j;
        for (size_t k = j + 1; k < d; k++)
            if (values[k] < values[least])
                least = k;
        double value = values[j];
        values[j] = values[least];
        values[least] = value;
        for (size_t i = 0; i < d && least != j; i++) {
            double x = vectors[j * lda + i];
            vectors[j * lda + i] = vectors[least * lda + i];
            vectors[least * lda + i] = x;
        }
    }
}

/* The lower triangle of A as a whole matrix of entries below 1 in size, and the power of two it was
 * divided by; the unit matrix in the place of A. */
static int unload(size_t d, double *a, size_t lda, double *m)
{
    double most = 0;
    int exponent;
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++) {
            TACIT__REQUIRE(isfinite(a[j * lda + i]));
            most = fmax(most, fabs(a[j * lda + i]));
        }
    (void)frexp(most, &exponent);
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++)
            m[j * d + i] = m[i * d + j] = ldexp(a[j * lda + i], -exponent);
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++)
            a[j * lda + i] = i == j;
    return exponent;
}

/* Entries that together are a rounding of the norm are left alone. */
void tacit__blas_syevd(size_t d, double *a, size_t lda, double *values, double *scratch)
{
    double *m = scratch;
    int exponent = unload(d, a, lda, m), sweeps = 0;
    double tol = DBL_EPSILON / 2 * sqrt(inner(d * d, m, m)) / (double)(d > 0 ? d : 1);
    for (bool moved = d > 1; moved; sweeps++) {
        TACIT__REQUIRE(sweeps < SWEEPS);
        moved = false;
        for (size_t p = 0; p < d; p++)
            for (size_t q = p + 1; q < d; q++)
                if (fabs(m[q * d + p]) > tol) {
                    annihilate(d, p, q, m, a, lda);
                    moved = true;
                }
    }
    for (size_t j = 0; j < d; j++)
        values[j] = ldexp(m[j * d + j], exponent);
    sort(d, values, a, lda);
}
