/* See normal.h. Two forms of Mills' ratio [AS64, 26.2.10, 26.2.14]:
 *
 *     R(x) = sqrt(pi / 2) e^(x^2/2) - sum_n x^(2n+1) / (1 3 5 ... (2n+1)),   one difference cancels;
 *     R(x) = 1/(x + 1/(x + 2/(x + 3/(x + ...)))),                            whose convergents enclose it.
 *
 * The first is for small x, where the second converges slowly. Cost: 10 to 30 microseconds at 200 bits. */
#include "noise/normal.h"

enum { SPARE_BITS = 16 };

/* From here on the continued fraction is faster. */
#define FRACTION_FROM 6.0

void tacit__normal_density(tacit__wide *out, const tacit__wide *x)
{
    tacit__wide c;
    tacit__wide_init(&c, tacit__wide_bits(out));
    tacit__wide_pi(&c);
    tacit__wide_shift(&c, 1);
    tacit__wide_sqrt(&c, &c);
    tacit__wide_mul(out, x, x);
    tacit__wide_shift(out, -1);
    out->sign = -out->sign;
    tacit__wide_exp(out, out);
    tacit__wide_div(out, out, &c);
}

/* R >= 1/8 below x = 6 and the two terms are below 2^27 there. */
static void by_series(tacit__wide *out, const tacit__wide *x)
{
    tacit__wide square, sum, term, first;
    size_t bits = tacit__wide_bits(out) + 30 + SPARE_BITS;
    tacit__wide_init(&square, bits);
    tacit__wide_init(&sum, bits);
    tacit__wide_init(&term, bits);
    tacit__wide_init(&first, bits);
    tacit__wide_mul(&square, x, x);
    tacit__wide_set(&term, x);
    for (uint32_t k = 3; term.sign != 0 && term.exponent > -(int64_t)bits; k += 2) {
        tacit__wide_add(&sum, &sum, &term);
        tacit__wide_mul(&term, &term, &square);
        tacit__wide_div_small(&term, &term, k);
    }
    tacit__wide_pi(&first);
    tacit__wide_shift(&first, -1);
    tacit__wide_sqrt(&first, &first);
    tacit__wide_shift(&square, -1);
    tacit__wide_exp(&square, &square);
    tacit__wide_mul(&first, &first, &square);
    tacit__wide_sub(out, &first, &sum);
}

/* The convergents A_k / B_k by their recurrence, A_k = x A_(k-1) + a_k A_(k-2) with a = 1, 1, 2, 3, ...,
 * and B alike: all terms are positive. Two neighbors are a_1 ... a_k / (B_(k-1) B_k) apart, and the truth
 * is between them. */
static void by_fraction(tacit__wide *out, const tacit__wide *x)
{
    tacit__wide a[2], b[2], t, apart;
    size_t bits = tacit__wide_bits(out);
    for (int i = 0; i < 2; i++) {
        tacit__wide_init(&a[i], bits);
        tacit__wide_init(&b[i], bits);
    }
    tacit__wide_init(&t, bits);
    tacit__wide_init(&apart, 64);
    tacit__wide_set_u64(&apart, 1);
    tacit__wide_set_u64(&a[1], 1); /* A_1 = 1, A_0 = 0; B_1 = x, B_0 = 1 */
    tacit__wide_set_u64(&b[0], 1);
    tacit__wide_set(&b[1], x);
    /* |difference| < 2^-bits of A_k / B_k; a number is at least half of 2^exponent */
    for (uint32_t k = 1;
         apart.exponent > a[k & 1].exponent + b[~k & 1].exponent - 2 - (int64_t)bits; k++) {
        tacit__wide *next = &a[~k & 1], *now = &a[k & 1];
        tacit__wide_mul_small(next, next, k);
        tacit__wide_mul(&t, x, now);
        tacit__wide_add(next, next, &t);
        next = &b[~k & 1];
        now = &b[k & 1];
        tacit__wide_mul_small(next, next, k);
        tacit__wide_mul(&t, x, now);
        tacit__wide_add(next, next, &t);
        tacit__wide_mul_small(&apart, &apart, k);
    }
    tacit__wide_div(out, &a[0], &b[0]); /* two neighbors: either will do */
}

void tacit__mills_ratio(tacit__wide *out, const tacit__wide *x)
{
    if (tacit__wide_up(x) < FRACTION_FROM)
        by_series(out, x);
    else
        by_fraction(out, x);
}
