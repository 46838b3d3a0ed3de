/* Symmetric matrices against sums written out, on both sides of the size where BLAS takes over. */
#include "linalg/symmetric.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

#define assert_near(value, wanted, tol) assert_within((value) - (wanted), -(tol), tol)

enum { MAX = 40 };
static const size_t orders[] = {1, 2, 5, 16, 17, 40};
enum { N_ORDERS = sizeof orders / sizeof *orders };

/* B B^T + I, full. */
static void random_definite(uint64_t *r, size_t d, double *full)
{
    double b[MAX * MAX];
    for (size_t i = 0; i < d * d; i++)
        b[i] = random_between(r, -1, 1);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = i == j;
            for (size_t k = 0; k < d; k++)
                sum += b[k * d + i] * b[k * d + j];
            full[j * d + i] = sum;
        }
}

TEST(packed_length_is_the_frobenius_norm)
{
    uint64_t r = 1;
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double x[MAX], packed[MAX * (MAX + 1) / 2], full[MAX * MAX], norm = 0, length = 0;
        for (size_t i = 0; i < d; i++)
            x[i] = random_between(&r, -1, 1);
        tacit__packed_outer(d, 3, x, packed);
        for (size_t i = 0; i < tacit__packed_size(d); i++)
            length += packed[i] * packed[i];
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                norm += 9 * x[i] * x[i] * x[j] * x[j];
        assert_close(length, norm, 1e-13);
        tacit__packed_expand(d, packed, 0.5, full);
        for (size_t j = 0; j < d; j++)
            for (size_t i = j; i < d; i++)
                assert_near(full[j * d + i], 3 * x[i] * x[j] + (i == j ? 0.5 : 0), 1e-14);
    }
}

TEST(factors_solve_and_give_determinants)
{
    uint64_t r = 2;
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double full[MAX * MAX], factor[MAX * MAX], x[MAX], b[MAX], lu[MAX * MAX];
        random_definite(&r, d, full);
        memcpy(factor, full, d * d * sizeof *full);
        assert_true(tacit__cholesky(d, factor));
        for (size_t i = 0; i < d; i++)
            x[i] = random_between(&r, -1, 1);
        for (size_t i = 0; i < d; i++) {
            b[i] = 0;
            for (size_t j = 0; j < d; j++)
                b[i] += full[j * d + i] * x[j];
        }
        tacit__solve(d, factor, b);
        for (size_t i = 0; i < d; i++)
            assert_near(b[i], x[i], 1e-9);
        /* the determinant again, by elimination */
        double log_det = 0;
        memcpy(lu, full, d * d * sizeof *full);
        for (size_t k = 0; k < d; k++) {
            log_det += log(lu[k * d + k]);
            for (size_t i = k + 1; i < d; i++)
                for (size_t j = k + 1; j < d; j++)
                    lu[j * d + i] -= lu[k * d + i] * lu[j * d + k] / lu[k * d + k];
        }
        assert_near(tacit__log_determinant(d, factor), log_det, 1e-9);
    }
}

TEST(many_columns_are_as_one)
{
    enum { N = 7 };
    uint64_t r = 3;
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double factor[MAX * MAX], columns[N * MAX], solved[N * MAX], x[MAX], inner[N], squares[N];
        random_definite(&r, d, factor);
        assert_true(tacit__cholesky(d, factor));
        for (size_t i = 0; i < N * d; i++)
            columns[i] = random_between(&r, -1, 1);
        for (size_t i = 0; i < d; i++)
            x[i] = random_unit(&r);
        memcpy(solved, columns, N * d * sizeof *columns);
        tacit__solve_lower_many(d, N, factor, solved);
        tacit__inner_many(d, N, columns, x, inner);
        tacit__squares_many(d, N, columns, squares);
        for (size_t i = 0; i < N; i++) {
            double sum = 0, square = 0, one[MAX];
            memcpy(one, columns + i * d, d * sizeof *one);
            tacit__solve_lower(d, factor, one);
            for (size_t j = 0; j < d; j++) {
                assert_near(solved[i * d + j], one[j], 1e-11);
                sum += columns[i * d + j] * x[j];
                square += columns[i * d + j] * columns[i * d + j];
            }
            assert_near(inner[i], sum, 1e-13);
            assert_near(squares[i], square, 1e-13);
        }
    }
}

