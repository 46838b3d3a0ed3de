/* The audit log: what was done to a store and its service, for the people responsible for them. See
 * store/vault/vault.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "store/vault/vault_inside.h"

/* The number of rows that are kept is a stated choice: ten years with a start, a stop and a few tokens a day.
 * A service that restarts every two seconds needs two days to push older ones out, and each of its starts is
 * in the journal as well. */
enum { MOST = 100000, TEXT = 512 };

tacit_status tacit__vault_add_event(tacit__vault *vault, tacit_error *err, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof text)
        (void)snprintf(text + n, sizeof text - (size_t)n, " (by user %lu)",
                       (unsigned long)getuid());
    TRY(tacit__connection_write(vault->db, SQL_EVENT, "INSERT INTO event(at, what) VALUES(?,?)",
                                err, "it", (int64_t)time(NULL), text));
    return tacit__connection_write(
        vault->db, SQL_DELETE_EVENTS,
        "DELETE FROM event WHERE number<=(SELECT max(number) FROM event)-?", err, "i",
        (int64_t)MOST);
}

tacit_status tacit__vault_each_event(tacit__vault *vault,
                                     void (*each)(void *context, int64_t at, const char *what),
                                     void *context, tacit_error *err)
{
    TACIT__REQUIRE(each != NULL);
    tacit__cursor *s = NULL;
    tacit_status status =
        tacit__vault_prepare(vault, "SELECT at, what FROM event ORDER BY number", &s, err);
    for (bool more = true; status == TACIT_OK;) {
        status = tacit__cursor_next(s, &more, err);
        if (status != TACIT_OK || !more)
            break;
        const char *what = tacit__cursor_text(s, 1);
        if (what != NULL)
            each(context, tacit__cursor_int(s, 0), what);
    }
    tacit__cursor_close(s);
    return status;
}
