/* What compilers for 32 bits leave out of 128-bit integers: division, and the conversion to double, which
 * clang calls by these names. Elsewhere the compiler's own library has them, and this file is empty. */
#include "base/int128.h"

#if defined(__arm__)

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

double __floatuntidf(tacit__u128 a);                 // NOLINT: the names are the compiler's
tacit__u128 __udivti3(tacit__u128 a, tacit__u128 b); // NOLINT

/* Bit by bit, as on paper. */
tacit__u128 __udivti3(tacit__u128 a, tacit__u128 b) // NOLINT
{
    tacit__u128 quotient = 0, rest = 0;
    for (int i = 127; i >= 0; i--) {
        const bool over = (uint64_t)(rest >> 127) != 0;
        rest = rest << 1 | (a >> i & 1);
        if (over || rest >= b) {
            rest -= b;
            quotient |= (tacit__u128)1 << i;
        }
    }
    return quotient;
}

/* Rounded to the nearest, ties to even: the first 64 significant bits, the last of which is set if anything
 * follows them. They are rounded once, to 53, and what follows decides nothing but whether it is a tie. */
double __floatuntidf(tacit__u128 a) // NOLINT
{
    const uint64_t high = (uint64_t)(a >> 64);
    if (high == 0)
        return (double)(uint64_t)a;
    const int zeros = __builtin_clzll(high);
    const tacit__u128 whole = a << zeros;
    const uint64_t first = (uint64_t)(whole >> 64) | ((uint64_t)whole != 0);
    return ldexp((double)first, 64 - zeros);
}

#endif
