/* Decides a draw in multiple precision.
 *
 * U in (0, 1) is an endless string of random bits, of which the first 63 are in `word`; the magnitude
 * is r = round(scale Q(U)), i.e. the smallest r >= 0 with U > S((r + 1/2) / scale), S the survival
 * function of the magnitude: erfc(z / sqrt 2) or e^-z. Each comparison encloses S in an interval by
 * directed rounding and U in [prefix, prefix + 2^-bits); while they overlap, 64 more bits of U are read
 * and the precision grows. The search gallops from a guess, so a poor guess costs time, never truth.
 *
 * Eight extension words are at hand. Needing a ninth has probability below 2^-500; the program stops.
 * Cost: two to four evaluations of erfc or exp, 10 to 50 microseconds, once in 2^20 draws or less often
 * (the tail), or in proportion to scale (the boundaries: once in 2^28 draws at scale 2^20). */
#include "noise/refine.h"

#include <math.h>
#include <mpfr.h>

#include "base/error.h"

typedef struct draw {
    tacit__law law;
    double scale;
    uint64_t word, extension[TACIT__WORDS_PER_BLOCK];
    unsigned extensions; /* words of `extension` in use */
    mpfr_t low, high;    /* U is in [low, high] */
} draw;

/* Encloses U by the bits read so far: 63 + 64 * extensions of them, exactly representable. */
static void enclose(draw *d)
{
    mpfr_prec_t precision = 64 + 64 * (mpfr_prec_t)d->extensions;
    mpfr_set_prec(d->low, precision);
    mpfr_set_prec(d->high, precision);
    mpfr_set_uj(d->low, d->word >> 1, MPFR_RNDD);
    for (unsigned i = 0; i < d->extensions; i++) {
        mpfr_mul_2ui(d->low, d->low, 64, MPFR_RNDD);
        mpfr_set_uj(d->high, d->extension[i], MPFR_RNDD);
        mpfr_add(d->low, d->low, d->high, MPFR_RNDD);
    }
    mpfr_add_ui(d->high, d->low, 1, MPFR_RNDU);
    mpfr_div_2ui(d->low, d->low, 63 + 64 * (unsigned long)d->extensions, MPFR_RNDD);
    mpfr_div_2ui(d->high, d->high, 63 + 64 * (unsigned long)d->extensions, MPFR_RNDU);
}

/* S((r + 1/2) / scale), rounded in the given direction. */
static void survival(const draw *d, int64_t r, mpfr_t out, mpfr_rnd_t direction)
{
    mpfr_rnd_t inverse = direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU; /* S decreases */
    mpfr_set_sj(out, 2 * r + 1, inverse); /* precision >= 128: exact */
    mpfr_div_2ui(out, out, 1, inverse);
    mpfr_div_d(out, out, d->scale, inverse);
    if (d->law == TACIT__LAPLACE) {
        mpfr_neg(out, out, direction);
        mpfr_exp(out, out, direction);
        return;
    }
    mpfr_t root2;
    mpfr_init2(root2, mpfr_get_prec(out));
    mpfr_sqrt_ui(root2, 2, direction); /* divisor: the other way round */
    mpfr_div(out, out, root2, inverse);
    mpfr_erfc(out, out, direction);
    mpfr_clear(root2);
}

/* True if the magnitude exceeds r + 1/2 scales' worth of lattice, i.e. U < S((r + 1/2) / scale). */
static bool exceeds(draw *d, int64_t r)
{
    mpfr_t bound;
    mpfr_init2(bound, 128);
    for (;;) {
        mpfr_set_prec(bound, 128 + 64 * (mpfr_prec_t)d->extensions);
        survival(d, r, bound, MPFR_RNDD);
        bool above = mpfr_lessequal_p(d->high, bound) != 0;
        if (!above)
            survival(d, r, bound, MPFR_RNDU);
        if (above || mpfr_greaterequal_p(d->low, bound)) {
            mpfr_clear(bound);
            return above;
        }
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

int64_t tacit__refine(const tacit__site *site, uint64_t step, uint64_t index, tacit__law law,
                      double scale, uint64_t word)
{
    draw d = {.law = law, .scale = scale, .word = word};
    tacit__site_extension(site, step, index, d.extension);
    mpfr_inits2(64, d.low, d.high, (mpfr_ptr)0);
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

    mpfr_clears(d.low, d.high, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    tacit__wipe(&d, sizeof d);
    return word & 1 ? -high : high;
}
