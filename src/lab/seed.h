/* Where chance in an experiment comes from. */
#ifndef TACIT_LAB_SEED_H
#define TACIT_LAB_SEED_H

#include <stdint.h>

#include <tacit/noise.h>

/* A simulated root for (seed, run, role, label) and nothing else: the roles are "world" (label "") and "agent". */
TACIT_MUST_USE tacit_status tacit__seed_noise(uint64_t seed, uint64_t run, const char *role,
                                              const char *label, tacit_noise **out);

#endif
