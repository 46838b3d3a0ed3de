/* Inverse transform with a proven tolerance.
 *
 * A word is a sign (bit 0) and 63 leading bits of a uniform U. The kernel looks at the top 52: with
 * v = word >> 12, U lies within 2^-53 of w = (v + 1/2) 2^-52, an exact double in (0, 1). The slot of w
 * gives y = scale * p(t), and |y - scale Q(U)| <= scale * tolerance for every continuation of the bits.
 * So if y is farther than that from the nearest half-integer, round(y) is the answer for all of them.
 *
 * Exact steps: w (a 52-bit integer plus a half), t (47 bits minus 1.5), the rounding by 2^52 (y < 2^51),
 * y - r (Sterbenz) and 1/2 - |y - r| where it matters (likewise).
 *
 * Cost: see bench/noise_bench.c. Where there is AVX-512, the kernel and the ChaCha20 words (chacha.c) take
 * about as long as each other. */
#include "noise/draw_loop.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

#include "noise/tables.inc"

static inline double as_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t as_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The leading bits of the smallest double that has a slot of its own (slot 1). */
#define FIRST_SLOT ((int64_t)(1023 - TACIT__OCTAVES) << TACIT__SEGMENT_BITS)

/* 1 if the word needs refinement, else 0. */
TACIT__INLINE uint64_t transform(const tacit__slot *table, double scale, uint64_t word,
                                 int64_t *out)
{
    const uint64_t one = 0x3ff0000000000000, low52 = ((uint64_t)1 << 52) - 1;

    double w = as_double((word >> 12) | one) - (1 - 0x1p-53);
    int64_t slot = (int64_t)(as_bits(w) >> (52 - TACIT__SEGMENT_BITS)) - (FIRST_SLOT - 1);
    slot = slot > 0 ? slot : 0;
    double t = as_double(((as_bits(w) << TACIT__SEGMENT_BITS) & low52) | one) - 1.5;

    const double *c = table[slot].coefficient;
    double p = c[6];
    p = p * t + c[5];
    p = p * t + c[4];
    p = p * t + c[3];
    p = p * t + c[2];
    p = p * t + c[1];
    p = p * t + c[0];
    double y = scale * p;

    double shifted = y + 0x1p52;
    double distance = fabs(y - (shifted - 0x1p52));
    int64_t magnitude = (int64_t)(as_bits(shifted) & low52);
    int64_t sign = -(int64_t)(word & 1);
    *out = (magnitude ^ sign) - sign;
    return !(scale * table[slot].tolerance < 0.5 - distance);
}

TACIT__INLINE bool transform_from(const tacit__slot *table, double scale, size_t first, size_t n,
                                  int64_t *words)
{
    uint64_t unsure = 0;
    for (size_t i = first; i < n; i++)
        unsure |= transform(table, scale, (uint64_t)words[i], &words[i]);
    return unsure == 0;
}

bool tacit__draw_loop_one(const tacit__slot *table, double scale, uint64_t word, int64_t *out)
{
    return transform(table, scale, word, out) == 0;
}

static bool kernel_base(const tacit__slot *table, double scale, size_t n, int64_t *words)
{
    return transform_from(table, scale, 0, n, words);
}

#if TACIT__HAVE_AVX2
/* Rows of four slots to columns: column k holds the k-th number of each. Loads and shuffles, because
 * gather instructions are slow on CPUs that are mitigated against data sampling. */
TACIT__AVX2 TACIT__INLINE void transpose(const double *const row[4], size_t offset,
                                         __m256d column[4])
{
    __m256d a = _mm256_load_pd(row[0] + offset), b = _mm256_load_pd(row[1] + offset);
    __m256d c = _mm256_load_pd(row[2] + offset), d = _mm256_load_pd(row[3] + offset);
    __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
    __m256d cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
    column[0] = _mm256_permute2f128_pd(ab_even, cd_even, 0x20);
    column[1] = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20);
    column[2] = _mm256_permute2f128_pd(ab_even, cd_even, 0x31);
    column[3] = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31);
}

