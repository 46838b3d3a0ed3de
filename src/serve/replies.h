/* Answers to requests that may be repeated, in memory, for a front end with a database, whose decisions do
 * not query the database. (A store in a file keeps them itself: tacit__vault_save_answer.) The oldest answers
 * are forgotten first. The functions may be called from any thread. */
#ifndef TACIT_SERVE_REPLIES_H
#define TACIT_SERVE_REPLIES_H

#include <stddef.h>

#include "store/service_store.h"

typedef struct tacit__replies tacit__replies;

/* At most so many, of `size` bytes each. */
TACIT_MUST_USE tacit_status tacit__replies_create(uint64_t most, size_t size, tacit__replies **out,
                                                  tacit_error *err);
void tacit__replies_destroy(tacit__replies *replies);

/* As tacit__vault_find_answer. */
tacit__vault_answer_match tacit__replies_find(tacit__replies *replies,
                                              const uint8_t name[TACIT__VAULT_KEY],
                                              const uint8_t content[TACIT__VAULT_KEY],
                                              int64_t opened, void *data);
/* Keeps it if the name is NEW; else as `find`. Without memory it is not kept. */
tacit__vault_answer_match tacit__replies_add(tacit__replies *replies,
                                             const uint8_t name[TACIT__VAULT_KEY],
                                             const uint8_t content[TACIT__VAULT_KEY],
                                             int64_t oldest, int64_t opened, void *data);

#endif
