/* Many users in one transaction: what comes of them is what comes of one after the other, in a file and on a
 * real PostgreSQL, where the rows of a statement are sent together (src/store/postgres/postgres_rows.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres/postgres.h"
#include "store/vault/vault_inside.h"
#include "support/check.h"
#include "support/cluster.h"
#include "support/random.h"

enum { COUNT = 0, PUT, DROP, FIND, N = 3000, NAME = 16 };

static cluster db;

/* --- Statements for many rows ----------------------------------------------------------------------- */

typedef struct place {
    tacit__connection *c;
    tacit_error err;
    int64_t found, sum; /* rows that were found, and the sum of their ids */
} place;

static void open_cluster(const char *database)
{
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    if (db.pid == 0)
        cluster_open(&db, "log_parameter_max_length_on_error = -1");
    cluster_database(&db, database);
}

static void open_place(place *p)
{
    char uri[300];
    *p = (place){0};
    open_cluster("groups");
    cluster_uri(&db, "groups", uri, sizeof uri);
    assert_true(cluster_sql(&db, "groups",
                            "DROP SCHEMA IF EXISTS tacit CASCADE; CREATE SCHEMA tacit AUTHORIZATION"
                            " tacit; SET ROLE tacit; CREATE TABLE tacit.item(id BIGINT, key BYTEA,"
                            " data BYTEA, PRIMARY KEY(id, key))",
                            NULL, 0));
    assert_ok(tacit__pg_create(uri, NULL, &p->c, &p->err));
}

static void close_place(place *p)
{
    tacit__connection_destroy(p->c);
}

static void run(place *p, const char *sql)
{
    assert_ok(tacit__connection_run(p->c, sql, "try", &p->err));
}

static const tacit__row_statement
    put_rows = {.number = PUT,
                .many = "INSERT INTO item SELECT * FROM unnest($1::int8[],$2::bytea[],$3::bytea[])",
                .format = "ibb"},
    drop_rows = {.number = DROP,
                 .many = "DELETE FROM item WHERE ctid = ANY(ARRAY(SELECT q.at FROM"
                         " unnest($1::int8[],$2::bytea[]) AS u(a,b), LATERAL (SELECT ctid AS at"
                         " FROM item WHERE id=u.a AND key=u.b OFFSET 0) AS q))",
                 .format = "ib"},
    find_rows = {.number = FIND,
                 .many = "SELECT q.* FROM unnest($1::int8[],$2::bytea[]) AS u(a,b), LATERAL"
                         " (SELECT id, data FROM item WHERE id=u.a AND key=u.b OFFSET 0) AS q",
                 .format = "ib"};

/* Counts a row, and checks its data: every third has none, every third is empty. */
static tacit_status count_row(void *context, tacit__cursor *row, tacit_error *err)
{
    place *p = context;
    size_t size;
    const int64_t id = tacit__cursor_int(row, 0);
    const void *data = tacit__cursor_bytes(row, 1, &size);
    (void)err;
    p->found++;
    p->sum += id;
    assert_int_equal(tacit__cursor_type(row, 1) == TACIT__COLUMN_NULL, id % 3 == 0);
    assert_int_equal(size, id % 3 == 2 ? 4 : 0);
    assert_true(size == 0 || memcmp(data, "data", size) == 0);
    return TACIT_OK;
}

