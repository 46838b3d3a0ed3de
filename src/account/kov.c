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
 * All terms are positive, so nothing cancels. The largest one is anchored by MPFR (log-gamma in
 * doubles would lose 8 digits at k = 1e7), its neighbors follow by the ratio
 * P_(j+1)/P_j = (k-j)/(j+1) e^e0 until a geometric bound says that the rest does not matter.
 * Every result is an interval: the term count times a few roundings, about 1e-11 at k = 1e7.
 * Cost: about 20 sqrt(k p q) terms for one delta, 60 times that for an epsilon. */
#include "account/kov.h"

#include <float.h>
#include <math.h>

#include <mpfr.h>

#include "account/loss.h"
#include "base/error.h"

enum { LOG_BITS = 192, HALVINGS = 128 };

#define NEGLIGIBLE 1e-19 /* of the sum so far; the bound on the rest is added anyway */

static void log_factorial(mpfr_t out, uint64_t n)
{
    mpfr_set_uj(out, n, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_lngamma(out, out, MPFR_RNDN);
}

double tacit__log_binomial(uint64_t n, uint64_t j, double logit)
{
    TACIT__REQUIRE(j <= n);
    mpfr_t sum, t;
    mpfr_inits2(LOG_BITS, sum, t, (mpfr_ptr)0);
    log_factorial(sum, n);
    log_factorial(t, j);
    mpfr_sub(sum, sum, t, MPFR_RNDN);
    log_factorial(t, n - j);
    mpfr_sub(sum, sum, t, MPFR_RNDN);
    /* j log p + (n-j) log q = -n log(1 + e^-logit) - (n-j) logit */
    mpfr_set_d(t, -logit, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    mpfr_log1p(t, t, MPFR_RNDN);
    mpfr_mul_d(t, t, (double)n, MPFR_RNDN);
    mpfr_sub(sum, sum, t, MPFR_RNDN);
    mpfr_set_d(t, logit, MPFR_RNDN);
    mpfr_mul_d(t, t, (double)(n - j), MPFR_RNDN);
    mpfr_sub(sum, sum, t, MPFR_RNDN);
    double log_mass = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(sum, t, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return log_mass;
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

tacit_interval tacit__kov_delta(double box_epsilon, double box_delta, uint64_t count,
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

tacit_interval tacit__kov_epsilon(double box_epsilon, double box_delta, uint64_t count,
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
        if (tacit__kov_delta(box_epsilon, box_delta, count, middle).high <= delta)
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
        if (tacit__kov_delta(box_epsilon, box_delta, count, middle).low > delta)
            low = middle;
        else
            high = middle;
    }
    out.low = delta < fail.low ? HUGE_VAL : low < out.high ? low : out.high;
    return out;
}
