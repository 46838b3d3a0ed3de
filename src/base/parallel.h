/* Many jobs of one kind on some threads.
 *
 * Jobs are numbered; a thread takes the next number. If every job writes to memory of its own, the result
 * does not depend on which thread ran which job. */
#ifndef TACIT_BASE_PARALLEL_H
#define TACIT_BASE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

typedef tacit_status tacit__job_fn(void *context, size_t job, tacit_error *err);
/* Called by the calling thread some ten times a second, and once at the end; false stops. */
typedef bool tacit__tick_fn(void *context, size_t done, double seconds);

/* Runs jobs 0 .. n-1; n_threads 0: one for each processor that this process may use. The first failure
 * (that of the smallest job among those that failed) stops everything and is the error. *stopped: the tick
 * returned false, some jobs were not run, and the status is OK. `tick` may be NULL. */
TACIT_MUST_USE tacit_status tacit__parallel(size_t n, unsigned n_threads, tacit__job_fn *job,
                                            tacit__tick_fn *tick, void *context, bool *stopped,
                                            tacit_error *err);

#endif
