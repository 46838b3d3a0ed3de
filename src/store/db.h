/* The few functions of SQLite that the store needs, with error messages. */
#ifndef TACIT_STORE_DB_H
#define TACIT_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include <tacit/status.h>

#include "store/driver.h"

typedef struct tacit__db {
    sqlite3 *handle;
    char path[TACIT__DB_PATH];
    sqlite3_stmt *statements[TACIT__DB_STATEMENTS]; /* compiled once, by number */
} tacit__db;

/* The failure that the handle has just had: "PATH: cannot DOING: ...". */
tacit_status tacit__db_fail(const tacit__db *db, int code, const char *doing, tacit_error *err);

TACIT_MUST_USE tacit_status tacit__db_run(tacit__db *db, const char *sql, const char *doing,
                                          tacit_error *err);

/* Statement `number`, ready to be bound; compiled from `sql` the first time. */
TACIT_MUST_USE tacit_status tacit__db_prepare(tacit__db *db, size_t number, const char *sql,
                                              sqlite3_stmt **out, tacit_error *err);

/* One parameter of a statement; `format` below has a letter for each: i int64_t, r double, t const char *
 * (or NULL), b const void * and size_t. Executes it; rows are not expected. */
TACIT_MUST_USE tacit_status tacit__db_write(tacit__db *db, size_t number, const char *sql,
                                            tacit_error *err, const char *format, ...);

/* The next row of a prepared statement: *more is false after the last, when the statement is reset. */
TACIT_MUST_USE tacit_status tacit__db_next(tacit__db *db, sqlite3_stmt *statement, bool *more,
                                           tacit_error *err);

void tacit__db_close(tacit__db *db);

/* A database as the vault sees it (store/driver.h). */
TACIT_MUST_USE tacit_status tacit__sqlite_create(const char *path, tacit__connection **out,
                                                 tacit_error *err);
tacit__db *tacit__sqlite_of(tacit__connection *c);

#endif
