/* The seeds of an experiment. */
#ifndef TACIT_LAB_SEED_H
#define TACIT_LAB_SEED_H

#include <stdint.h>

#include <tacit/noise.h>

/* Simulated roots for a world in a run, and for an agent in a world in a run: they follow from what is
 * named here and from nothing else. A world is named by its key, see experiment.h. */
TACIT_MUST_USE tacit_status tacit__seed_world(uint64_t seed, uint64_t run, const char *world,
                                              tacit_noise **out);
TACIT_MUST_USE tacit_status tacit__seed_agent(uint64_t seed, uint64_t run, const char *world,
                                              const char *label, tacit_noise **out);

#endif
