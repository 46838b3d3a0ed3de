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
 * soundness; only (1) itself has to be exact, and it is computed in wide numbers and rounded up.
 * Cost: about 20 microseconds. */
#include <tacit/account.h>

#include <math.h>

#include "base/wide.h"

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

/* The numbers of (1). They have so many bits more than BITS as 1 + x or 1 + 1/x need to tell x or 1/x from 1
 * to BITS: then both logarithms are right to 2^-BITS of their own size. */
typedef struct terms {
    size_t bits;
    tacit__wide x, entropy; /* -x log(1 + 1/x) - log(1 + x), the part of (1) without rho */
    tacit__wide alpha_rho;  /* (1 + x) rho */
} terms;

static void terms_init(terms *t, double x, double rho)
{
    tacit__wide one, a;
    tacit__wide_init(&t->x, 64);
    tacit__wide_set_d(&t->x, x);
    int64_t exponent = t->x.exponent;
    t->bits = BITS + (size_t)(exponent > 0 ? exponent : -exponent);
    tacit__wide_init(&one, 64);
    tacit__wide_set_u64(&one, 1);
    tacit__wide_init(&a, t->bits);
    tacit__wide_init(&t->entropy, t->bits);
    tacit__wide_init(&t->alpha_rho, t->bits);
    tacit__wide_div(&a, &one, &t->x);
    tacit__wide_add(&a, &a, &one);
    tacit__wide_log(&t->entropy, &a);
    tacit__wide_mul(&t->entropy, &t->entropy, &t->x);
    tacit__wide_add(&a, &t->x, &one);
    tacit__wide_set_d(&t->alpha_rho, rho);
    tacit__wide_mul(&t->alpha_rho, &t->alpha_rho, &a);
    tacit__wide_log(&a, &a);
    tacit__wide_add(&t->entropy, &t->entropy, &a);
    t->entropy.sign = -1;
}

/* What BITS may have lost, 2^-200 of the largest term, is added before the last rounding. */
static double round_up(tacit__wide *value, tacit__wide *largest)
{
    tacit__wide_shift(largest, -200);
    tacit__wide_add(value, value, largest);
    return tacit__wide_up(value);
}

/* Equation (1) solved for delta, rounded up. */
static double delta_at(double rho, double epsilon, double x)
{
    terms t;
    tacit__wide e, h;
    terms_init(&t, x, rho);
    tacit__wide_init(&e, t.bits);
    tacit__wide_init(&h, t.bits);
    tacit__wide_set_d(&e, epsilon);
    tacit__wide_sub(&e, &t.alpha_rho, &e);
    tacit__wide_mul(&e, &e, &t.x);
    tacit__wide_add(&h, &t.entropy, &e);
    tacit__wide_exp(&h, &h);
    e.sign = e.sign != 0;
    tacit__wide_set_u64(&t.x, 1);
    tacit__wide_add(&e, &e, &t.x);
    tacit__wide_mul(&e, &e, &h); /* exp turns an absolute error into a relative one */
    double delta = round_up(&h, &e);
    return delta > 1 ? 1 : delta;
}

/* Equation (1) solved for epsilon, rounded up. */
static double epsilon_at(double rho, double delta, double x)
{
    terms t;
    tacit__wide h, largest;
    terms_init(&t, x, rho);
    tacit__wide_init(&h, t.bits);
    tacit__wide_init(&largest, t.bits);
    tacit__wide_set_d(&h, delta);
    tacit__wide_log(&h, &h);
    tacit__wide_sub(&h, &t.entropy, &h);
    tacit__wide_div(&h, &h, &t.x);
    tacit__wide_set(&largest, &h);
    largest.sign = largest.sign != 0;
    tacit__wide_add(&largest, &largest, &t.alpha_rho);
    tacit__wide_add(&h, &h, &t.alpha_rho);
    double epsilon = round_up(&h, &largest);
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
