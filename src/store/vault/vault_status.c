/* Whether a server may learn from a store. See store/vault/vault.h.
 *
 * A store has one owner: 16 random bytes that a server writes into it when it opens it. Locks keep a
 * second server away where they work. Where they do not, on a network file system or when files were
 * exchanged, the owner does: every transaction checks that the owner is still the same, and that the file
 * is still the one that was opened. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"

static const struct {
    const char *name, *reason;
} statuses[] = {
    [TACIT__STORE_FINE] = {"fine", "the store is the original, and complete"},
    [TACIT__STORE_COPY] = {"copy", "the store is a copy: the original may continue to learn"},
    [TACIT__STORE_BEHIND] = {"behind", "the store went back, or its mark does not fit: it is "
                                       "unknown which users are missing from it"},
    [TACIT__STORE_UNSOUND] = {"unsound", "the store's counts do not add up; tacit store check "
                                         "says which"},
    [TACIT__STORE_FENCED] = {"fenced", "another server has taken over the store"}};

tacit__store_status tacit__vault_store_status(const tacit__vault *vault)
{
    return (tacit__store_status)atomic_load_explicit(&vault->store_status, memory_order_relaxed);
}

const char *tacit__store_status_name(tacit__store_status store_status)
{
    TACIT__REQUIRE((size_t)store_status < sizeof statuses / sizeof *statuses);
    return statuses[store_status].name;
}

const char *tacit__store_status_reason(tacit__store_status store_status)
{
    TACIT__REQUIRE((size_t)store_status < sizeof statuses / sizeof *statuses);
    return statuses[store_status].reason;
}

bool tacit__vault_is_copy(const tacit__vault *vault)
{
    return vault->copy;
}

void tacit__vault_when_fenced(tacit__vault *vault, void (*call)(void *context), void *context)
{
    vault->fenced = call;
    vault->fenced_context = context;
}

bool tacit__vault_is_shared(const tacit__vault *vault)
{
    return vault->backend->shared;
}

bool tacit__vault_is_unsafe(const tacit__vault *vault)
{
    return vault->was_unsafe;
}

uint64_t tacit__vault_forks(const tacit__vault *vault)
{
    return vault->forks;
}

void tacit__vault_set_start(tacit__vault *vault, const void *bytes, size_t size)
{
    uint8_t digest[TACIT__KEY_BYTES];
    uint64_t start;
    tacit__digest(&(tacit__bytes){bytes, size}, 1, digest);
    memcpy(&start, digest, sizeof start);
    atomic_store(&vault->start, start);
}

void tacit__vault_get_names(const tacit__vault *vault, char store[TACIT__STORE_NAME],
                            char start[TACIT__STORE_NAME])
{
    (void)snprintf(store, TACIT__STORE_NAME, "%016" PRIx64, vault->origin);
    (void)snprintf(start, TACIT__STORE_NAME, "%016" PRIxFAST64, atomic_load(&vault->start));
}

tacit__store_status tacit__vault_compare_mark(const tacit__vault *vault, bool found, uint64_t mark)
{
    /* A store without a mark was just created, adopted or given another key. A mark under its key with as
     * many forks is that of another fork, which was adopted before or elsewhere. */
    bool behind = true;
    if (found)
        behind = mark > vault->generation;
    else if (vault->unmarked)
        behind = vault->marked_forks >= vault->forks;
    if (vault->copy)
        return TACIT__STORE_COPY;
    return behind ? TACIT__STORE_BEHIND : TACIT__STORE_FINE;
}

/* A new store does not overwrite a mark under another key: two service files may name the same mark. A mark
 * beside the store is left over from a store that was removed. */
static tacit_status check_foreign(const tacit__vault *vault, tacit_error *err)
{
    if (!vault->mark_foreign || vault->generation > 1 || !vault->mark_named)
        return TACIT_OK;
    return tacit__fail(err, TACIT_BAD_ARGUMENT,
                       "%.200s: this is the mark of another store; give this store a mark of its "
                       "own, or remove the file if no store uses it any more",
                       vault->mark_path);
}

