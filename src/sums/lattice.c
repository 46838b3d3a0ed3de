/* Quantize, then clip, in integers.
 *
 * Sensitivities of a replaced user, from the bound on one contribution:
 *     L1: |x - x'|_1 <= 2 max |x|_1;
 *     L2: |x - x'|_2 <= 2 max |x|_2, and sqrt(2) max |x|_2 when no coordinate
 *     is negative, since then x . x' >= 0. A norm that is not declared follows from the other:
 *     |x|_2 <= |x|_1 <= sqrt(nonzeros) |x|_2.
 * They hold for the integers exactly, because the integers are checked, not the doubles: an input within
 * the bound may leave it by rounding to the lattice and is then scaled back, in integers.
 *
 * A sensitivity that the caller gives is a distance of doubles, and what becomes of it on the way to the
 * integers is added to it. Rounding moves each coordinate of each user by at most half a step g, exactly (x /
 * g is exact, g being a power of two), and moves no 0; so it adds at most g in each of the m coordinates in
 * which the integers can differ: m g in L1, sqrt(m) g in L2. Scaling back could add more, since no scaling
 * onto an L1 ball, and none that truncates, keeps distances: with a sensitivity of the caller's the integers'
 * bound is therefore raised by what rounding can add to a norm, so that nothing accepted is ever scaled back,
 * and clipping is refused. Neither is done where the caller's sensitivity is one of integers
 * (sensitivity_on_lattice).
 *
 * Step. The bound measures at least 2^26 steps, so that quantization is far below any useful noise,
 * and more if rounding would otherwise add more than 1/1024 to a sensitivity that the caller gives;
 * blt sums take as many as make their rounding cost about 1e-4 of the noise (blt.c), if that leaves
 * room in the buffers for noise of 2^14 times the sensitivity (mu = 1e-4), or 1e-3 and 2^10 times;
 * never more than leaves K contributions room in 2^60. With k visits of one person the noise is up
 * to k times as large, and the rounding acts in up to k times as many coordinates. */
#include "sums/lattice.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "sums/strategy.h"

enum {
    NORM_BITS = 26,
    GIVEN_BITS = 10, /* of a given sensitivity to what rounding adds to it */
    ROOM_BITS = 60,
    BLT_SCALE_BITS = 53, /* guard bits and those of the noise's scale together */
    BLT_RATIO_BITS = 14, /* of the scale to the sensitivity */
    BLT_LEAST_RATIO_BITS = 10,
    LEAST_NORM_BITS = 8,
    MOST_NORM_BITS = 48
};

/* Bounds whose squares, and the lattice below them, stay far from the ends of the doubles. */
#define LEAST_BOUND 1e-100
#define MOST_BOUND 1e100
/* Shares of the column norm that blt spends on its own rounding: what it aims at, and what it bears. */
#define BLT_ROUNDING 1e-4
#define BLT_MOST_ROUNDING 1e-3
#define SLACK 1e-9 /* relative excess that is taken for the caller's rounding, then clipped */

static tacit_status check_spec(const tacit_sum_spec *spec, tacit_error *err)
{
    const tacit_bound *b = &spec->bound;
    if (spec->users == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "users is 0, expected at least 1");
    if (spec->dimension == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "dimension is 0, expected at least 1");
    if (!(b->l1 >= 0 && b->l2 >= 0 && isfinite(b->l1) && isfinite(b->l2)) ||
        (b->l1 == 0 && b->l2 == 0))
        return tacit__fail(
            err, TACIT_BAD_SENSITIVITY,
            "the bound is l1 = %g, l2 = %g; expected finite numbers, not negative, one of "
            "them greater than 0",
            b->l1, b->l2);
    if ((b->l1 > 0 && !(b->l1 >= LEAST_BOUND && b->l1 <= MOST_BOUND)) ||
        (b->l2 > 0 && !(b->l2 >= LEAST_BOUND && b->l2 <= MOST_BOUND)))
        return tacit__fail(err, TACIT_BAD_SENSITIVITY,
                           "the bound l1 = %g, l2 = %g is outside [%g, %g]; choose other units",
                           b->l1, b->l2, LEAST_BOUND, MOST_BOUND);
    double s1 = spec->sensitivity_l1, s2 = spec->sensitivity_l2;
    if (!(s1 >= 0 && s2 >= 0 && isfinite(s1) && isfinite(s2)))
        return tacit__fail(err, TACIT_BAD_SENSITIVITY,
                           "sensitivities %g (l1) and %g (l2) must be finite and not negative", s1,
                           s2);
    if ((s1 > 0 || s2 > 0) && (spec->reason == NULL || spec->reason[0] == '\0'))
        return tacit__fail(err, TACIT_BAD_SENSITIVITY,
                           "a sensitivity that does not come from the bound needs a reason");
    if ((s1 > 0 || s2 > 0) && b->clip && !spec->sensitivity_on_lattice)
        return tacit__fail(err, TACIT_BAD_SENSITIVITY,
                           "clipping moves vectors apart, so a sensitivity that is given does not "
                           "outlast it; clip before adding, or leave the sensitivity to the bound");
    return TACIT_OK;
}

