/* `tacit store move`: a service whose store is a file goes on in a database, as if nothing had happened, and
 * the file serves no more. */
#include <math.h>
#include <sys/wait.h>

#include "serve/key.h"
#include "service/rivals.h"
#include "store/vault/vault.h"

static const char head[] = "listen: 127.0.0.1:0\nstore: service.db\n",
                  learners[] =
                      "learners:\n"
                      "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 1000,\n"
                      "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: "
                      "{epsilon: 1}}\n"
                      "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 1000,\n"
                      "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
                      "  - {name: back, space: {states: 2, actions: 2, horizon: 1}, users: 1000,\n"
                      "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, visits: 3, "
                      "apart: 1}}}\n";

static const char *const names[] = {"arms", "walk", "back"};
enum { LEARNERS = 3 };

static char answer[SERVER_ANSWER];

typedef struct place {
    cluster db;
    server old, twin, next; /* the file; another file with the same bytes; the database */
    char uri[300];
} place;

/* The decision of the last answer, observed by one or by several services. */
static void observe(const server *const to[], size_t n, int reward)
{
    char decision[1024];
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    const char *told =
        fmt("{\"decision\":\"%s\",\"reward\":%d,\"next_state\":1}", decision, reward);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(server_post(to[i], "/v1/observe", told, answer), 200);
}

/* The last of them decides. */
static void come(const server *const to[], size_t n, const char *learner, const char *user,
                 int state)
{
    assert_int_equal(
        server_post(to[n - 1], "/v1/decide",
                    fmt("{\"learner\":\"%s\",\"state\":%d,\"user\":\"%s\"}", learner, state, user),
                    answer),
        200);
    observe(to, n, state % 2);
}

static void open_episode(const server *s, const char *user, char path[700])
{
    char episode[512];
    assert_int_equal(
        server_post(s, "/v1/episodes", fmt("{\"learner\":\"walk\",\"user\":\"%s\"}", user), answer),
        201);
    assert_true(json_field(answer, "episode", episode, sizeof episode));
    (void)snprintf(path, 700, "/v1/episodes/%s/decide", episode);
}

static void take_steps(const server *const to[], size_t n, const char *path, int steps)
{
    for (int i = 0; i < steps; i++) {
        assert_int_equal(server_post(to[n - 1], path, "{\"state\":1}", answer), 200);
        observe(to, n, 1);
    }
}

static bool is_told(const char *reason)
{
    char word[40] = "";
    return json_field(answer, "reason", word, sizeof word) && strcmp(word, reason) == 0;
}

/* What every life of the service has: people who came once, twice and three times, episodes that are over and
 * one that is open. */
static void bring_people(const server *s, char halfway[700])
{
    char user[20], path[700];
    for (int i = 0; i < 30; i++) {
        (void)snprintf(user, sizeof user, "p%d", i);
        come(&s, 1, "arms", user, i % 3);
        come(&s, 1, "back", user, i % 2);
        if (i % 3 == 0)
            come(&s, 1, "back", user, 1);
        if (i % 6 == 0)
            come(&s, 1, "back", user, 0);
    }
    for (int i = 0; i < 5; i++) {
        (void)snprintf(user, sizeof user, "w%d", i);
        open_episode(s, user, path);
        take_steps(&s, 1, path, 3);
    }
    open_episode(s, "half", halfway);
    take_steps(&s, 1, halfway, 1);
}

/* Somebody who came, and must not come again. */
static void assert_returns(const server *const to[], size_t n, const char *learner,
                           const char *user, const char *reason)
{
    const char *body = fmt("{\"learner\":\"%s\",\"state\":1,\"user\":\"%s\"}", learner, user);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(server_post(to[i], "/v1/decide", body, answer), 200);
        assert_true(is_told(reason));
        observe(&to[i], 1, 1);
        assert_true(is_told(reason));
    }
}

/* Users who came, who must not come again, and some who are new, in the same order everywhere: the noise
 * depends on the names of the episodes, so one decides and all are told. */
