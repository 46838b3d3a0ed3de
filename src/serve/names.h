/* The names of a learner's actions and columns, in answers and in the store. lab/space_names.h reads their
 * declarations. All names are public. */
#ifndef TACIT_SERVE_NAMES_H
#define TACIT_SERVE_NAMES_H

#include "base/text.h"
#include "lab/learner_config.h"
#include "noise/stream.h"

/* A digest of all names, in their order: with others, the same numbers mean something else. Returns its
 * size; 0: nothing has a name. */
size_t tacit__names_digest(const tacit__learner_config *l, uint8_t out[TACIT__KEY_BYTES]);

/* ,"action_names":[...],"columns":[{"name":...},...],"intercept":...,"unit":...; what is not declared is
 * left out. */
void tacit__names_describe(const tacit__learner_config *l, tacit__text *out);
/* An action as answers have it: its name, or its number. */
void tacit__names_write_action(const tacit__learner_config *l, uint32_t action, tacit__text *out);

#endif
