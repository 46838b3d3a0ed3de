/* Random rows for worlds that are drawn: words from a seed, and points on the simplex. */
#ifndef TACIT_WORLDS_DICE_H
#define TACIT_WORLDS_DICE_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "noise/stream.h"

#define TACIT__LEAST_PROB 0x1p-64 /* a rarer successor would never be drawn */

enum { TACIT__DICE_BUFFER = 64 }; /* words; 512 bytes, the widest piece of libsodium's ChaCha20 */

/* Words one after the other; each row of a world has a step of its own. */
typedef struct tacit__dice {
    tacit__site site;
    uint64_t step, drawn;
    size_t used;
    uint64_t buffer[TACIT__DICE_BUFFER];
} tacit__dice;

/* Everything follows from the seed and the name. */
TACIT_MUST_USE tacit_status tacit__dice_open(tacit__dice *dice, uint64_t seed, const char *name);

/* The next row. */
void tacit__dice_next(tacit__dice *dice);

uint64_t tacit__dice_word(tacit__dice *dice);

/* Returns a number in (0, 1): the middle of one of 2^53 cells. */
double tacit__dice_uniform(tacit__dice *dice);

double tacit__dice_normal(tacit__dice *dice);

/* The logarithm of a gamma variate. */
double tacit__dice_log_gamma(tacit__dice *dice, double shape);

/* A point of the symmetric Dirichlet distribution: out[n] is not negative and sums to 1. Entries below
 * LEAST_PROB are 0. */
void tacit__dice_simplex(tacit__dice *dice, double concentration, size_t n, double *out);

#endif
