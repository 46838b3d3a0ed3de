/* People who come back: how often a learner has learned from a person, and when it did so last. See
 * store/vault/vault.h.
 *
 * A learner that was declared for several visits has a row for each person: the number of visits, and the
 * place of the last one among all users that the learner accepted. Whether a person may come back follows
 * from this row and the learner's own. It is decided inside the transaction that accepts a user and writes
 * both rows, so after a crash there are both or neither.
 *
 * Each row has a tag, a keyed hash of its contents. A person who can write to the file, but has no key,
 * cannot make a tag. An older row with its own tag has fewer visits, and a removed row has none; then the
 * visits no longer add up to the learner's users (vault_check.c), whose number is proved. This holds if
 * nothing else is in the sum, so every start checks all rows: each has its tag, its numbers are whole, and
 * there is one row for each person. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

static tacit_status read_terms(tacit__vault *vault, int64_t learner, tacit__vault_terms *out,
                               tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_TERMS, TACIT__SQL_TERMS, &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    TRY(tacit__cursor_next(s, &found, err));
    if (!found)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: a learner is gone", vault->path);
    *out = (tacit__vault_terms){.learner = learner,
                                .visits = (uint64_t)tacit__cursor_int(s, 0),
                                .apart = (uint64_t)tacit__cursor_int(s, 1),
                                .accepted = (uint64_t)tacit__cursor_int(s, 2),
                                .limit = (uint64_t)tacit__cursor_int(s, 3),
                                .named = tacit__cursor_int(s, 4) != 0};
    tacit__cursor_reset(s);
    return TACIT_OK;
}

/* Inside a transaction a learner's row is read once, and the number of accepted users is written at its end.
 * If there are more learners than slots, the one that was there longest is written and gives its slot
 * away. */
tacit_status tacit__vault_get_terms(tacit__vault *vault, int64_t learner, tacit__vault_terms **out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    const bool inside = tacit__connection_in_transaction(vault->db);
    for (size_t i = 0; inside && i < vault->n_terms; i++)
        if (vault->terms[i].learner == learner) {
            *out = &vault->terms[i];
            return TACIT_OK;
        }
    if (!inside || vault->n_terms == TACIT__VAULT_TOUCHED) {
        TRY(tacit__vault_write_terms(vault, err));
        vault->n_terms = 0;
    }
    *out = &vault->terms[vault->n_terms];
    TRY(read_terms(vault, learner, *out, err));
    vault->n_terms += inside;
    return TACIT_OK;
}

static tacit_status write_accepted(tacit__vault *vault, tacit__vault_terms *t, tacit_error *err)
{
    t->changed = false;
    return tacit__connection_write(vault->db, SQL_ACCEPT,
                                   "UPDATE learner SET accepted=? WHERE id=?", err, "ii",
                                   (int64_t)t->accepted, t->learner);
}

tacit_status tacit__vault_accept(tacit__vault *vault, tacit__vault_terms *t, tacit_error *err)
{
    TACIT__REQUIRE(t->accepted < t->limit);
    t->accepted++;
    t->changed = true;
    return tacit__connection_in_transaction(vault->db) ? TACIT_OK : write_accepted(vault, t, err);
}

tacit_status tacit__vault_write_terms(tacit__vault *vault, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < vault->n_terms && status == TACIT_OK; i++)
        if (vault->terms[i].changed)
            status = write_accepted(vault, &vault->terms[i], err);
    return status;
}

tacit_status tacit__vault_may_return(tacit__vault *vault, int64_t learner, const uint8_t *person,
                                     bool *may, tacit_error *err)
{
    TACIT__REQUIRE(may != NULL);
    tacit__vault_terms *t;
    TRY(tacit__vault_get_terms(vault, learner, &t, err));
    *may = t->visits > 1;
    return person != NULL || !t->named ? TACIT_OK
                                       : tacit__fail(err, TACIT_BAD_ARGUMENT,
                                                     "a user without an id came to a learner that "
                                                     "counts the visits of each person");
}

/* --- Rows and their tags ------------------------------------------------------------------------ */