/* floor((x 2^bits)^2), exactly: x is a 53-bit integer times a power of two. */
static tacit__u128 square_in_steps(double x, int bits)
{
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53);
    tacit__u128 square = (tacit__u128)mantissa * mantissa;
    int shift = 2 * (exponent - 53 + bits);
    if (shift <= -128)
        return 0;
    return shift < 0 ? square >> -shift : square << shift;
}

/* True if what rounding does to a given sensitivity has to be added to it. */
static bool is_rounded(const tacit_sum_spec *spec)
{
    return (spec->sensitivity_l1 > 0 || spec->sensitivity_l2 > 0) && !spec->sensitivity_on_lattice;
}

/* Where the caller knows a smaller sensitivity than the bound implies, it wins; never a larger one. What
 * rounding can add to it comes first. */
static double least(double from_bound, double given, double rounding)
{
    double move = rounding > 0 ? (given + rounding) * (1 + 0x1p-50) : given;
    return given > 0 && move < from_bound ? move : from_bound;
}

/* Both sensitivities, on a lattice of this step (0: they are the integers' own). */
static void choose_sensitivities(tacit__lattice *l, const tacit_sum_spec *spec,
                                 const tacit_bound *b, double step)
{
    l->sensitivity_l1 = least(2 * b->l1, spec->sensitivity_l1, l->differing * step);
    l->sensitivity_l2 = least((b->nonnegative ? M_SQRT2 : 2) * b->l2, spec->sensitivity_l2,
                              sqrt(l->differing) * step);
    l->sensitivity_l2 = fmin(l->sensitivity_l2, l->sensitivity_l1); /* no vector is longer in L2 */
}

/* log2 of the steps in the L2 bound that make rounding a small part of the given sensitivities. */
static double given_bits(const tacit__lattice *l, const tacit_sum_spec *spec)
{
    double share = 0;
    if (spec->sensitivity_l1 > 0)
        share = l->differing / spec->sensitivity_l1;
    if (spec->sensitivity_l2 > 0)
        share = fmax(share, sqrt(l->differing) / spec->sensitivity_l2);
    return log2(share) + log2(l->bound.l2) + GIVEN_BITS;
}

/* The bound that vectors within `b` keep after rounding: half a step for each coordinate that is not 0,
 * above what the check in doubles lets pass, whose own sums are off by less than a relative (n + 8)
 * 2^-52. */
static tacit_bound after_rounding(const tacit_bound *b, size_t n, double step)
{
    double up = (1 + SLACK) * (1 + ((double)n + 8) * 0x1p-52), nonzeros = (double)b->nonzeros;
    tacit_bound out = *b;
    out.l1 = b->l1 * up + 0.5 * nonzeros * step * (1 + 0x1p-50);
    out.l2 = b->l2 * up + 0.5 * sqrt(nonzeros) * step * (1 + 0x1p-50);
    return out;
}

/* log2 of the steps in the L2 bound of a blt sum; see the head. */
static double blt_bits(const tacit__lattice *l, uint64_t steps, size_t dimension, uint64_t visits)
{
    double per_sensitivity = log2(l->bound.l2 / l->sensitivity_l2), more = (double)visits;
    double differing = fmin(l->differing * more, (double)dimension);
    double unit = log2(sqrt((double)steps * differing)) + per_sensitivity;
    double room = BLT_SCALE_BITS - tacit__blt_guard_bits(steps) + per_sensitivity - log2(more);
    double bearable = fmin(unit - log2(BLT_MOST_ROUNDING), room - BLT_LEAST_RATIO_BITS);
    return fmin(fmax(NORM_BITS, unit - log2(BLT_ROUNDING)), fmax(room - BLT_RATIO_BITS, bearable));
}

/* The step; see the head. */
static tacit_status choose_bits(tacit__lattice *l, const tacit_sum_spec *spec, size_t dimension,
                                uint64_t releases, bool rounded, tacit_error *err)
{
    double room = ROOM_BITS - log2((double)spec->users), wanted = NORM_BITS;
    if (rounded) /* for what `after_rounding` adds */
        room = log2(exp2(room) - sqrt((double)l->bound.nonzeros));
    if (!(room >= LEAST_NORM_BITS))
        return tacit__fail(err, TACIT_NO_ROOM, "%llu users do not fit; at most 2^%d do",
                           (unsigned long long)spec->users, ROOM_BITS - LEAST_NORM_BITS);
    if (spec->mechanism == TACIT_SUM_BLT)
        wanted = blt_bits(l, releases, dimension, spec->visits > 0 ? spec->visits : 1);
    else if (rounded)
        wanted = fmax(wanted, given_bits(l, spec));
    l->bits = (int)floor(fmin(fmin(wanted, MOST_NORM_BITS), room) - log2(l->bound.l2));
    return TACIT_OK;
}

