/* See text/decimal.h.
 *
 * A number is w 10^q with w of at most 19 digits, which fit into 64 bits; longer ones go the long way.
 *   - w <= 2^53 and |q| <= 22: both w and 10^|q| are exact doubles, so that one operation rounds once [C90].
 *   - q from LEAST to MOST: the 128 leading bits of 5^q times w give the leading bits of the product with an error of less than
 *     one unit of the last of 64 to 128 of them. Unless those bits are all ones, where that error might carry, they decide the
 *     rounding [L21, sections 5 to 8, Algorithm 1].
 *   - everything else, and what is not decided: the system's strtod. */
#include "text/decimal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "text/settings.h"

__extension__ typedef unsigned __int128 wide;

/* FAR: beyond every exponent that is looked at here. */
enum { DIGITS = 19, EXACT = 22, LEAST = -40, MOST = 22, BITS = 52, FAR = 10000 };
_Static_assert(MOST <= 23, "halves between two doubles are products of at most 5^23");

/* 5^q, moved so that the highest of 128 bits is set: truncated for q >= 0, and 1/5^-q rounded up for q <
 * 0. */
static const struct {
    uint64_t high, low;
} fives[MOST - LEAST + 1] = {
    {0x8b61313bbabce2c6, 0x2323ac4b3b3da015}, /* -40 */
    {0xae397d8aa96c1b77, 0xabec975e0a0d081a}, /* -39 */
    {0xd9c7dced53c72255, 0x96e7bd358c904a21}, /* -38 */
    {0x881cea14545c7575, 0x7e50d64177da2e54}, /* -37 */
    {0xaa242499697392d2, 0xdde50bd1d5d0b9e9}, /* -36 */
    {0xd4ad2dbfc3d07787, 0x955e4ec64b44e864}, /* -35 */
    {0x84ec3c97da624ab4, 0xbd5af13bef0b113e}, /* -34 */
    {0xa6274bbdd0fadd61, 0xecb1ad8aeacdd58e}, /* -33 */
    {0xcfb11ead453994ba, 0x67de18eda5814af2}, /* -32 */
    {0x81ceb32c4b43fcf4, 0x80eacf948770ced7}, /* -31 */
    {0xa2425ff75e14fc31, 0xa1258379a94d028d}, /* -30 */
    {0xcad2f7f5359a3b3e, 0x096ee45813a04330}, /* -29 */
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc}, /* -28 */
    {0x9e74d1b791e07e48, 0x775ea264cf55347e}, /* -27 */
    {0xc612062576589dda, 0x95364afe032a819e}, /* -26 */
    {0xf79687aed3eec551, 0x3a83ddbd83f52205}, /* -25 */
    {0x9abe14cd44753b52, 0xc4926a9672793543}, /* -24 */
    {0xc16d9a0095928a27, 0x75b7053c0f178294}, /* -23 */
    {0xf1c90080baf72cb1, 0x5324c68b12dd6339}, /* -22 */
    {0x971da05074da7bee, 0xd3f6fc16ebca5e04}, /* -21 */
    {0xbce5086492111aea, 0x88f4bb1ca6bcf585}, /* -20 */
    {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e6}, /* -19 */
    {0x9392ee8e921d5d07, 0x3aff322e62439fd0}, /* -18 */
    {0xb877aa3236a4b449, 0x09befeb9fad487c3}, /* -17 */
    {0xe69594bec44de15b, 0x4c2ebe687989a9b4}, /* -16 */
    {0x901d7cf73ab0acd9, 0x0f9d37014bf60a11}, /* -15 */
    {0xb424dc35095cd80f, 0x538484c19ef38c95}, /* -14 */
    {0xe12e13424bb40e13, 0x2865a5f206b06fba}, /* -13 */
    {0x8cbccc096f5088cb, 0xf93f87b7442e45d4}, /* -12 */
    {0xafebff0bcb24aafe, 0xf78f69a51539d749}, /* -11 */
    {0xdbe6fecebdedd5be, 0xb573440e5a884d1c}, /* -10 */
    {0x89705f4136b4a597, 0x31680a88f8953031}, /* -9 */
    {0xabcc77118461cefc, 0xfdc20d2b36ba7c3e}, /* -8 */
    {0xd6bf94d5e57a42bc, 0x3d32907604691b4d}, /* -7 */
    {0x8637bd05af6c69b5, 0xa63f9a49c2c1b110}, /* -6 */
    {0xa7c5ac471b478423, 0x0fcf80dc33721d54}, /* -5 */
    {0xd1b71758e219652b, 0xd3c36113404ea4a9}, /* -4 */
    {0x83126e978d4fdf3b, 0x645a1cac083126ea}, /* -3 */
    {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a4}, /* -2 */
    {0xcccccccccccccccc, 0xcccccccccccccccd}, /* -1 */
    {0x8000000000000000, 0x0000000000000000}, /* 0 */
    {0xa000000000000000, 0x0000000000000000}, /* 1 */
    {0xc800000000000000, 0x0000000000000000}, /* 2 */
    {0xfa00000000000000, 0x0000000000000000}, /* 3 */
    {0x9c40000000000000, 0x0000000000000000}, /* 4 */
    {0xc350000000000000, 0x0000000000000000}, /* 5 */
    {0xf424000000000000, 0x0000000000000000}, /* 6 */
    {0x9896800000000000, 0x0000000000000000}, /* 7 */
    {0xbebc200000000000, 0x0000000000000000}, /* 8 */
    {0xee6b280000000000, 0x0000000000000000}, /* 9 */
    {0x9502f90000000000, 0x0000000000000000}, /* 10 */
    {0xba43b74000000000, 0x0000000000000000}, /* 11 */
    {0xe8d4a51000000000, 0x0000000000000000}, /* 12 */
    {0x9184e72a00000000, 0x0000000000000000}, /* 13 */
    {0xb5e620f480000000, 0x0000000000000000}, /* 14 */
    {0xe35fa931a0000000, 0x0000000000000000}, /* 15 */
    {0x8e1bc9bf04000000, 0x0000000000000000}, /* 16 */
    {0xb1a2bc2ec5000000, 0x0000000000000000}, /* 17 */
    {0xde0b6b3a76400000, 0x0000000000000000}, /* 18 */
    {0x8ac7230489e80000, 0x0000000000000000}, /* 19 */
    {0xad78ebc5ac620000, 0x0000000000000000}, /* 20 */
    {0xd8d726b7177a8000, 0x0000000000000000}, /* 21 */
    {0x878678326eac9000, 0x0000000000000000}, /* 22 */
};

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* As many digits as there are in the next eight bytes, and w with them behind it; for bytes in the
 * order of this machine. The highest bit of a byte of `other` says that it is no digit; what such a
 * byte carries is in those after it, which no longer matter. The digits move to the end, zeros
 * before them, and then each step adds neighbors: bytes to pairs, pairs to fours, fours to eight
 * [L21, section 6]. */
