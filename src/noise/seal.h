/* Secrets at rest and in strangers' hands: encryption, keyed hashes, random names. The rest of
 * libsodium that the service needs, kept in the one room that may use it. */
#ifndef TACIT_NOISE_SEAL_H
#define TACIT_NOISE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "noise/stream.h"

enum { TACIT__SEAL_BYTES = 40 }; /* nonce and authenticator */

/* Must come before the others; may be called often, from any thread. */
void tacit__seal_start(void);

/* out[size + SEAL_BYTES] is the text under the key, by XSalsa20-Poly1305 with a nonce of its own:
 * without the key it cannot be read, and no other can be made that `unseal` accepts. `out` and `text`
 * do not overlap. */
void tacit__seal(const uint8_t key[TACIT__KEY_BYTES], const void *text, size_t size, void *out);
/* The same with a nonce that is a hash of the text under another key made from this one: the same
 * text is sealed to the same bytes, which is all that they tell. */
void tacit__seal_alike(const uint8_t key[TACIT__KEY_BYTES], const void *text, size_t size,
                       void *out);
/* out[size - SEAL_BYTES]; false: not made with this key, or changed since. */
TACIT_MUST_USE bool tacit__unseal(const uint8_t key[TACIT__KEY_BYTES], const void *sealed,
                                  size_t size, void *out);

/* A key for one purpose from a master key. */
void tacit__key_derive(const uint8_t master[TACIT__KEY_BYTES], const char *purpose,
                       uint8_t out[TACIT__KEY_BYTES]);

/* BLAKE2b of some bytes under a key; `size` from 16 to 64. */
void tacit__keyed_hash(const uint8_t key[TACIT__KEY_BYTES], const void *data, size_t n,
                       uint8_t *out, size_t size);

/* 64 bits that stand for the data under the key, by SipHash-2-4: for what is kept in short. */
enum { TACIT__SHORT_KEY = 16 };
uint64_t tacit__short_hash(const uint8_t key[TACIT__SHORT_KEY], const void *data, size_t n);

/* 128 bits, for which other data cannot be found without the key, by SipHash-2-4-128. */
enum { TACIT__TAG_KEY = 16, TACIT__TAG = 16 };
void tacit__short_tag(const uint8_t key[TACIT__TAG_KEY], const void *data, size_t n,
                      uint8_t tag[TACIT__TAG]);

void tacit__random_bytes(void *out, size_t n);
/* Writes at most 64 bytes that are as good, without a call of the system each time: a service needs
 * many names and nonces. */
void tacit__random_few(void *out, size_t n);
/* Draws a multiple of 2^-53 in [0, 1). */
double tacit__random_unit(void);

/* The same bytes, in a time that does not tell where they differ. */
bool tacit__same_bytes(const void *a, const void *b, size_t n);

/* base64url without padding; out has room for TACIT__BASE64_SIZE(n), NUL included. */
#define TACIT__BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1)
void tacit__base64_write(const void *bytes, size_t n, char *out);
/* False: other characters, or more than `capacity` bytes. */
bool tacit__base64_read(const char *text, size_t length, void *out, size_t capacity, size_t *n);

#endif