tacit_status tacit__lattice_choose(const tacit_sum_spec *spec, size_t dimension,
                                   tacit__lattice *out, tacit_error *err)
{
    return tacit__lattice_choose_for(spec, dimension, spec->users, out, err);
}

tacit_status tacit__lattice_choose_for(const tacit_sum_spec *spec, size_t dimension,
                                       uint64_t releases, tacit__lattice *out, tacit_error *err)
{
    TRY(check_spec(spec, err));
    tacit__lattice l = {.bound = spec->bound};
    tacit_bound *b = &l.bound;
    if (b->nonzeros == 0 || b->nonzeros > dimension)
        b->nonzeros = dimension;
    double from_l2 = b->l2 * sqrt((double)b->nonzeros) * (1 + 0x1p-50); /* upwards */
    l.all = b->nonzeros < dimension || (b->l1 > 0 && !(b->l2 > 0 && from_l2 <= b->l1));
    b->l1 = b->l1 == 0 || (b->l2 > 0 && from_l2 < b->l1) ? from_l2 : b->l1;
    b->l2 = b->l2 == 0 || b->l1 < b->l2 ? b->l1 : b->l2;
    double both = 2 * (double)b->nonzeros;
    l.differing = both < (double)dimension ? both : (double)dimension;
    choose_sensitivities(&l, spec, b, 0);

    const bool rounded = is_rounded(spec);
    TRY(choose_bits(&l, spec, dimension, releases, rounded, err));
    l.per_unit = ldexp(1, l.bits);
    double step = ldexp(1, -l.bits);
    const tacit_bound kept = rounded ? after_rounding(b, dimension, step) : *b;
    if (rounded)
        choose_sensitivities(&l, spec, &kept, step);
    l.l2 = (int64_t)floor(ldexp(kept.l2, l.bits));
    l.l2_square = square_in_steps(kept.l2, l.bits);
    l.largest = (double)l.l2; /* |x|_inf <= |x|_2 <= |x|_1 */
    double l1 = floor(ldexp(kept.l1, l.bits));
    l.l1 = l1 < 0x1p62 ? (int64_t)l1 : INT64_MAX;
    *out = l;
    return TACIT_OK;
}

/* One pass over a contribution learns these; l1, sum and nonzeros only if they are asked for. */
typedef struct measured {
    double l1, l2;        /* norms in doubles; NaN and infinities come through */
    uint64_t sum, square; /* of the integers, modulo 2^64 */
    uint64_t nonzeros;    /* of the integers */
    bool negative;        /* one of the integers is */
} measured;

enum { LANES = 4 };

/* Running sums, one for each lane: additions overlap, and every path adds in the same order. */
typedef struct lanes {
    double l1[LANES], square[LANES];
    uint64_t sum_int[LANES], square_int[LANES], nonzeros[LANES], signs[LANES];
} lanes;

/* Rounds x * factor to an integer, |x * factor| < 2^51, by adding 1.5 * 2^52. */
TACIT__INLINE int64_t quantize_one(double x, double factor, bool all, size_t lane, lanes *s)
{
    const double magic = 0x1.8p52;
    double shifted = x * factor + magic;
    uint64_t bits, magic_bits;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&magic_bits, &magic, sizeof magic_bits);
    uint64_t value = bits - magic_bits;
    uint64_t magnitude = (int64_t)value < 0 ? -value : value;
    s->square[lane] += x * x;
    s->square_int[lane] += (uint64_t)(uint32_t)magnitude * (uint32_t)magnitude;
    s->signs[lane] |= value;
    if (all) {
        s->l1[lane] += fabs(x);
        s->sum_int[lane] += magnitude;
        s->nonzeros[lane] += value != 0;
    }
    return (int64_t)value;
}

TACIT__INLINE measured quantize(const double *restrict x, size_t n, double factor, bool all,
                                int64_t *restrict q)
{
    lanes s = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            q[i + lane] = quantize_one(x[i + lane], factor, all, lane, &s);
    for (size_t lane = 0; i < n; i++, lane++)
        q[i] = quantize_one(x[i], factor, all, lane, &s);
    measured m = {.l1 = (s.l1[0] + s.l1[1]) + (s.l1[2] + s.l1[3]),
                  .l2 = sqrt((s.square[0] + s.square[1]) + (s.square[2] + s.square[3]))};
    for (size_t lane = 0; lane < LANES; lane++) {
        m.sum += s.sum_int[lane];
        m.square += s.square_int[lane];
        m.nonzeros += s.nonzeros[lane];
        m.negative |= s.signs[lane] >> 63 != 0;
    }
    return m;
}

