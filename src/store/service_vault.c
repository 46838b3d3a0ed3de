/* Opening a vault, and its learners. See store/service.h.
 *
 * Write-ahead logging with synchronous = FULL: a commit returns when the log is on disk. secure_delete overwrites what is
 * deleted. The lock is flock() on a file beside the vault: it ends with the process, however that ends. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/service_inside.h"

enum { FORMAT = 5, APPLICATION = 0x74616374, BUSY_MS = 5000 };

static const char schema[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
    "CREATE TABLE learner(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, fingerprint BLOB,"
    " users_limit INTEGER, accepted INTEGER, users INTEGER, refused INTEGER, version INTEGER,"
    " taken INTEGER, shown INTEGER, edition INTEGER, tag BLOB, proof BLOB);"
    "CREATE TABLE state(learner INTEGER, edition INTEGER, part INTEGER, data BLOB,"
    " PRIMARY KEY(learner, edition, part));"
    "CREATE TABLE open(learner INTEGER, key BLOB, opened INTEGER, data BLOB,"
    " PRIMARY KEY(learner, key)) WITHOUT ROWID;"
    "CREATE INDEX open_by_age ON open(opened);"
    "CREATE TABLE input(number INTEGER PRIMARY KEY AUTOINCREMENT, learner INTEGER, data BLOB);"
    "CREATE INDEX input_by_learner ON input(learner, number);"
    "CREATE TABLE seen(learner INTEGER, key BLOB, content BLOB, PRIMARY KEY(learner, key))"
    " WITHOUT ROWID;"
    "CREATE INDEX seen_by_content ON seen(learner, content) WHERE content IS NOT NULL;"
    "CREATE TABLE answer(name BLOB PRIMARY KEY, opened INTEGER, content BLOB, data BLOB)"
    " WITHOUT ROWID;"
    "CREATE INDEX answer_by_age ON answer(opened);"
    "CREATE TABLE person(learner INTEGER, hash BLOB, key BLOB, PRIMARY KEY(learner, hash))"
    " WITHOUT ROWID;"
    "CREATE TABLE ledger(learner INTEGER, release TEXT, declared INTEGER, passed INTEGER,"
    " PRIMARY KEY(learner, release)) WITHOUT ROWID;"
    "CREATE TABLE history(learner INTEGER, users INTEGER, at INTEGER, version INTEGER, reward REAL,"
    " error REAL, PRIMARY KEY(learner, users)) WITHOUT ROWID;"
    "CREATE TABLE token(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, hash BLOB,"
    " scopes INTEGER, created INTEGER, revoked INTEGER, expires INTEGER, users_per_day INTEGER,"
    " learner TEXT);"
    "CREATE TABLE quota(token INTEGER PRIMARY KEY, day INTEGER, used INTEGER);"
    "CREATE TABLE event(number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, what TEXT);"
    "CREATE TABLE adoption(number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, learner INTEGER,"
    " users INTEGER, lives INTEGER);"
    "CREATE TABLE decision(number INTEGER PRIMARY KEY AUTOINCREMENT, learner INTEGER, data BLOB);";

/* --- Small things ------------------------------------------------------------------------------ */

const void *tacit__vault_blob(sqlite3_stmt *statement, int column, size_t *size)
{
    const void *data = sqlite3_column_blob(statement, column);
    *size = (size_t)sqlite3_column_bytes(statement, column);
    return data;
}

tacit_status tacit__vault_open_sealed(const tacit__vault *vault, const uint8_t *key,
                                      const void *sealed, size_t size, uint8_t **out,
                                      size_t *out_size, tacit_error *err)
{
    if (!vault->keyed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: this needs the key", vault->db.path);
    if (size < TACIT__SEAL_BYTES)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: something sealed is cut short",
                           vault->db.path);
    uint8_t *data = tacit__alloc(size - TACIT__SEAL_BYTES, 1);
    if (data == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (!tacit__unseal(key, sealed, size, data)) {
        tacit__free(data);
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: something sealed was changed",
                           vault->db.path);
    }
    *out = data;
    *out_size = size - TACIT__SEAL_BYTES;
    return TACIT_OK;
}

