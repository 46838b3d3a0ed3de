/* Replaces the master key of a store. See store/vault/vault.h.
 *
 * All sealed data are sealed again with new data keys. The same transaction writes the envelope with these
 * keys under the new master key. So whenever a crash happens, the whole store is under the old key or under
 * the new one. The keys of tickets, of the names of requests and of the hashes of people stay
 * (vault_facts.c). */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

typedef struct change {
    uint8_t others[TACIT__VAULT_OWN_KEYS][TACIT__KEY_BYTES]; /* those that the vault has not now */
    uint8_t before[TACIT__KEY_BYTES], after[TACIT__KEY_BYTES]; /* of inputs */
    uint8_t proof_before[TACIT__KEY_BYTES], proof_after[TACIT__KEY_BYTES];
} change;

/* Opens data with the old key and seals them with the new one. */
static tacit_status reseal(const tacit__vault *vault, const change *c, const void *sealed,
                           size_t size, uint8_t **out, tacit_error *err)
{
    size_t n = 0;
    uint8_t *plain = NULL;
    TRY(tacit__vault_open_sealed(vault, c->before, sealed, size, &plain, &n, err));
    *out = tacit__alloc(size, 1);
    if (*out != NULL)
        tacit__seal(c->after, plain, n, *out);
    tacit__free_secret(plain, n);
    return *out != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

/* A table with something sealed in it: rows are a number, a name (either may be none of the key), the
 * data. */
typedef struct sealed_table {
    const char *rows, *update;
    int number;
    bool by_number, by_name;
    const change *change;
} sealed_table;

static tacit_status reseal_row(tacit__vault *vault, tacit__cursor *row, void *context,
                               tacit_error *err)
{
    const sealed_table *t = context;
    size_t size, name_size;
    const void *data = tacit__cursor_bytes(row, 2, &size);
    const void *name = tacit__cursor_bytes(row, 1, &name_size);
    uint8_t *out = NULL;
    TRY(reseal(vault, t->change, data, size, &out, err));
    tacit_status status =
        t->by_number && t->by_name
            ? tacit__connection_write(vault->db, t->number, t->update, err, "bib", out, size,
                                      tacit__cursor_int(row, 0), name, name_size)
        : t->by_number ? tacit__connection_write(vault->db, t->number, t->update, err, "bi", out,
                                                 size, tacit__cursor_int(row, 0))
                       : tacit__connection_write(vault->db, t->number, t->update, err, "bb", out,
                                                 size, name, name_size);
    tacit__free(out);
    return status;
}

static tacit_status reseal_rows(tacit__vault *vault, const change *c, tacit_error *err)
{
    sealed_table tables[] = {
        {"SELECT learner, key, data FROM open WHERE (learner, key) > (?1, ?2)"
         " ORDER BY learner, key LIMIT ?3",
         "UPDATE open SET data=? WHERE learner=? AND key=?", SQL_RESEAL_OPEN, true, true, c},
        {"SELECT ?1, name, data FROM answer WHERE name > ?2 ORDER BY name LIMIT ?3",
         "UPDATE answer SET data=? WHERE name=?", SQL_RESEAL_ANSWER, false, true, c},
        {"SELECT number, NULL, data FROM decision WHERE number > ?1 AND ?2 IS NOT NULL"
         " ORDER BY number LIMIT ?3",
         "UPDATE decision SET data=? WHERE number=?", SQL_RESEAL_DECISION, true, false, c}};
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == TACIT_OK; i++)
        status = tacit__vault_scan(
            vault, &(tacit__paged_scan){tables[i].rows, .number = INT64_MIN, .writes = true},
            reseal_row, &tables[i], err);
    return status;
}

typedef struct learner_change {
    const change *change;
    int64_t learner;
} learner_change;

static tacit_status reseal_input(tacit__vault *vault, tacit__cursor *row, void *context,
                                 tacit_error *err)
{
    const learner_change *c = context;
    size_t size;
    const void *data = tacit__cursor_bytes(row, 2, &size);
    uint8_t *out = NULL;
    TRY(reseal(vault, c->change, data, size, &out, err));
    tacit_status status = tacit__connection_write(
        vault->db, SQL_RESEAL_INPUT, "UPDATE input SET data=? WHERE learner=? AND number=?", err,
        "bii", out, size, c->learner, tacit__cursor_int(row, 0));
    tacit__free(out);
    return status;
}

static tacit_status reseal_inputs(tacit__vault *vault, int64_t id, void *context, tacit_error *err)
{
    char sql[200];
    learner_change c = {context, id};
    (void)snprintf(sql, sizeof sql,
                   "SELECT number, NULL, data FROM input WHERE learner=%lld AND number > ?1 AND ?2"
                   " IS NOT NULL ORDER BY number LIMIT ?3",
                   (long long)id);
    return tacit__vault_scan(vault, &(tacit__paged_scan){sql, .number = INT64_MIN, .writes = true},
                             reseal_input, &c, err);
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
    if (!vault->backend->shared) /* the mark has a new key, too; front ends have one each */
        TRY(tacit__vault_set_fact(vault, "unmarked", "", 1, err));
    TRY(tacit__vault_add_event(vault, err, "the store's key was changed"));
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
    TRY(tacit__vault_each_learner(vault, reseal_inputs, c, err));
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
    if (tacit__vault_store_status(vault) != TACIT__STORE_FINE)
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.150s: %s. Its key can change only while it may learn: adopt it first, or "
            "restore the original",
            vault->path, tacit__store_status_reason(tacit__vault_store_status(vault)));
    tacit__random_bytes(c.others, sizeof c.others);
    TRY(tacit__vault_begin(vault, err));
    tacit_status status = change_all(vault, &c, key, err);
    if (status != TACIT_OK)
        tacit__vault_undo(vault);
    tacit__wipe(&c, sizeof c);
    TRY(status);
    TRY(tacit__vault_read_facts(vault, NULL, err));
    if (vault->backend->shared)
        return TACIT_OK; /* those that have the old key find it out, and end */
    TRY(tacit__vault_claim_ownership(vault, err));
    (void)tacit__vault_truncate_log(vault); /* nothing of the old seals is left in the log */
    return TACIT_OK;
}
