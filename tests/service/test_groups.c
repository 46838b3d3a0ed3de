/* Statements that are sent for many rows at once (src/store/postgres/postgres_group.c), on a real PostgreSQL:
 * what comes of them is what comes of one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres/postgres.h"
#include "support/check.h"
#include "support/cluster.h"

enum { INSERT, CLAIM, DELETE, READ, COUNT, UPDATE, CHANGE, N = 3000 };

static cluster db;

typedef struct place {
    tacit__connection *c;
    tacit_error err;
} place;

static void open_place(place *p)
{
    char uri[300];
    *p = (place){0};
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    if (db.pid == 0)
        cluster_open(&db, "log_parameter_max_length_on_error = -1");
    cluster_database(&db, "groups");
    cluster_uri(&db, "groups", uri, sizeof uri);
    assert_true(cluster_sql(&db, "groups",
                            "DROP SCHEMA IF EXISTS tacit CASCADE; CREATE SCHEMA tacit AUTHORIZATION"
                            " tacit; SET ROLE tacit; CREATE TABLE tacit.item(id BIGINT, key BYTEA,"
                            " data BYTEA, PRIMARY KEY(id, key))",
                            NULL, 0));
    assert_ok(tacit__pg_create(uri, NULL, &p->c, &p->err));
    tacit__pg_of(p->c)->terse = true;
}

static void close_place(place *p)
{
    tacit__connection_destroy(p->c);
}

static void run(place *p, const char *sql)
{
    assert_ok(tacit__connection_run(p->c, sql, "try", &p->err));
}

static void name_of(int64_t i, uint8_t out[TACIT__ROW_NAME])
{
    memset(out, 0, TACIT__ROW_NAME);
    memcpy(out, &i, sizeof i);
}

static tacit_status insert(place *p, int64_t i, const char *data)
{
    uint8_t key[TACIT__ROW_NAME];
    name_of(i, key);
    return tacit__connection_write(p->c, INSERT, "INSERT INTO item VALUES(?,?,?)", &p->err, "ibb",
                                   i, key, sizeof key, data, data != NULL ? strlen(data) : 0);
}

static void claim(place *p, int64_t i, const char *data)
{
    uint8_t key[TACIT__ROW_NAME];
    name_of(i, key);
    assert_ok(tacit__connection_write(
        p->c, CLAIM, "INSERT INTO item(id, data, key) VALUES(?,?,?) ON CONFLICT DO NOTHING",
        &p->err, "ibb", i, data, strlen(data), key, sizeof key));
}

static void drop(place *p, int64_t i)
{
    uint8_t key[TACIT__ROW_NAME];
    name_of(i, key);
    assert_ok(tacit__connection_write(p->c, DELETE, "DELETE FROM item WHERE id=? AND key=?",
                                      &p->err, "ib", i, key, sizeof key));
}

#define READ_SQL "SELECT data, id FROM item WHERE id=? AND key=?"

static void expect(place *p, int64_t i)
{
    uint8_t key[TACIT__ROW_NAME];
    name_of(i, key);
    tacit__connection_expect(p->c, READ, READ_SQL, "ib", i, key, sizeof key);
}

static void assume(place *p, int64_t i)
{
    uint8_t key[TACIT__ROW_NAME];
    name_of(i, key);
    tacit__connection_assume(p->c, READ, READ_SQL, "ib", i, key, sizeof key);
}

/* "-": there is no row; "0": it has no data. */
static void assert_data(place *p, int64_t i, const char *wanted)
{
    uint8_t key[TACIT__ROW_NAME];
    tacit__cursor *s;
    bool found;
    size_t size = 0;
    name_of(i, key);
    assert_ok(tacit__connection_prepare(p->c, READ, READ_SQL, &s, &p->err));
    tacit__cursor_bind_int(s, 1, i);
    tacit__cursor_bind_bytes(s, 2, key, sizeof key);
    assert_ok(tacit__cursor_next(s, &found, &p->err));
    assert_int_equal(found, strcmp(wanted, "-") != 0);
    if (!found)
        return;
    assert_int_equal(tacit__cursor_columns(s), 2);
    assert_int_equal(tacit__cursor_int(s, 1), i);
    const void *data = tacit__cursor_bytes(s, 0, &size);
    const bool none = tacit__cursor_type(s, 0) == TACIT__COLUMN_NULL;
    assert_int_equal(none, strcmp(wanted, "0") == 0);
    if (!none) {
        assert_int_equal(size, strlen(wanted));
        assert_true(size == 0 || memcmp(data, wanted, size) == 0);
    }
    assert_ok(tacit__cursor_next(s, &found, &p->err));
    assert_false(found);
}

