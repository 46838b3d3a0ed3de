/* The promise of a store, the row 'promise' of `meta`. See store/vault/vault_promise.h. */
#include "store/vault/vault_promise.h"

#include "base/error.h"
#include "store/vault/vault_inside.h"

tacit_status tacit__vault_find_promise(tacit__vault *vault, tacit__text *out, tacit_error *err)
{
    tacit__cursor *s;
    bool found = false;
    size_t size = 0;
    TRY(tacit__vault_prepare(vault, "SELECT value FROM meta WHERE name='promise'", &s, err));
    tacit_status status = tacit__cursor_next(s, &found, err);
    const char *bytes = status == TACIT_OK && found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    if (bytes != NULL)
        tacit__text_add(out, bytes, size);
    tacit__cursor_close(s);
    return status == TACIT_OK && out->failed ? tacit__fail_plain(err, TACIT_NO_MEMORY) : status;
}

tacit_status tacit__vault_save_promise(tacit__vault *vault, const void *bytes, size_t size,
                                       tacit_error *err)
{
    TACIT__REQUIRE(bytes != NULL && tacit__connection_in_transaction(vault->db));
    return tacit__vault_set_fact(vault, "promise", bytes, size, err);
}
