/* Clamp the mass of the positive part into the allowed interval, then project on the simplex of that mass.
 *
 * With m0 = sum max(y_i, 0) and mass = clamp(m0, visits - slack, visits + slack) the answer is x_i
 * = max(y_i - theta, 0) with theta such that the sum is right (0 if mass = m0): by repeatedly
 * dropping what lies below the mean excess of the rest, which settles after a few passes, or from
 * the sorted values should it not. The argmin of the paper is not unique; this one is also the
 * Euclidean projection on the feasible polytope, hence continuous: rounding cannot flip it.
 * docs/why/projection.md has the proof of optimality. O(n log n) at worst, O(n) as a rule.
 *
 * Rows are short and the number of passes is hard to foretell, so a planner gives eight at once,
 * interleaved: the loops over rows are vectors, and all wait for the slowest. Each row is added up
 * in order, alone or not, and the sum is a chain of additions: where eight rows fit into one
 * vector, two blocks are added up in turns. */
#include "plan/project.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/error.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

enum { PASSES = 16, ROWS = TACIT__PROJECT_ROWS };

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* theta with sum max(y_i - theta, 0) = mass > 0, from the sorted values: the largest j with
 * d_j > (d_1 + .. + d_j - mass) / j. */
static double threshold_by_sorting(const double *y, size_t n, size_t stride, double mass,
                                   double *sorted)
{
    double sum = 0, theta = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = y[i * stride];
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t j = 0; j < n; j++) {
        sum += sorted[j];
        double candidate = (sum - mass) / (double)(j + 1);
        if (!(sorted[j] > candidate))
            break;
        theta = candidate;
    }
    return theta;
}

/* Sum and number of the values above theta, for each row. `rows` is a constant where this is called. */
TACIT__INLINE void add_above(const double *restrict y, size_t n, size_t rows, const double *theta,
                             double *restrict sums, double *restrict counts)
{
    double sum[ROWS] = {0}, count[ROWS] = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) {
            double value = y[i * rows + r];
            sum[r] += value > theta[r] ? value : 0;
            count[r] += value > theta[r] ? 1 : 0;
        }
    for (size_t r = 0; r < rows; r++) {
        sums[r] = sum[r];
        counts[r] = count[r];
    }
}

/* A theta that is not too large, and how many values exceed it. If there is less mass than the
 * positive values have, theta is positive, and they are all that matters; with none at all
 * everything is dropped. */
TACIT__INLINE void start(double visits, double slack, double positive, double n_positive,
                         double *mass, double *theta, double *count)
{
    double up = visits + slack > 0 ? visits + slack : 0;
    double low = visits - slack < up ? visits - slack : up;
    double clamped = positive < low ? low : positive;
    clamped = clamped > up ? up : clamped;
    bool less = clamped <= positive;
    double excess = (positive - clamped) / (n_positive > 0 ? n_positive : 1);
    *mass = clamped;
    *theta = !(clamped > 0) ? HUGE_VAL : less ? excess : -HUGE_VAL;
    *count = clamped > 0 && less ? n_positive : 0;
}

/* theta of the rows in which it is not `count` values that exceed it. */
TACIT__INLINE void sort_remaining(const double *y, size_t n, size_t rows, const double *mass,
                                  const double *count, double *sorted, double *theta)
{
    double sum[ROWS], above[ROWS];
    add_above(y, n, rows, theta, sum, above);
    for (size_t r = 0; r < rows; r++)
        if (above[r] != count[r])
            theta[r] = threshold_by_sorting(y + r, n, rows, mass[r], sorted);
}

/* theta only grows; each pass drops at least one value or none. */
TACIT__INLINE void project(double *restrict y, size_t n, size_t rows, const double *visits,
                           double slack, double *sorted)
{
    double mass[ROWS], theta[ROWS] = {0}, count[ROWS], sum[ROWS], above[ROWS];
    add_above(y, n, rows, theta, sum, above);
    for (size_t r = 0; r < rows; r++)
        start(visits[r], slack, sum[r], above[r], &mass[r], &theta[r], &count[r]);
    double left = 1; /* rows that have not settled */
    for (int pass = 0; pass < PASSES && left > 0; pass++) {
        add_above(y, n, rows, theta, sum, above);
        left = 0;
        for (size_t r = 0; r < rows; r++) {
            bool settled = above[r] == count[r];
            double next = (sum[r] - mass[r]) / above[r];
            theta[r] = settled ? theta[r] : next;
            count[r] = above[r];
            left += settled ? 0 : 1;
        }
    }
    if (left > 0)
        sort_remaining(y, n, rows, mass, count, sorted, theta);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) {
            double value = y[i * rows + r];
            y[i * rows + r] = value > theta[r] ? value - theta[r] : 0;
        }
}

