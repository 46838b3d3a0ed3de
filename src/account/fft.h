/* A complex fast Fourier transform of power-of-two size. */
#ifndef TACIT_ACCOUNT_FFT_H
#define TACIT_ACCOUNT_FFT_H

#include <stddef.h>

#define TACIT__FFT_MAX_LOG2 24 /* the largest size is 2^24, see fft.c */

typedef struct tacit__fft {
    size_t n;
    double *cosine, *sine; /* [h + j] = exp(-i pi j / h) for h = 1, 2, 4, .. n/2 and 0 <= j < h */
} tacit__fft;

/* Tables for size 2^log2_n; 0 on success, -1 when memory is short. */
int tacit__fft_create(tacit__fft *fft, unsigned log2_n);
void tacit__fft_destroy(tacit__fft *fft);

/* In place, unscaled: natural order in, bit-reversed order out. */
void tacit__fft_forward(const tacit__fft *fft, double *re, double *im);
/* In place, scaled by 1/n: bit-reversed order in, natural order out. */
void tacit__fft_inverse(const tacit__fft *fft, double *re, double *im);

/* Where, in bit-reversed order, the frequency -k sits if k sits at `place`. */
size_t tacit__fft_mirror(size_t place);

/* Bound on the relative error in the 2-norm of one transform. */
double tacit__fft_error(size_t n);

#endif
