/* Copies of a vault. See store/vault/vault.h.
 *
 * A copy is marked as one: a service on it does not learn, because the original may have continued. An
 * unfinished copy must not be mistaken for a store: until it is marked, it has another name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"

static void remove_part(const char *part)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        char path[TACIT__DB_PATH + 16];
        (void)snprintf(path, sizeof path, "%s%s", part, tails[i]);
        (void)unlink(path);
    }
}

static tacit_status refuse_copy(const char *path, int reason, tacit_error *err)
{
    return tacit__fail(err, TACIT_SYSTEM,
                       "%.200s: cannot write the copy: %s; its directory must exist and be "
                       "writable",
                       path, strerror(reason));
}

/* Marks the copied file as a copy. */
static tacit_status name_copy(tacit__vault *copy, tacit_error *err)
{
    TRY(tacit__connection_run(copy->db,
                              "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;"
                              "PRAGMA secure_delete=ON; BEGIN IMMEDIATE;"
                              "INSERT OR REPLACE INTO meta VALUES('copy', 1)",
                              "write the copy", err));
    TRY(tacit__vault_prove_all(copy, err));
    return tacit__connection_run(copy->db, "COMMIT", "write the copy", err);
}

static tacit_status fill_copy(tacit__vault *vault, tacit__vault *copy, tacit_error *err)
{
    TRY(tacit__sqlite_create(copy->path, &copy->db, err));
    tacit__db *to = tacit__sqlite_of(copy->db);
    int code = sqlite3_open_v2(copy->path, &to->handle, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) {
        tacit__vault_forbid_triggers(copy);
        /* in one step: otherwise it would start again after every write; with a log, a reader does not
         * block writers */
        sqlite3_backup *backup =
            sqlite3_backup_init(to->handle, "main", tacit__sqlite_of(vault->db)->handle, "main");
        code = backup != NULL ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to->handle);
        (void)sqlite3_backup_finish(backup);
        code = code == SQLITE_DONE ? SQLITE_OK : code;
    }
    return code == SQLITE_OK ? name_copy(copy, err)
                             : tacit__db_fail(to, code, "write the copy", err);
}

/* The copy gets its name when it is complete. */
static tacit_status write_copy(tacit__vault *vault, const char *path, tacit_error *err)
{
    tacit__vault *copy = tacit__alloc(1, sizeof *copy);
    if (copy == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    copy->backend = vault->backend;
    copy->lock = copy->file = copy->mark = -1;
    memcpy(copy->key_proof, vault->key_proof, sizeof copy->key_proof);
    int n = snprintf(copy->path, sizeof copy->path, "%s.partial", path);
    tacit_status status = TACIT_OK;
    if (n < 0 || (size_t)n >= sizeof copy->path)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT, "the copy's path is too long");
    if (status == TACIT_OK) {
        remove_part(copy->path); /* of one that was interrupted */
        int fd = open(copy->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        status = fd >= 0 ? fill_copy(vault, copy, err) : refuse_copy(path, errno, err);
        tacit__connection_destroy(copy->db);
        if (fd >= 0)
            (void)close(fd);
        if (status == TACIT_OK && rename(copy->path, path) != 0)
            status = refuse_copy(path, errno, err);
        if (status != TACIT_OK)
            remove_part(copy->path);
        else
            status = tacit__vault_sync_directory(path, err);
    }
    tacit__free_secret(copy, sizeof *copy);
    return status;
}

tacit_status tacit__vault_copy_file(tacit__vault *vault, const char *path, tacit_error *err)
{
    if (access(path, F_OK) == 0)
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.200s exists already, and a copy does not overwrite files: give another path", path);
    return write_copy(vault, path, err);
}

tacit_status tacit__vault_backup(tacit__vault *vault, const char *path, tacit_error *err)
{
    if (!vault->keyed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: this needs the key", vault->path);
    return vault->backend->copy(vault, path, err);
}
