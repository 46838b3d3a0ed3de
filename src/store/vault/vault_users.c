/* Users who wait for a learner, and tokens. See store/vault/vault.h. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

/* Finds out whether a query by (learner, key) finds a row. */
static tacit_status exists(tacit__vault *vault, int number, const char *sql, int64_t learner,
                           const uint8_t *key, bool *found, tacit__cursor **row, tacit_error *err)
{
    tacit__cursor *s;
    *found = false;
    TRY(tacit__connection_prepare(vault->db, number, sql, &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_bytes(s, 2, key, TACIT__VAULT_KEY);
    tacit_status status = tacit__cursor_next(s, found, err);
    if (row != NULL)
        *row = s;
    else
        tacit__cursor_reset(s);
    return status;
}

/* Finds out whether the person belongs to another episode (*has), or to any (*claimed). */
static tacit_status find_claim(tacit__vault *vault, int64_t learner, const uint8_t *person,
                               const uint8_t *key, bool *has, bool *claimed, tacit_error *err)
{
    TACIT__REQUIRE(has != NULL);
    tacit__cursor *row;
    tacit_status status =
        exists(vault, SQL_CLAIMED, TACIT__SQL_CLAIMED, learner, person, claimed, &row, err);
    size_t size = 0;
    const void *theirs = status == TACIT_OK && *claimed ? tacit__cursor_bytes(row, 0, &size) : NULL;
    *has = *claimed && !(size == TACIT__VAULT_KEY && key != NULL && memcmp(theirs, key, size) == 0);
    if (status == TACIT_OK)
        tacit__cursor_reset(row);
    return status;
}

tacit_status tacit__vault_has_person(tacit__vault *vault, int64_t learner,
                                     const uint8_t person[TACIT__VAULT_KEY],
                                     const uint8_t key[TACIT__VAULT_KEY], bool *has,
                                     tacit_error *err)
{
    bool claimed;
    return find_claim(vault, learner, person, key, has, &claimed, err);
}

/* *answer becomes PERSON if the person belongs to another episode, USED or SOON if they may come back and
 * this visit does not count, and FULL if the vault accepts no users. *claimed: the person belongs to this
 * episode already. */
static tacit_status check_person(tacit__vault *vault, int64_t learner, const uint8_t *person,
                                 const uint8_t *key, bool returns, tacit__vault_answer *answer,
                                 bool *claimed, tacit_error *err)
{
    bool has = false;
    *claimed = false;
    uint64_t before;
    tacit_status status = TACIT_OK;
    if (person != NULL && returns)
        status = tacit__vault_check_visit(vault, learner, person, answer, &before, err);
    else if (person != NULL)
        status = find_claim(vault, learner, person, key, &has, claimed, err);
    if (has)
        *answer = TACIT__VAULT_PERSON;
    else if (tacit__vault_store_status(vault) != TACIT__STORE_FINE)
        *answer = TACIT__VAULT_FULL;
    return status;
}

/* Makes the person belong to this episode. The caller has checked in this transaction that they do not yet,
 * and writers take turns, so a row that exists all the same undoes the transaction. */
static tacit_status claim_person(tacit__vault *vault, int64_t learner, const uint8_t *person,
                                 const uint8_t *key, bool claimed, tacit_error *err)
{
    if (person == NULL || claimed)
        return TACIT_OK;
    return tacit__connection_write(
        vault->db, SQL_CLAIM, "INSERT INTO person(learner, hash, key) VALUES(?,?,?)", err, "ibb",
        learner, person, (size_t)TACIT__VAULT_KEY, key, (size_t)TACIT__VAULT_KEY);
}

/* *same, if it is not NULL: what was seen is not known to differ from `content`. */
tacit_status tacit__vault_is_seen(tacit__vault *vault, int64_t learner, const uint8_t *key,
                                  bool *seen, const uint8_t *content, bool *same, tacit_error *err)
{
    tacit__cursor *row;
    TRY(exists(vault, SQL_IS_SEEN, TACIT__SQL_IS_SEEN, learner, key, seen, &row, err));
    if (same != NULL) {
        size_t size = 0;
        const void *theirs = *seen ? tacit__cursor_bytes(row, 0, &size) : NULL;
        *same =
            content == NULL || size != TACIT__VAULT_KEY || tacit__same_bytes(theirs, content, size);
    }
    tacit__cursor_reset(row);
    return TACIT_OK;
}

/* What is sealed with an input, after the data: the name under which it came, and its number. A person who
 * can write to the store, but has no key, cannot exchange two inputs. */
typedef struct input_tail {
    uint8_t key[TACIT__VAULT_KEY];
    int64_t learner, number;
} input_tail;

/* Adds an input for the learner. */
static tacit_status add_input(tacit__vault *vault, const input_tail *tail, const void *data,
                              size_t size, tacit_error *err)
{
    const size_t whole = size + sizeof *tail;
    uint8_t *plain = tacit__alloc(whole, 1), *sealed = tacit__alloc(whole + TACIT__SEAL_BYTES, 1);
    tacit_status status = TACIT_OK;
    if (plain == NULL || sealed == NULL) {
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    } else {
        memcpy(plain, data, size);
        memcpy(plain + size, tail, sizeof *tail);
        tacit__seal(vault->key_input, plain, whole, sealed);
        status = tacit__connection_write(
            vault->db, SQL_ADD_INPUT, "INSERT INTO input VALUES(?,?,?)", err, "iib", tail->learner,
            tail->number, sealed, whole + TACIT__SEAL_BYTES);
    }
    tacit__free_secret(plain, whole);
    tacit__free(sealed);
    return status;
}

tacit_status tacit__vault_put_input(tacit__vault *vault, int64_t learner, int64_t number,
                                    const uint8_t key[TACIT__VAULT_KEY], const void *data,
                                    size_t size, tacit_error *err)
{
    input_tail tail = {.learner = learner, .number = number};
    memcpy(tail.key, key, sizeof tail.key);
    return add_input(vault, &tail, data, size, err);
}

tacit_status tacit__vault_open_input(const tacit__vault *vault, int64_t learner, int64_t number,
                                     const void *sealed, size_t sealed_size,
                                     uint8_t key[TACIT__VAULT_KEY], uint8_t **data, size_t *size,
                                     tacit_error *err)
{
    TACIT__REQUIRE(data != NULL);
    input_tail tail;
    TRY(tacit__vault_open_sealed(vault, vault->key_input, sealed, sealed_size, data, size, err));
    const bool whole = *size > sizeof tail;
    if (whole)
        memcpy(&tail, *data + *size - sizeof tail, sizeof tail);
    if (!whole || tail.learner != learner || tail.number != number) {
        tacit__free_secret(*data, *size);
        *data = NULL;
        *size = 0;
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: an input is damaged, or not in its place",
                           vault->path);
    }
    *size -= sizeof tail;
    memcpy(key, tail.key, TACIT__VAULT_KEY);
    return TACIT_OK;
}

/* Adds a user. `content` is compared with what was seen before; `kept` is stored as seen. */
static tacit_status add_user(tacit__vault *vault, int64_t learner,
                             const uint8_t key[TACIT__VAULT_KEY], const uint8_t *person,
                             const uint8_t *content, tacit__bytes kept, const void *data,
                             size_t size, tacit__vault_answer *answer, tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && data != NULL);
    bool seen = false, same = true, returns = false, claimed = false;
    *answer = TACIT__VAULT_TAKEN;
    TRY(tacit__vault_is_seen(vault, learner, key, &seen, content, &same, err));
    if (seen) {
        *answer = same ? TACIT__VAULT_SEEN : TACIT__VAULT_CHANGED;
        return TACIT_OK;
    }
    TRY(tacit__vault_may_return(vault, learner, person, &returns, err));
    TRY(check_person(vault, learner, person, key, returns, answer, &claimed, err));
    if (*answer == TACIT__VAULT_USED || *answer == TACIT__VAULT_SOON)
        return tacit__vault_end_episode(vault, learner, key, NULL, err);
    if (*answer == TACIT__VAULT_PERSON || tacit__vault_store_status(vault) != TACIT__STORE_FINE)
        return TACIT_OK;
    tacit__vault_terms *terms;
    TRY(tacit__vault_get_terms(vault, learner, &terms, err));
    if (terms->accepted >= terms->limit)
        *answer = TACIT__VAULT_FULL;
    else
        TRY(tacit__vault_accept(vault, terms, err));
    const int64_t number = (int64_t)terms->accepted;
    TRY(tacit__vault_prove(vault, learner, err));
    /* the episode is finished, whether it counts or not */
    TRY(tacit__connection_write(vault->db, SQL_DELETE_EPISODE,
                                "DELETE FROM open WHERE learner=? AND key=?", err, "ib", learner,
                                key, (size_t)TACIT__VAULT_KEY));
    if (*answer == TACIT__VAULT_FULL) /* a person who was not learned from may come again */
        return person == NULL || returns
                   ? TACIT_OK
                   : tacit__connection_write(vault->db, SQL_UNCLAIM,
                                             "DELETE FROM person WHERE learner=? AND hash=?", err,
                                             "ib", learner, person, (size_t)TACIT__VAULT_KEY);
    if (returns && person != NULL)
        TRY(tacit__vault_count_visit(vault, learner, person, err));
    else
        TRY(claim_person(vault, learner, person, key, claimed, err));
    TRY(tacit__connection_write(vault->db, SQL_ADD_SEEN, "INSERT INTO seen VALUES(?,?,?)", err,
                                "ibb", learner, key, (size_t)TACIT__VAULT_KEY, kept.data,
                                kept.size));
    return tacit__vault_put_input(vault, learner, number, key, data, size, err);
}

