/* Plain loops, and the same written out for AVX2: compilers do not find that two 32-bit products are
 * enough for floor(s m / 2^32). Buffers practically never reach the limit, so the wide loops only note
 * that one did, and a second pass clamps.
 *
 * A large sum is bound by memory, so there is no more state than must be: what the buffers add to the next
 * y is computed from them when it is wanted, which brings them to the cache for `absorb`, a tile later. */
#include "sums/blt_kernel.h"

#include "base/cpu.h"
#include "base/error.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

/* Coordinates between what is worked on and what is fetched: the third-level cache is far, and the
 * hardware's own prefetching stops at the end of every page. Measured: 64 to 128 are best. */
enum { AHEAD = 128 };

/* floor(s m / 2^32) for 0 <= m < 2^31. */
TACIT__INLINE int64_t scaled(int64_t s, int64_t m)
{
    return (s >> 32) * m + (int64_t)(((uint64_t)(uint32_t)s * (uint64_t)m) >> 32);
}

/* Returns where coordinate i of row 0 is, when there are `rows` of them. */
TACIT__INLINE size_t row_of(size_t i, unsigned rows)
{
    return i / TACIT__LINE * TACIT__LINE * rows + i % TACIT__LINE;
}

TACIT__INLINE void encode_from(const tacit__blt_coefficients *c, const int64_t *buffer,
                               size_t first, size_t n, const int64_t *x, int64_t *y)
{
    for (size_t i = first; i < n; i++) {
        const int64_t *row = buffer + row_of(i, c->buffers);
        int64_t high = (int64_t)1 << (c->fraction - 1);
        uint64_t low = 0;
        for (unsigned j = 0; j < c->buffers; j++, row += TACIT__LINE) {
            high += (*row >> 32) * c->output[j];
            low += (uint64_t)(uint32_t)*row * (uint64_t)c->output[j];
        }
        y[i] = x[i] + ((high + (int64_t)(low >> 32)) >> c->fraction);
    }
}

TACIT__INLINE int64_t clamped(int64_t s)
{
    s = s < TACIT__BLT_LIMIT ? s : TACIT__BLT_LIMIT;
    return s > -TACIT__BLT_LIMIT ? s : -TACIT__BLT_LIMIT;
}

TACIT__INLINE void absorb_from(const tacit__blt_coefficients *c, int64_t *buffer, size_t first,
                               size_t n, const int64_t *x, const int64_t *y, double unit,
                               double *shown)
{
    for (size_t i = first; i < n; i++) {
        int64_t *row = buffer + row_of(i, c->buffers);
        int64_t change = (x[i] - y[i]) * ((int64_t)1 << c->guard);
        for (unsigned j = 0; j < c->buffers; j++, row += TACIT__LINE) {
            int64_t grown = *row + change;
            *row = clamped(grown - scaled(grown, c->decay[j]));
        }
        shown[i] += (double)y[i] * unit;
    }
}

#if TACIT__HAVE_AVX2
static void clamp_first(const tacit__blt_coefficients *c, int64_t *buffer, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < c->buffers; j++) {
            int64_t *s = buffer + row_of(i, c->buffers) + j * TACIT__LINE;
            *s = clamped(*s);
        }
}

/* The lines that will be wanted soon. */
TACIT__INLINE void fetch(const int64_t *row, unsigned buffers)
{
    for (unsigned j = 0; j < buffers; j++)
        __builtin_prefetch(row + AHEAD * buffers + j * TACIT__LINE, 1);
}

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

/* Nor has it a conversion from 64 bits: the upper half as a multiple of 2^32 beside 2^84 + 2^63, the lower
 * beside 2^52, both exact; the last addition rounds, once. */
TACIT__AVX2 TACIT__INLINE __m256d as_doubles(__m256i v)
{
    const __m256d both = _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52);
    __m256i high = _mm256_xor_si256(_mm256_srli_epi64(v, 32),
                                    _mm256_castpd_si256(_mm256_set1_pd(0x1p84 + 0x1p63)));
    __m256i low = _mm256_blend_epi32(v, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    return _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), both), _mm256_castsi256_pd(low));
}