static measured quantize_base(const double *x, size_t n, double factor, bool all, int64_t *q)
{
    return all ? quantize(x, n, factor, true, q) : quantize(x, n, factor, false, q);
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static measured quantize_avx2(const double *x, size_t n, double factor, bool all,
                                          int64_t *q)
{
    return all ? quantize(x, n, factor, true, q) : quantize(x, n, factor, false, q);
}
#endif

static measured quantize_fast(const double *x, size_t n, double factor, bool all, int64_t *q)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2())
        return quantize_avx2(x, n, factor, all, q);
#endif
    return quantize_base(x, n, factor, all, q);
}

/* True if the integers keep both norms: the check that counts. */
static bool within(const tacit__lattice *l, const int64_t *q, size_t n)
{
    tacit__u128 sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t magnitude = (uint64_t)(q[i] < 0 ? -q[i] : q[i]);
        sum += magnitude;
        square += (tacit__u128)magnitude * magnitude;
    }
    return sum <= (uint64_t)l->l1 && square <= l->l2_square;
}

/* The same from what the pass has summed up, when 64 bits are enough for it: for integers of at most 2^32
 * whose exact norms, by the check in doubles and half a step of rounding each, are below 2^32 and 2^63. */
static bool within_measured(const tacit__lattice *l, const measured *m, const int64_t *q, size_t n)
{
    if (l->l2 > (int64_t)1 << 31 || n > (size_t)1 << 31)
        return within(l, q, n);
    return m->sum <= (uint64_t)l->l1 && m->square <= l->l2_square;
}

/* Shrinks toward 0 until the bound holds; each round loses at least a relative 2^-40. */
static void shrink(const tacit__lattice *l, int64_t *q, size_t n)
{
    do
        for (size_t i = 0; i < n; i++)
            q[i] = (int64_t)((double)q[i] * (1 - 0x1p-40));
    while (!within(l, q, n));
}

/* Norms of x in units of `unit`, a power of two that is at least its largest coordinate, so that no square
 * overflows. False: not all coordinates are finite. */
static bool measure_scaled(const double *x, size_t n, double *unit, measured *m)
{
    double largest = 0, l1 = 0, square = 0;
    int exponent;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return false;
        largest = fmax(largest, fabs(x[i]));
    }
    (void)frexp(largest, &exponent);
    for (size_t i = 0; i < n; i++) {
        double y = ldexp(x[i], -exponent);
        l1 += fabs(y);
        square += y * y;
    }
    *unit = ldexp(1, -exponent);
    *m = (measured){.l1 = l1, .l2 = sqrt(square)};
    return true;
}

static tacit_status refuse_infinite(const double *x, size_t n, tacit_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return tacit__fail(err, TACIT_NOT_FINITE, "coordinate %zu is not a finite number", i);
    return tacit__fail(err, TACIT_OUT_OF_BOUND, "a contribution is too large to be measured");
}

tacit_status tacit__lattice_quantize(const tacit__lattice *l, const double *x, size_t n,
                                     int64_t *out, tacit_error *err)
{
    const tacit_bound *b = &l->bound;
    double unit = 1;
    measured m = quantize_fast(x, n, l->per_unit, l->all, out);
    if ((!isfinite(m.l1) || !isfinite(m.l2)) && !(b->clip && measure_scaled(x, n, &unit, &m)))
        return refuse_infinite(x, n, err);
    if (unit != 1 || m.l1 > b->l1 * (1 + SLACK) || m.l2 > b->l2 * (1 + SLACK)) {
        if (!b->clip)
            return tacit__fail(
                err, TACIT_OUT_OF_BOUND,
                "a contribution exceeds its declared bound (L1 norm %g, L2 norm %g); raise "
                "the bound, scale the data, or ask for clipping",
                b->l1, b->l2);
        double factor = fmin(unit == 1 ? 1 : HUGE_VAL, b->l2 / m.l2);
        if (l->all)
            factor = fmin(factor, b->l1 / m.l1);
        m = quantize_fast(x, n, unit * (factor * l->per_unit), l->all, out);
    }
    if (m.nonzeros > b->nonzeros)
        return tacit__fail(
            err, TACIT_OUT_OF_BOUND,
            "a contribution has more than the declared %llu coordinates that are not 0",
            (unsigned long long)b->nonzeros);
    if (m.negative && b->nonnegative) {
        if (!b->clip)
            return tacit__fail(
                err, TACIT_OUT_OF_BOUND,
                "a contribution has a negative coordinate, but was declared nonnegative");
        for (size_t i = 0; i < n; i++)
            out[i] = out[i] < 0 ? 0 : out[i];
    }
    if (!within_measured(l, &m, out, n))
        shrink(l, out, n);
    return TACIT_OK;
}
