/* Integer noise in bulk: round(scale * X), exactly distributed, X standard normal or standard Laplace.
 *
 * If x is an integer then x + round(scale X) = round(x + scale X), a post-processing of the ideal
 * mechanism on the reals, so the ideal mechanism's guarantee holds without slack on any lattice. */
#ifndef TACIT_NOISE_SAMPLER_H
#define TACIT_NOISE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "noise/quantile_tables.h"
#include "noise/stream.h"

/* Largest scale in lattice steps: keeps the kernel's products below 2^51. */
#define TACIT__MAX_SCALE 0x1p46

/* No draw exceeds this many scales: eight extension words allow a survival probability down to
 * 2^-575, and e^-400 < 2^-575 (the normal law's tail is lighter still). Where they do not decide, the program
 * stops: docs/why/noise.md#what-delta-0-means. */
#define TACIT__MAX_DRAW 400

/* Draws first .. first+n-1 of this site and step; `first` is a multiple of WORDS_PER_BLOCK and
 * 0 < scale <= MAX_SCALE. A pure function of (site key, step, index, law, scale). */
void tacit__noise_draw(const tacit__site *site, uint64_t step, uint64_t first, tacit__noise_law law,
                       double scale, size_t n, int64_t *out);

/* The words themselves of a step of a chain. */
void tacit__link_words(const tacit__link *link, uint64_t first, size_t n, uint64_t *out);

/* Draws first .. first+n-1 of a step of a chain. */
void tacit__link_draw(const tacit__link *link, uint64_t first, tacit__noise_law law, double scale,
                      size_t n, int64_t *out);

#endif
