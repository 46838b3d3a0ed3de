/* Gaussian differential privacy: the exact relation between mu, epsilon and delta.
 *
 *     delta(mu, eps) = Phi(a) - exp(eps) Phi(b),   a = mu/2 - eps/mu,   b = -mu/2 - eps/mu
 *
 * [DRS22, Cor. 2.13; BW18, Thm. 8]. The two terms agree in almost all digits when mu is small, so
 * they are computed (base/wide.h) with as many bits as the difference needs: the precision is raised
 * until 2^-110 of relative accuracy is certain, and only the last rounding, to a double, is
 * directed: delta and epsilon up, mu down.
 *
 * The inverses are Newton iterations on the logit of delta inside a bracket, with the two derivatives
 *     d delta / d eps = -exp(eps) Phi(b),        d delta / d mu = phi(a),
 * both of which come with the value for free. The double that leaves is checked against
 * tacit_gdp_delta itself, so that round trips agree to the last bit.
 *
 * Tails are phi(x) R(x) with Mills' ratio R (noise/normal.h); and exp(eps) Phi(b) = phi(a) R(-b), so that
 * neither exp(eps) nor Phi(b) has to exist as a number.
 * Cost: about 0.1 ms for delta, 1 ms for a solve; more for mu below 1e-100. */
#include <tacit/account.h>

#include <float.h>
#include <math.h>

#include "noise/normal.h"

enum {
    BASE_BITS = 176, /* GOAL_BITS, the error bound of try_point, and room for the difference */
    MAX_BITS = TACIT__WIDE_MAX_BITS,
    GOAL_BITS = 110, /* relative accuracy of delta before the last rounding */
    STEP_BITS = 90,  /* a Newton step this much smaller than its point ends the search */
    MAX_STEPS = 300
};

/* Phi(-40) < 2^-1074, the smallest positive double. */
#define TAIL_END 40.0

/* delta and its two derivatives at one point, to GOAL_BITS. */
typedef struct point {
    tacit__wide delta;
    tacit__wide eps_slope; /* exp(eps) Phi(b), minus the derivative in eps */
    tacit__wide mu_slope;  /* phi(a) */
} point;

static void set(tacit__wide *x, size_t bits, double value)
{
    tacit__wide_init(x, bits);
    tacit__wide_set_d(x, value);
}

/* One try with `bits` of working precision; false when they were not enough. mu > 0, eps >= 0.
 * a and b carry an absolute error of 2^(1-bits) |b|, which Phi and phi turn into a relative error
 * of at most 2^(1-bits) |b| (|b| + 1); the other roundings fit into the remaining 2^6. */
static int try_point(point *at, const tacit__wide *mu, const tacit__wide *eps, size_t bits)
{
    tacit__wide a, b, half, ratio, first;
    tacit__wide_init(&a, bits);
    tacit__wide_init(&b, bits);
    tacit__wide_init(&half, bits);
    tacit__wide_init(&ratio, bits);
    tacit__wide_init(&first, bits);
    tacit__wide_set(&half, mu);
    tacit__wide_shift(&half, -1);
    tacit__wide_div(&ratio, eps, mu);
    tacit__wide_sub(&a, &half, &ratio);
    tacit__wide_add(&b, &half, &ratio); /* -b of the formula */
    int64_t size = b.exponent > 0 ? b.exponent : 0;

    tacit__wide_init(&at->delta, bits);
    tacit__wide_init(&at->eps_slope, bits);
    tacit__wide_init(&at->mu_slope, bits);
    tacit__normal_density(&at->mu_slope, &a);
    tacit__mills_ratio(&ratio, &b);
    tacit__wide_mul(&at->eps_slope, &at->mu_slope, &ratio);
    int above = a.sign > 0; /* Phi(a) = 1 - phi(a) R(a), or phi(a) R(-a) */
    a.sign = a.sign != 0;
    tacit__mills_ratio(&first, &a);
    tacit__wide_mul(&first, &first, &at->mu_slope);
    if (above) {
        tacit__wide_set_u64(&ratio, 1);
        tacit__wide_sub(&first, &ratio, &first);
    }
    tacit__wide_sub(&at->delta, &first, &at->eps_slope);
    tacit__wide_add(&first, &first, &at->eps_slope); /* now the bound on the error, times 2^GOAL */
    tacit__wide_shift(&first, 2 * size + 8 + GOAL_BITS - (int64_t)bits);
    return tacit__wide_compare(&at->delta, &first) > 0;
}

