/* From the store to results. */
#ifndef TACIT_LAB_LOAD_H
#define TACIT_LAB_LOAD_H

#include "lab/results.h"
#include "store/results_file.h"

/* Finished jobs and the curves of all, as far as they go. */
TACIT_MUST_USE tacit_status tacit__load_jobs(tacit__store *store, tacit_results *results,
                                             tacit_error *err);

/* An estimate as it is kept. */
tacit__kept_estimate tacit__kept_estimate_of(const tacit_estimate *estimate, uint64_t job);

/* Everything that the store holds, with its own experiment. */
TACIT_MUST_USE tacit_status tacit__load_results(tacit__store *store, tacit_results **out,
                                                tacit_error *err);

#endif
