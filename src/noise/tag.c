/* See tag.h. With p = 2^107 - 1, a Mersenne prime, and secret keys k_i, b_j, kappa, beta, uniform below
 * 2^107,
 *
 *     y_j = sum of x_i k_(i mod 512) over the places i of chunk j = floor(i / 512),
 *     tag = y_0 + sum over j >= 1 of b_j y_j + beta L     (mod p),
 *     L   = sum over m <= n of kappa^(n-m) l_m            (mod p),  the labels l_1 .. l_n.
 *
 * Collisions. Two inputs x != x' differ in some place by less than 2^64 < p, so that its chunk has y_j !=
 * y'_j but for one k of p; if j >= 1 then b_j times that difference is any given residue for one b_j of p.
 * Two different lists of n labels have L != L' but for n of the p values of kappa, and then beta does the
 * same. As one residue has two names below 2^107, each of these events has a probability of at most 2^-106 (n
 * 2^-106 for L). What is shown is the residue's low 94 bits: equal for 2^14 differences at most. So two
 * inputs with the same labels have the same tag with probability at most 2^-91, however they were chosen, as
 * long as no tag was revealed: tags only enter ChaCha20's input block (stream.c), whose outputs for different
 * tags are indistinguishable from independent ones.
 *
 * Arithmetic. A key is four limbs of 27 bits. Wide values are x = hi 2^32 + lo with hi signed and lo not:
 * products with a limb are below 2^59, and 16 of them are added before they move to 128 bits. Narrow ones are
 * below 2^27: 512 products are below 2^63. All sums are exact, so the plain loop and the one with AVX2 give
 * the same tags.
 *
 * Cost: 5 instructions a value when narrow, 1 if it is 0, about 9 when wide. Memory: 32 bytes for each of
 * the first 512 places, and for each chunk. */
#include "noise/tag.h"

#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

__extension__ typedef unsigned __int128 residue; /* modulo p, below 2^107 */
__extension__ typedef __int128 wide;

enum { LIMBS = 4, LIMB_BITS = 27, CHUNK = 512, GROUP = 16, BITS = 107, NONCE_BITS = 63 };
#define P (((residue)1 << BITS) - 1)
#define NARROW 0x1p27

typedef struct limbs {
    int64_t limb[LIMBS];
} limbs;

struct tacit__tagger {
    uint8_t key[TACIT__KEY_BYTES];
    size_t size, n_inner, n_outer;
    bool narrow;   /* all values are */
    bool prepared; /* inner and outer are those of the key */
    residue kappa, beta;
    limbs *inner;
    residue *outer; /* of chunks 1 .. n_outer */
};

static residue reduced(residue x)
{
    x = (x & P) + (x >> BITS);
    return x >= P ? x - P : x;
}

/* x 2^n, 0 <= n < 107. */
static residue rotated(residue x, unsigned n)
{
    return ((x << n) & P) | (x >> (BITS - n));
}

/* In halves of 54 bits: 2^108 = 2 and 2^107 = 1. */
static residue times(residue a, residue b)
{
    const uint64_t low = ((uint64_t)1 << 54) - 1;
    uint64_t a0 = (uint64_t)a & low, a1 = (uint64_t)(a >> 54);
    uint64_t b0 = (uint64_t)b & low, b1 = (uint64_t)(b >> 54);
    residue middle = (residue)a0 * b1 + (residue)a1 * b0;
    residue ends = reduced((residue)a0 * b0) + reduced(2 * ((residue)a1 * b1));
    return reduced(reduced(ends) + rotated(reduced(middle), 54));
}

static residue drawn(const uint64_t words[2])
{
    return reduced(((residue)words[1] << 64 | words[0]) & P);
}

/* --- The table ------------------------------------------------------------------------------------- */

static void make_table(tacit__tagger *t)
{
    enum { AT_ONCE = 16 };
    tacit__site site;
    uint64_t words[AT_ONCE * LIMBS];
    tacit__site_restore(&site, t->key, true);
    for (size_t i = 0; i < t->n_inner; i += AT_ONCE) {
        tacit__site_words(&site, 0, i * LIMBS, AT_ONCE * LIMBS, words);
        for (size_t k = 0; k < AT_ONCE && i + k < t->n_inner; k++)
            for (size_t l = 0; l < LIMBS; l++) /* 27, 27, 27 and 26 bits */
                t->inner[i + k].limb[l] =
                    (int64_t)(words[k * LIMBS + l] >> (64 - LIMB_BITS + (l == LIMBS - 1)));
    }
    for (size_t j = 0; j < t->n_outer; j++) { /* a block for each */
        tacit__site_words(&site, 1, j * TACIT__WORDS_PER_BLOCK, 2, words);
        t->outer[j] = drawn(words);
    }
    tacit__wipe(words, sizeof words);
    tacit__site_wipe(&site);
}

