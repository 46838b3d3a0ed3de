/* The promise to the people of a store, as the vault keeps it. */
#ifndef TACIT_STORE_VAULT_VAULT_PROMISE_H
#define TACIT_STORE_VAULT_VAULT_PROMISE_H

#include "store/vault/vault.h"
#include "text/text.h"

/* The bytes are those of serve/people/pledge.c; `find` adds nothing to `out` if there are none. They are
 * saved in the current transaction, and the proof of the whole store covers them. */
TACIT_MUST_USE tacit_status tacit__vault_find_promise(tacit__vault *vault, tacit__text *out,
                                                      tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_save_promise(tacit__vault *vault, const void *bytes,
                                                      size_t size, tacit_error *err);

#endif
