/* Opening a vault. See store/vault/vault.h.
 *
 * Write-ahead logging with synchronous = FULL: a commit returns when the log is on disk. secure_delete
 * overwrites what is deleted.
 *
 * A process that serves holds two locks by flock(), which end with the process in any case: one on
 * STORE.lock, and one on the store's file itself, so that two names of one file exclude each other. SQLite
 * also locks that file, with locks that a process loses when it closes any descriptor of the file. So our
 * descriptor is opened before SQLite's and closed after it, and STORE.lock is locked first, so that a second
 * attempt of the same process under the same name ends there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"

/* --- Locks -------------------------------------------------------------------------------------- */

tacit_status tacit__vault_refuse_second(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_SYSTEM,
                       "%.200s: another server is running on this store; stop it first, or give "
                       "this one another store",
                       vault->path);
}

/* The lock file is empty until the store has been created, and never again: it shows that a store is gone or
 * was emptied. A new store in its place would let everybody take part once more. A crash before the mark
 * counts as a first start that did not happen. */
static tacit_status lock_beside(tacit__vault *vault, tacit_error *err)
{
    char path[TACIT__DB_PATH + 8];
    (void)snprintf(path, sizeof path, "%s.lock", vault->path);
    vault->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat entry;
    if (vault->lock < 0 || fstat(vault->lock, &entry) != 0)
        return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot be locked: %s", path,
                           strerror(errno));
    if (flock(vault->lock, LOCK_EX | LOCK_NB) != 0)
        return tacit__vault_refuse_second(vault, err);
    vault->made = entry.st_size > 0;
    bool there = stat(vault->path, &entry) == 0;
    if (!vault->made || (there && entry.st_size > 0))
        return TACIT_OK;
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.150s: the store is %s, and nothing else records who took part and what "
                       "was spent. Restore it or a backup, or begin with another store; only if "
                       "nobody has ever taken part, remove %.150s",
                       vault->path, there ? "empty" : "gone", path);
}

static tacit_status lock_file(tacit__vault *vault, tacit_error *err)
{
    vault->file = open(vault->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (vault->file < 0)
        return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot open: %s", vault->path,
                           strerror(errno));
    return flock(vault->file, LOCK_EX | LOCK_NB) == 0 ? TACIT_OK
                                                      : tacit__vault_refuse_second(vault, err);
}

static tacit_status mark_made(tacit__vault *vault, tacit_error *err)
{
    static const char mark[] = "made\n";
    if (vault->made)
        return TACIT_OK;
    if (pwrite(vault->lock, mark, sizeof mark - 1, 0) != sizeof mark - 1 || fsync(vault->lock) != 0)
        return tacit__fail(err, TACIT_SYSTEM, "%.200s.lock: cannot be written: %s", vault->path,
                           strerror(errno));
    vault->made = true;
    return TACIT_OK;
}

/* --- The file ----------------------------------------------------------------------------------- */

static tacit_status create(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    TRY(tacit__connection_run(vault->db, "BEGIN IMMEDIATE", "create", err));
    TRY(tacit__vault_create_tables(vault, err));
    tacit__vault_draw_keys(vault);
    TRY(tacit__vault_begin_facts(vault, key, err));
    TRY(tacit__vault_prove_all(vault, err));
    return tacit__connection_run(vault->db, "COMMIT", "create", err);
}

static tacit_status open_handle(tacit__vault *vault, tacit_error *err)
{
    int flags = vault->use == TACIT__VAULT_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    TRY(tacit__sqlite_create(vault->path, &vault->db, err));
    tacit__db *db = tacit__sqlite_of(vault->db);
    mode_t before = umask(077);
    int code = sqlite3_open_v2(vault->path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        tacit__vault_forbid_triggers(vault);
    if (code == SQLITE_OK && vault->use == TACIT__VAULT_SERVE)
        code = sqlite3_exec(db->handle, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    (void)umask(before);
    if (code != SQLITE_OK)
        return tacit__db_fail(db, code, "open", err);
    (void)sqlite3_busy_timeout(db->handle, TACIT__VAULT_BUSY_MS);
    return tacit__connection_run(
        vault->db,
        "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF;"
        "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY",
        "open", err);
}

/* Only a server creates the store, decides its status, and owns it. */
static tacit_status claim(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__vault_check_facts(vault, err));
    TRY(tacit__vault_update_status(vault, err));
    TRY(tacit__vault_claim_ownership(vault, err));
    return mark_made(vault, err);
}

/* SQLite's log has the name of the file. What is written through one hard link is in a log that the other
 * link does not have, and would later overwrite what was written since. */
static tacit_status check_links(const tacit__vault *vault, const struct stat *entry,
                                tacit_error *err)
{
    return vault->use == TACIT__VAULT_READ || entry->st_nlink <= 1
               ? TACIT_OK
               : tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: the file has more than one name (hard links), and its log "
                             "belongs to one of them only; remove all names but one, and make "
                             "backups with tacit store backup",
                             vault->path);
}

