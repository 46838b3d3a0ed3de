/* Users who wait for a learner. Who counts is decided here and nowhere else. See store/vault/vault.h. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

static bool belongs_to(const tacit__vault_row *claim, const uint8_t *key)
{
    return claim->wanted && key != NULL && claim->size == TACIT__VAULT_KEY &&
           memcmp(claim->data, key, TACIT__VAULT_KEY) == 0;
}

tacit_status tacit__vault_has_person(tacit__vault *vault, int64_t learner,
                                     const uint8_t person[TACIT__VAULT_KEY],
                                     const uint8_t key[TACIT__VAULT_KEY], bool *has,
                                     tacit_error *err)
{
    TACIT__REQUIRE(has != NULL);
    tacit__vault_row *claim;
    tacit_status status = tacit__row_get(vault, TACIT__TABLE_CLAIM, learner, person, &claim, err);
    *has = status == TACIT_OK && claim->wanted && !belongs_to(claim, key);
    return tacit__rows_settle(vault, status, err);
}

/* --- What is known of the users of a transaction ---------------------------------------------------- */

/* The name of a row of quotas, which its token alone names. */
static const uint8_t no_name[TACIT__VAULT_KEY];

tacit_status tacit__vault_expect_user(tacit__vault *vault, const tacit__vault_user *u,
                                      tacit_error *err)
{
    const bool claims = u->is_new && tacit__vault_store_status(vault) == TACIT__STORE_FINE;
    TRY(tacit__vault_ask_terms(vault, u->learner, err));
    if (u->content != NULL)
        TRY(tacit__row_expect(vault, TACIT__TABLE_REPORT, u->learner, u->content, err));
    if (!u->at_once)
        TRY(tacit__row_expect(vault, TACIT__TABLE_OPEN, u->learner, u->key, err));
    if (u->person != NULL && u->returns) {
        TRY(tacit__row_expect(vault, TACIT__TABLE_VERDICT, u->learner, u->key, err));
        TRY(tacit__row_expect(vault, TACIT__TABLE_VISITS, u->learner, u->person, err));
    } else if (u->person != NULL && !claims) {
        TRY(tacit__row_expect(vault, TACIT__TABLE_CLAIM, u->learner, u->person, err));
    } else if (u->person != NULL) {
        TRY(tacit__row_claim(vault, TACIT__TABLE_CLAIM, u->learner, u->person, u->key,
                             TACIT__VAULT_KEY, err));
    }
    if (u->users_per_day > 0)
        TRY(tacit__row_expect(vault, TACIT__TABLE_QUOTA, u->token, no_name, err));
    return tacit__row_expect(vault, TACIT__TABLE_SEEN, u->learner, u->key, err);
}

tacit_status tacit__vault_load_users(tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(vault->writing);
    return tacit__rows_load(vault, err);
}

/* --- Who counts ------------------------------------------------------------------------------------- */

/* Finds out whether this user was accepted before: SEEN, CHANGED, or TAKEN if not. */
static tacit_status find_seen(tacit__vault *vault, const tacit__vault_user *u,
                              tacit__vault_answer *answer, tacit_error *err)
{
    tacit__vault_row *row;
    TRY(tacit__row_get(vault, TACIT__TABLE_SEEN, u->learner, u->key, &row, err));
    if (row->wanted) {
        const bool same = u->content == NULL || row->size != TACIT__VAULT_KEY ||
                          tacit__same_bytes(row->data, u->content, TACIT__VAULT_KEY);
        *answer = same ? TACIT__VAULT_SEEN : TACIT__VAULT_CHANGED;
        return TACIT_OK;
    }
    if (u->content == NULL)
        return TACIT_OK;
    TRY(tacit__row_get(vault, TACIT__TABLE_REPORT, u->learner, u->content, &row, err));
    if (row->wanted)
        *answer = TACIT__VAULT_SEEN;
    return TACIT_OK;
}