/* `transform` on four lanes, step for step and with the same roundings. */
TACIT__AVX2 static bool kernel_avx2(const tacit__slot *table, double scale, size_t n,
                                    int64_t *words)
{
    const __m256i one = _mm256_set1_epi64x(0x3ff0000000000000);
    const __m256i low52 = _mm256_set1_epi64x(((int64_t)1 << 52) - 1);
    const __m256i before_first = _mm256_set1_epi64x(FIRST_SLOT - 1);
    const __m256d scales = _mm256_set1_pd(scale), two52 = _mm256_set1_pd(0x1p52);
    const __m256i zero = _mm256_setzero_si256();
    __m256d sure = _mm256_castsi256_pd(_mm256_cmpeq_epi64(zero, zero));

    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i word = _mm256_loadu_si256((__m256i *)(void *)(words + i));
        __m256i top52 = _mm256_or_si256(_mm256_srli_epi64(word, 12), one);
        __m256d w = _mm256_sub_pd(_mm256_castsi256_pd(top52), _mm256_set1_pd(1 - 0x1p-53));
        __m256i bits = _mm256_castpd_si256(w);
        __m256i slot = _mm256_srli_epi64(bits, 52 - TACIT__SEGMENT_BITS);
        slot = _mm256_sub_epi64(slot, before_first);
        slot = _mm256_and_si256(slot, _mm256_cmpgt_epi64(slot, zero));
        __m256i rest = _mm256_and_si256(_mm256_slli_epi64(bits, TACIT__SEGMENT_BITS), low52);
        __m256d t =
            _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(rest, one)), _mm256_set1_pd(1.5));

        const double *const row[4] = {table[_mm256_extract_epi64(slot, 0)].coefficient,
                                      table[_mm256_extract_epi64(slot, 1)].coefficient,
                                      table[_mm256_extract_epi64(slot, 2)].coefficient,
                                      table[_mm256_extract_epi64(slot, 3)].coefficient};
        __m256d c[8];
        transpose(row, 0, c);
        transpose(row, 4, c + 4);
        __m256d p = c[6];
        for (int k = 5; k >= 0; k--)
            p = _mm256_add_pd(_mm256_mul_pd(p, t), c[k]);
        __m256d y = _mm256_mul_pd(scales, p);

        __m256d shifted = _mm256_add_pd(y, two52);
        __m256d distance = _mm256_sub_pd(y, _mm256_sub_pd(shifted, two52));
        distance = _mm256_andnot_pd(_mm256_set1_pd(-0.0), distance);
        __m256i magnitude = _mm256_and_si256(_mm256_castpd_si256(shifted), low52);
        __m256i sign = _mm256_sub_epi64(zero, _mm256_and_si256(word, _mm256_set1_epi64x(1)));
        __m256i signed_value = _mm256_sub_epi64(_mm256_xor_si256(magnitude, sign), sign);
        _mm256_storeu_si256((__m256i *)(void *)(words + i), signed_value);
        __m256d room = _mm256_sub_pd(_mm256_set1_pd(0.5), distance);
        __m256d proven = _mm256_cmp_pd(_mm256_mul_pd(scales, c[7]), room, _CMP_LT_OQ);
        sure = _mm256_and_pd(sure, proven);
    }
    return transform_from(table, scale, i, n, words) && _mm256_movemask_pd(sure) == 15;
}

