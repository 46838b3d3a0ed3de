/* Transactions of a vault, and its learners. See store/vault/vault.h.
 *
 * Every write transaction of the owner first checks that the process is still the owner. At its end it proves
 * what it has changed, with a number that is one higher than that of the last transaction. When it is on
 * disk, and not before, the mark is raised to that number. A process may be suspended for a long time in the
 * middle, so it checks once more that the file is in its place before it reports success. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

/* --- Small things ------------------------------------------------------------------------------ */

tacit_status tacit__vault_open_sealed(const tacit__vault *vault, const uint8_t *key,
                                      const void *sealed, size_t size, uint8_t **out,
                                      size_t *out_size, tacit_error *err)
{
    TACIT__REQUIRE(out != NULL && out_size != NULL);
    if (!vault->keyed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: this needs the key", vault->path);
    if (size < TACIT__SEAL_BYTES)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: a sealed value is cut short", vault->path);
    uint8_t *data = tacit__alloc(size - TACIT__SEAL_BYTES, 1);
    if (data == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (!tacit__unseal(key, sealed, size, data)) {
        tacit__free(data);
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: something sealed was changed", vault->path);
    }
    *out = data;
    *out_size = size - TACIT__SEAL_BYTES;
    return TACIT_OK;
}

tacit_status tacit__vault_query_number(tacit__vault *vault, const char *sql, int64_t *out,
                                       tacit_error *err)
{
    TACIT__REQUIRE(sql != NULL && out != NULL);
    tacit__cursor *s = NULL;
    bool found = false;
    TRY(tacit__vault_prepare(vault, sql, &s, err));
    tacit_status status = tacit__cursor_next(s, &found, err);
    if (found)
        *out = tacit__cursor_int(s, 0);
    tacit__cursor_close(s);
    return status == TACIT_OK && !found
               ? tacit__fail(err, TACIT_CORRUPT, "%.200s: a number is missing", vault->path)
               : status;
}

tacit_status tacit__vault_prepare(tacit__vault *vault, const char *sql, tacit__cursor **out,
                                  tacit_error *err)
{
    return tacit__connection_prepare(vault->db, TACIT__ONCE, sql, out, err);
}

tacit_status tacit__vault_each_learner(tacit__vault *vault, tacit__vault_each *each, void *context,
                                       tacit_error *err)
{
    TACIT__REQUIRE(each != NULL);
    /* the next one by its number, so that no statement is open, and no snapshot held, while one is looked
     * at */
    tacit_status status = TACIT_OK;
    for (int64_t last = 0; status == TACIT_OK;) {
        tacit__cursor *s;
        status = tacit__vault_prepare(vault, "SELECT min(id) FROM learner WHERE id>?", &s, err);
        if (status != TACIT_OK)
            break;
        tacit__cursor_bind_int(s, 1, last);
        bool found;
        status = tacit__cursor_next(s, &found, err);
        found = found && tacit__cursor_type(s, 0) != TACIT__COLUMN_NULL;
        last = found ? tacit__cursor_int(s, 0) : 0;
        tacit__cursor_close(s);
        if (!found)
            break;
        status = each(vault, last, context, err);
    }
    return status;
}

tacit_status tacit__vault_sync_directory(const char *path, tacit_error *err)
{
    TACIT__REQUIRE(path != NULL && path[0] != '\0');
    char directory[TACIT__DB_PATH + 16];
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(directory, slash == NULL ? "." : path, n);
    directory[n] = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* some file systems cannot */
    int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    return good ? TACIT_OK
                : tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot be synced: %s", directory,
                              strerror(reason));
}

/* --- Transactions ------------------------------------------------------------------------------ */

tacit_status tacit__vault_begin(tacit__vault *vault, tacit_error *err)
{
    tacit_status status = vault->backend->begin(vault, err);
    /* the mark must know what is on disk before there is more; only who serves knows how far the store is */
    if (status == TACIT_OK && vault->mark_due)
        status = tacit__mark_raise(vault, true, err);
    if (status != TACIT_OK)
        tacit__vault_undo(vault);
    return status;
}

/* Counts one more transaction of the owner. Those of a store that must not be learned from are not
 * counted. */
static tacit_status count_transaction(tacit__vault *vault, bool *counted, tacit_error *err)
{
    TACIT__REQUIRE(vault->use == TACIT__VAULT_SERVE);
    *counted = tacit__vault_store_status(vault) == TACIT__STORE_FINE;
    if (*counted)
        TRY(tacit__vault_set_count(vault, "generation", vault->generation + 1, err));
    return tacit__vault_prove_all(vault, err);
}

tacit_status tacit__vault_commit(tacit__vault *vault, tacit_error *err)
{
    bool counted = false;
    tacit_status status = TACIT_OK;
    if (vault->use == TACIT__VAULT_SERVE)
        status = count_transaction(vault, &counted, err);
    if (status == TACIT_OK)
        status = vault->backend->before_commit(vault, err);
    if (status == TACIT_OK)
        status = tacit__connection_run(vault->db, "COMMIT", "write", err);
    vault->n_terms = 0;
    if (status != TACIT_OK) {
        tacit__vault_undo(vault);
        return status;
    }
    tacit__vault_clear_announcements(vault);
    vault->generation += counted;
    status = vault->backend->after_commit(vault, err);
    if (status == TACIT_OK && counted) {
        vault->mark_due = tacit__mark_raise(vault, false, NULL) != TACIT_OK;
    }
    return status;
}

void tacit__vault_undo(tacit__vault *vault)
{
    tacit__connection_reset_all(vault->db);
    vault->answers_counted = false;
    vault->n_touched = vault->n_terms = 0;
    tacit__vault_clear_announcements(vault);
    if (tacit__connection_in_transaction(vault->db) &&
        tacit__connection_run(vault->db, "ROLLBACK", "write", NULL) != TACIT_OK)
        return; /* the connection is gone, and the transaction with it */
}

tacit_status tacit__vault_finish_transaction(tacit__vault *vault, tacit_status status,
                                             tacit_error *err)
{
    if (status == TACIT_OK)
        return tacit__vault_commit(vault, err);
    tacit__vault_undo(vault);
    return status;
}

tacit_status tacit__vault_begin_snapshot(tacit__vault *vault, bool *alone, tacit_error *err)
{
    *alone = !tacit__connection_in_transaction(vault->db);
    return *alone ? tacit__connection_run(vault->db, vault->backend->begin_snapshot, "read", err)
                  : TACIT_OK;
}

void tacit__vault_end_snapshot(tacit__vault *vault, bool alone)
{
    if (alone)
        tacit__vault_undo(vault);
}

bool tacit__vault_hold_snapshot(tacit__vault *vault)
{
    return vault->backend->keeps_snapshots &&
           tacit__connection_run(vault->db, vault->backend->begin_snapshot, "read", NULL) ==
               TACIT_OK;
}

void tacit__vault_drop_snapshot(tacit__vault *vault)
{
    tacit__vault_undo(vault);
}

void tacit__vault_watch_log(tacit__vault *vault)
{
    if (vault->backend->watch_log != NULL)
        vault->backend->watch_log(vault);
}

bool tacit__vault_log_is_long(tacit__vault *vault, int pages)
{
    return vault->backend->log_is_long != NULL && vault->backend->log_is_long(vault, pages);
}

void tacit__vault_empty_log(tacit__vault *vault)
{
    vault->backend->empty_log(vault);
}

bool tacit__vault_truncate_log(tacit__vault *vault)
{
    const bool truncated =
        vault->backend->truncate_log == NULL || vault->backend->truncate_log(vault);
    if (tacit__vault_store_status(vault) != TACIT__STORE_FENCED)
        vault->mark_due = tacit__mark_raise(vault, true, NULL) != TACIT_OK;
    return truncated;
}

/* --- Learners ---------------------------------------------------------------------------------- */

static uint64_t count_at(tacit__cursor *statement, int column)
{
    return (uint64_t)tacit__cursor_int(statement, column);
}

static tacit_status find_row(tacit__vault *vault, const char *name, bool *found,
                             tacit__vault_learner *learner, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(
        vault->db, SQL_FIND_LEARNER,
        "SELECT id, fingerprint, users_limit, accepted, users, refused, version,"
        " taken, shown, visits, apart, named, epoch FROM learner WHERE name = ?",
        &s, err));
    tacit__cursor_bind_text(s, 1, name);
    TRY(tacit__cursor_next(s, found, err));
    if (!*found)
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    size_t size;
    const void *fingerprint = tacit__cursor_bytes(s, 1, &size);
    *learner = (tacit__vault_learner){.id = tacit__cursor_int(s, 0),
                                      .limit = count_at(s, 2),
                                      .accepted = count_at(s, 3),
                                      .users = count_at(s, 4),
                                      .refused = count_at(s, 5),
                                      .version = count_at(s, 6),
                                      .taken = tacit__cursor_int(s, 7),
                                      .shown = count_at(s, 8),
                                      .visits = count_at(s, 9),
                                      .apart = count_at(s, 10),
                                      .named = count_at(s, 11) != 0,
                                      .epoch = count_at(s, 12)};
    if (size != sizeof learner->fingerprint)
        status = tacit__fail(err, TACIT_CORRUPT, "%.200s: a learner is damaged", vault->path);
    else
        memcpy(learner->fingerprint, fingerprint, size);
    tacit__cursor_reset(s);
    return status;
}

