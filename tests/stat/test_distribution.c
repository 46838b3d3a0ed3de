/* Gate 2: the compiled sampler has exactly the law it claims.
 *
 * Probabilities are P(r) = (S((|r|-1/2)/scale) - S((|r|+1/2)/scale)) / 2 for r /= 0, from MPFR at 200 bits, S the
 * survival function of the magnitude: independent of the sampler's tables. Seeds are fixed, so a green run stays
 * green; if the seed were drawn anew, each check would fail with probability below 1e-8 (six standard
 * deviations), and the whole file below 1e-6. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "noise/sampler.h"
#include "support/stats.h"

enum { DRAWS = 1 << 21, MOST = 5000 };

#define TOO_FAR 6.0 /* standard deviations */

static tacit__site site(uint64_t seed)
{
    SCOPED(tacit_noise) *root = NULL;
    tacit__site s;
    assert_int_equal(tacit_noise_create_simulated(seed, &root), TACIT_OK);
    tacit__site_open(&s, root, "test");
    return s;
}

/* P(|X| > z) for the standard law. */
static double survival(tacit__noise_law law, double z)
{
    mpfr_t x;
    mpfr_init2(x, 200);
    mpfr_set_d(x, z, MPFR_RNDN);
    if (law == TACIT__GAUSSIAN) {
        mpfr_t root2;
        mpfr_init2(root2, 200);
        mpfr_sqrt_ui(root2, 2, MPFR_RNDN);
        mpfr_div(x, x, root2, MPFR_RNDN);
        mpfr_erfc(x, x, MPFR_RNDN);
        mpfr_clear(root2);
    } else {
        mpfr_neg(x, x, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
    }
    double p = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return p;
}

static double probability(tacit__noise_law law, double scale, int64_t r)
{
    double m = (double)llabs(r);
    if (r == 0)
        return 1 - survival(law, 0.5 / scale);
    return (survival(law, (m - 0.5) / scale) - survival(law, (m + 0.5) / scale)) / 2;
}

static int64_t *draw(uint64_t seed, tacit__noise_law law, double scale)
{
    int64_t *x = malloc(DRAWS * sizeof *x);
    assert_non_null(x);
    tacit__site s = site(seed);
    tacit__noise_draw(&s, 3, 0, law, scale, DRAWS, x);
    return x;
}

/* Chi-square of all lattice points with at least 50 expected draws, the rest in two tails. */
static void check_small_scale(tacit__noise_law law, double scale, uint64_t seed)
{
    static uint64_t count[2 * MOST + 1];
    for (size_t i = 0; i < 2 * MOST + 1; i++)
        count[i] = 0;
    int64_t *x = draw(seed, law, scale);
    for (size_t i = 0; i < DRAWS; i++) {
        int64_t r = x[i] < -MOST ? -MOST : x[i] > MOST ? MOST : x[i];
        count[r + MOST]++;
    }
    free(x);
    double chi_square = 0;
    int cells = 0;
    double seen_left = 0, expected_left = DRAWS;
    for (int64_t r = -MOST; r <= MOST; r++) {
        double expected = DRAWS * probability(law, scale, r), seen = (double)count[r + MOST];
        if (expected < 50) {
            seen_left += seen;
            continue;
        }
        chi_square += (seen - expected) * (seen - expected) / expected;
        expected_left -= expected;
        cells++;
        /* log-ratio of neighboring points: what a shift of the data by one step shows */
        double next = DRAWS * probability(law, scale, r + 1),
               seen_next = (double)count[r + 1 + MOST];
        if (r < MOST && next >= 50) {
            double error = log(seen / seen_next) - log(expected / next);
            assert_true(fabs(error) < TOO_FAR * sqrt(1 / expected + 1 / next));
        }
    }
    if (expected_left > 20) {
        chi_square += (seen_left - expected_left) * (seen_left - expected_left) / expected_left;
        cells++;
    } else {
        assert_true(seen_left < 20 + TOO_FAR * sqrt(20) + 20);
    }
    assert_true(cells >= 2);
    assert_true(fabs(stats_chi_square_score(chi_square, cells - 1)) < TOO_FAR);
}

TEST(up_to_1024_every_point_has_its_exact_probability)
{
    static const double scales[] = {0.3, 0.5, 1, 2.5, 8, 31.4, 0x1p10};
    for (uint64_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        check_small_scale(TACIT__GAUSSIAN, scales[i], 100 + i);
        check_small_scale(TACIT__LAPLACE, scales[i], 200 + i);
    }
}

/* Chi-square over 64 cells of equal probability, by the probability transform of the midpoint. */
static void check_large_scale(tacit__noise_law law, double scale, uint64_t seed)
{
    enum { CELLS = 64 };
    double count[CELLS] = {0}, chi_square = 0;
    int64_t *x = draw(seed, law, scale);
    for (size_t i = 0; i < DRAWS; i++) {
        double z = fabs((double)x[i]) / scale;
        double tail = (law == TACIT__GAUSSIAN ? erfc(z / M_SQRT2) : exp(-z)) / 2;
        double u = x[i] < 0 ? tail : 1 - tail;
        int cell = (int)(u * CELLS);
        count[cell < CELLS ? cell : CELLS - 1]++;
    }
    free(x);
    for (int i = 0; i < CELLS; i++) {
        double expected = (double)DRAWS / CELLS;
        chi_square += (count[i] - expected) * (count[i] - expected) / expected;
    }
    assert_true(fabs(stats_chi_square_score(chi_square, CELLS - 1)) < TOO_FAR);
}

TEST(large_scales_have_the_right_shape)
{
    static const double scales[] = {0x1p20, 0x1p34, 1e12 + 0.125};
    for (uint64_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        check_large_scale(TACIT__GAUSSIAN, scales[i], 300 + i);
        check_large_scale(TACIT__LAPLACE, scales[i], 400 + i);
    }
}

/* Sums of powers: mean 0, and variance scale^2 (+ 1/12 for the rounding) or 2 scale^2. */
TEST(moments_are_those_of_the_law)
{
    for (int law = 0; law < TACIT__LAWS; law++) {
        const double scale = 0x1p16;
        int64_t *x = draw(500 + (uint64_t)law, (tacit__noise_law)law, scale);
        double sum = 0, square = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            double z = (double)x[i] / scale;
            sum += z;
            square += z * z;
        }
        free(x);
        double variance = law == TACIT__GAUSSIAN ? 1 : 2, kurtosis = law == TACIT__GAUSSIAN ? 3 : 6;
        assert_true(fabs(sum) < TOO_FAR * sqrt(variance * DRAWS));
        double spread = variance * sqrt((kurtosis - 1) * DRAWS);
        assert_true(fabs(square - variance * DRAWS) < TOO_FAR * spread);
    }
}

