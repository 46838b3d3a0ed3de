/* Roots of randomness.
 *
 * A tacit_noise is a 256-bit key from which every release derives its own ChaCha20 stream. A stream is
 * identified by (root, ledger, release name, step) and by nothing else. So a draw can be computed again,
 * threads do not influence each other, and adding a release never changes the noise of another. Several
 * ledgers may share a root: each has streams of its own, whatever its releases are called.
 *
 * There are two constructors, and they are not interchangeable. One takes its key from the operating system;
 * only this one protects real people. The other takes a seed: a run is then reproducible bit for bit, and
 * everything that depends on it is marked as simulated. */
#ifndef TACIT_NOISE_H
#define TACIT_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_noise tacit_noise;

/* Takes the key from the operating system. If the system cannot supply randomness, the program stops: there
 * is no fallback. After fork() a child's root gets a new key at its first use, so parent and child never draw
 * the same noise. */
TACIT_API TACIT_MUST_USE tacit_status tacit_noise_create_from_os(tacit_noise **out);

/* Derives the key from a seed: reproducible, and NOT PRIVATE, since anyone with the seed can subtract the
 * noise. For simulations and tests. */
TACIT_API TACIT_MUST_USE tacit_status tacit_noise_create_simulated(uint64_t seed,
                                                                   tacit_noise **out);

TACIT_API bool tacit_noise_is_simulated(const tacit_noise *noise);

/* Wipes the key. Accepts NULL. */
TACIT_API void tacit_noise_destroy(tacit_noise *noise);

#ifdef __cplusplus
}
#endif

#endif
