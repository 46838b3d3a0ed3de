/* Models that a dishonest server sends to devices: bytes of an honest one, changed number by number. */
#ifndef TACIT_AUDIT_MODELS_H
#define TACIT_AUDIT_MODELS_H

#include "audit/lockstep.h"

/* The first model that an honest server sends; size 0 if there are none. To be freed. */
TACIT_MUST_USE tacit_status tacit__model_first(const tacit__subject *subject, uint64_t seed,
                                               tacit__message *out, tacit_error *err);

/* How many numbers there are, and number i as the server likes it. */
size_t tacit__model_numbers(const tacit__message *model);
void tacit__model_set(tacit__message *model, size_t i, double value);

/* Some numbers become huge, tiny, opposite, or those of a neighbor. */
void tacit__model_mutate(tacit__generator *generator, tacit__message *model);

#endif
