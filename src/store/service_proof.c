/* What belongs together in a vault stays together. See store/service_inside.h.
 *
 * A learner's counters and its ledger are no secret, so they are not sealed; but whoever can write to the file, a failing disk
 * included, must not raise the wall, hide what was released, or put an older state under newer counters without being noticed.
 * How many were accepted changes with every user and is not in the proof; `check` counts them. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/service_inside.h"

/* The rows of a query by a learner's id: every column as type, size and bytes. */
static tacit_status put_rows(tacit__vault *vault, size_t number, const char *sql, int64_t learner,
                             tacit__text *out, tacit_error *err)
{
    sqlite3_stmt *s;
    tacit_status status = tacit__db_prepare(&vault->db, number, sql, &s, err);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_bind_int64(s, 1, learner);
    for (bool more = true; more && status == TACIT_OK;) {
        status = tacit__db_next(&vault->db, s, &more, err);
        for (int i = 0; more && status == TACIT_OK && i < sqlite3_column_count(s); i++) {
            size_t size;
            const char *bytes = tacit__vault_blob(s, i, &size);
            tacit__text_print(out, "%d %zu ", sqlite3_column_type(s, i), size);
            tacit__text_add(out, bytes != NULL ? bytes : "", size);
        }
        tacit__text_put(out, more ? ";" : ".");
    }
    (void)sqlite3_reset(s);
    return status;
}

tacit_status tacit__vault_prove(tacit__vault *vault, int64_t learner, const uint8_t *sealed,
                                uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    tacit__text all = {0};
    tacit__text_add(&all, (const char *)sealed, TACIT__SEAL_BYTES); /* its authenticator is here */
    tacit_status status =
        put_rows(vault, SQL_PROVE,
                 "SELECT name, fingerprint, users_limit, users, refused, version, taken"
                 " FROM learner WHERE id=?",
                 learner, &all, err);
    if (status == TACIT_OK)
        status = put_rows(vault, SQL_PROVE_LINES,
                          "SELECT release, declared, passed FROM ledger WHERE learner=?"
                          " ORDER BY release",
                          learner, &all, err);
    if (status == TACIT_OK && all.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        tacit__keyed_hash(vault->key_proof, all.data, all.length, proof, TACIT__PROOF_BYTES);
    tacit__text_destroy(&all);
    return status;
}

tacit_status tacit__vault_open_state(tacit__vault *vault, int64_t learner, const void *sealed,
                                     size_t size, uint8_t **out, size_t *out_size, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES];
    if (!vault->keyed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: this needs the key", vault->db.path);
    if (size < TACIT__SEAL_BYTES + TACIT__PROOF_BYTES)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: something sealed is cut short",
                           vault->db.path);
    size -= TACIT__PROOF_BYTES;
    tacit_status status = tacit__vault_prove(vault, learner, sealed, proof, err);
    if (status == TACIT_OK &&
        !tacit__same_bytes(proof, (const uint8_t *)sealed + size, sizeof proof))
        status = tacit__fail(err, TACIT_CORRUPT,
                             "%.200s: the state, the counters and the ledger of a learner do not "
                             "belong together: something was changed",
                             vault->db.path);
    if (status == TACIT_OK)
        status =
            tacit__vault_open_sealed(vault, vault->key_state, sealed, size, out, out_size, err);
    return status;
}