/* `buffers` is a constant where these are called, so that the loops over j unroll. */
TACIT__AVX2 TACIT__INLINE void encode_four(const tacit__blt_coefficients *c, unsigned buffers,
                                           const int64_t *buffer, size_t n, const int64_t *x,
                                           int64_t *y)
{
    const int64_t half_step = (int64_t)1 << (c->fraction - 1);
    const __m256i half = _mm256_set1_epi64x(half_step);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const int64_t *row = buffer + row_of(i, buffers);
        __m256i high = half, low = _mm256_setzero_si256();
        if (i % TACIT__LINE == 0)
            fetch(row, buffers);
        for (unsigned j = 0; j < buffers; j++, row += TACIT__LINE) {
            __m256i s = load(row), weight = _mm256_set1_epi64x(c->output[j]);
            high = _mm256_add_epi64(high, _mm256_mul_epi32(high_half(s), weight));
            low = _mm256_add_epi64(low, _mm256_mul_epu32(s, weight));
        }
        __m256i sum = _mm256_add_epi64(high, _mm256_srli_epi64(low, 32));
        store(y + i, _mm256_add_epi64(load(x + i), shift_right(sum, c->fraction)));
    }
    encode_from(c, buffer, i, n, x, y);
}

TACIT__AVX2 TACIT__INLINE void absorb_four(const tacit__blt_coefficients *c, unsigned buffers,
                                           int64_t *buffer, size_t n, const int64_t *x,
                                           const int64_t *y, double unit, double *shown)
{
    const __m256i limit = _mm256_set1_epi64x(TACIT__BLT_LIMIT);
    const __m128i guard = _mm_cvtsi32_si128(c->guard);
    __m256i lifted =
        _mm256_setzero_si256(); /* all S + LIMIT: none is beyond if bits 61 .. 63 are 0 */
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i released = load(y + i);
        __m256i change = _mm256_sll_epi64(_mm256_sub_epi64(load(x + i), released), guard);
        __m256d more = _mm256_mul_pd(as_doubles(released), _mm256_set1_pd(unit));
        int64_t *row = buffer + row_of(i, buffers);
        if (i % TACIT__LINE == 0)
            __builtin_prefetch(shown + i + AHEAD, 1);
        _mm256_storeu_pd(shown + i, _mm256_add_pd(_mm256_loadu_pd(shown + i), more));
        for (unsigned j = 0; j < buffers; j++, row += TACIT__LINE) {
            __m256i rate = _mm256_set1_epi64x(c->decay[j]);
            __m256i s = _mm256_add_epi64(load(row), change);
            __m256i lost = _mm256_srli_epi64(_mm256_mul_epu32(s, rate), 32);
            s = _mm256_sub_epi64(s, _mm256_add_epi64(lost, _mm256_mul_epi32(high_half(s), rate)));
            store(row, s);
            lifted = _mm256_or_si256(lifted, _mm256_add_epi64(s, limit));
        }
    }
    const __m256i beyond = _mm256_set1_epi64x((int64_t)(~(uint64_t)0 << 61));
    if (!_mm256_testz_si256(lifted, beyond))
        clamp_first(c, buffer, i);
    absorb_from(c, buffer, i, n, x, y, unit, shown);
}

/* One instance for each number of buffers. */
#define FOR_EACH_NUMBER(function, ...)                                                             \
    switch (c->buffers) {                                                                          \
    case 5:                                                                                        \
        function(c, 5, __VA_ARGS__);                                                               \
        break;                                                                                     \
    case 4:                                                                                        \
        function(c, 4, __VA_ARGS__);                                                               \
        break;                                                                                     \
    case 3:                                                                                        \
        function(c, 3, __VA_ARGS__);                                                               \
        break;                                                                                     \
    default: /* one or two: few users */                                                           \
        function(c, c->buffers, __VA_ARGS__);                                                      \
    }

TACIT__AVX2 static void encode_avx2(const tacit__blt_coefficients *c, const int64_t *buffer,
                                    size_t n, const int64_t *x,
                                    int64_t *y){FOR_EACH_NUMBER(encode_four, buffer, n, x, y)}

TACIT__AVX2 static void absorb_avx2(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                                    const int64_t *x, const int64_t *y, double unit, double *shown)
{
    FOR_EACH_NUMBER(absorb_four, buffer, n, x, y, unit, shown)
}
#endif

void tacit__blt_encode(const tacit__blt_coefficients *c, const int64_t *buffer, size_t n,
                       const int64_t *x, int64_t *y)
{
    TACIT__REQUIRE(c->buffers <= TACIT__MAX_BUFFERS);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        encode_avx2(c, buffer, n, x, y);
        return;
    }
#endif
    encode_from(c, buffer, 0, n, x, y);
}

void tacit__blt_absorb(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                       const int64_t *x, const int64_t *y, double unit, double *shown)
{
    TACIT__REQUIRE(c->buffers <= TACIT__MAX_BUFFERS && unit > 0);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        absorb_avx2(c, buffer, n, x, y, unit, shown);
        return;
    }
#endif
    absorb_from(c, buffer, 0, n, x, y, unit, shown);
}
