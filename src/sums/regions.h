/* What a running sum is made of, as memory: the regions of its strategy. */
#ifndef TACIT_SUMS_REGIONS_H
#define TACIT_SUMS_REGIONS_H

#include <tacit/sum.h>

/* Wipes what the sum knows of its users: everything but its position. For curators that will show it no more, but keep its place in the
 * ledger: it can still be saved and loaded, so that its steps stay charged and its noise is never drawn again. What it would show is
 * of no use any more. */
void tacit__sum_forget(tacit_sum *sum);

/* Whether the regions' bytes, one after the other, are numbers that sums can have: they leave room for another user. */
bool tacit__sum_check_regions(const tacit_sum *sum, const void *bytes);

#endif