static void go_on(const server *const to[], size_t n, const char *halfway)
{
    assert_returns(to, n, "arms", "p7", "taken_part");
    assert_returns(to, n, "back", "p6", "visits_used");
    come(to, n, "back", "p3", 1); /* the third visit */
    assert_non_null(strstr(answer, "\"learned\":true"));
    for (int i = 0; i < 10; i++) {
        come(to, n, "arms", fmt("n%d", i), i % 3);
        assert_non_null(strstr(answer, "\"learned\":true"));
    }
    take_steps(to, n, halfway, 2);
    assert_non_null(strstr(answer, "\"status\":\"finished\""));
}

/* A file with everything in it, stopped; waiting users, too, since the last ones came while nobody learned.
 */
static void open_old(place *p, char halfway[700])
{
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    *p = (place){0};
    cluster_open(&p->db, NULL);
    cluster_database(&p->db, "tacit");
    cluster_uri(&p->db, "tacit", p->uri, sizeof p->uri);
    const char *yaml = fmt("%s%s", head, learners);
    server_open(&p->old, TACIT_COMMAND, yaml);
    server_token(&p->old, "all", "admin", p->old.token);
    assert_true(server_start(&p->old, NULL));
    bring_people(&p->old, halfway);
    assert_int_equal(server_stop(&p->old, SIGKILL), -SIGKILL);
    /* the twin has the same bytes, at the same place: it is the service that stayed */
    server_open(&p->twin, TACIT_COMMAND, yaml);
    assert_shell("cp -a '%s'/service.db* '%s'/", p->old.directory, p->twin.directory);
    (void)snprintf(p->twin.token, sizeof p->twin.token, "%s", p->old.token);
}

static void open_next(place *p)
{
    char out[512];
    server_open(&p->next, TACIT_COMMAND,
                fmt("listen: 127.0.0.1:0\nstore: '%s'\n%s", p->uri, learners));
    (void)snprintf(p->next.key, sizeof p->next.key, "%s/tacit.key", p->next.directory);
    assert_int_equal(server_tool(&p->next, "store init service.yaml", out, sizeof out), 0);
    (void)snprintf(p->next.token, sizeof p->next.token, "%s", p->old.token);
}

static void close_all(place *p)
{
    server_close(&p->old);
    server_close(&p->twin);
    server_close(&p->next);
    cluster_close(&p->db);
}

/* The exit status of a move; what it said is in `text`. */
static int move(place *p, char text[2048])
{
    char out[512];
    const int status = server_tool(
        &p->next,
        fmt("store move service.yaml '%s/service.yaml' --as '%s'", p->old.directory, p->uri), out,
        sizeof out);
    server_read(&p->next, "tool.err", text, 2048);
    return status;
}

static void assert_moves(place *p)
{
    char text[2048];
    if (move(p, text) != 0)
        fail_msg("%s", text);
}

typedef struct learned {
    tacit__vault_learner row;
    uint8_t *state;
    size_t size;
} learned;

static void read_learned(const char *store, const char *key_file, const char *name, learned *out)
{
    uint8_t key[TACIT__KEY_BYTES];
    tacit__vault *vault = NULL;
    tacit_error err = {0};
    bool there, found;
    assert_ok(tacit__key_read_file(key_file, key, &there, &err));
    assert_ok(tacit__vault_open(store, TACIT__VAULT_READ, key, &vault, &err));
    assert_ok(
        tacit__vault_find_learner(vault, name, &found, &out->row, &out->state, &out->size, &err));
    assert_true(found);
    tacit__vault_close(vault);
}

static void assert_same_learned(const place *p)
{
    for (size_t i = 0; i < LEARNERS; i++) {
        learned a = {0}, b = {0};
        read_learned(fmt("%s/service.db", p->twin.directory),
                     fmt("%s/service.db.key", p->twin.directory), names[i], &a);
        read_learned(p->uri, p->next.key, names[i], &b);
        assert_int_equal(a.row.accepted, b.row.accepted);
        assert_int_equal(a.row.users, b.row.users);
        assert_int_equal(a.row.users, a.row.accepted);
        assert_int_equal(a.row.version, b.row.version);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.state, b.state, a.size);
        free(a.state);
        free(b.state);
    }
}

/* Waits until everybody who was accepted is learned from. */
static void await_learned(const server *s)
{
    for (size_t i = 0; i < LEARNERS; i++) {
        assert_int_equal(server_get(s, fmt("/v1/ledger?learner=%s", names[i]), answer), 200);
        server_wait_users(s, names[i], (unsigned long)json_number(answer, "accepted"));
    }
}