void tacit__project_counts(const double *y, size_t n, double visits, double slack, double *sorted,
                           double *x)
{
    TACIT__REQUIRE(n > 0 && slack >= 0);
    for (size_t i = 0; i < n; i++)
        x[i] = y[i];
    project(x, n, 1, &visits, slack, sorted);
}

static void project_rows_base(const double *const y[ROWS], size_t n, const double *visits,
                              double slack, double shift, double *sorted, double *totals, double *x)
{
    for (size_t r = 0; r < ROWS; r++) {
        totals[r] = 0;
        for (size_t i = 0; i < n; i++)
            x[i * ROWS + r] = y[r][i];
    }
    project(x, n, ROWS, visits, slack, sorted);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < ROWS; r++)
            totals[r] += x[i * ROWS + r] += shift;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < ROWS; r++)
            x[i * ROWS + r] *= 1 / totals[r];
}

#if TACIT__HAVE_AVX2
enum { HALVES = ROWS / 4 };

/* Four rows to columns, from values i .. i+3 of each. */
TACIT__AVX2 TACIT__INLINE void transpose(const double *const row[4], size_t i, double *x)
{
    __m256d a = _mm256_loadu_pd(row[0] + i), b = _mm256_loadu_pd(row[1] + i);
    __m256d c = _mm256_loadu_pd(row[2] + i), d = _mm256_loadu_pd(row[3] + i);
    __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
    __m256d cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
    _mm256_storeu_pd(x, _mm256_permute2f128_pd(ab_even, cd_even, 0x20));
    _mm256_storeu_pd(x + ROWS, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20));
    _mm256_storeu_pd(x + 2 * ROWS, _mm256_permute2f128_pd(ab_even, cd_even, 0x31));
    _mm256_storeu_pd(x + 3 * ROWS, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31));
}

TACIT__AVX2 TACIT__INLINE void interleave(const double *const y[ROWS], size_t n, double *x)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < HALVES; k++)
            transpose(y + 4 * k, i, x + i * ROWS + 4 * k);
    for (; i < n; i++)
        for (size_t r = 0; r < ROWS; r++)
            x[i * ROWS + r] = y[r][i];
}

/* `yes` where the mask is set. */
TACIT__AVX2 TACIT__INLINE __m256d pick(__m256d mask, __m256d yes, __m256d no)
{
    return _mm256_blendv_pd(no, yes, mask);
}

TACIT__AVX2 TACIT__INLINE void add_above_avx2(const double *y, size_t n, const __m256d *theta,
                                              __m256d *sum, __m256d *count)
{
    const __m256d one = _mm256_set1_pd(1);
    for (int k = 0; k < HALVES; k++)
        sum[k] = count[k] = _mm256_setzero_pd();
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < HALVES; k++) {
            __m256d value = _mm256_loadu_pd(y + i * ROWS + 4 * k);
            __m256d above = _mm256_cmp_pd(value, theta[k], _CMP_GT_OQ);
            sum[k] = _mm256_add_pd(sum[k], _mm256_and_pd(value, above));
            count[k] = _mm256_add_pd(count[k], _mm256_and_pd(one, above));
        }
}

/* `start` on four rows. */
TACIT__AVX2 TACIT__INLINE void start_avx2(__m256d visits, __m256d slack, __m256d positive,
                                          __m256d n_positive, __m256d *mass, __m256d *theta,
                                          __m256d *count)
{
    const __m256d zero = _mm256_setzero_pd(), infinity = _mm256_set1_pd(HUGE_VAL);
    __m256d up = _mm256_max_pd(_mm256_add_pd(visits, slack), zero);
    __m256d low = _mm256_min_pd(_mm256_sub_pd(visits, slack), up);
    __m256d clamped = _mm256_min_pd(_mm256_max_pd(low, positive), up);
    __m256d less = _mm256_cmp_pd(clamped, positive, _CMP_LE_OQ);
    __m256d some = _mm256_cmp_pd(clamped, zero, _CMP_GT_OQ);
    __m256d divisor = _mm256_max_pd(n_positive, _mm256_set1_pd(1));
    __m256d excess = _mm256_div_pd(_mm256_sub_pd(positive, clamped), divisor);
    *mass = clamped;
    *theta = pick(some, pick(less, excess, _mm256_sub_pd(zero, infinity)), infinity);
    *count = _mm256_and_pd(n_positive, _mm256_and_pd(some, less));
}

