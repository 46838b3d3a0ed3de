/* See text/decimal.h.
 *
 * A number is w 10^q. If w <= 2^53 and |q| <= 22, both w and 10^|q| are exact doubles, so that one operation
 * rounds once [C90]; these are the numbers of up to 15 digits that people and most programs send. All
 * others take strtod. */
#include "text/decimal.h"

#include <stdint.h>

#include "base/error.h"
#include "text/settings.h"

/* 19 digits fit into 64 bits; FAR: beyond every exponent that is looked at here. */
enum { DIGITS = 19, EXACT = 22, FAR = 10000 };

static const double tens[EXACT + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits of which w is the number, modulo 2^64 if there are too many. */
static const char *read_digits(const char *at, const char *end, uint64_t *w)
{
    uint64_t number = *w;
    for (; at != end; at++) {
        const unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9)
            break;
        number = 10 * number + digit;
    }
    *w = number;
    return at;
}

/* The exponent after its letter, far from any limit at most; NULL: there is none. */
static const char *read_exponent(const char *at, const char *end, int *out)
{
    const bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *start = at;
    int value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        value = value < FAR ? 10 * value + (*at - '0') : value;
    *out = minus ? -value : value;
    return at > start ? at : NULL;
}

const char *tacit__decimal_read(const char *text, const char *end, double *out, bool *in_range)
{
    TACIT__REQUIRE(text <= end && out != NULL && in_range != NULL);
    const bool minus = text < end && *text == '-';
    const char *first = text + minus;
    uint64_t w = 0;
    const char *at = read_digits(first, end, &w);
    if (at == first || (*first == '0' && at - first > 1))
        return NULL; /* no digit, or a leading zero */
    int q = 0;
    if (at < end && *at == '.') {
        const char *point = ++at;
        at = read_digits(at, end, &w);
        if (at == point)
            return NULL;
        q = at - point < FAR ? -(int)(at - point) : -FAR;
    }
    const bool fits = at - first <= DIGITS;
    if (at < end && (*at == 'e' || *at == 'E')) {
        int exponent = 0;
        at = read_exponent(at + 1, end, &exponent);
        if (at == NULL)
            return NULL;
        q += exponent;
    }
    *in_range = true;
    if (fits && w <= UINT64_C(1) << 53 && q >= -EXACT && q <= EXACT) {
        const double x = q < 0 ? (double)w / tens[-q] : (double)w * tens[q];
        *out = minus ? -x : x;
    } else {
        *in_range = tacit__read_real(text, (size_t)(at - text), out);
    }
    return at;
}