tacit_status tacit__vault_add_user(tacit__vault *vault, int64_t learner,
                                   const uint8_t key[TACIT__VAULT_KEY], const uint8_t *person,
                                   const uint8_t *content, const void *data, size_t size,
                                   tacit__vault_answer *answer, tacit_error *err)
{
    const tacit__bytes kept = {content, content != NULL ? TACIT__VAULT_KEY : 0};
    return add_user(vault, learner, key, person, content, kept, data, size, answer, err);
}

tacit_status tacit__vault_add_user_with_digest(tacit__vault *vault, int64_t learner,
                                               const uint8_t key[TACIT__VAULT_KEY],
                                               const uint8_t *person,
                                               const tacit__vault_observed *observed,
                                               const void *data, size_t size,
                                               tacit__vault_answer *answer, tacit_error *err)
{
    uint8_t *kept = NULL;
    size_t kept_size = 0;
    TRY(tacit__vault_make_content(observed, &kept, &kept_size, err));
    tacit_status status = add_user(vault, learner, key, person, NULL,
                                   (tacit__bytes){kept, kept_size}, data, size, answer, err);
    tacit__free(kept);
    return status;
}

tacit_status tacit__vault_save_episode(tacit__vault *vault, int64_t learner,
                                       const uint8_t key[TACIT__VAULT_KEY], const uint8_t *person,
                                       int64_t opened, const void *data, size_t size,
                                       tacit__vault_answer *answer, tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && data != NULL && size > 0);
    bool seen = false, claimed = false;
    TRY(tacit__vault_is_seen(vault, learner, key, &seen, NULL, NULL, err));
    *answer = seen ? TACIT__VAULT_SEEN : TACIT__VAULT_TAKEN;
    if (!seen)
        TRY(check_person(vault, learner, person, key, false, answer, &claimed, err));
    if (*answer != TACIT__VAULT_TAKEN)
        return TACIT_OK;
    TRY(claim_person(vault, learner, person, key, claimed, err));
    uint8_t *sealed = tacit__alloc(size + TACIT__SEAL_BYTES, 1);
    if (sealed == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal(vault->key_input, data, size, sealed);
    tacit_status status =
        tacit__connection_write(vault->db, SQL_SAVE_EPISODE,
                                "INSERT INTO open VALUES(?,?,?,?) ON CONFLICT(learner, key) DO"
                                " UPDATE SET opened=excluded.opened, data=excluded.data",
                                err, "ibib", learner, key, (size_t)TACIT__VAULT_KEY, opened, sealed,
                                size + TACIT__SEAL_BYTES);
    tacit__free(sealed);
    return status;
}

