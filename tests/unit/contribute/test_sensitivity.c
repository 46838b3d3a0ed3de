/* How far one user moves a Gram matrix and a response: the formulas against brute force over small sets of features. */
#include "contribute/sensitivity.h"

#include <math.h>

#include "linalg/symmetric.h"
#include "support/check.h"
#include "support/random.h"

enum { MAX = 4 };

typedef struct step {
    double x[MAX], y;
} step;

/* The vector of one step: (iso(x x^T), ratio x y). */
static tacit__angle angle_of(int nonnegative)
{
    return nonnegative ? TACIT__ACUTE : TACIT__ANY_ANGLE;
}

static size_t vector_of(const step *s, size_t d, double ratio, double *out)
{
    size_t n = tacit__packed_size(d);
    tacit__packed_outer(d, 1, s->x, out);
    for (size_t j = 0; j < d; j++)
        out[n + j] = ratio * s->x[j] * s->y;
    return n + d;
}

static void distance(const step *a, const step *b, size_t d, double ratio, double *l1, double *l2)
{
    double u[MAX * (MAX + 3) / 2], v[MAX * (MAX + 3) / 2], square = 0;
    size_t n = vector_of(a, d, ratio, u);
    (void)vector_of(b, d, ratio, v);
    *l1 = 0;
    for (size_t i = 0; i < n; i++) {
        *l1 += fabs(u[i] - v[i]);
        square += (u[i] - v[i]) * (u[i] - v[i]);
    }
    *l2 = sqrt(square);
}

/* A point of the unit ball, often on its surface, with extreme targets more often than not. */
static step random_step(uint64_t *r, size_t d, bool nonnegative)
{
    step s = {{0}, 0};
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        s.x[j] = random_normal(r);
        s.x[j] = nonnegative ? fabs(s.x[j]) : s.x[j];
        if (random_below(r, 4) == 0)
            s.x[j] = 0;
        square += s.x[j] * s.x[j];
    }
    double length = random_below(r, 2) == 0 ? 1 : random_unit(r);
    for (size_t j = 0; j < d && square > 0; j++)
        s.x[j] *= length / sqrt(square);
    s.y = random_below(r, 2) == 0 ? 1 : random_between(r, nonnegative ? 0 : -1, 1);
    return s;
}

static const double ratios[] = {0.05, 0.5, 1, 1.3, M_SQRT2, 2, 7};
enum { N_RATIOS = sizeof ratios / sizeof *ratios };

TEST(no_two_users_are_further_apart_than_declared)
{
    uint64_t r = 5;
    for (size_t i = 0; i < N_RATIOS; i++)
        for (size_t d = 1; d <= MAX; d++)
            for (int nonnegative = 0; nonnegative < 2; nonnegative++)
                for (int trial = 0; trial < 4000; trial++) {
                    step a = random_step(&r, d, nonnegative), b = random_step(&r, d, nonnegative);
                    double l1, l2;
                    distance(&a, &b, d, ratios[i], &l1, &l2);
                    assert_within(l2, 0,
                                  tacit__step_l2(ratios[i], angle_of(nonnegative)) * (1 + 1e-14));
                    assert_within(l1, 0, tacit__step_l1(ratios[i], d) * (1 + 1e-14));
                    step zero = {{0}, 0};
                    distance(&a, &zero, d, ratios[i], &l1, &l2);
                    assert_within(l2, 0, tacit__step_norm_l2(ratios[i]) * (1 + 1e-14));
                    assert_within(l1, 0, tacit__step_norm_l1(ratios[i], d) * (1 + 1e-14));
                }
}

/* All pairs of unit vectors in the plane, to a hundredth of a degree: the declared L2 distance is reached. */
TEST(the_declared_distance_is_reached)
{
    for (size_t i = 0; i < N_RATIOS; i++)
        for (int nonnegative = 0; nonnegative < 2; nonnegative++) {
            double most = 0, l1, l2;
            for (int k = 0; k <= (nonnegative ? 9000 : 18000); k++) {
                double angle = k * M_PI / 18000;
                step a = {{1, 0}, 1}, b = {{cos(angle), sin(angle)}, 1};
                distance(&a, &b, 2, ratios[i], &l1, &l2);
                most = fmax(most, l2);
            }
            assert_close(most, tacit__step_l2(ratios[i], angle_of(nonnegative)), 1e-7);
        }
}