/* A table that was not made holds nothing. */
static void wipe_table(tacit__tagger *t)
{
    if (!t->prepared)
        return;
    tacit__wipe(t->inner, t->n_inner * sizeof *t->inner);
    if (t->n_outer > 0)
        tacit__wipe(t->outer, t->n_outer * sizeof *t->outer);
    t->prepared = false;
}

void tacit__tagger_prepare(tacit__tagger *t)
{
    if (!t->prepared)
        make_table(t);
    t->prepared = true;
}

void tacit__tagger_rekey(tacit__tagger *t, const uint8_t key[TACIT__KEY_BYTES])
{
    tacit__site site;
    uint64_t words[4];
    memcpy(t->key, key, sizeof t->key);
    wipe_table(t);
    tacit__site_restore(&site, key, true);
    tacit__site_words(&site, 2, 0, 4, words);
    t->kappa = drawn(words);
    t->beta = drawn(words + 2);
    tacit__wipe(words, sizeof words);
    tacit__site_wipe(&site);
}

tacit_status tacit__tagger_create(const uint8_t key[TACIT__KEY_BYTES], size_t size, double largest,
                                  tacit__tagger **out)
{
    TACIT__REQUIRE(size > 0);
    tacit__tagger *t = tacit__alloc(1, sizeof *t);
    if (t == NULL)
        return TACIT_NO_MEMORY;
    t->size = size;
    t->n_inner = size < CHUNK ? size : CHUNK;
    t->n_outer = size > CHUNK ? (size - 1) / CHUNK : 0;
    t->narrow = largest < NARROW;
    t->inner = tacit__alloc(t->n_inner, sizeof *t->inner);
    t->outer = t->n_outer > 0 ? tacit__alloc(t->n_outer, sizeof *t->outer) : NULL;
    if (t->inner == NULL || (t->n_outer > 0 && t->outer == NULL)) {
        tacit__tagger_destroy(t);
        return TACIT_NO_MEMORY;
    }
    tacit__tagger_rekey(t, key);
    *out = t;
    return TACIT_OK;
}

void tacit__tagger_destroy(tacit__tagger *t)
{
    if (t == NULL)
        return;
    wipe_table(t);
    tacit__free(t->inner);
    tacit__free(t->outer);
    tacit__free_secret(t, sizeof *t);
}

const uint8_t *tacit__tagger_key(const tacit__tagger *t)
{
    return t->key;
}

/* --- Sums of products ------------------------------------------------------------------------------ */

/* A run of values within one chunk: the places are index[i], or first + i, modulo 512. */
typedef struct run {
    size_t n, first;
    const size_t *index;
    const int64_t *value;
} run;

static inline const limbs *key_at(const tacit__tagger *t, const run *r, size_t i)
{
    return &t->inner[(r->index != NULL ? r->index[i] : r->first + i) % CHUNK];
}

/* sum[l] += the values times limb l of their keys; |sum[l]| < 2^98: 62 and 27 bits, 512 times. */
static void add_plain(const tacit__tagger *t, const run *r, wide sum[LIMBS])
{
    for (size_t i = 0; i < r->n; i++) {
        const int64_t *limb = key_at(t, r, i)->limb;
        for (int l = 0; l < LIMBS; l++)
            sum[l] += (wide)r->value[i] * limb[l];
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static inline __m256i load(const limbs *key)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)key->limb);
}

TACIT__AVX2 static inline limbs lanes(__m256i x)
{
    limbs out;
    _mm256_storeu_si256((__m256i *)(void *)out.limb, x);
    return out;
}

TACIT__AVX2 static inline __m256i product(const limbs *key, int64_t x)
{
    return _mm256_mul_epi32(load(key), _mm256_set1_epi64x(x));
}

TACIT__AVX2 static void add_narrow(const tacit__tagger *t, const run *r, wide sum[LIMBS])
{
    __m256i low = _mm256_setzero_si256();
    const int64_t *x = r->value;
    size_t i = 0;
    if (r->index == NULL) {
        const limbs *key = &t->inner[r->first % CHUNK];
        for (; i + 4 <= r->n; i += 4) {
            __m256i four = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
            if (_mm256_testz_si256(four, four)) /* most users leave most places at 0 */
                continue;
            low = _mm256_add_epi64(low, product(key + i, x[i]));
            low = _mm256_add_epi64(low, product(key + i + 1, x[i + 1]));
            low = _mm256_add_epi64(low, product(key + i + 2, x[i + 2]));
            low = _mm256_add_epi64(low, product(key + i + 3, x[i + 3]));
        }
    }
    for (; i < r->n; i++)
        low = _mm256_add_epi64(low, product(key_at(t, r, i), x[i]));
    limbs part = lanes(low);
    for (int l = 0; l < LIMBS; l++)
        sum[l] += part.limb[l];
}