/* The same for a person who may come back: what was decided about this visit, or is decided now. */
static tacit_status judge_visit(tacit__vault *vault, const tacit__vault_user *u,
                                const tacit__vault_terms *t, bool finished,
                                tacit__vault_judgment *out, tacit_error *err)
{
    tacit__vault_row *row;
    tacit__person_visits v;
    TRY(tacit__row_get(vault, TACIT__TABLE_VERDICT, u->learner, u->key, &row, err));
    out->again = row->wanted;
    if (out->again) {
        out->answer = row->numbers[1] != 0 ? TACIT__VAULT_SOON : TACIT__VAULT_USED;
        return TACIT_OK;
    }
    TRY(tacit__vault_get_visits(vault, u->learner, u->person, &row, &v, err));
    out->before = v.visits;
    if (t->accepted >= t->limit)
        out->answer = TACIT__VAULT_FULL;
    else if (v.visits >= t->visits)
        out->answer = TACIT__VAULT_USED;
    else if (finished && v.visits > 0 && t->accepted + 1 - v.last_place < t->apart)
        out->answer = TACIT__VAULT_SOON;
    return TACIT_OK;
}

static tacit_status get_quota(tacit__vault *vault, const tacit__vault_user *u,
                              tacit__vault_row **row, uint64_t *used, tacit_error *err)
{
    TRY(tacit__row_get(vault, TACIT__TABLE_QUOTA, u->token, no_name, row, err));
    *used = (*row)->wanted && (*row)->numbers[0] >= u->day ? (uint64_t)(*row)->numbers[1] : 0;
    return TACIT_OK;
}

static tacit_status judge(tacit__vault *vault, const tacit__vault_user *u, bool finished,
                          tacit__vault_judgment *out, tacit_error *err)
{
    tacit__vault_terms *t;
    tacit__vault_row *row;
    uint64_t used = 0;
    *out = (tacit__vault_judgment){.answer = TACIT__VAULT_TAKEN, .before = 1};
    TRY(find_seen(vault, u, &out->answer, err));
    if (out->answer != TACIT__VAULT_TAKEN)
        return TACIT_OK;
    TRY(tacit__vault_get_terms(vault, u->learner, &t, err));
    if (u->person == NULL && t->named)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a user without an id came to a learner that counts the visits of each "
                           "person");
    if (u->person != NULL && t->visits > 1) {
        TRY(judge_visit(vault, u, t, finished, out, err));
    } else if (u->person != NULL) {
        TRY(tacit__row_get(vault, TACIT__TABLE_CLAIM, u->learner, u->person, &row, err));
        if (row->wanted && !belongs_to(row, u->key))
            out->answer = TACIT__VAULT_PERSON;
    }
    if (out->answer != TACIT__VAULT_TAKEN)
        return TACIT_OK;
    if (tacit__vault_store_status(vault) != TACIT__STORE_FINE || t->accepted >= t->limit)
        out->answer = TACIT__VAULT_FULL;
    else if (finished && u->users_per_day > 0)
        TRY(get_quota(vault, u, &row, &used, err));
    if (used > 0 && used >= u->users_per_day)
        out->answer = TACIT__VAULT_QUOTA;
    return TACIT_OK;
}

tacit_status tacit__vault_judge(tacit__vault *vault, const tacit__vault_user *user, bool finished,
                                tacit__vault_judgment *judgment, tacit_error *err)
{
    TACIT__REQUIRE(judgment != NULL);
    return tacit__rows_settle(vault, judge(vault, user, finished, judgment, err), err);
}

/* --- What is kept of them --------------------------------------------------------------------------- */

/* What is sealed with an input, after the data: the name under which it came, and its number. A person who
 * can write to the store, but has no key, cannot exchange two inputs. */
typedef struct input_tail {
    uint8_t key[TACIT__VAULT_KEY];
    int64_t learner, number;
} input_tail;

