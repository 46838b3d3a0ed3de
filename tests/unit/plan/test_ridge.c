/* Ridge regressions against normal equations solved by elimination, and what noise can do to them. */
#include "plan/ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/symmetric.h"
#include "support/check.h"
#include "support/random.h"
#include "support/solve.h"

enum { MAX = 24 };

/* Sums of a few random users, and the full matrices of every block. */
static double *make_sums(const tacit__frame *f, uint64_t seed, double *full)
{
    size_t cell = tacit__frame_cell(f), w = f->width, packed = tacit__packed_size(w);
    double *sums = calloc(tacit__frame_size(f), sizeof *sums), one[MAX * (MAX + 1) / 2];
    for (size_t b = 0; b < f->steps * f->blocks; b++)
        for (size_t user = 0; user < w + 3; user++) {
            double x[MAX], y = random_between(&seed, -1, 1);
            for (size_t j = 0; j < w; j++)
                x[j] = random_between(&seed, -1, 1);
            tacit__packed_outer(w, 1, x, one);
            for (size_t i = 0; i < packed; i++)
                sums[b * cell + i] += one[i];
            for (size_t j = 0; j < w; j++) {
                sums[b * cell + packed + j] += y * x[j];
                for (size_t i = 0; i < w; i++)
                    full[(b * w + i) * w + j] += x[i] * x[j];
            }
        }
    return sums;
}

static void check_frame(const tacit__frame *f, bool noisy)
{
    size_t w = f->width, blocks = f->steps * f->blocks, cell = tacit__frame_cell(f);
    SCOPED_FREE double *full = calloc(blocks * w * w, sizeof *full);
    SCOPED_FREE double *sums = make_sums(f, w + 100 * f->blocks, full);
    tacit__ridge ridge;
    assert_ok(tacit__ridge_create(f, &ridge));
    tacit__gram_sums m = {.users = 5, .sums = sums, .gram_level = noisy ? 1 : 0};
    assert_int_equal(tacit__ridge_fit(&ridge, &m, 0.7, 0.3), 0);
    double *features = calloc(w * f->pairs, sizeof *features), *mean = calloc(f->pairs, 8);
    SCOPED_FREE double *spread = calloc(f->pairs, 8);
    uint64_t r = 3;
    for (size_t i = 0; i < w * f->pairs; i++)
        features[i] = random_between(&r, -1, 1);
    for (size_t h = 0; h < f->steps; h++) {
        tacit__ridge_predict(&ridge, h, features, mean, spread);
        for (size_t p = 0; p < f->pairs; p++) {
            size_t b = h * f->blocks + (f->blocks > 1 ? p : 0);
            double x[MAX], solved[MAX], weights[MAX], inner = 0, square = 0, matrix[MAX * MAX];
            memcpy(matrix, full + b * w * w, w * w * sizeof *matrix);
            for (size_t j = 0; j < w; j++) {
                matrix[j * w + j] += 0.7;
                x[j] = f->blocks > 1 ? features[j] : features[j * f->pairs + p];
            }
            (void)solve_plainly(w, matrix, sums + b * cell + (cell - w), weights);
            (void)solve_plainly(w, matrix, x, solved);
            for (size_t j = 0; j < w; j++) {
                inner += x[j] * weights[j];
                square += x[j] * solved[j];
            }
            assert_within(mean[p] - inner, -1e-9, 1e-9);
            assert_within(spread[p] - sqrt(square), -1e-9, 1e-9);
        }
    }
    tacit__ridge_destroy(&ridge);
    free(features);
    free(mean);
}

TEST(estimates_solve_the_normal_equations)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        check_frame(&(tacit__frame){.steps = 3, .blocks = 1, .width = 5, .pairs = 7}, noisy);
        check_frame(&(tacit__frame){.steps = 2, .blocks = 1, .width = 20, .pairs = 9}, noisy);
        check_frame(&(tacit__frame){.steps = 2, .blocks = 4, .width = 3, .pairs = 4}, noisy);
        check_frame(&(tacit__frame){.steps = 2, .blocks = 6, .width = 1, .pairs = 6}, noisy);
        check_frame(&(tacit__frame){.steps = 1, .blocks = 1, .width = 1, .pairs = 6}, noisy);
    }
}

/* Noise that makes a Gram matrix indefinite is repaired, counted, and leaves finite numbers: eigenvalues are at least the
 * floor, so no spread is more than |x| / sqrt(floor). */
TEST(indefinite_matrices_are_repaired_and_counted)
{
    const tacit__frame frames[] = {{.steps = 4, .blocks = 1, .width = 5, .pairs = 3},
                                   {.steps = 4, .blocks = 1, .width = 20, .pairs = 3},
                                   {.steps = 4, .blocks = 3, .width = 1, .pairs = 3},
                                   {.steps = 4, .blocks = 3, .width = 4, .pairs = 3}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const tacit__frame *f = &frames[i];
        uint64_t r = 9;
        size_t n = tacit__frame_size(f);
        double *sums = calloc(n, sizeof *sums), features[MAX * 3], mean[3], spread[3];
        for (size_t j = 0; j < n; j++)
            sums[j] = 100 * random_normal(&r);
        for (size_t j = 0; j < f->width * 3; j++)
            features[j] = 1 / sqrt((double)f->width);
        tacit__ridge ridge;
        assert_ok(tacit__ridge_create(f, &ridge));
        tacit__gram_sums m = {.users = 5, .sums = sums, .gram_level = 1};
        size_t repaired = tacit__ridge_fit(&ridge, &m, 1, 0.25);
        assert_within((double)repaired, 1, (double)(f->steps * f->blocks));
        for (size_t h = 0; h < f->steps; h++) {
            tacit__ridge_predict(&ridge, h, features, mean, spread);
            for (size_t p = 0; p < 3; p++) {
                assert_true(isfinite(mean[p]));
                assert_within(spread[p], 0, 2 * (1 + 1e-6));
            }
        }
        /* a shift beyond the noise needs no repair */
        assert_int_equal(tacit__ridge_fit(&ridge, &m, 5000, 0.25), 0);
        tacit__ridge_destroy(&ridge);
        free(sums);
    }
}
