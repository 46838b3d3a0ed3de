/* The two forms of linalg/blas.h against each other, and against what results must satisfy. The plain one comes into this file
 * under other names. */
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

#define tacit__blas_gemm plain_gemm
#define tacit__blas_gemv plain_gemv
#define tacit__blas_syrk plain_syrk
#define tacit__blas_trsm_left plain_trsm_left
#define tacit__blas_trsm_right plain_trsm_right
#define tacit__blas_potrf plain_potrf
#define tacit__blas_trtri plain_trtri
#define tacit__blas_syevd_scratch plain_syevd_scratch
#define tacit__blas_syevd plain_syevd
#undef TACIT_LINALG_BLAS_H
#include "linalg/blas_plain.c" // NOLINT(bugprone-suspicious-include)
#undef tacit__blas_gemm
#undef tacit__blas_gemv
#undef tacit__blas_syrk
#undef tacit__blas_trsm_left
#undef tacit__blas_trsm_right
#undef tacit__blas_potrf
#undef tacit__blas_trtri
#undef tacit__blas_syevd_scratch
#undef tacit__blas_syevd

enum { MAX = 45, LD = MAX + 3, SIZE = LD * LD };
static const size_t orders[] = {0, 1, 2, 3, 7, 16, 17, 33, 45};
enum { N_ORDERS = sizeof orders / sizeof *orders };

static void fill(uint64_t *r, double *a)
{
    for (size_t i = 0; i < SIZE; i++)
        a[i] = random_between(r, -1, 1);
}

/* Everything, what lies between columns included: nothing else may change. */
static void check_same(const char *what, const double *a, const double *b, double tol)
{
    for (size_t i = 0; i < SIZE; i++)
        if (!(fabs(a[i] - b[i]) <= tol))
            fail_msg("%s: entry %zu is %.17g, and %.17g by BLAS", what, i, a[i], b[i]);
}

TEST(products_agree)
{
    static double a[SIZE], b[SIZE], c[2][SIZE];
    uint64_t r = 1;
    for (int i = 0; i < 400; i++) {
        size_t m = orders[random_below(&r, N_ORDERS)], n = orders[random_below(&r, N_ORDERS)];
        size_t k = orders[random_below(&r, N_ORDERS)];
        bool ta = random_below(&r, 2) != 0, tb = random_below(&r, 2) != 0;
        double alpha = i % 3 == 0 ? 1 : -0.5, beta = i % 4 == 0 ? 0 : i % 4 == 1 ? 1 : 0.25;
        fill(&r, a);
        fill(&r, b);
        fill(&r, c[0]);
        if (beta == 0) /* not even read */
            for (size_t j = 0; j < n; j++)
                for (size_t l = 0; l < m; l++)
                    c[0][j * LD + l] = (double)NAN;
        memcpy(c[1], c[0], sizeof c[0]);
        plain_gemm(ta, tb, m, n, k, alpha, a, LD, b, LD, beta, c[0], LD);
        tacit__blas_gemm(ta, tb, m, n, k, alpha, a, LD, b, LD, beta, c[1], LD);
        if (k > 0 || beta != 0) /* OpenBLAS leaves early where there is nothing to add */
            check_same("gemm", c[0], c[1], 1e-13);
        fill(&r, c[0]);
        memcpy(c[1], c[0], sizeof c[0]);
        plain_gemv(ta, m, n, alpha, a, LD, b, beta, c[0]);
        tacit__blas_gemv(ta, m, n, alpha, a, LD, b, beta, c[1]);
        if (m > 0 && n > 0)
            check_same("gemv", c[0], c[1], 1e-13);
        fill(&r, c[0]);
        memcpy(c[1], c[0], sizeof c[0]);
        plain_syrk(m, n, a, LD, c[0], LD);
        tacit__blas_syrk(m, n, a, LD, c[1], LD);
        check_same("syrk", c[0], c[1], 1e-13);
    }
}

TEST(sums_of_nothing_are_zero)
{
    double c[4] = {(double)NAN, (double)NAN, 5, 5};
    plain_gemm(true, false, 1, 2, 0, 1, c, 1, c, 1, 0, c, 1);
    assert_true(c[0] == 0 && c[1] == 0 && c[2] == 5);
    c[0] = (double)NAN;
    plain_gemv(false, 1, 0, 1, c, 1, c, 0, c);
    assert_true(c[0] == 0 && c[1] == 0);
}

