/* Another master key for a store. See store/service_store.h.
 *
 * Everything that is sealed is sealed anew, by keys that are drawn for it, in one transaction with the
 * envelope that holds these keys under the new master key: whatever the moment of a crash, the store is
 * all under the old key or all under the new one. Keys of tickets, of requests' names and of people's
 * hashes stay (service_facts.c). */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/service_store_inside.h"

typedef struct change {
    uint8_t others[TACIT__VAULT_OWN_KEYS][TACIT__KEY_BYTES]; /* those that the vault has not now */
    uint8_t before[TACIT__KEY_BYTES], after[TACIT__KEY_BYTES]; /* of inputs */
    uint8_t proof_before[TACIT__KEY_BYTES], proof_after[TACIT__KEY_BYTES];
    bool damaged;
} change;

/* reseal(data): opened by the one key and sealed by the other. */
static void reseal(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    change *c = sqlite3_user_data(context);
    const size_t size = (size_t)sqlite3_value_bytes(values[0]);
    const void *sealed = sqlite3_value_blob(values[0]);
    uint8_t *plain = tacit__alloc(size + 1, 1), *out = tacit__alloc(size + 1, 1);
    if (plain == NULL || out == NULL) {
        sqlite3_result_error_nomem(context);
    } else if (size < TACIT__SEAL_BYTES || !tacit__unseal(c->before, sealed, size, plain)) {
        c->damaged = true;
        sqlite3_result_error(context, "something sealed was changed", -1);
    } else {
        tacit__seal(c->after, plain, size - TACIT__SEAL_BYTES, out);
        sqlite3_result_blob(context, out, (int)size, SQLITE_TRANSIENT);
    }
    tacit__free_secret(plain, size + 1);
    tacit__free(out);
}

static tacit_status reseal_rows(tacit__vault *vault, change *c, tacit_error *err)
{
    int code = sqlite3_create_function(vault->db.handle, "reseal", 1,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, c, reseal, NULL, NULL);
    if (code != SQLITE_OK)
        return tacit__db_fail(&vault->db, code, "write", err);
    tacit_status status = tacit__db_run(&vault->db,
                                        "UPDATE input SET data=reseal(data);"
                                        "UPDATE open SET data=reseal(data);"
                                        "UPDATE answer SET data=reseal(data);"
                                        "UPDATE decision SET data=reseal(data)",
                                        "write", err);
    (void)sqlite3_create_function(vault->db.handle, "reseal", 1, SQLITE_UTF8, NULL, NULL, NULL,
                                  NULL);
    return c->damaged ? tacit__fail(err, TACIT_CORRUPT, "%.200s: something sealed was changed",
                                    vault->db.path)
                      : status;
}

static tacit_status reseal_state(tacit__vault *vault, int64_t id, void *context, tacit_error *err)
{
    change *c = context;
    uint8_t *state = NULL;
    size_t size = 0;
    TRY(tacit__vault_open_state(vault, id, &state, &size, err));
    tacit__vault_swap_keys(vault, c->others);
    tacit_status status = tacit__vault_write_state(vault, id, state, size, err);
    tacit__vault_swap_keys(vault, c->others);
    tacit__free_secret(state, size);
    return status;
}

static tacit_status commit_keys(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    TRY(tacit__vault_seal_keys(vault, key, err));
    TRY(tacit__vault_set_fact(vault, "unmarked", "", 1, err)); /* the mark has a new key, too */
    TRY(tacit__vault_event(vault, err, "the store's key was changed"));
    return tacit__vault_commit(vault, err);
}

/* Leaves the vault with the new keys, if all goes well. */
static tacit_status change_all(tacit__vault *vault, change *c, const uint8_t *key, tacit_error *err)
{
    memcpy(c->before, vault->key_input, sizeof c->before);
    memcpy(c->proof_before, vault->key_proof, sizeof c->proof_before);
    tacit__vault_swap_keys(vault, c->others);
    memcpy(c->after, vault->key_input, sizeof c->after);
    memcpy(c->proof_after, vault->key_proof, sizeof c->proof_after);
    tacit__vault_swap_keys(vault, c->others);
    TRY(reseal_rows(vault, c, err));
    TRY(tacit__vault_retag(vault, c->proof_before, c->proof_after, err));
    TRY(tacit__vault_each_learner(vault, reseal_state, c, err));
    tacit__vault_swap_keys(vault, c->others);
    tacit_status status = commit_keys(vault, key, err);
    if (status != TACIT_OK)
        tacit__vault_swap_keys(vault, c->others);
    return status;
}

tacit_status tacit__vault_rekey(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    TACIT__REQUIRE(vault->use == TACIT__VAULT_SERVE && key != NULL);
    change c = {0};
    if (tacit__vault_standing(vault) != TACIT__STANDING_FINE)
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.150s: %s. Its key can change only while it may learn: adopt it first, or "
            "restore the original",
            vault->db.path, tacit__standing_reason(tacit__vault_standing(vault)));
    tacit__random_bytes(c.others, sizeof c.others);
    TRY(tacit__vault_begin(vault, err));
    tacit_status status = change_all(vault, &c, key, err);
    if (status != TACIT_OK)
        tacit__vault_undo(vault);
    tacit__wipe(&c, sizeof c);
    TRY(status);
    TRY(tacit__vault_read_facts(vault, NULL, err));
    TRY(tacit__vault_claim_ownership(vault, err));
    (void)tacit__vault_truncate_log(vault); /* nothing of the old seals is left in the log */
    return TACIT_OK;
}
