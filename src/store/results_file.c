/* The file: opening, locking, transactions.
 *
 * While it is written the database is in write-ahead mode: a commit appends and does not wait for the
 * disk, so it is cheap, survives the death of the process, and can be read at the same time; only a power
 * failure may cost the last commits, and even then the database is whole. A writer that closes turns the
 * file back into a plain one, which can be read from anywhere, also from a directory that may not be
 * written to. A lock on the directory ensures that there is one writer, if the file system supports such
 * locks. */
#include "store/results_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/db.h"
#include "store/store.h"

#define APPLICATION "1413563220" /* 0x54414354: "TACT" */
enum { FORMAT = 4 };
static const unsigned char application_bytes[4] = {0x54, 0x41, 0x43, 0x54};

/* Added later; an older file gets it when it is written to. */
#define ESTIMATE                                                                                   \
    "CREATE TABLE IF NOT EXISTS estimate(job INTEGER PRIMARY KEY, matched INTEGER NOT NULL,"       \
    "  ips REAL, ips_error REAL, self_normalized REAL, self_normalized_error REAL,"                \
    "  doubly_robust REAL, doubly_robust_error REAL, effective REAL, logging REAL,"                \
    "  logging_error REAL, constant REAL, constant_error REAL, lift_logging REAL,"                 \
    "  lift_logging_error REAL, lift_constant REAL, lift_constant_error REAL)"

static const char schema[] =
    "PRAGMA application_id = " APPLICATION ";"
    "PRAGMA user_version = 4;"
    "CREATE TABLE head(identity BLOB NOT NULL, version TEXT NOT NULL, file TEXT NOT NULL,"
    "  title TEXT NOT NULL, text BLOB NOT NULL, episodes INTEGER NOT NULL, runs INTEGER NOT NULL,"
    "  jobs INTEGER NOT NULL, changed_episodes INTEGER NOT NULL, changed_runs INTEGER NOT NULL,"
    "  changed_seed INTEGER NOT NULL);"
    "CREATE TABLE world(number INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL,"
    "  family INTEGER NOT NULL, states INTEGER NOT NULL, actions INTEGER NOT NULL,"
    "  horizon INTEGER NOT NULL, stationary INTEGER NOT NULL, reward_low REAL, reward_high REAL,"
    "  optimal_scaled REAL, optimal_value REAL, people INTEGER NOT NULL,"
    "  labelled INTEGER NOT NULL, remark TEXT NOT NULL);"
    "CREATE TABLE agent(number INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL,"
    "  model TEXT NOT NULL, epsilon REAL, delta REAL, calibration TEXT NOT NULL);"
    "CREATE TABLE part(number INTEGER PRIMARY KEY, world INTEGER NOT NULL REFERENCES world,"
    "  agent INTEGER NOT NULL REFERENCES agent, kind TEXT NOT NULL, remark TEXT NOT NULL,"
    "  law INTEGER NOT NULL);"
    "CREATE TABLE release(part INTEGER NOT NULL REFERENCES part, line INTEGER NOT NULL,"
    "  name TEXT NOT NULL, reason TEXT, dimension INTEGER NOT NULL, steps INTEGER NOT NULL,"
    "  l1 REAL, l2 REAL, column_l1 REAL, column_l2 REAL, weight REAL, scale REAL,"
    "  mechanism TEXT, visits INTEGER NOT NULL, apart INTEGER NOT NULL,"
    "  PRIMARY KEY(part, line)) WITHOUT ROWID;"
    "CREATE TABLE job(number INTEGER PRIMARY KEY, part INTEGER NOT NULL REFERENCES part,"
    "  run INTEGER NOT NULL, regret REAL NOT NULL, late_regret REAL NOT NULL,"
    "  switches INTEGER NOT NULL, seconds REAL NOT NULL);"
    "CREATE TABLE point(job INTEGER NOT NULL, episode INTEGER NOT NULL, regret REAL NOT NULL,"
    "  PRIMARY KEY(job, episode)) WITHOUT ROWID;" ESTIMATE ";"
    /* For people with a prompt; runs count from 1 as in curves.csv. */
    "CREATE VIEW curve AS SELECT w.label AS world, a.label AS agent,"
    "  p.job / (SELECT count(*) FROM part) + 1 AS run, p.episode, p.regret"
    "  FROM point p JOIN part ON part.number = p.job % (SELECT count(*) FROM part)"
    "  JOIN world w ON w.number = part.world JOIN agent a ON a.number = part.agent;";

