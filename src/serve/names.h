/* What the numbers of a learner are called: its actions, and the columns that its features are made of, in
 * the grammar and with the encoding of the world logged-bandit (worlds/columns.h). All of it is declared,
 * and public. */
#ifndef TACIT_SERVE_NAMES_H
#define TACIT_SERVE_NAMES_H

#include "base/text.h"
#include "noise/stream.h"
#include "serve/config.h"

/* `actions: 3`, or `actions: [low, medium, high]`, of a space. */
TACIT_MUST_USE tacit_status tacit__names_read_actions(tacit__yaml *yaml, const tacit__node *space,
                                                      tacit__learner_config *out, tacit_error *err);
/* `context: 'age 17..90, country {DE | FR}'` with `intercept` and `unit`: how many features there are, and
 * that every action learns its own parameters for them. Nothing if `context` is a number, or not there. */
TACIT_MUST_USE tacit_status tacit__names_read_context(const tacit__yaml *yaml,
                                                      const tacit__node *space,
                                                      tacit__learner_config *out, tacit_error *err);
void tacit__names_free(tacit__learner_config *l);

/* A digest of all names, in their order: with others, the same numbers mean something else. Returns its
 * size; 0: nothing has a name. */
size_t tacit__names_digest(const tacit__learner_config *l, uint8_t out[TACIT__KEY_BYTES]);

/* ,"action_names":[...],"columns":[{"name":...},...],"intercept":...,"unit":...; what is not declared is
 * left out. */
void tacit__names_describe(const tacit__learner_config *l, tacit__text *out);
/* An action as answers have it: its name, or its number. */
void tacit__names_write_action(const tacit__learner_config *l, uint32_t action, tacit__text *out);

#endif
