/* SQLite as a driver (store/driver.h), and what else its files need of it: the handle, and error messages. */
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
} tacit__db;

/* The failure that the handle has just had: "PATH: cannot DOING: ...". */
tacit_status tacit__db_fail(const tacit__db *db, int code, const char *doing, tacit_error *err);

/* A connection to a file that is not open yet: its user opens the handle. */
TACIT_MUST_USE tacit_status tacit__sqlite_create(const char *path, tacit__connection **out,
                                                 tacit_error *err);
tacit__db *tacit__sqlite_of(tacit__connection *c);

#endif
