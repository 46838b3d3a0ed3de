/* Plain loops, and the same written out for AVX2: compilers do not find that two 32-bit products are enough
 * for floor(s m / 2^32), nor how to convert 64-bit integers without the instruction for it. */
#include "sums/blt_kernel.h"

#include "base/cpu.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

/* floor(s m / 2^32) for |s| < 2^62 and 0 <= m < 2^31. */
TACIT__INLINE int64_t scaled(int64_t s, int64_t m)
{
    return (s >> 32) * m + (int64_t)(((uint64_t)(uint32_t)s * (uint64_t)m) >> 32);
}

TACIT__INLINE void encode_from(const tacit__blt_coefficients *c, const int64_t *output,
                               size_t first, size_t n, const int64_t *x, int64_t *y)
{
    const int64_t half = (int64_t)1 << (c->fraction - 1);
    for (size_t i = first; i < n; i++)
        y[i] = x[i] + ((output[i] + half) >> c->fraction);
}

/* Where coordinate i of row 0 is, when there are `rows` of them. */
TACIT__INLINE size_t place_of(size_t i, unsigned rows)
{
    return i / TACIT__LINE * TACIT__LINE * rows + i % TACIT__LINE;
}

TACIT__INLINE void decay_from(const tacit__blt_coefficients *c, int64_t *buffer, size_t first,
                              size_t n, const int64_t *x, int64_t *output)
{
    for (size_t i = first; i < n; i++) {
        int64_t high = 0, change = x[i] * ((int64_t)1 << c->guard);
        int64_t *row = buffer + place_of(i, c->buffers);
        uint64_t low = 0;
        for (unsigned j = 0; j < c->buffers; j++, row += TACIT__LINE) {
            int64_t grown = *row + change;
            *row = grown - scaled(grown, c->decay[j]);
            high += (*row >> 32) * c->output[j];
            low += (uint64_t)(uint32_t)*row * (uint64_t)c->output[j];
        }
        output[i] = high + (int64_t)(low >> 32);
    }
}

TACIT__INLINE void decode_from(const tacit__blt_coefficients *c, double *decoded, size_t first,
                               size_t n, const int64_t *y)
{
    for (size_t i = first; i < n; i++) {
        double xhat = (double)y[i], *row = decoded + place_of(i, c->buffers + 1);
        for (unsigned j = 0; j < c->buffers; j++)
            xhat -= c->omega[j] * row[j * TACIT__LINE];
        for (unsigned j = 0; j < c->buffers; j++, row += TACIT__LINE)
            *row = c->a[j] * (*row + xhat);
        *row += xhat;
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 TACIT__INLINE __m256i load(const int64_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

TACIT__AVX2 TACIT__INLINE void store(int64_t *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* The high halves of s, where multiplications look for them. */
TACIT__AVX2 TACIT__INLINE __m256i high_half(__m256i s)
{
    return _mm256_shuffle_epi32(s, 0xf5);
}

/* AVX2 has no arithmetic 64-bit shift: lift by 2^62, shift, put back. */
TACIT__AVX2 TACIT__INLINE __m256i shift_right(__m256i v, int bits)
{
    const int64_t lift = (int64_t)1 << 62;
    __m128i count = _mm_cvtsi32_si128(bits);
    v = _mm256_srl_epi64(_mm256_add_epi64(v, _mm256_set1_epi64x(lift)), count);
    return _mm256_sub_epi64(v, _mm256_set1_epi64x(lift >> bits));
}

TACIT__AVX2 static void encode_avx2(const tacit__blt_coefficients *c, const int64_t *output,
                                    size_t n, const int64_t *x, int64_t *y)
{
    const int64_t half_step = (int64_t)1 << (c->fraction - 1);
    const __m256i half = _mm256_set1_epi64x(half_step);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i sum = _mm256_add_epi64(load(output + i), half);
        store(y + i, _mm256_add_epi64(load(x + i), shift_right(sum, c->fraction)));
    }
    encode_from(c, output, i, n, x, y);
}

/* `buffers` is a constant where this is called, so that the loops over j unroll. */
TACIT__AVX2 TACIT__INLINE void decay_four(const tacit__blt_coefficients *c, unsigned buffers,
                                          int64_t *buffer, size_t n, const int64_t *x,
                                          int64_t *output)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i high = _mm256_setzero_si256(), low = high;
        __m256i change = _mm256_sll_epi64(load(x + i), _mm_cvtsi32_si128(c->guard));
        int64_t *row = buffer + place_of(i, buffers);
        for (unsigned j = 0; j < buffers; j++, row += TACIT__LINE) {
            __m256i rate = _mm256_set1_epi64x(c->decay[j]),
                    weight = _mm256_set1_epi64x(c->output[j]);
            __m256i s = _mm256_add_epi64(load(row), change);
            __m256i lost = _mm256_srli_epi64(_mm256_mul_epu32(s, rate), 32);
            s = _mm256_sub_epi64(s, _mm256_add_epi64(lost, _mm256_mul_epi32(high_half(s), rate)));
            store(row, s);
            high = _mm256_add_epi64(high, _mm256_mul_epi32(high_half(s), weight));
            low = _mm256_add_epi64(low, _mm256_mul_epu32(s, weight));
        }
        store(output + i, _mm256_add_epi64(high, _mm256_srli_epi64(low, 32)));
    }
    decay_from(c, buffer, i, n, x, output);
}

/* int64 to double, rounded once, like a conversion instruction: the halves as mantissas of doubles of
 * exponents 52 and 84, whose bias is subtracted exactly before the one addition that rounds. */
TACIT__AVX2 TACIT__INLINE __m256d to_double(__m256i v)
{
    const __m256i low_bias = _mm256_set1_epi64x(0x4330000000000000);  /* 2^52 */
    const __m256i high_bias = _mm256_set1_epi64x(0x4530000080000000); /* 2^84 + 2^63 */
    const __m256d bias = _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52);
    __m256d low = _mm256_castsi256_pd(_mm256_blend_epi32(low_bias, v, 0x55));
    __m256d high = _mm256_castsi256_pd(_mm256_xor_si256(_mm256_srli_epi64(v, 32), high_bias));
    return _mm256_add_pd(_mm256_sub_pd(high, bias), low);
}