static void add(place *p, const tacit__row_statement *statement, int64_t id)
{
    uint8_t key[NAME] = {0};
    memcpy(key, &id, sizeof id);
    const tacit__cell values[] = {{.type = TACIT__COLUMN_INTEGER, .integer = id},
                                  {.type = TACIT__COLUMN_BYTES, .bytes = key, .size = sizeof key},
                                  {.type = TACIT__COLUMN_BYTES,
                                   .bytes = id % 3 == 0   ? NULL
                                            : id % 3 == 1 ? ""
                                                          : "data",
                                   .size = id % 3 == 2 ? 4 : 0}};
    const bool finds = statement == &find_rows;
    assert_ok(tacit__connection_add_row(p->c, statement, values, finds ? count_row : NULL,
                                        finds ? p : NULL, &p->err));
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
    for (int64_t i = 1; i <= N; i++) /* several statements: there is a most */
        add(&p, &put_rows, i);
    assert_count(&p, N);
    run(&p, "COMMIT");
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= N + 5; i++)
        add(&p, &find_rows, i);
    assert_ok(tacit__connection_await(p.c, &p.err));
    assert_int_equal(p.found, N);
    assert_int_equal(p.sum, (int64_t)N * (N + 1) / 2);
    run(&p, "COMMIT");
    close_place(&p);
}

TEST(statements_keep_their_order)
{
    place p;
    open_place(&p);
    run(&p, "BEGIN");
    add(&p, &put_rows, 1);
    add(&p, &drop_rows, 1);
    add(&p, &put_rows, 1);
    add(&p, &put_rows, 2);
    add(&p, &find_rows, 2); /* finds what was added before */
    add(&p, &drop_rows, 2);
    add(&p, &find_rows, 2); /* and nothing that is gone */
    run(&p, "COMMIT");
    assert_int_equal(p.found, 1);
    assert_count(&p, 1);
    close_place(&p);
}

