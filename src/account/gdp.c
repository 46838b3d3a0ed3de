/* Gaussian differential privacy: the exact relation between mu, epsilon and delta.
 *
 *     delta(mu, eps) = Phi(a) - exp(eps) Phi(b),   a = mu/2 - eps/mu,   b = -mu/2 - eps/mu
 *
 * [DRS22, Cor. 2.13; BW18, Thm. 8]. The two terms agree in almost all digits when mu is small, so
 * they are computed by MPFR with as many bits as the difference needs: the precision is raised
 * until 2^-110 of relative accuracy is certain, and only the last rounding, to a double, is
 * directed: delta and epsilon up, mu down.
 *
 * The inverses are Newton iterations on the logit of delta inside a bracket, with the two derivatives
 *     d delta / d eps = -exp(eps) Phi(b),        d delta / d mu = phi(a),
 * both of which come with the value for free. The double that leaves is checked against
 * tacit_gdp_delta itself, so that round trips agree to the last bit.
 *
 * Tails are phi(x) R(x) with Mills' ratio R from its continued fraction, whose consecutive
 * convergents enclose it; and exp(eps) Phi(b) = phi(a) R(-b), so that neither exp(eps) nor Phi(b)
 * has to exist as a number. (mpfr_erfc alone would do, at 2 ms a call in the tail.)
 * Cost: about 0.1 ms for delta, 1 to 2 ms for a solve; more for mu below 1e-100. */
#include <tacit/account.h>

#include <float.h>
#include <math.h>

#include <mpfr.h>

enum {
    BASE_BITS = 176, /* GOAL_BITS, the error bound of try_point, and room for the difference */
    MAX_BITS = 1 << 14,
    GOAL_BITS = 110, /* relative accuracy of delta before the last rounding */
    STEP_BITS = 90,  /* a Newton step this much smaller than its point ends the search */
    MAX_STEPS = 300
};

/* From here on the continued fraction beats mpfr_erfc. */
#define FRACTION_FROM 6.0
/* Phi(-40) < 2^-1074, the smallest positive double. */
#define TAIL_END 40.0

/* delta and its two derivatives at one point, to GOAL_BITS. */
typedef struct point {
    mpfr_t delta;
    mpfr_t eps_slope; /* exp(eps) Phi(b), minus the derivative in eps */
    mpfr_t mu_slope;  /* phi(a) */
} point;

static void point_init(point *at)
{
    mpfr_inits2(BASE_BITS, at->delta, at->eps_slope, at->mu_slope, (mpfr_ptr)0);
}

