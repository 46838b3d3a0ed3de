/* Sums of independent lattice losses by Fourier transform.
 *
 * Both distributions of a pair travel in one complex transform, the upper as real and the lower as
 * imaginary part. The n-th power of a spectrum is taken by repeated squaring: its relative error is
 * 4 n u, without any branch of a logarithm to watch.
 *
 * Rounding, with eta = tacit__fft_error and s the 2-norm of the pair: a forward transform puts
 * eta s into each spectrum (2-norm, scaled), powers of a number below 1 in modulus multiply that by
 * n, the way back adds eta times the result's norm. Weighed with f by Cauchy-Schwarz this is `noise`.
 *
 * Wrapping: the window holds all but 1e-16 of the tilted mass, by Chernoff's bound on the very
 * lattice distributions that are summed; what wraps around is in `lost`.
 * Cost: three transforms and 2 log2 n products a point. */
#include <math.h>
#include <string.h>

#include "account/fft.h"
#include "account/tilted_pmf.h"
#include "base/error.h"
#include "base/workspace.h"

#define LOG_TAIL (-36.8) /* log 1e-16 */
#define TINY 1e-150      /* a modulus whose next power is taken as 0 */

typedef struct number {
    double re, im;
} number;

static number times(number a, number b)
{
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static number power(number z, uint64_t n)
{
    number result = {1, 0};
    for (;; z = times(z, z)) {
        if (n & 1)
            result = times(result, z);
        n >>= 1;
        if (n == 0)
            return result;
        if (fabs(z.re) + fabs(z.im) < TINY)
            return (number){0, 0};
    }
}

/* The two real spectra inside z = FFT(high + i low), from the places of k and -k. */
static void unpack(const double *re, const double *im, size_t k, size_t mate, number *high,
                   number *low)
{
    *high = (number){0.5 * (re[k] + re[mate]), 0.5 * (im[k] - im[mate])};
    *low = (number){0.5 * (im[k] + im[mate]), 0.5 * (re[mate] - re[k])};
}

static void pack(double *re, double *im, size_t k, size_t mate, number high, number low)
{
    re[k] = high.re - low.im;
    im[k] = high.im + low.re;
    re[mate] = high.re + low.im;
    im[mate] = low.re - high.im;
}

static size_t wrap(int64_t index, size_t n)
{
    TACIT__REQUIRE(n > 0);
    int64_t r = index % (int64_t)n;
    return (size_t)(r < 0 ? r + (int64_t)n : r);
}

static unsigned log2_above(double n)
{
    unsigned log2_n = 1;
    while (ldexp(1, (int)log2_n) < n)
        log2_n++;
    return log2_n;
}

/* Two zeroed arrays of n, the transform's work space. */
typedef struct space {
    tacit__fft fft;
    double *re, *im;
} space;

static void space_destroy(space *s)
{
    tacit__fft_destroy(&s->fft);
    tacit__workspace_destroy(s->re);
}

static tacit_status space_create(space *s, double points)
{
    memset(s, 0, sizeof *s);
    unsigned log2_n = log2_above(points);
    if (log2_n > TACIT__MAX_LOG2_POINTS)
        return TACIT_TOO_LARGE;
    const size_t n = (size_t)1 << log2_n;
    if (TACIT__PIECES(TACIT__PIECE(s->re, n), TACIT__PIECE(s->im, n)) != NULL &&
        tacit__fft_create(&s->fft, log2_n) == 0)
        return TACIT_OK;
    space_destroy(s);
    return TACIT_NO_MEMORY;
}

static void load(const space *s, const tacit__tilted_pmf *t)
{
    for (size_t j = 0; j < t->n; j++) {
        size_t at = wrap(t->first + (int64_t)j, s->fft.n);
        s->re[at] = t->mass[TACIT__HIGH][j];
        s->im[at] = t->mass[TACIT__LOW][j];
    }
    tacit__fft_forward(&s->fft, s->re, s->im);
}

/* Reads the window first .. first+n-1 back; rounding below 0 is cut, which only helps. */
static void store(tacit__tilted_pmf *t, const space *s)
{
    for (size_t j = 0; j < t->n; j++) {
        size_t at = wrap(t->first + (int64_t)j, s->fft.n);
        t->mass[TACIT__HIGH][j] = fmax(0, s->re[at]);
        t->mass[TACIT__LOW][j] = fmax(0, s->im[at]);
    }
}

/* Mean and variance of one release in steps. */
static void moments(const double *mass, const tacit__tilted_pmf *t, double *mean, double *variance)
{
    double m = 0, v = 0;
    for (size_t j = 0; j < t->n; j++)
        m += mass[j] * ((double)t->first + (double)j);
    for (size_t j = 0; j < t->n; j++) {
        double d = (double)t->first + (double)j - m;
        v += mass[j] * d * d;
    }
    *mean = m;
    *variance = v;
}

/* log of Chernoff's bound on P(sum of n - n center >= reach), or <= -reach for sign = -1. */
static double log_tail(const double *mass, const tacit__tilted_pmf *t, double n, double center,
                       double variance, double sign, double reach)
{
    double best = 0, s0 = reach / (n * variance);
    for (int k = -4; k <= 2; k++) {
        double s = s0 * pow(2, 0.25 * k), sum = 0;
        for (size_t j = 0; j < t->n; j++)
            sum += mass[j] * expm1(s * sign * ((double)t->first + (double)j - center));
        double bound = n * log1p(sum) - s * reach;
        best = bound < best ? bound : best;
    }
    return best;
}

/* The half width, in steps around n * center, that holds all but 2e-16 of both distributions. */
static double reach_of(const tacit__tilted_pmf *t, double n, double center, double variance)
{
    double reach = 8.6 * sqrt(n * variance) + 2;
    for (int i = 0; i < 64; i++, reach *= 1.1) {
        int wide_enough = 1;
        for (int side = 0; side < 2 && wide_enough; side++)
            for (int sign = -1; sign <= 1 && wide_enough; sign += 2)
                wide_enough =
                    log_tail(t->mass[side], t, n, center, variance, sign, reach) < LOG_TAIL;
        if (wide_enough)
            break;
    }
    return reach;
}

tacit_status tacit__tilted_pmf_power(tacit__tilted_pmf *t, uint64_t count)
{
    TACIT__REQUIRE(count > 0 && t->n > 0);
    double n = (double)count;
    double center, variance, full = n * ((double)t->n - 1) + 1;
    moments(t->mass[TACIT__HIGH], t, &center, &variance);
    double first = n * (double)t->first, width = full;
    double lost = 0;
    if (full > 65536) { /* below, the whole support is cheap */
        double reach = reach_of(t, n, center, variance);
        double last = first + full - 1;
        first = fmax(first, floor(n * center - reach));
        width = fmin(last, ceil(n * center + reach)) - first + 1;
        lost = 4e-16;
    }
    if (!(fabs(first) + width < 0x1p52)) /* places must be exact in a double */
        return TACIT_TOO_LARGE;
    space s;
    TRY(space_create(&s, width));
    tacit__tilted_pmf sum;
    if (tacit__tilted_pmf_alloc(&sum, t->step, t->lambda, (int64_t)first, (size_t)width) != 0) {
        space_destroy(&s);
        return TACIT_NO_MEMORY;
    }
    load(&s, t);
    for (size_t k = 0; k < s.fft.n; k++) {
        size_t mate = tacit__fft_mirror(k);
        if (mate < k)
            continue;
        number high, low;
        unpack(s.re, s.im, k, mate, &high, &low);
        pack(s.re, s.im, k, mate, power(high, count), power(low, count));
    }
    tacit__fft_inverse(&s.fft, s.re, s.im);
    store(&sum, &s);

    double eta = tacit__fft_error(s.fft.n);
    double error = n * eta * tacit__tilted_pmf_norm(t) +
                   (eta + 4 * n * TACIT__UNIT) * tacit__tilted_pmf_norm(&sum);
    sum.noise = error * tacit__f_norm(t->lambda, t->step, width);
    sum.lost = lost;
    sum.relative = n * t->relative;
    sum.shift = n * t->shift;
    for (int side = 0; side < 2; side++)
        sum.log_scale[side] = n * t->log_scale[side];
    space_destroy(&s);
    tacit__tilted_pmf_destroy(t);
    *t = sum;
    return TACIT_OK;
}

tacit_status tacit__tilted_pmf_add(tacit__tilted_pmf *t, const tacit__tilted_pmf *other)
{
    TACIT__REQUIRE(t != other && t->n > 0 && other->n > 0);
    space s, o;
    double width = (double)t->n + (double)other->n - 1;
    TRY(space_create(&s, width));
    tacit_status status = space_create(&o, width);
    if (status != TACIT_OK) {
        space_destroy(&s);
        return status;
    }
    tacit__tilted_pmf sum;
    if (tacit__tilted_pmf_alloc(&sum, t->step, t->lambda, t->first + other->first, (size_t)width) !=
        0) {
        space_destroy(&s);
        space_destroy(&o);
        return TACIT_NO_MEMORY;
    }
    load(&s, t);
    load(&o, other);
    for (size_t k = 0; k < s.fft.n; k++) {
        size_t mate = tacit__fft_mirror(k);
        if (mate < k)
            continue;
        number high, low, high2, low2;
        unpack(s.re, s.im, k, mate, &high, &low);
        unpack(o.re, o.im, k, mate, &high2, &low2);
        pack(s.re, s.im, k, mate, times(high, high2), times(low, low2));
    }
    tacit__fft_inverse(&s.fft, s.re, s.im);
    store(&sum, &s);

    double eta = tacit__fft_error(s.fft.n);
    double error = eta * (tacit__tilted_pmf_norm(t) + tacit__tilted_pmf_norm(other)) +
                   (eta + 4 * TACIT__UNIT) * tacit__tilted_pmf_norm(&sum);
    sum.noise = t->noise + other->noise + error * tacit__f_norm(t->lambda, t->step, width);
    sum.lost = t->lost + other->lost;
    sum.relative = t->relative + other->relative;
    sum.shift = t->shift + other->shift;
    for (int side = 0; side < 2; side++)
        sum.log_scale[side] = t->log_scale[side] + other->log_scale[side];
    space_destroy(&s);
    space_destroy(&o);
    tacit__tilted_pmf_destroy(t);
    *t = sum;
    return TACIT_OK;
}
