/* Answers to requests that may be repeated, in memory, for a front end with a database, whose decisions do
 * not query the database. (A store in a file keeps them itself: tacit__vault_save_answer.) The oldest answers
 * are forgotten first. The functions may be called from any thread. */
#ifndef TACIT_SERVE_PEOPLE_REPLY_CACHE_H
#define TACIT_SERVE_PEOPLE_REPLY_CACHE_H

#include <stddef.h>

#include "store/vault/vault.h"

typedef struct tacit__reply_cache tacit__reply_cache;

/* The cache has at most `most` answers of `size` bytes each. */
TACIT_MUST_USE tacit_status tacit__reply_cache_create(uint64_t most, size_t size,
                                                      tacit__reply_cache **out, tacit_error *err);
void tacit__reply_cache_destroy(tacit__reply_cache *r);

/* Finds an answer as tacit__vault_find_answer does. */
tacit__vault_answer_match tacit__reply_cache_find(tacit__reply_cache *r,
                                                  const uint8_t name[TACIT__VAULT_KEY],
                                                  const uint8_t content[TACIT__VAULT_KEY],
                                                  int64_t opened, void *data);
/* Stores an answer if its name is NEW, and otherwise behaves like `find`. Without memory it is not stored. */
tacit__vault_answer_match tacit__reply_cache_add(tacit__reply_cache *r,
                                                 const uint8_t name[TACIT__VAULT_KEY],
                                                 const uint8_t content[TACIT__VAULT_KEY],
                                                 int64_t oldest, int64_t opened, void *data);

#endif
