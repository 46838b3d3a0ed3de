/* Users for the stores of benches, added by the functions with which the service adds them: no bench knows a
 * table of the store. */
#ifndef TACIT_BENCH_STORE_FILL_H
#define TACIT_BENCH_STORE_FILL_H

#include "store/vault/vault.h"

/* Brings n users, each of them a person, into the learner, in one transaction. What they did is not learned.
 */
void bench_fill_store(tacit__vault *vault, const char *learner, uint64_t n);

#endif
