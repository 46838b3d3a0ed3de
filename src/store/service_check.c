/* Checks whether a vault is sound. See store/service_store.h.
 *
 * A reader that stays in one transaction prevents the writer from cutting its log. So the check uses short
 * transactions: it checks pages table by table, sums by one statement each, and long tables PIECE rows at
 * a time, each in its own snapshot. That is sound because every sentence holds in every snapshot: one
 * transaction puts a user into `learner`, `seen` and `input`, and rows that belong together come and go
 * together. The check may miss rows that are added while it runs; it sees all rows that are there
 * throughout. It takes time linear in the store, plus one index lookup for each person. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/service_store_inside.h"

enum { PIECE = 4096 }; /* rows: some milliseconds */

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
     "a person was learned from more often than the learner was declared for"},
    /* where people come back no episode has its person, or it would take them with it when it expires */
    {"SELECT count(*) FROM person WHERE visits IS NOT NULL AND key IS NOT NULL",
     "a person whose visits are counted was changed"},
    /* the first visit has place 1 or later, and each one is `apart` later than the one before it */
    {"SELECT count(*) FROM person AS p JOIN learner AS l ON l.id=p.learner WHERE"
     " p.last_place > l.accepted OR p.last_place < 1 + (p.visits - 1) * l.apart",
     "a person's visits are nearer to each other than the learner was declared for"},
    {"SELECT count(*) FROM (SELECT l.accepted AS accepted, l.named AS named,"
     " (SELECT coalesce(sum(p.visits), 0) FROM person AS p WHERE p.learner=l.id) AS visits"
     " FROM learner AS l WHERE l.visits > 1) WHERE"
     " CASE WHEN named THEN visits != accepted ELSE visits > accepted END",
     "the visits of a learner's people do not add up to its users"}};

static tacit_status count(tacit__vault *vault, const char *sql, uint64_t *out, tacit_error *err)
{
    int64_t n = 0;
    tacit_status status = tacit__vault_number(vault, sql, &n, err);
    *out = (uint64_t)n;
    return status;
}

tacit_status tacit__vault_check_sums(tacit__vault *vault, const char **why, tacit_error *err)
{
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
               ? tacit__fail(err, TACIT_CORRUPT, "%.200s: %s", vault->db.path, why)
               : status;
}

/* --- Pages -------------------------------------------------------------------------------------- */

