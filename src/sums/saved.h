/* For callers that load several sums and must load all or none. */
#ifndef TACIT_SUMS_SAVED_H
#define TACIT_SUMS_SAVED_H

#include <tacit/sum.h>

/* What tacit_sum_load would say; the sum stays fresh. */
TACIT_MUST_USE tacit_status tacit__sum_check_saved(tacit_sum *sum, const void *bytes, size_t size,
                                                   tacit_error *err);

/* The users in a state that tacit__sum_check_saved takes. */
uint64_t tacit__sum_saved_step(const void *bytes);

#endif
