/* The fast part of the sampler: 64-bit words in, lattice points out, or "undecided". */
#ifndef TACIT_NOISE_DRAW_LOOP_H
#define TACIT_NOISE_DRAW_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "noise/quantile_tables.h"

/* Replaces n words by round(scale * X) for X of the table's law. Returns true if every answer is proven;
 * false if at least one word was too close to a rounding boundary, and then the array's
 * contents are undefined. */
typedef bool tacit__draw_loop_fn(const tacit__slot *table, double scale, size_t n, int64_t *words);

/* One word; false when it has to be refined. */
bool tacit__draw_loop_one(const tacit__slot *table, double scale, uint64_t word, int64_t *out);

/* The function for this CPU. Which one it is cannot be seen in the output: a proven answer is the exactly
 * rounded one, whatever the path. */
tacit__draw_loop_fn *tacit__draw_loop(void);

#endif
