/* For curators that will show a running sum no more, but keep its place in the ledger. */
#ifndef TACIT_SUMS_FORGET_H
#define TACIT_SUMS_FORGET_H

#include <tacit/sum.h>

/* Wipes what the sum knows of its users: everything but its position. It can still be saved and loaded, so that its steps stay
 * charged and its noise is never drawn again; what it would show is of no use any more. */
void tacit__sum_forget(tacit_sum *sum);

#endif
