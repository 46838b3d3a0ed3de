/* See wide.h. Schoolbook arithmetic on 64-bit limbs [Knuth, TAOCP 2, 4.3.1]; at the usual 200 bits that is
 * as fast as anything. The only subtle point is subtraction: while exponents differ by less than a limb it
 * is exact, so digits that cancel leave no error behind, and beyond that at most one bit cancels. */
#include "base/wide.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

enum { LIMB = 64 };
__extension__ typedef unsigned __int128 twice;

void tacit__wide_init(tacit__wide *x, size_t bits)
{
    size_t n = (bits + LIMB - 1) / LIMB + 1;
    TACIT__REQUIRE(bits > 0 && n <= TACIT__WIDE_LIMBS);
    x->sign = 0;
    x->exponent = 0;
    x->n = n;
}

size_t tacit__wide_bits(const tacit__wide *x)
{
    return LIMB * (x->n - 1);
}

/* x = sign 0.m 2^exponent for m of `size` limbs, any of which may be 0. m is spoilt. */
static void normalize(tacit__wide *x, int sign, int64_t exponent, uint64_t *m, size_t size)
{
    while (size > 0 && m[size - 1] == 0) {
        size--;
        exponent -= LIMB;
    }
    x->sign = size > 0 ? sign : 0;
    x->exponent = size > 0 ? exponent : 0;
    if (size == 0)
        return;
    unsigned shift = (unsigned)__builtin_clzll(m[size - 1]);
    x->exponent -= shift;
    for (size_t i = 0; i < x->n; i++) { /* from the top down */
        uint64_t here = i < size ? m[size - 1 - i] : 0, below = i + 1 < size ? m[size - 2 - i] : 0;
        x->limb[x->n - 1 - i] = shift > 0 ? here << shift | below >> (LIMB - shift) : here;
    }
}

void tacit__wide_set(tacit__wide *x, const tacit__wide *y)
{
    if (x == y)
        return;
    size_t n = x->n < y->n ? x->n : y->n;
    x->sign = y->sign;
    x->exponent = y->exponent;
    if (x->sign == 0)
        return;
    memset(x->limb, 0, (x->n - n) * sizeof *x->limb);
    memcpy(x->limb + (x->n - n), y->limb + (y->n - n), n * sizeof *x->limb);
}

void tacit__wide_set_u64(tacit__wide *x, uint64_t value)
{
    normalize(x, 1, LIMB, &value, 1);
}

void tacit__wide_set_d(tacit__wide *x, double value)
{
    int exponent;
    double m = frexp(fabs(value), &exponent);
    tacit__wide_set_u64(x, (uint64_t)ldexp(m, 64 - 1)); /* 53 bits at the most */
    tacit__wide_shift(x, exponent - 63);
    x->sign *= value < 0 ? -1 : 1;
}

/* |x| as a double, cut off or, if anything was cut off and `away`, the next one. */
static double magnitude(const tacit__wide *x, int away)
{
    if (x->exponent > DBL_MAX_EXP)
        return away ? HUGE_VAL : DBL_MAX;
    /* below 2^-1021 fewer than 53 bits are left, and none below 2^-1074 */
    int64_t room = x->exponent - (DBL_MIN_EXP - DBL_MANT_DIG);
    unsigned keep = room >= DBL_MANT_DIG ? DBL_MANT_DIG : room > 0 ? (unsigned)room : 0;
    uint64_t top = x->limb[x->n - 1];
    uint64_t kept = keep > 0 ? top >> (LIMB - keep) : 0;
    uint64_t cut = keep > 0 ? top << keep : top;
    for (size_t i = 0; i + 1 < x->n; i++)
        cut |= x->limb[i];
    double value = keep > 0 ? ldexp((double)kept, (int)(x->exponent - keep)) : 0;
    return away && cut != 0 ? nextafter(value, HUGE_VAL) : value;
}

double tacit__wide_down(const tacit__wide *x)
{
    return x->sign == 0 ? 0 : x->sign > 0 ? magnitude(x, 0) : -magnitude(x, 1);
}

double tacit__wide_up(const tacit__wide *x)
{
    return x->sign == 0 ? 0 : x->sign > 0 ? magnitude(x, 1) : -magnitude(x, 0);
}

/* --- Sums ----------------------------------------------------------------------------------------- */

static int compare_magnitudes(const tacit__wide *a, const tacit__wide *b)
{
    if (a->sign == 0 || b->sign == 0)
        return (a->sign != 0) - (b->sign != 0);
    if (a->exponent != b->exponent)
        return a->exponent > b->exponent ? 1 : -1;
    size_t n = a->n > b->n ? a->n : b->n;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = i < a->n ? a->limb[a->n - 1 - i] : 0, y = i < b->n ? b->limb[b->n - 1 - i] : 0;
        if (x != y)
            return x > y ? 1 : -1;
    }
    return 0;
}

