/* Joint movement [docs/why/linear.md has the proofs]. With unit vectors, c = x . x' and targets 1,
 *     a |x x^T - x' x'^T|^2 + b |x - x'|^2 = 2 a (1 - c^2) + 2 b (1 - c),
 * largest at c = -min(1, b / 2a): 2a + 2b + b^2 / 2a if b <= 2a, else 4b. Shorter vectors and
 * smaller targets move less; signs of targets only turn c into -|c|. If no component is negative
 * then c >= 0, and c = 0 is best: 2a + 2b.
 *
 * In blocks, where every pair has the same features in a block of its own, two users' vectors are
 * orthogonal or the same. Orthogonal ones move by at most 2a + 2b. The same one moves no Gram
 * matrix, and the response by |y - y'|: by b if targets are not negative, which is less, and by 4b
 * if they have both signs.
 *
 * In L1: |iso(x x^T)|_1 = |x|_2^2 + (|x|_1^2 - |x|_2^2) / sqrt(2) <= 1 + (d - 1) / sqrt(2), |x y|_1
 * <= sqrt(d), both largest at x = (1, .., 1) / sqrt(d), and two users are at most twice as far
 * apart.
 *
 * The proportion. Without the joint refinement, minimizing p s_B + q s_g under A / s_B^2 + B /
 * s_g^2 = 1 gives the cube-root rule s_B / s_g = (A q / (B p))^(1/3); with it the least is found by
 * golden section, over log c. */
#include "contribute/sensitivity.h"

#include <math.h>

#include "base/error.h"

double tacit__joint_square(double a, double b, tacit__angle angle)
{
    TACIT__REQUIRE(a >= 0 && b >= 0);
    if (angle == TACIT__ACUTE)
        return 2 * a + 2 * b;
    if (angle == TACIT__BLOCKS)
        return fmax(2 * a + 2 * b, 4 * b);
    return b <= 2 * a ? 2 * a + 2 * b + b * b / (2 * a) : 4 * b;
}

double tacit__step_l2(double ratio, tacit__angle angle)
{
    return sqrt(tacit__joint_square(1, ratio * ratio, angle));
}

double tacit__step_norm_l2(double ratio)
{
    return sqrt(1 + ratio * ratio);
}

double tacit__step_norm_l1(double ratio, size_t width)
{
    TACIT__REQUIRE(ratio >= 0 && width > 0);
    double d = (double)width;
    return 1 + (d - 1) / M_SQRT2 + ratio * sqrt(d);
}

double tacit__step_l1(double ratio, size_t width)
{
    return 2 * tacit__step_norm_l1(ratio, width);
}

typedef struct proportion {
    double gram_cost, response_cost;
    tacit__angle angle;
    size_t width;
} proportion;

static double loss_at(const proportion *p, double log_ratio)
{
    double ratio = exp(log_ratio);
    double noise = p->width > 0 ? tacit__step_l1(ratio, p->width) : tacit__step_l2(ratio, p->angle);
    return noise * (p->gram_cost + p->response_cost / ratio);
}

double tacit__best_ratio(double gram_cost, double response_cost, tacit__angle angle, size_t width)
{
    TACIT__REQUIRE(gram_cost >= 0 && response_cost >= 0);
    const proportion p = {gram_cost, response_cost, angle, width};
    const double golden = 0.61803398874989484820;
    double low = log(1e-4), high = log(1e4);
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = loss_at(&p, left), at_right = loss_at(&p, right);
    while (high - low > 1e-7) { /* the minimum is flat: its value is exact to 1e-14 */
        if (at_left < at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = loss_at(&p, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = loss_at(&p, right);
        }
    }
    return exp((low + high) / 2);
}
