/* The slow, always exact answer for one draw. */
#ifndef TACIT_NOISE_REFINE_H
#define TACIT_NOISE_REFINE_H

#include "noise/quantile_tables.h"
#include "noise/stream.h"

/* round(scale * X) for the draw whose first word is `word` and whose next ones are these. Stops the program
 * if they do not decide. */
int64_t tacit__refine(tacit__noise_law law, double scale, uint64_t word,
                      const uint64_t extension[TACIT__WORDS_PER_BLOCK]);

#endif