tacit_status tacit__vault_is_full(tacit__vault *vault, int64_t learner, bool *full,
                                  tacit_error *err)
{
    TACIT__REQUIRE(full != NULL);
    tacit__vault_terms *terms;
    *full = false;
    TRY(tacit__vault_get_terms(vault, learner, &terms, err));
    *full = terms->accepted >= terms->limit;
    return TACIT_OK;
}

tacit_status tacit__vault_get_accepted(tacit__vault *vault, int64_t learner, uint64_t *accepted,
                                       tacit_error *err)
{
    tacit__vault_terms *terms;
    TRY(tacit__vault_get_terms(vault, learner, &terms, err));
    *accepted = terms->accepted;
    return TACIT_OK;
}

tacit_status tacit__vault_get_episode(tacit__vault *vault, int64_t learner,
                                      const uint8_t key[TACIT__VAULT_KEY], uint8_t **data,
                                      size_t *size, bool *seen, tacit_error *err)
{
    TACIT__REQUIRE(data != NULL);
    tacit__cursor *row;
    bool found;
    *size = 0;
    *data = NULL;
    tacit_status status =
        exists(vault, SQL_GET_EPISODE, TACIT__SQL_GET_EPISODE, learner, key, &found, &row, err);
    if (status == TACIT_OK && found) {
        size_t n;
        const void *sealed = tacit__cursor_bytes(row, 0, &n);
        status = tacit__vault_open_sealed(vault, vault->key_input, sealed, n, data, size, err);
        tacit__cursor_reset(row);
    }
    *seen = false;
    if (status == TACIT_OK && !found)
        status = tacit__vault_is_seen(vault, learner, key, seen, NULL, NULL, err);
    return status;
}

