/* Opens a vault in any kind of store (see store/backend.h), and manages the leases of its learners. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

bool tacit__vault_is_remote(const char *path)
{
    static const char *const beginnings[] = {"postgresql://", "postgres://", "service="};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(path, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static tacit_status choose_backend(const char *path, const tacit__backend **out, tacit_error *err)
{
    *out = tacit__vault_is_remote(path) ? tacit__backend_postgres : &tacit__backend_sqlite;
    return *out != NULL ? TACIT_OK
                        : tacit__fail(err, TACIT_UNSUPPORTED,
                                      "this build has no PostgreSQL: libpq was not there "
                                      "(libpq-dev); give a file as store");
}

tacit_status tacit__vault_open_at(const tacit__vault_location *location, tacit__vault_use use,
                                  const uint8_t *key, tacit__vault **out, tacit_error *err)
{
    const char *path = location->path, *mark = location->mark;
    const tacit__backend *backend;
    TACIT__REQUIRE(use != TACIT__VAULT_SERVE || key != NULL);
    if (strlen(path) >= TACIT__DB_PATH || (mark != NULL && strlen(mark) >= TACIT__DB_PATH))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the store's path is too long");
    TRY(choose_backend(path, &backend, err));
    tacit__vault *vault = tacit__alloc(1, sizeof *vault);
    if (vault == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal_start();
    vault->backend = backend;
    vault->use = use;
    vault->unsafe = location->unsafe;
    vault->may_be_gone = location->gone;
    vault->lock = vault->file = vault->mark = -1;
    vault->mark_named = mark != NULL;
    tacit__vault_describe(path, vault->path, sizeof vault->path);
    (void)snprintf(vault->mark_path, sizeof vault->mark_path, "%s%s", mark != NULL ? mark : path,
                   mark != NULL ? "" : ".mark");
    tacit_status status = backend->open(vault, path, key, err);
    if (status != TACIT_OK) {
        tacit__vault_close(vault);
        return status;
    }
    *out = vault;
    return TACIT_OK;
}

tacit_status tacit__vault_open(const char *path, tacit__vault_use use, const uint8_t *key,
                               tacit__vault **out, tacit_error *err)
{
    return tacit__vault_open_at(&(tacit__vault_location){.path = path}, use, key, out, err);
}

void tacit__vault_close(tacit__vault *vault)
{
    if (vault == NULL)
        return;
    vault->backend->leave(vault);
    if (vault->mark >= 0) {
        /* one that cannot be raised is too low, which notices less, and never too much */
        tacit_status status = tacit__mark_raise(vault, true, NULL);
        (void)status;
        (void)close(vault->mark);
    }
    tacit__connection_destroy(vault->db);
    vault->backend->close(vault);
    tacit__text_destroy(&vault->announcements);
    tacit__free_secret(vault, sizeof *vault);
}

/* --- Leases -------------------------------------------------------------------------------------- */

tacit_status tacit__vault_lease(tacit__vault *vault, int64_t learner, bool wanted, bool *held,
                                tacit_error *err)
{
    *held = false;
    return vault->backend->lease(vault, learner, wanted, held, err);
}

static tacit_status fail_lease(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_FENCED, "%.200s: another process learns now", vault->path);
}

static tacit_status read_epoch(tacit__vault *vault, int64_t learner, uint64_t *epoch,
                               tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_EPOCH, "SELECT epoch FROM learner WHERE id=?", &s,
                                  err));
    tacit__cursor_bind_int(s, 1, learner);
    TRY(tacit__cursor_next(s, &found, err));
    *epoch = found ? (uint64_t)tacit__cursor_int(s, 0) : UINT64_MAX;
    tacit__cursor_reset(s);
    return TACIT_OK;
}

static tacit_status check_session(tacit__vault *vault, const tacit__vault_learner *learner,
                                  tacit_error *err)
{
    bool held = false;
    TRY(vault->backend->check_session(vault, learner->id, learner->session, &held, err));
    return held ? TACIT_OK : fail_lease(vault, err);
}

tacit_status tacit__vault_check_lease(tacit__vault *vault, const tacit__vault_learner *learner,
                                      tacit_error *err)
{
    uint64_t epoch = 0;
    if (tacit__vault_store_status(vault) != TACIT__STORE_FINE)
        return tacit__fail(err, TACIT_FENCED, "%.150s: %s", vault->path,
                           tacit__store_status_reason(tacit__vault_store_status(vault)));
    TRY(read_epoch(vault, learner->id, &epoch, err));
    return epoch == learner->epoch ? check_session(vault, learner, err) : fail_lease(vault, err);
}

tacit_status tacit__vault_take_over(tacit__vault *vault, tacit__vault_learner *learner,
                                    tacit_error *err)
{
    uint64_t epoch = 0;
    TRY(check_session(vault, learner, err));
    TRY(read_epoch(vault, learner->id, &epoch, err));
    TRY(tacit__connection_write(vault->db, SQL_SET_EPOCH, "UPDATE learner SET epoch=? WHERE id=?",
                                err, "ii", (int64_t)epoch + 1, learner->id));
    learner->epoch = epoch + 1;
    return tacit__vault_prove(vault, learner->id, err);
}

tacit_status tacit__vault_await_news(tacit__vault *vault, tacit__vault *served, int ms,
                                     tacit__vault_news *news, tacit_error *err)
{
    news->any = news->missed = news->replaced = false;
    if (vault->backend->await != NULL)
        return vault->backend->await(vault, served, ms, news, err);
    return TACIT_OK;
}

/* --- Expectations -------------------------------------------------------------------------------- */

void tacit__vault_expect_user(tacit__vault *vault, const tacit__vault_expected_user *user)
{
    const size_t size = TACIT__VAULT_KEY;
    const int64_t learner = user->learner;
    tacit__connection *db = vault->db;
    void (*const expect)(tacit__connection *, int, const char *, const char *, ...) =
        user->is_new ? tacit__connection_assume : tacit__connection_expect;
    if (!vault->backend->shared)
        return; /* it is here, and answers at once */
    tacit__connection_expect(db, SQL_TERMS, TACIT__SQL_TERMS, "i", learner);
    expect(db, SQL_IS_SEEN, TACIT__SQL_IS_SEEN, "ib", learner, user->key, size);
    if (user->content != NULL)
        tacit__connection_expect(db, SQL_FIND_REPORT, TACIT__SQL_FIND_REPORT, "ib", learner,
                                 user->content, size);
    else
        tacit__connection_expect(db, SQL_GET_EPISODE, TACIT__SQL_GET_EPISODE, "ib", learner,
                                 user->key, size);
    if (user->returns)
        tacit__connection_expect(db, SQL_FIND_VERDICT, TACIT__SQL_FIND_VERDICT, "ib", learner,
                                 user->key, size);
    if (user->person != NULL && user->returns)
        tacit__connection_expect(db, SQL_VISITS, TACIT__SQL_VISITS, "ib", learner, user->person,
                                 size);
    else if (user->person != NULL)
        expect(db, SQL_CLAIMED, TACIT__SQL_CLAIMED, "ib", learner, user->person, size);
}

bool tacit__vault_assumed_wrongly(const tacit__vault *vault)
{
    return tacit__connection_assumed_wrongly(vault->db);
}

void tacit__vault_expect_quota(tacit__vault *vault, int64_t token, int64_t day)
{
    if (vault->backend->shared)
        tacit__connection_expect(vault->db, SQL_QUOTA, TACIT__SQL_QUOTA, "ii", token, day);
}