/* Lower triangle of B B^T + shift I, B of rank `rank`; NaN above the diagonal, where nobody may look. */
static void positive(uint64_t *r, size_t d, size_t rank, double shift, double *a)
{
    static double b[SIZE];
    fill(r, a);
    fill(r, b);
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++) {
            double sum = i == j ? shift : 0;
            for (size_t k = 0; k < rank; k++)
                sum += b[k * LD + i] * b[k * LD + j];
            a[j * LD + i] = i >= j ? sum : (double)NAN;
        }
}

/* Largest entry of the lower triangle of L L^T - A. */
static double factor_residual(size_t d, const double *l, const double *a)
{
    double most = 0;
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++) {
            double sum = -a[j * LD + i];
            for (size_t k = 0; k <= j; k++)
                sum += l[k * LD + i] * l[k * LD + j];
            most = fmax(most, fabs(sum));
        }
    return most;
}

static void check_between_columns(const char *what, size_t d, const double *a, const double *b)
{
    for (size_t j = 0; j < LD; j++)
        for (size_t i = j < d ? d : 0; i < LD; i++)
            if (a[j * LD + i] != b[j * LD + i])
                fail_msg("%s wrote outside its matrix", what);
}

TEST(factors_agree_and_multiply_back)
{
    static double a[SIZE], l[2][SIZE];
    uint64_t r = 2;
    for (size_t o = 0; o < N_ORDERS; o++)
        for (int hard = 0; hard < 2; hard++) { /* condition 1e2, 1e11 */
            size_t d = orders[o];
            positive(&r, d, d / 2, hard ? 1e-9 : 1, a);
            memcpy(l[0], a, sizeof a);
            memcpy(l[1], a, sizeof a);
            assert_true(plain_potrf(d, l[0], LD) && tacit__blas_potrf(d, l[1], LD));
            check_between_columns("potrf", d, l[0], a);
            assert_within(factor_residual(d, l[0], a), 0, 1e-14 * (double)(d + 1));
            for (size_t j = 0; j < d && !hard; j++)
                for (size_t i = j; i < d; i++)
                    assert_within(l[0][j * LD + i] - l[1][j * LD + i], -1e-12, 1e-12);
        }
}

TEST(what_is_not_positive_definite_is_refused)
{
    static double a[SIZE], l[2][SIZE];
    uint64_t r = 3;
    for (size_t o = 1; o < N_ORDERS; o++)
        for (int how = 0; how < 4; how++) {
            size_t d = orders[o], at = random_below(&r, d);
            positive(&r, d, d, 0.1, a);
            a[at * LD + at] = how == 0 ? -1e-3 : how == 1 ? 0 : how == 2 ? (double)NAN : -HUGE_VAL;
            memcpy(l[0], a, sizeof a);
            memcpy(l[1], a, sizeof a);
            assert_false(plain_potrf(d, l[0], LD));
            if (how != 2) /* OpenBLAS lets NaN pass; tacit__cholesky looks for it */
                assert_false(tacit__blas_potrf(d, l[1], LD));
        }
}

TEST(solves_and_inverses_agree)
{
    static double l[SIZE], inverse[2][SIZE], b[SIZE], x[2][SIZE];
    uint64_t r = 4;
    for (size_t o = 0; o < N_ORDERS; o++)
        for (size_t p = 0; p < N_ORDERS; p++) {
            size_t d = orders[o], n = orders[p];
            positive(&r, d, d, 1, l);
            assert_true(plain_potrf(d, l, LD));
            fill(&r, b);
            for (int how = 0; how < 3; how++) {
                memcpy(x[0], b, sizeof b);
                memcpy(x[1], b, sizeof b);
                if (how < 2) {
                    plain_trsm_left(how == 1, d, n, l, LD, x[0], LD);
                    tacit__blas_trsm_left(how == 1, d, n, l, LD, x[1], LD);
                } else {
                    plain_trsm_right(n, d, l, LD, x[0], LD);
                    tacit__blas_trsm_right(n, d, l, LD, x[1], LD);
                }
                check_same("trsm", x[0], x[1], 1e-11);
            }
            memcpy(inverse[0], l, sizeof l);
            memcpy(inverse[1], l, sizeof l);
            plain_trtri(d, inverse[0], LD);
            tacit__blas_trtri(d, inverse[1], LD);
            check_between_columns("trtri", d, inverse[0], l);
            for (size_t j = 0; j < d; j++) {
                for (size_t i = 0; i < j; i++)
                    assert_true(isnan(inverse[0][j * LD + i]));
                for (size_t i = j; i < d; i++)
                    assert_within(inverse[0][j * LD + i] - inverse[1][j * LD + i], -1e-12, 1e-12);
            }
        }
}