/* Finds the row after input `after`. If a query takes a round trip, several rows are read at once: they are
 * numbered without gaps, and do not change. */
static tacit_status find_input(tacit__vault *vault, int64_t learner, int64_t after, bool *found,
                               tacit__cursor **row, tacit_error *err)
{
    enum { AHEAD = 64 };
    const bool far = vault->backend->shared;
    tacit__cursor *s = vault->ahead;
    *found = false;
    vault->ahead = NULL;
    if (s != NULL && vault->ahead_learner == learner && vault->ahead_after == after)
        TRY(tacit__cursor_next(s, found, err));
    *row = s;
    if (!*found || tacit__cursor_int(s, 0) != after + 1) {
        TRY(tacit__connection_prepare(
            vault->db, SQL_NEXT,
            "SELECT number, data FROM input WHERE learner=? AND number>? ORDER BY number LIMIT ?",
            row, err));
        tacit__cursor_bind_int(*row, 1, learner);
        tacit__cursor_bind_int(*row, 2, after);
        tacit__cursor_bind_int(*row, 3, far ? AHEAD : 1);
        TRY(tacit__cursor_next(*row, found, err));
    }
    if (far && *found) {
        vault->ahead = *row;
        vault->ahead_learner = learner;
        vault->ahead_after = tacit__cursor_int(*row, 0);
    }
    return TACIT_OK;
}

tacit_status tacit__vault_next_input(tacit__vault *vault, int64_t learner, int64_t after,
                                     int64_t *number, uint8_t key[TACIT__VAULT_KEY], uint8_t **data,
                                     size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(after >= 0);
    tacit__cursor *s = NULL;
    bool found;
    *size = 0;
    *data = NULL;
    TRY(find_input(vault, learner, after, &found, &s, err));
    if (!found)
        return TACIT_OK;
    size_t n;
    const void *sealed = tacit__cursor_bytes(s, 1, &n);
    *number = tacit__cursor_int(s, 0);
    tacit_status status =
        tacit__vault_open_input(vault, learner, *number, sealed, n, key, data, size, err);
    if (vault->ahead == NULL)
        tacit__cursor_reset(s);
    return status;
}
