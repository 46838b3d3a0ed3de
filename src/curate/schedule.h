/* When sums that are released rarely are released. The moments are public: they follow from the number of
 * users alone. */
#ifndef TACIT_CURATE_SCHEDULE_H
#define TACIT_CURATE_SCHEDULE_H

#include <stdint.h>

/* The release after the one of `users` users: when there are `growth` times as many, rounded down, and at
 * least one more. growth <= 1: after each user. */
uint64_t tacit__schedule_next(uint64_t users, double growth);

/* Releases of so many users, the first of which comes after one user; how many users there are at each into
 * `ends` (NULL: they are counted only). */
uint64_t tacit__schedule_count(uint64_t users, double growth, uint64_t *ends);

#endif