/* Neighboring inputs reach the same outputs: no lattice point is skipped near the center, for either. */
TEST(neighboring_inputs_have_the_same_support)
{
    for (int law = 0; law < TACIT__LAWS; law++)
        for (int shift = 0; shift < 2; shift++) {
            bool seen[21] = {false};
            int64_t *x = draw(600 + (uint64_t)(2 * law + shift), (tacit__noise_law)law, 4);
            for (size_t i = 0; i < DRAWS; i++)
                if (llabs(x[i] + shift) <= 10)
                    seen[x[i] + shift + 10] = true;
            free(x);
            for (int i = 0; i < 21; i++)
                assert_true(seen[i]);
        }
}

/* Every position of a block gets noise of its own: each coordinate changes, none is tied to another. */
TEST(every_coordinate_is_noised_by_itself)
{
    enum { N = 4101, STEPS = 24 };
    static int64_t first[N], x[N];
    static bool changed[N];
    static double product[N];
    tacit__site s = site(7);
    tacit__noise_draw(&s, 0, 0, TACIT__GAUSSIAN, 1000, N, first);
    for (uint64_t step = 1; step <= STEPS; step++) {
        tacit__noise_draw(&s, step, 0, TACIT__GAUSSIAN, 1000, N, x);
        for (size_t i = 0; i < N; i++) {
            changed[i] |= x[i] != first[i];
            product[i] += (double)x[i] * (double)x[(i + 1) % N] * 1e-6;
        }
    }
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        assert_true(changed[i]);
        sum += product[i];
    }
    assert_true(fabs(sum) < TOO_FAR * sqrt((double)N * STEPS));
}
