/* The root's seed is the first 64 bits of BLAKE2b(seed, run, role, NUL, name), where the role is "world"
 * and the name its key, or the role is "agent" and the name its label, followed by NUL and the world's key
 * unless that is empty. Names contain no NUL, so no two of these texts are the same. Two of n jobs share a
 * root by accident with probability below n^2 / 2^65: 3e-8 for the largest experiment. */
#include "lab/runs/seed.h"

#include <string.h>

#include "base/error.h"
#include "noise/stream.h"

static tacit_status create(uint64_t seed, uint64_t run, const char *role, const char *name,
                           const char *world, tacit_noise **out)
{
    uint8_t numbers[16], digest[TACIT__KEY_BYTES];
    uint64_t derived = 0;
    for (int i = 0; i < 8; i++) {
        numbers[i] = (uint8_t)(seed >> (8 * i));
        numbers[8 + i] = (uint8_t)(run >> (8 * i));
    }
    bool named = world[0] != '\0';
    const tacit__bytes parts[] = {{numbers, sizeof numbers},
                                  {role, strlen(role) + 1},
                                  {name, strlen(name) + named},
                                  {world, strlen(world)}};
    tacit__digest(parts, sizeof parts / sizeof *parts, digest);
    for (int i = 0; i < 8; i++)
        derived |= (uint64_t)digest[i] << (8 * i);
    return tacit_noise_create_simulated(derived, out);
}

tacit_status tacit__seed_world(uint64_t seed, uint64_t run, const char *world, tacit_noise **out)
{
    TACIT__REQUIRE(world != NULL);
    return create(seed, run, "world", world, "", out);
}

tacit_status tacit__seed_agent(uint64_t seed, uint64_t run, const char *world, const char *label,
                               tacit_noise **out)
{
    TACIT__REQUIRE(world != NULL && label != NULL);
    return create(seed, run, "agent", label, world, out);
}