TEST(a_factor_with_a_zero_has_no_inverse)
{
    double l[4] = {1, 2, 0, 0};
    assert_aborts(plain_trtri(2, l, 2));
}

/* Symmetric matrices with these eigenvalues, rotated: repeated, clustered, of very different and of extreme size. */
static void spectrum(uint64_t *r, int kind, size_t d, double *a)
{
    static double values[MAX];
    static double q[SIZE];
    fill(r, a);
    for (size_t i = 0; i < d; i++) {
        double u = random_between(r, -1, 1);
        values[i] = kind == 0   ? u
                    : kind == 1 ? 1 + 1e-9 * u
                    : kind == 2 ? pow(10, 8 * u)
                    : kind == 3 ? (double)(i % 3)
                    : kind == 4 ? 1e200 * u
                    : kind == 5 ? 1e-200 * u
                                : 0;
    }
    /* Q = I - 2 v v^T / |v|^2, twice */
    double v[2][MAX], square[2] = {0, 0};
    for (size_t i = 0; i < d; i++)
        for (int k = 0; k < 2; k++) {
            v[k][i] = random_between(r, -1, 1);
            square[k] += v[k][i] * v[k][i];
        }
    for (size_t j = 0; j < d; j++) {
        double inner_product = 0;
        for (size_t i = 0; i < d; i++) {
            q[j * LD + i] = (i == j) - 2 * v[0][i] * v[0][j] / square[0];
            inner_product += q[j * LD + i] * v[1][i];
        }
        for (size_t i = 0; i < d; i++)
            q[j * LD + i] -= 2 * v[1][i] * inner_product / square[1];
    }
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += values[k] * q[k * LD + i] * q[k * LD + j];
            a[j * LD + i] = i >= j ? sum : (double)NAN;
        }
}

static double entry(const double *a, size_t i, size_t j)
{
    return i >= j ? a[j * LD + i] : a[i * LD + j];
}

/* A v = w v, orthonormal, ascending, and the eigenvalues of LAPACK. */
TEST(eigenvectors_are_that_and_values_agree)
{
    static double a[SIZE], v[2][SIZE], w[2][MAX], scratch[20 * SIZE];
    uint64_t r = 5;
    for (size_t o = 0; o < N_ORDERS; o++)
        for (int kind = 0; kind < 7; kind++) {
            size_t d = orders[o];
            spectrum(&r, kind, d, a);
            double norm = 0;
            for (size_t j = 0; j < d; j++)
                for (size_t i = j; i < d; i++)
                    norm = fmax(norm, fabs(a[j * LD + i]));
            double tol = 1e-14 * norm * (double)(d + 1);
            memcpy(v[0], a, sizeof a);
            memcpy(v[1], a, sizeof a);
            assert_true(plain_syevd_scratch(d) >= d * d && tacit__blas_syevd_scratch(d) >= d * d &&
                        tacit__blas_syevd_scratch(d) <= sizeof scratch / sizeof *scratch);
            plain_syevd(d, v[0], LD, w[0], scratch);
            check_between_columns("syevd", d, v[0], a);
            if (d > 0)
                tacit__blas_syevd(d, v[1], LD, w[1], scratch);
            for (size_t k = 0; k < d; k++) {
                assert_within(w[0][k] - w[1][k], -tol, tol);
                assert_true(k == 0 || w[0][k - 1] <= w[0][k]);
                for (size_t i = 0; i < d; i++) {
                    double image = -w[0][k] * v[0][k * LD + i], product = -(double)(i == k);
                    for (size_t j = 0; j < d; j++) {
                        image += entry(a, i, j) * v[0][k * LD + j];
                        product += v[0][i * LD + j] * v[0][k * LD + j];
                    }
                    assert_within(image, -tol, tol);
                    assert_within(product, -1e-13, 1e-13);
                }
            }
        }
}

TEST(eigenvectors_of_what_is_not_finite_stop_the_program)
{
    double a[4] = {1, (double)NAN, 0, 1}, w[2], scratch[4];
    assert_aborts(plain_syevd(2, a, 2, w, scratch));
}
