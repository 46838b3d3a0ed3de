/* The slow, always exact answer for one draw. */
#ifndef TACIT_NOISE_REFINE_H
#define TACIT_NOISE_REFINE_H

#include "noise/quantile_tables.h"
#include "noise/stream.h"

/* round(scale * X) for the draw whose first word is `word`. */
int64_t tacit__refine(const tacit__site *site, uint64_t step, uint64_t index, tacit__noise_law law,
                      double scale, uint64_t word);

#endif