/* The row and the state are read in one snapshot, since another process may write meanwhile. */
tacit_status tacit__vault_find_learner(tacit__vault *vault, const char *name, bool *found,
                                       tacit__vault_learner *learner, uint8_t **state,
                                       size_t *state_size, tacit_error *err)
{
    TACIT__REQUIRE(state == NULL || state_size != NULL);
    bool alone;
    if (state == NULL)
        return find_row(vault, name, found, learner, err);
    TRY(tacit__vault_begin_snapshot(vault, &alone, err));
    tacit_status status = find_row(vault, name, found, learner, err);
    if (status == TACIT_OK && *found)
        status = tacit__vault_open_state(vault, learner->id, state, state_size, err);
    tacit__vault_end_snapshot(vault, alone);
    return status;
}

tacit_status tacit__vault_count_accepted(tacit__vault *vault,
                                         void (*each)(void *context, int64_t learner,
                                                      uint64_t accepted),
                                         void *context, tacit_error *err)
{
    TACIT__REQUIRE(each != NULL);
    tacit__cursor *s;
    bool more = true;
    tacit_status status = tacit__connection_prepare(vault->db, SQL_COUNT_ACCEPTED,
                                                    "SELECT id, accepted FROM learner", &s, err);
    while (status == TACIT_OK && (status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more)
        each(context, tacit__cursor_int(s, 0), (uint64_t)tacit__cursor_int(s, 1));
    return status;
}

static tacit_status find_id(tacit__vault *vault, const char *name, int64_t *id, tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_FIND_ID, "SELECT id FROM learner WHERE name=?", &s,
                                  err));
    tacit__cursor_bind_text(s, 1, name);
    TRY(tacit__cursor_next(s, &found, err));
    *id = found ? tacit__cursor_int(s, 0) : 0;
    tacit__cursor_reset(s);
    return TACIT_OK;
}

