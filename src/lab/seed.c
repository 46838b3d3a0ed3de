/* The root's seed is the first 64 bits of BLAKE2b(seed, run, role, NUL, label). Two of n jobs share a root by accident
 * with probability below n^2 / 2^65: 3e-10 for the largest experiment. */
#include "lab/seed.h"

#include <string.h>

#include "noise/stream.h"

tacit_status tacit__seed_noise(uint64_t seed, uint64_t run, const char *role, const char *label,
                               tacit_noise **out)
{
    uint8_t numbers[16], digest[TACIT__KEY_BYTES];
    uint64_t derived = 0;
    for (int i = 0; i < 8; i++) {
        numbers[i] = (uint8_t)(seed >> (8 * i));
        numbers[8 + i] = (uint8_t)(run >> (8 * i));
    }
    const tacit__bytes parts[] = {
        {numbers, sizeof numbers}, {role, strlen(role) + 1}, {label, strlen(label)}};
    tacit__digest(parts, sizeof parts / sizeof *parts, digest);
    for (int i = 0; i < 8; i++)
        derived |= (uint64_t)digest[i] << (8 * i);
    return tacit_noise_create_simulated(derived, out);
}