tacit_status tacit__vault_number(tacit__vault *vault, const char *sql, int64_t *out,
                                 tacit_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(vault->db.handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW ? TACIT_OK : tacit__db_fail(&vault->db, code, "read", err);
}

/* --- Opening ----------------------------------------------------------------------------------- */

/* The lock file is empty until the store has been made, and never again: it is the witness of a store that is gone or was emptied.
 * A new one in its place would let everybody take part once more. A crash before the mark is a first start that did not happen. */
static tacit_status take_lock(tacit__vault *vault, tacit_error *err)
{
    char path[TACIT__DB_PATH + 8];
    int n = snprintf(path, sizeof path, "%s.lock", vault->db.path);
    if (n < 0 || (size_t)n >= sizeof path)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the store's path is too long");
    vault->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat entry;
    if (vault->lock < 0 || fstat(vault->lock, &entry) != 0)
        return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot be locked: %s", path,
                           strerror(errno));
    if (flock(vault->lock, LOCK_EX | LOCK_NB) != 0)
        return tacit__fail(
            err, TACIT_SYSTEM,
            "%.200s: another server is running on this store; stop it first, or give "
            "this one another store",
            vault->db.path);
    vault->made = entry.st_size > 0;
    bool there = stat(vault->db.path, &entry) == 0;
    if (!vault->made || (there && entry.st_size > 0))
        return TACIT_OK;
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.150s: the store is %s: who took part, and what was spent, is written "
                       "nowhere else. Put it back, or begin with another store; only if nobody "
                       "has ever taken part, remove %.150s",
                       vault->db.path, there ? "empty" : "gone", path);
}

static tacit_status mark_made(tacit__vault *vault, tacit_error *err)
{
    static const char mark[] = "made\n";
    if (vault->made)
        return TACIT_OK;
    if (pwrite(vault->lock, mark, sizeof mark - 1, 0) != sizeof mark - 1 || fsync(vault->lock) != 0)
        return tacit__fail(err, TACIT_SYSTEM, "%.200s.lock: cannot be written: %s", vault->db.path,
                           strerror(errno));
    vault->made = true;
    return TACIT_OK;
}

static void derive_keys(tacit__vault *vault, const uint8_t *key)
{
    tacit__key_derive(key, "tacit vault: states", vault->key_state);
    tacit__key_derive(key, "tacit vault: inputs", vault->key_input);
    tacit__key_derive(key, "tacit vault: proofs", vault->key_proof);
    vault->keyed = true;
}

static tacit_status create_tables(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    char numbers[96];
    uint8_t check[TACIT__KEY_BYTES];
    (void)snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   APPLICATION, FORMAT);
    tacit_status status = tacit__db_run(&vault->db, "BEGIN IMMEDIATE", "create", err);
    if (status == TACIT_OK)
        status = tacit__db_run(&vault->db, schema, "create", err);
    if (status == TACIT_OK)
        status = tacit__db_run(&vault->db, numbers, "create", err);
    tacit__key_derive(key, "tacit vault: check", check);
    if (status == TACIT_OK) /* this statement is compiled for something else later */
        status = tacit__db_write(&vault->db, SQL_NEXT, "INSERT INTO meta VALUES('check', ?)", err,
                                 "b", check, sizeof check);
    (void)sqlite3_finalize(vault->db.statements[SQL_NEXT]);
    vault->db.statements[SQL_NEXT] = NULL;
    if (status == TACIT_OK)
        status = tacit__db_run(&vault->db, "COMMIT", "create", err);
    return status;
}

static tacit_status check_meta(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(vault->db.handle, "SELECT name, value FROM meta", -1, &statement, NULL);
    tacit_status status = TACIT_OK;
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        if (code != SQLITE_ROW)
            break;
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        size_t size;
        const void *value = tacit__vault_blob(statement, 1, &size);
        if (name != NULL && strcmp(name, "copy") == 0)
            vault->copy = true;
        uint8_t check[TACIT__KEY_BYTES];
        if (key == NULL || name == NULL || strcmp(name, "check") != 0)
            continue;
        tacit__key_derive(key, "tacit vault: check", check);
        if (size != sizeof check || !tacit__same_bytes(value, check, sizeof check))
            status = tacit__fail(err, TACIT_WRONG_PLAN,
                                 "%.200s: this is not the key of this store; put back the one that "
                                 "was made with it",
                                 vault->db.path);
    }
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        return tacit__db_fail(&vault->db, code, "read", err);
    return status;
}