TEST(rows_of_a_transaction_that_is_undone_are_neither_sent_nor_passed_on)
{
    place p;
    open_place(&p);
    add(&p, &put_rows, 1);
    assert_ok(tacit__connection_await(p.c, &p.err));
    run(&p, "BEGIN");
    add(&p, &find_rows, 1);
    add(&p, &put_rows, 2);  /* sends the search, whose answer is not awaited */
    add(&p, &find_rows, 1); /* sends the row; this search waits */
    run(&p, "ROLLBACK");
    assert_int_equal(p.found, 0);
    assert_count(&p, 1);
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
TEST(each_row_is_found_by_the_index_after_the_table_has_grown)
{
    enum { ASKED = 200, BEFORE = 8 };
    place p;
    open_place(&p);
    run(&p, "SET enable_seqscan = off");
    for (int i = 0; i < BEFORE; i++) {
        run(&p, "BEGIN");
        add(&p, &find_rows, 1);
        add(&p, &drop_rows, 1);
        run(&p, "COMMIT");
    }
    run(&p, "BEGIN");
    for (int64_t i = 1; i <= N; i++)
        add(&p, &put_rows, i);
    run(&p, "COMMIT");
    run(&p, "BEGIN");
    const int64_t before = count_lookups(&p);
    for (int64_t i = 1; i <= ASKED; i++)
        add(&p, &find_rows, i);
    const int64_t asked = count_lookups(&p);
    assert_int_equal(p.found, ASKED);
    assert_int_equal(asked - before, ASKED);
    for (int64_t i = 1; i <= ASKED; i++)
        add(&p, &drop_rows, i);
    assert_int_equal(count_lookups(&p) - asked, ASKED);
    assert_count(&p, N - ASKED);
    run(&p, "COMMIT");
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

TEST(one_bad_row_undoes_the_transaction_and_the_session_goes_on)
{
    place p;
    open_place(&p);
    for (int round = 0; round < 3; round++) {
        run(&p, "BEGIN");
        add(&p, &put_rows, 1);
        add(&p, &put_rows, 2);
        add(&p, &put_rows, 1);
        add(&p, &find_rows, 7); /* is not prepared, because it comes after what is refused */
        assert_status(tacit__connection_run(p.c, "COMMIT", "try", &p.err), TACIT_SYSTEM);
        assert_count(&p, 0);
        run(&p, "BEGIN");
        add(&p, &put_rows, round);
        add(&p, &find_rows, round);
        add(&p, &drop_rows, round);
        run(&p, "COMMIT");
        assert_int_equal(p.found, round + 1);
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

/* --- Users of one transaction ------------------------------------------------------------------------ */

enum { ONCE, OFTEN, N_LEARNERS, MOST = 50, VISITORS = 12, GROUPS = 30, OF_GROUP = 25, KEYS = 14 };

typedef struct shop {
    char directory[64];
    tacit__vault *v;
    int64_t learners[N_LEARNERS];
} shop;

static const uint8_t master[TACIT__KEY_BYTES] = "a key for users of one group";

/* Opens a store, in a database of this name or in a file. */
static void open_shop(shop *s, const char *database)
{
    tacit_error err = {0};
    char path[300];
    *s = (shop){0};
    (void)snprintf(s->directory, sizeof s->directory, "%s/tacit-groups-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(s->directory));
    (void)snprintf(path, sizeof path, "%s/store.db", s->directory);
    char mark[120];
    (void)snprintf(mark, sizeof mark, "%s/mark", s->directory);
    if (database != NULL) {
        open_cluster(database);
        assert_true(cluster_sql(&db, database, "DROP SCHEMA IF EXISTS tacit CASCADE", NULL, 0));
        cluster_uri(&db, database, path, sizeof path);
        const tacit__vault_location at = {.path = path};
        assert_ok(tacit__vault_init(&at, master, &err));
    }
    const tacit__vault_location at = {
        .path = path, .mark = database != NULL ? mark : NULL, .unsafe = true};
    assert_ok(tacit__vault_open_at(&at, TACIT__VAULT_SERVE, master, &s->v, &err));
    for (int i = 0; i < N_LEARNERS; i++) {
        tacit__vault_learner l = {.limit = MOST};
        if (i == OFTEN) {
            l.visits = 3;
            l.apart = 4;
            l.named = true;
        }
        assert_ok(tacit__vault_begin(s->v, &err));
        assert_ok(tacit__vault_add_learner(s->v, i == OFTEN ? "often" : "once", &l,
                                           (const uint8_t *)"state", 5, &err));
        assert_ok(tacit__vault_commit(s->v, &err));
        s->learners[i] = l.id;
    }
}

static void close_shop(shop *s)
{
    tacit__vault_close(s->v);
    assert_shell("rm -rf '%s'", s->directory);
}

/* What a user brings, and what came of them. */
typedef struct visit {
    int learner;
    uint8_t key[NAME], person[NAME],
        content[NAME + 8]; /* of an episode it is longer than of a report */
    bool has_person, is_report, is_new, at_once, finished;
    int64_t token;
    tacit__vault_answer answer;
    bool again;
    uint64_t before, accepted;
} visit;

static visit draw_visit(uint64_t *seed)
{
    visit x = {.learner = (int)random_below(seed, N_LEARNERS)};
    x.key[0] = (uint8_t)(1 + random_below(seed, KEYS));
    x.key[1] = (uint8_t)random_below(seed, 8);
    x.person[0] = (uint8_t)(1 + random_below(seed, VISITORS));
    x.person[1] = x.learner == OFTEN ? 0 : (uint8_t)random_below(seed, 8);
    x.content[0] = (uint8_t)(1 + random_below(seed, KEYS * 8));
    x.has_person = x.learner == OFTEN || random_below(seed, 4) > 0;
    x.is_report = random_below(seed, 3) == 0;
    x.is_new = random_below(seed, 4) > 0;
    x.at_once = x.is_report || x.is_new;
    x.finished = x.at_once || random_below(seed, 2) == 0;
    x.token = (int64_t)random_below(seed, 3); /* 0 has no quota */
    return x;
}

static tacit__vault_user user_of(const shop *s, const visit *x)
{
    return (tacit__vault_user){.learner = s->learners[x->learner],
                               .key = x->key,
                               .person = x->has_person ? x->person : NULL,
                               .content = x->is_report ? x->content : NULL,
                               .kept = {x->content, x->is_report ? NAME : sizeof x->content},
                               .opened = 100,
                               .returns = x->learner == OFTEN,
                               .at_once = x->at_once,
                               .is_new = x->is_new,
                               .users_per_day = x->token > 0 ? 20 : 0,
                               .token = x->token,
                               .day = 7};
}

static void visit_shop(shop *s, visit *x)
{
    tacit_error err = {0};
    tacit__vault_judgment j;
    const tacit__vault_user u = user_of(s, x);
    if (x->finished) {
        assert_ok(tacit__vault_add_user(s->v, &u, "data", 4, &j, &err));
    } else {
        assert_ok(tacit__vault_judge(s->v, &u, false, &j, &err));
        if (j.answer == TACIT__VAULT_TAKEN)
            assert_ok(tacit__vault_save_episode(s->v, &u, true, "steps", 5, &err));
    }
    x->answer = j.answer;
    x->again = j.again;
    x->before = j.before;
    assert_ok(tacit__vault_get_accepted(s->v, u.learner, &x->accepted, &err));
}

/* Each in a transaction of its own, or all in one, of which the store is told in advance. */
static void visit_all(shop *s, visit *all, size_t n, bool together)
{
    tacit_error err = {0};
    for (size_t i = 0; i < n; i += together ? n : 1) {
        const size_t end = together ? n : i + 1;
        assert_ok(tacit__vault_begin(s->v, &err));
        for (size_t k = i; together && k < end; k++) {
            const tacit__vault_user u = user_of(s, &all[k]);
            assert_ok(tacit__vault_expect_user(s->v, &u, &err));
        }
        assert_ok(tacit__vault_load_users(s->v, &err));
        for (size_t k = i; k < end; k++)
            visit_shop(s, &all[k]);
        assert_ok(tacit__vault_commit(s->v, &err));
    }
}

/* Everything about users that a store has; what is sealed differs each time. */
static uint64_t sum_up(tacit__vault *v)
{
    static const char *const counts[] = {
        "SELECT count(*) FROM seen",
        "SELECT count(*) FROM person",
        "SELECT count(*) FROM open",
        "SELECT count(*) FROM input",
        "SELECT count(*) FROM verdict",
        "SELECT CAST(coalesce(sum(used), 0) AS bigint) FROM quota",
        "SELECT CAST(coalesce(sum(visits * 1000 + last_place), 0) AS bigint) FROM person",
        "SELECT CAST(coalesce(sum(accepted), 0) AS bigint) FROM learner",
        "SELECT count(*) FROM seen JOIN person USING (key, learner)",
        "SELECT count(*) FROM verdict WHERE soon=1"};
    uint64_t sum = 1469598103934665603u; /* FNV-1a */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tacit_error err = {0};
        int64_t n = 0;
        assert_ok(tacit__vault_query_number(v, counts[i], &n, &err));
        sum = (sum ^ (uint64_t)n) * 1099511628211u;
    }
    return sum;
}

static void compare(const char *database)
{
    shop one, many;
    uint64_t seed = 38;
    size_t of_answer[TACIT__VAULT_QUOTA + 1] = {0};
    open_shop(&one, NULL);
    open_shop(&many, database);
    for (int g = 0; g < GROUPS; g++) {
        visit apart[OF_GROUP], together[OF_GROUP];
        for (int i = 0; i < OF_GROUP; i++)
            together[i] = apart[i] = draw_visit(&seed);
        visit_all(&one, apart, OF_GROUP, false);
        visit_all(&many, together, OF_GROUP, true);
        for (int i = 0; i < OF_GROUP; i++) {
            assert_int_equal(together[i].answer, apart[i].answer);
            assert_int_equal(together[i].again, apart[i].again);
            assert_int_equal(together[i].before, apart[i].before);
            assert_int_equal(together[i].accepted, apart[i].accepted);
            of_answer[apart[i].answer]++;
        }
        assert_true(sum_up(one.v) == sum_up(many.v));
    }
    for (int a = 0; a <= TACIT__VAULT_QUOTA; a++) /* each of them came */
        assert_true(of_answer[a] > 0);
    tacit_error err = {0};
    assert_ok(tacit__vault_check_facts(many.v, &err));
    close_shop(&one);
    close_shop(&many);
}

TEST(users_of_one_transaction_get_the_answers_of_one_after_the_other)
{
    compare(NULL);
}

TEST(users_of_one_transaction_get_these_answers_from_a_database_too)
{
    compare("groups_of_users");
}

/* The first of two users has no right to what was inserted for both. */
TEST(a_claim_that_does_not_count_leaves_nothing_and_keeps_nobody_out)
{
    for (int far = 0; far < 2; far++) {
        shop s;
        tacit_error err = {0};
        int64_t n;
        bool has;
        open_shop(&s, far ? "groups_of_users" : NULL);
        visit all[] = {{.key = {1}, .person = {5}, .content = {1}, .token = 1},
                       {.key = {2}, .person = {5}, .content = {2}},
                       {.key = {1}, .person = {6}, .content = {3}}};
        for (size_t i = 0; i < 3; i++)
            all[i].has_person = all[i].is_new = all[i].at_once = all[i].finished = true;
        assert_ok(tacit__vault_begin(s.v, &err));
        for (int i = 0; i < 20; i++) { /* the token has no user left */
            visit other = {.key = {9, (uint8_t)i}, .finished = true, .token = 1};
            visit_shop(&s, &other);
        }
        assert_ok(tacit__vault_commit(s.v, &err));
        visit_all(&s, all, 3, true);
        assert_int_equal(all[0].answer, TACIT__VAULT_QUOTA);
        assert_int_equal(all[1].answer, TACIT__VAULT_TAKEN);
        assert_int_equal(all[2].answer, TACIT__VAULT_TAKEN);
        assert_ok(tacit__vault_query_number(s.v, "SELECT count(*) FROM seen", &n, &err));
        assert_int_equal(n, 22);
        assert_ok(
            tacit__vault_has_person(s.v, s.learners[ONCE], all[1].person, all[1].key, &has, &err));
        assert_false(has); /* it is the claim of the second, not of the first */
        visit again = {.key = {1}, .person = {6}, .content = {3}, .finished = true};
        again.is_report = again.has_person = true;
        visit_all(&s, &again, 1, true);
        assert_int_equal(again.answer, TACIT__VAULT_SEEN); /* with the third's content */
        all[0].token = 0;
        all[0].person[0] = 7;
        visit_all(&s, all, 1, true);
        assert_int_equal(all[0].answer, TACIT__VAULT_SEEN);
        close_shop(&s);
    }
}

TEST(users_of_a_transaction_that_is_undone_leave_nothing)
{
    for (int far = 0; far < 2; far++) {
        shop s;
        tacit_error err = {0};
        open_shop(&s, far ? "groups_of_users" : NULL);
        const uint64_t before = sum_up(s.v);
        visit x = {.key = {1}, .person = {5}, .has_person = true, .is_new = true, .at_once = true};
        x.finished = true;
        const tacit__vault_user u = user_of(&s, &x);
        assert_ok(tacit__vault_begin(s.v, &err));
        assert_ok(tacit__vault_expect_user(s.v, &u, &err));
        assert_ok(tacit__vault_load_users(s.v, &err));
        visit_shop(&s, &x);
        assert_int_equal(x.answer, TACIT__VAULT_TAKEN);
        tacit__vault_undo(s.v);
        assert_true(sum_up(s.v) == before);
        visit_all(&s, &x, 1, true);
        assert_int_equal(x.answer, TACIT__VAULT_TAKEN);
        close_shop(&s);
    }
    cluster_close(&db);
}
