/* Plain loops, and the same written out for AVX2 and AVX-512: compilers do not find that two 32-bit products are enough
 * for floor(s m / 2^32). Buffers practically never reach the limit, so the wide loops only note that one did, and
 * a second pass clamps. */
#include "sums/blt_kernel.h"

#include "base/cpu.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

/* Coordinates between what is worked on and what is fetched: the third-level cache is far, and the hardware's own
 * prefetching stops at the end of every page. Measured: 64 to 128 are best. */
enum { AHEAD = 128 };

/* floor(s m / 2^32) for 0 <= m < 2^31. */
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

TACIT__INLINE int64_t clamped(int64_t s)
{
    s = s < TACIT__BLT_LIMIT ? s : TACIT__BLT_LIMIT;
    return s > -TACIT__BLT_LIMIT ? s : -TACIT__BLT_LIMIT;
}

/* Clamps a coordinate's buffers; what they add to the next y. */
TACIT__INLINE int64_t finish(const tacit__blt_coefficients *c, int64_t *row)
{
    int64_t high = 0;
    uint64_t low = 0;
    for (unsigned j = 0; j < c->buffers; j++, row += TACIT__LINE) {
        *row = clamped(*row);
        high += (*row >> 32) * c->output[j];
        low += (uint64_t)(uint32_t)*row * (uint64_t)c->output[j];
    }
    return high + (int64_t)(low >> 32);
}

TACIT__INLINE void absorb_from(const tacit__blt_coefficients *c, int64_t *buffer, size_t first,
                               size_t n, const int64_t *x, const int64_t *y, int64_t *output,
                               int64_t *prefix)
{
    for (size_t i = first; i < n; i++) {
        int64_t *row = buffer + place_of(i, c->buffers);
        int64_t change = (x[i] - y[i]) * ((int64_t)1 << c->guard);
        for (unsigned j = 0; j < c->buffers; j++) {
            int64_t grown = row[j * TACIT__LINE] + change;
            row[j * TACIT__LINE] = grown - scaled(grown, c->decay[j]);
        }
        output[i] = finish(c, row);
        prefix[i] = (int64_t)((uint64_t)prefix[i] + (uint64_t)y[i]);
    }
}

#if TACIT__HAVE_AVX2
/* The lines that will be wanted soon. */
TACIT__INLINE void fetch(const int64_t *row, unsigned buffers, const int64_t *output,
                         const int64_t *prefix)
{
    for (unsigned j = 0; j < buffers; j++)
        __builtin_prefetch(row + AHEAD * buffers + j * TACIT__LINE, 1);
    __builtin_prefetch(output + AHEAD, 1);
    __builtin_prefetch(prefix + AHEAD, 1);
}

static void clamp_first(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                        int64_t *output)
{
    for (size_t i = 0; i < n; i++)
        output[i] = finish(c, buffer + place_of(i, c->buffers));
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
TACIT__AVX2 TACIT__INLINE void absorb_four(const tacit__blt_coefficients *c, unsigned buffers,
                                           int64_t *buffer, size_t n, const int64_t *x,
                                           const int64_t *y, int64_t *output, int64_t *prefix)
{
    const __m256i limit = _mm256_set1_epi64x(TACIT__BLT_LIMIT);
    const __m128i guard = _mm_cvtsi32_si128(c->guard);
    __m256i lifted =
        _mm256_setzero_si256(); /* all S + LIMIT: none is beyond if bits 61 .. 63 are 0 */
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i high = _mm256_setzero_si256(), low = high, released = load(y + i);
        __m256i change = _mm256_sll_epi64(_mm256_sub_epi64(load(x + i), released), guard);
        store(prefix + i, _mm256_add_epi64(load(prefix + i), released));
        int64_t *row = buffer + place_of(i, buffers);
        if (i % TACIT__LINE == 0)
            fetch(row, buffers, output + i, prefix + i);
        for (unsigned j = 0; j < buffers; j++, row += TACIT__LINE) {
            __m256i rate = _mm256_set1_epi64x(c->decay[j]),
                    weight = _mm256_set1_epi64x(c->output[j]);
            __m256i s = _mm256_add_epi64(load(row), change);
            __m256i lost = _mm256_srli_epi64(_mm256_mul_epu32(s, rate), 32);
            s = _mm256_sub_epi64(s, _mm256_add_epi64(lost, _mm256_mul_epi32(high_half(s), rate)));
            store(row, s);
            lifted = _mm256_or_si256(lifted, _mm256_add_epi64(s, limit));
            high = _mm256_add_epi64(high, _mm256_mul_epi32(high_half(s), weight));
            low = _mm256_add_epi64(low, _mm256_mul_epu32(s, weight));
        }
        store(output + i, _mm256_add_epi64(high, _mm256_srli_epi64(low, 32)));
    }
    const __m256i beyond = _mm256_set1_epi64x((int64_t)(~(uint64_t)0 << 61));
    if (!_mm256_testz_si256(lifted, beyond))
        clamp_first(c, buffer, i, output);
    absorb_from(c, buffer, i, n, x, y, output, prefix);
}

