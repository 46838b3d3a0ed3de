/* The tables of a vault, and the number of their format. See store/vault/vault_inside.h.
 *
 * The schema is compared word for word when a store is opened. Nothing else may be in the file: a trigger of
 * a person who can write to the file, but has no key, would act inside a transaction of the service, and
 * that transaction would prove its changes at the end. */
#include <stdio.h>
#include <string.h>

#include <tacit/status.h>

#include "base/error.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"

enum { APPLICATION = 0x74616374 }; /* "tact", in the header of the file */

static const char schema[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
    "CREATE TABLE learner(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, fingerprint BLOB,"
    " users_limit INTEGER, accepted INTEGER, users INTEGER, refused INTEGER, version INTEGER,"
    " taken INTEGER, shown INTEGER, edition INTEGER, tag BLOB, proof BLOB, visits INTEGER,"
    " apart INTEGER, named INTEGER, epoch INTEGER);"
    "CREATE TABLE state(learner INTEGER, edition INTEGER, part INTEGER, data BLOB,"
    " PRIMARY KEY(learner, edition, part));"
    "CREATE TABLE open(learner INTEGER, key BLOB, opened INTEGER, data BLOB,"
    " PRIMARY KEY(learner, key)) WITHOUT ROWID;"
    "CREATE INDEX open_by_age ON open(opened);"
    "CREATE TABLE input(learner INTEGER, number INTEGER, data BLOB, PRIMARY KEY(learner, number))"
    " WITHOUT ROWID;"
    "CREATE TABLE seen(learner INTEGER, key BLOB, content BLOB, PRIMARY KEY(learner, key))"
    " WITHOUT ROWID;"
    "CREATE INDEX seen_by_content ON seen(learner, content) WHERE content IS NOT NULL;"
    "CREATE TABLE answer(name BLOB PRIMARY KEY, opened INTEGER, content BLOB, data BLOB)"
    " WITHOUT ROWID;"
    "CREATE INDEX answer_by_age ON answer(opened);"
    "CREATE TABLE person(learner INTEGER, hash BLOB, key BLOB, visits INTEGER, last_place INTEGER,"
    " tag BLOB, PRIMARY KEY(learner, hash)) WITHOUT ROWID;"
    "CREATE INDEX person_by_key ON person(learner, key);"
    "CREATE TABLE verdict(learner INTEGER, key BLOB, opened INTEGER, soon INTEGER,"
    " PRIMARY KEY(learner, key)) WITHOUT ROWID;"
    "CREATE INDEX verdict_by_age ON verdict(opened);"
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

const char *tacit__vault_schema(void)
{
    return schema;
}

/* Finds the name in "CREATE TABLE name(". */
static const char *name_of(const char *statement, int *length)
{
    const char *name = strchr(statement + sizeof "CREATE", ' ') + 1;
    *length = (int)strcspn(name, "( ");
    return name;
}

tacit_status tacit__vault_create_tables(tacit__vault *vault, tacit_error *err)
{
    char numbers[96];
    (void)snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   APPLICATION, TACIT__VAULT_FORMAT);
    TRY(tacit__connection_run(vault->db, schema, "create", err));
    return tacit__connection_run(vault->db, numbers, "create", err);
}

tacit_status tacit__vault_expect_format(const tacit__vault *vault, int64_t format, tacit_error *err)
{
    return format == TACIT__VAULT_FORMAT
               ? TACIT_OK
               : tacit__fail(err, TACIT_WRONG_VERSION,
                             "%.200s: the store has format %lld, and this version of tacit (%s) "
                             "reads format %d only; continue with the version that made the store, "
                             "or begin with another store, which knows nobody who took part",
                             vault->path, (long long)format, tacit_version(), TACIT__VAULT_FORMAT);
}

tacit_status tacit__vault_check_format(tacit__vault *vault, tacit_error *err)
{
    int64_t application = 0, format = 0;
    TRY(tacit__vault_query_number(vault, "PRAGMA application_id", &application, err));
    TRY(tacit__vault_query_number(vault, "PRAGMA user_version", &format, err));
    if (application != APPLICATION)
        return tacit__fail(err, TACIT_CORRUPT,
                           "%.200s: this is not a store of the service; give another path as store",
                           vault->path);
    return tacit__vault_expect_format(vault, format, err);
}

void tacit__vault_forbid_triggers(tacit__vault *vault)
{
    sqlite3 *handle = tacit__sqlite_of(vault->db)->handle;
    (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
}

/* Checks that there is nothing but `expected` objects of ours, and what SQLite makes for them. */
static tacit_status check_no_more(tacit__vault *vault, int64_t expected, tacit_error *err)
{
    int64_t found = 0;
    TRY(tacit__vault_query_number(
        vault,
        "SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL AND NOT (type='table' AND"
        " name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))",
        &found, err));
    if (found != expected)
        return tacit__fail(err, TACIT_CORRUPT,
                           "%.200s: the store has something that tacit did not create: a table, an "
                           "index, a view or a trigger; restore the file or a backup",
                           vault->path);
    return TACIT_OK;
}

tacit_status tacit__vault_check_tables(tacit__vault *vault, tacit_error *err)
{
    tacit__cursor *s = NULL;
    TRY(tacit__vault_prepare(vault, "SELECT 1 FROM sqlite_master WHERE sql = ?", &s, err));
    tacit_status status = TACIT_OK;
    int64_t n = 0;
    for (const char *at = schema, *end; status == TACIT_OK && *at != '\0'; at = end + 1, n++) {
        char sql[600];
        bool found;
        end = strchr(at, ';');
        (void)snprintf(sql, sizeof sql, "%.*s", (int)(end - at), at);
        tacit__cursor_bind_text(s, 1, sql);
        status = tacit__cursor_next(s, &found, err);
        if (status == TACIT_OK && !found) {
            int length;
            const char *name = name_of(at, &length);
            status = tacit__fail(err, TACIT_CORRUPT,
                                 "%.200s: the store is damaged: %.*s is missing or was changed; "
                                 "restore the file, or begin with another store",
                                 vault->path, length, name);
        }
        tacit__cursor_reset(s);
    }
    tacit__cursor_close(s);
    return status == TACIT_OK ? check_no_more(vault, n, err) : status;
}