double tacit__wide_nearest(const tacit__wide *x)
{
    tacit__wide a, b;
    double cut = magnitude(x, 0), away = magnitude(x, 1);
    if (x->sign == 0 || isinf(away))
        return x->sign == 0 ? 0 : x->sign * away;
    tacit__wide_init(&a, LIMB);
    tacit__wide_init(&b, LIMB);
    tacit__wide_set_d(&a, cut);
    tacit__wide_set_d(&b, away);
    tacit__wide_add(&b, &b, &a);
    tacit__wide_shift(&b, -1);
    return x->sign * (compare_magnitudes(x, &b) < 0 ? cut : away);
}

int tacit__wide_compare(const tacit__wide *a, const tacit__wide *b)
{
    if (a->sign != b->sign)
        return a->sign > b->sign ? 1 : -1;
    return a->sign * compare_magnitudes(a, b);
}

/* Limbs of 0.m 2^-shift in `size` limbs; what does not fit is cut off. */
static void shift_limbs(const tacit__wide *x, uint64_t shift, uint64_t *m, size_t size)
{
    size_t skip = shift / LIMB < size ? (size_t)(shift / LIMB) : size;
    unsigned bits = (unsigned)(shift % LIMB);
    memset(m, 0, size * sizeof *m);
    for (size_t i = 0; i < x->n && skip + i < size; i++) {
        uint64_t limb = x->limb[x->n - 1 - i];
        m[size - 1 - skip - i] |= limb >> bits;
        if (bits > 0 && skip + i + 1 < size)
            m[size - 2 - skip - i] |= limb << (LIMB - bits);
    }
}

/* |a| + |b| or, if they are not of the same sign, |a| - |b|, with the sign of a; |a| >= |b|. Room for the
 * carry above, and for a limb of shifted bits below. */
static void combine(tacit__wide *out, const tacit__wide *a, const tacit__wide *b, int same)
{
    uint64_t x[TACIT__WIDE_LIMBS + 1], y[TACIT__WIDE_LIMBS + 1];
    size_t size = (a->n > b->n ? a->n : b->n);
    size = (size > out->n ? size : out->n) + 1;
    int64_t exponent = a->exponent;
    int sign = a->sign;
    shift_limbs(a, 1, x, size); /* one bit lower: the sum may need it */
    shift_limbs(b, (uint64_t)(a->exponent - b->exponent) + 1, y, size);
    if (same) {
        twice carry = 0;
        for (size_t i = 0; i < size; i++) {
            carry += (twice)x[i] + y[i];
            x[i] = (uint64_t)carry;
            carry >>= LIMB;
        }
    } else {
        twice borrow = 0;
        for (size_t i = 0; i < size; i++) {
            twice difference = (twice)x[i] - y[i] - borrow;
            x[i] = (uint64_t)difference;
            borrow = difference >> (2 * LIMB - 1);
        }
    }
    normalize(out, sign, exponent + 1, x, size);
}

static void add_signed(tacit__wide *out, const tacit__wide *a, const tacit__wide *b, int b_sign)
{
    if (b_sign == 0) {
        tacit__wide_set(out, a);
    } else if (a->sign == 0) {
        tacit__wide_set(out, b);
        out->sign = b_sign;
    } else if (compare_magnitudes(a, b) >= 0) {
        combine(out, a, b, a->sign == b_sign);
    } else {
        int flip = b_sign * b->sign; /* asked now: `out` may be b */
        combine(out, b, a, a->sign == b_sign);
        out->sign *= flip;
    }
}

void tacit__wide_add(tacit__wide *out, const tacit__wide *a, const tacit__wide *b)
{
    add_signed(out, a, b, b->sign);
}

void tacit__wide_sub(tacit__wide *out, const tacit__wide *a, const tacit__wide *b)
{
    add_signed(out, a, b, -b->sign);
}

/* --- Products and quotients ----------------------------------------------------------------------- */

void tacit__wide_mul(tacit__wide *out, const tacit__wide *a, const tacit__wide *b)
{
    uint64_t product[2 * TACIT__WIDE_LIMBS];
    if (a->sign == 0 || b->sign == 0) {
        out->sign = 0;
        return;
    }
    memset(product, 0, (a->n + b->n) * sizeof *product);
    for (size_t i = 0; i < a->n; i++) {
        twice carry = 0, factor = a->limb[i];
        for (size_t j = 0; j < b->n; j++) {
            carry += product[i + j] + factor * b->limb[j];
            product[i + j] = (uint64_t)carry;
            carry >>= LIMB;
        }
        product[i + b->n] = (uint64_t)carry;
    }
    normalize(out, a->sign * b->sign, a->exponent + b->exponent, product, a->n + b->n);
}

