/* What a learner writes while it learns: what it shows, and checkpoints. See store/vault/vault.h, and
 * docs/why/service.md for why this order of transactions keeps the promise. */
#include "base/error.h"
#include "store/vault/vault_inside.h"

static tacit_status write_shown(tacit__vault *vault, const tacit__vault_learner *learner,
                                const tacit__vault_ledger_line *lines, size_t n_lines,
                                tacit_error *err)
{
    TACIT__REQUIRE(learner->id > 0 && (n_lines == 0 || lines != NULL));
    tacit_status status = tacit__connection_write(
        vault->db, SQL_SAVE_SHOWN, "UPDATE learner SET version=?, shown=? WHERE id=?", err, "iii",
        (int64_t)learner->version, (int64_t)learner->shown, learner->id);
    for (size_t i = 0; i < n_lines && status == TACIT_OK; i++) {
        TACIT__REQUIRE(lines[i].passed <= lines[i].declared);
        status = tacit__connection_write(
            vault->db, SQL_SAVE_LINE,
            "INSERT INTO ledger VALUES(?,?,?,?) ON CONFLICT(learner, release)"
            " DO UPDATE SET"
            " passed=excluded.passed",
            err, "itii", learner->id, lines[i].release, (int64_t)lines[i].declared,
            (int64_t)lines[i].passed);
    }
    return status;
}

static tacit_status write_counters(tacit__vault *vault, const tacit__vault_learner *learner,
                                   tacit_error *err)
{
    TACIT__REQUIRE(learner->id > 0);
    return tacit__connection_write(vault->db, SQL_SAVE_COUNTERS,
                                   "UPDATE learner SET users=?, refused=?, taken=? WHERE id=?", err,
                                   "iiii", (int64_t)learner->users, (int64_t)learner->refused,
                                   learner->taken, learner->id);
}

tacit_status tacit__vault_save_shown(tacit__vault *vault, const tacit__vault_learner *learner,
                                     const tacit__vault_ledger_line *lines, size_t n_lines,
                                     tacit_error *err)
{
    TRY(write_shown(vault, learner, lines, n_lines, err));
    return tacit__vault_prove(vault, learner->id, err);
}

tacit_status tacit__vault_checkpoint(tacit__vault *vault, const tacit__vault_learner *learner,
                                     const tacit__edition *e, tacit_error *err)
{
    TACIT__REQUIRE(e->parts > 0);
    TRY(write_counters(vault, learner, err));
    TRY(tacit__vault_flip_state(vault, learner->id, e, err));
    return tacit__vault_prove(vault, learner->id, err);
}

/* The row says which inputs are in the state, so no caller can delete more. Without `after`, PostgreSQL would
 * scan everything that was deleted since its last VACUUM. */
tacit_status tacit__vault_delete_inputs(tacit__vault *vault, int64_t learner, int64_t after,
                                        uint64_t most, bool *more, tacit_error *err)
{
    TACIT__REQUIRE(after >= 0 && most > 0);
    tacit_status status = tacit__connection_write(
        vault->db, SQL_DELETE_INPUTS,
        "DELETE FROM input WHERE learner=?1 AND number>?2 AND number<=(SELECT max(number) FROM"
        " (SELECT number FROM input WHERE learner=?1 AND number>?2 AND number<=(SELECT taken FROM"
        " learner WHERE id=?1) ORDER BY number LIMIT ?3) AS first)",
        err, "iii", learner, after, (int64_t)most);
    uint64_t n = 0;
    if (status == TACIT_OK)
        status = tacit__connection_changes(vault->db, &n, err);
    *more = n == most;
    return status;
}

tacit_status tacit__vault_save_learner(tacit__vault *vault, const tacit__vault_learner *learner,
                                       const uint8_t *state, size_t state_size,
                                       const tacit__vault_ledger_line *lines, size_t n_lines,
                                       tacit_error *err)
{
    tacit__vault_learner shown = *learner;
    bool more;
    shown.shown = learner->users;
    TRY(write_shown(vault, &shown, lines, n_lines, err));
    TRY(write_counters(vault, learner, err));
    TRY(tacit__vault_write_state(vault, learner->id, state, state_size, err));
    return tacit__vault_delete_inputs(vault, learner->id, learner->dropped, INT64_MAX, &more, err);
}
