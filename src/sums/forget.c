/* See sums/forget.h. The first region of every strategy is its position (sums/saved.c looks at it alone); the others are made of
 * users' data and of noise, and any content of theirs can be saved and loaded. */
#include "sums/forget.h"

#include "noise/stream.h"
#include "sums/sum.h"

void tacit__sum_forget(tacit_sum *sum)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions);
    for (size_t i = 1; i < n; i++)
        tacit__wipe(regions[i].data, regions[i].size);
    tacit__wipe(sum->x, sum->dimension * sizeof *sum->x);
    if (sum->packed != NULL)
        tacit__wipe(sum->packed, sum->dimension * sizeof *sum->packed);
}