const char *tacit__store_path(const tacit__store *store)
{
    return store->path;
}

/* --- Opening ------------------------------------------------------------------------------------- */

static tacit_status fail_system(const tacit__store *store, const char *doing, tacit_error *err)
{
    return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot %s: %s", store->path, doing,
                       strerror(errno));
}

/* One writer. Where directories cannot be locked (some network file systems) there is no lock. */
static tacit_status lock(tacit__store *store, const char *directory, tacit_error *err)
{
    store->lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->lock < 0)
        return fail_system(store, "open the directory", err);
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tacit__fail(err, TACIT_SYSTEM,
                           "%.200s: another run is writing to it; wait for it, or stop it",
                           store->path);
    return TACIT_OK;
}

/* The header of a database says whose it is, also when the rest is damaged or not yet there. */
typedef enum owner { NOBODY, OURS, OTHERS } owner;

static tacit_status find_owner(const tacit__store *store, owner *out, tacit_error *err)
{
    unsigned char head[72] = {0};
    int fd = open(store->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *out = NOBODY;
        return TACIT_OK;
    }
    struct stat info;
    ssize_t n = -1;
    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode))
        errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    else if (fd >= 0)
        n = read(fd, head, sizeof head);
    int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = reason;
    if (n < 0)
        return fail_system(store, "read", err);
    *out = n == 0 ? NOBODY
           : n == (ssize_t)sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
                   memcmp(head + 68, application_bytes, 4) == 0
               ? OURS
               : OTHERS;
    if (*out == OTHERS)
        return tacit__fail(err, TACIT_CORRUPT,
                           "%.200s: this is not a database of results; it was not changed",
                           store->path);
    return TACIT_OK;
}

static tacit_status open_handle(tacit__store *store, tacit__store_mode mode, tacit_error *err)
{
    int flags = mode == TACIT__STORE_READ    ? SQLITE_OPEN_READONLY
                : mode == TACIT__STORE_WRITE ? SQLITE_OPEN_READWRITE
                                             : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    TRY(tacit__sqlite_create(store->path, &store->db, err));
    tacit__db *db = tacit__sqlite_of(store->db);
    int code = sqlite3_open_v2(store->path, &db->handle,
                               flags | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return tacit__db_fail(db, code, "open", err);
    /* A reader may find a writer at its checkpoint for a moment. */
    (void)sqlite3_busy_timeout(db->handle, mode == TACIT__STORE_READ ? 5000 : 1000);
    return TACIT_OK;
}

/* 0: the database is empty, because its first transaction did not come to its end. */
static tacit_status read_format(tacit__store *store, int *format, tacit_error *err)
{
    tacit__cursor *row = NULL;
    bool more = false;
    TRY(tacit__connection_prepare(store->db, TACIT__ONCE, "PRAGMA user_version", &row, err));
    tacit_status status = tacit__cursor_next(row, &more, err);
    *format = more ? (int)tacit__cursor_int(row, 0) : 0;
    tacit__cursor_close(row);
    if (status == TACIT_OK && *format != FORMAT && *format != 0)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "%.200s: format %d, expected %d; it was written by another version",
                           store->path, *format, FORMAT);
    return status;
}

/* Cheap commits. A file system that cannot do this (no shared memory) keeps its own way. */
static tacit_status prepare_writing(tacit__store *store, tacit_error *err)
{
    tacit__connection_reset_all(store->db);
    TRY(tacit__connection_run(store->db, "PRAGMA journal_mode = WAL", "prepare writing", err));
    TRY(tacit__connection_run(store->db, "PRAGMA synchronous = NORMAL", "prepare writing", err));
    TRY(tacit__connection_run(store->db, ESTIMATE, "prepare writing", err));
    store->prepared = true;
    return TACIT_OK;
}

