/* Decides a draw in multiple precision.
 *
 * U in (0, 1) is an endless string of random bits, of which the first 63 are in `word`; the magnitude
 * is r = round(scale Q(U)), i.e. the smallest r >= 0 with U > S((r + 1/2) / scale), S the survival
 * function of the magnitude: erfc(z / sqrt 2) = 2 phi(z) R(z), or e^-z. Each comparison encloses S in an
 * interval by a bound on its error and U in [prefix, prefix + 2^-bits); while they overlap, 64 more bits of U
 * are read and the precision grows. The search gallops from a guess, so a poor guess costs time, never truth.
 *
 * Eight extension words are at hand. If they do not decide, the program stops. U is then within 2^-575 plus
 * the bound on the error of some S((r + 1/2) / scale), with bits = 640: of those that are above 2^-575 there
 * are fewer than 400 scales, at most 2^55, and each error is below 2^-614, since z < 2^9; the others are all
 * below 2^-575. Together that is less than 2^55 2 (2^-575 + 2^-614) + 2^-573 < 2^-518. What this is of the
 * guarantee is in docs/why/noise.md#what-delta-0-means.
 *
 * Cost: two to four evaluations of S, 100 microseconds in all, once in 2^20 draws or less often
 * (the tail), or in proportion to scale (the boundaries: once in 2^28 draws at scale 2^20). */
#include "noise/refine.h"

#include <math.h>

#include "base/error.h"
#include "noise/normal.h"

typedef struct draw {
    tacit__noise_law law;
    double scale;
    uint64_t word;
    const uint64_t *extension; /* [WORDS_PER_BLOCK] */
    unsigned extensions;       /* words of `extension` in use */
    tacit__wide low, high;     /* U is in [low, high] */
} draw;

/* Encloses U by the bits read so far: 63 + 64 * extensions of them, exactly representable. */
static void enclose(draw *d)
{
    tacit__wide word;
    size_t precision = 64 + 64 * (size_t)d->extensions;
    tacit__wide_init(&word, 64);
    tacit__wide_init(&d->low, precision);
    tacit__wide_init(&d->high, precision);
    tacit__wide_set_u64(&d->low, d->word >> 1);
    for (unsigned i = 0; i < d->extensions; i++) {
        tacit__wide_shift(&d->low, 64);
        tacit__wide_set_u64(&word, d->extension[i]);
        tacit__wide_add(&d->low, &d->low, &word);
    }
    tacit__wide_set_u64(&word, 1);
    tacit__wide_add(&d->high, &d->low, &word);
    tacit__wide_shift(&d->low, -63 - 64 * (int64_t)d->extensions);
    tacit__wide_shift(&d->high, -63 - 64 * (int64_t)d->extensions);
    tacit__wipe(&word, sizeof word);
}

/* out = S(z), z = (r + 1/2) / scale; slack bounds its error. With z < 2^e the relative error of z, at most
 * 2^(1-bits), becomes one of 2^(2 + 2 e - bits) in S: the slope of log S is at most z + 1. Those of phi
 * and R are smaller together. */
static void survival(const draw *d, int64_t r, tacit__wide *out, tacit__wide *slack)
{
    tacit__wide z, ratio;
    size_t bits = tacit__wide_bits(out);
    tacit__wide_init(&z, bits);
    tacit__wide_init(&ratio, bits);
    tacit__wide_set_u64(&z, 2 * (uint64_t)r + 1);
    tacit__wide_set_d(&ratio, d->scale);
    tacit__wide_div(&z, &z, &ratio);
    tacit__wide_shift(&z, -1);
    if (d->law == TACIT__LAPLACE) {
        z.sign = -1;
        tacit__wide_exp(out, &z);
    } else {
        tacit__normal_density(out, &z);
        tacit__mills_ratio(&ratio, &z);
        tacit__wide_mul(out, out, &ratio);
        tacit__wide_shift(out, 1);
    }
    tacit__wide_set(slack, out);
    tacit__wide_shift(slack, 8 - (int64_t)bits + 2 * (z.exponent > 0 ? z.exponent : 0));
}

/* True if the magnitude exceeds r + 1/2 scales' worth of lattice, i.e. U < S((r + 1/2) / scale). */
static bool exceeds(draw *d, int64_t r)
{
    tacit__wide value, slack, bound;
    for (;;) {
        size_t bits = 128 + 64 * (size_t)d->extensions;
        tacit__wide_init(&value, bits);
        tacit__wide_init(&slack, bits);
        tacit__wide_init(&bound, bits);
        survival(d, r, &value, &slack);
        tacit__wide_sub(&bound, &value, &slack);
        bool above = tacit__wide_compare(&d->high, &bound) <= 0;
        tacit__wide_add(&bound, &value, &slack);
        if (above || tacit__wide_compare(&d->low, &bound) >= 0)
            return above;
        TACIT__REQUIRE(d->extensions < TACIT__WORDS_PER_BLOCK);
        d->extensions++;
        enclose(d);
    }
}

/* About scale * Q(U); any number >= 0 would do. */
static int64_t guess(const draw *d)
{
    double w = ldexp((double)(d->word >> 1) + 0.5, -63);
    double z = -log(w);
    if (d->law == TACIT__GAUSSIAN) {
        z = 0;
        for (int i = 0; i < 200; i++) { /* Newton from the left, monotone since erfc is convex */
            double step = (erfc(z / M_SQRT2) - w) * sqrt(M_PI / 2) * exp(z * z / 2);
            z += step;
            if (step < 1e-15 * z)
                break;
        }
    }
    return llround(z * d->scale);
}

int64_t tacit__refine(tacit__noise_law law, double scale, uint64_t word,
                      const uint64_t extension[TACIT__WORDS_PER_BLOCK])
{
    TACIT__REQUIRE(scale > 0);
    draw d = {.law = law, .scale = scale, .word = word, .extension = extension};
    enclose(&d);

    /* exceeds(r) is true below the answer and false from it on; widen until the answer is inside
     * (low, high], where low = -1 stands for "true by definition". */
    int64_t high = guess(&d), low, stride = 1;
    while (exceeds(&d, high)) {
        high += stride;
        stride *= 2;
    }
    for (low = high - 1, stride = 1; low >= 0 && !exceeds(&d, low); stride *= 2) {
        high = low;
        low -= stride;
    }
    if (low < 0)
        low = -1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (exceeds(&d, middle))
            low = middle;
        else
            high = middle;
    }

    tacit__wipe(&d, sizeof d);
    return word & 1 ? -high : high;
}