static void make_tag(const uint8_t key[TACIT__KEY_BYTES], int64_t learner, const uint8_t *person,
                     const tacit__person_visits *v, uint8_t tag[TACIT__PERSON_TAG])
{
    struct {
        char what[8];
        int64_t learner;
        uint8_t person[TACIT__VAULT_KEY];
        uint64_t visits, last;
    } all = {.what = "person", .learner = learner, .visits = v->visits, .last = v->last_place};
    memcpy(all.person, person, sizeof all.person);
    tacit__keyed_hash(key, &all, sizeof all, tag, TACIT__PERSON_TAG);
}

static tacit_status fail_person(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.200s: how often a person took part was changed; restore the file",
                       vault->path);
}

/* Reads visits, last_place and tag of a row, which begin at this column. CORRUPT: they are not as they were
 * written. Without a key this cannot be checked. */
static tacit_status check_visits(const tacit__vault *vault, tacit__cursor *row, int column,
                                 int64_t learner, const uint8_t *person, tacit__person_visits *out,
                                 tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    uint8_t tag[TACIT__PERSON_TAG];
    size_t size;
    const void *kept = tacit__cursor_bytes(row, column + 2, &size);
    *out = (tacit__person_visits){.visits = (uint64_t)tacit__cursor_int(row, column),
                                  .last_place = (uint64_t)tacit__cursor_int(row, column + 1)};
    /* 1.5 is 1 as a whole number, and under its tag, but not in a sum */
    if (tacit__cursor_type(row, column) != TACIT__COLUMN_INTEGER ||
        tacit__cursor_type(row, column + 1) != TACIT__COLUMN_INTEGER)
        return fail_person(vault, err);
    if (!vault->keyed)
        return TACIT_OK;
    make_tag(vault->key_proof, learner, person, out, tag);
    return size == sizeof tag && tacit__same_bytes(tag, kept, size) ? TACIT_OK
                                                                    : fail_person(vault, err);
}

tacit_status tacit__vault_check_row(const tacit__vault *vault, tacit__cursor *row, int hash,
                                    int column, const uint8_t **person, tacit_error *err)
{
    TACIT__REQUIRE(person != NULL);
    tacit__person_visits visits;
    size_t size;
    *person = tacit__cursor_bytes(row, hash, &size);
    /* a text of the same bytes is another key of the table */
    if (tacit__cursor_type(row, hash) != TACIT__COLUMN_BYTES || size != TACIT__VAULT_KEY)
        return fail_person(vault, err);
    return check_visits(vault, row, column, tacit__cursor_int(row, 0), *person, &visits, err);
}

tacit_status tacit__vault_check_people(tacit__vault *vault, const char **why, tacit_error *err)
{
    TACIT__REQUIRE(why != NULL);
    tacit__cursor *s;
    struct {
        int64_t learner;
        uint8_t person[TACIT__VAULT_KEY];
    } before = {.learner = INT64_MIN};
    bool good = true;
    *why = NULL;
    TRY(tacit__vault_prepare(vault,
                             "SELECT learner, hash, visits, last_place, tag FROM person"
                             " WHERE visits IS NOT NULL ORDER BY learner, hash",
                             &s, err));
    tacit_status status = TACIT_OK;
    for (bool more = true; good;) {
        status = tacit__cursor_next(s, &more, err);
        if (status != TACIT_OK || !more)
            break;
        const uint8_t *person;
        const int64_t learner = tacit__cursor_int(s, 0);
        good =
            tacit__vault_check_row(vault, s, 1, 2, &person, NULL) == TACIT_OK &&
            (learner > before.learner || (learner == before.learner &&
                                          memcmp(person, before.person, sizeof before.person) > 0));
        before.learner = learner;
        if (good)
            memcpy(before.person, person, sizeof before.person);
    }
    tacit__cursor_close(s);
    if (!good)
        *why = "how often a person took part was changed";
    return status;
}