static tacit_status check_table(tacit__vault *vault, const char *name, tacit_error *err)
{
    sqlite3_stmt *s;
    char *sql = sqlite3_mprintf("PRAGMA integrity_check(%Q)", name);
    if (sql == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__vault_prepare(vault, sql, &s, err);
    sqlite3_free(sql);
    if (status != TACIT_OK)
        return status;
    int code = sqlite3_step(s);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (said == NULL)
        status = tacit__db_fail(&vault->db, code, "read", err);
    else if (strcmp(said, "ok") != 0)
        status = tacit__fail(err, TACIT_CORRUPT, "%.200s: the database is damaged (%.120s)",
                             vault->db.path, said);
    (void)sqlite3_finalize(s);
    return status;
}

/* The table after `name`, in its place; "" after the last. */
static tacit_status next_table(tacit__vault *vault, char name[128], tacit_error *err)
{
    sqlite3_stmt *s;
    TRY(tacit__vault_prepare(
        vault, "SELECT min(name) FROM sqlite_master WHERE type='table' AND name>?", &s, err));
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(s);
    const char *next = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    (void)snprintf(name, 128, "%s", next != NULL ? next : "");
    (void)sqlite3_finalize(s);
    return code == SQLITE_ROW ? TACIT_OK : tacit__db_fail(&vault->db, code, "read", err);
}

static tacit_status check_pages(tacit__vault *vault, tacit_error *err)
{
    char name[128] = "";
    tacit_status status = next_table(vault, name, err);
    while (status == TACIT_OK && name[0] != '\0') {
        status = check_table(vault, name, err);
        if (status == TACIT_OK)
            status = next_table(vault, name, err);
    }
    return status;
}

/* --- Rows, piece by piece ----------------------------------------------------------------------- */

/* `sql` goes on after the number ?1 and the name ?2, for at most ?3 rows: number, name, and what `check`
 * needs. */
typedef struct walk {
    const char *sql;
    tacit_status (*check)(tacit__vault *vault, sqlite3_stmt *row, tacit_error *err);
    int64_t number;
    uint8_t name[64];
    size_t name_size;
} walk;

static tacit_status check_sealed(tacit__vault *vault, sqlite3_stmt *row, tacit_error *err)
{
    size_t size, n = 0;
    const void *sealed = tacit__vault_blob(row, 2, &size);
    uint8_t *data = NULL;
    tacit_status status =
        tacit__vault_open_sealed(vault, vault->key_input, sealed, size, &data, &n, err);
    tacit__free_secret(data, n);
    return status;
}

static tacit_status check_person(tacit__vault *vault, sqlite3_stmt *row, tacit_error *err)
{
    if (sqlite3_column_type(row, 3) != SQLITE_NULL) {
        const uint8_t *person;
        return tacit__vault_check_row(vault, row, 1, 3, &person, err);
    }
    return sqlite3_column_int(row, 2) != 0
               ? TACIT_OK
               : tacit__fail(err, TACIT_CORRUPT,
                             "%.200s: a person is recorded as a participant without an episode",
                             vault->db.path);
}

static tacit_status save_position(tacit__vault *vault, walk *w, sqlite3_stmt *row, tacit_error *err)
{
    w->number = sqlite3_column_int64(row, 0);
    const void *name = tacit__vault_blob(row, 1, &w->name_size);
    if (w->name_size > sizeof w->name)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: a name is too long", vault->db.path);
    if (w->name_size > 0)
        memcpy(w->name, name, w->name_size);
    return TACIT_OK;
}

static tacit_status check_piece(tacit__vault *vault, walk *w, int *n, tacit_error *err)
{
    sqlite3_stmt *s;
    TRY(tacit__vault_prepare(vault, w->sql, &s, err));
    tacit_status status = TACIT_OK;
    (void)sqlite3_bind_int64(s, 1, w->number);
    (void)sqlite3_bind_blob(s, 2, w->name, (int)w->name_size, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int(s, 3, PIECE);
    int code = SQLITE_DONE;
    for (*n = 0; status == TACIT_OK && (code = sqlite3_step(s)) == SQLITE_ROW; ++*n) {
        status = w->check(vault, s, err);
        if (status == TACIT_OK)
            status = save_position(vault, w, s, err);
    }
    (void)sqlite3_finalize(s);
    return status != TACIT_OK || code == SQLITE_DONE
               ? status
               : tacit__db_fail(&vault->db, code, "read", err);
}

static tacit_status check_rows(tacit__vault *vault, tacit_error *err)
{
    walk walks[] = {
        {"SELECT learner, hash, EXISTS(SELECT 1 FROM seen AS s WHERE s.learner=p.learner AND"
         " s.key=p.key) OR EXISTS(SELECT 1 FROM open AS o WHERE o.learner=p.learner AND "
         "o.key=p.key), visits, last_place, tag"
         " FROM person AS p WHERE (learner, hash) > (?1, ?2) ORDER BY learner, hash LIMIT ?3",
         check_person, .number = INT64_MIN},
        {"SELECT number, NULL, data FROM input WHERE number > ?1 AND ?2 IS NOT NULL"
         " ORDER BY number LIMIT ?3",
         check_sealed, .number = INT64_MIN},
        {"SELECT learner, key, data FROM open WHERE (learner, key) > (?1, ?2)"
         " ORDER BY learner, key LIMIT ?3",
         check_sealed, .number = INT64_MIN},
        {"SELECT number, NULL, data FROM decision WHERE number > ?1 AND ?2 IS NOT NULL"
         " ORDER BY number LIMIT ?3",
         check_sealed, .number = INT64_MIN},
        {"SELECT ?1, name, data FROM answer WHERE name > ?2 ORDER BY name LIMIT ?3", check_sealed,
         .number = 0}};
    const size_t n_walks = sizeof walks / sizeof *walks;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < (vault->keyed ? n_walks : 1) && status == TACIT_OK; i++)
        for (int n = PIECE; n == PIECE && status == TACIT_OK;)
            status = check_piece(vault, &walks[i], &n, err);
    return status;
}

/* A place is one user. Not a sentence of the glance, since it takes sorting. */
static tacit_status check_places(tacit__vault *vault, tacit_error *err)
{
    uint64_t shared = 0;
    TRY(count(vault,
              "SELECT count(*) FROM (SELECT 1 FROM person WHERE last_place IS NOT NULL"
              " GROUP BY learner, last_place HAVING count(*) > 1)",
              &shared, err));
    return shared == 0 ? TACIT_OK
                       : tacit__fail(err, TACIT_CORRUPT,
                                     "%.200s: two people have their last visit in one place",
                                     vault->db.path);
}

/* --- All of it ---------------------------------------------------------------------------------- */

static tacit_status check_state(tacit__vault *vault, int64_t id, void *context, tacit_error *err)
{
    (void)context;
    size_t n = 0;
    uint8_t *data = NULL;
    const bool alone = sqlite3_get_autocommit(vault->db.handle);
    tacit_status status = alone ? tacit__db_run(&vault->db, "BEGIN", "read", err) : TACIT_OK;
    if (status == TACIT_OK)
        status = tacit__vault_open_state(vault, id, &data, &n, err);
    tacit__free_secret(data, n);
    if (alone)
        (void)sqlite3_exec(vault->db.handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* The mark first: it is never ahead of a store that is read after it. */
static tacit_status check_standing(tacit__vault *vault, tacit_error *err)
{
    bool found;
    uint64_t mark;
    TRY(tacit__mark_read(vault, &found, &mark, err));
    TRY(tacit__vault_read_facts(vault, NULL, err));
    const tacit__standing standing = vault->use == TACIT__VAULT_SERVE
                                         ? tacit__vault_standing(vault)
                                         : tacit__vault_compare_mark(vault, found, mark);
    if (standing == TACIT__STANDING_FINE)
        return TACIT_OK;
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.150s: %s. Its contents are sound; a service on it decides, but does not "
                       "learn. tacit store adopt tells what you can do",
                       vault->db.path, tacit__standing_reason(standing));
}

tacit_status tacit__vault_check(tacit__vault *vault, tacit__vault_health *health, tacit_error *err)
{
    *health = (tacit__vault_health){0};
    const struct {
        const char *sql;
        uint64_t *out;
    } counts[] = {
        {"SELECT count(*) FROM learner", &health->learners},
        {"SELECT count(*) FROM input", &health->inputs},
        {"SELECT count(*) FROM open", &health->open},
        {"SELECT count(*) FROM seen", &health->seen},
        {"SELECT count(*) FROM person", &health->people},
        {"SELECT count(*) FROM answer", &health->answers},
        {"SELECT count(*) FROM token", &health->tokens},
        {"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", &health->bytes}};
    tacit_status status = check_pages(vault, err);
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
        status = tacit__vault_each_learner(vault, check_state, NULL, err);
    return status == TACIT_OK ? check_standing(vault, err) : status;
}
