/* The audit log: what was done to a store and its service, for the people who answer for them. See
 * store/service_store.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "store/service_store_inside.h"

/* Rows that are kept, a stated choice: ten years with a start, a stop and a few tokens a day. A service
 * that starts anew every two seconds needs two days to push older ones out, and each of its starts is in
 * the journal, too. */
enum { MOST = 100000, TEXT = 512 };

tacit_status tacit__vault_event(tacit__vault *vault, tacit_error *err, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof text)
        (void)snprintf(text + n, sizeof text - (size_t)n, " (by user %lu)",
                       (unsigned long)getuid());
    TRY(tacit__db_write(&vault->db, SQL_EVENT, "INSERT INTO event(at, what) VALUES(?,?)", err, "it",
                        (int64_t)time(NULL), text));
    return tacit__db_write(&vault->db, SQL_DELETE_EVENTS, "DELETE FROM event WHERE number<=?", err,
                           "i", (int64_t)sqlite3_last_insert_rowid(vault->db.handle) - MOST);
}

tacit_status tacit__vault_events(tacit__vault *vault,
                                 void (*each)(void *context, int64_t at, const char *what),
                                 void *context, tacit_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(vault->db.handle, "SELECT at, what FROM event ORDER BY number",
                                  -1, &s, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        const char *what = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 1) : NULL;
        if (what != NULL)
            each(context, sqlite3_column_int64(s, 0), what);
    }
    (void)sqlite3_finalize(s);
    return code == SQLITE_DONE ? TACIT_OK : tacit__db_fail(&vault->db, code, "read", err);
}
