/* One store of every released format, in a file and as a dump of a database (tests/service/formats): it is
 * checked and served, and it continues where it ended. Tickets that were given out then are good, who took
 * part is known, and new users are learned from.
 *
 *     build/tests/service/test_formats make
 *
 * makes the store of the present format anew, from the source tree's root. Do that as long as the format was
 * not released; once it was, its store stays as it is, and the next format gets its own. */
#include <ctype.h>
#include <glob.h>
#include <sys/stat.h>

#include "service/plain.h"
#include "store/vault/vault_inside.h"

#define FORMATS TACIT_SOURCE "/tests/service/formats"
enum { BROUGHT = 5 };

static const char learners[] =
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 1000,\n"
    "     agent: " JOINT ", monitor: {epsilon: 1}}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 1000, agent: " JOINT "}\n"
    "  - {name: back, space: {states: 2, actions: 2, horizon: 1}, users: 1000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, visits: 2, apart: 1}}}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 2, stationary: yes}, users: 50,\n"
    "     agent: " LOCAL "}\n";

/* --- What was told to clients ----------------------------------------------------------------------- */

static void write_word(const server *s, const char *name, const char *word)
{
    server_write(s, name, fmt("%s\n", word));
}

static void read_word(const server *s, const char *name, char *out, size_t size)
{
    server_read(s, name, out, size);
    for (size_t n = strlen(out); n > 0 && isspace((unsigned char)out[n - 1]);)
        out[--n] = '\0';
    assert_true(out[0] != '\0');
}

static void come(const server *s, const char *learner, const char *user, bool learned)
{
    char decision[1024];
    decide(s, "/v1/decide", fmt("{\"learner\":\"%s\",\"state\":1,\"user\":\"%s\"}", learner, user),
           decision);
    char word[16] = "";
    if (json_field(answer, "learned", word, sizeof word))
        assert_string_equal(word, learned ? "true" : "false");
    else
        assert_true(learned);
    if (learned)
        assert_observed(s, decision, ",\"reward\":1", "finished");
}

static void take_step(const server *s, const char *episode, int step, const char *status)
{
    char decision[1024];
    decide(s, fmt("/v1/episodes/%s/decide", episode), fmt("{\"state\":%d,\"step\":%d}", step, step),
           decision);
    assert_observed(s, decision, fmt(",\"reward\":1,\"next_state\":%d", step + 1), status);
}

static void send_report(const server *s, const char *key)
{
    char *report = make_report(s);
    assert_int_equal(server_ask(s, s->token, "POST", "/v1/reports",
                                fmt("Idempotency-Key: %s\r\n", key), report, answer),
                     202);
    free(report);
}

/* --- Making ----------------------------------------------------------------------------------------- */

/* Users of every kind, an episode that goes on, and a decision that nobody has observed. */
static void live(const server *s)
{
    char episode[512], decision[1024];
    for (int i = 0; i < BROUGHT; i++)
        come(s, "arms", fmt("user %d", i), true);
    come(s, "back", "bob", true);
    send_report(s, "0123456789abcdef0123456789abcdef");
    open_episode(s, "{\"learner\":\"walk\",\"user\":\"ann\"}", episode);
    take_step(s, episode, 0, "open");
    decide(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"late\"}", decision);
    server_wait_users(s, "arms", BROUGHT);
    write_word(s, "token", s->token);
    write_word(s, "decision", decision);
    write_word(s, "episode", episode);
}

static void make_file(const char *directory)
{
    SERVER(s, fmt("listen: 127.0.0.1:0\nstore: service.db\n%s", learners));
    live(&s);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_shell("rm -rf '%s/file' && mkdir -p '%s/file'", directory, directory);
    server_shell(&s, fmt("cp service.db service.db.* token decision episode '%s/file'", directory));
    server_write(&s, "learners.yaml", learners);
    server_shell(&s, fmt("cp learners.yaml '%s'", directory));
}

/* --- Continuing ------------------------------------------------------------------------------------- */

