/* From one format of the store to the next. See store/service_store_inside.h.
 *
 * Before anything changes, a copy of the old store is written beside it, STORE.formatN, readable only by its
 * owner and marked as a copy. Then all steps are one transaction: whenever a crash happens, the file is
 * complete and has the old format or the new one. The proofs of the old format are checked first. A new
 * format adds its step to the table below. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/service_store_inside.h"

/* --- 4 to 5 ------------------------------------------------------------------------------------- States
 * were one sealed blob in the learner's row, with the proof of the row after it; `accepted` was not
 * proved. The data keys were derived from the master key: they stay, so that tickets and hashes that are
 * in other hands remain valid. */

static tacit_status fail_state(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.200s: the state, the counters and the ledger of a learner do not "
                       "belong together: something was changed",
                       vault->path);
}

static tacit_status append_query(tacit__vault *vault, const char *sql, int64_t learner,
                                 tacit__text *out, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__vault_prepare(vault, sql, &s, err));
    tacit_status status = tacit__vault_append_rows(s, learner, out, err);
    tacit__cursor_close(s);
    return status;
}

/* A proof of a format before: of what `all` begins with, of the learner's row as that format read
 * it, and of the releases. Destroys `all`. */
static tacit_status prove_row(tacit__vault *vault, int64_t learner, const char *row,
                              tacit__text *all, uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    tacit_status status = append_query(vault, row, learner, all, err);
    if (status == TACIT_OK)
        status = append_query(vault,
                              "SELECT release, declared, passed FROM ledger WHERE learner=?"
                              " ORDER BY release",
                              learner, all, err);
    if (status == TACIT_OK && all->failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK)
        tacit__keyed_hash(vault->key_proof, all->data, all->length, proof, TACIT__PROOF_BYTES);
    tacit__text_destroy(all);
    return status;
}

/* The proof of format 4, from the head of the sealed state on. */
static tacit_status prove_as_4(tacit__vault *vault, int64_t learner, const uint8_t *sealed,
                               uint8_t proof[TACIT__PROOF_BYTES], tacit_error *err)
{
    tacit__text all = {0};
    tacit__text_add(&all, (const char *)sealed, TACIT__SEAL_BYTES);
    return prove_row(vault, learner,
                     "SELECT name, fingerprint, users_limit, users, refused, version, taken"
                     " FROM learner_4 WHERE id=?",
                     &all, proof, err);
}

static tacit_status migrate_state_from_4(tacit__vault *vault, int64_t id, const uint8_t *sealed,
                                         size_t size, tacit_error *err)
{
    uint8_t proof[TACIT__PROOF_BYTES], *state = NULL;
    size_t n = 0;
    if (size < TACIT__SEAL_BYTES + TACIT__PROOF_BYTES)
        return fail_state(vault, err);
    size -= TACIT__PROOF_BYTES;
    TRY(prove_as_4(vault, id, sealed, proof, err));
    if (!tacit__same_bytes(proof, sealed + size, sizeof proof))
        return fail_state(vault, err);
    TRY(tacit__vault_open_sealed(vault, vault->key_state, sealed, size, &state, &n, err));
    const tacit_status status = tacit__vault_write_state(vault, id, state, n, err);
    tacit__free_secret(state, n);
    return status;
}

static tacit_status migrate_learner_from_4(tacit__vault *vault, int64_t id, void *context,
                                           tacit_error *err)
{
    tacit__cursor *s;
    (void)context;
    TRY(tacit__vault_prepare(vault, "SELECT state FROM learner_4 WHERE id=?", &s, err));
    tacit__cursor_bind_int(s, 1, id);
    bool found;
    size_t size = 0;
    tacit_status status = tacit__cursor_next(s, &found, err);
    const uint8_t *sealed = found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    if (status == TACIT_OK)
        status = migrate_state_from_4(vault, id, sealed, size, err);
    tacit__cursor_close(s);
    return status;
}

static tacit_status migrate_4_to_5(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    TRY(tacit__connection_run(vault->db,
                              "ALTER TABLE learner RENAME TO learner_4;"
                              "ALTER TABLE history RENAME TO history_4;"
                              "ALTER TABLE token RENAME TO token_4",
                              "write", err));
    TRY(tacit__vault_create_tables(vault, err));
    TRY(tacit__connection_run(
        vault->db,
        "INSERT INTO learner(id, name, fingerprint, users_limit, accepted, users, refused,"
        " version, taken, shown, edition) SELECT id, name, fingerprint, users_limit, accepted,"
        " users, refused, version, taken, users, 0 FROM learner_4;"
        "INSERT INTO history SELECT learner, users, at, version, reward, NULL FROM history_4;"
        "INSERT INTO token(id, name, hash, scopes, created, revoked, expires, users_per_day)"
        " SELECT id, name, hash, scopes, created, revoked, 0, 0 FROM token_4",
        "write", err));
    TRY(tacit__vault_each_learner(vault, migrate_learner_from_4, NULL, err));
    TRY(tacit__connection_run(
        vault->db,
        "DROP TABLE learner_4; DROP TABLE history_4; DROP TABLE token_4;"
        /* an answer is found by a name that has the token in it now: none of these ever would be */
        "DELETE FROM answer",
        "write", err));
    return tacit__vault_begin_facts(vault, key, err);
}

