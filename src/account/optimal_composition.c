/* Optimal composition of `count` copies of one (epsilon, delta)-DP black box.
 *
 * [KOV15, Thm. 3.3; MV16]: the worst box is randomized response that fails with probability delta0
 * and else tells the truth with p = e^e0 / (1 + e^e0). Of k copies, j truths have probability
 * P_j = C(k,j) p^j q^(k-j) and privacy loss e0 (2j - k), so that for *every real* eps >= 0
 *
 *     delta(eps) = 1 - (1-delta0)^k (1 - D(eps)),   D(eps) = sum_j P_j (1 - exp(eps - e0 (2j-k)))_+ .
 *
 * The theorem states it on the grid eps = e0 (k - 2i) only; between grid points the same privacy
 * profile holds (it is the hockey-stick divergence of the k-fold product), and asking for it there
 * is what makes an exact inverse possible.
 *
 * All terms are positive, so nothing cancels. The largest one is anchored by base/wide.h (log-gamma
 * in doubles would lose 8 digits at k = 1e7), its neighbors follow by the ratio
 * P_(j+1)/P_j = (k-j)/(j+1) e^e0 until a geometric bound says that the rest does not matter.
 * Every result is an interval: the term count times a few roundings, about 1e-11 at k = 1e7.
 * Cost: about 20 sqrt(k p q) terms for one delta, 60 times that for an epsilon. */
#include "account/optimal_composition.h"

#include <float.h>
#include <math.h>

#include "account/loss.h"
#include "base/error.h"
#include "base/wide.h"

enum { LOG_BITS = 192, HALVINGS = 128 };

#define NEGLIGIBLE 1e-19 /* of the sum so far; the bound on the rest is added anyway */

static void init_one(tacit__wide *x)
{
    tacit__wide_init(x, LOG_BITS);
    tacit__wide_set_u64(x, 1);
}

/* log n!. Below STIRLING_FROM it is the logarithm of the product; from there on it is
 *     n log n - n + log(2 pi n) / 2 + sum_k B_2k / (2k (2k-1) n^(2k-1)),
 * whose error is below the first term that is left out [DLMF, 5.11(ii)]: 13.5 n^-21 < 2^-164. */
static void log_factorial(tacit__wide *out, uint64_t n)
{
    enum { STIRLING_FROM = 256 };
    static const uint32_t numerators[] = {1, 1, 1, 1, 1, 691, 1, 3617, 43867, 174611};
    static const uint32_t denominators[] = {12,     360, 1260,   1680,   1188,
                                            360360, 156, 122400, 244188, 125400};
    tacit__wide m, t, power;
    init_one(&m);
    tacit__wide_init(&t, LOG_BITS);
    if (n < STIRLING_FROM) {
        for (uint32_t i = 2; i <= (uint32_t)n; i++)
            tacit__wide_mul_small(&m, &m, i);
        tacit__wide_log(out, &m);
        return;
    }
    tacit__wide_set_u64(&m, n);
    init_one(&power);
    tacit__wide_set_u64(out, 0);
    for (size_t k = 0; k < sizeof numerators / sizeof *numerators; k++) {
        tacit__wide_div(&power, &power, &m);
        tacit__wide_mul_small(&t, &power, numerators[k]);
        tacit__wide_div_small(&t, &t, denominators[k]);
        (k % 2 == 0 ? tacit__wide_add : tacit__wide_sub)(out, out, &t);
        tacit__wide_div(&power, &power, &m);
    }
    tacit__wide_sub(out, out, &m);
    tacit__wide_log(&power, &m);
    tacit__wide_mul(&t, &power, &m);
    tacit__wide_add(out, out, &t);
    tacit__wide_pi(&t);
    tacit__wide_shift(&t, 1);
    tacit__wide_mul(&t, &t, &m);
    tacit__wide_log(&t, &t);
    tacit__wide_shift(&t, -1);
    tacit__wide_add(out, out, &t);
}

double tacit__log_binomial(uint64_t n, uint64_t j, double logit)
{
    TACIT__REQUIRE(j <= n);
    tacit__wide sum, t, factor;
    tacit__wide_init(&sum, LOG_BITS);
    tacit__wide_init(&t, LOG_BITS);
    log_factorial(&sum, n);
    log_factorial(&t, j);
    tacit__wide_sub(&sum, &sum, &t);
    log_factorial(&t, n - j);
    tacit__wide_sub(&sum, &sum, &t);
    /* j log p + (n-j) log q = -n log(1 + e^-logit) - (n-j) logit */
    tacit__wide_set_d(&t, -logit);
    tacit__wide_exp(&t, &t);
    init_one(&factor);
    tacit__wide_add(&t, &t, &factor);
    tacit__wide_log(&t, &t);
    tacit__wide_set_u64(&factor, n);
    tacit__wide_mul(&t, &t, &factor);
    tacit__wide_sub(&sum, &sum, &t);
    tacit__wide_set_d(&t, logit);
    tacit__wide_set_u64(&factor, n - j);
    tacit__wide_mul(&t, &t, &factor);
    tacit__wide_sub(&sum, &sum, &t);
    return tacit__wide_nearest(&sum);
}

tacit_interval tacit__any_failure(double delta, uint64_t count)
{
    TACIT__REQUIRE(delta >= 0 && delta <= 1);
    if (delta == 0 || count == 1)
        return (tacit_interval){delta, delta};
    /* log1p, the product and expm1 are each within 2 roundings of the truth, relatively. */
    double p = -expm1((double)count * log1p(-delta));
    return (tacit_interval){p * (1 - 8 * TACIT__UNIT), fmin(1, p * (1 + 8 * TACIT__UNIT))};
}

