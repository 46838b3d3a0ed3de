/* Checks whether a vault is sound. See store/vault/vault.h.
 * A reader that stays in one transaction prevents the writer from cutting its log. So the check uses short
 * transactions: it checks pages table by table, sums by one statement each, and long tables some rows at a
 * time, each in its own snapshot (paged_scan.c). That is sound because every sentence holds in every
 * snapshot: one transaction puts a user into `learner`, `seen` and `input`, and rows that belong together
 * come and go together. The check may miss rows that are added while it runs; it sees all rows that are
 * there throughout. It takes time linear in the store, plus one index lookup for each person. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/vault/vault_inside.h"

/* --- Sums --------------------------------------------------------------------------------------- */

/* Each query counts the rows that contradict its sentence. */
static const struct {
    const char *sql, *why;
} sentences[] = {
    {"SELECT count(*) FROM learner WHERE accepted != users + refused +"
     " (SELECT count(*) FROM input WHERE input.learner = learner.id AND number > taken)",
     "a learner's users do not add up: some are lost or double"},
    {"SELECT count(*) FROM learner WHERE accepted > users_limit",
     "a learner has more users than it was declared for"},
    {"SELECT count(*) FROM learner WHERE accepted !="
     " (SELECT count(*) FROM seen WHERE seen.learner = learner.id)",
     "a learner's users do not match the episodes and reports that were accepted"},
    {"SELECT count(*) FROM ledger WHERE passed > declared", "more was released than was declared"},
    {"SELECT count(*) FROM learner WHERE shown < users OR shown > accepted - refused",
     "a learner has shown more users than there are, or fewer than it has learned from"},
    {"SELECT count(*) FROM learner WHERE shown <"
     " (SELECT max(history.users) FROM history WHERE history.learner = learner.id)",
     "the curve of a learner has more users than the learner"},
    {"SELECT count(*) FROM person AS p JOIN learner AS l ON l.id=p.learner WHERE"
     " CASE WHEN l.visits > 1 THEN p.visits IS NULL OR p.visits < 1 OR p.visits > l.visits"
     " ELSE p.visits IS NOT NULL END",
     "the learner has learned from a person more often than it declares"},
    /* where people come back no episode has its person, or it would take them with it when it expires */
    {"SELECT count(*) FROM person WHERE visits IS NOT NULL AND key IS NOT NULL",
     "the counted visits of a person were changed"},
    /* the first visit has place 1 or later, and each one is `apart` later than the one before it */
    {"SELECT count(*) FROM person AS p JOIN learner AS l ON l.id=p.learner WHERE"
     " p.last_place > l.accepted OR p.last_place < 1 + (p.visits - 1) * l.apart",
     "a person's visits are closer together than the learner declares"},
    {"SELECT count(*) FROM (SELECT l.accepted AS accepted, l.named AS named,"
     " (SELECT coalesce(sum(p.visits), 0) FROM person AS p WHERE p.learner=l.id) AS visits"
     " FROM learner AS l WHERE l.visits > 1) AS sums WHERE"
     " CASE WHEN named != 0 THEN visits != accepted ELSE visits > accepted END",
     "the visits of a learner's people do not add up to its users"}};

static tacit_status count(tacit__vault *vault, const char *sql, uint64_t *out, tacit_error *err)
{
    int64_t n = 0;
    tacit_status status = tacit__vault_query_number(vault, sql, &n, err);
    *out = (uint64_t)n;
    return status;
}

tacit_status tacit__vault_check_sums(tacit__vault *vault, const char **why, tacit_error *err)
{
    TACIT__REQUIRE(why != NULL);
    tacit_status status = TACIT_OK;
    *why = NULL;
    for (size_t i = 0;
         i < sizeof sentences / sizeof *sentences && status == TACIT_OK && *why == NULL; i++) {
        uint64_t wrong = 0;
        status = count(vault, sentences[i].sql, &wrong, err);
        if (wrong > 0)
            *why = sentences[i].why;
    }
    return status;
}

static tacit_status check_sums(tacit__vault *vault, tacit_error *err)
{
    const char *why = NULL;
    tacit_status status = tacit__vault_check_sums(vault, &why, err);
    return status == TACIT_OK && why != NULL
               ? tacit__fail(err, TACIT_CORRUPT, "%.200s: %s", vault->path, why)
               : status;
}

/* --- Rows, piece by piece ----------------------------------------------------------------------- */

static tacit_status check_sealed(tacit__vault *vault, tacit__cursor *row, void *context,
                                 tacit_error *err)
{
    (void)context;
    size_t size, n = 0;
    const void *sealed = tacit__cursor_bytes(row, 2, &size);
    uint8_t *data = NULL;
    tacit_status status =
        tacit__vault_open_sealed(vault, vault->key_input, sealed, size, &data, &n, err);
    tacit__free_secret(data, n);
    return status;
}

static tacit_status check_person(tacit__vault *vault, tacit__cursor *row, void *context,
                                 tacit_error *err)
{
    (void)context;
    if (tacit__cursor_type(row, 3) != TACIT__COLUMN_NULL) {
        const uint8_t *person;
        return tacit__vault_check_row(vault, row, 1, 3, &person, err);
    }
    return tacit__cursor_int(row, 2) != 0
               ? TACIT_OK
               : tacit__fail(err, TACIT_CORRUPT,
                             "%.200s: a person is recorded as a participant without an episode",
                             vault->path);
}

