/* Roots of randomness.
 *
 * A tacit_noise is a 256-bit key from which every release derives its own ChaCha20 stream:
 * (root, ledger, release name, step) names a stream and nothing else does, so that a draw can be
 * regenerated, threads cannot disturb each other, and adding a release never changes another's noise.
 * Several ledgers may share a root: each gets streams of its own, whatever its releases are called.
 *
 * There are two constructors and they are not interchangeable: one asks the operating system and
 * is the only one that guards real people; the other takes a seed, makes a run reproducible bit
 * for bit, and stamps all that follows as simulated. */
#ifndef TACIT_NOISE_H
#define TACIT_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_noise tacit_noise;

/* Keyed by the operating system. If it cannot supply randomness the program stops: there is no
 * fallback. After fork() a child's root is re-keyed at its first use, so that parent and child never
 * draw the same noise. */
TACIT_API TACIT_MUST_USE tacit_status tacit_noise_create_from_os(tacit_noise **out);

/* Keyed by a seed: reproducible, and NOT PRIVATE, since anyone with the seed can subtract the
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