/* --- 5 to 6 ------------------------------------------------------------------------------------- */

/* Each person was learned from once: nobody was counted, and learners had no `visits`. */

/* The proof in a learner's row is that of these columns. */
static tacit_status compare_row(tacit__vault *vault, int64_t learner, const char *columns,
                                tacit_error *err)
{
    tacit__text all = {0};
    uint8_t proof[TACIT__PROOF_BYTES];
    tacit__cursor *s;
    bool found;
    TRY(prove_row(vault, learner, columns, &all, proof, err));
    TRY(tacit__vault_prepare(vault, "SELECT proof FROM learner WHERE id=?", &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    size_t size = 0;
    tacit_status status = tacit__cursor_next(s, &found, err);
    const void *kept = found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    if (status == TACIT_OK && (size != sizeof proof || !tacit__same_bytes(proof, kept, size)))
        status = fail_state(vault, err);
    tacit__cursor_close(s);
    return status;
}

static tacit_status prove_as_5(tacit__vault *vault, int64_t learner, void *context,
                               tacit_error *err)
{
    (void)context;
    return compare_row(vault, learner,
                       "SELECT name, fingerprint, users_limit, accepted, users, refused, version,"
                       " taken, shown, edition, tag FROM learner WHERE id=?",
                       err);
}

/* A store that came in this format is what was proved in it. */
static tacit_status check_5(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__vault_each_learner(vault, prove_as_5, NULL, err));
    return tacit__vault_check_facts(vault, err);
}

static tacit_status prove_again(tacit__vault *vault, int64_t learner, void *context,
                                tacit_error *err)
{
    (void)context;
    return tacit__vault_prove(vault, learner, err);
}

static tacit_status migrate_5_to_6(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    (void)key;
    TRY(tacit__connection_run(vault->db,
                              "ALTER TABLE learner RENAME TO learner_5;"
                              "ALTER TABLE person RENAME TO person_5;"
                              "DROP INDEX IF EXISTS person_by_key",
                              "write", err));
    TRY(tacit__vault_create_tables(vault, err));
    TRY(tacit__connection_run(
        vault->db,
        "INSERT INTO learner SELECT id, name, fingerprint, users_limit, accepted, users, refused,"
        " version, taken, shown, edition, tag, proof, 1, 1, 0, 0 FROM learner_5;"
        "INSERT INTO person(learner, hash, key) SELECT learner, hash, key FROM person_5;"
        "DROP TABLE learner_5; DROP TABLE person_5",
        "write", err));
    return tacit__vault_each_learner(vault, prove_again, NULL, err);
}

/* --- 6 to 7 ------------------------------------------------------------------------------------- */

/* Inputs were numbered for all learners together, and what was sealed of one did not say where it stands.
 * Learners had no epoch. */

static tacit_status prove_as_6(tacit__vault *vault, int64_t learner, void *context,
                               tacit_error *err)
{
    (void)context;
    return compare_row(vault, learner,
                       "SELECT name, fingerprint, users_limit, accepted, users, refused, version,"
                       " taken, shown, edition, tag, visits, apart, named FROM learner WHERE id=?",
                       err);
}

static tacit_status check_6(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__vault_each_learner(vault, prove_as_6, NULL, err));
    return tacit__vault_check_facts(vault, err);
}

/* The name that an input came under was sealed after its data. */
static tacit_status migrate_input(tacit__vault *vault, int64_t learner, int64_t number,
                                  const void *sealed, size_t size, tacit_error *err)
{
    uint8_t *data = NULL;
    size_t n = 0;
    TRY(tacit__vault_open_sealed(vault, vault->key_input, sealed, size, &data, &n, err));
    tacit_status status =
        n > TACIT__VAULT_KEY
            ? tacit__vault_put_input(vault, learner, number, data + n - TACIT__VAULT_KEY, data,
                                     n - TACIT__VAULT_KEY, err)
            : tacit__fail(err, TACIT_CORRUPT, "%.200s: an input is damaged", vault->path);
    tacit__free_secret(data, n);
    return status;
}