static tacit_status open_locked(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    struct stat entry;
    const bool serves = vault->use == TACIT__VAULT_SERVE;
    bool there = stat(vault->path, &entry) == 0;
    if (there && S_ISDIR(entry.st_mode))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "%.200s: is a directory, expected a file for the store, such as "
                           "service.db",
                           vault->path);
    there = there && entry.st_size > 0;
    if (!there && (!serves || key == NULL))
        return tacit__fail(
            err, TACIT_BAD_ARGUMENT,
            "%.200s: there is no store yet; tacit serve or tacit token create creates it",
            vault->path);
    tacit_status status = serves ? lock_file(vault, err) : TACIT_OK;
    if (status == TACIT_OK && there)
        status = check_links(vault, &entry, err);
    if (status == TACIT_OK)
        status = open_handle(vault, err);
    int64_t things = 1;
    if (status == TACIT_OK && there && serves && !vault->made)
        status =
            tacit__vault_query_number(vault, "SELECT count(*) FROM sqlite_master", &things, err);
    if (status == TACIT_OK && (!there || things == 0))
        status = create(vault, key, err);
    if (status == TACIT_OK)
        status = tacit__vault_check_format(vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_check_tables(vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_read_facts(vault, key, err);
    if (status == TACIT_OK && serves)
        status = claim(vault, err);
    return status;
}

static tacit_status open_file(tacit__vault *vault, const char *path, const uint8_t *key,
                              tacit_error *err)
{
    (void)path;
    if (vault->use == TACIT__VAULT_SERVE)
        TRY(lock_beside(vault, err));
    return open_locked(vault, key, err);
}

/* Called for its effect: a server that lost the store leaves its log and its mark alone. */
static void leave_log(tacit__vault *vault)
{
    if (vault->db != NULL && vault->file >= 0)
        (void)tacit__vault_has_log(vault);
}

static void unlock(tacit__vault *vault)
{
    if (vault->file >= 0)
        (void)close(vault->file);
    if (vault->lock >= 0)
        (void)close(vault->lock);
}

static tacit_status begin(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__connection_run(vault->db, "BEGIN IMMEDIATE", "write", err));
    return vault->use == TACIT__VAULT_SERVE ? tacit__vault_check_owner(vault, err) : TACIT_OK;
}

static tacit_status do_nothing(tacit__vault *vault, tacit_error *err)
{
    (void)vault, (void)err;
    return TACIT_OK;
}

/* Otherwise it is in a file that nobody will find. */
static tacit_status after_commit(tacit__vault *vault, tacit_error *err)
{
    return vault->use == TACIT__VAULT_SERVE ? tacit__vault_check_file(vault, err) : TACIT_OK;
}

/* Reads the mark first: it is never ahead of a store that is read after it. */
static tacit_status check_status(tacit__vault *vault, tacit__store_status *store_status,
                                 tacit_error *err)
{
    bool found;
    uint64_t mark;
    TRY(tacit__mark_read(vault, &found, &mark, err));
    TRY(tacit__vault_read_facts(vault, NULL, err));
    *store_status = tacit__vault_compare_mark(vault, found, mark);
    return TACIT_OK;
}

static tacit_status settle(tacit__vault *vault, tacit_error *err)
{
    return tacit__vault_set_fact(vault, "unmarked", "", 1, err);
}

static tacit_status adopted(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__vault_read_facts(vault, NULL, err));
    TRY(tacit__vault_update_status(vault, err));
    return tacit__vault_claim_ownership(vault, err);
}

/* The process that has the file has the leases of all its learners. */
static tacit_status lease(tacit__vault *vault, int64_t learner, bool wanted, bool *held,
                          tacit_error *err)
{
    (void)vault, (void)learner, (void)err;
    *held = wanted;
    return TACIT_OK;
}

static tacit_status check_session(tacit__vault *vault, int64_t learner, int64_t session, bool *held,
                                  tacit_error *err)
{
    (void)vault, (void)learner, (void)session, (void)err;
    *held = true;
    return TACIT_OK;
}

const tacit__backend tacit__backend_sqlite = {
    .open = open_file,
    .leave = leave_log,
    .close = unlock,
    .begin_snapshot = "BEGIN",
    .keeps_snapshots = true,
    .bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    .begin = begin,
    .before_commit = do_nothing,
    .after_commit = after_commit,
    .check_pages = tacit__vault_check_pages,
    .check_status = check_status,
    .settle = settle,
    .adopted = adopted,
    .copy = tacit__vault_copy_file,
    .watch_log = tacit__log_watch,
    .log_is_long = tacit__log_is_long,
    .empty_log = tacit__log_empty,
    .truncate_log = tacit__log_truncate,
    .lease = lease,
    .check_session = check_session};
