/* Models that a dishonest server sends to devices: bytes of an honest one, changed number by number. */
#ifndef TACIT_AUDIT_MODELS_H
#define TACIT_AUDIT_MODELS_H

#include "audit/lockstep.h"

/* Gets the first model that an honest server sends; its size is 0 if there are none. The caller frees it. */
TACIT_MUST_USE tacit_status tacit__model_first(const tacit__subject *subject, uint64_t seed,
                                               tacit__message *out, tacit_error *err);

/* The number of numbers in a model, and setting number i to what a dishonest server likes. */
size_t tacit__model_numbers(const tacit__message *model);
void tacit__model_set(tacit__message *model, size_t i, double value);

/* Changes some numbers to huge, tiny or opposite ones, or to those of a neighbor. */
void tacit__model_mutate(tacit__generator *generator, tacit__message *model);

#endif
