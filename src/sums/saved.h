/* A running sum as part of a saved state; see base/bytes.h. */
#ifndef TACIT_SUMS_SAVED_H
#define TACIT_SUMS_SAVED_H

#include <tacit/sum.h>

#include "base/bytes.h"

/* Saves or loads like tacit_sum_save and tacit_sum_load. Returns the users in the state: those of the
 * sum, or those that are loaded. It takes all bytes that are left. */
uint64_t tacit__sum_fields(tacit_sum *sum, tacit__saved *s);
size_t tacit__sum_saved_size(const tacit_sum *sum);

/* The same after its size, for states that go on behind it. */
uint64_t tacit__sum_sized_fields(tacit_sum *sum, tacit__saved *s);

#endif
