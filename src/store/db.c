/* SQLite behind store/driver.h. Every message names the file and what could not be done. */
#include "store/db.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct cursor {
    tacit__cursor head;
    tacit__db *db;
    sqlite3_stmt *statement;
    bool once;
} cursor;

typedef struct connection {
    tacit__connection head;
    tacit__db db;
    cursor cursors[TACIT__DB_STATEMENTS]; /* compiled once, by number */
} connection;

static const tacit__driver driver;

tacit__db *tacit__sqlite_of(tacit__connection *c)
{
    TACIT__REQUIRE(c->driver == &driver);
    return &((connection *)c)->db;
}

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

static sqlite3_stmt *statement_of(const tacit__cursor *s)
{
    return ((const cursor *)s)->statement;
}

/* --- Connections -------------------------------------------------------------------------------- */

static tacit_status run(tacit__connection *c, const char *sql, const char *doing, tacit_error *err)
{
    tacit__db *db = tacit__sqlite_of(c);
    TACIT__REQUIRE(db->handle != NULL && sql != NULL);
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TACIT_OK : tacit__db_fail(db, code, doing, err);
}

static tacit_status prepare_once(connection *c, const char *sql, tacit__cursor **out,
                                 tacit_error *err)
{
    cursor *s = tacit__alloc(1, sizeof *s);
    if (s == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *s = (cursor){.head = {&driver}, .db = &c->db, .once = true};
    int code = sqlite3_prepare_v2(c->db.handle, sql, -1, &s->statement, NULL);
    if (code != SQLITE_OK) {
        tacit__free(s);
        return tacit__db_fail(&c->db, code, "read", err);
    }
    *out = &s->head;
    return TACIT_OK;
}

static tacit_status prepare(tacit__connection *base, int number, const char *sql,
                            tacit__cursor **out, tacit_error *err)
{
    connection *c = (connection *)base;
    if (number == TACIT__ONCE)
        return prepare_once(c, sql, out, err);
    cursor *s = &c->cursors[number];
    if (s->statement == NULL) {
        *s = (cursor){.head = {&driver}, .db = &c->db};
        int code = sqlite3_prepare_v2(c->db.handle, sql, -1, &s->statement, NULL);
        if (code != SQLITE_OK)
            return tacit__db_fail(&c->db, code, "read", err);
    }
    (void)sqlite3_reset(s->statement);
    *out = &s->head;
    return TACIT_OK;
}

static tacit_status changes(tacit__connection *c, uint64_t *n, tacit_error *err)
{
    (void)err;
    *n = (uint64_t)sqlite3_changes(tacit__sqlite_of(c)->handle);
    return TACIT_OK;
}

static bool in_transaction(const tacit__connection *c)
{
    return !sqlite3_get_autocommit(((const connection *)c)->db.handle);
}

static void reset_all(tacit__connection *c)
{
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++)
        (void)sqlite3_reset(((connection *)c)->cursors[i].statement);
}

static void destroy(tacit__connection *base)
{
    connection *c = (connection *)base;
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++)
        (void)sqlite3_finalize(c->cursors[i].statement);
    (void)sqlite3_close(c->db.handle);
    tacit__free(c);
}

/* --- Cursors ------------------------------------------------------------------------------------ */

/* A failure to bind leaves NULL, which no column of the vault takes for a value. */
static void bind(tacit__cursor *base, int i, const tacit__cell *v)
{
    sqlite3_stmt *s = statement_of(base);
    if (v->type == TACIT__COLUMN_INTEGER)
        (void)sqlite3_bind_int64(s, i, v->integer);
    else if (v->type == TACIT__COLUMN_REAL)
        (void)sqlite3_bind_double(s, i, v->real);
    else if (v->type == TACIT__COLUMN_TEXT)
        (void)sqlite3_bind_text(s, i, v->bytes, (int)v->size, SQLITE_STATIC);
    else
        (void)sqlite3_bind_blob64(s, i, v->bytes, v->size, SQLITE_STATIC);
}

static tacit_status write(tacit__cursor *base, tacit_error *err)
{
    cursor *s = (cursor *)base;
    int code = sqlite3_step(s->statement);
    return code == SQLITE_DONE ? TACIT_OK : tacit__db_fail(s->db, code, "write", err);
}

static tacit_status next(tacit__cursor *base, bool *more, tacit_error *err)
{
    cursor *s = (cursor *)base;
    int code = sqlite3_step(s->statement);
    *more = code == SQLITE_ROW;
    if (*more)
        return TACIT_OK;
    tacit_status status = code == SQLITE_DONE ? TACIT_OK : tacit__db_fail(s->db, code, "read", err);
    (void)sqlite3_reset(s->statement);
    return status;
}

static void reset(tacit__cursor *s)
{
    (void)sqlite3_reset(statement_of(s));
}

static void close_cursor(tacit__cursor *base)
{
    cursor *s = (cursor *)base;
    TACIT__REQUIRE(s->once);
    (void)sqlite3_finalize(s->statement);
    tacit__free(s);
}

static int columns(const tacit__cursor *s)
{
    return sqlite3_column_count(statement_of(s));
}

static int parameters(const tacit__cursor *s)
{
    return sqlite3_bind_parameter_count(statement_of(s));
}

/* A number in place of bytes has none; bytes in place of a number are what SQLite makes of them. */
static tacit__cell get(tacit__cursor *base, int column)
{
    sqlite3_stmt *s = statement_of(base);
    const int type = sqlite3_column_type(s, column);
    tacit__cell v = {.type = (tacit__column_type)type};
    v.integer = sqlite3_column_int64(s, column);
    v.real = type == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, column);
    if (type == SQLITE_TEXT)
        v.bytes = sqlite3_column_text(s, column);
    else if (type == SQLITE_BLOB)
        v.bytes = sqlite3_column_blob(s, column);
    if (v.bytes != NULL)
        v.size = (size_t)sqlite3_column_bytes(s, column);
    return v;
}

_Static_assert((int)TACIT__COLUMN_INTEGER == SQLITE_INTEGER &&
                   (int)TACIT__COLUMN_REAL == SQLITE_FLOAT &&
                   (int)TACIT__COLUMN_TEXT == SQLITE_TEXT &&
                   (int)TACIT__COLUMN_BYTES == SQLITE_BLOB &&
                   (int)TACIT__COLUMN_NULL == SQLITE_NULL,
               "the numbers of types are SQLite's");

static const tacit__driver driver = {.run = run,
                                     .prepare = prepare,
                                     .changes = changes,
                                     .in_transaction = in_transaction,
                                     .reset_all = reset_all,
                                     .destroy = destroy,
                                     .bind = bind,
                                     .write = write,
                                     .next = next,
                                     .reset = reset,
                                     .close = close_cursor,
                                     .columns = columns,
                                     .parameters = parameters,
                                     .get = get};

tacit_status tacit__sqlite_create(const char *path, tacit__connection **out, tacit_error *err)
{
    TACIT__REQUIRE(strlen(path) < TACIT__DB_PATH);
    connection *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    c->head.driver = &driver;
    memcpy(c->db.path, path, strlen(path) + 1);
    *out = &c->head;
    return TACIT_OK;
}
