/* Zero-concentrated differential privacy: the best (epsilon, delta) that rho alone can promise.
 *
 * [CKS20, Prop. 12 and Lemma 13; BS16]: a rho-zCDP mechanism is (eps, delta)-DP for every a > 1 with
 *
 *     log delta = (a-1) (a rho - eps) + (a-1) log(1-1/a) - log a.                            (1)
 *
 * At the best a the derivative (2a-1) rho - eps + log(1-1/a) vanishes; put back into (1) this gives
 * a curve in the one parameter a, both of whose coordinates are monotone and free of cancellation:
 *
 *     eps(a) = (2a-1) rho + log(1-1/a),        log delta(a) = -(a-1)^2 rho - log a.           (2)
 *
 * So a is found by bisection on one line of (2), in doubles, with x = a - 1 on a logarithmic scale.
 * Because (1) holds for *every* a, a slightly wrong a costs accuracy of second order and never
 * soundness; only (1) itself has to be exact, and it is computed by MPFR and rounded up.
 * Cost: about 20 microseconds. */
#include <tacit/account.h>

#include <float.h>
#include <math.h>

#include <mpfr.h>

enum { BITS = 256, HALVINGS = 200 };

/* x = a - 1 ranges over all that doubles can hold without x^2 or 1/x overflowing. */
#define LOG_X_MIN (-690.0)
#define LOG_X_MAX (350.0)

static double epsilon_on_curve(double rho, double x)
{
    return (2 * x + 1) * rho - log1p(1 / x);
}

static double log_delta_on_curve(double rho, double x)
{
    return -x * x * rho - log1p(x);
}

/* The x where `line`, monotone in x, crosses `target`. */
static double bisect_x(double (*line)(double, double), double rho, double target, int rising)
{
    double low = LOG_X_MIN, high = LOG_X_MAX;
    for (int i = 0; i < HALVINGS && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if ((line(rho, exp(middle)) < target) == (rising != 0))
            low = middle;
        else
            high = middle;
    }
    return exp(0.5 * (low + high));
}

/* out = x log(1 - 1/a) - log a = -x log(1 + 1/x) - log(1 + x), the part of (1) without rho. */
static void entropy_part(mpfr_t out, double x)
{
    mpfr_t t;
    mpfr_init2(t, BITS);
    mpfr_set_d(t, x, MPFR_RNDN);
    mpfr_ui_div(t, 1, t, MPFR_RNDN);
    mpfr_log1p(t, t, MPFR_RNDN);
    mpfr_mul_d(t, t, x, MPFR_RNDN);
    mpfr_set_d(out, x, MPFR_RNDN);
    mpfr_log1p(out, out, MPFR_RNDN);
    mpfr_add(out, out, t, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_clear(t);
}

/* out = (1 + x) rho */
static void alpha_rho(mpfr_t out, double x, double rho)
{
    mpfr_set_d(out, x, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_mul_d(out, out, rho, MPFR_RNDN);
}

/* What 256 bits may have lost, 2^-200 of the largest term, is added before the last rounding. */
static double round_up(mpfr_t value, const mpfr_t largest)
{
    mpfr_t slack;
    mpfr_init2(slack, BITS);
    mpfr_abs(slack, largest, MPFR_RNDU);
    mpfr_div_2ui(slack, slack, 200, MPFR_RNDU);
    mpfr_add(value, value, slack, MPFR_RNDU);
    double up = mpfr_get_d(value, MPFR_RNDU);
    mpfr_clear(slack);
    return up;
}

/* Equation (1) solved for delta, rounded up. */
static double delta_at(double rho, double epsilon, double x)
{
    mpfr_t e, h;
    mpfr_inits2(BITS, e, h, (mpfr_ptr)0);
    alpha_rho(e, x, rho);
    mpfr_sub_d(e, e, epsilon, MPFR_RNDN);
    mpfr_mul_d(e, e, x, MPFR_RNDN);
    entropy_part(h, x);
    mpfr_add(h, h, e, MPFR_RNDN);
    mpfr_exp(h, h, MPFR_RNDN);
    mpfr_abs(e, e, MPFR_RNDN);
    mpfr_add_ui(e, e, 1, MPFR_RNDN);
    mpfr_mul(e, e, h, MPFR_RNDN); /* exp turns an absolute error into a relative one */
    double delta = round_up(h, e);
    mpfr_clears(e, h, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (delta == 0) /* below even MPFR's range, but not nothing */
        delta = DBL_TRUE_MIN;
    return delta > 1 ? 1 : delta;
}

/* Equation (1) solved for epsilon, rounded up. */
static double epsilon_at(double rho, double delta, double x)
{
    mpfr_t e, h, t;
    mpfr_inits2(BITS, e, h, t, (mpfr_ptr)0);
    entropy_part(h, x);
    mpfr_set_d(t, delta, MPFR_RNDN);
    mpfr_log(t, t, MPFR_RNDN);
    mpfr_sub(h, h, t, MPFR_RNDN);
    mpfr_div_d(h, h, x, MPFR_RNDN);
    alpha_rho(e, x, rho);
    mpfr_abs(t, h, MPFR_RNDN);
    mpfr_add(t, t, e, MPFR_RNDN);
    mpfr_add(e, e, h, MPFR_RNDN);
    double epsilon = round_up(e, t);
    mpfr_clears(e, h, t, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return epsilon > 0 ? epsilon : 0;
}

tacit_status tacit_zcdp_delta(double rho, double epsilon, double *delta)
{
    if (delta == NULL || !(rho >= 0))
        return TACIT_BAD_ARGUMENT;
    if (!(epsilon >= 0))
        return TACIT_BAD_EPSILON;
    if (isinf(rho))
        *delta = 1;
    else if (rho == 0 || isinf(epsilon))
        *delta = 0;
    else
        *delta = delta_at(rho, epsilon, bisect_x(epsilon_on_curve, rho, epsilon, 1));
    return TACIT_OK;
}

tacit_status tacit_zcdp_epsilon(double rho, double delta, double *epsilon)
{
    if (epsilon == NULL || !(rho >= 0))
        return TACIT_BAD_ARGUMENT;
    if (!(delta >= 0 && delta < 1))
        return TACIT_BAD_DELTA;
    if (rho == 0)
        *epsilon = 0;
    else if (delta == 0 || isinf(rho))
        *epsilon = HUGE_VAL;
    else
        *epsilon = epsilon_at(rho, delta, bisect_x(log_delta_on_curve, rho, log(delta), 0));
    return TACIT_OK;
}
