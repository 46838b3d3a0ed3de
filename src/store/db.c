/* SQLite's codes as ours. Every message names the file and what could not be done. */
#include "store/db.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"

tacit_status tacit__db_fail(const tacit__db *db, int code, const char *doing, tacit_error *err)
{
    const char *why = db->handle != NULL ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code);
    int reason = db->handle != NULL ? sqlite3_system_errno(db->handle) : 0;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        /* not SQLite's own message, which may quote what the file has where its schema was */
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: cannot %s: the database is damaged (%s)",
                           db->path, doing, sqlite3_errstr(code));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot %s: another program is using it",
                           db->path, doing);
    case SQLITE_FULL:
        return tacit__fail(
            err, TACIT_SYSTEM,
            "%.200s: cannot %s: the disk is full; saved data are not lost: free some "
            "space and try again",
            db->path, doing);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (reason != 0)
            why = strerror(reason);
        break;
    default:
        break;
    }
    return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot %s: %s", db->path, doing, why);
}

tacit_status tacit__db_run(tacit__db *db, const char *sql, const char *doing, tacit_error *err)
{
    TACIT__REQUIRE(db->handle != NULL && sql != NULL);
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TACIT_OK : tacit__db_fail(db, code, doing, err);
}

tacit_status tacit__db_prepare(tacit__db *db, size_t number, const char *sql, sqlite3_stmt **out,
                               tacit_error *err)
{
    TACIT__REQUIRE(number < TACIT__DB_STATEMENTS);
    sqlite3_stmt **statement = &db->statements[number];
    if (*statement == NULL) {
        int code = sqlite3_prepare_v2(db->handle, sql, -1, statement, NULL);
        if (code != SQLITE_OK)
            return tacit__db_fail(db, code, "read", err);
    }
    (void)sqlite3_reset(*statement);
    *out = *statement;
    return TACIT_OK;
}

static int bind_all(sqlite3_stmt *statement, const char *format, va_list args)
{
    int code = SQLITE_OK;
    for (int i = 1; *format != '\0' && code == SQLITE_OK; format++, i++) {
        if (*format == 'i') {
            code = sqlite3_bind_int64(statement, i, va_arg(args, int64_t));
        } else if (*format == 'r') {
            code = sqlite3_bind_double(statement, i, va_arg(args, double));
        } else if (*format == 't') {
            code = sqlite3_bind_text(statement, i, va_arg(args, const char *), -1, SQLITE_STATIC);
        } else {
            const void *bytes = va_arg(args, const void *);
            code = sqlite3_bind_blob64(statement, i, bytes, va_arg(args, size_t), SQLITE_STATIC);
        }
    }
    return code;
}

tacit_status tacit__db_write(tacit__db *db, size_t number, const char *sql, tacit_error *err,
                             const char *format, ...)
{
    TACIT__REQUIRE(format != NULL);
    sqlite3_stmt *statement = NULL;
    TRY(tacit__db_prepare(db, number, sql, &statement, err));
    tacit_status status = TACIT_OK;
    va_list args;
    va_start(args, format);
    int code = bind_all(statement, format, args);
    va_end(args);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
        status = tacit__db_fail(db, code, "write", err);
    (void)sqlite3_reset(statement);
    return status;
}

tacit_status tacit__db_next(tacit__db *db, sqlite3_stmt *statement, bool *more, tacit_error *err)
{
    TACIT__REQUIRE(statement != NULL);
    int code = sqlite3_step(statement);
    *more = code == SQLITE_ROW;
    if (*more)
        return TACIT_OK;
    tacit_status status = code == SQLITE_DONE ? TACIT_OK : tacit__db_fail(db, code, "read", err);
    (void)sqlite3_reset(statement);
    return status;
}

void tacit__db_close(tacit__db *db)
{
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++) {
        (void)sqlite3_finalize(db->statements[i]);
        db->statements[i] = NULL;
    }
    (void)sqlite3_close(db->handle);
    db->handle = NULL;
}