TACIT__AVX2 TACIT__INLINE void decode_four(const tacit__blt_coefficients *c, unsigned buffers,
                                           double *decoded, size_t n, const int64_t *y)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        double *row = decoded + place_of(i, buffers + 1);
        __m256d xhat = to_double(load(y + i)), old[TACIT__MAX_BUFFERS];
        for (unsigned j = 0; j < buffers; j++) {
            old[j] = _mm256_loadu_pd(row + j * TACIT__LINE);
            xhat = _mm256_sub_pd(xhat, _mm256_mul_pd(_mm256_set1_pd(c->omega[j]), old[j]));
        }
        for (unsigned j = 0; j < buffers; j++, row += TACIT__LINE)
            _mm256_storeu_pd(row,
                             _mm256_mul_pd(_mm256_set1_pd(c->a[j]), _mm256_add_pd(old[j], xhat)));
        _mm256_storeu_pd(row, _mm256_add_pd(_mm256_loadu_pd(row), xhat));
    }
    decode_from(c, decoded, i, n, y);
}

/* One instance for each number of buffers. */
TACIT__AVX2 static void decay_avx2(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                                   const int64_t *x, int64_t *output)
{
    switch (c->buffers) {
    case 5:
        decay_four(c, 5, buffer, n, x, output);
        break;
    case 4:
        decay_four(c, 4, buffer, n, x, output);
        break;
    case 3:
        decay_four(c, 3, buffer, n, x, output);
        break;
    default:
        decay_from(c, buffer, 0, n, x, output);
    }
}

TACIT__AVX2 static void decode_avx2(const tacit__blt_coefficients *c, double *decoded, size_t n,
                                    const int64_t *y)
{
    switch (c->buffers) {
    case 5:
        decode_four(c, 5, decoded, n, y);
        break;
    case 4:
        decode_four(c, 4, decoded, n, y);
        break;
    case 3:
        decode_four(c, 3, decoded, n, y);
        break;
    default: /* fewer than a thousand users */
        decode_from(c, decoded, 0, n, y);
    }
}
#endif

void tacit__blt_encode(const tacit__blt_coefficients *c, const int64_t *output, size_t n,
                       const int64_t *x, int64_t *y)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        encode_avx2(c, output, n, x, y);
        return;
    }
#endif
    encode_from(c, output, 0, n, x, y);
}

void tacit__blt_decay(const tacit__blt_coefficients *c, int64_t *buffer, size_t n, const int64_t *x,
                      int64_t *output)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        decay_avx2(c, buffer, n, x, output);
        return;
    }
#endif
    decay_from(c, buffer, 0, n, x, output);
}

void tacit__blt_decode(const tacit__blt_coefficients *c, double *decoded, size_t n,
                       const int64_t *y)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        decode_avx2(c, decoded, n, y);
        return;
    }
#endif
    decode_from(c, decoded, 0, n, y);
}