static void assert_count(place *p, int64_t wanted)
{
    tacit__cursor *s;
    bool found;
    assert_ok(tacit__connection_prepare(p->c, COUNT, "SELECT count(*) FROM item", &s, &p->err));
    assert_ok(tacit__cursor_next(s, &found, &p->err));
    assert_true(found);
    assert_int_equal(tacit__cursor_int(s, 0), wanted);
    tacit__cursor_reset(s);
}

TEST(rows_that_were_sent_together_are_those_that_were_written)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= N; i++) /* several groups: there is a most */
        assert_ok(insert(&p, i, i % 3 == 0 ? NULL : i % 3 == 1 ? "" : "data"));
    assert_count(&p, N);
    run(&p, "COMMIT");
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= N + 5; i++)
        expect(&p, i);
    for (int64_t i = N + 5; i >= 1; i--)
        assert_data(&p, i, i > N ? "-" : i % 3 == 0 ? "0" : i % 3 == 1 ? "" : "data");
    run(&p, "COMMIT");
    close_place(&p);
}

TEST(the_first_of_two_claims_of_one_group_counts)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    claim(&p, 1, "first");
    claim(&p, 2, "other");
    claim(&p, 1, "second");
    assert_data(&p, 1, "first");
    assert_data(&p, 2, "other");
    run(&p, "COMMIT");
    assert_count(&p, 2);
    close_place(&p);
}

TEST(statements_about_one_table_keep_their_order)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    assert_ok(insert(&p, 1, "a"));
    drop(&p, 1);
    assert_ok(insert(&p, 1, "b"));
    claim(&p, 1, "c");
    assert_ok(insert(&p, 2, "d"));
    drop(&p, 2);
    drop(&p, 3);
    run(&p, "COMMIT");
    assert_data(&p, 1, "b");
    assert_data(&p, 2, "-");
    close_place(&p);
}

TEST(a_read_that_was_expected_before_a_write_sees_the_write)
{
    place p;
    uint8_t key[TACIT__ROW_NAME];
    open_place(&p);
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= 4; i++)
        expect(&p, i);
    assert_ok(insert(&p, 2, "new"));
    assert_data(&p, 1, "-");
    assert_data(&p, 2, "new");
    expect(&p, 2);
    name_of(2, key);
    assert_ok(tacit__connection_write(p.c, UPDATE, "UPDATE item SET data=? WHERE id=? AND key=?",
                                      &p.err, "bib", "newer", (size_t)5, (int64_t)2, key,
                                      sizeof key));
    uint64_t n = 0;
    assert_ok(tacit__connection_changes(p.c, &n, &p.err));
    assert_int_equal(n, 1);
    assert_data(&p, 2, "newer");
    drop(&p, 2);
    assert_data(&p, 2, "-");
    run(&p, "ROLLBACK");
    assert_count(&p, 0);
    close_place(&p);
}

TEST(a_write_that_names_no_row_is_seen_by_all_questions_about_its_table)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= 3; i++)
        assert_ok(insert(&p, i, "old"));
    for (int64_t i = 1; i <= 4; i++)
        expect(&p, i);
    assert_data(&p, 1, "old");
    assert_ok(tacit__connection_write(p.c, CHANGE, "UPDATE item SET data=? WHERE id<?", &p.err,
                                      "bi", "new", (size_t)3, (int64_t)3));
    for (int64_t i = 1; i <= 4; i++)
        assert_data(&p, i, i < 3 ? "new" : i == 3 ? "old" : "-");
    run(&p, "COMMIT");
    close_place(&p);
}

