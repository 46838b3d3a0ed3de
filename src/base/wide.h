/* Floating-point numbers of any precision, for the rare undecided draw (noise/refine.c), the exact
 * calibration of Gaussian noise (account/gdp.c), on devices too, and the accountant.
 *
 * A number is sign 0.m 2^exponent with the first bit of m set, or 0. It lives in one struct, without
 * allocation. The precision belongs to the target: an operation with a target of `bits` bits has a
 * relative error below 2^-bits, whatever the operands' precision (really about 2^-(bits + 60): there is a
 * spare limb, and what lies below is cut off: sums of numbers of one sign, products and quotients are
 * never above the truth in size, and are exact if it fits into the target). Targets may be operands.
 * Exponents have 64 bits and do not overflow in anything that is done here. */
#ifndef TACIT_BASE_WIDE_H
#define TACIT_BASE_WIDE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TACIT__WIDE_MAX_BITS = 1 << 14,
    TACIT__WIDE_LIMBS =
        TACIT__WIDE_MAX_BITS / 64 + 16 /* the rest for what functions need in between */
};

typedef struct tacit__wide {
    int sign; /* -1, 0, 1 */
    size_t n;
    int64_t exponent;
    /* n of them, the lowest first; if not 0, the top bit is set */
    uint64_t limb[TACIT__WIDE_LIMBS];
} tacit__wide;

/* 0, with this precision. At most TACIT__WIDE_MAX_BITS. */
void tacit__wide_init(tacit__wide *x, size_t bits);
size_t tacit__wide_bits(const tacit__wide *x);

/* Exact where the target has 64 bits. Finite numbers only. */
void tacit__wide_set_u64(tacit__wide *x, uint64_t value);
void tacit__wide_set_d(tacit__wide *x, double value);
void tacit__wide_set(tacit__wide *x, const tacit__wide *y);

/* The nearest double that is not above, or not below. */
double tacit__wide_down(const tacit__wide *x);
double tacit__wide_up(const tacit__wide *x);
/* The nearest double; of two that are equally near, the one away from 0; infinite above DBL_MAX. */
double tacit__wide_nearest(const tacit__wide *x);

void tacit__wide_add(tacit__wide *out, const tacit__wide *a, const tacit__wide *b);
void tacit__wide_sub(tacit__wide *out, const tacit__wide *a, const tacit__wide *b);
void tacit__wide_mul(tacit__wide *out, const tacit__wide *a, const tacit__wide *b);
void tacit__wide_div(tacit__wide *out, const tacit__wide *a, const tacit__wide *b); /* b is not 0 */
/* a / b for a >= 0, b > 0: a / b itself if it fits into the target, else the next number above. */
void tacit__wide_div_up(tacit__wide *out, const tacit__wide *a, const tacit__wide *b);
void tacit__wide_mul_small(tacit__wide *out, const tacit__wide *a, uint32_t b);
void tacit__wide_div_small(tacit__wide *out, const tacit__wide *a, uint32_t b); /* b is not 0 */

/* -1, 0, 1 as a is below, equal to, above b. */
int tacit__wide_compare(const tacit__wide *a, const tacit__wide *b);

/* x 2^k, exact. */
static inline void tacit__wide_shift(tacit__wide *x, int64_t k)
{
    x->exponent += x->sign != 0 ? k : 0;
}

/* --- wide_functions.c ----------------------------------------------------------------------------- */

void tacit__wide_sqrt(tacit__wide *out, const tacit__wide *x); /* x >= 0 */
void tacit__wide_pi(tacit__wide *out);

/* The root of x >= 0 as the largest double that is not above it, or the smallest that is not below it. */
double tacit__wide_sqrt_down(const tacit__wide *x);
double tacit__wide_sqrt_up(const tacit__wide *x);

/* Beyond |x| = 2^40 the result is 2^(+-2^41): it neither overflows nor becomes 0. */
void tacit__wide_exp(tacit__wide *out, const tacit__wide *x);

/* Error below 2^-bits max(1, |log x|), absolute: near x = 1 that is not a relative one. x <= 0 gives
 * -2^41. */
void tacit__wide_log(tacit__wide *out, const tacit__wide *x);

#endif