/* The same numbers row by row. */
TEST(columns_may_be_stored_by_rows)
{
    enum { N = 11 };
    uint64_t r = 8;
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double factor[MAX * MAX], columns[N * MAX], rows[N * MAX], x[MAX];
        double inner[2][N], squares[2][N];
        random_definite(&r, d, factor);
        assert_true(tacit__cholesky(d, factor));
        for (size_t i = 0; i < d; i++)
            x[i] = random_unit(&r);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < d; j++)
                rows[j * N + i] = columns[i * d + j] = random_between(&r, -1, 1);
        tacit__inner_many(d, N, columns, x, inner[0]);
        tacit__combine_rows(d, N, rows, x, inner[1]);
        tacit__solve_lower_many(d, N, factor, columns);
        tacit__solve_lower_rows(d, N, factor, rows);
        tacit__squares_many(d, N, columns, squares[0]);
        tacit__squares_rows(d, N, rows, squares[1]);
        for (size_t i = 0; i < N; i++) {
            assert_near(inner[1][i], inner[0][i], 1e-13);
            assert_near(squares[1][i], squares[0][i], 1e-11);
            for (size_t j = 0; j < d; j++)
                assert_near(rows[j * N + i], columns[i * d + j], 1e-11);
        }
    }
}

TEST(what_is_not_definite_is_refused)
{
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double full[MAX * MAX] = {0};
        for (size_t i = 0; i < d; i++)
            full[i * d + i] = 1;
        full[d * d - 1] = -1;
        assert_false(tacit__cholesky(d, full));
        for (size_t i = 0; i < d; i++)
            full[i * d + i] = 1;
        full[d * d - 1] = (double)NAN;
        assert_false(tacit__cholesky(d, full));
    }
}

TEST(floors_lift_what_is_below_and_nothing_else)
{
    uint64_t r = 4;
    static double scratch[4 * MAX * MAX + 20 * MAX + 8];
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double full[MAX * MAX], u[MAX], norm = 0;
        assert_true(tacit__floor_scratch(d) <= sizeof scratch / sizeof *scratch);
        for (size_t i = 0; i < d; i++) {
            u[i] = random_between(&r, -1, 1);
            norm += u[i] * u[i];
        }
        /* 2 I - 5 u u^T: one eigenvalue is -3, the others 2 */
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                full[j * d + i] = (i == j ? 2 : 0) - 5 * u[i] * u[j] / norm;
        assert_int_equal(tacit__eigen_floor(d, full, 0.25, scratch), 1);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                assert_near(full[j * d + i], (i == j ? 2 : 0) - 1.75 * u[i] * u[j] / norm, 1e-12);
        assert_true(tacit__cholesky(d, full));
    }
}

TEST(rank_updates_are_sums_of_outer_products)
{
    enum { N = 9 };
    uint64_t r = 5;
    for (size_t o = 0; o < N_ORDERS; o++) {
        size_t d = orders[o];
        double full[MAX * MAX] = {0}, columns[N * MAX], scale[N], work[N * MAX];
        for (size_t i = 0; i < N * d; i++)
            columns[i] = random_between(&r, -1, 1);
        for (size_t i = 0; i < N; i++)
            scale[i] = random_unit(&r);
        tacit__rank_update(d, N, NULL, columns, NULL, full);
        tacit__rank_update(d, N, scale, columns, work, full);
        for (size_t j = 0; j < d; j++)
            for (size_t i = j; i < d; i++) {
                double sum = 0;
                for (size_t k = 0; k < N; k++)
                    sum += (1 + scale[k]) * columns[k * d + i] * columns[k * d + j];
                assert_near(full[j * d + i], sum, 1e-12);
            }
    }
}
