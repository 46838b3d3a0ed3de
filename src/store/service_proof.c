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

/* What is proved. The state is there by its tag. */
static tacit_status make_proof(tacit__vault *vault, int64_t learner,
                               uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    tacit__text all = {0};
    tacit_status status =
        put_rows(vault, SQL_PROVE,
                 "SELECT name, fingerprint, users_limit, users, refused, version, taken, shown,"
                 " edition, tag FROM learner WHERE id=?",
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

tacit_status tacit__vault_prove(tacit__vault *vault, int64_t learner, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES];
    tacit_status status = make_proof(vault, learner, proof, err);
    return status == TACIT_OK
               ? tacit__db_write(&vault->db, SQL_SET_PROOF, "UPDATE learner SET proof=? WHERE id=?",
                                 err, "bi", proof, sizeof proof, learner)
               : status;
}

tacit_status tacit__vault_check_proof(tacit__vault *vault, int64_t learner, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES];
    sqlite3_stmt *s;
    bool found;
    tacit_status status = make_proof(vault, learner, proof, err);
    if (status == TACIT_OK)
        status = tacit__db_prepare(&vault->db, SQL_PROOF, "SELECT proof FROM learner WHERE id=?",
                                   &s, err);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_bind_int64(s, 1, learner);
    status = tacit__db_next(&vault->db, s, &found, err);
    if (status != TACIT_OK)
        return status;
    size_t size = 0;
    const void *kept = found ? tacit__vault_blob(s, 0, &size) : NULL;
    if (size != sizeof proof || !tacit__same_bytes(proof, kept, size))
        status = tacit__fail(err, TACIT_CORRUPT,
                             "%.200s: the state, the counters and the ledger of a learner do not "
                             "belong together: something was changed",
                             vault->db.path);
    (void)sqlite3_reset(s);
    return status;
}
