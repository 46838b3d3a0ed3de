/* Moves a store from a file into a database, row by row. See store/vault/vault.h.
 * Sealed data stay sealed under the same data keys, and all proofs stay valid, since they are computed from
 * values and not from files. So the tables are copied, and only the facts that name a place are rewritten.
 * The new store is complete or does not exist, and it is a copy, from which nobody learns, until the source
 * is permanently marked as gone. An interrupted move is repeated: before that mark everything is copied
 * again, since the source may have continued; after it, the new store only stops being a copy. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/vault/vault_inside.h"

enum { MOST_COLUMNS = 20 };

/* Every table of the schema but `meta`, with its columns in the order of the schema. */
static const struct {
    const char *table, *columns;
    bool numbered; /* its first column numbers rows by itself */
} tables[] = {
    {"learner",
     "id, name, fingerprint, users_limit, accepted, users, refused, version, taken, shown, edition,"
     " tag, proof, visits, apart, named, epoch",
     true},
    {"state", "learner, edition, part, data", false},
    {"open", "learner, key, opened, data", false},
    {"input", "learner, number, data", false},
    {"seen", "learner, key, content", false},
    {"answer", "name, opened, content, data", false},
    {"person", "learner, hash, key, visits, last_place, tag", false},
    {"verdict", "learner, key, opened, soon", false},
    {"ledger", "learner, release, declared, passed", false},
    {"history", "learner, users, at, version, reward, error", false},
    {"token", "id, name, hash, scopes, created, revoked, expires, users_per_day, learner", true},
    {"quota", "token, day, used", true},
    {"event", "number, at, what", true},
    {"adoption", "number, at, learner, users, lives", true},
    {"decision", "number, learner, data", true}};

/* A value that was read. */
static void bind_cell(tacit__cursor *to, int i, tacit__cursor *from, int column)
{
    const tacit__cell cell = from->driver->get(from, column);
    to->driver->bind(to, i, &cell);
}

static tacit_status copy_table(tacit__vault *from, tacit__vault *to, size_t i, tacit_error *err)
{
    char sql[600], marks[3 * MOST_COLUMNS] = "?";
    tacit__cursor *rows, *row;
    bool more = true;
    (void)snprintf(sql, sizeof sql, "SELECT %s FROM %s", tables[i].columns, tables[i].table);
    TRY(tacit__vault_prepare(from, sql, &rows, err));
    int n = 1;
    for (const char *at = tables[i].columns; (at = strchr(at, ',')) != NULL; at++, n++) {
        TACIT__REQUIRE(n < MOST_COLUMNS);
        memcpy(marks + 2 * n - 1, ",?", 3);
    }
    (void)snprintf(sql, sizeof sql, "INSERT INTO %s(%s) VALUES(%s)", tables[i].table,
                   tables[i].columns, marks);
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK && (status = tacit__cursor_next(rows, &more, err)) == TACIT_OK &&
           more) {
        status = tacit__vault_prepare(to, sql, &row, err);
        for (int c = 0; status == TACIT_OK && c < n; c++)
            bind_cell(row, c + 1, rows, c);
        if (status == TACIT_OK)
            status = tacit__cursor_run_once(row, err);
    }
    tacit__cursor_close(rows);
    if (status == TACIT_OK && tables[i].numbered) {
        (void)snprintf(sql, sizeof sql,
                       "SELECT setval(pg_get_serial_sequence('tacit.%s', '%.*s'),"
                       " (SELECT coalesce(max(%.*s), 0) + 1 FROM %s), false)",
                       tables[i].table, (int)strcspn(tables[i].columns, ","), tables[i].columns,
                       (int)strcspn(tables[i].columns, ","), tables[i].columns, tables[i].table);
        int64_t next = 0;
        status = tacit__vault_query_number(to, sql, &next, err);
    }
    return status;
}