TEST(a_service_that_was_moved_learns_what_the_one_that_stayed_learns)
{
    place p;
    char halfway[700], text[2048], out[512];
    int code = 0;
    open_old(&p, halfway);
    open_next(&p);
    assert_moves(&p);
    /* the file is gone */
    assert_false(server_start(&p.old, &code));
    server_read(&p.old, "err", text, sizeof text);
    assert_non_null(strstr(text, "moved into a database"));
    assert_int_equal(move(&p, text), 2); /* once is enough */
    assert_non_null(strstr(text, "moved into a database"));
    assert_int_equal(server_tool(&p.old, "token list service.yaml", out, sizeof out), 0);
    server *both[] = {&p.twin, &p.next};
    for (size_t i = 0; i < 2; i++) {
        if (!server_start(both[i], NULL)) {
            server_read(both[i], "err", text, sizeof text);
            fail_msg("%s", text);
        }
        assert_int_equal(server_get(both[i], "/readyz", answer), 200);
    }
    go_on((const server *const[]){&p.twin, &p.next}, 2, halfway);
    for (size_t i = 0; i < 2; i++) {
        await_learned(both[i]);
        if (server_tool(both[i], "store check service.yaml", out, sizeof out) != 0) {
            server_read(both[i], "tool.err", text, sizeof text);
            fail_msg("%s", text);
        }
        assert_int_equal(server_stop(both[i], SIGTERM), 0);
    }
    assert_same_learned(&p);
    /* and once more from the beginning: nothing of it rests on what a process has in memory */
    assert_true(server_start(&p.next, NULL));
    const server *const next = &p.next;
    assert_returns(&next, 1, "arms", "n3", "taken_part");
    open_episode(next, "half", halfway);
    assert_true(is_told("taken_part"));
    close_all(&p);
}

/* --- What must not be ----------------------------------------------------------------------------------- */

/* Nothing of a store is in the database. */
static void assert_empty(place *p)
{
    char n[20] = "";
    assert_true(cluster_sql(&p->db, "tacit",
                            "SELECT (SELECT count(*) FROM tacit.learner) + (SELECT count(*) FROM"
                            " tacit.person) + (SELECT count(*) FROM tacit.input)",
                            n, sizeof n));
    assert_string_equal(n, "0");
}

/* The file serves on, and has everybody. */
static void assert_serves(place *p)
{
    assert_true(server_start(&p->old, NULL));
    await_learned(&p->old);
    const server *const old = &p->old;
    assert_returns(&old, 1, "arms", "p7", "taken_part");
    assert_int_equal(server_stop(&p->old, SIGTERM), 0);
}

TEST(what_must_not_be_moved_is_not)
{
    place p;
    char halfway[700], text[2048], out[512];
    open_old(&p, halfway);
    open_next(&p);
    assert_true(server_start(&p.old, NULL)); /* a service runs */
    assert_int_equal(move(&p, text), 3);
    assert_non_null(strstr(text, "another server"));
    assert_int_equal(server_stop(&p.old, SIGTERM), 0);
    assert_empty(&p);
    assert_serves(&p);
    /* a database that is in use, by whatever */
    char token[128];
    server_token(&p.next, "first", "read", token);
    assert_int_equal(move(&p, text), 2);
    assert_non_null(strstr(text, "has learners or tokens already"));
    assert_true(server_start(&p.next, NULL));
    assert_int_equal(move(&p, text), 2);
    assert_non_null(strstr(text, "has learners or tokens already"));
    assert_int_equal(server_stop(&p.next, SIGTERM), 0);
    assert_int_equal(move(&p, text), 2); /* and was */
    assert_non_null(strstr(text, "has learners or tokens already"));
    assert_serves(&p);
    /* the wrong way round */
    server_shell(&p.next, "cp service.yaml database.yaml");
    assert_int_equal(server_tool(&p.next,
                                 fmt("store move '%s/service.yaml' database.yaml", p.old.directory),
                                 out, sizeof out),
                     2);
    server_read(&p.next, "tool.err", text, sizeof text);
    assert_non_null(strstr(text, "from a file into a database"));
    assert_serves(&p);
    close_all(&p);
}

/* Whatever the moment, either the file serves on and the database has nothing that is learned from, or the
 * same command ends what was begun: while it copies; after that; after the file was marked. */
