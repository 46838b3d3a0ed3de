/* The smallest noise scale for a wanted guarantee: the composition of compose.c, turned around.
 *
 * Gaussian: sigma = l2 sqrt(count) / mu(eps, delta), rounded up; exact.
 * Laplace:  b = count l1 / eps for delta = 0, exact. For delta > 0 a bracketed secant search
 *           (Illinois) on log b against log of the composed epsilon, which is nearly a line; the
 *           answer is 1e-6 above the smallest b that the accountant accepts.
 * (0, delta) is a bound on the total variation of what neighbors show. There the search is on the
 * composed delta; it begins where deltas that simply add are enough, l1 / (-2 log(1 - delta / count)).
 * Whatever is returned has been put through the accountant: composing it gives at most epsilon at delta.
 * Cost: Gaussian 1 ms; Laplace with delta > 0 about ten compositions. */
#include <tacit/account.h>

#include <math.h>

#include "base/error.h"
#include "base/wide.h"

enum { BITS = 192, STEPS = 60 };

#define TOL 1e-6 /* relative, of b */

static tacit_status check(double epsilon, double delta, double sensitivity, uint64_t count,
                          double *out, tacit_error *err)
{
    if (out == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the place for the result is NULL");
    if (!(epsilon >= 0) || isinf(epsilon))
        return tacit__fail(err, TACIT_BAD_EPSILON, "epsilon is %g, expected a finite number >= 0",
                           epsilon);
    if (!(delta >= 0 && delta < 1))
        return tacit__fail(err, TACIT_BAD_DELTA, "delta is %g, expected a number in [0, 1)", delta);
    if (epsilon == 0 && delta == 0)
        return tacit__fail(
            err, TACIT_BAD_EPSILON,
            "epsilon and delta are both 0, but no finite noise keeps that; raise one of them");
    if (!(sensitivity > 0) || isinf(sensitivity))
        return tacit__fail(err, TACIT_BAD_SENSITIVITY,
                           "the sensitivity is %g, expected a finite number > 0", sensitivity);
    if (count == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "count is 0, expected at least 1");
    return TACIT_OK;
}

/* sensitivity * count^(1/2 or 1) / budget, rounded up; in the first case as the root of the squares. */
static double quotient_up(double sensitivity, uint64_t count, int root, double budget)
{
    tacit__wide top, bottom, q;
    tacit__wide_init(&top, BITS);
    tacit__wide_init(&bottom, BITS);
    tacit__wide_init(&q, BITS);
    tacit__wide_set_u64(&top, count);
    tacit__wide_set_u64(&bottom, 1);
    for (int i = 0; i < 1 + root; i++) { /* exact: 64 + 2 * 53 bits fit into BITS */
        tacit__wide_set_d(&q, sensitivity);
        tacit__wide_mul(&top, &top, &q);
        tacit__wide_set_d(&q, budget);
        tacit__wide_mul(&bottom, &bottom, &q);
    }
    tacit__wide_div_up(&q, &top, &bottom);
    return root ? tacit__wide_sqrt_up(&q) : tacit__wide_up(&q);
}

/* The problem that a scale solves. */
typedef struct target {
    double epsilon, delta;
} target;

/* The epsilon that `cost` has at the target's delta (+inf where the accountant cannot say), and the wanted
 * one; or, where that is 0, the delta that it has there and the wanted delta. */
static tacit_status compare(const tacit_cost *cost, target t, double *got, double *wanted,
                            tacit_error *err)
{
    tacit_composition c;
    TRY(t.epsilon > 0 ? tacit_compose_at_delta(cost, 1, t.delta, &c, err)
                      : tacit_compose_at_epsilon(cost, 1, 0, &c, err));
    *got = t.epsilon > 0 ? c.epsilon.high : c.delta.high;
    *wanted = t.epsilon > 0 ? t.epsilon : t.delta;
    return TACIT_OK;
}

/* Raises cost->scale by single roundings until the accountant agrees. */
static tacit_status raise_until_enough(tacit_cost *cost, target t, double *scale, tacit_error *err)
{
    for (int i = 0; i < STEPS; i++) {
        double got, wanted;
        if (!(cost->scale > 0) || isinf(cost->scale))
            break;
        TRY(compare(cost, t, &got, &wanted, err));
        if (got <= wanted) {
            *scale = cost->scale;
            return TACIT_OK;
        }
        cost->scale = nextafter(cost->scale * (1 + ldexp(1, i - STEPS)), HUGE_VAL);
    }
    return tacit__fail(err, TACIT_UNREACHABLE_TARGET,
                       "no noise scale in the range of a double gives epsilon %g at delta %g",
                       t.epsilon, t.delta);
}

tacit_status tacit_gaussian_scale(double epsilon, double delta, double l2, uint64_t count,
                                  double *sigma, tacit_error *err)
{
    TRY(check(epsilon, delta, l2, count, sigma, err));
    if (delta == 0)
        return tacit__fail(err, TACIT_BAD_DELTA,
                           "delta is 0, but Gaussian noise needs delta > 0; use Laplace noise");
    double mu;
    tacit_status status = tacit_gdp_mu(epsilon, delta, &mu);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    tacit_cost cost = {.kind = TACIT_COST_GAUSSIAN, .sensitivity = l2, .count = count};
    cost.scale = mu > 0 ? quotient_up(l2, count, 1, mu) : HUGE_VAL;
    return raise_until_enough(&cost, (target){epsilon, delta}, sigma, err);
}

/* Illinois on g = log(got/wanted) of `compare`: g(low) > 0 >= g(high). */
static tacit_status search(tacit_cost *cost, target t, double low, double high, double guess,
                           double *scale, tacit_error *err)
{
    double g_low = 0, g_high = 0; /* 0: not known yet */
    /* For a tiny delta the upper end may be the answer itself, so it is asked for first. */
    double at = high * (1 - TOL);
    for (int i = 0, side = 0; i < STEPS && high > low * (1 + TOL); i++) {
        double got, wanted;
        if (!(at > low && at < high))
            at = sqrt(low) * sqrt(high);
        cost->scale = at;
        TRY(compare(cost, t, &got, &wanted, err));
        double g = got > 0 ? log(got / wanted) : -700;
        if (t.epsilon == 0) /* of the odds, since delta itself is flat near 1 */
            g += log1p(-wanted) - log1p(-got);
        if (g > 0) {
            low = at;
            g_low = fmin(g, 700);
            g_high *= side == 1 ? 0.5 : 1;
            side = 1;
        } else {
            high = at;
            g_high = g;
            g_low *= side == -1 ? 0.5 : 1;
            side = -1;
        }
        /* aim a hair above the root, so that the last step closes the bracket from both sides */
        double share = g_low != 0 && g_high != 0 ? g_low / (g_low - g_high) : 0.5;
        at = low * pow(high / low, share) * (1 + 0.3 * TOL);
        if (g_low == 0 && g_high != 0) /* still one-sided: walk by the slope -1 */
            at = high * exp(1.05 * g_high);
        if (g_high == 0 && g_low != 0)
            at = low * exp(1.05 * g_low);
        if (i == 0)
            at = guess;
    }
    *scale = high;
    return TACIT_OK;
}

tacit_status tacit_laplace_scale(double epsilon, double delta, double l1, uint64_t count,
                                 double *scale, tacit_error *err)
{
    TRY(check(epsilon, delta, l1, count, scale, err));
    tacit_cost cost = {.kind = TACIT_COST_LAPLACE, .sensitivity = l1, .count = count};
    const target t = {epsilon, delta};
    double n = (double)count, enough; /* for every delta; or, without an epsilon, for this one */
    enough = epsilon > 0 ? quotient_up(l1, count, 0, epsilon)
                         : l1 / (-2 * log1p(-delta / n)) * (1 + 4e-16);
    if (delta > 0 && isfinite(enough)) {
        /* one release alone: delta = 1 - e^((eps - l1/b)/2) */
        double least = l1 / (epsilon - 2 * log1p(-delta)) * (1 + 4e-16), guess = 0, mu;
        if (tacit_gdp_mu(epsilon, delta, &mu) == TACIT_OK && mu > 0)
            guess = l1 * sqrt(n) / mu;
        if (count == 1) {
            enough = least;
        } else {
            TRY(search(&cost, t, least, enough, guess, &enough, err));
        }
    }
    cost.scale = enough;
    return raise_until_enough(&cost, t, scale, err);
}