/* Gets the visits of a person; {0, 0} if they have not come yet. */
static tacit_status read_person(tacit__vault *vault, int64_t learner, const uint8_t *person,
                                tacit__person_visits *out, tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    *out = (tacit__person_visits){0};
    TRY(tacit__connection_prepare(vault->db, SQL_VISITS, TACIT__SQL_VISITS, &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_bytes(s, 2, person, TACIT__VAULT_KEY);
    TRY(tacit__cursor_next(s, &found, err));
    if (!found)
        return TACIT_OK;
    tacit_status status = check_visits(vault, s, 0, learner, person, out, err);
    tacit__cursor_reset(s);
    return status;
}

tacit_status tacit__vault_count_visit(tacit__vault *vault, int64_t learner, const uint8_t *person,
                                      tacit_error *err)
{
    tacit__vault_terms *t;
    tacit__person_visits v = {0};
    uint8_t tag[TACIT__PERSON_TAG];
    TRY(tacit__vault_get_terms(vault, learner, &t, err));
    TRY(read_person(vault, learner, person, &v, err));
    v = (tacit__person_visits){.visits = v.visits + 1, .last_place = t->accepted};
    TACIT__REQUIRE(v.visits <= t->visits);
    make_tag(vault->key_proof, learner, person, &v, tag);
    return tacit__connection_write(
        vault->db, SQL_COUNT_VISIT,
        "INSERT INTO person VALUES(?,?,NULL,?,?,?) ON CONFLICT(learner, hash) DO UPDATE SET"
        " visits=excluded.visits, last_place=excluded.last_place,"
        " tag=excluded.tag",
        err, "ibiib", learner, person, (size_t)TACIT__VAULT_KEY, (int64_t)v.visits,
        (int64_t)v.last_place, tag, sizeof tag);
}

/* --- The rule ----------------------------------------------------------------------------------- */

tacit_status tacit__vault_check_visit(tacit__vault *vault, int64_t learner,
                                      const uint8_t person[TACIT__VAULT_KEY],
                                      tacit__vault_answer *answer, uint64_t *before,
                                      tacit_error *err)
{
    TACIT__REQUIRE(person != NULL && answer != NULL && before != NULL);
    tacit__vault_terms *t;
    tacit__person_visits v = {0};
    TRY(tacit__vault_get_terms(vault, learner, &t, err));
    TRY(read_person(vault, learner, person, &v, err));
    *before = v.visits;
    if (t->accepted >= t->limit)
        *answer = TACIT__VAULT_FULL;
    else if (v.visits >= t->visits)
        *answer = TACIT__VAULT_USED;
    else if (v.visits > 0 && t->accepted + 1 - v.last_place < t->apart)
        *answer = TACIT__VAULT_SOON;
    else
        *answer = TACIT__VAULT_TAKEN;
    return TACIT_OK;
}

tacit_status tacit__vault_has_all_visits(tacit__vault *vault, int64_t learner,
                                         const uint8_t person[TACIT__VAULT_KEY], bool *used,
                                         tacit_error *err)
{
    TACIT__REQUIRE(person != NULL && used != NULL);
    tacit__vault_terms *t;
    tacit__person_visits v = {0};
    TRY(tacit__vault_get_terms(vault, learner, &t, err));
    TRY(read_person(vault, learner, person, &v, err));
    *used = v.visits >= t->visits;
    return TACIT_OK;
}

tacit_status tacit__vault_count_people(tacit__vault *vault, int64_t learner, uint64_t *n,
                                       tacit_error *err)
{
    TACIT__REQUIRE(n != NULL);
    tacit__cursor *s;
    bool found;
    *n = 0;
    TRY(tacit__vault_prepare(vault, "SELECT count(*) FROM person WHERE learner=?", &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit_status status = tacit__cursor_next(s, &found, err);
    if (status == TACIT_OK && found)
        *n = (uint64_t)tacit__cursor_int(s, 0);
    tacit__cursor_close(s);
    return status;
}

/* --- Verdicts ----------------------------------------------------------------------------------- */

tacit_status tacit__vault_save_verdict(tacit__vault *vault, int64_t learner,
                                       const uint8_t key[TACIT__VAULT_KEY], int64_t opened,
                                       tacit__vault_answer verdict, tacit_error *err)
{
    TACIT__REQUIRE(verdict == TACIT__VAULT_SOON || verdict == TACIT__VAULT_USED);
    return tacit__connection_write(vault->db, SQL_SAVE_VERDICT,
                                   "INSERT INTO verdict VALUES(?,?,?,?) ON CONFLICT DO NOTHING",
                                   err, "ibii", learner, key, (size_t)TACIT__VAULT_KEY, opened,
                                   (int64_t)(verdict == TACIT__VAULT_SOON));
}

tacit_status tacit__vault_find_verdict(tacit__vault *vault, int64_t learner,
                                       const uint8_t key[TACIT__VAULT_KEY],
                                       tacit__vault_answer *verdict, tacit_error *err)
{
    TACIT__REQUIRE(verdict != NULL);
    tacit__cursor *s;
    bool found;
    *verdict = TACIT__VAULT_TAKEN;
    TRY(tacit__connection_prepare(vault->db, SQL_FIND_VERDICT, TACIT__SQL_FIND_VERDICT, &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_bytes(s, 2, key, TACIT__VAULT_KEY);
    TRY(tacit__cursor_next(s, &found, err));
    if (!found)
        return TACIT_OK;
    *verdict = tacit__cursor_int(s, 0) != 0 ? TACIT__VAULT_SOON : TACIT__VAULT_USED;
    tacit__cursor_reset(s);
    return TACIT_OK;
}

tacit_status tacit__vault_has_verdicts(tacit__vault *vault, int64_t opened, bool *has,
                                       tacit_error *err)
{
    TACIT__REQUIRE(has != NULL);
    tacit__cursor *s;
    *has = false;
    TRY(tacit__connection_prepare(vault->db, SQL_HAS_VERDICTS,
                                  "SELECT 1 FROM verdict WHERE opened<? LIMIT 1", &s, err));
    tacit__cursor_bind_int(s, 1, opened);
    tacit_status status = tacit__cursor_next(s, has, err);
    tacit__cursor_reset(s);
    return status;
}

tacit_status tacit__vault_delete_verdicts(tacit__vault *vault, int64_t opened, uint64_t most,
                                          uint64_t *n, tacit_error *err)
{
    TACIT__REQUIRE(most > 0);
    tacit_status status = tacit__connection_write(
        vault->db, SQL_DELETE_VERDICTS,
        "DELETE FROM verdict WHERE (learner, key) IN (SELECT learner, key FROM"
        " verdict WHERE opened<? ORDER BY opened LIMIT ?)",
        err, "ii", opened, (int64_t)most);
    *n = 0;
    return status == TACIT_OK ? tacit__connection_changes(vault->db, n, err) : status;
}

/* --- Another key -------------------------------------------------------------------------------- */

typedef struct change {
    const uint8_t *before, *after;
} change;

/* Checks one row, as tacit__vault_check_row reads it. */
static tacit_status retag(tacit__vault *vault, tacit__cursor *row, void *context, tacit_error *err)
{
    const change *c = context;
    const int64_t learner = tacit__cursor_int(row, 0);
    size_t hash_size, tag_size;
    const uint8_t *person = tacit__cursor_bytes(row, 1, &hash_size);
    const void *kept = tacit__cursor_bytes(row, 4, &tag_size);
    const tacit__person_visits v = {.visits = (uint64_t)tacit__cursor_int(row, 2),
                                    .last_place = (uint64_t)tacit__cursor_int(row, 3)};
    uint8_t tag[TACIT__PERSON_TAG];
    if (hash_size != TACIT__VAULT_KEY || tag_size != sizeof tag)
        return fail_person(vault, err);
    make_tag(c->before, learner, person, &v, tag);
    if (!tacit__same_bytes(tag, kept, sizeof tag))
        return fail_person(vault, err);
    make_tag(c->after, learner, person, &v, tag);
    return tacit__connection_write(vault->db, SQL_RETAG,
                                   "UPDATE person SET tag=? WHERE learner=? AND hash=?", err, "bib",
                                   tag, sizeof tag, learner, person, hash_size);
}

tacit_status tacit__vault_retag(tacit__vault *vault, const uint8_t before[TACIT__KEY_BYTES],
                                const uint8_t after[TACIT__KEY_BYTES], tacit_error *err)
{
    change c = {before, after};
    return tacit__vault_scan(
        vault,
        &(tacit__paged_scan){"SELECT learner, hash, visits, last_place, tag FROM"
                             " person WHERE visits IS NOT NULL AND"
                             " (learner, hash) > (?1, ?2) ORDER BY learner, hash"
                             " LIMIT ?3",
                             .number = INT64_MIN, .writes = true},
        retag, &c, err);
}
