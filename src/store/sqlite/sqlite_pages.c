/* Whether the pages of the file are sound, table by table: SQLite's own check. See
 * store/vault/vault_inside.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"

static tacit_status check_table(tacit__vault *vault, const char *name, tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    char *sql = sqlite3_mprintf("PRAGMA integrity_check(%Q)", name);
    if (sql == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__vault_prepare(vault, sql, &s, err);
    sqlite3_free(sql);
    if (status != TACIT_OK)
        return status;
    status = tacit__cursor_next(s, &found, err);
    const char *said = found ? tacit__cursor_text(s, 0) : NULL;
    if (status == TACIT_OK && (said == NULL || strcmp(said, "ok") != 0))
        status = tacit__fail(err, TACIT_CORRUPT, "%.200s: the database is damaged (%.120s)",
                             vault->path, said != NULL ? said : "no answer");
    tacit__cursor_close(s);
    return status;
}

/* Replaces `name` by the name of the next table; "" after the last. */
static tacit_status next_table(tacit__vault *vault, char name[128], tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__vault_prepare(
        vault, "SELECT min(name) FROM sqlite_master WHERE type='table' AND name>?", &s, err));
    char after[128];
    bool found;
    memcpy(after, name, sizeof after);
    tacit__cursor_bind_text(s, 1, after);
    tacit_status status = tacit__cursor_next(s, &found, err);
    const char *next = found ? tacit__cursor_text(s, 0) : NULL;
    (void)snprintf(name, 128, "%s", next != NULL ? next : "");
    tacit__cursor_close(s);
    return status;
}

tacit_status tacit__vault_check_pages(tacit__vault *vault, tacit_error *err)
{
    char name[128] = "";
    tacit_status status = next_table(vault, name, err);
    while (status == TACIT_OK && name[0] != '\0') {
        status = check_table(vault, name, err);
        if (status == TACIT_OK)
            status = next_table(vault, name, err);
    }
    return status;
}