tacit_status tacit__vault_update_status(tacit__vault *vault, tacit_error *err)
{
    bool found = false;
    uint64_t mark = 0;
    const char *why = NULL;
    TRY(tacit__mark_read(vault, &found, &mark, err));
    TRY(tacit__vault_check_sums(vault, &why, err));
    if (why == NULL)
        TRY(tacit__vault_check_people(vault, &why, err));
    tacit__store_status store_status = tacit__vault_compare_mark(vault, found, mark);
    if (store_status == TACIT__STORE_FINE)
        TRY(check_foreign(vault, err));
    if (store_status == TACIT__STORE_FINE && why != NULL)
        store_status = TACIT__STORE_UNSOUND;
    atomic_store(&vault->store_status, (int)store_status);
    return TACIT_OK;
}

/* Checks, inside a transaction, that no other process has written since this vault read its facts. */
static tacit_status check_unchanged(tacit__vault *vault, tacit_error *err)
{
    const uint64_t generation = vault->generation;
    TRY(tacit__vault_read_facts(vault, NULL, err));
    if (vault->generation != generation)
        return tacit__vault_refuse_second(vault, err);
    return TACIT_OK;
}

static tacit_status write_owner(tacit__vault *vault, bool fine, tacit_error *err)
{
    TRY(check_unchanged(vault, err));
    if (fine) /* it may be too low, after a loss of power */
        TRY(tacit__mark_make(vault, err));
    tacit__random_bytes(vault->owner, sizeof vault->owner);
    tacit__vault_set_start(vault, vault->owner, sizeof vault->owner);
    TRY(tacit__vault_set_fact(vault, "owner", vault->owner, sizeof vault->owner, err));
    if (fine && vault->unmarked)
        return tacit__vault_set_fact(vault, "unmarked", NULL, 0, err);
    return TACIT_OK;
}

tacit_status tacit__vault_claim_ownership(tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(vault->use == TACIT__VAULT_SERVE);
    const bool fine = tacit__vault_store_status(vault) == TACIT__STORE_FINE;
    TRY(tacit__connection_run(vault->db, "BEGIN IMMEDIATE", "write", err));
    TRY(tacit__vault_finish_transaction(vault, write_owner(vault, fine, err), err));
    vault->owned = true;
    if (fine)
        vault->unmarked = false;
    return TACIT_OK;
}

/* Whether the path still names the file that was opened. */
static bool is_in_place(const tacit__vault *vault)
{
    struct stat here, ours;
    return stat(vault->path, &here) == 0 && fstat(vault->file, &ours) == 0 &&
           here.st_dev == ours.st_dev && here.st_ino == ours.st_ino;
}

/* The log has the name of the store, so it belongs to the new owner: it is neither copied into our file nor
 * removed. */
tacit_status tacit__vault_fence(tacit__vault *vault, const char *what, tacit_error *err)
{
    if (vault->backend == &tacit__backend_sqlite)
        (void)sqlite3_db_config(tacit__sqlite_of(vault->db)->handle,
                                SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    if (atomic_exchange(&vault->store_status, (int)TACIT__STORE_FENCED) !=
            (int)TACIT__STORE_FENCED &&
        vault->fenced != NULL)
        vault->fenced(vault->fenced_context);
    return tacit__fail(err, TACIT_FENCED, "%.200s: %s; this server stops writing and exits",
                       vault->path, what);
}

tacit_status tacit__vault_check_file(tacit__vault *vault, tacit_error *err)
{
    return is_in_place(vault)
               ? TACIT_OK
               : tacit__vault_fence(vault, "the file was moved, removed or replaced", err);
}

bool tacit__vault_has_log(tacit__vault *vault)
{
    if (vault->use != TACIT__VAULT_SERVE)
        return true;
    if (vault->owned)
        return tacit__vault_check_owner(vault, NULL) == TACIT_OK;
    return tacit__vault_check_file(vault, NULL) == TACIT_OK;
}

tacit_status tacit__vault_check_owner(tacit__vault *vault, tacit_error *err)
{
    tacit__cursor *s;
    bool found = false;
    if (tacit__vault_store_status(vault) == TACIT__STORE_FENCED)
        return tacit__vault_fence(vault, "another server has taken over the store", err);
    TRY(tacit__vault_check_file(vault, err));
    TRY(tacit__connection_prepare(vault->db, SQL_OWNER, "SELECT value FROM meta WHERE name='owner'",
                                  &s, err));
    TRY(tacit__cursor_next(s, &found, err));
    size_t size = 0;
    const void *owner = found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    bool ours = size == sizeof vault->owner && memcmp(owner, vault->owner, size) == 0;
    tacit__cursor_reset(s);
    return ours ? TACIT_OK
                : tacit__vault_fence(vault, "another server has taken over the store", err);
}