/* Adds an input for the learner. */
static tacit_status add_input(tacit__vault *vault, const tacit__vault_user *u, int64_t number,
                              const void *data, size_t size, tacit_error *err)
{
    input_tail tail = {.learner = u->learner, .number = number};
    const size_t whole = size + sizeof tail;
    uint8_t *plain = tacit__alloc(whole, 1), *sealed = tacit__alloc(whole + TACIT__SEAL_BYTES, 1);
    tacit_status status = TACIT_OK;
    memcpy(tail.key, u->key, sizeof tail.key);
    if (plain == NULL || sealed == NULL) {
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    } else {
        memcpy(plain, data, size);
        memcpy(plain + size, &tail, sizeof tail);
        tacit__seal(vault->key_input, plain, whole, sealed);
        status = tacit__row_append(vault, TACIT__TABLE_INPUT, u->learner, number, sealed,
                                   whole + TACIT__SEAL_BYTES, err);
    }
    tacit__free_secret(plain, whole);
    tacit__free(sealed);
    return status;
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

static tacit_status unset(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                          const uint8_t *name, tacit_error *err)
{
    tacit__vault_row *row;
    TRY(tacit__row_get(vault, t, learner, name, &row, err));
    tacit__row_unset(row);
    return TACIT_OK;
}

/* Deletes an open episode, and the claim of its person if it is given. */
static tacit_status end_episode(tacit__vault *vault, int64_t learner, const uint8_t *key,
                                const uint8_t *person, tacit_error *err)
{
    tacit__vault_row *claim;
    TRY(unset(vault, TACIT__TABLE_OPEN, learner, key, err));
    if (person == NULL)
        return TACIT_OK;
    TRY(tacit__row_get(vault, TACIT__TABLE_CLAIM, learner, person, &claim, err));
    if (belongs_to(claim, key))
        tacit__row_unset(claim);
    return TACIT_OK;
}

tacit_status tacit__vault_end_episode(tacit__vault *vault, int64_t learner,
                                      const uint8_t key[TACIT__VAULT_KEY], const uint8_t *person,
                                      tacit_error *err)
{
    return tacit__rows_settle(vault, end_episode(vault, learner, key, person, err), err);
}

static tacit_status set_claim(tacit__vault *vault, int64_t learner, const uint8_t *person,
                              const uint8_t *key, tacit_error *err)
{
    tacit__vault_row *claim;
    TRY(tacit__row_get(vault, TACIT__TABLE_CLAIM, learner, person, &claim, err));
    return tacit__row_set(claim, key, TACIT__VAULT_KEY, err);
}

static tacit_status use_quota(tacit__vault *vault, const tacit__vault_user *u, tacit_error *err)
{
    tacit__vault_row *row;
    uint64_t used;
    TRY(get_quota(vault, u, &row, &used, err));
    if (!row->wanted || row->numbers[0] < u->day)
        row->numbers[0] = u->day;
    row->numbers[1] = (int64_t)used + 1;
    row->differs = row->stored;
    return tacit__row_set(row, NULL, 0, err);
}

/* Accepts a user who counts. */
static tacit_status take(tacit__vault *vault, const tacit__vault_user *u, const void *data,
                         size_t size, tacit_error *err)
{
    tacit__vault_terms *t;
    tacit__vault_row *row;
    TRY(tacit__vault_get_terms(vault, u->learner, &t, err));
    TRY(tacit__vault_accept(vault, t, err));
    const tacit__vault_terms now = *t;
    TRY(tacit__vault_prove(vault, u->learner, err));
    if (u->person != NULL && now.visits > 1)
        TRY(tacit__vault_count_visit(vault, &now, u->person, err));
    else if (u->person != NULL)
        TRY(set_claim(vault, u->learner, u->person, u->key, err));
    TRY(tacit__row_get(vault, TACIT__TABLE_SEEN, u->learner, u->key, &row, err));
    TRY(tacit__row_set(row, u->kept.data, u->kept.size, err));
    if (u->content != NULL) {
        TRY(tacit__row_get(vault, TACIT__TABLE_REPORT, u->learner, u->content, &row, err));
        row->stored = row->wanted = true; /* the row of `seen` is this row */
    }
    if (!u->at_once)
        TRY(unset(vault, TACIT__TABLE_OPEN, u->learner, u->key, err));
    if (u->users_per_day > 0)
        TRY(use_quota(vault, u, err));
    return add_input(vault, u, (int64_t)now.accepted, data, size, err);
}

/* The episode of a user is over and does not count, or not any more. */
static tacit_status turn_away(tacit__vault *vault, const tacit__vault_user *u,
                              const tacit__vault_judgment *j, tacit_error *err)
{
    const bool verdict = j->answer == TACIT__VAULT_SOON || j->answer == TACIT__VAULT_USED;
    if (u->at_once && !verdict)
        return TACIT_OK;
    if (!u->at_once) /* a person who was not learned from may come again */
        TRY(end_episode(vault, u->learner, u->key,
                        j->answer == TACIT__VAULT_FULL && !u->returns ? u->person : NULL, err));
    return verdict && !j->again && u->opened > 0
               ? tacit__vault_save_verdict(vault, u->learner, u->key, u->opened, j->answer, err)
               : TACIT_OK;
}

static tacit_status add_user(tacit__vault *vault, const tacit__vault_user *u, const void *data,
                             size_t size, tacit__vault_judgment *out, tacit_error *err)
{
    TRY(judge(vault, u, true, out, err));
    if (out->answer == TACIT__VAULT_TAKEN)
        return take(vault, u, data, size, err);
    const bool over = out->answer == TACIT__VAULT_SOON || out->answer == TACIT__VAULT_USED ||
                      out->answer == TACIT__VAULT_FULL;
    return over && tacit__vault_store_status(vault) == TACIT__STORE_FINE
               ? turn_away(vault, u, out, err)
               : TACIT_OK;
}

tacit_status tacit__vault_add_user(tacit__vault *vault, const tacit__vault_user *user,
                                   const void *data, size_t size, tacit__vault_judgment *judgment,
                                   tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && data != NULL && judgment != NULL);
    return tacit__rows_settle(vault, add_user(vault, user, data, size, judgment, err), err);
}

