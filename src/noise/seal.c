/* XSalsa20 with Poly1305 for sealing, BLAKE2b for keyed hashes and key derivation, SipHash for
 * short ones, and base64url without padding; all of libsodium but the base64. See noise/seal.h. */
#include "noise/seal.h"

#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"

_Static_assert(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES == TACIT__SEAL_BYTES,
               "seal");
_Static_assert(crypto_shorthash_KEYBYTES == TACIT__SHORT_KEY && crypto_shorthash_BYTES == 8,
               "short hash");
_Static_assert(crypto_secretbox_KEYBYTES == TACIT__KEY_BYTES, "key");
_Static_assert(crypto_shorthash_siphashx24_KEYBYTES == TACIT__TAG_KEY &&
                   crypto_shorthash_siphashx24_BYTES == TACIT__TAG,
               "tag");

static atomic_uint_fast64_t forks;

static void fill_pairs(void);

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void start(void)
{
    TACIT__REQUIRE(sodium_init() >= 0);
    tacit__on_fork(count_fork);
    fill_pairs();
}

void tacit__seal_start(void)
{
    static tacit__started once = TACIT__NOT_STARTED;
    tacit__run_once(&once, start);
}

/* A nonce is random in all its bytes. Clients see nonces: one that counted, or shared a prefix with
 * others, would tell the holder of two tickets how many texts were sealed for other people in
 * between. */
void tacit__seal(const uint8_t key[TACIT__KEY_BYTES], const void *text, size_t size, void *out)
{
    uint8_t *nonce = out;
    tacit__random_few(nonce, crypto_secretbox_NONCEBYTES);
    TACIT__REQUIRE(
        crypto_secretbox_easy(nonce + crypto_secretbox_NONCEBYTES, text, size, nonce, key) == 0);
}

void tacit__seal_alike(const uint8_t key[TACIT__KEY_BYTES], const void *text, size_t size,
                       void *out)
{
    uint8_t own[TACIT__KEY_BYTES], *nonce = out;
    tacit__key_derive(key, "tacit seal: nonce", own);
    tacit__keyed_hash(own, text, size, nonce, crypto_secretbox_NONCEBYTES);
    TACIT__REQUIRE(
        crypto_secretbox_easy(nonce + crypto_secretbox_NONCEBYTES, text, size, nonce, key) == 0);
    sodium_memzero(own, sizeof own);
}

bool tacit__unseal(const uint8_t key[TACIT__KEY_BYTES], const void *sealed, size_t size, void *out)
{
    const uint8_t *nonce = sealed;
    if (size < TACIT__SEAL_BYTES)
        return false;
    return crypto_secretbox_open_easy(out, nonce + crypto_secretbox_NONCEBYTES,
                                      size - crypto_secretbox_NONCEBYTES, nonce, key) == 0;
}

void tacit__key_derive(const uint8_t master[TACIT__KEY_BYTES], const char *purpose,
                       uint8_t out[TACIT__KEY_BYTES])
{
    tacit__keyed_hash(master, purpose, strlen(purpose), out, TACIT__KEY_BYTES);
}

void tacit__keyed_hash(const uint8_t key[TACIT__KEY_BYTES], const void *data, size_t n,
                       uint8_t *out, size_t size)
{
    TACIT__REQUIRE(crypto_generichash(out, size, data, n, key, TACIT__KEY_BYTES) == 0);
}

uint64_t tacit__short_hash(const uint8_t key[TACIT__SHORT_KEY], const void *data, size_t n)
{
    uint8_t bytes[crypto_shorthash_BYTES];
    uint64_t out;
    (void)crypto_shorthash(bytes, data, n, key);
    memcpy(&out, bytes, sizeof out);
    return out;
}

void tacit__short_tag(const uint8_t key[TACIT__TAG_KEY], const void *data, size_t n,
                      uint8_t tag[TACIT__TAG])
{
    (void)crypto_shorthash_siphashx24(tag, data, n, key);
}

void tacit__random_bytes(void *out, size_t n)
{
    randombytes_buf(out, n);
}