/* How often this session has looked into the index of the table, in this transaction and shortly before. */
static int64_t count_lookups(place *p)
{
    tacit__cursor *s;
    bool found;
    assert_ok(tacit__connection_prepare(
        p->c, TACIT__ONCE,
        "SELECT idx_scan FROM pg_stat_xact_user_tables WHERE relname='item' AND"
        " schemaname='tacit'",
        &s, &p->err));
    assert_ok(tacit__cursor_next(s, &found, &p->err));
    const int64_t n = found ? tacit__cursor_int(s, 0) : 0;
    tacit__cursor_close(s);
    return n;
}

/* The server keeps plans, and made these when there was nothing. */
TEST(each_row_of_a_group_is_found_by_the_index_after_the_table_has_grown)
{
    enum { ASKED = 200, BEFORE = 8 };
    place p;
    open_place(&p);
    run(&p, "SET enable_seqscan = off");
    for (int i = 0; i < BEFORE; i++) {
        run(&p, "BEGIN");
        expect(&p, 1);
        assert_data(&p, 1, "-");
        drop(&p, 1);
        run(&p, "COMMIT");
    }
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= N; i++)
        assert_ok(insert(&p, i, "data"));
    run(&p, "COMMIT");
    run(&p, "BEGIN");
    const int64_t before = count_lookups(&p);
    for (int64_t i = 1; i <= ASKED; i++)
        expect(&p, i);
    for (int64_t i = 1; i <= ASKED; i++)
        assert_data(&p, i, "data");
    const int64_t asked = count_lookups(&p);
    assert_int_equal(asked - before, ASKED);
    for (int64_t i = 1; i <= ASKED; i++)
        drop(&p, i);
    assert_data(&p, ASKED + 1, "data");
    assert_int_equal(count_lookups(&p) - asked, ASKED + 1);
    assert_count(&p, N - ASKED);
    run(&p, "COMMIT");
    close_place(&p);
}

static void assert_undone(place *p, bool was_wrong)
{
    assert_status(tacit__connection_run(p->c, "COMMIT", "try", &p->err), TACIT_SYSTEM);
    if (tacit__connection_in_transaction(p->c))
        run(p, "ROLLBACK");
    assert_int_equal(tacit__connection_assumed_wrongly(p->c), was_wrong);
}

TEST(rows_that_are_assumed_not_to_be_there_are_not_asked_for)
{
    enum { NEW = 300 };
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    const int64_t before = count_lookups(&p);
    for (int64_t i = 1; i <= NEW; i++)
        assume(&p, i);
    for (int64_t i = 1; i < NEW; i++) { /* the last is not used, and not inserted */
        assert_data(&p, i, "-");
        assert_ok(insert(&p, i, "data"));
    }
    assert_int_equal(count_lookups(&p), before);
    assert_data(&p, 7, "data"); /* after the insert it is asked for */
    run(&p, "COMMIT");
    assert_false(tacit__connection_assumed_wrongly(p.c));
    assert_count(&p, NEW - 1);
    close_place(&p);
}

TEST(a_row_that_is_there_after_all_undoes_the_transaction_and_is_asked_for_then)
{
    place p;
    open_place(&p);
    assert_ok(insert(&p, 2, "there"));
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= 2; i++) {
        assume(&p, i);
        assert_data(&p, i, "-");
        assert_ok(insert(&p, i, "new"));
    }
    assert_undone(&p, true);
    for (int i = 0; i < TACIT__PG_CAUTIOUS + 2; i++) {
        run(&p, "BEGIN");
        assume(&p, 1);
        assume(&p, 2);
        assert_data(&p, 1, "-");
        const bool asks = i + 1 < TACIT__PG_CAUTIOUS;
        assert_data(&p, 2, asks ? "there" : "-");
        run(&p, "ROLLBACK");
        assert_false(tacit__connection_assumed_wrongly(p.c));
    }
    close_place(&p);
}

TEST(errors_in_the_log_of_the_server_have_no_parameters)
{
    place p;
    tacit__cursor *s;
    bool found;
    open_place(&p);
    assert_ok(tacit__connection_prepare(
        p.c, TACIT__ONCE, "SELECT current_setting('log_parameter_max_length_on_error')", &s,
        &p.err));
    assert_ok(tacit__cursor_next(s, &found, &p.err));
    assert_true(found);
    assert_string_equal(tacit__cursor_text(s, 0), "0");
    tacit__cursor_close(s);
    close_place(&p);
}