/* Copies identity, keys and counters as they are, and leaves out what names a file or a process. */
static tacit_status copy_facts(tacit__vault *from, tacit__vault *to, tacit_error *err)
{
    tacit__cursor *s;
    bool more = true;
    TRY(tacit__connection_run(to->db, "DELETE FROM meta", "write", err));
    TRY(tacit__vault_prepare(from,
                             "SELECT name, value FROM meta WHERE name NOT IN ('owner', 'unmarked',"
                             " 'clock', 'proof', 'copy', 'gone')",
                             &s, err));
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK && (status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more) {
        size_t size;
        const void *value = tacit__cursor_bytes(s, 1, &size);
        status = tacit__vault_set_fact(to, tacit__cursor_text(s, 0), value != NULL ? value : "",
                                       size, err);
    }
    tacit__cursor_close(s);
    return status;
}

static tacit_status copy_all(tacit__vault *from, tacit__vault *to, tacit_error *err)
{
    int64_t seconds = 0;
    char sql[100];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        /* the event that it was made; or what a move that was interrupted has copied */
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s", tables[i].table);
        TRY(tacit__connection_run(to->db, sql, "write", err));
        TRY(copy_table(from, to, i, err));
    }
    TRY(copy_facts(from, to, err));
    memcpy(to->key_proof, from->key_proof, sizeof to->key_proof);
    TRY(tacit__vault_set_count(to, "format", TACIT__VAULT_FORMAT, err));
    TRY(tacit__vault_get_clock(from, 0, &seconds, err));
    TRY(tacit__vault_save_clock(to, seconds, err));
    /* until the source is marked, it is a copy */
    TRY(tacit__vault_set_fact(to, "copy", "", 1, err));
    TRY(to->backend->settle(to, err));
    TRY(tacit__vault_add_event(to, err, "moved from a file"));
    return tacit__vault_prove_all(to, err);
}

static tacit_status mark_gone(tacit__vault *from, tacit_error *err)
{
    TRY(tacit__vault_begin(from, err));
    tacit_status status = tacit__vault_set_fact(from, "gone", "", 1, err);
    if (status == TACIT_OK)
        status = tacit__vault_add_event(from, err, "moved into a database: gone from here");
    return tacit__vault_finish_transaction(from, status, err);
}

static tacit_status open_new(tacit__vault *to, tacit_error *err)
{
    TRY(tacit__vault_set_fact(to, "copy", NULL, 0, err));
    return tacit__vault_prove_all(to, err);
}

tacit_status tacit__vault_refuse_gone(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_BAD_ARGUMENT,
                       "%.200s: the store was moved into a database, and is gone from here; name "
                       "the database in the service file",
                       vault->path);
}

/* Checks whether a store can be copied there: it was just created, or has what was copied before. */
static tacit_status check_target(const tacit__vault *from, tacit__vault *to, tacit_error *err)
{
    int64_t things = 0;
    if (to->copy && memcmp(from->identity, to->identity, sizeof to->identity) == 0)
        return TACIT_OK;
    TRY(tacit__vault_query_number(
        to, "SELECT (SELECT count(*) FROM learner) + (SELECT count(*) FROM token)", &things, err));
    return things == 0
               ? TACIT_OK
               : tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: the store has learners or tokens already; a store can be "
                             "moved only into one that tacit store init has just created",
                             to->path);
}

static tacit_status copy_and_mark(tacit__vault *from, tacit__vault *to, tacit_error *err)
{
    if (tacit__vault_store_status(from) != TACIT__STORE_FINE)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.150s: cannot be moved: %s", from->path,
                           tacit__store_status_reason(tacit__vault_store_status(from)));
    TRY(check_target(from, to, err));
    TRY(tacit__vault_begin(to, err));
    TRY(tacit__vault_finish_transaction(to, copy_all(from, to, err), err));
    return mark_gone(from, err);
}

tacit_status tacit__vault_move(tacit__vault *from, tacit__vault *to, bool *before, tacit_error *err)
{
    TACIT__REQUIRE(from->use == TACIT__VAULT_SERVE && to->use == TACIT__VAULT_TOOL && from->keyed);
    const bool same = memcmp(from->identity, to->identity, sizeof to->identity) == 0;
    *before = from->gone && same && !to->copy;
    if (*before)
        return TACIT_OK;
    if (from->gone && !same)
        return tacit__vault_refuse_gone(from, err);
    if (!from->gone)
        TRY(copy_and_mark(from, to, err));
    TRY(tacit__vault_begin(to, err));
    return tacit__vault_finish_transaction(to, open_new(to, err), err);
}
