/* The memory of a running sum consists of the regions of its strategy. */
#ifndef TACIT_SUMS_REGIONS_H
#define TACIT_SUMS_REGIONS_H

#include <tacit/sum.h>

/* Wipes the data of users: everything but the sum's position. For curators that will not release it again,
 * but keep its line in the ledger: it can still be saved and loaded, so its steps stay charged and its
 * noise is never drawn again. Its released values are meaningless from then on. */
void tacit__sum_wipe(tacit_sum *sum);

/* Returns whether the regions' bytes, one after the other, are numbers that sums can have: they leave
 * room for another user. */
bool tacit__sum_check_regions(const tacit_sum *sum, const void *bytes);

#endif
