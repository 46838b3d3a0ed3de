/* Our ChaCha20 key stream: libsodium's to the bit, with all instructions that this CPU has, and the
 * published one. */
#include "support/check.h"

#include <sodium.h>
#include <string.h>

#include "base/cpu.h"
#include "noise/chacha.h"
#include "support/random.h"

enum { BLOCK = 64, MOST = 53 * BLOCK + 7 };

static void compare(const uint8_t key[32], uint64_t nonce, uint64_t block, size_t bytes)
{
    static uint8_t ours[MOST + 1], theirs[MOST + 1];
    uint8_t nonce_bytes[8];
    for (int i = 0; i < 8; i++)
        nonce_bytes[i] = (uint8_t)(nonce >> (8 * i));
    memset(ours, 0xa5, sizeof ours);
    memset(theirs, 0, bytes);
    memset(theirs + bytes, 0xa5, sizeof theirs - bytes);
    crypto_stream_chacha20_xor_ic(theirs, theirs, bytes, nonce_bytes, block, key);
    tacit__chacha(key, nonce, block, bytes, ours);
    assert_memory_equal(ours, theirs, sizeof ours);
}

static void compare_all(void)
{
    /* where a run of blocks passes 2^32, and where the counter ends */
    static const uint64_t firsts[] = {0, 1, 0xfffffff3, 0x1fffffff9, UINT64_MAX - 20};
    uint64_t random = 5;
    uint8_t key[32];
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        for (size_t bytes = 0; bytes <= MOST; bytes += bytes % BLOCK == 7 ? 57 : 7) {
            for (size_t k = 0; k < sizeof key; k++)
                key[k] = (uint8_t)random_word(&random);
            compare(key, random_word(&random), firsts[i], bytes);
        }
}

TEST(every_instruction_set_gives_the_stream_of_libsodium)
{
    compare_all();
    tacit__cpu_pretend_avx2(true);
    compare_all();
    tacit__cpu_pretend_avx2(false);
    tacit__cpu_pretend_base(true);
    compare_all();
    tacit__cpu_pretend_base(false);
}

TEST(the_stream_of_the_zero_key_is_the_published_one)
{
    static const uint8_t key[32],
        published[32] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a,
                         0xe5, 0x53, 0x86, 0xbd, 0x28, 0xbd, 0xd2, 0x19, 0xb8, 0xa0, 0x8d,
                         0xed, 0x1a, 0xa8, 0x36, 0xef, 0xcc, 0x8b, 0x77, 0x0d, 0xc7};
    uint8_t out[16 * BLOCK];
    tacit__chacha(key, 0, 0, sizeof out, out);
    assert_memory_equal(out, published, sizeof published);
}