TEST(a_move_that_is_interrupted_is_made_again)
{
    place p;
    char halfway[700], text[2048], out[512];
    int code = 0;
    open_old(&p, halfway);
    open_next(&p);
    assert_true(cluster_sql(&p.db, "tacit",
                            "CREATE FUNCTION public.stumble() RETURNS trigger AS $$ BEGIN"
                            " RAISE 'the disk is full'; END $$ LANGUAGE plpgsql;"
                            " CREATE TRIGGER stumble BEFORE INSERT ON tacit.person FOR EACH ROW"
                            " EXECUTE FUNCTION public.stumble()",
                            NULL, 0));
    assert_int_equal(move(&p, text), 3);
    assert_non_null(strstr(text, "the disk is full"));
    assert_true(cluster_sql(&p.db, "tacit", "DROP TRIGGER stumble ON tacit.person", NULL, 0));
    assert_empty(&p);
    assert_serves(&p); /* nothing has happened to it */
    /* all is copied, and the file is marked: it is gone, and the database is a copy */
    server_shell(&p.old, "mkdir saved && cp -a service.db* saved/");
    assert_true(cluster_sql(&p.db, "tacit",
                            "CREATE FUNCTION public.stumble_late() RETURNS trigger AS $$ BEGIN"
                            " IF (SELECT count(*) FROM gone) = 1 THEN RAISE 'the disk is full';"
                            " END IF; RETURN NULL; END $$ LANGUAGE plpgsql;"
                            " CREATE TRIGGER stumble AFTER DELETE ON tacit.meta REFERENCING OLD"
                            " TABLE AS gone EXECUTE FUNCTION public.stumble_late()",
                            NULL, 0));
    assert_int_equal(move(&p, text), 3);
    assert_false(server_start(&p.old, &code));
    /* all is copied, and the file is not marked: it may serve, and what it learns is not lost */
    server_shell(&p.old, "rm service.db* && cp -a saved/service.db* .");
    assert_true(server_start(&p.old, NULL));
    const server *const old = &p.old, *const next = &p.next;
    come(&old, 1, "arms", "late", 1);
    assert_int_equal(server_stop(&p.old, SIGTERM), 0);
    assert_int_equal(move(&p, text), 3); /* copied anew: the copy of before is no obstacle */
    assert_false(server_start(&p.old, &code));
    assert_true(cluster_sql(&p.db, "tacit", "DROP TRIGGER stumble ON tacit.meta", NULL, 0));
    assert_moves(&p); /* what is left of it */
    assert_int_equal(move(&p, text), 2);
    assert_non_null(strstr(text, "moved into a database"));
    assert_true(server_start(&p.next, NULL));
    await_learned(&p.next);
    assert_returns(&next, 1, "arms", "late", "taken_part");
    assert_int_equal(server_tool(&p.next, "store check service.yaml", out, sizeof out), 0);
    close_all(&p);
}

/* Killed after a while, and after a longer one, until it has moved. */
TEST(a_move_that_is_killed_is_made_again)
{
    place p;
    char halfway[700], text[2048], out[512];
    int code = 0, status = 0, kills = 0;
    open_old(&p, halfway);
    open_next(&p);
    for (double seconds = 0.001; seconds < 120; seconds *= 1.25) {
        status = shell("cd '%s' && timeout -s KILL %.3f '%s' store move service.yaml"
                       " '%s/service.yaml' --as '%s' 2>tool.err",
                       p.next.directory, seconds, TACIT_COMMAND, p.old.directory, p.uri);
        if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2))
            break;
        kills++;
    }
    server_read(&p.next, "tool.err", text, sizeof text);
    if (WEXITSTATUS(status) != 0) /* it was killed after the last thing that it does */
        assert_non_null(strstr(text, "moved into a database"));
    (void)fprintf(stderr, "moved after %d kills\n", kills);
    assert_true(kills > 0);
    assert_false(server_start(&p.old, &code));
    assert_true(server_start(&p.next, NULL));
    await_learned(&p.next);
    const server *const next = &p.next;
    go_on(&next, 1, halfway);
    await_learned(&p.next);
    assert_int_equal(server_tool(&p.next, "store check service.yaml", out, sizeof out), 0);
    close_all(&p);
}