static tacit_status check_format(tacit__vault *vault, tacit_error *err)
{
    int64_t application = 0, format = 0;
    tacit_status status = tacit__vault_number(vault, "PRAGMA application_id", &application, err);
    if (status == TACIT_OK)
        status = tacit__vault_number(vault, "PRAGMA user_version", &format, err);
    if (status != TACIT_OK)
        return status;
    if (application != APPLICATION)
        return tacit__fail(err, TACIT_CORRUPT,
                           "%.200s: this is not a store of the service; give another path as store",
                           vault->db.path);
    if (format != FORMAT)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "%.200s: the store has format %d, expected %d; it was made by another "
                           "version of tacit",
                           vault->db.path, (int)format, FORMAT);
    return TACIT_OK;
}

/* Everything that the schema makes is there, word for word. */
static tacit_status check_tables(tacit__vault *vault, tacit_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(vault->db.handle, "SELECT 1 FROM sqlite_master WHERE sql = ?", -1,
                                  &s, NULL);
    if (code != SQLITE_OK)
        return tacit__db_fail(&vault->db, code, "read", err);
    tacit_status status = TACIT_OK;
    for (const char *at = schema, *end; status == TACIT_OK && *at != '\0'; at = end + 1) {
        end = strchr(at, ';');
        (void)sqlite3_bind_text(s, 1, at, (int)(end - at), SQLITE_STATIC);
        code = sqlite3_step(s);
        if (code == SQLITE_DONE) {
            const char *name = strchr(at + sizeof "CREATE", ' ') + 1;
            status = tacit__fail(err, TACIT_CORRUPT,
                                 "%.200s: the store is damaged: %.*s is missing, or not as it was "
                                 "made; put back the file as it was, or begin with another store",
                                 vault->db.path, (int)strcspn(name, "( "), name);
        } else if (code != SQLITE_ROW) {
            status = tacit__db_fail(&vault->db, code, "read", err);
        }
        (void)sqlite3_reset(s);
    }
    (void)sqlite3_finalize(s);
    return status;
}

static tacit_status open_file(tacit__vault *vault, tacit__vault_use use, const uint8_t *key,
                              tacit_error *err)
{
    struct stat entry;
    bool there = stat(vault->db.path, &entry) == 0 && entry.st_size > 0;
    if (!there && (use != TACIT__VAULT_SERVE || key == NULL))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "%.200s: there is no store yet; tacit serve or tacit token create makes "
                           "it",
                           vault->db.path);
    if (there && S_ISDIR(entry.st_mode))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "%.200s: is a directory, expected a file for the store, such as "
                           "service.db",
                           vault->db.path);
    int flags = use == TACIT__VAULT_READ ? SQLITE_OPEN_READONLY
                                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    mode_t before = umask(077);
    int code =
        sqlite3_open_v2(vault->db.path, &vault->db.handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK && use == TACIT__VAULT_SERVE) /* the file exists from here on */
        code = sqlite3_exec(vault->db.handle, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    (void)umask(before);
    if (code != SQLITE_OK)
        return tacit__db_fail(&vault->db, code, "open", err);
    (void)sqlite3_busy_timeout(vault->db.handle, BUSY_MS);
    tacit_status status =
        tacit__db_run(&vault->db,
                      "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF;"
                      "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY",
                      "open", err);
    int64_t things = 1;
    if (status == TACIT_OK && there && use == TACIT__VAULT_SERVE && !vault->made)
        status = tacit__vault_number(vault, "SELECT count(*) FROM sqlite_master", &things, err);
    if (status == TACIT_OK && (!there || things == 0))
        status = create_tables(vault, key, err);
    if (status == TACIT_OK)
        status = check_format(vault, err);
    if (status == TACIT_OK)
        status = check_tables(vault, err);
    if (status == TACIT_OK)
        status = check_meta(vault, key, err);
    if (status == TACIT_OK && use == TACIT__VAULT_SERVE)
        status = mark_made(vault, err);
    return status;
}