static inline unsigned read_eight(uint64_t bytes, uint64_t *w)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const uint64_t zeros = 0x3030303030303030, value = bytes - zeros,
                   other = (value | (bytes + 0x4646464646464646)) & 0x8080808080808080;
    const unsigned n = other != 0 ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    if (n == 0)
        return 0;
    bytes = value << (64 - 8 * n);
    bytes = bytes * 10 + (bytes >> 8);
    bytes = ((bytes & 0x000000ff000000ff) * 0x000f424000000064 +
             (bytes >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
            32;
    *w = *w * powers[n] + (uint32_t)bytes;
    return n;
}

/* Digits of which w is the number, modulo 2^64 if there are too many. */
static const char *read_digits(const char *at, const char *end, uint64_t *w)
{
    while (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && end - at >= 8) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        const unsigned n = read_eight(bytes, w);
        at += n;
        if (n < 8)
            return at;
    }
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

/* Returns whether there are at most 19 digits beside the zeros that they begin with. */
static bool is_short(const char *at, const char *end)
{
    if (end - at <= DIGITS)
        return true;
    while (at < end && (*at == '0' || *at == '.'))
        at++;
    size_t n = 0;
    for (; at < end; at++)
        n += *at != '.';
    return n <= DIGITS;
}

/* The exponent after its letter, far from any limit at most; NULL: there is none. */
static const char *read_exponent(const char *at, const char *end, int *out)
{
    const bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *start = at;
    int value = 0;
    for (; at < end && is_digit(*at); at++)
        value = value < FAR ? 10 * value + (*at - '0') : value;
    *out = minus ? -value : value;
    return at > start ? at : NULL;
}

/* w 10^q with its leading 53 bits, correctly rounded. False: they are not decided here. */
static bool round_product(uint64_t w, int q, double *out)
{
    const int zeros = __builtin_clzll(w);
    w <<= zeros;
    const uint64_t high5 = fives[q - LEAST].high, low5 = fives[q - LEAST].low;
    const wide first = (wide)w * high5;
    uint64_t high = (uint64_t)(first >> 64), low = (uint64_t)first;
    if ((high & 0x1ff) == 0x1ff) { /* the bits below the 55 that matter might carry */
        const uint64_t more = (uint64_t)((wide)w * low5 >> 64);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && q < -27)
        return false;
    const int upper = (int)(high >> 63), shift = upper + 64 - BITS - 3;
    uint64_t mantissa = high >> shift;
    /* floor(q log2(10)) by 217706 / 2^16, shifted by 256 so that nothing negative is shifted */
    int power = ((217706 * q + (256 << 16)) >> 16) - 256 + 63 + upper - zeros + 1023;
    /* halfway between two doubles: to the even one; q <= MOST <= 23 */
    if (low <= 1 && q >= -4 && (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= UINT64_C(2) << BITS) {
        mantissa = UINT64_C(1) << BITS;
        power++;
    }
    mantissa &= ~(UINT64_C(1) << BITS);
    const uint64_t bits = mantissa | (uint64_t)power << BITS; /* normal: q is far from the ends */
    memcpy(out, &bits, sizeof bits);
    return true;
}

static bool convert(uint64_t w, int q, double *out)
{
    if (w <= UINT64_C(1) << 53 && q >= -EXACT && q <= EXACT) {
        *out = q < 0 ? (double)w / tens[-q] : (double)w * tens[q];
        return true;
    }
    return w != 0 && q >= LEAST && q <= MOST && round_product(w, q, out);
}

const char *tacit__decimal_run(const char *text, const char *end, size_t capacity, void *out,
                               size_t *n)
{
    TACIT__REQUIRE(text <= end && out != NULL && n != NULL);
    enum { LONGEST = 3 + 8 }; /* sign, digit, point, and what is loaded behind it */
    const char *at = text;
    char *to = out;
    size_t left = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? capacity : 0;
    for (; left > 0 && end - at > LONGEST; left--) {
        /* digits are loaded for both signs, so that the next number does not wait for this one's */
        uint64_t plain, negative, w;
        memcpy(&plain, at + 2, sizeof plain);
        memcpy(&negative, at + 3, sizeof negative);
        const bool minus = *at == '-';
        at += minus;
        w = (uint64_t)(unsigned char)*at - '0';
        const unsigned digits = read_eight(minus ? negative : plain, &w);
        if (!is_digit(*at) || at[1] != '.' || digits == 0 || digits == 8 || at[2 + digits] != ',') {
            at -= minus;
            break;
        }
        const double x = (double)(int64_t)w / tens[digits];
        uint64_t bits; /* signs are as good as random: no branch */
        memcpy(&bits, &x, sizeof bits);
        bits |= (uint64_t)minus << 63;
        memcpy(to, &bits, sizeof bits);
        to += sizeof bits;
        at += 2 + digits + 1;
    }
    *n = (size_t)(to - (char *)out) / sizeof(double);
    return at;
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
    const bool exact = is_short(first, at);
    if (at < end && (*at == 'e' || *at == 'E')) {
        int exponent = 0;
        at = read_exponent(at + 1, end, &exponent);
        if (at == NULL)
            return NULL;
        q += exponent;
    }
    *in_range = true;
    if (exact && convert(w, q, out))
        *out = minus ? -*out : *out;
    else
        *in_range = tacit__read_real(text, (size_t)(at - text), out);
    return at;
}
