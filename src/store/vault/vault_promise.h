/* What people who came to a store were promised, as the vault keeps it. */
#ifndef TACIT_STORE_VAULT_VAULT_PROMISE_H
#define TACIT_STORE_VAULT_VAULT_PROMISE_H

#include "base/text.h"
#include "store/vault/vault.h"

/* The bytes that serve/people/pledge.c writes; nothing is added if nothing is kept. They are saved in the
 * transaction that is under way, and covered by the proof of the whole store. */
TACIT_MUST_USE tacit_status tacit__vault_find_promise(tacit__vault *vault, tacit__text *out,
                                                      tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_save_promise(tacit__vault *vault, const void *bytes,
                                                      size_t size, tacit_error *err);

#endif