/* The inputs that wait follow those that the learner has had. */
static tacit_status migrate_inputs(tacit__vault *vault, int64_t learner, void *context,
                                   tacit_error *err)
{
    tacit__cursor *s;
    bool more = true;
    int64_t taken = 0, number = 0;
    char sql[160];
    (void)context;
    (void)snprintf(sql, sizeof sql, "SELECT taken FROM learner WHERE id=%lld", (long long)learner);
    TRY(tacit__vault_number(vault, sql, &taken, err));
    (void)snprintf(sql, sizeof sql, "SELECT users + refused FROM learner WHERE id=%lld",
                   (long long)learner);
    TRY(tacit__vault_number(vault, sql, &number, err));
    TRY(tacit__vault_prepare(
        vault, "SELECT data FROM input_6 WHERE learner=? AND number>? ORDER BY number", &s, err));
    tacit_status status = TACIT_OK;
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_int(s, 2, taken);
    while (status == TACIT_OK && (status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more) {
        size_t size;
        const void *sealed = tacit__cursor_bytes(s, 0, &size);
        status = migrate_input(vault, learner, ++number, sealed, size, err);
    }
    tacit__cursor_close(s);
    return status;
}

static tacit_status migrate_6_to_7(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    (void)key;
    int64_t present = 0;
    /* a store that came in format 5 or before has the table of learners already */
    TRY(tacit__vault_number(vault,
                            "SELECT count(*) FROM pragma_table_info('learner') WHERE name='epoch'",
                            &present, err));
    if (present == 0)
        TRY(tacit__connection_run(vault->db, "ALTER TABLE learner RENAME TO learner_6", "write",
                                  err));
    TRY(tacit__connection_run(vault->db,
                              "DROP INDEX IF EXISTS input_by_learner;"
                              "ALTER TABLE input RENAME TO input_6",
                              "write", err));
    TRY(tacit__vault_create_tables(vault, err));
    TRY(tacit__vault_number(vault, "SELECT count(*) FROM sqlite_master WHERE name='learner_6'",
                            &present, err));
    if (present != 0)
        TRY(tacit__connection_run(vault->db,
                                  "INSERT INTO learner SELECT *, 0 FROM learner_6;"
                                  "DROP TABLE learner_6",
                                  "write", err));
    TRY(tacit__vault_each_learner(vault, migrate_inputs, NULL, err));
    TRY(tacit__connection_run(
        vault->db, "UPDATE learner SET taken=users+refused; DROP TABLE input_6", "write", err));
    return tacit__vault_each_learner(vault, prove_again, NULL, err);
}

/* --- All steps ----------------------------------------------------------------------------------- */

enum { FIRST_PROVED = 5 }; /* the format whose facts have a proof of their own */

static const struct {
    int64_t from; /* to the next one */
    tacit_status (*migrate)(tacit__vault *vault, const uint8_t *key, tacit_error *err);
    tacit_status (*check)(tacit__vault *vault, tacit_error *err); /* of a store in this format */
} steps[] = {{4, migrate_4_to_5, NULL}, {5, migrate_5_to_6, check_5}, {6, migrate_6_to_7, check_6}};

static tacit_status run_steps(tacit__vault *vault, int64_t format, const uint8_t *key,
                              tacit_error *err)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].from >= format)
            TRY(steps[i].migrate(vault, key, err));
    TRY(tacit__vault_set_format(vault, err));
    TRY(tacit__vault_event(vault, err, "converted from format %d to %d", (int)format,
                           TACIT__VAULT_FORMAT));
    return tacit__vault_prove_all(vault, err);
}

tacit_status tacit__vault_migrate(tacit__vault *vault, int64_t format, const uint8_t *key,
                                  tacit_error *err)
{
    TACIT__REQUIRE(key != NULL);
    char path[TACIT__DB_PATH + 32];
    if (format < steps[0].from || format > TACIT__VAULT_FORMAT)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "%.200s: the store has format %d, expected %d, or %d and later, which "
                           "can be migrated; another version of tacit made it",
                           vault->path, (int)format, TACIT__VAULT_FORMAT, (int)steps[0].from);
    tacit__vault_derive_keys(vault, key); /* until the store has its own */
    (void)snprintf(path, sizeof path, "%s.format%d", vault->path, (int)format);
    TRY(tacit__vault_read_facts(vault, key, err));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].from == format && steps[i].check != NULL)
            TRY(steps[i].check(vault, err));
    TRY(tacit__vault_copy(vault, path, format >= FIRST_PROVED, err));
    TRY(tacit__connection_run(vault->db, "BEGIN IMMEDIATE", "write", err));
    tacit_status status = run_steps(vault, format, key, err);
    if (status == TACIT_OK)
        status = tacit__connection_run(vault->db, "COMMIT", "write", err);
    if (status != TACIT_OK)
        tacit__vault_undo(vault);
    return status;
}

int64_t tacit__vault_previous_format(const tacit__vault *vault, int64_t *present)
{
    *present = TACIT__VAULT_FORMAT;
    return vault->came_from;
}