TACIT__AVX2 static void add_wide(const tacit__tagger *t, const run *r, wide sum[LIMBS])
{
    for (size_t start = 0; start < r->n; start += GROUP) {
        size_t end = r->n - start < GROUP ? r->n : start + GROUP;
        __m256i low = _mm256_setzero_si256(), high = low;
        for (size_t i = start; i < end; i++) {
            __m256i key = load(key_at(t, r, i)), x = _mm256_set1_epi64x(r->value[i]);
            low = _mm256_add_epi64(low, _mm256_mul_epu32(key, x));
            high = _mm256_add_epi64(high, _mm256_mul_epi32(key, _mm256_srli_epi64(x, 32)));
        }
        limbs part = lanes(low), upper = lanes(high);
        for (int l = 0; l < LIMBS; l++)
            sum[l] += part.limb[l] + upper.limb[l] * ((wide)1 << 32);
    }
}
#endif

static void add(const tacit__tagger *t, const run *r, wide sum[LIMBS])
{
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        if (t->narrow)
            add_narrow(t, r, sum);
        else
            add_wide(t, r, sum);
        return;
    }
#endif
    add_plain(t, r, sum);
}

static residue of_signed(wide x)
{
    residue r = reduced((residue)(x < 0 ? -x : x));
    return x < 0 && r != 0 ? P - r : r;
}

static residue chunk_sum(const tacit__tagger *t, const run *r)
{
    wide sum[LIMBS] = {0};
    add(t, r, sum);
    residue lower = of_signed(sum[0] + sum[1] * ((wide)1 << LIMB_BITS));
    residue upper = of_signed(sum[2] + sum[3] * ((wide)1 << LIMB_BITS));
    return reduced(lower + rotated(upper, 2 * LIMB_BITS));
}

/* --- Tags and labels ------------------------------------------------------------------------------- */

static residue read_labels(const tacit__labels *labels)
{
    return (residue)labels->high << 64 | labels->low;
}

void tacit__labels_add(const tacit__tagger *t, const uint8_t label[TACIT__LABEL_BYTES],
                       tacit__labels *labels)
{
    uint64_t words[2] = {0};
    for (int i = 0; i < TACIT__LABEL_BYTES; i++)
        words[i / 8] |= (uint64_t)label[i] << (8 * (i % 8));
    residue sum = reduced(times(read_labels(labels), t->kappa) + drawn(words));
    *labels = (tacit__labels){(uint64_t)sum, (uint64_t)(sum >> 64)};
}

bool tacit__labels_are_sound(const tacit__labels *labels)
{
    return read_labels(labels) < P;
}

/* The places from `at` on that are in one chunk. */
static run run_from(const tacit__tagger *t, const tacit__input *input, size_t at)
{
    run r = {.n = input->n - at, .first = at, .value = input->value + at};
    if (input->index != NULL) {
        r.index = input->index + at;
        r.first = r.index[0];
    }
    if (t->n_outer == 0)
        return r;
    size_t end = (r.first / CHUNK + 1) * CHUNK, n = 0;
    if (r.index == NULL)
        n = end - r.first;
    else
        while (n < r.n && r.index[n] < end)
            n++;
    r.n = n < r.n ? n : r.n;
    return r;
}

tacit__tag tacit__tag_of(const tacit__tagger *t, const tacit__labels *labels,
                         const tacit__input *input)
{
    TACIT__REQUIRE(t->prepared);
    TACIT__REQUIRE(input->n == 0 ||
                   (input->index != NULL ? input->index[input->n - 1] : input->n - 1) < t->size);
    residue tag = labels->low == 0 && labels->high == 0 ? 0 : times(t->beta, read_labels(labels));
    for (size_t at = 0; at < input->n;) {
        run r = run_from(t, input, at);
        residue y = chunk_sum(t, &r);
        size_t chunk = r.first / CHUNK;
        tag = reduced(tag + (chunk > 0 ? times(t->outer[chunk - 1], y) : y));
        at += r.n;
    }
    return (tacit__tag){.nonce = (uint64_t)tag & (((uint64_t)1 << NONCE_BITS) - 1),
                        .high = (uint32_t)(tag >> NONCE_BITS) & 0x7fffffff};
}