static tacit_status save_episode(tacit__vault *vault, const tacit__vault_user *u, bool claims,
                                 const void *data, size_t size, tacit_error *err)
{
    tacit__vault_row *row;
    uint8_t *sealed = tacit__alloc(size + TACIT__SEAL_BYTES, 1);
    if (sealed == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal(vault->key_input, data, size, sealed);
    tacit_status status = tacit__row_get(vault, TACIT__TABLE_OPEN, u->learner, u->key, &row, err);
    if (status == TACIT_OK)
        status = tacit__row_set(row, sealed, size + TACIT__SEAL_BYTES, err);
    if (status == TACIT_OK)
        row->numbers[0] = u->opened;
    tacit__free(sealed);
    return status == TACIT_OK && claims && u->person != NULL && !u->returns
               ? set_claim(vault, u->learner, u->person, u->key, err)
               : status;
}

tacit_status tacit__vault_save_episode(tacit__vault *vault, const tacit__vault_user *user,
                                       bool claims, const void *data, size_t size, tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && data != NULL && size > 0);
    return tacit__rows_settle(vault, save_episode(vault, user, claims, data, size, err), err);
}

tacit_status tacit__vault_get_accepted(tacit__vault *vault, int64_t learner, uint64_t *accepted,
                                       tacit_error *err)
{
    tacit__vault_terms *terms;
    TRY(tacit__vault_get_terms(vault, learner, &terms, err));
    *accepted = terms->accepted;
    return TACIT_OK;
}

static tacit_status get_episode(tacit__vault *vault, int64_t learner, const uint8_t *key,
                                uint8_t **data, size_t *size, bool *seen, tacit_error *err)
{
    tacit__vault_row *row;
    TRY(tacit__row_get(vault, TACIT__TABLE_OPEN, learner, key, &row, err));
    if (row->wanted)
        return tacit__vault_open_sealed(vault, vault->key_input, row->data, row->size, data, size,
                                        err);
    TRY(tacit__row_get(vault, TACIT__TABLE_SEEN, learner, key, &row, err));
    *seen = row->wanted;
    return TACIT_OK;
}

tacit_status tacit__vault_get_episode(tacit__vault *vault, int64_t learner,
                                      const uint8_t key[TACIT__VAULT_KEY], uint8_t **data,
                                      size_t *size, bool *seen, tacit_error *err)
{
    TACIT__REQUIRE(data != NULL && size != NULL && seen != NULL);
    *size = 0;
    *data = NULL;
    *seen = false;
    return tacit__rows_settle(vault, get_episode(vault, learner, key, data, size, seen, err), err);
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