static void evaluate(point *at, const tacit__wide *mu, const tacit__wide *eps)
{
    int64_t width = mu->exponent, size = eps->sign == 0 ? width : eps->exponent - width + 1;
    size = size > width ? size : width;
    size_t bits = BASE_BITS + (size_t)(size > 0 ? 2 * size : 0) + (size_t)(width < 0 ? -width : 0);
    for (bits = bits < MAX_BITS ? bits : MAX_BITS;
         !try_point(at, mu, eps, bits) && bits < MAX_BITS;)
        bits = bits + bits / 2 < MAX_BITS ? bits + bits / 2 : MAX_BITS;
}

/* The value of `at` as a double that is not below the true delta. */
static double round_up(const point *at)
{
    tacit__wide up = at->delta;
    tacit__wide_shift(&up, -GOAL_BITS);
    tacit__wide_add(&up, &up, &at->delta);
    double delta = tacit__wide_up(&up);
    return delta > 1 ? 1 : delta;
}

static double delta_up(double mu, double epsilon)
{
    if (mu == 0 || isinf(epsilon))
        return isinf(mu) ? 1 : 0;
    double ratio = epsilon / mu;
    double margin = TAIL_END + 4 * DBL_EPSILON * (mu / 2 + ratio);
    if (ratio - mu / 2 > margin || isinf(ratio))
        return DBL_TRUE_MIN;
    if (isinf(mu) || mu / 2 - ratio > margin)
        return 1;
    point at;
    tacit__wide m, e;
    set(&m, 64, mu);
    set(&e, 64, epsilon);
    evaluate(&at, &m, &e);
    return round_up(&at);
}

/* off = logit(delta) - logit(target), and step = off / (d logit / d delta), the distance in delta.
 * The logit is nearly a parabola or a line at both ends, where delta itself is flat. */
static void logit_step(tacit__wide *off, tacit__wide *step, const point *at, double target)
{
    size_t bits = tacit__wide_bits(&at->delta);
    tacit__wide wanted, one, rest, least;
    set(&wanted, bits, target);
    set(&one, bits, 1);
    set(&least, bits, ldexp(1, -STEP_BITS));
    tacit__wide_init(&rest, bits);
    tacit__wide_sub(&rest, &one, &wanted);
    tacit__wide_mul(off, &at->delta, &rest);
    tacit__wide_div(off, off, &wanted);
    tacit__wide_sub(&rest, &one, &at->delta);
    if (tacit__wide_compare(&rest, &least) < 0) /* above every target; no more is known */
        tacit__wide_set(&rest, &least);
    tacit__wide_div(off, off, &rest);
    tacit__wide_log(off, off);
    tacit__wide_mul(step, off, &rest);
    tacit__wide_mul(step, step, &at->delta);
}

/* A search between `low` and `high`, from x. */
typedef struct search {
    tacit__wide x, low, high, off, step;
} search;

static void search_init(search *s)
{
    tacit__wide_init(&s->x, BASE_BITS);
    tacit__wide_init(&s->low, BASE_BITS);
    tacit__wide_init(&s->high, BASE_BITS);
    tacit__wide_init(&s->off, BASE_BITS);
    tacit__wide_init(&s->step, BASE_BITS);
}

static int is_outside(const search *s)
{
    return tacit__wide_compare(&s->x, &s->low) <= 0 || tacit__wide_compare(&s->x, &s->high) >= 0;
}

static double solve_epsilon(double mu, double delta)
{
    point at;
    search s;
    tacit__wide m, more;
    search_init(&s);
    set(&m, 64, mu);
    /* delta(eps) <= Phi(mu/2 - eps/mu) <= delta at eps = mu^2/2 + mu sqrt(2 log(1/delta)) */
    set(&more, 64, sqrt(2 * fabs(log(delta))) * (1 + 8 * DBL_EPSILON));
    tacit__wide_set(&s.high, &m);
    tacit__wide_shift(&s.high, -1);
    tacit__wide_add(&s.high, &s.high, &more);
    tacit__wide_mul(&s.high, &s.high, &m);
    tacit__wide_set(&s.x, &s.high);
    for (int i = 0; i < MAX_STEPS; i++) {
        evaluate(&at, &m, &s.x);
        logit_step(&s.off, &s.step, &at, delta);
        tacit__wide_set(s.off.sign > 0 ? &s.low : &s.high, &s.x);
        tacit__wide_div(&s.step, &s.step, &at.eps_slope);
        if (s.step.sign == 0 || s.step.exponent < s.x.exponent - STEP_BITS)
            break;
        tacit__wide_add(&s.x, &s.x, &s.step);
        if (is_outside(&s)) {
            tacit__wide_add(&s.x, &s.low, &s.high);
            tacit__wide_shift(&s.x, -1);
        }
    }
    double epsilon = tacit__wide_up(&s.x);
    while (isfinite(epsilon) && delta_up(mu, epsilon) > delta)
        epsilon = nextafter(epsilon, HUGE_VAL);
    return epsilon;
}

