/* Wide numbers against MPFR, operation by operation: random ones, ones whose limbs provoke every correction of a long division,
 * and ones that cancel. */
#include "base/wide.h"

#include <float.h>
#include <math.h>

#include <mpfr.h>

#include "noise/normal.h"
#include "support/check.h"
#include "support/random.h"

enum { MANY = 20000 }; /* bits of MPFR: more than any result here has */

/* Exact. */
static void to_mpfr(mpfr_t out, const tacit__wide *x)
{
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (size_t i = x->n; x->sign != 0 && i-- > 0;) {
        for (int half = 1; half >= 0; half--) { /* a long may have 32 bits */
            mpfr_mul_2ui(out, out, 32, MPFR_RNDN);
            mpfr_add_ui(out, out, (unsigned long)(x->limb[i] >> 32 * half & UINT32_MAX), MPFR_RNDN);
        }
    }
    mpfr_mul_2si(out, out, (long)x->exponent - 64 * (long)x->n, MPFR_RNDN);
    if (x->sign < 0)
        mpfr_neg(out, out, MPFR_RNDN);
}

/* |x - truth| <= 2^-bits max(|truth|, least), and x is in order. Spoils the truth. */
static void check_near(const tacit__wide *x, mpfr_t truth, size_t bits, double least,
                       const char *what)
{
    mpfr_t mine, error;
    if (x->sign != 0)
        assert_true(x->limb[x->n - 1] >> 63 == 1);
    mpfr_inits2(MANY, mine, error, (mpfr_ptr)0);
    to_mpfr(mine, x);
    mpfr_sub(error, mine, truth, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    mpfr_abs(truth, truth, MPFR_RNDN);
    if (mpfr_cmp_d(truth, least) < 0)
        mpfr_set_d(truth, least, MPFR_RNDN);
    mpfr_div_2ui(truth, truth, bits, MPFR_RNDN);
    if (mpfr_cmp(error, truth) > 0)
        fail_msg("%s at %zu bits: off by 2^%ld, allowed is 2^%ld", what, bits,
                 (long)mpfr_get_exp(error), (long)mpfr_get_exp(truth));
    mpfr_clears(mine, error, (mpfr_ptr)0);
}

/* Any precision, sign and exponent; limbs are often all zeros, all ones, or nearly so. */
static void random_wide(uint64_t *r, tacit__wide *x, int spread)
{
    tacit__wide_init(x, 1 + (size_t)random_below(r, 500));
    x->sign = random_below(r, 2) ? 1 : -1;
    x->exponent = (int64_t)random_below(r, 2 * (uint64_t)spread + 1) - spread;
    for (size_t i = 0; i < x->n; i++) {
        const uint64_t some[] = {0,
                                 1,
                                 UINT64_MAX,
                                 UINT64_MAX - 1,
                                 1ull << 63,
                                 random_word(r),
                                 random_word(r),
                                 (1ull << 63) - 1};
        x->limb[i] = some[random_below(r, 8)];
    }
    x->limb[x->n - 1] |= 1ull << 63;
    if (random_below(r, 50) == 0)
        x->sign = 0;
}

typedef void operation(tacit__wide *, const tacit__wide *, const tacit__wide *);
typedef int reference(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* Into a number of its own and into either operand. */
static void check_operation(const char *what, uint64_t *r, operation *op, reference *truth,
                            const tacit__wide *a, const tacit__wide *b)
{
    mpfr_t x, y, z;
    mpfr_inits2(MANY, x, y, z, (mpfr_ptr)0);
    to_mpfr(x, a);
    to_mpfr(y, b);
    tacit__wide out, in_a = *a, in_b = *b;
    tacit__wide_init(&out, 1 + (size_t)random_below(r, 500));
    op(&out, a, b);
    op(&in_a, &in_a, b);
    op(&in_b, a, &in_b);
    (void)truth(z, x, y, MPFR_RNDN);
    check_near(&out, z, tacit__wide_bits(&out), 0, what);
    (void)truth(z, x, y, MPFR_RNDN);
    check_near(&in_a, z, tacit__wide_bits(&in_a), 0, what);
    (void)truth(z, x, y, MPFR_RNDN);
    check_near(&in_b, z, tacit__wide_bits(&in_b), 0, what);
    mpfr_clears(x, y, z, (mpfr_ptr)0);
}

TEST(the_four_operations_are_right)
{
    uint64_t r = 1;
    for (int i = 0; i < 4000; i++) {
        tacit__wide a, b;
        random_wide(&r, &a, 300);
        random_wide(&r, &b, i % 2 ? 300 : 2);
        if (i % 5 == 0) { /* nearly, or fully, equal */
            tacit__wide_set(&b, &a);
            b.limb[random_below(&r, b.n)] ^= random_below(&r, 4);
            b.limb[b.n - 1] |= 1ull << 63;
        }
        if (i % 10 == 0) /* and one bit apart: the shift that still cancels */
            b.exponent--;
        check_operation("a + b", &r, tacit__wide_add, mpfr_add, &a, &b);
        check_operation("a - b", &r, tacit__wide_sub, mpfr_sub, &a, &b);
        check_operation("a b", &r, tacit__wide_mul, mpfr_mul, &a, &b);
        if (b.sign != 0)
            check_operation("a / b", &r, tacit__wide_div, mpfr_div, &a, &b);
    }
}

TEST(small_factors_and_divisors_are_right)
{
    uint64_t r = 2;
    mpfr_t x, z;
    mpfr_inits2(MANY, x, z, (mpfr_ptr)0);
    for (int i = 0; i < 2000; i++) {
        tacit__wide a, out;
        random_wide(&r, &a, 300);
        tacit__wide_init(&out, 1 + (size_t)random_below(&r, 500));
        uint32_t b = i % 3 == 0 ? UINT32_MAX : (uint32_t)(random_word(&r) >> (32 + i % 32)) + 1;
        to_mpfr(x, &a);
        tacit__wide_mul_small(&out, &a, b);
        mpfr_mul_ui(z, x, b, MPFR_RNDN);
        check_near(&out, z, tacit__wide_bits(&out), 0, "a small b");
        tacit__wide_div_small(&out, &a, b);
        mpfr_div_ui(z, x, b, MPFR_RNDN);
        check_near(&out, z, tacit__wide_bits(&out), 0, "a / small b");
    }
    mpfr_clears(x, z, (mpfr_ptr)0);
}

TEST(comparisons_are_those_of_the_values)
{
    uint64_t r = 3;
    mpfr_t x, y;
    mpfr_inits2(MANY, x, y, (mpfr_ptr)0);
    for (int i = 0; i < 4000; i++) {
        tacit__wide a, b;
        random_wide(&r, &a, 1);
        random_wide(&r, &b, 1);
        if (i % 4 == 0)
            tacit__wide_set(&b, &a);
        to_mpfr(x, &a);
        to_mpfr(y, &b);
        int wanted = mpfr_cmp(x, y);
        assert_int_equal(tacit__wide_compare(&a, &b), (wanted > 0) - (wanted < 0));
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
}

TEST(doubles_come_in_exactly_and_leave_rounded_as_told)
{
    static const double some[] = {
        0, 1, -1, 0.1, DBL_MAX, DBL_TRUE_MIN, DBL_MIN, -DBL_TRUE_MIN, 1 - 0x1p-53, -3e-310};
    uint64_t r = 4;
    tacit__wide x;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        tacit__wide_init(&x, 64);
        tacit__wide_set_d(&x, some[i]);
        assert_true(tacit__wide_down(&x) == some[i] && tacit__wide_up(&x) == some[i]);
    }
    mpfr_t y;
    mpfr_init2(y, MANY);
    for (int i = 0; i < 20000; i++) {
        random_wide(&r, &x, 1200);
        if (i % 3 == 0)
            x.exponent = -1020 - (int64_t)random_below(&r, 60); /* the gradual end */
        if (i % 100 == 0)
            x.exponent = 1022 + (int64_t)random_below(&r, 4);
        to_mpfr(y, &x);
        double down = mpfr_get_d(y, MPFR_RNDD), up = mpfr_get_d(y, MPFR_RNDU);
        double mine_down = tacit__wide_down(&x), mine_up = tacit__wide_up(&x);
        assert_true(mine_down == down && mine_up == up);
        double near = mpfr_get_d(y, MPFR_RNDN);
        assert_true(tacit__wide_nearest(&x) ==
                    (isfinite(up) && isfinite(down) ? near : x.sign * HUGE_VAL));
    }
    mpfr_clear(y);
}

static const size_t precisions[] = {1, 64, 128, 176, 300, 1000, 3000};
enum { N_PRECISIONS = sizeof precisions / sizeof *precisions };

typedef void function(tacit__wide *, const tacit__wide *);
typedef int function_reference(mpfr_t, const mpfr_t, mpfr_rnd_t);

static void check_function(const char *what, function *f, function_reference *truth,
                           const tacit__wide *x, double least)
{
    mpfr_t z, t;
    mpfr_inits2(MANY / 4, z, t, (mpfr_ptr)0);
    to_mpfr(z, x);
    (void)truth(t, z, MPFR_RNDN);
    for (size_t p = 0; p < N_PRECISIONS; p++) {
        tacit__wide out;
        tacit__wide_init(&out, precisions[p]);
        f(&out, x);
        mpfr_set(z, t, MPFR_RNDN);
        check_near(&out, z, precisions[p], least, what);
    }
    mpfr_clears(z, t, (mpfr_ptr)0);
}

TEST(roots_exponentials_and_logarithms_are_right)
{
    uint64_t r = 5;
    for (int i = 0; i < 60; i++) {
        tacit__wide x;
        random_wide(&r, &x, i % 2 ? 12 : 300);
        int sign = x.sign;
        x.sign = x.sign != 0;
        check_function("sqrt", tacit__wide_sqrt, mpfr_sqrt, &x, 0);
        if (x.sign != 0) /* near 1 it is the absolute error that counts */
            check_function("log", tacit__wide_log, mpfr_log, &x, 1);
        x.exponent = x.exponent > 20 ? 20 : x.exponent;
        x.sign = sign;
        check_function("exp", tacit__wide_exp, mpfr_exp, &x, 0);
    }
}

TEST(roots_leave_as_the_doubles_around_them)
{
    uint64_t r = 8;
    mpfr_t y;
    mpfr_init2(y, MANY);
    for (int i = 0; i < 5000; i++) {
        tacit__wide x;
        random_wide(&r, &x, 2300);
        x.sign = x.sign != 0;
        if (i % 3 == 0) { /* a square, or as near to one as there is */
            tacit__wide_set_d(&x,
                              ldexp((double)random_below(&r, 1 << 30), (int)random_below(&r, 99)));
            tacit__wide_mul(&x, &x, &x);
            if (i % 2 == 0 && x.sign != 0)
                x.limb[0] += 1;
        }
        to_mpfr(y, &x);
        mpfr_sqrt(y, y, MPFR_RNDD);
        double down = mpfr_get_d(y, MPFR_RNDD);
        to_mpfr(y, &x);
        mpfr_sqrt(y, y, MPFR_RNDU);
        double up = mpfr_get_d(y, MPFR_RNDU);
        assert_true(tacit__wide_sqrt_down(&x) == down && tacit__wide_sqrt_up(&x) == up);
    }
    mpfr_clear(y);
}

TEST(a_quotient_is_rounded_up_unless_it_is_exact)
{
    uint64_t r = 9;
    mpfr_t x, y;
    mpfr_inits2(MANY, x, y, (mpfr_ptr)0);
    for (int i = 0; i < 2000; i++) {
        tacit__wide a, b, q;
        random_wide(&r, &a, 300);
        random_wide(&r, &b, 300);
        tacit__wide_init(&q, precisions[i % 4]);
        a.sign = a.sign != 0;
        b.sign = 1;
        if (b.limb[b.n - 1] >> 63 == 0)
            continue;
        if (i % 2 == 0) { /* a quotient of 32 bits */
            tacit__wide_init(&a, 64 * (b.n + 1));
            tacit__wide_mul_small(&a, &b, (uint32_t)random_below(&r, UINT32_MAX));
        }
        to_mpfr(x, &a);
        to_mpfr(y, &b);
        mpfr_t wanted;
        mpfr_init2(wanted, (mpfr_prec_t)(64 * q.n));
        mpfr_div(wanted, x, y, MPFR_RNDU);
        tacit__wide_div_up(&q, &a, &b);
        to_mpfr(x, &q);
        assert_true(mpfr_cmp(x, wanted) == 0);
        mpfr_clear(wanted);
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
}

TEST(the_ends_of_exp_and_log_are_where_they_are_said_to_be)
{
    tacit__wide x, y;
    tacit__wide_init(&x, 64);
    tacit__wide_init(&y, 64);
    tacit__wide_set_d(&x, -1e300);
    tacit__wide_exp(&y, &x);
    assert_true(y.sign == 1 && y.exponent == 1 - (INT64_C(1) << 41));
    tacit__wide_set_d(&x, 0);
    tacit__wide_exp(&y, &x);
    assert_true(tacit__wide_down(&y) == 1 && tacit__wide_up(&y) == 1);
    tacit__wide_log(&y, &x);
    assert_true(tacit__wide_down(&y) == -0x1p41);
}

TEST(pi_is_right)
{
    static const size_t many[] = {64, 200, 5000, TACIT__WIDE_MAX_BITS};
    mpfr_t pi;
    mpfr_init2(pi, MANY);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        tacit__wide x;
        tacit__wide_init(&x, many[i]);
        tacit__wide_pi(&x);
        mpfr_const_pi(pi, MPFR_RNDN);
        check_near(&x, pi, many[i], 0, "pi");
    }
    mpfr_clear(pi);
    mpfr_free_cache();
}

static int mpfr_mills(mpfr_t out, const mpfr_t x, mpfr_rnd_t way)
{
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(out));
    mpfr_sqrt_ui(t, 2, way);
    mpfr_div(t, x, t, way);
    mpfr_erfc(out, t, way);
    mpfr_sqr(t, t, way);
    mpfr_exp(t, t, way);
    mpfr_mul(out, out, t, way);
    mpfr_const_pi(t, way);
    mpfr_div_2ui(t, t, 1, way);
    mpfr_sqrt(t, t, way);
    int rounded = mpfr_mul(out, out, t, way);
    mpfr_clear(t);
    return rounded;
}

static int mpfr_density(mpfr_t out, const mpfr_t x, mpfr_rnd_t way)
{
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(out));
    mpfr_const_pi(t, way);
    mpfr_mul_2ui(t, t, 1, way);
    mpfr_sqrt(t, t, way);
    mpfr_sqr(out, x, way);
    mpfr_div_2ui(out, out, 1, way);
    mpfr_neg(out, out, way);
    mpfr_exp(out, out, way);
    int rounded = mpfr_div(out, out, t, way);
    mpfr_clear(t);
    return rounded;
}

TEST(tails_of_the_normal_law_are_right)
{
    static const double at[] = {0, 1e-300, 0.001, 0.7, 2, 5.9, 5.999999, 6, 6.1, 9, 20, 39.9};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        tacit__wide x;
        tacit__wide_init(&x, 64);
        tacit__wide_set_d(&x, at[i]);
        check_function("Mills' ratio", tacit__mills_ratio, mpfr_mills, &x, 0);
        check_function("density", tacit__normal_density, mpfr_density, &x, 0);
    }
    mpfr_free_cache();
}