static tacit_status open_as(tacit__store *store, const char *directory, tacit__store_mode mode,
                            bool *nothing, tacit_error *err)
{
    owner whose = NOBODY;
    int format = 0;
    if (mode != TACIT__STORE_READ)
        TRY(lock(store, directory, err));
    TRY(find_owner(store, &whose, err));
    *nothing = whose == NOBODY && mode != TACIT__STORE_CREATE;
    if (*nothing)
        return TACIT_OK;
    TRY(open_handle(store, mode, err));
    TRY(read_format(store, &format, err));
    *nothing = format == 0 && mode != TACIT__STORE_CREATE;
    if (mode == TACIT__STORE_CREATE && format != 0)
        return tacit__fail(err, TACIT_EXISTS, "%.200s: exists already", store->path);
    if (mode != TACIT__STORE_CREATE)
        return TACIT_OK;
    TRY(tacit__connection_run(store->db, "BEGIN IMMEDIATE", "write", err));
    return tacit__connection_run(store->db, schema, "write", err);
}

tacit_status tacit__store_open(const char *directory, tacit__store_mode mode, tacit__store **out,
                               tacit_error *err)
{
    TACIT__REQUIRE(directory != NULL && out != NULL);
    tacit__store *store = tacit__alloc(1, sizeof *store);
    if (store == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    store->lock = -1;
    int length = snprintf(store->path, sizeof store->path, "%s/results.db", directory);
    bool nothing = false;
    tacit_status status =
        length < (int)sizeof store->path - 8
            ? open_as(store, directory, mode, &nothing, err)
            : tacit__fail(err, TACIT_SYSTEM, "%.200s...: the path is too long", directory);
    if (status == TACIT_OK && nothing && mode == TACIT__STORE_READ)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: does not exist; tacit run -o writes one", store->path);
    if (status != TACIT_OK || nothing) {
        tacit__store_close(store);
        store = NULL;
    }
    if (status == TACIT_OK)
        *out = store;
    return status;
}

void tacit__store_close(tacit__store *store)
{
    if (store == NULL)
        return;
    if (store->prepared) {
        /* Wishes: what was committed is safe in either form. */
        (void)!tacit__connection_run(store->db, "ROLLBACK", "close", NULL);
        tacit__connection_reset_all(store->db);
        (void)!tacit__connection_run(store->db, "PRAGMA journal_mode = DELETE", "close", NULL);
    }
    tacit__connection_destroy(store->db);
    if (store->lock >= 0)
        (void)close(store->lock);
    tacit__free(store);
}

tacit_status tacit__store_remove(tacit__store *store, tacit_error *err)
{
    static const char *const tails[] = {"-wal", "-shm", "-journal", ""};
    tacit_status status = TACIT_OK;
    store->prepared = false;
    tacit__connection_destroy(store->db);
    store->db = NULL;
    for (size_t i = 0; i < sizeof tails / sizeof *tails && status == TACIT_OK; i++) {
        char path[TACIT__DB_PATH + 16];
        (void)snprintf(path, sizeof path, "%s%s", store->path, tails[i]);
        if (unlink(path) != 0 && errno != ENOENT)
            status = fail_system(store, "remove", err);
    }
    tacit__store_close(store);
    return status;
}

tacit_status tacit__store_begin(tacit__store *store, tacit_error *err)
{
    TACIT__REQUIRE(store->db != NULL);
    if (!store->prepared)
        TRY(prepare_writing(store, err));
    return tacit__connection_run(store->db, "BEGIN IMMEDIATE", "write", err);
}

tacit_status tacit__store_clear(tacit__store *store, tacit_error *err)
{
    return tacit__connection_run(
        store->db,
        "DELETE FROM point; DELETE FROM estimate; DELETE FROM job; DELETE FROM "
        "release; DELETE FROM part;"
        "DELETE FROM agent; DELETE FROM world; DELETE FROM head;",
        "write", err);
}

tacit_status tacit__store_commit(tacit__store *store, tacit_error *err)
{
    return tacit__connection_run(store->db, "COMMIT", "write", err);
}