/* project_rows_base step for step and with the same roundings. */
TACIT__AVX2 static void project_rows_avx2(const double *const y[ROWS], size_t n,
                                          const double *visits, double slack, double shift,
                                          double *sorted, double *totals, double *x)
{
    interleave(y, n, x);
    __m256d mass[HALVES], theta[HALVES], count[HALVES], sum[HALVES], above[HALVES];
    for (int k = 0; k < HALVES; k++)
        theta[k] = _mm256_setzero_pd();
    add_above_avx2(x, n, theta, sum, above);
    for (int k = 0; k < HALVES; k++)
        start_avx2(_mm256_loadu_pd(visits + 4 * k), _mm256_set1_pd(slack), sum[k], above[k],
                   &mass[k], &theta[k], &count[k]);
    int left = 1;
    for (int pass = 0; pass < PASSES && left != 0; pass++) {
        add_above_avx2(x, n, theta, sum, above);
        left = 0;
        for (int k = 0; k < HALVES; k++) {
            __m256d moved = _mm256_cmp_pd(above[k], count[k], _CMP_NEQ_OQ);
            __m256d next = _mm256_div_pd(_mm256_sub_pd(sum[k], mass[k]), above[k]);
            theta[k] = pick(moved, next, theta[k]);
            count[k] = above[k];
            left |= _mm256_movemask_pd(moved);
        }
    }
    if (left != 0) {
        double masses[ROWS], thetas[ROWS], counts[ROWS];
        for (int k = 0; k < HALVES; k++) {
            _mm256_storeu_pd(masses + 4 * k, mass[k]);
            _mm256_storeu_pd(thetas + 4 * k, theta[k]);
            _mm256_storeu_pd(counts + 4 * k, count[k]);
        }
        sort_remaining(x, n, ROWS, masses, counts, sorted, thetas);
        for (int k = 0; k < HALVES; k++)
            theta[k] = _mm256_loadu_pd(thetas + 4 * k);
    }
    for (int k = 0; k < HALVES; k++)
        sum[k] = _mm256_setzero_pd();
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < HALVES; k++) {
            double *at = x + i * ROWS + 4 * k;
            __m256d value = _mm256_loadu_pd(at);
            __m256d kept = _mm256_cmp_pd(value, theta[k], _CMP_GT_OQ);
            value = _mm256_and_pd(_mm256_sub_pd(value, theta[k]), kept);
            value = _mm256_add_pd(value, _mm256_set1_pd(shift));
            _mm256_storeu_pd(at, value);
            sum[k] = _mm256_add_pd(sum[k], value);
        }
    for (int k = 0; k < HALVES; k++) {
        _mm256_storeu_pd(totals + 4 * k, sum[k]);
        sum[k] = _mm256_div_pd(_mm256_set1_pd(1), sum[k]);
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < HALVES; k++) {
            double *at = x + i * ROWS + 4 * k;
            _mm256_storeu_pd(at, _mm256_mul_pd(_mm256_loadu_pd(at), sum[k]));
        }
}

TACIT__AVX512 TACIT__INLINE void add_above_avx512(const double *y, size_t n, size_t blocks,
                                                  const __m512d *theta, __m512d *sum,
                                                  __m512i *count)
{
    const __m512i one = _mm512_set1_epi64(1);
    for (size_t b = 0; b < blocks; b++) {
        sum[b] = _mm512_setzero_pd();
        count[b] = _mm512_setzero_si512();
    }
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < blocks; b++) {
            __m512d value = _mm512_loadu_pd(y + (b * n + i) * ROWS);
            __mmask8 above = _mm512_cmp_pd_mask(value, theta[b], _CMP_GT_OQ);
            sum[b] = _mm512_mask_add_pd(sum[b], above, sum[b], value);
            count[b] = _mm512_mask_add_epi64(count[b], above, count[b], one);
        }
}

/* `start` on eight rows. */
TACIT__AVX512 TACIT__INLINE void start_avx512(__m512d visits, __m512d slack, __m512d positive,
                                              __m512i n_positive, __m512d *mass, __m512d *theta,
                                              __m512i *count)
{
    const __m512d zero = _mm512_setzero_pd(), infinity = _mm512_set1_pd(HUGE_VAL);
    __m512d up = _mm512_max_pd(_mm512_add_pd(visits, slack), zero);
    __m512d low = _mm512_min_pd(_mm512_sub_pd(visits, slack), up);
    __m512d clamped = _mm512_min_pd(_mm512_max_pd(low, positive), up);
    __mmask8 less = _mm512_cmp_pd_mask(clamped, positive, _CMP_LE_OQ);
    __mmask8 some = _mm512_cmp_pd_mask(clamped, zero, _CMP_GT_OQ);
    __m512d divisor = _mm512_max_pd(_mm512_cvtepi64_pd(n_positive), _mm512_set1_pd(1));
    __m512d excess = _mm512_div_pd(_mm512_sub_pd(positive, clamped), divisor);
    *mass = clamped;
    *theta = _mm512_mask_blend_pd(less, _mm512_set1_pd(-HUGE_VAL), excess);
    *theta = _mm512_mask_blend_pd(some, infinity, *theta);
    *count = _mm512_maskz_mov_epi64((__mmask8)(some & less), n_positive);
}