TEST(the_largest_l1_norm_is_that_of_equal_features)
{
    for (size_t d = 1; d <= MAX; d++) {
        step a = {{0}, 1}, zero = {{0}, 0};
        double l1, l2;
        for (size_t j = 0; j < d; j++)
            a.x[j] = 1 / sqrt((double)d);
        distance(&a, &zero, d, 0.7, &l1, &l2);
        assert_close(l1, tacit__step_norm_l1(0.7, d), 1e-14);
        assert_close(l2, tacit__step_norm_l2(0.7), 1e-14);
    }
}

/* J(a, b) by its own definition, for precisions that are no ratio. */
TEST(joint_movement_scales_with_both_precisions)
{
    for (double a = 0.25; a < 5; a *= 1.7)
        for (double b = 0.1; b < 9; b *= 1.9) {
            double most = 0;
            for (int k = 0; k <= 20000; k++) {
                double c = 1 - k / 10000.0;
                most = fmax(most, 2 * a * (1 - c * c) + 2 * b * (1 - c));
            }
            assert_close(tacit__joint_square(a, b, false), most, 1e-7);
            assert_close(tacit__joint_square(a, b, true), 2 * a + 2 * b, 1e-14);
            /* both maxima cannot be had together */
            assert_true(tacit__joint_square(a, b, false) < 2 * a + 4 * b);
        }
}

/* Two users' features are orthogonal or the same; targets have both signs, or none. */
TEST(in_blocks_no_two_users_are_further_apart)
{
    for (size_t i = 0; i < N_RATIOS; i++)
        for (int centered = 0; centered < 2; centered++) {
            double most = 0, l1, l2;
            for (int same = 0; same < 2; same++)
                for (int k = 0; k < 81; k++) {
                    double low = centered ? -1 : 0;
                    step a = {{1, 0}, low + (1 - low) * (k % 9) / 8},
                         b = {{same, 1 - same}, low + (1 - low) * (k / 9) / 8};
                    distance(&a, &b, 2, ratios[i], &l1, &l2);
                    most = fmax(most, l2);
                }
            tacit__angle angle = centered ? TACIT__BLOCKS : TACIT__ACUTE;
            assert_close(most, tacit__step_l2(ratios[i], angle), 1e-14);
        }
}

static double suffering(double gram, double response, double ratio, bool nonnegative, size_t width)
{
    double noise = width > 0 ? tacit__step_l1(ratio, width) : tacit__step_l2(ratio, nonnegative);
    return noise * (gram + response / ratio);
}

TEST(the_best_ratio_is_the_best_of_all)
{
    for (double gram = 0.1; gram < 200; gram *= 5)
        for (double response = 0.3; response < 50; response *= 4)
            for (int nonnegative = 0; nonnegative < 2; nonnegative++)
                for (size_t width = 0; width < 9; width += 4) {
                    double best = tacit__best_ratio(gram, response, angle_of(nonnegative), width);
                    double least = suffering(gram, response, best, nonnegative, width);
                    for (double other = 1e-3; other < 1e3; other *= 1.01)
                        assert_true(suffering(gram, response, other, nonnegative, width) >=
                                    least * (1 - 1e-9));
                }
}

/* Without the joint refinement (nonnegative: A = B = 2) the ratio is the cube-root rule's. */
TEST(without_joint_movement_the_ratio_is_the_cube_root_rule)
{
    for (double gram = 0.1; gram < 200; gram *= 7) {
        double response = 3;
        double u_gram = cbrt(2 / gram), u_response = cbrt(2 / response);
        assert_close(tacit__best_ratio(gram, response, true, 0), u_gram / u_response, 1e-5);
    }
}
