/* Stores that are gone, were emptied, or have lost a table: nobody is served from them, and none is made in their place, since a new
 * one would let everybody take part once more. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "service/plain.h"

static const char named[] = "listen: 127.0.0.1:0\n"
                            "store: service.db\n"
                            "key: own\n"
                            "learners: [{name: arms, space: {states: 3, actions: 4, horizon: 1},"
                            " users: 100, agent: " JOINT "}]\n";

/* A service that one user has taken part in, and that has been stopped. */
static void serve_somebody(server *s)
{
    char decision[1024];
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
    decide(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}", decision);
    assert_observed(s, decision, ",\"reward\":1", "finished");
    server_wait_users(s, "arms", 1);
    assert_int_equal(server_stop(s, SIGTERM), 0);
    server_shell(s, "cp service.db kept");
}

/* Neither a start nor a new token works, the reason is this one, and no store has been made. */
static void assert_refused(server *s, const char *why, const char *afterwards)
{
    char out[512];
    server_shell(s, ": > err");
    assert_no_start(s, 2);
    assert_true(file_has(s->directory, why));
    assert_int_not_equal(
        server_tool(s, "token create service.yaml --name other --scopes read", out, sizeof out), 0);
    assert_string_equal(out, "");
    server_shell(s, afterwards);
}

static void put_back(server *s)
{
    server_shell(s, "cp kept service.db");
    assert_true(server_start(s, NULL));
    assert_int_equal(
        server_post(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}", answer),
        200);
    assert_non_null(strstr(answer, "\"learned\":false")); /* she is known */
    assert_int_equal(server_stop(s, SIGTERM), 0);
}

TEST(a_store_that_is_gone_or_empty_is_not_begun_anew)
{
    server s;
    for (int own = 0; own < 2; own++) {
        server_open(&s, TACIT_COMMAND, own ? named : plain);
        if (own)
            server_shell(
                &s, "umask 077; head -c 32 /dev/zero >own"); /* before the store, as it should */
        serve_somebody(&s);
        server_shell(&s, ": > service.db");
        assert_refused(&s, "the store is empty", "[ ! -s service.db ]");
        server_shell(&s, "rm service.db");
        assert_refused(&s, "the store is gone", "[ ! -e service.db ]");
        put_back(&s);
        /* whoever does begin anew says so */
        server_shell(&s, "rm -f service.db*");
        assert_true(server_start(&s, NULL));
        assert_int_equal(server_stop(&s, SIGTERM), 0);
        server_close(&s);
    }
}

/* Wherever the very first start was killed: the key is there, the lock, an empty file, one without tables. */
TEST(a_first_start_that_was_killed_is_begun_again)
{
    static const char *const left[] = {
        "rm -f service.db* && umask 077 && head -c 32 /dev/urandom >service.db.key",
        ": > service.db.lock && rm -f service.db service.db-wal service.db-shm",
        ": > service.db.lock && rm -f service.db-wal service.db-shm && : > service.db",
        "rm service.db"};
    SCOPED_BY(server_close) server s;
    server_open(&s, TACIT_COMMAND, plain);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        server_shell(&s, left[i]);
        if (i == 3) { /* a header, and nothing else */
            sqlite3 *db = NULL;
            server_shell(&s, ": > service.db.lock");
            assert_int_equal(sqlite3_open(s.store, &db), SQLITE_OK);
            assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL),
                             SQLITE_OK);
            assert_int_equal(sqlite3_close(db), SQLITE_OK);
            server_shell(&s, "[ -s service.db ]");
        }
        serve_somebody(&s);
        server_shell(&s, "[ -s service.db.lock ]");
    }
}

TEST(a_store_without_one_of_its_tables_is_refused)
{
    static const char *const things[] = {
        "TABLE meta",   "TABLE learner", "TABLE open",    "INDEX open_by_age",
        "TABLE input",  "TABLE seen",    "TABLE answer",  "TABLE decision",
        "TABLE person", "TABLE ledger",  "TABLE history", "INDEX answer_by_age",
        "TABLE token"};
    SCOPED_BY(server_close) server s;
    server_open(&s, TACIT_COMMAND, plain);
    serve_somebody(&s);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        sqlite3 *db = NULL;
        const char *sql = fmt("DROP %s", things[i]);
        const char *why = fmt("damaged: %s is missing", strchr(things[i], ' ') + 1);
        assert_int_equal(sqlite3_open(s.store, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        assert_refused(&s, why, "rm -f service.db-wal service.db-shm; cp kept service.db");
    }
    put_back(&s);
}

static void execute(const server *s, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(s->store, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A trigger would act inside the service's own transactions, whose end proves whatever it has done: it could raise the wall. */
TEST(a_store_with_something_more_is_refused)
{
    static const char raise_wall[] = "CREATE TRIGGER t AFTER INSERT ON seen BEGIN"
                                     " UPDATE learner SET users_limit=1000000; END";
    static const char *const things[] = {
        raise_wall, "CREATE VIEW v AS SELECT 1", "CREATE TABLE more(a)",
        "CREATE INDEX i ON seen(content)",
        /* a name that tables of SQLite have */
        "CREATE TRIGGER t AFTER INSERT ON seen BEGIN DELETE FROM seen; END;"
        "PRAGMA writable_schema=ON;"
        "UPDATE sqlite_master SET name='sqlite_t', sql=replace(sql, 'TRIGGER t', 'TRIGGER "
        "sqlite_t')"
        " WHERE name='t'"};
    SCOPED_BY(server_close) server s;
    char decision[1024];
    server_open(&s, TACIT_COMMAND, plain);
    serve_somebody(&s);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        execute(&s, things[i]);
        assert_refused(&s, "something that tacit did not create",
                       "rm -f service.db-wal service.db-shm; cp kept service.db");
    }
    /* one that comes while it serves does nothing */
    assert_true(server_start(&s, NULL));
    execute(&s, raise_wall);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "arms", 2);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    execute(&s, "DROP TRIGGER t");
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_get(&s, "/v1/learners", answer), 200);
    assert_true(json_number(strstr(answer, "\"arms\""), "limit") == 100000);
}
