/* Many small systems at once: the bits of one at a time where nothing is repaired, the nearest definite matrices elsewhere. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "linalg/batched_eigen.h"
#include "linalg/symmetric.h"
#include "support/random.h"

enum { MOST = TACIT__EIGEN_ORDER, CELL = MOST * (MOST + 3) / 2, SCRATCH = 1 << 14 };

typedef struct results {
    double factor[TACIT__EIGEN_BATCH * MOST * MOST], solution[TACIT__EIGEN_BATCH * MOST];
    bool failed[TACIT__EIGEN_BATCH];
    size_t repaired;
} results;

static double scratch[SCRATCH];

static void fit(size_t d, size_t n, const double *packed, double add, double floor, bool exact,
                results *out)
{
    memset(out, 0, sizeof *out);
    assert_true(tacit__eigen_batch_scratch(d) <= SCRATCH && tacit__floor_scratch(d) <= SCRATCH);
    const tacit__eigen_batch o = {.d = d,
                                  .n = n,
                                  .stride = d * (d + 3) / 2,
                                  .packed = packed,
                                  .add = add,
                                  .floor = floor,
                                  .exact = exact,
                                  .factor = out->factor,
                                  .solution = out->solution};
    out->repaired = tacit__eigen_batch_solve(&o, scratch, out->failed);
}

static void draw(uint64_t *seed, size_t d, size_t n, double scale, double *packed)
{
    for (size_t i = 0; i < n * d * (d + 3) / 2; i++)
        packed[i] = random_between(seed, -scale, scale);
}

TEST(definite_systems_are_solved_as_one_at_a_time)
{
    static double packed[TACIT__EIGEN_BATCH * CELL];
    static results made;
    uint64_t seed = 1;
    for (size_t d = 1; d <= MOST; d++)
        for (size_t n = 1; n <= TACIT__EIGEN_BATCH; n += 5) {
            const size_t cell = d * (d + 3) / 2;
            draw(&seed, d, n, 1, packed);
            fit(d, n, packed, 40, 1, n % 2 == 0, &made);
            assert_int_equal(made.repaired, 0);
            for (size_t l = 0; l < n; l++) {
                double factor[MOST * MOST] = {0}, x[MOST];
                tacit__packed_expand(d, packed + l * cell, 40, factor);
                assert_true(tacit__cholesky(d, factor));
                memcpy(x, packed + l * cell + cell - d, d * sizeof *x);
                tacit__solve(d, factor, x);
                assert_false(made.failed[l]);
                assert_memory_equal(made.solution + l * d, x, d * sizeof *x);
                for (size_t j = 0; j < d; j++)
                    assert_memory_equal(made.factor + (l * d + j) * d + j, factor + j * d + j,
                                        (d - j) * sizeof *factor);
            }
        }
}

/* The matrices of all lanes, L L^T, are those that LAPACK finds, to a part in 10^8 of `size`; returns how
 * many of those had an eigenvalue below 1. */
static size_t check_nearest(size_t d, const double *packed, double add, double size,
                            const results *made)
{
    size_t repaired = 0;
    for (size_t l = 0; l < TACIT__EIGEN_BATCH; l++) {
        double nearest[MOST * MOST] = {0};
        const double *factor = made->factor + l * d * d;
        tacit__packed_expand(d, packed + l * (d * (d + 3) / 2), add, nearest);
        repaired += tacit__eigen_floor(d, nearest, 1, scratch) > 0;
        assert_false(made->failed[l]);
        for (size_t j = 0; j < d; j++)
            for (size_t i = j; i < d; i++) {
                double sum = 0;
                for (size_t k = 0; k <= j; k++)
                    sum += factor[k * d + i] * factor[k * d + j];
                assert_within(sum - nearest[j * d + i], -1e-8 * size, 1e-8 * size);
            }
    }
    return repaired;
}

/* Some of the matrices are definite: these are not touched. */
TEST(indefinite_matrices_become_the_nearest_definite_ones)
{
    static double packed[TACIT__EIGEN_BATCH * CELL];
    static results made;
    uint64_t seed = 2;
    for (size_t d = 1; d <= MOST; d++) {
        draw(&seed, d, TACIT__EIGEN_BATCH, 100, packed);
        fit(d, TACIT__EIGEN_BATCH, packed, 60, 1, false, &made);
        assert_int_equal(made.repaired, check_nearest(d, packed, 60, 100, &made));
        assert_true(d == 1 || made.repaired > 0);
    }
}

/* Zeros where noise has none, equal eigenvalues, and numbers whose squares are none. */
TEST(matrices_with_structure_are_repaired_too)
{
    static double packed[TACIT__EIGEN_BATCH * CELL];
    static results made;
    static const double sizes[] = {1e-170, 1e-150, 1e-75, 1, 1e5};
    uint64_t seed = 4;
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
        for (size_t d = 2; d <= MOST; d++) {
            const size_t cell = d * (d + 3) / 2;
            draw(&seed, d, TACIT__EIGEN_BATCH, sizes[c], packed);
            for (size_t l = 0; l < TACIT__EIGEN_BATCH; l++)
                for (size_t j = 0, at = l * cell; j < d; j++)
                    for (size_t i = 0; i <= j; i++, at++)
                        switch (l % 4) {
                        case 0: /* blocks of l / 4 + 1 */
                            packed[at] *= i / (l / 4 + 1) == j / (l / 4 + 1);
                            break;
                        case 1: /* of rank 1 */
                            packed[at] = -sizes[c] * (i == j ? 1 : M_SQRT2);
                            break;
                        case 2: /* a band without a diagonal */
                            packed[at] *= i + 1 == j;
                            break;
                        default:;
                        }
            fit(d, TACIT__EIGEN_BATCH, packed, 0, 1, false, &made);
            assert_int_equal(made.repaired, check_nearest(d, packed, 0, fmax(sizes[c], 1), &made));
        }
}

TEST(matrices_without_an_eigenvalue_of_their_own_and_zeros_are_repaired)
{
    static double packed[TACIT__EIGEN_BATCH * CELL];
    static results made;
    memset(packed, 0, sizeof packed);
    packed[0] = packed[2] = packed[5] = -3; /* the first is -3 I */
    fit(3, 4, packed, 0, 2, false, &made);
    assert_int_equal(made.repaired, 4);
    for (size_t l = 0; l < 4; l++)
        for (size_t j = 0; j < 3; j++)
            assert_close(made.factor[(l * 3 + j) * 3 + j], M_SQRT2, 1e-9);
}

TEST(what_has_no_factor_is_told)
{
    static double packed[TACIT__EIGEN_BATCH * CELL];
    static results made;
    memset(packed, 0, sizeof packed);
    packed[0] = (double)NAN;
    fit(1, 3, packed, 0, 1, true, &made); /* exact zeros are not repaired */
    assert_int_equal(made.repaired, 0);
    assert_true(made.failed[0] && made.failed[1] && made.failed[2]);
}

TEST(wide_instructions_give_the_same_bits)
{
    static double packed[TACIT__EIGEN_BATCH * CELL];
    static results wide, plain;
    uint64_t seed = 3;
    for (size_t d = 1; d <= MOST; d++) {
        draw(&seed, d, TACIT__EIGEN_BATCH, 100, packed);
        fit(d, TACIT__EIGEN_BATCH, packed, 20, 1, false, &wide);
        tacit__cpu_pretend_base(true);
        fit(d, TACIT__EIGEN_BATCH, packed, 20, 1, false, &plain);
        tacit__cpu_pretend_base(false);
        assert_memory_equal(&wide, &plain, sizeof wide);
    }
}