/* The same on eight lanes, a line at a time. */
TACIT__AVX512 TACIT__INLINE void absorb_eight(const tacit__blt_coefficients *c, unsigned buffers,
                                              int64_t *buffer, size_t n, const int64_t *x,
                                              const int64_t *y, int64_t *output, int64_t *prefix)
{
    const __m512i limit = _mm512_set1_epi64(TACIT__BLT_LIMIT);
    const __m128i guard = _mm_cvtsi32_si128(c->guard);
    __m512i lifted = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + TACIT__LINE <= n; i += TACIT__LINE) {
        __m512i high = _mm512_setzero_si512(), low = high, released = _mm512_loadu_si512(y + i);
        __m512i change = _mm512_sub_epi64(_mm512_loadu_si512(x + i), released);
        __m512i shown = _mm512_add_epi64(_mm512_loadu_si512(prefix + i), released);
        int64_t *row = buffer + i * buffers;
        fetch(row, buffers, output + i, prefix + i);
        change = _mm512_sll_epi64(change, guard);
        _mm512_storeu_si512(prefix + i, shown);
        for (unsigned j = 0; j < buffers; j++, row += TACIT__LINE) {
            __m512i rate = _mm512_set1_epi64(c->decay[j]), weight = _mm512_set1_epi64(c->output[j]);
            __m512i s = _mm512_add_epi64(_mm512_loadu_si512(row), change);
            __m512i top = _mm512_shuffle_epi32(s, _MM_PERM_DDBB);
            __m512i lost = _mm512_srli_epi64(_mm512_mul_epu32(s, rate), 32);
            s = _mm512_sub_epi64(s, _mm512_add_epi64(lost, _mm512_mul_epi32(top, rate)));
            _mm512_storeu_si512(row, s);
            lifted = _mm512_or_si512(lifted, _mm512_add_epi64(s, limit));
            top = _mm512_shuffle_epi32(s, _MM_PERM_DDBB);
            high = _mm512_add_epi64(high, _mm512_mul_epi32(top, weight));
            low = _mm512_add_epi64(low, _mm512_mul_epu32(s, weight));
        }
        _mm512_storeu_si512(output + i, _mm512_add_epi64(high, _mm512_srli_epi64(low, 32)));
    }
    const __m512i beyond = _mm512_set1_epi64((int64_t)(~(uint64_t)0 << 61));
    if (_mm512_test_epi64_mask(lifted, beyond) != 0)
        clamp_first(c, buffer, i, output);
    absorb_from(c, buffer, i, n, x, y, output, prefix);
}

/* One instance for each number of buffers. */
TACIT__AVX2 static void absorb_avx2(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                                    const int64_t *x, const int64_t *y, int64_t *output,
                                    int64_t *prefix)
{
    switch (c->buffers) {
    case 5:
        absorb_four(c, 5, buffer, n, x, y, output, prefix);
        break;
    case 4:
        absorb_four(c, 4, buffer, n, x, y, output, prefix);
        break;
    case 3:
        absorb_four(c, 3, buffer, n, x, y, output, prefix);
        break;
    default: /* fewer than a thousand users */
        absorb_from(c, buffer, 0, n, x, y, output, prefix);
    }
}

TACIT__AVX512 static void absorb_avx512(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                                        const int64_t *x, const int64_t *y, int64_t *output,
                                        int64_t *prefix)
{
    switch (c->buffers) {
    case 5:
        absorb_eight(c, 5, buffer, n, x, y, output, prefix);
        break;
    case 4:
        absorb_eight(c, 4, buffer, n, x, y, output, prefix);
        break;
    case 3:
        absorb_eight(c, 3, buffer, n, x, y, output, prefix);
        break;
    default: /* fewer than a thousand users */
        absorb_from(c, buffer, 0, n, x, y, output, prefix);
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

void tacit__blt_absorb(const tacit__blt_coefficients *c, int64_t *buffer, size_t n,
                       const int64_t *x, const int64_t *y, int64_t *output, int64_t *prefix)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx512()) {
        absorb_avx512(c, buffer, n, x, y, output, prefix);
        return;
    }
    if (tacit__cpu_has_avx2()) {
        absorb_avx2(c, buffer, n, x, y, output, prefix);
        return;
    }
#endif
    absorb_from(c, buffer, 0, n, x, y, output, prefix);
}