tacit_status tacit__vault_add_learner(tacit__vault *vault, const char *name,
                                      tacit__vault_learner *learner, const uint8_t *state,
                                      size_t state_size, tacit_error *err)
{
    TACIT__REQUIRE(state != NULL && state_size > 0);
    learner->visits = learner->visits > 0 ? learner->visits : 1;
    learner->apart = learner->apart > 0 ? learner->apart : 1;
    TRY(tacit__connection_write(
        vault->db, SQL_ADD_LEARNER,
        "INSERT INTO learner(name, fingerprint, users_limit, accepted, users,"
        " refused, version, taken, shown, edition, visits, apart, named, epoch)"
        " VALUES(?,?,?,0,0,0,?,0,0,0,?,?,?,0)",
        err, "tbiiiii", name, learner->fingerprint, sizeof learner->fingerprint,
        (int64_t)learner->limit, (int64_t)learner->version, (int64_t)learner->visits,
        (int64_t)learner->apart, (int64_t)learner->named));
    TRY(find_id(vault, name, &learner->id, err));
    return tacit__vault_write_state(vault, learner->id, state, state_size, err);
}

tacit_status tacit__vault_add_point(tacit__vault *vault, int64_t learner,
                                    const tacit__vault_point *point, tacit_error *err)
{
    /* NaN is bound as NULL by SQLite */
    return tacit__connection_write(
        vault->db, SQL_ADD_POINT,
        "INSERT INTO history VALUES(?,?,?,?,?,?) ON CONFLICT(learner, users) DO"
        " UPDATE SET at=excluded.at, version=excluded.version,"
        " reward=excluded.reward, error=excluded.error",
        err, "iiiirr", learner, (int64_t)point->users, (int64_t)time(NULL), (int64_t)point->version,
        point->reward, point->error);
}
