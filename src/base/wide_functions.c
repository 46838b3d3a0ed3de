/* Square roots, exponentials, logarithms and pi of wide.h. Each works with some more bits than its target
 * has: as many as its own steps can lose, and 16 for all roundings together. */
#include <math.h>

#include "base/error.h"
#include "base/wide.h"

enum { SPARE_BITS = 16, HUGE_EXPONENT = 40 };

/* Newton on y = x^(-1/2), y += y (1 - x y^2) / 2, which doubles the bits that are right; from a double. */
void tacit__wide_sqrt(tacit__wide *out, const tacit__wide *x)
{
    TACIT__REQUIRE(x->sign >= 0);
    if (x->sign == 0) {
        out->sign = 0;
        return;
    }
    tacit__wide m, y, t, one;
    size_t bits = tacit__wide_bits(out) + SPARE_BITS;
    int64_t half = (x->exponent + (x->exponent & 1)) / 2;
    tacit__wide_init(&m, bits);
    tacit__wide_init(&y, bits);
    tacit__wide_init(&t, bits);
    tacit__wide_init(&one, bits);
    tacit__wide_set(&m, x);
    tacit__wide_shift(&m, -2 * half); /* in [1/4, 1) */
    tacit__wide_set_d(&y, 1 / sqrt(tacit__wide_down(&m)));
    tacit__wide_set_u64(&one, 1);
    for (size_t right = 48; right < bits; right *= 2) {
        tacit__wide_mul(&t, &y, &y);
        tacit__wide_mul(&t, &t, &m);
        tacit__wide_sub(&t, &one, &t);
        tacit__wide_mul(&t, &t, &y);
        tacit__wide_shift(&t, -1);
        tacit__wide_add(&y, &y, &t);
    }
    tacit__wide_mul(out, &m, &y);
    tacit__wide_shift(out, half);
}

/* -1, 0, 1 as y^2 is below, equal to, above x: the square of a double is exact. */
static int compare_square(double y, const tacit__wide *x)
{
    tacit__wide square;
    tacit__wide_init(&square, 128);
    tacit__wide_set_d(&square, y);
    tacit__wide_mul(&square, &square, &square);
    return tacit__wide_compare(&square, x);
}

double tacit__wide_sqrt_down(const tacit__wide *x)
{
    tacit__wide root;
    tacit__wide_init(&root, 128);
    tacit__wide_sqrt(&root, x);
    double y = tacit__wide_down(&root), next = nextafter(y, HUGE_VAL);
    if (isfinite(next) && compare_square(next, x) <= 0)
        return next;
    return y > 0 && compare_square(y, x) > 0 ? nextafter(y, 0) : y;
}

double tacit__wide_sqrt_up(const tacit__wide *x)
{
    double y = tacit__wide_sqrt_down(x);
    return compare_square(y, x) < 0 ? nextafter(y, HUGE_VAL) : y;
}

/* sum += factor atan(1 / n) = factor (1/n - 1/(3 n^3) + 1/(5 n^5) - ...) */
static void add_arctangent(tacit__wide *sum, uint32_t factor, int sign, uint32_t n)
{
    tacit__wide power, term;
    size_t bits = tacit__wide_bits(sum);
    tacit__wide_init(&power, bits);
    tacit__wide_init(&term, bits);
    tacit__wide_set_u64(&power, factor);
    power.sign = sign;
    tacit__wide_div_small(&power, &power, n);
    for (uint32_t k = 1; power.exponent > -(int64_t)bits; k += 2) {
        tacit__wide_div_small(&term, &power, k);
        tacit__wide_add(sum, sum, &term);
        tacit__wide_div_small(&power, &power, n * n);
        power.sign = -power.sign;
    }
}

/* Machin: pi = 16 atan(1/5) - 4 atan(1/239). */
void tacit__wide_pi(tacit__wide *out)
{
    tacit__wide sum;
    tacit__wide_init(&sum, tacit__wide_bits(out) + SPARE_BITS);
    add_arctangent(&sum, 16, 1, 5);
    add_arctangent(&sum, 4, -1, 239);
    tacit__wide_set(out, &sum);
}

/* sum_k x^k / k! for 0 <= x < 2^-8 */
static void taylor(tacit__wide *sum, const tacit__wide *x)
{
    tacit__wide term;
    tacit__wide_init(&term, tacit__wide_bits(sum));
    tacit__wide_set_u64(&term, 1);
    tacit__wide_set(sum, &term);
    for (uint32_t k = 1; term.sign != 0 && term.exponent > -(int64_t)tacit__wide_bits(sum); k++) {
        tacit__wide_mul(&term, &term, x);
        tacit__wide_div_small(&term, &term, k);
        tacit__wide_add(sum, sum, &term);
    }
}

/* e^|x| = (e^(|x| / 2^s))^(2^s). Every squaring doubles the relative error. */
void tacit__wide_exp(tacit__wide *out, const tacit__wide *x)
{
    tacit__wide y, small, one;
    int sign = x->sign;
    if (sign != 0 && x->exponent > HUGE_EXPONENT) {
        tacit__wide_set_u64(out, 1);
        tacit__wide_shift(out, sign * (INT64_C(2) << HUGE_EXPONENT));
        return;
    }
    size_t bits = tacit__wide_bits(out) + SPARE_BITS;
    int64_t target = 8 + (int64_t)(bits / 64); /* the series then has about bits / target terms */
    int64_t squarings = sign != 0 && x->exponent + target > 0 ? x->exponent + target : 0;
    bits += (size_t)squarings;
    tacit__wide_init(&y, bits);
    tacit__wide_init(&small, bits);
    tacit__wide_set(&small, x);
    small.sign = sign != 0;
    tacit__wide_shift(&small, -squarings);
    taylor(&y, &small);
    for (int64_t i = 0; i < squarings; i++)
        tacit__wide_mul(&y, &y, &y);
    if (sign >= 0) {
        tacit__wide_set(out, &y);
        return;
    }
    tacit__wide_init(&one, 64);
    tacit__wide_set_u64(&one, 1);
    tacit__wide_div(out, &one, &y);
}

/* Halley: y += 2 (x - e^y) / (x + e^y), which triples the digits that are right; from a double. */
void tacit__wide_log(tacit__wide *out, const tacit__wide *x)
{
    if (x->sign <= 0) {
        tacit__wide_set_u64(out, UINT64_C(2) << HUGE_EXPONENT);
        out->sign = -1;
        return;
    }
    tacit__wide m, y, power, difference;
    size_t bits = tacit__wide_bits(out) + SPARE_BITS;
    tacit__wide_init(&m, bits);
    tacit__wide_init(&y, bits);
    tacit__wide_init(&power, bits);
    tacit__wide_init(&difference, bits);
    tacit__wide_set(&m, x);
    m.exponent = 0; /* in [1/2, 1) */
    tacit__wide_set_d(&y, log(tacit__wide_down(&m)) + (double)x->exponent * M_LN2);
    size_t right = 48; /* bits behind the point */
    for (int64_t e = x->exponent; e != 0 && right > 4; e /= 2)
        right--;
    for (; right < bits; right *= 3) {
        tacit__wide_exp(&power, &y);
        tacit__wide_sub(&difference, x, &power);
        tacit__wide_add(&power, x, &power);
        tacit__wide_div(&difference, &difference, &power);
        tacit__wide_shift(&difference, 1);
        tacit__wide_add(&y, &y, &difference);
    }
    tacit__wide_set(out, &y);
}