tacit_status tacit__vault_open(const char *path, tacit__vault_use use, const uint8_t *key,
                               tacit__vault **out, tacit_error *err)
{
    if (strlen(path) >= TACIT__DB_PATH)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the store's path is too long");
    tacit__vault *vault = tacit__alloc(1, sizeof *vault);
    if (vault == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal_start();
    vault->lock = -1;
    memcpy(vault->db.path, path, strlen(path) + 1);
    tacit_status status = use == TACIT__VAULT_SERVE ? take_lock(vault, err) : TACIT_OK;
    if (status == TACIT_OK)
        status = open_file(vault, use, key, err);
    if (status != TACIT_OK) {
        tacit__vault_close(vault);
        return status;
    }
    if (key != NULL)
        derive_keys(vault, key);
    *out = vault;
    return TACIT_OK;
}

void tacit__vault_close(tacit__vault *vault)
{
    if (vault == NULL)
        return;
    tacit__db_close(&vault->db);
    if (vault->lock >= 0)
        (void)close(vault->lock);
    tacit__free_secret(vault, sizeof *vault);
}

bool tacit__vault_is_copy(const tacit__vault *vault)
{
    return vault->copy;
}

tacit_status tacit__vault_begin(tacit__vault *vault, tacit_error *err)
{
    return tacit__db_run(&vault->db, "BEGIN IMMEDIATE", "write", err);
}

tacit_status tacit__vault_commit(tacit__vault *vault, tacit_error *err)
{
    tacit_status status = tacit__db_run(&vault->db, "COMMIT", "write", err);
    if (status != TACIT_OK)
        tacit__vault_undo(vault);
    return status;
}

void tacit__vault_undo(tacit__vault *vault)
{
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++)
        (void)sqlite3_reset(vault->db.statements[i]);
    vault->answers_counted = false;
    if (!sqlite3_get_autocommit(vault->db.handle))
        (void)sqlite3_exec(vault->db.handle, "ROLLBACK", NULL, NULL, NULL);
}

bool tacit__vault_settle(tacit__vault *vault)
{
    (void)sqlite3_busy_timeout(vault->db.handle,
                               0); /* whoever wants to write now is not kept waiting */
    int code =
        sqlite3_wal_checkpoint_v2(vault->db.handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(vault->db.handle, BUSY_MS);
    return code == SQLITE_OK;
}

/* --- Learners ---------------------------------------------------------------------------------- */

static uint64_t count_at(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

tacit_status tacit__vault_find(tacit__vault *vault, const char *name, bool *found,
                               tacit__vault_learner *learner, uint8_t **state, size_t *state_size,
                               tacit_error *err)
{
    sqlite3_stmt *s;
    tacit_status status =
        tacit__db_prepare(&vault->db, SQL_FIND_LEARNER,
                          "SELECT id, fingerprint, users_limit, accepted, users, refused, version,"
                          " taken, shown FROM learner WHERE name = ?",
                          &s, err);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    status = tacit__db_next(&vault->db, s, found, err);
    if (status != TACIT_OK || !*found)
        return status;
    size_t size;
    const void *fingerprint = tacit__vault_blob(s, 1, &size);
    *learner = (tacit__vault_learner){.id = sqlite3_column_int64(s, 0),
                                      .limit = count_at(s, 2),
                                      .accepted = count_at(s, 3),
                                      .users = count_at(s, 4),
                                      .refused = count_at(s, 5),
                                      .version = count_at(s, 6),
                                      .taken = sqlite3_column_int64(s, 7),
                                      .shown = count_at(s, 8)};
    if (size != sizeof learner->fingerprint)
        status = tacit__fail(err, TACIT_CORRUPT, "%.200s: a learner is damaged", vault->db.path);
    else
        memcpy(learner->fingerprint, fingerprint, size);
    (void)sqlite3_reset(s);
    if (status == TACIT_OK && state != NULL)
        status = tacit__vault_open_state(vault, learner->id, state, state_size, err);
    return status;
}

tacit_status tacit__vault_add(tacit__vault *vault, const char *name, tacit__vault_learner *learner,
                              const uint8_t *state, size_t state_size, tacit_error *err)
{
    tacit_status status =
        tacit__db_write(&vault->db, SQL_ADD_LEARNER,
                        "INSERT INTO learner(name, fingerprint, users_limit, accepted, users,"
                        " refused, version, taken, shown, edition) VALUES(?,?,?,0,0,0,?,0,0,0)",
                        err, "tbii", name, learner->fingerprint, sizeof learner->fingerprint,
                        (int64_t)learner->limit, (int64_t)learner->version);
    if (status != TACIT_OK)
        return status;
    learner->id = sqlite3_last_insert_rowid(vault->db.handle);
    return tacit__vault_write_state(vault, learner->id, state, state_size, err);
}

tacit_status tacit__vault_note(tacit__vault *vault, int64_t learner,
                               const tacit__vault_point *point, tacit_error *err)
{
    /* NaN is bound as NULL by SQLite */
    return tacit__db_write(&vault->db, SQL_NOTE,
                           "INSERT OR REPLACE INTO history VALUES(?,?,?,?,?,?)", err, "iiiirr",
                           learner, (int64_t)point->users, (int64_t)time(NULL),
                           (int64_t)point->version, point->reward, point->error);
}
