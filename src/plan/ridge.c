/* With M = L L^T, the spread of x is |L^-1 x|: one triangular solve for all pairs, d^2 n flops, and
 * no inverse.
 *
 * Definiteness is tested on M - floor I, whose factorization succeeds exactly if no eigenvalue of M
 * is below the floor: d^3/3 more flops, against 9 d^3 for the eigenvalues, which are computed only
 * when it fails, and then for eight small blocks at once. */
#include "plan/ridge.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/batched_eigen.h"
#include "linalg/symmetric.h"

static size_t scratch_size(size_t width)
{
    const size_t one = tacit__floor_scratch(width), many = tacit__eigen_batch_scratch(width);
    return width <= TACIT__EIGEN_ORDER && many > one ? many : one;
}

tacit_status tacit__ridge_create(const tacit__frame *frame, tacit__ridge *out)
{
    TACIT__REQUIRE(frame->width > 0 && frame->blocks > 0);
    const size_t w = frame->width, cells = frame->steps * frame->blocks;
    tacit__ridge r = {.frame = *frame};
    r.memory =
        TACIT__PIECES(TACIT__PIECE(r.factor, cells * w * w), TACIT__PIECE(r.weights, cells * w),
                      TACIT__PIECE(r.columns, frame->blocks == 1 ? w * frame->pairs : w),
                      TACIT__PIECE(r.scratch, scratch_size(w)));
    if (r.memory == NULL)
        return TACIT_NO_MEMORY;
    *out = r;
    return TACIT_OK;
}

void tacit__ridge_destroy(tacit__ridge *r)
{
    tacit__workspace_destroy(r->memory);
    *r = (tacit__ridge){.frame = r->frame};
}

/* The factor of one block. True: it had to be repaired. */
static bool factorize(tacit__ridge *r, const double *packed, bool exact, double add, double floor,
                      double *factor)
{
    const size_t w = r->frame.width;
    bool repaired = false;
    if (!exact) {
        tacit__packed_expand(w, packed, add - floor, factor);
        repaired = !tacit__cholesky(w, factor);
    }
    tacit__packed_expand(w, packed, add, factor);
    if (repaired)
        (void)tacit__eigen_floor(w, factor, floor, r->scratch);
    while (!tacit__cholesky(
        w, factor)) { /* rounding at the floor, or an exact Gram matrix of rank 0 */
        repaired = true;
        floor *= 2;
        tacit__packed_expand(w, packed, add, factor);
        (void)tacit__eigen_floor(w, factor, floor, r->scratch);
    }
    return repaired;
}

/* The regression of block i; returns whether it had to be repaired. */
static bool fit_block(tacit__ridge *r, const tacit__gram_sums *moments, size_t i, double add,
                      double floor)
{
    const size_t w = r->frame.width, cell = tacit__frame_cell(&r->frame);
    const double *sums = moments->sums + i * cell;
    double *factor = r->factor + i * w * w, *weights = r->weights + i * w;
    const bool repaired = factorize(r, sums, moments->gram_level == 0, add, floor, factor);
    memcpy(weights, sums + (cell - w), w * sizeof *weights);
    tacit__solve(w, factor, weights);
    return repaired;
}

/* Small blocks, many at a time. */
static size_t fit_batches(tacit__ridge *r, const tacit__gram_sums *moments, double add,
                          double floor)
{
    const size_t w = r->frame.width, cell = tacit__frame_cell(&r->frame),
                 cells = r->frame.steps * r->frame.blocks;
    size_t repaired = 0;
    for (size_t first = 0; first < cells; first += TACIT__EIGEN_BATCH) {
        const size_t left = cells - first;
        bool failed[TACIT__EIGEN_BATCH];
        const tacit__eigen_batch o = {.d = w,
                                      .n = left < TACIT__EIGEN_BATCH ? left : TACIT__EIGEN_BATCH,
                                      .stride = cell,
                                      .packed = moments->sums + first * cell,
                                      .add = add,
                                      .floor = floor,
                                      .exact = moments->gram_level == 0,
                                      .factor = r->factor + first * w * w,
                                      .solution = r->weights + first * w};
        repaired += tacit__eigen_batch_solve(&o, r->scratch, failed);
        for (size_t l = 0; l < o.n; l++)
            if (failed[l])
                repaired += fit_block(r, moments, first + l, add, floor) && o.exact;
    }
    return repaired;
}

/* Blocks with one feature each need no matrices. */
static size_t fit_scalars(tacit__ridge *r, const tacit__gram_sums *moments, double add,
                          double floor)
{
    size_t repaired = 0;
    for (size_t i = 0; i < r->frame.steps * r->frame.blocks; i++) {
        double m = moments->sums[2 * i] + add;
        repaired += m < floor;
        m = m < floor ? floor : m;
        r->factor[i] = sqrt(m);
        r->weights[i] = moments->sums[2 * i + 1] / m;
    }
    return repaired;
}

size_t tacit__ridge_fit(tacit__ridge *r, const tacit__gram_sums *moments, double add, double floor)
{
    const tacit__frame *f = &r->frame;
    const size_t w = f->width;
    TACIT__REQUIRE(floor > 0);
    if (w == 1 && f->blocks > 1)
        return fit_scalars(r, moments, add, floor);
    if (w <= TACIT__EIGEN_ORDER)
        return fit_batches(r, moments, add, floor);
    size_t repaired = 0;
    for (size_t i = 0; i < f->steps * f->blocks; i++)
        repaired += fit_block(r, moments, i, add, floor);
    return repaired;
}

static void predict_scalars(const tacit__ridge *r, size_t step, double x, double *mean,
                            double *spread)
{
    const double *factor = r->factor + step * r->frame.blocks;
    const double *weights = r->weights + step * r->frame.blocks, length = fabs(x);
    for (size_t b = 0; b < r->frame.blocks; b++) {
        mean[b] = x * weights[b];
        spread[b] = length / factor[b];
    }
}

void tacit__ridge_predict(tacit__ridge *r, size_t step, const double *features, double *mean,
                          double *spread)
{
    TACIT__REQUIRE(step < r->frame.steps);
    const tacit__frame *f = &r->frame;
    const size_t w = f->width;
    const double *factor = r->factor + step * f->blocks * w * w;
    const double *weights = r->weights + step * f->blocks * w;
    if (w == 1 && f->blocks > 1) {
        predict_scalars(r, step, features[0], mean, spread);
        return;
    }
    if (f->blocks == 1) {
        tacit__combine_rows(w, f->pairs, features, weights, mean);
        memcpy(r->columns, features, w * f->pairs * sizeof *features);
        tacit__solve_lower_rows(w, f->pairs, factor, r->columns);
        tacit__squares_rows(w, f->pairs, r->columns, spread);
    } else {
        for (size_t b = 0; b < f->blocks; b++) {
            double square = 0, inner = 0;
            memcpy(r->columns, features, w * sizeof *features);
            tacit__solve_lower(w, factor + b * w * w, r->columns);
            for (size_t j = 0; j < w; j++) {
                square += r->columns[j] * r->columns[j];
                inner += features[j] * weights[b * w + j];
            }
            mean[b] = inner;
            spread[b] = square;
        }
    }
    for (size_t i = 0; i < f->pairs; i++)
        spread[i] = sqrt(spread[i]);
}
