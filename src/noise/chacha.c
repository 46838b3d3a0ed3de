/* Most of a large release's time is key stream, so whole runs of blocks are made here, 16 at once with
 * AVX-512 or 8 with AVX2; what is left over, and all of it on other CPUs, is libsodium's. A lane of a
 * vector is a block: the 16 vectors of the state go through the rounds together, and a transposition at
 * the end puts each block's 16 words side by side.
 *
 * The cipher has no secret branches and no secret addresses, in vectors as in libsodium. Tests compare
 * every path with libsodium and with the published vectors. */
#include "noise/chacha.h"

#include <sodium.h>
#include <string.h>

#include "base/cpu.h"

enum { STATE = 16, BLOCK_BYTES = 64, DOUBLE_ROUNDS = 10 };

#if TACIT__HAVE_AVX2
#include <immintrin.h>

typedef uint32_t lanes8 __attribute__((vector_size(32)));
typedef uint32_t lanes16 __attribute__((vector_size(64)));

static void fill_state(uint32_t state[STATE], const uint8_t key[32], uint64_t nonce)
{
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(state, constants, sizeof constants);
    memcpy(state + 4, key, 32); /* x86 is little-endian, as the cipher */
    state[12] = state[13] = 0;  /* the counter, lane by lane */
    state[14] = (uint32_t)nonce;
    state[15] = (uint32_t)(nonce >> 32);
}

#define TURN16(x)                                                                                  \
    ((lanes8)_mm256_shuffle_epi8((__m256i)(x),                                                     \
                                 _mm256_set_epi64x(0x0d0c0f0e09080b0a, 0x0504070601000302,         \
                                                   0x0d0c0f0e09080b0a, 0x0504070601000302)))
#define TURN8(x)                                                                                   \
    ((lanes8)_mm256_shuffle_epi8((__m256i)(x),                                                     \
                                 _mm256_set_epi64x(0x0e0d0c0f0a09080b, 0x0605040702010003,         \
                                                   0x0e0d0c0f0a09080b, 0x0605040702010003)))

TACIT__AVX2 TACIT__INLINE void quarter8(lanes8 *a, lanes8 *b, lanes8 *c, lanes8 *d)
{
    *a += *b;
    *d = TURN16(*d ^ *a);
    *c += *d;
    *b ^= *c;
    *b = *b << 12 | *b >> 20;
    *a += *b;
    *d = TURN8(*d ^ *a);
    *c += *d;
    *b ^= *c;
    *b = *b << 7 | *b >> 25;
}

TACIT__AVX512 TACIT__INLINE void quarter16(lanes16 *a, lanes16 *b, lanes16 *c, lanes16 *d)
{
    *a += *b;
    *d = (lanes16)_mm512_rol_epi32((__m512i)(*d ^ *a), 16);
    *c += *d;
    *b = (lanes16)_mm512_rol_epi32((__m512i)(*b ^ *c), 12);
    *a += *b;
    *d = (lanes16)_mm512_rol_epi32((__m512i)(*d ^ *a), 8);
    *c += *d;
    *b = (lanes16)_mm512_rol_epi32((__m512i)(*b ^ *c), 7);
}

#define DOUBLE_ROUND(quarter, x)                                                                   \
    do {                                                                                           \
        quarter(&(x)[0], &(x)[4], &(x)[8], &(x)[12]);                                              \
        quarter(&(x)[1], &(x)[5], &(x)[9], &(x)[13]);                                              \
        quarter(&(x)[2], &(x)[6], &(x)[10], &(x)[14]);                                             \
        quarter(&(x)[3], &(x)[7], &(x)[11], &(x)[15]);                                             \
        quarter(&(x)[0], &(x)[5], &(x)[10], &(x)[15]);                                             \
        quarter(&(x)[1], &(x)[6], &(x)[11], &(x)[12]);                                             \
        quarter(&(x)[2], &(x)[7], &(x)[8], &(x)[13]);                                              \
        quarter(&(x)[3], &(x)[4], &(x)[9], &(x)[14]);                                              \
    } while (0)

/* Rows of four words: after it, x[4k + j] has in its quarter l the words 4k .. 4k + 3 of block 4l + j. */
#define TRANSPOSE_QUARTERS(x, type, low32, high32, low64, high64)                                  \
    for (int k = 0; k < STATE; k += 4) {                                                           \
        type a = low32((x)[k], (x)[k + 1]), b = high32((x)[k], (x)[k + 1]);                        \
        type c = low32((x)[k + 2], (x)[k + 3]), d = high32((x)[k + 2], (x)[k + 3]);                \
        (x)[k] = low64(a, c);                                                                      \
        (x)[k + 1] = high64(a, c);                                                                 \
        (x)[k + 2] = low64(b, d);                                                                  \
        (x)[k + 3] = high64(b, d);                                                                 \
    }

