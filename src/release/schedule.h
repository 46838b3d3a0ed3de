/* When sums that are released rarely are released. The moments are public: they follow from the number of
 * users alone. */
#ifndef TACIT_RELEASE_SCHEDULE_H
#define TACIT_RELEASE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* The release after the one of `users` users: when there are `growth` times as many, rounded down, and at
 * least one more. growth <= 1: after each user. */
uint64_t tacit__schedule_next(uint64_t users, double growth);

/* Releases from `first` users on, the first of which is made in any case, then whenever there are `growth`
 * times as many (at least 1, may be infinite), up to `users` users. How many there are at each into `ends`
 * (NULL: they are counted only). */
uint64_t tacit__schedule_grow(uint64_t first, double growth, uint64_t users, uint64_t *ends);

/* The same from one user on. */
uint64_t tacit__schedule_count(uint64_t users, double growth, uint64_t *ends);
/* The same into memory that tacit__free frees; there are `n` of them. NULL: no memory. */
uint64_t *tacit__schedule_ends(uint64_t users, double growth, uint64_t n);

/* From about sqrt(users) on, because what comes before is too little to learn from: then whenever there are
 * `growth` times as many, rounded up. There is at least one. The users at each into `ends` (NULL: they are
 * counted only); growth > 1. */
size_t tacit__schedule_from_root(uint64_t users, double growth, uint64_t *ends);

/* Batches of K users: the first of `first` users, the next so large that there are `growth` times as many
 * users (above 1, may be infinite), and nothing is shown after `last` users (0: there is no limit). The users
 * when each is over into `ends` (NULL: they are counted only); the last one, which ends with K, is not
 * shown. Returns how many there are. */
size_t tacit__schedule_batches(uint64_t users, uint64_t first, double growth, uint64_t last,
                               uint64_t *ends);

/* What is lost, in users who know nothing, if the last release is at `last` of K users. Users who act by t
 * users' data lose about 1 / (1 + (t / a)^2) of what users lose who know nothing; up to the last release that
 * sums up to a atan(last / a), and the others act by what is known then. a > 0. */
double tacit__schedule_loss(double users, double last, double a);
/* Where the last release is tried: place i falls by factors of 2^(1/3), to less than a hundredth of all
 * users. */
enum { TACIT__SCHEDULE_LASTS = 24 };
uint64_t tacit__schedule_last(uint64_t users, int i);
/* What a is, in users of the first release of one visit times how far one person moves all sums, where each
 * batch is released once; 0.3 to 1 are alike: docs/why/returning.md#when-to-stop. */
#define TACIT__SCHEDULE_KNOWN 0.6

#endif
