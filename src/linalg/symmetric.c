/* See symmetric.h. The small cases are written out: below ORDER_BY_HAND the call of a BLAS routine costs
 * more than its arithmetic. */
#include "linalg/symmetric.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "linalg/blas.h"

/* Measured here: the crossing of the loop below and dpotrf. */
enum { ORDER_BY_HAND = 16 };

#define ROOT_2 1.4142135623730950488 /* sqrt(2), correctly rounded */

void tacit__packed_outer(size_t d, double scale, const double *x, double *out)
{
    for (size_t j = 0; j < d; j++) {
        double diagonal = scale * x[j], other = ROOT_2 * diagonal;
        for (size_t i = 0; i < j; i++)
            *out++ = other * x[i];
        *out++ = diagonal * x[j];
    }
}

void tacit__packed_expand(size_t d, const double *packed, double shift, double *full)
{
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < j; i++)
            full[i * d + j] = *packed++ / ROOT_2;
        full[j * d + j] = *packed++ + shift;
    }
}

static bool cholesky_by_hand(size_t d, double *a)
{
    for (size_t j = 0; j < d; j++) {
        double *column = a + j * d;
        double pivot = column[j];
        if (!(pivot > 0 && pivot < HUGE_VAL))
            return false;
        double root = sqrt(pivot), inverse = 1 / root;
        column[j] = root;
        for (size_t i = j + 1; i < d; i++)
            column[i] *= inverse;
        for (size_t k = j + 1; k < d; k++) {
            double *target = a + k * d, factor = column[k];
            for (size_t i = k; i < d; i++)
                target[i] -= factor * column[i];
        }
    }
    return true;
}

bool tacit__cholesky(size_t d, double *full)
{
    if (d <= ORDER_BY_HAND)
        return cholesky_by_hand(d, full);
    return tacit__blas_potrf(d, full, d) && isfinite(full[d * d - 1]);
}

/* The eigenvectors' scratch, then eigenvalues and a copy. */
size_t tacit__floor_scratch(size_t d)
{
    return tacit__blas_syevd_scratch(d) + d + d * d;
}

size_t tacit__eigen_floor(size_t d, double *full, double floor, double *scratch)
{
    TACIT__REQUIRE(scratch != NULL && !isnan(floor));
    double *work = scratch, *values = work + tacit__blas_syevd_scratch(d), *scaled = values + d;
    size_t raised = 0;
    tacit__blas_syevd(d, full, d, values, work);
    for (size_t j = 0; j < d; j++) {
        bool low = !(values[j] >= floor);
        raised += low;
        double root = low ? floor : values[j];
        for (size_t i = 0; i < d; i++)
            scaled[j * d + i] = root * full[j * d + i];
    }
    memcpy(work, full, d * d * sizeof *full);
    tacit__blas_gemm(false, true, d, d, d, 1, scaled, d, work, d, 0, full, d);
    return raised;
}

double tacit__log_determinant(size_t d, const double *factor)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += log(factor[i * d + i]);
    return 2 * sum;
}

void tacit__solve_lower(size_t d, const double *factor, double *b)
{
    for (size_t j = 0; j < d; j++) {
        const double *column = factor + j * d;
        double x = b[j] /= column[j];
        for (size_t i = j + 1; i < d; i++)
            b[i] -= x * column[i];
    }
}

void tacit__solve_upper(size_t d, const double *factor, double *b)
{
    for (size_t j = d; j-- > 0;) {
        const double *column = factor + j * d;
        double sum = b[j];
        for (size_t i = j + 1; i < d; i++)
            sum -= column[i] * b[i];
        b[j] = sum / column[j];
    }
}

void tacit__solve(size_t d, const double *factor, double *b)
{
    tacit__solve_lower(d, factor, b);
    tacit__solve_upper(d, factor, b);
}

void tacit__solve_lower_many(size_t d, size_t n, const double *factor, double *b)
{
    if (n == 0)
        return;
    tacit__blas_trsm_left(false, d, n, factor, d, b, d);
}

void tacit__invert_lower(size_t d, const double *factor, double *out)
{
    TACIT__REQUIRE(out != factor);
    for (size_t j = 0; j < d; j++) {
        memset(out + j * d, 0, j * sizeof *out);
        memcpy(out + j * d + j, factor + j * d + j, (d - j) * sizeof *out);
    }
    tacit__blas_trtri(d, out, d);
}

void tacit__multiply_many(size_t d, size_t n, const double *full, const double *columns,
                          double *out)
{
    tacit__blas_gemm(false, false, d, n, d, 1, full, d, columns, d, 0, out, d);
}

void tacit__inner_many(size_t d, size_t n, const double *columns, const double *x, double *out)
{
    tacit__blas_gemv(true, d, n, 1, columns, d, x, 0, out);
}

void tacit__squares_many(size_t d, size_t n, const double *columns, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += columns[i * d + j] * columns[i * d + j];
        out[i] = sum;
    }
}

static void solve_lower_rows_by_hand(size_t d, size_t n, const double *factor, double *b)
{
    for (size_t j = 0; j < d; j++) {
        double *restrict x = b + j * n;
        const double inverse = 1 / factor[j * d + j];
        for (size_t i = 0; i < n; i++)
            x[i] *= inverse;
        for (size_t k = j + 1; k < d; k++) {
            double *restrict y = b + k * n;
            const double l = factor[j * d + k];
            for (size_t i = 0; i < n; i++)
                y[i] -= l * x[i];
        }
    }
}

void tacit__solve_lower_rows(size_t d, size_t n, const double *factor, double *b)
{
    if (d <= ORDER_BY_HAND) {
        solve_lower_rows_by_hand(d, n, factor, b);
        return;
    }
    if (n == 0)
        return;
    /* read by columns, [d][n] is the transpose: X^T L^T = B^T */
    tacit__blas_trsm_right(n, d, factor, d, b, n);
}

void tacit__combine_rows(size_t d, size_t n, const double *rows, const double *x, double *out)
{
    if (d > ORDER_BY_HAND && n > 0) {
        tacit__blas_gemv(false, n, d, 1, rows, n, x, 0, out);
        return;
    }
    double *restrict sum = out;
    for (size_t i = 0; i < n; i++)
        sum[i] = d > 0 ? x[0] * rows[i] : 0;
    for (size_t j = 1; j < d; j++) {
        const double *restrict row = rows + j * n;
        const double factor = x[j];
        for (size_t i = 0; i < n; i++)
            sum[i] += factor * row[i];
    }
}

void tacit__squares_rows(size_t d, size_t n, const double *rows, double *out)
{
    double *restrict sum = out;
    for (size_t i = 0; i < n; i++)
        sum[i] = 0;
    for (size_t j = 0; j < d; j++) {
        const double *restrict row = rows + j * n;
        for (size_t i = 0; i < n; i++)
            sum[i] += row[i] * row[i];
    }
}

void tacit__rank_update(size_t d, size_t n, const double *scale, const double *columns,
                        double *work, double *full)
{
    TACIT__REQUIRE(work != columns);
    if (scale != NULL) {
        for (size_t i = 0; i < n; i++) {
            double root = sqrt(scale[i]);
            for (size_t j = 0; j < d; j++)
                work[i * d + j] = root * columns[i * d + j];
        }
        columns = work;
    }
    tacit__blas_syrk(d, n, columns, d, full, d);
}
