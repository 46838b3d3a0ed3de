/* The write-ahead log of the vault that serves: when it is brought into the file. See
 * store/service_store.h.
 *
 * SQLite does so on its own at the end of a commit that makes the log 1000 pages long, and everybody whose
 * data are in that commit waits for it, though they are on disk. Here it comes when the committer says so:
 * after they were answered. */
#include "store/db.h"
#include "store/service_store_inside.h"

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

void tacit__vault_watch_log(tacit__vault *vault)
{
    (void)sqlite3_wal_hook(handle_of(vault), note_pages, vault);
}

bool tacit__vault_log_is_long(tacit__vault *vault, int pages)
{
    return vault->log_pages - vault->log_tried >= pages && tacit__vault_has_log(vault);
}

void tacit__vault_empty_log(tacit__vault *vault)
{
    vault->log_tried = vault->log_pages; /* a reader may keep a part of it in use */
    (void)sqlite3_wal_checkpoint_v2(handle_of(vault), NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

bool tacit__vault_truncate_file(tacit__vault *vault)
{
    sqlite3 *handle = handle_of(vault);
    (void)sqlite3_busy_timeout(handle, 0); /* do not keep other writers waiting */
    int code = sqlite3_wal_checkpoint_v2(handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(handle, TACIT__VAULT_BUSY_MS);
    return code == SQLITE_OK;
}

tacit_status tacit__vault_begin_snapshot(tacit__vault *vault, bool *alone, tacit_error *err)
{
    *alone = !tacit__connection_in_transaction(vault->db);
    return *alone ? tacit__connection_run(vault->db, "BEGIN", "read", err) : TACIT_OK;
}

void tacit__vault_end_snapshot(tacit__vault *vault, bool alone)
{
    if (alone)
        tacit__vault_undo(vault);
}

bool tacit__vault_begin_reading(tacit__vault *vault)
{
    return tacit__connection_run(vault->db, "BEGIN", "read", NULL) == TACIT_OK;
}

void tacit__vault_end_reading(tacit__vault *vault)
{
    tacit__vault_undo(vault);
}
