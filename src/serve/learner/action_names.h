/* The names of a learner's actions and columns, in answers and in the store. Their declarations are
 * read by lab/files/space_names.h. All names are public. */
#ifndef TACIT_SERVE_LEARNER_ACTION_NAMES_H
#define TACIT_SERVE_LEARNER_ACTION_NAMES_H

#include "lab/files/learner_config.h"
#include "noise/stream.h"
#include "text/text.h"

/* Computes a digest of all names in their order, since the same numbers mean something else with other names.
 * Returns its size, which is 0 if nothing has a name. */
size_t tacit__action_names_digest(const tacit__learner_config *l, uint8_t out[TACIT__KEY_BYTES]);

/* Writes ,"action_names":[...],"columns":[{"name":...},...],"intercept":...,"unit":... without what is not
 * declared. */
void tacit__action_names_describe(const tacit__learner_config *l, tacit__text *out);
/* Writes an action as in answers: its name, or its number. */
void tacit__action_names_write(const tacit__learner_config *l, uint32_t action, tacit__text *out);

#endif