/* Checks that each input of a learner is the one that was stored under its number. */
static tacit_status check_input(tacit__vault *vault, tacit__cursor *row, void *context,
                                tacit_error *err)
{
    size_t size, n = 0;
    uint8_t *data = NULL, key[TACIT__VAULT_KEY];
    const void *sealed = tacit__cursor_bytes(row, 2, &size);
    tacit_status status =
        tacit__vault_open_input(vault, *(const int64_t *)context, tacit__cursor_int(row, 0), sealed,
                                size, key, &data, &n, err);
    tacit__free_secret(data, n);
    return status;
}

static tacit_status check_inputs(tacit__vault *vault, int64_t id, void *context, tacit_error *err)
{
    char sql[200];
    (void)context;
    (void)snprintf(sql, sizeof sql,
                   "SELECT number, NULL, data FROM input WHERE learner=%lld AND number > ?1 AND ?2"
                   " IS NOT NULL ORDER BY number LIMIT ?3",
                   (long long)id);
    return tacit__vault_scan(vault, &(tacit__paged_scan){sql, .number = INT64_MIN}, check_input,
                             &id, err);
}

static tacit_status check_rows(tacit__vault *vault, tacit_error *err)
{
    static const struct {
        const char *sql;
        tacit__row_fn *check;
    } tables[] = {
        {"SELECT learner, hash, EXISTS(SELECT 1 FROM seen AS s WHERE s.learner=p.learner AND"
         " s.key=p.key) OR EXISTS(SELECT 1 FROM open AS o WHERE o.learner=p.learner AND "
         "o.key=p.key), visits, last_place, tag"
         " FROM person AS p WHERE (learner, hash) > (?1, ?2) ORDER BY learner, hash LIMIT ?3",
         check_person},
        {"SELECT learner, key, data FROM open WHERE (learner, key) > (?1, ?2)"
         " ORDER BY learner, key LIMIT ?3",
         check_sealed},
        {"SELECT number, NULL, data FROM decision WHERE number > ?1 AND ?2 IS NOT NULL"
         " ORDER BY number LIMIT ?3",
         check_sealed},
        {"SELECT ?1, name, data FROM answer WHERE name > ?2 ORDER BY name LIMIT ?3", check_sealed}};
    const size_t n = vault->keyed ? sizeof tables / sizeof *tables : 1;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < n && status == TACIT_OK; i++)
        status = tacit__vault_scan(vault, &(tacit__paged_scan){tables[i].sql, .number = INT64_MIN},
                                   tables[i].check, NULL, err);
    return status;
}

/* Checks that no two people have the same last ordinal. This is not one of the quick sums, since it needs
 * sorting. */
static tacit_status check_places(tacit__vault *vault, tacit_error *err)
{
    uint64_t shared = 0;
    TRY(count(vault,
              "SELECT count(*) FROM (SELECT 1 FROM person WHERE last_place IS NOT NULL"
              " GROUP BY learner, last_place HAVING count(*) > 1) AS shared",
              &shared, err));
    return shared == 0 ? TACIT_OK
                       : tacit__fail(err, TACIT_CORRUPT,
                                     "%.200s: two people have the same place for their last visit",
                                     vault->path);
}

/* --- All of it ---------------------------------------------------------------------------------- */

static tacit_status check_state(tacit__vault *vault, int64_t id, void *context, tacit_error *err)
{
    (void)context;
    size_t n = 0;
    uint8_t *data = NULL;
    bool alone;
    TRY(tacit__vault_begin_snapshot(vault, &alone, err));
    tacit_status status = tacit__vault_open_state(vault, id, &data, &n, err);
    tacit__free_secret(data, n);
    tacit__vault_end_snapshot(vault, alone);
    return status;
}

static tacit_status check_status(tacit__vault *vault, tacit_error *err)
{
    tacit__store_status store_status = tacit__vault_store_status(vault);
    if (vault->use != TACIT__VAULT_SERVE)
        TRY(vault->backend->check_status(vault, &store_status, err));
    if (store_status == TACIT__STORE_FINE)
        return TACIT_OK;
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.150s: %s. Its contents are sound; a service on it decides, but does not "
                       "learn. tacit store adopt tells what you can do",
                       vault->path, tacit__store_status_reason(store_status));
}

tacit_status tacit__vault_check(tacit__vault *vault, tacit__vault_health *health, tacit_error *err)
{
    *health = (tacit__vault_health){0};
    const struct {
        const char *sql;
        uint64_t *out;
    } counts[] = {{"SELECT count(*) FROM learner", &health->learners},
                  {"SELECT count(*) FROM input", &health->inputs},
                  {"SELECT count(*) FROM open", &health->open},
                  {"SELECT count(*) FROM seen", &health->seen},
                  {"SELECT count(*) FROM person", &health->people},
                  {"SELECT count(*) FROM answer", &health->answers},
                  {"SELECT count(*) FROM token", &health->tokens},
                  {vault->backend->bytes, &health->bytes}};
    tacit_status status = vault->backend->check_pages(vault, err);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && status == TACIT_OK; i++)
        status = count(vault, counts[i].sql, counts[i].out, err);
    if (status == TACIT_OK)
        status = check_sums(vault, err);
    if (status == TACIT_OK)
        status = check_places(vault, err);
    if (status == TACIT_OK)
        status = check_rows(vault, err);
    if (status != TACIT_OK || !vault->keyed)
        return status;
    status = tacit__vault_check_facts(vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_each_learner(vault, check_inputs, NULL, err);
    if (status == TACIT_OK)
        status = tacit__vault_each_learner(vault, check_state, NULL, err);
    return status == TACIT_OK ? check_status(vault, err) : status;
}
