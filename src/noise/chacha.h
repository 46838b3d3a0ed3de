/* The ChaCha20 key stream, block by block: Bernstein's original, with a 64-bit nonce and a 64-bit counter,
 * the stream of libsodium's crypto_stream_chacha20 to the bit. */
#ifndef TACIT_NOISE_CHACHA_H
#define TACIT_NOISE_CHACHA_H

#include <stddef.h>
#include <stdint.h>

/* `bytes` of the stream from the beginning of block `block`. */
void tacit__chacha(const uint8_t key[32], uint64_t nonce, uint64_t block, size_t bytes, void *out);

#endif