void tacit__wide_mul_small(tacit__wide *out, const tacit__wide *a, uint32_t b)
{
    uint64_t product[TACIT__WIDE_LIMBS + 1];
    twice carry = 0;
    if (a->sign == 0 || b == 0) {
        out->sign = 0;
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        carry += (twice)a->limb[i] * b;
        product[i] = (uint64_t)carry;
        carry >>= LIMB;
    }
    product[a->n] = (uint64_t)carry;
    normalize(out, a->sign, a->exponent + LIMB, product, a->n + 1);
}

void tacit__wide_div_small(tacit__wide *out, const tacit__wide *a, uint32_t b)
{
    TACIT__REQUIRE(b != 0);
    uint64_t quotient[TACIT__WIDE_LIMBS + 2];
    twice rest = 0;
    size_t size = (a->n > out->n ? a->n : out->n) + 1;
    if (a->sign == 0) {
        out->sign = 0;
        return;
    }
    for (size_t i = 0; i < size; i++) {
        rest = rest << LIMB | (i < a->n ? a->limb[a->n - 1 - i] : 0);
        quotient[size - 1 - i] = (uint64_t)(rest / b);
        rest %= b;
    }
    normalize(out, a->sign, a->exponent, quotient, size);
}

/* Subtracts `digit` times the divisor from the n + 1 limbs at u, whose last is the highest; adds it back,
 * and lowers the digit, while that was too much: at most twice, since the divisor's top bit is set. */
static uint64_t subtract_multiple(uint64_t *u, const uint64_t *divisor, size_t n, twice digit)
{
    twice borrow = 0, carry = 0;
    for (size_t j = 0; j <= n; j++) {
        carry += j < n ? digit * divisor[j] : 0;
        twice difference = (twice)u[j] - (uint64_t)carry - borrow;
        u[j] = (uint64_t)difference;
        borrow = difference >> (2 * LIMB - 1);
        carry >>= LIMB;
    }
    while (borrow != 0) {
        twice sum = 0;
        digit--;
        for (size_t j = 0; j <= n; j++) {
            sum += (twice)u[j] + (j < n ? divisor[j] : 0);
            u[j] = (uint64_t)sum;
            sum >>= LIMB;
        }
        borrow -= sum;
    }
    return (uint64_t)digit;
}

/* [Knuth, algorithm D]; a quotient of n + 2 limbs, the first of which is 0 or 1. */
void tacit__wide_div(tacit__wide *out, const tacit__wide *a, const tacit__wide *b)
{
    uint64_t u[2 * TACIT__WIDE_LIMBS + 4], quotient[TACIT__WIDE_LIMBS + 2];
    TACIT__REQUIRE(b->sign != 0);
    if (a->sign == 0) {
        out->sign = 0;
        return;
    }
    size_t n = b->n, digits = out->n + 2, size = n + digits;
    for (size_t i = 0; i < size; i++) /* u[size - 1] = 0, then a, from the top */
        u[size - 1 - i] = i > 0 && i <= a->n ? a->limb[a->n - i] : 0;
    twice top = b->limb[n - 1];
    for (size_t i = digits; i-- > 0;) {
        twice head = (twice)u[i + n] << LIMB | u[i + n - 1], digit = head / top;
        if (digit > UINT64_MAX)
            digit = UINT64_MAX;
        quotient[i] = subtract_multiple(u + i, b->limb, n, digit);
    }
    normalize(out, a->sign * b->sign, a->exponent - b->exponent + LIMB, quotient, digits);
}

/* The product with b says whether anything was cut off: it has room for all of its bits. */
void tacit__wide_div_up(tacit__wide *out, const tacit__wide *a, const tacit__wide *b)
{
    tacit__wide quotient, product, unit;
    TACIT__REQUIRE(a->sign >= 0 && b->sign > 0);
    tacit__wide_init(&quotient, tacit__wide_bits(out));
    tacit__wide_div(&quotient, a, b);
    tacit__wide_init(&product, LIMB * (quotient.n + b->n));
    tacit__wide_mul(&product, &quotient, b);
    if (tacit__wide_compare(&product, a) < 0) {
        tacit__wide_init(&unit, LIMB);
        tacit__wide_set_u64(&unit, 1);
        tacit__wide_shift(&unit, quotient.exponent - LIMB * (int64_t)quotient.n);
        tacit__wide_add(&quotient, &quotient, &unit);
    }
    tacit__wide_set(out, &quotient);
}
