/* A complex FFT in double precision, radix 2, sizes 2 to 2^24.
 *
 * Written here because FFTW is under the GPL, which this Apache-2.0 library cannot link, and the
 * packaged KissFFT is single precision. Decimation in frequency forward (Gentleman-Sande) and in
 * time backward (Cooley-Tukey), so that the spectrum stays in bit-reversed order and nothing is
 * ever permuted: pointwise products do not care. The recursion is depth first: a block that fits
 * into the cache is finished before the next one is touched, so large sizes are not bound by memory.
 *
 * Real and imaginary parts are separate arrays: the butterflies then vectorize, and two real
 * signals travel in one transform (spectra apart again with tacit__fft_mirror).
 *
 * The twiddles come from cos and sin of angles in [0, pi/4], each correct to one unit in the last
 * place, so that [H02, Thm. 24.2] bounds the error of a transform: in the 2-norm, relatively,
 * log2(n) (u + gamma_4 (sqrt 2 + u)) < 7 u log2(n), rounded up to 8.
 * Cost: 5 n log2 n flops; 2^20 points take about 25 ms, 16 n bytes of tables. */
#include "account/fft.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/workspace.h"

/* 2 arrays of 2^10 doubles and their twiddles fit into 32 KiB of first-level cache. */
#define BLOCK ((size_t)1 << 10)

static const double pi = 3.14159265358979323846;

/* exp(-i pi j / h), folded into [0, pi/4] */
static void twiddle(size_t j, size_t h, double *cosine, double *sine)
{
    size_t k = 2 * j <= h ? j : h - j; /* now k / h in [0, 1/2] */
    double c, s;
    if (4 * k <= h) {
        c = cos(pi * (double)k / (double)h);
        s = sin(pi * (double)k / (double)h);
    } else {
        size_t rest = h - 2 * k; /* pi/2 - angle = pi rest / (2 h) */
        c = sin(pi * (double)rest / (2 * (double)h));
        s = cos(pi * (double)rest / (2 * (double)h));
    }
    *cosine = 2 * j <= h ? c : -c;
    *sine = -s;
}

int tacit__fft_create(tacit__fft *fft, unsigned log2_n)
{
    TACIT__REQUIRE(log2_n <= TACIT__FFT_MAX_LOG2);
    size_t n = (size_t)1 << log2_n;
    fft->n = n;
    if (TACIT__PIECES(TACIT__PIECE(fft->cosine, n), TACIT__PIECE(fft->sine, n)) == NULL)
        return -1;
    size_t top = n / 2;
    for (size_t j = 0; j < top; j++)
        twiddle(j, top, &fft->cosine[top + j], &fft->sine[top + j]);
    for (size_t h = top / 2; h >= 1; h /= 2)
        for (size_t j = 0; j < h; j++) {
            fft->cosine[h + j] = fft->cosine[2 * h + 2 * j];
            fft->sine[h + j] = fft->sine[2 * h + 2 * j];
        }
    return 0;
}

void tacit__fft_destroy(tacit__fft *fft)
{
    tacit__workspace_destroy(fft->cosine);
    fft->cosine = NULL;
}

/* (a, b) -> (a + b, (a - b) w) over one block of 2h */
static void split(double *restrict re, double *restrict im, double *restrict re2,
                  double *restrict im2, const double *restrict c, const double *restrict s,
                  size_t h)
{
    for (size_t j = 0; j < h; j++) {
        double x = re[j] - re2[j], y = im[j] - im2[j];
        re[j] += re2[j];
        im[j] += im2[j];
        re2[j] = x * c[j] - y * s[j];
        im2[j] = x * s[j] + y * c[j];
    }
}

/* (a, b) -> (a + b w*, a - b w*) over one block of 2h */
static void join(double *restrict re, double *restrict im, double *restrict re2,
                 double *restrict im2, const double *restrict c, const double *restrict s, size_t h)
{
    for (size_t j = 0; j < h; j++) {
        double x = re2[j] * c[j] + im2[j] * s[j], y = im2[j] * c[j] - re2[j] * s[j];
        re2[j] = re[j] - x;
        im2[j] = im[j] - y;
        re[j] += x;
        im[j] += y;
    }
}

static void forward(const tacit__fft *fft, double *re, double *im, size_t n)
{
    size_t h = n / 2;
    if (n > BLOCK) {
        split(re, im, re + h, im + h, fft->cosine + h, fft->sine + h, h);
        forward(fft, re, im, h);
        forward(fft, re + h, im + h, h);
        return;
    }
    for (; h >= 1; h /= 2)
        for (size_t at = 0; at < n; at += 2 * h)
            split(re + at, im + at, re + at + h, im + at + h, fft->cosine + h, fft->sine + h, h);
}

static void backward(const tacit__fft *fft, double *re, double *im, size_t n)
{
    size_t h = n / 2;
    if (n > BLOCK) {
        backward(fft, re, im, h);
        backward(fft, re + h, im + h, h);
        join(re, im, re + h, im + h, fft->cosine + h, fft->sine + h, h);
        return;
    }
    for (h = 1; h < n; h *= 2)
        for (size_t at = 0; at < n; at += 2 * h)
            join(re + at, im + at, re + at + h, im + at + h, fft->cosine + h, fft->sine + h, h);
}

void tacit__fft_forward(const tacit__fft *fft, double *re, double *im)
{
    TACIT__REQUIRE(fft->n > 0 && re != im);
    forward(fft, re, im, fft->n);
}

void tacit__fft_inverse(const tacit__fft *fft, double *re, double *im)
{
    TACIT__REQUIRE(fft->n > 0 && re != im);
    backward(fft, re, im, fft->n);
    double scale = 1 / (double)fft->n;
    for (size_t j = 0; j < fft->n; j++) {
        re[j] *= scale;
        im[j] *= scale;
    }
}

/* Reversed, -k flips every bit of k below its lowest one; below its highest one, seen from here. */
size_t tacit__fft_mirror(size_t place)
{
    if (place < 2)
        return place;
    size_t top = (size_t)1 << (63 - __builtin_clzll((unsigned long long)place));
    return place ^ (top - 1);
}

double tacit__fft_error(size_t n)
{
    return 8 * (DBL_EPSILON / 2) * log2((double)n);
}