/* Rows that have not settled after all passes. */
TACIT__AVX512 static void finish_avx512(const double *y, size_t n, __m512d mass, __m512i count,
                                        double *sorted, __m512d *theta)
{
    double masses[ROWS], thetas[ROWS], counts[ROWS];
    _mm512_storeu_pd(masses, mass);
    _mm512_storeu_pd(thetas, *theta);
    _mm512_storeu_pd(counts, _mm512_cvtepi64_pd(count));
    sort_remaining(y, n, ROWS, masses, counts, sorted, thetas);
    *theta = _mm512_loadu_pd(thetas);
}

/* The same once more, a block to a vector. `blocks` is a constant where this is called. */
TACIT__AVX512 TACIT__INLINE void project_blocks(size_t blocks, const double *const *y, size_t n,
                                                const double *visits, double slack, double shift,
                                                double *sorted, double *totals, double *x)
{
    enum { MOST = TACIT__PROJECT_BLOCKS };
    __m512d mass[MOST], theta[MOST], sum[MOST];
    __m512i count[MOST], above[MOST];
    for (size_t b = 0; b < blocks; b++) {
        interleave(y + b * ROWS, n, x + b * n * ROWS);
        theta[b] = _mm512_setzero_pd();
    }
    add_above_avx512(x, n, blocks, theta, sum, above);
    for (size_t b = 0; b < blocks; b++)
        start_avx512(_mm512_loadu_pd(visits + b * ROWS), _mm512_set1_pd(slack), sum[b], above[b],
                     &mass[b], &theta[b], &count[b]);
    unsigned left = 1;
    for (int pass = 0; pass < PASSES && left != 0; pass++) {
        add_above_avx512(x, n, blocks, theta, sum, above);
        left = 0;
        for (size_t b = 0; b < blocks; b++) {
            __mmask8 moved = _mm512_cmpneq_epi64_mask(above[b], count[b]);
            __m512d next =
                _mm512_div_pd(_mm512_sub_pd(sum[b], mass[b]), _mm512_cvtepi64_pd(above[b]));
            theta[b] = _mm512_mask_mov_pd(theta[b], moved, next);
            count[b] = above[b];
            left |= moved;
        }
    }
    for (size_t b = 0; b < blocks && left != 0; b++)
        finish_avx512(x + b * n * ROWS, n, mass[b], count[b], sorted, &theta[b]);
    for (size_t b = 0; b < blocks; b++)
        sum[b] = _mm512_setzero_pd();
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < blocks; b++) {
            double *at = x + (b * n + i) * ROWS;
            __m512d value = _mm512_loadu_pd(at);
            __mmask8 kept = _mm512_cmp_pd_mask(value, theta[b], _CMP_GT_OQ);
            value = _mm512_maskz_sub_pd(kept, value, theta[b]);
            value = _mm512_add_pd(value, _mm512_set1_pd(shift));
            _mm512_storeu_pd(at, value);
            sum[b] = _mm512_add_pd(sum[b], value);
        }
    for (size_t b = 0; b < blocks; b++) {
        _mm512_storeu_pd(totals + b * ROWS, sum[b]);
        sum[b] = _mm512_div_pd(_mm512_set1_pd(1), sum[b]);
        for (size_t i = 0; i < n; i++) {
            double *at = x + (b * n + i) * ROWS;
            _mm512_storeu_pd(at, _mm512_mul_pd(_mm512_loadu_pd(at), sum[b]));
        }
    }
}

TACIT__AVX512 static void project_rows_avx512(size_t blocks, const double *const *y, size_t n,
                                              const double *visits, double slack, double shift,
                                              double *sorted, double *totals, double *x)
{
    if (blocks == 2)
        project_blocks(2, y, n, visits, slack, shift, sorted, totals, x);
    else
        project_blocks(1, y, n, visits, slack, shift, sorted, totals, x);
}
#endif

void tacit__project_rows(size_t blocks, const double *const *y, size_t n, const double *visits,
                         double slack, double shift, double *sorted, double *totals, double *x)
{
    TACIT__REQUIRE(blocks > 0 && n > 0 && slack >= 0);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx512()) {
        project_rows_avx512(blocks, y, n, visits, slack, shift, sorted, totals, x);
        return;
    }
    const bool wide = tacit__cpu_has_avx2();
#endif
    for (size_t b = 0; b < blocks; b++, y += ROWS, visits += ROWS, totals += ROWS, x += n * ROWS) {
#if TACIT__HAVE_AVX2
        if (wide) {
            project_rows_avx2(y, n, visits, slack, shift, sorted, totals, x);
            continue;
        }
#endif
        project_rows_base(y, n, visits, slack, shift, sorted, totals, x);
    }
}