TACIT__AVX2 TACIT__INLINE void store8(lanes8 state[STATE], uint8_t *out)
{
    __m256i x[STATE];
    for (int i = 0; i < STATE; i++)
        x[i] = (__m256i)state[i];
    TRANSPOSE_QUARTERS(x, __m256i, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32,
                       _mm256_unpacklo_epi64, _mm256_unpackhi_epi64)
    for (int j = 0; j < 4; j++)
        for (int half = 0; half < 2; half++) {
            const __m256i first = x[8 * half + j], second = x[8 * half + 4 + j];
            uint8_t *const to = out + j * BLOCK_BYTES + 32 * half;
            _mm256_storeu_si256((__m256i *)(void *)to,
                                _mm256_permute2x128_si256(first, second, 0x20));
            _mm256_storeu_si256((__m256i *)(void *)(to + 4 * BLOCK_BYTES),
                                _mm256_permute2x128_si256(first, second, 0x31));
        }
}

TACIT__AVX512 TACIT__INLINE void store16(lanes16 state[STATE], uint8_t *out)
{
    __m512i x[STATE];
    for (int i = 0; i < STATE; i++)
        x[i] = (__m512i)state[i];
    TRANSPOSE_QUARTERS(x, __m512i, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32,
                       _mm512_unpacklo_epi64, _mm512_unpackhi_epi64)
    for (int j = 0; j < 4; j++) {
        const __m512i even_low = _mm512_shuffle_i32x4(x[j], x[j + 4], 0x88);
        const __m512i odd_low = _mm512_shuffle_i32x4(x[j], x[j + 4], 0xdd);
        const __m512i even_high = _mm512_shuffle_i32x4(x[j + 8], x[j + 12], 0x88);
        const __m512i odd_high = _mm512_shuffle_i32x4(x[j + 8], x[j + 12], 0xdd);
        uint8_t *const to = out + j * BLOCK_BYTES;
        _mm512_storeu_si512(to, _mm512_shuffle_i32x4(even_low, even_high, 0x88));
        _mm512_storeu_si512(to + 4 * BLOCK_BYTES, _mm512_shuffle_i32x4(odd_low, odd_high, 0x88));
        _mm512_storeu_si512(to + 8 * BLOCK_BYTES, _mm512_shuffle_i32x4(even_low, even_high, 0xdd));
        _mm512_storeu_si512(to + 12 * BLOCK_BYTES, _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd));
    }
}

/* Runs of as many blocks as there are lanes. */
#define RUN(lanes, width, quarter, store)                                                          \
    lanes start[STATE], x[STATE];                                                                  \
    for (int i = 0; i < STATE; i++)                                                                \
        start[i] = (lanes){0} + state[i];                                                          \
    for (size_t done = 0; done < n; done += (width)) {                                             \
        for (uint64_t lane = 0; lane < (width); lane++) {                                          \
            start[12][lane] = (uint32_t)(block + done + lane);                                     \
            start[13][lane] = (uint32_t)((block + done + lane) >> 32);                             \
        }                                                                                          \
        for (int i = 0; i < STATE; i++)                                                            \
            x[i] = start[i];                                                                       \
        for (int i = 0; i < DOUBLE_ROUNDS; i++)                                                    \
            DOUBLE_ROUND(quarter, x);                                                              \
        for (int i = 0; i < STATE; i++)                                                            \
            x[i] += start[i];                                                                      \
        store(x, out + done * BLOCK_BYTES);                                                        \
    }

TACIT__AVX2 static void run8(const uint32_t state[STATE], uint64_t block, size_t n,
                             uint8_t *out){RUN(lanes8, 8, quarter8, store8)}

TACIT__AVX512 static void run16(const uint32_t state[STATE], uint64_t block, size_t n, uint8_t *out)
{
    RUN(lanes16, 16, quarter16, store16)
}

/* Writes as many whole runs as fit, and returns how many blocks they are. */
static size_t run_wide(const uint8_t key[32], uint64_t nonce, uint64_t block, size_t blocks,
                       uint8_t *out)
{
    if (blocks < 8 || !tacit__cpu_has_avx2())
        return 0;
    uint32_t state[STATE];
    fill_state(state, key, nonce);
    size_t done = 0;
    if (tacit__cpu_has_avx512()) {
        done = blocks / 16 * 16;
        run16(state, block, done, out);
    }
    const size_t rest = (blocks - done) / 8 * 8;
    run8(state, block + done, rest, out + done * BLOCK_BYTES);
    sodium_memzero(state, sizeof state);
    return done + rest;
}
#else
static size_t run_wide(const uint8_t key[32], uint64_t nonce, uint64_t block, size_t blocks,
                       uint8_t *out)
{
    (void)key, (void)nonce, (void)block, (void)blocks, (void)out;
    return 0;
}
#endif

void tacit__chacha(const uint8_t key[32], uint64_t nonce, uint64_t block, size_t bytes, void *out)
{
    uint8_t *const to = out;
    const size_t blocks = run_wide(key, nonce, block, bytes / BLOCK_BYTES, to);
    const size_t rest = bytes - blocks * BLOCK_BYTES;
    if (rest == 0)
        return;
    uint8_t nonce_bytes[crypto_stream_chacha20_NONCEBYTES];
    for (size_t i = 0; i < sizeof nonce_bytes; i++)
        nonce_bytes[i] = (uint8_t)(nonce >> (8 * i));
    uint8_t *const tail = to + blocks * BLOCK_BYTES;
    memset(tail, 0, rest);
    crypto_stream_chacha20_xor_ic(tail, tail, rest, nonce_bytes, block + blocks, key);
}
