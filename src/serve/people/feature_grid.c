/* See serve/people/feature_grid.h. */
#include "serve/people/feature_grid.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { BITS = 31, BYTES = 4 };

double tacit__grid_step(double bound)
{
    TACIT__REQUIRE(bound > 0 && isfinite(bound));
    int exponent;
    (void)frexp(bound, &exponent); /* bound < 2^exponent */
    return ldexp(1, exponent - BITS);
}

/* Rounding may make a vector longer than the bound (TACIT__TABLES_TOL), and a number larger than the last
 * integer; it then becomes that integer. */
static int32_t integer_of(double per_step, double x)
{
    const double most = INT32_MAX;
    double k = x * per_step;
    k = k > most ? most : k; /* one comparison at a time, which compilers do for several numbers */
    k = k < -most ? -most : k;
    return (int32_t)k; /* a conversion rounds toward zero */
}

void tacit__grid_round(double step, size_t n, double *x)
{
    TACIT__REQUIRE(step > 0);
    const double per_step = 1 / step;
    for (size_t i = 0; i < n; i++)
        x[i] = integer_of(per_step, x[i]) * step; /* and -0 is 0 */
}

void tacit__grid_pack(double step, size_t n, const double *x, uint8_t *out)
{
    TACIT__REQUIRE(step > 0);
    const double per_step = 1 / step;
    for (size_t i = 0; i < n; i++) {
        uint32_t word = (uint32_t)integer_of(per_step, x[i]);
        if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
            word = __builtin_bswap32(word);
        memcpy(out + BYTES * i, &word, BYTES);
    }
}

void tacit__grid_unpack(double step, size_t n, const uint8_t *bytes, double *out)
{
    TACIT__REQUIRE(step > 0);
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, bytes + BYTES * i, BYTES);
        if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
            word = __builtin_bswap32(word);
        out[i] = step * (double)(int32_t)word;
    }
}