static void assert_continues(server *s, int lives)
{
    char out[1024], decision[1024], episode[512];
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 0);
    read_word(s, "token", s->token, sizeof s->token);
    read_word(s, "decision", decision, sizeof decision);
    read_word(s, "episode", episode, sizeof episode);
    assert_true(server_start(s, NULL));
    await(server_get(s, "/readyz", answer) == 200);
    assert_true(ledger(s, "arms", "lives") == lives);
    server_wait_users(s, "arms", BROUGHT);
    assert_observed(s, decision, ",\"reward\":1", "finished");
    take_step(s, episode, 1, "open");
    take_step(s, episode, 2, "finished");
    come(s, "arms", "user 0", false);
    come(s, "arms", "somebody new", true);
    come(s, "back", "bob", true);
    come(s, "back", "bob", false);
    send_report(s, "fedcba9876543210fedcba9876543210");
    server_wait_users(s, "arms", BROUGHT + 2);
    server_wait_users(s, "walk", 1);
    server_wait_users(s, "back", 2);
    server_wait_users(s, "ours", 2);
    assert_int_equal(server_stop(s, SIGTERM), 0);
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 0);
}

static void try_file(const char *directory)
{
    SCOPED_BY(end) server s;
    server_open(&s, TACIT_COMMAND, "listen: 127.0.0.1:0\nstore: service.db\n");
    server_shell(&s, fmt("cp '%s'/file/* . && chmod 600 service.db* && cat '%s/learners.yaml'"
                         " >>service.yaml",
                         directory, directory));
    assert_continues(&s, 1);
}

static void try_all(void (*try)(const char *directory))
{
    glob_t found;
    assert_int_equal(glob(FORMATS "/[0-9]*", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, TACIT__VAULT_FORMAT); /* all of them */
    for (size_t i = 0; i < found.gl_pathc; i++)
        try(found.gl_pathv[i]);
    globfree(&found);
}

TEST(a_file_of_every_released_format_continues)
{
    try_all(try_file);
}

TEST(the_file_of_this_format_is_made)
{
    make_file(fmt("%s/%d", FORMATS, TACIT__VAULT_FORMAT));
}

/* --- The same in a database ------------------------------------------------------------------------- */

#ifdef TACIT_HAS_POSTGRES
static void open_database(server *s, cluster *c, char uri[300])
{
    cluster_open(c, NULL);
    cluster_database(c, "tacit");
    cluster_uri(c, "tacit", uri, 300);
    server_open(s, TACIT_COMMAND,
                fmt("listen: 127.0.0.1:0\nstore: '%s'\nkey: tacit.key\n%s", uri, learners));
}

/* The comments of the dump, and the words around it that only the psql of its own day understands, are left
 * out. */
static void make_database(const char *directory)
{
    server s;
    cluster c;
    char uri[300], out[512];
    open_database(&s, &c, uri);
    assert_int_equal(server_tool(&s, "store init service.yaml", out, sizeof out), 0);
    server_token(&s, "all", "admin", s.token);
    assert_true(server_start(&s, NULL));
    live(&s);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_shell("rm -rf '%s/database' && mkdir -p '%s/database'", directory, directory);
    server_shell(&s,
                 fmt("'%s/pg_dump' --schema=tacit --no-owner --no-privileges '%s' | sed '/^--/d;"
                     " /^$/d; /^.\\(un\\)\\{0,1\\}restrict /d' >dump.sql && test -s dump.sql &&"
                     " cp dump.sql tacit.key token decision episode '%s/database'",
                     TACIT_POSTGRES_BIN, uri, directory));
    server_close(&s);
    cluster_close(&c);
}

/* A dump that is restored is a copy, as any backup: it continues when it was adopted. */
static void try_database(const char *directory)
{
    server s;
    cluster c;
    char uri[300], out[2048];
    open_database(&s, &c, uri);
    server_shell(&s, fmt("cp '%s'/database/* . && chmod 600 tacit.key && '%s/psql' -q -v"
                         " ON_ERROR_STOP=1 -f dump.sql '%s' >restored 2>&1 || ! cat restored >&2",
                         directory, TACIT_POSTGRES_BIN, uri));
    assert_int_equal(
        server_tool(&s, "store adopt service.yaml --original-is-gone", out, sizeof out), 0);
    assert_continues(&s, 2);
    server_close(&s);
    cluster_close(&c);
}

TEST(a_database_of_every_released_format_continues)
{
    if (!cluster_is_there())
        skip();
    try_all(try_database);
}

TEST(the_database_of_this_format_is_made)
{
    make_database(fmt("%s/%d", FORMATS, TACIT__VAULT_FORMAT));
}
#endif

/* What makes the stores runs on request only: see the head of this file. */
int main(int argc, char **argv)
{
    const bool makes = argc == 2 && strcmp(argv[1], "make") == 0;
    cmocka_set_test_filter(makes ? "*is_made" : "*continues");
    return test_run(NULL, NULL);
}
