/* Optimistic values of many features: the inverse factor, products, and Q against a plain computation. */
#include "linalg/optimism.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "linalg/symmetric.h"
#include "support/check.h"
#include "support/random.h"

enum { MAX = 40, N = 37 };

static const size_t orders[] = {1, 2, 3, 5, 16, 17, 32, 40};

/* M = I + sum of outer products, and its factor. */
static void make(uint64_t *seed, size_t d, double *full, double *factor)
{
    double x[MAX];
    memset(full, 0, d * d * sizeof *full);
    for (size_t j = 0; j < d; j++)
        full[j * d + j] = 1;
    for (int k = 0; k < 20; k++) {
        for (size_t j = 0; j < d; j++)
            x[j] = random_between(seed, -1, 1);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                full[j * d + i] += x[i] * x[j];
    }
    memcpy(factor, full, d * d * sizeof *full);
    assert_true(tacit__cholesky(d, factor));
}

TEST(an_inverse_factor_undoes_the_factor)
{
    uint64_t seed = 1;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        size_t d = orders[o];
        double full[MAX * MAX], factor[MAX * MAX], inverse[MAX * MAX];
        make(&seed, d, full, factor);
        tacit__invert_lower(d, factor, inverse);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) {
                double sum = 0;
                for (size_t k = j; k <= i; k++)
                    sum += factor[k * d + i] * inverse[j * d + k];
                assert_within(sum - (i == j), -1e-12, 1e-12);
                assert_true(j <= i || inverse[j * d + i] == 0);
            }
    }
}

/* phi . w + bonus sqrt(phi . M^-1 phi) by solves, one feature at a time; and the same bits with and without AVX2. */
TEST(values_are_those_of_a_plain_computation)
{
    uint64_t seed = 2;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        size_t d = orders[o], cut = 0;
        static double columns[N * MAX], work[N * MAX], q[N], base[N];
        double full[MAX * MAX], factor[MAX * MAX], inverse[MAX * MAX], w[MAX], slope[MAX];
        make(&seed, d, full, factor);
        tacit__invert_lower(d, factor, inverse);
        for (size_t j = 0; j < d; j++)
            w[j] = random_between(&seed, -1, 1);
        tacit__optimism_slope(d, factor, w, slope);
        for (size_t i = 0; i < N * d; i++)
            columns[i] = floor(random_between(&seed, -1000, 1000));
        const tacit__optimism f = {.dimension = d,
                                   .inverse = inverse,
                                   .slope = slope,
                                   .unit = 0x1p-10,
                                   .offset = 1,
                                   .scale = 2,
                                   .bonus = 0.7,
                                   .low = 0,
                                   .high = 4};
        tacit__optimism_evaluate(&f, N, columns, work, q);
        tacit__cpu_pretend_base(true);
        tacit__optimism_evaluate(&f, N, columns, work, base);
        tacit__cpu_pretend_base(false);
        assert_memory_equal(q, base, sizeof q);
        for (size_t i = 0; i < N; i++) {
            double x[MAX], inner = 0, square = 0;
            for (size_t j = 0; j < d; j++)
                x[j] = columns[i * d + j] * 0x1p-10;
            for (size_t j = 0; j < d; j++)
                inner += x[j] * w[j];
            double solved[MAX];
            memcpy(solved, x, d * sizeof *x);
            tacit__solve(d, factor, solved);
            for (size_t j = 0; j < d; j++)
                square += x[j] * solved[j];
            double wanted = 1 + 2 * (inner + 0.7 * sqrt(square));
            cut += wanted < 0 || wanted > 4;
            assert_within(q[i] - fmin(fmax(wanted, 0), 4), -1e-11, 1e-11);
        }
        assert_true(d > 3 || cut < N); /* some are cut, some are not, over all orders */
    }
}

TEST(what_is_no_number_is_the_lowest_value)
{
    const tacit__optimism f = {.scale = 1, .low = -2, .high = 3};
    assert_true(tacit__optimism_cut(&f, (double)NAN, 0) == -2);
    assert_true(tacit__optimism_cut(&f, HUGE_VAL, 0) == 3);
    assert_true(tacit__optimism_cut(&f, -HUGE_VAL, 0) == -2);
    assert_true(tacit__optimism_cut(&f, 1.5, 0) == 1.5);
}