/* Bytes drawn ahead, one store for each thread: ChaCha20 under a key of the system. Each filling
 * begins with the key of the next one, and what was given out is wiped, so that nothing that is in
 * memory tells what came before [B17]. A forked child, and every REKEY-th filling, get a key of the
 * system again. */
enum { DRAWN = 512, FEW = 64, REKEY = 1024 };

typedef struct drawn {
    uint8_t bytes[DRAWN]; /* the next key, then what is left */
    size_t used;
    uint64_t fillings, forks;
} drawn;

static void fill(drawn *d)
{
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES]; /* each key is used once */
    const uint64_t now = atomic_load_explicit(&forks, memory_order_relaxed);
    if (d->fillings % REKEY == 0 || d->forks != now)
        randombytes_buf(d->bytes, TACIT__KEY_BYTES);
    uint8_t key[TACIT__KEY_BYTES];
    memcpy(key, d->bytes, sizeof key);
    (void)crypto_stream_chacha20(d->bytes, sizeof d->bytes, nonce, key);
    sodium_memzero(key, sizeof key);
    d->used = TACIT__KEY_BYTES;
    d->forks = now;
    d->fillings++;
}

void tacit__random_few(void *out, size_t n)
{
    static _Thread_local drawn ahead = {.used = DRAWN};
    TACIT__REQUIRE(n <= FEW);
    if (n > DRAWN - ahead.used || ahead.forks != atomic_load_explicit(&forks, memory_order_relaxed))
        fill(&ahead);
    memcpy(out, ahead.bytes + ahead.used, n);
    sodium_memzero(ahead.bytes + ahead.used, n);
    ahead.used += n;
}

double tacit__random_unit(void)
{
    uint64_t word;
    tacit__random_few(&word, sizeof word);
    return (double)(word >> 11) * 0x1p-53;
}

bool tacit__same_bytes(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    uint64_t differ = 0;
    for (; n >= sizeof differ; n -= sizeof differ, x += sizeof differ, y += sizeof differ) {
        uint64_t p, q;
        memcpy(&p, x, sizeof p);
        memcpy(&q, y, sizeof q);
        differ |= p ^ q;
        __asm__ volatile("" : "+r"(differ)); /* the compiler must not stop early */
    }
    return (n == 0 || sodium_memcmp(x, y, n) == 0) && differ == 0;
}

/* What is written is not secret any more, so a table will do: several times as fast as code that
 * hides its input. Two digits at a time, in a table that is filled when the program first seals
 * something. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static char pairs[4096][2];

static void fill_pairs(void)
{
    for (size_t i = 0; i < 4096; i++) {
        pairs[i][0] = digits[i >> 6];
        pairs[i][1] = digits[i & 63];
    }
}

void tacit__base64_write(const void *bytes, size_t n, char *out)
{
    tacit__seal_start();
    const uint8_t *b = bytes;
    for (; n >= 8; n -= 6, b += 6, out += 8) {
        uint64_t word;
        memcpy(&word, b, sizeof word);
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
            word = __builtin_bswap64(word);
        for (int i = 0; i < 4; i++)
            memcpy(out + 2 * i, pairs[word >> (52 - 12 * i) & 0xfff], 2);
    }
    for (; n >= 3; n -= 3, b += 3, out += 4) {
        const size_t word = (size_t)b[0] << 16 | (size_t)b[1] << 8 | b[2];
        memcpy(out, pairs[word >> 12], 2);
        memcpy(out + 2, pairs[word & 0xfff], 2);
    }
    if (n > 0) {
        uint32_t word = (uint32_t)b[0] << 16 | (n > 1 ? (uint32_t)b[1] << 8 : 0);
        *out++ = digits[word >> 18 & 63];
        *out++ = digits[word >> 12 & 63];
        if (n > 1)
            *out++ = digits[word >> 6 & 63];
    }
    *out = '\0';
}

bool tacit__base64_read(const char *text, size_t length, void *out, size_t capacity, size_t *n)
{
    const char *end;
    return sodium_base642bin(out, capacity, text, length, NULL, n, &end,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0 &&
           end == text + length;
}
