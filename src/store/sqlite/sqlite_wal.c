/* When the write-ahead log of a serving vault is copied into the file (a checkpoint of SQLite). See
 * store/vault/vault.h.
 *
 * By default SQLite does this at the end of a commit that makes the log 1000 pages long. Then all requests in
 * that commit wait for it, although their data are already on disk. Here the committer decides: it does so
 * after these requests were answered. */
#include "store/db.h"
#include "store/vault/vault_inside.h"

static sqlite3 *handle_of(tacit__vault *vault)
{
    return tacit__sqlite_of(vault->db)->handle;
}

static int note_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    tacit__vault *vault = context;
    (void)handle, (void)name;
    vault->log_tried = pages < vault->log_tried ? 0 : vault->log_tried; /* it began anew */
    vault->log_pages = pages;
    return SQLITE_OK;
}

void tacit__log_watch(tacit__vault *vault)
{
    (void)sqlite3_wal_hook(handle_of(vault), note_pages, vault);
}

bool tacit__log_is_long(tacit__vault *vault, int pages)
{
    return vault->log_pages - vault->log_tried >= pages && tacit__vault_has_log(vault);
}

void tacit__log_empty(tacit__vault *vault)
{
    vault->log_tried = vault->log_pages; /* a reader may keep a part of it in use */
    (void)sqlite3_wal_checkpoint_v2(handle_of(vault), NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

bool tacit__log_truncate(tacit__vault *vault)
{
    sqlite3 *handle = handle_of(vault);
    if (!tacit__vault_has_log(vault))
        return true;
    (void)sqlite3_busy_timeout(handle, 0); /* do not keep other writers waiting */
    int code = sqlite3_wal_checkpoint_v2(handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(handle, TACIT__VAULT_BUSY_MS);
    return code == SQLITE_OK;
}