static double solve_mu(double epsilon, double delta)
{
    point at;
    search s;
    tacit__wide e, factor;
    search_init(&s);
    set(&e, 64, epsilon);
    /* Below the root: the bound above, solved for mu; and delta <= mu / sqrt(2 pi).
     * Above it: a = 9, where delta > 1 - 2^-53. */
    double root = sqrt(2 * fabs(log(delta)));
    double by_tail = 2 * (epsilon / (sqrt(root * root + 2 * epsilon) + root));
    double by_width = delta * 2.5066282746310002; /* sqrt(2 pi), rounded down */
    tacit__wide_set_d(&s.low, by_tail > by_width ? by_tail : by_width);
    set(&factor, 64, 1 - 16 * DBL_EPSILON);
    tacit__wide_mul(&s.low, &s.low, &factor);
    tacit__wide_set_d(&s.high, 9 + sqrt(81 + 2 * epsilon));
    set(&factor, 64, 1 + 16 * DBL_EPSILON);
    tacit__wide_mul(&s.high, &s.high, &factor);
    tacit__wide_set(&s.x, &s.low);
    for (int i = 0; i < MAX_STEPS; i++) {
        evaluate(&at, &s.x, &e);
        logit_step(&s.off, &s.step, &at, delta);
        tacit__wide_set(s.off.sign > 0 ? &s.high : &s.low, &s.x);
        tacit__wide_div(&s.step, &s.step, &at.mu_slope);
        tacit__wide_div(&s.step, &s.step, &s.x);
        if (s.step.sign == 0 || s.step.exponent < -STEP_BITS)
            break;
        s.step.sign = -s.step.sign;
        tacit__wide_exp(&s.step, &s.step);
        tacit__wide_mul(&s.x, &s.x, &s.step);
        if (is_outside(&s)) {
            tacit__wide_mul(&s.x, &s.low, &s.high);
            tacit__wide_sqrt(&s.x, &s.x);
        }
    }
    double mu = tacit__wide_down(&s.x);
    while (mu > 0 && delta_up(mu, epsilon) > delta)
        mu = nextafter(mu, 0);
    return mu;
}

tacit_status tacit_gdp_delta(double mu, double epsilon, double *delta)
{
    if (delta == NULL || !(mu >= 0))
        return TACIT_BAD_ARGUMENT;
    if (!(epsilon >= 0))
        return TACIT_BAD_EPSILON;
    *delta = delta_up(mu, epsilon);
    return TACIT_OK;
}

tacit_status tacit_gdp_epsilon(double mu, double delta, double *epsilon)
{
    if (epsilon == NULL || !(mu >= 0))
        return TACIT_BAD_ARGUMENT;
    if (!(delta >= 0 && delta < 1))
        return TACIT_BAD_DELTA;
    if (delta_up(mu, 0) <= delta)
        *epsilon = 0;
    else if (delta == 0 || isinf(mu))
        *epsilon = HUGE_VAL;
    else
        *epsilon = solve_epsilon(mu, delta);
    return TACIT_OK;
}

tacit_status tacit_gdp_mu(double epsilon, double delta, double *mu)
{
    if (mu == NULL)
        return TACIT_BAD_ARGUMENT;
    if (!(epsilon >= 0))
        return TACIT_BAD_EPSILON;
    if (!(delta >= 0 && delta < 1))
        return TACIT_BAD_DELTA;
    if (isinf(epsilon))
        *mu = HUGE_VAL;
    else if (delta == 0)
        *mu = 0;
    else {
        /* The last answer of this thread: agents are often made many times over for one guarantee. */
        static _Thread_local double last_epsilon = -1, last_delta, last_mu;
        if (epsilon != last_epsilon || delta != last_delta) {
            last_mu = solve_mu(epsilon, delta);
            last_epsilon = epsilon;
            last_delta = delta;
        }
        *mu = last_mu;
    }
    return TACIT_OK;
}