/* The cached constants belong to the thread; leaving none behind lets threads come and go. */
static void point_clear(point *at)
{
    mpfr_clears(at->delta, at->eps_slope, at->mu_slope, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/* out = exp(-x^2/2) / sqrt(2 pi) */
static void normal_density(mpfr_t out, const mpfr_t x)
{
    mpfr_t c;
    mpfr_init2(c, mpfr_get_prec(out));
    mpfr_sqr(out, x, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_mul_2ui(c, c, 1, MPFR_RNDN);
    mpfr_sqrt(c, c, MPFR_RNDN);
    mpfr_div(out, out, c, MPFR_RNDN);
    mpfr_clear(c);
}

/* out = the n-th convergent of R(x) = 1/(x + 1/(x + 2/(x + 3/(x + ...)))) */
static void convergent(mpfr_t out, const mpfr_t x, unsigned long n)
{
    mpfr_set(out, x, MPFR_RNDN);
    for (unsigned long k = n; k > 0; k--) {
        mpfr_ui_div(out, k, out, MPFR_RNDN);
        mpfr_add(out, out, x, MPFR_RNDN);
    }
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

/* out = R(x) = Phi(-x)/phi(x) for x >= 0. The n-th convergent is about exp(-2 x sqrt(2 n)) away,
 * which gives the first n; the distance of two neighbours proves that it was enough. */
static void mills_ratio(mpfr_t out, const mpfr_t x)
{
    mpfr_prec_t bits = mpfr_get_prec(out);
    mpfr_t next;
    mpfr_init2(next, bits);
    if (mpfr_cmp_d(x, FRACTION_FROM) < 0) {
        mpfr_sqrt_ui(next, 2, MPFR_RNDN);
        mpfr_div(next, x, next, MPFR_RNDN);
        mpfr_erfc(out, next, MPFR_RNDN);
        mpfr_div_2ui(out, out, 1, MPFR_RNDN);
        normal_density(next, x);
        mpfr_div(out, out, next, MPFR_RNDN);
    } else {
        double root = (double)bits * 0.6931471805599453 / (2 * mpfr_get_d(x, MPFR_RNDN));
        unsigned long n = 8 + (unsigned long)(0.55 * root * root);
        for (;; n += n / 2) {
            convergent(out, x, n);
            convergent(next, x, n + 1);
            mpfr_sub(next, next, out, MPFR_RNDN);
            if (mpfr_zero_p(next) || mpfr_get_exp(next) < mpfr_get_exp(out) - (long)bits + 4)
                break;
        }
    }
    mpfr_clear(next);
}

/* One try with `bits` of working precision; false when they were not enough. mu > 0, eps >= 0.
 * a and b carry an absolute error of 2^(1-bits) |b|, which Phi and phi turn into a relative error
 * of at most 2^(1-bits) |b| (|b| + 1); the other roundings fit into the remaining 2^6. */
static int try_point(point *at, const mpfr_t mu, const mpfr_t eps, mpfr_prec_t bits)
{
    mpfr_t a, b, half, ratio, bound, first;
    mpfr_inits2(bits, a, b, half, ratio, bound, first, (mpfr_ptr)0);
    mpfr_div_2ui(half, mu, 1, MPFR_RNDN);
    mpfr_div(ratio, eps, mu, MPFR_RNDN);
    mpfr_sub(a, half, ratio, MPFR_RNDN);
    mpfr_add(b, half, ratio, MPFR_RNDN); /* -b of the formula */
    mpfr_exp_t size = mpfr_get_exp(b) > 0 ? mpfr_get_exp(b) : 0;

    mpfr_set_prec(at->delta, bits);
    mpfr_set_prec(at->eps_slope, bits);
    mpfr_set_prec(at->mu_slope, bits);
    normal_density(at->mu_slope, a);
    mills_ratio(ratio, b);
    mpfr_mul(at->eps_slope, at->mu_slope, ratio, MPFR_RNDN);
    int above = mpfr_sgn(a) > 0; /* Phi(a) = 1 - phi(a) R(a), or phi(a) R(-a) */
    mpfr_abs(a, a, MPFR_RNDN);
    mills_ratio(first, a);
    mpfr_mul(first, first, at->mu_slope, MPFR_RNDN);
    if (above)
        mpfr_ui_sub(first, 1, first, MPFR_RNDN);
    mpfr_sub(at->delta, first, at->eps_slope, MPFR_RNDN);
    mpfr_add(bound, first, at->eps_slope, MPFR_RNDN);
    mpfr_mul_2si(bound, bound, 2 * (long)size + 8 + GOAL_BITS - (long)bits, MPFR_RNDU);
    int enough = mpfr_cmp(at->delta, bound) > 0;
    mpfr_clears(a, b, half, ratio, bound, first, (mpfr_ptr)0);
    return enough;
}

static void evaluate(point *at, const mpfr_t mu, const mpfr_t eps)
{
    mpfr_exp_t width = mpfr_get_exp(mu);
    mpfr_exp_t size = mpfr_zero_p(eps) ? width : mpfr_get_exp(eps) - width + 1;
    size = size > width ? size : width;
    mpfr_prec_t bits = BASE_BITS + (size > 0 ? 2 * size : 0) + (width < 0 ? -width : 0);
    while (!try_point(at, mu, eps, bits) && bits < MAX_BITS)
        bits += bits / 2;
}

/* The value of `at` as a double that is not below the true delta. */
static double round_up(const point *at)
{
    mpfr_t up;
    mpfr_init2(up, mpfr_get_prec(at->delta));
    mpfr_div_2ui(up, at->delta, GOAL_BITS, MPFR_RNDU);
    mpfr_add(up, up, at->delta, MPFR_RNDU);
    double delta = mpfr_get_d(up, MPFR_RNDU);
    mpfr_clear(up);
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
    mpfr_t m, e;
    point_init(&at);
    mpfr_init_set_d(m, mu, MPFR_RNDN);
    mpfr_init_set_d(e, epsilon, MPFR_RNDN);
    evaluate(&at, m, e);
    double delta = round_up(&at);
    mpfr_clears(m, e, (mpfr_ptr)0);
    point_clear(&at);
    return delta;
}

/* off = logit(delta) - logit(target), and step = off / (d logit / d delta), the distance in delta.
 * The logit is nearly a parabola or a line at both ends, where delta itself is flat. */
static void logit_step(mpfr_t off, mpfr_t step, const point *at, double target)
{
    mpfr_t rest;
    mpfr_init2(rest, mpfr_get_prec(at->delta));
    mpfr_set_d(rest, target, MPFR_RNDN);
    mpfr_ui_sub(rest, 1, rest, MPFR_RNDN);
    mpfr_mul(off, at->delta, rest, MPFR_RNDN);
    mpfr_div_d(off, off, target, MPFR_RNDN);
    mpfr_ui_sub(rest, 1, at->delta, MPFR_RNDN);
    if (mpfr_cmp_ui_2exp(rest, 1, -STEP_BITS) < 0) /* above every target; no more is known */
        mpfr_set_ui_2exp(rest, 1, -STEP_BITS, MPFR_RNDN);
    mpfr_div(off, off, rest, MPFR_RNDN);
    mpfr_log(off, off, MPFR_RNDN);
    mpfr_mul(step, off, rest, MPFR_RNDN);
    mpfr_mul(step, step, at->delta, MPFR_RNDN);
    mpfr_clear(rest);
}

static double solve_epsilon(double mu, double delta)
{
    point at;
    mpfr_t m, x, low, high, off, step;
    point_init(&at);
    mpfr_inits2(BASE_BITS, x, low, high, off, step, (mpfr_ptr)0);
    mpfr_init_set_d(m, mu, MPFR_RNDN);
    /* delta(eps) <= Phi(mu/2 - eps/mu) <= delta at eps = mu^2/2 + mu sqrt(2 log(1/delta)) */
    mpfr_set_ui(low, 0, MPFR_RNDN);
    mpfr_div_2ui(high, m, 1, MPFR_RNDU);
    mpfr_add_d(high, high, sqrt(2 * fabs(log(delta))) * (1 + 4 * DBL_EPSILON), MPFR_RNDU);
    mpfr_mul(high, high, m, MPFR_RNDU);
    mpfr_set(x, high, MPFR_RNDN);
    for (int i = 0; i < MAX_STEPS; i++) {
        evaluate(&at, m, x);
        logit_step(off, step, &at, delta);
        if (mpfr_sgn(off) > 0)
            mpfr_set(low, x, MPFR_RNDN);
        else
            mpfr_set(high, x, MPFR_RNDN);
        mpfr_div(step, step, at.eps_slope, MPFR_RNDN);
        if (mpfr_zero_p(step) || mpfr_get_exp(step) < mpfr_get_exp(x) - STEP_BITS)
            break;
        mpfr_add(x, x, step, MPFR_RNDN);
        if (mpfr_cmp(x, low) <= 0 || mpfr_cmp(x, high) >= 0) {
            mpfr_add(x, low, high, MPFR_RNDN);
            mpfr_div_2ui(x, x, 1, MPFR_RNDN);
        }
    }
    double epsilon = mpfr_get_d(x, MPFR_RNDU);
    mpfr_clears(m, x, low, high, off, step, (mpfr_ptr)0);
    point_clear(&at);
    while (isfinite(epsilon) && delta_up(mu, epsilon) > delta)
        epsilon = nextafter(epsilon, HUGE_VAL);
    return epsilon;
}

static double solve_mu(double epsilon, double delta)
{
    point at;
    mpfr_t e, x, low, high, off, step;
    point_init(&at);
    mpfr_inits2(BASE_BITS, x, low, high, off, step, (mpfr_ptr)0);
    mpfr_init_set_d(e, epsilon, MPFR_RNDN);
    /* Below the root: the bound above, solved for mu; and delta <= mu / sqrt(2 pi).
     * Above it: a = 9, where delta > 1 - 2^-53. */
    double s = sqrt(2 * fabs(log(delta)));
    double by_tail = 2 * (epsilon / (sqrt(s * s + 2 * epsilon) + s));
    double by_width = delta * 2.5066282746310002; /* sqrt(2 pi), rounded down */
    mpfr_set_d(low, (by_tail > by_width ? by_tail : by_width), MPFR_RNDN);
    mpfr_mul_d(low, low, 1 - 16 * DBL_EPSILON, MPFR_RNDD);
    mpfr_set_d(high, 9 + sqrt(81 + 2 * epsilon), MPFR_RNDU);
    mpfr_mul_d(high, high, 1 + 16 * DBL_EPSILON, MPFR_RNDU);
    mpfr_set(x, low, MPFR_RNDN);
    for (int i = 0; i < MAX_STEPS; i++) {
        evaluate(&at, x, e);
        logit_step(off, step, &at, delta);
        if (mpfr_sgn(off) > 0)
            mpfr_set(high, x, MPFR_RNDN);
        else
            mpfr_set(low, x, MPFR_RNDN);
        mpfr_div(step, step, at.mu_slope, MPFR_RNDN);
        mpfr_div(step, step, x, MPFR_RNDN);
        if (mpfr_zero_p(step) || mpfr_get_exp(step) < -STEP_BITS)
            break;
        mpfr_neg(step, step, MPFR_RNDN);
        mpfr_exp(step, step, MPFR_RNDN);
        mpfr_mul(x, x, step, MPFR_RNDN);
        if (mpfr_cmp(x, low) <= 0 || mpfr_cmp(x, high) >= 0) {
            mpfr_mul(x, low, high, MPFR_RNDN);
            mpfr_sqrt(x, x, MPFR_RNDN);
        }
    }
    double mu = mpfr_get_d(x, MPFR_RNDD);
    mpfr_clears(e, x, low, high, off, step, (mpfr_ptr)0);
    point_clear(&at);
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