/* The loss of j truths minus eps, rounded once. */
static double beyond(double box_epsilon, uint64_t count, uint64_t j, double epsilon)
{
    return fma(box_epsilon, 2 * (double)j - (double)count, -epsilon);
}

/* The smallest j whose loss exceeds eps; count + 1 if there is none. */
static uint64_t first_beyond(double box_epsilon, uint64_t count, double epsilon)
{
    double guess = floor(0.5 * (epsilon / box_epsilon + (double)count));
    uint64_t j = guess >= (double)count ? count : (uint64_t)guess;
    while (j > 0 && beyond(box_epsilon, count, j - 1, epsilon) > 0)
        j--;
    while (j <= count && !(beyond(box_epsilon, count, j, epsilon) > 0))
        j++;
    return j;
}

/* D(eps) as sum * exp(log_anchor), with bounds on the two kinds of error. */
typedef struct series {
    double sum, rest, terms;
} series;

static void sum_up(series *s, double box_epsilon, uint64_t count, uint64_t from, double epsilon)
{
    double growth = exp(box_epsilon), t = 1;
    for (uint64_t j = from; j < count; j++) {
        double ratio = (double)(count - j) / ((double)j + 1) * growth;
        if (ratio < 1 && t * ratio < NEGLIGIBLE * s->sum * (1 - ratio)) {
            s->rest += t * ratio / (1 - ratio);
            break;
        }
        t *= ratio;
        s->sum += t * -expm1(-beyond(box_epsilon, count, j + 1, epsilon));
        s->terms++;
    }
}

static void sum_down(series *s, double box_epsilon, uint64_t count, uint64_t from, uint64_t to,
                     double epsilon)
{
    double shrink = exp(-box_epsilon), t = 1;
    for (uint64_t j = from; j > to; j--) {
        double ratio = (double)j / ((double)(count - j) + 1) * shrink;
        if (ratio < 1 && t * ratio < NEGLIGIBLE * s->sum * (1 - ratio)) {
            s->rest += t * ratio / (1 - ratio);
            break;
        }
        t *= ratio;
        s->sum += t * -expm1(-beyond(box_epsilon, count, j - 1, epsilon));
        s->terms++;
    }
}

/* D(eps), enclosed. */
static tacit_interval pure_delta(double box_epsilon, uint64_t count, double epsilon)
{
    if (box_epsilon == 0)
        return (tacit_interval){0, 0};
    uint64_t first = first_beyond(box_epsilon, count, epsilon);
    if (first > count)
        return (tacit_interval){0, 0};
    double mode = floor(((double)count + 1) / (1 + exp(-box_epsilon)));
    uint64_t anchor = mode >= (double)count ? count : (uint64_t)mode;
    if (anchor < first)
        anchor = first;
    double log_anchor = tacit__log_binomial(count, anchor, box_epsilon);
    series s = {-expm1(-beyond(box_epsilon, count, anchor, epsilon)), 0, 1};
    sum_up(&s, box_epsilon, count, anchor, epsilon);
    sum_down(&s, box_epsilon, count, anchor, first, epsilon);
    double value = exp(log_anchor) * s.sum, rest = exp(log_anchor) * s.rest;
    double slack = (8 * s.terms + 4 * fabs(log_anchor) + 16) * TACIT__UNIT;
    double high = (value + rest) * (1 + slack) + DBL_TRUE_MIN;
    return (tacit_interval){value * (1 - slack), high < 1 ? high : 1};
}

tacit_interval tacit__optimal_delta(double box_epsilon, double box_delta, uint64_t count,
                                    double epsilon)
{
    TACIT__REQUIRE(box_epsilon >= 0 && box_delta >= 0 && count > 0 && epsilon >= 0);
    tacit_interval fail = tacit__any_failure(box_delta, count);
    tacit_interval pure = pure_delta(box_epsilon, count, epsilon);
    if (pure.high == 0)
        return fail;
    double low = (fail.low + (1 - fail.low) * pure.low) * (1 - 4 * TACIT__UNIT);
    double high = (fail.high + (1 - fail.high) * pure.high) * (1 + 4 * TACIT__UNIT);
    return (tacit_interval){low, high < 1 ? high : 1};
}

tacit_interval tacit__optimal_epsilon(double box_epsilon, double box_delta, uint64_t count,
                                      double delta)
{
    TACIT__REQUIRE(box_epsilon >= 0 && box_delta >= 0 && count > 0 && delta >= 0);
    tacit_interval fail = tacit__any_failure(box_delta, count), out;
    double top = nextafter(box_epsilon * (double)count, HUGE_VAL);
    if (count == 1 || box_epsilon == 0)
        top = box_epsilon;
    /* high: the smallest eps whose upper delta is low enough */
    double low = -1, high = top;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low < 0 ? 0 : 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (tacit__optimal_delta(box_epsilon, box_delta, count, middle).high <= delta)
            high = middle;
        else
            low = middle;
    }
    out.high = delta < fail.high ? HUGE_VAL : high;
    /* low: the largest eps whose lower delta is still too high */
    low = 0;
    high = nextafter(top, HUGE_VAL);
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (tacit__optimal_delta(box_epsilon, box_delta, count, middle).low > delta)
            low = middle;
        else
            high = middle;
    }
    out.low = delta < fail.low ? HUGE_VAL : low < out.high ? low : out.high;
    return out;
}