/* Rows of eight slots to columns, as above: pairs, then quarters, then halves. */
TACIT__AVX512 TACIT__INLINE void transpose8(const double *const row[8], __m512d column[8])
{
    __m512d even[4], odd[4]; /* of rows 2i and 2i + 1: columns 0, 2, 4, 6, and 1, 3, 5, 7 */
    for (int i = 0; i < 4; i++) {
        __m512d a = _mm512_load_pd(row[2 * i]), b = _mm512_load_pd(row[2 * i + 1]);
        even[i] = _mm512_unpacklo_pd(a, b);
        odd[i] = _mm512_unpackhi_pd(a, b);
    }
    for (int side = 0; side < 2; side++) {
        const __m512d *of = side == 0 ? even : odd;
        __m512d low04 = _mm512_shuffle_f64x2(of[0], of[1], 0x88);
        __m512d high04 = _mm512_shuffle_f64x2(of[2], of[3], 0x88);
        __m512d low26 = _mm512_shuffle_f64x2(of[0], of[1], 0xdd);
        __m512d high26 = _mm512_shuffle_f64x2(of[2], of[3], 0xdd);
        column[side] = _mm512_shuffle_f64x2(low04, high04, 0x88);
        column[side + 4] = _mm512_shuffle_f64x2(low04, high04, 0xdd);
        column[side + 2] = _mm512_shuffle_f64x2(low26, high26, 0x88);
        column[side + 6] = _mm512_shuffle_f64x2(low26, high26, 0xdd);
    }
}

/* `transform` on eight lanes, step for step and with the same roundings. */
TACIT__AVX512 static bool kernel_avx512(const tacit__slot *table, double scale, size_t n,
                                        int64_t *words)
{
    const __m512i one = _mm512_set1_epi64(0x3ff0000000000000);
    const __m512i low52 = _mm512_set1_epi64(((int64_t)1 << 52) - 1);
    const __m512i before_first = _mm512_set1_epi64(FIRST_SLOT - 1), zero = _mm512_setzero_si512();
    const __m512d scales = _mm512_set1_pd(scale), two52 = _mm512_set1_pd(0x1p52);
    __mmask8 sure = 0xff;

    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i word = _mm512_loadu_si512(words + i);
        __m512i top52 = _mm512_or_si512(_mm512_srli_epi64(word, 12), one);
        __m512d w = _mm512_sub_pd(_mm512_castsi512_pd(top52), _mm512_set1_pd(1 - 0x1p-53));
        __m512i bits = _mm512_castpd_si512(w);
        __m512i slot = _mm512_srli_epi64(bits, 52 - TACIT__SEGMENT_BITS);
        slot = _mm512_max_epi64(_mm512_sub_epi64(slot, before_first), zero);
        __m512i rest = _mm512_and_si512(_mm512_slli_epi64(bits, TACIT__SEGMENT_BITS), low52);
        __m512d t =
            _mm512_sub_pd(_mm512_castsi512_pd(_mm512_or_si512(rest, one)), _mm512_set1_pd(1.5));

        _Alignas(64) int64_t slots[8];
        _mm512_store_si512(slots, slot);
        const double *row[8];
        for (int k = 0; k < 8; k++)
            row[k] = table[slots[k]].coefficient;
        __m512d c[8];
        transpose8(row, c);
        __m512d p = c[6];
        for (int k = 5; k >= 0; k--)
            p = _mm512_add_pd(_mm512_mul_pd(p, t), c[k]);
        __m512d y = _mm512_mul_pd(scales, p);

        __m512d shifted = _mm512_add_pd(y, two52);
        __m512d distance = _mm512_abs_pd(_mm512_sub_pd(y, _mm512_sub_pd(shifted, two52)));
        __m512i magnitude = _mm512_and_si512(_mm512_castpd_si512(shifted), low52);
        __mmask8 negative = _mm512_test_epi64_mask(word, _mm512_set1_epi64(1));
        _mm512_storeu_si512(words + i, _mm512_mask_sub_epi64(magnitude, negative, zero, magnitude));
        __m512d room = _mm512_sub_pd(_mm512_set1_pd(0.5), distance);
        sure &= _mm512_cmp_pd_mask(_mm512_mul_pd(scales, c[7]), room, _CMP_LT_OQ);
    }
    return transform_from(table, scale, i, n, words) && sure == 0xff;
}
#endif

tacit__draw_loop_fn *tacit__draw_loop(void)
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx512())
        return kernel_avx512;
    if (tacit__cpu_has_avx2())
        return kernel_avx2;
#endif
    return kernel_base;
}
