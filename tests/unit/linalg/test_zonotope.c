/* The longest vector of a zonotope against all corners, one by one. */
#include "linalg/zonotope.h"

#include <math.h>

#include "support/check.h"
#include "support/random.h"

enum { MAX_D = 4, MAX_N = 12, SCRATCH = 4 * MAX_D * (MAX_N + 1) + 3 * MAX_N };

static double brute_force(const tacit__zonotope *z)
{
    double most = 0;
    for (size_t mask = 0; mask < (size_t)1 << z->n; mask++) {
        double square = 0;
        for (size_t j = 0; j < z->d; j++) {
            double x = 0;
            for (size_t i = 0; i < z->n; i++)
                x += (mask >> i & 1 ? 1 : z->low) * z->rows[j * z->n + i];
            square += x * x;
        }
        most = fmax(most, sqrt(square));
    }
    return most;
}

static void fill(uint64_t *r, double *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i] = random_below(r, 5) == 0 ? 0 : random_normal(r);
}

TEST(the_longest_is_found_and_proved)
{
    uint64_t r = 8;
    double rows[MAX_D * MAX_N], scratch[SCRATCH];
    for (size_t d = 1; d <= MAX_D; d++)
        for (size_t n = 1; n <= MAX_N; n += d)
            for (int trial = 0; trial < 20; trial++) {
                tacit__zonotope z = {d, n, rows, trial % 2 == 0 ? -1 : 0};
                assert_true(tacit__zonotope_scratch(d, n) <= SCRATCH);
                fill(&r, rows, d * n);
                double most = brute_force(&z);
                uint64_t steps = UINT64_MAX;
                /* a limit of 0 asks for the length itself */
                tacit__length l = tacit__zonotope_longest(&z, 0, &steps, scratch);
                assert_within(l.met - most, -1e-12, 1e-12);
                assert_within(l.proved - most, -1e-12, 1e-12);
                /* a limit above it is told from one below it */
                l = tacit__zonotope_longest(&z, most * (1 + 1e-9), &steps, scratch);
                assert_true(l.met <= most * (1 + 1e-9) && l.proved <= most * (1 + 1e-9));
                l = tacit__zonotope_longest(&z, most * (1 - 1e-6), &steps, scratch);
                assert_within(l.met - most, -1e-12, 1e-12);
            }
}

TEST(too_few_steps_prove_less_and_never_too_little)
{
    uint64_t r = 9;
    double rows[MAX_D * MAX_N], scratch[SCRATCH];
    for (int trial = 0; trial < 50; trial++) {
        tacit__zonotope z = {MAX_D, MAX_N, rows, -1};
        fill(&r, rows, MAX_D * MAX_N);
        double most = brute_force(&z);
        uint64_t steps = 5;
        tacit__length l = tacit__zonotope_longest(&z, 0, &steps, scratch);
        assert_int_equal(steps, 0);
        assert_true(l.met <= most * (1 + 1e-12) && l.proved >= most * (1 - 1e-12));
    }
}

TEST(columns_of_zeros_have_no_length)
{
    static const double rows[MAX_D * 3];
    double scratch[SCRATCH];
    tacit__zonotope z = {MAX_D, 3, rows, -1};
    uint64_t steps = 1;
    tacit__length l = tacit__zonotope_longest(&z, 0, &steps, scratch);
    assert_true(l.met == 0 && l.proved == 0);
}
