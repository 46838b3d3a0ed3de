/* See symmetric.h. The small cases are written out: below ORDER_BY_HAND the call of a BLAS routine costs more than its
 * arithmetic. */
#include "linalg/symmetric.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"

/* Measured here: the crossing of the loop below and dpotrf. */
enum { ORDER_BY_HAND = 16 };

#define ROOT_2 1.4142135623730950488

/* Jobs are parallel, so BLAS must not be: one thread each, and the same bits whatever their number. */
static void one_thread(void)
{
    openblas_set_num_threads(1);
}

static void start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, one_thread);
}

void tacit__blas_start(void)
{
    start();
}

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
    start();
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)d, full, (lapack_int)d) == 0 &&
           isfinite(full[d * d - 1]);
}

/* dsyevd with vectors: 1 + 6 d + 2 d^2 of work and 3 + 5 d integers, then eigenvalues and a copy. */
size_t tacit__floor_scratch(size_t d)
{
    return (1 + 6 * d + 2 * d * d) + (3 + 5 * d) + d + d * d;
}

size_t tacit__eigen_floor(size_t d, double *full, double floor, double *scratch)
{
    start();
    size_t n_work = 1 + 6 * d + 2 * d * d, n_integers = 3 + 5 * d, raised = 0;
    double *work = scratch, *values = work + n_work + n_integers, *scaled = values + d;
    lapack_int *integers = (lapack_int *)(work + n_work);
    lapack_int order = (lapack_int)d;
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, full, order, values, work,
                            (lapack_int)n_work, integers, (lapack_int)n_integers);
    TACIT__REQUIRE(info == 0); /* finite input: the QR iteration converges */
    for (size_t j = 0; j < d; j++) {
        bool low = !(values[j] >= floor);
        raised += low;
        double root = low ? floor : values[j];
        for (size_t i = 0; i < d; i++)
            scaled[j * d + i] = root * full[j * d + i];
    }
    memcpy(work, full, d * d * sizeof *full);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)d, (int)d, (int)d, 1, scaled, (int)d,
                work, (int)d, 0, full, (int)d);
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
    start();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)d, (int)n, 1,
                factor, (int)d, b, (int)d);
}

void tacit__invert_lower(size_t d, const double *factor, double *out)
{
    for (size_t j = 0; j < d; j++) {
        memset(out + j * d, 0, j * sizeof *out);
        memcpy(out + j * d + j, factor + j * d + j, (d - j) * sizeof *out);
    }
    start();
    lapack_int info =
        LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)d, out, (lapack_int)d);
    TACIT__REQUIRE(info == 0); /* a factor has no zero on its diagonal */
}

void tacit__multiply_many(size_t d, size_t n, const double *full, const double *columns,
                          double *out)
{
    start();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)d, (int)n, (int)d, 1, full, (int)d,
                columns, (int)d, 0, out, (int)d);
}

void tacit__inner_many(size_t d, size_t n, const double *columns, const double *x, double *out)
{
    start();
    cblas_dgemv(CblasColMajor, CblasTrans, (int)d, (int)n, 1, columns, (int)d, x, 1, 0, out, 1);
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
    start();
    /* read by columns, [d][n] is the transpose: X^T L^T = B^T */
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)d, 1,
                factor, (int)d, b, (int)n);
}

void tacit__combine_rows(size_t d, size_t n, const double *rows, const double *x, double *out)
{
    if (d > ORDER_BY_HAND && n > 0) {
        start();
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)d, 1, rows, (int)n, x, 1, 0, out, 1);
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
    start();
    if (scale != NULL) {
        for (size_t i = 0; i < n; i++) {
            double root = sqrt(scale[i]);
            for (size_t j = 0; j < d; j++)
                work[i * d + j] = root * columns[i * d + j];
        }
        columns = work;
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)d, (int)n, 1, columns, (int)d, 1,
                full, (int)d);
}