TEST(nothing_is_assumed_of_a_server_that_would_name_the_row)
{
    place p;
    open_place(&p);
    tacit__pg_of(p.c)->terse = false;
    assert_ok(insert(&p, 1, "there"));
    run(&p, "BEGIN");
    assume(&p, 1);
    assert_data(&p, 1, "there");
    run(&p, "COMMIT");
    close_place(&p);
}

/* What inserts the row, and fails if it is there, confirms; nothing else. */
TEST(an_assumption_that_was_used_must_be_confirmed_before_the_commit)
{
    enum { NOTHING, ANOTHER, OTHER_LEARNER, CLAIMED, DROPPED, N_WAYS };
    place p;
    open_place(&p);
    for (int way = 0; way < N_WAYS; way++) {
        uint8_t key[TACIT__ROW_NAME];
        name_of(1, key);
        run(&p, "BEGIN");
        assume(&p, 1);
        assert_data(&p, 1, "-");
        if (way == ANOTHER)
            assert_ok(insert(&p, 2, "data"));
        if (way == OTHER_LEARNER)
            assert_ok(tacit__connection_write(p.c, INSERT, "INSERT INTO item VALUES(?,?,?)", &p.err,
                                              "ibb", (int64_t)9, key, sizeof key, "data",
                                              (size_t)4));
        if (way == CLAIMED)
            claim(&p, 1, "data");
        if (way == DROPPED)
            drop(&p, 1);
        assert_undone(&p, true);
        tacit__pg_of(p.c)->cautious = 0;
    }
    assert_count(&p, 0);
    close_place(&p);
}

TEST(a_row_twice_without_an_assumption_is_a_fault)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    assert_ok(insert(&p, 1, "a"));
    assert_ok(insert(&p, 1, "a"));
    assert_undone(&p, false);
    close_place(&p);
}

TEST(one_bad_row_undoes_the_transaction_and_the_session_goes_on)
{
    place p;
    open_place(&p);
    for (int round = 0; round < 3; round++) {
        run(&p, "BEGIN");
        assert_ok(insert(&p, 1, "a"));
        assert_ok(insert(&p, 2, "b"));
        assert_ok(insert(&p, 1, "a"));
        expect(&p, 7); /* is not prepared, because it comes after what is refused */
        claim(&p, 8, "c");
        assert_status(tacit__connection_run(p.c, "COMMIT", "try", &p.err), TACIT_SYSTEM);
        assert_count(&p, 0);
        run(&p, "BEGIN");
        claim(&p, round, "x");
        expect(&p, round);
        assert_data(&p, round, "x");
        drop(&p, round);
        run(&p, "COMMIT");
    }
    close_place(&p);
}

/* A check of all people takes the server long, and it says nothing meanwhile. */
TEST(a_silent_server_is_given_up_when_patience_ends_and_not_before)
{
    place p;
    open_place(&p);
    for (int patient = 0; patient < 2; patient++) {
        tacit__cursor *s;
        bool found;
        tacit__pg_of(p.c)->patience_ms = patient ? TACIT__PG_LONG_PATIENCE_MS : 100;
        run(&p, "BEGIN");
        assert_ok(
            tacit__connection_prepare(p.c, TACIT__ONCE, "SELECT 1 FROM pg_sleep(1)", &s, &p.err));
        assert_status(tacit__cursor_next(s, &found, &p.err), patient ? TACIT_OK : TACIT_SYSTEM);
        tacit__cursor_close(s);
        assert_status(tacit__connection_run(p.c, "ROLLBACK", "try", &p.err),
                      patient ? TACIT_OK : TACIT_SYSTEM);
    }
    close_place(&p);
}

TEST(what_waits_when_a_transaction_is_undone_is_not_sent)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    assert_ok(insert(&p, 1, "a"));
    run(&p, "ROLLBACK");
    assert_ok(insert(&p, 2, "b")); /* outside: at once */
    assert_data(&p, 1, "-");
    assert_data(&p, 2, "b");
    close_place(&p);
    cluster_close(&db);
}
