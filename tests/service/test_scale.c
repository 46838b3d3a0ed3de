/* docs/how-to/scale.md, executed: the roles and grants of the page on a real PostgreSQL, a service that has no more than these, a dump
 * that is restored, and the nginx of the page in front of two front ends of which one is killed. What is run is read from the page. */
#include <glob.h>
#include <libpq-fe.h>
#include <sys/wait.h>

#include "service/rivals.h"

static const char learners[] =
    "learners:\n"
    "  - {name: arms, space: {states: 12, actions: 4, horizon: 1}, users: 1000000, log_decisions: "
    "yes,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: walk, space: {states: 3, actions: 2, horizon: 2}, users: 1000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

static char answer[SERVER_ANSWER];

/* --- The page --------------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 18);
    assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

/* The n-th block of a language; to be freed. */
static char *read_block(const char *language, int n)
{
    char *page = read_text(TACIT_SOURCE "/docs/how-to/scale.md"), *at = page;
    const char *mark = fmt("\n```%s\n", language);
    for (int i = 0; i <= n && at != NULL; i++)
        at = strstr(i > 0 ? at + 1 : at, mark);
    assert_non_null(at);
    at += strlen(mark);
    char *out = strndup(at, (size_t)(strstr(at, "\n```") - at + 1));
    free(page);
    return out;
}

/* Runs the statements of a block, one by one; but for the one that begins with `but`. */
static void run_block(cluster *db, const char *database, const char *role, const char *block,
                      const char *but)
{
    for (const char *at = block, *end; (end = strchr(at, ';')) != NULL; at = end + 1) {
        at += strspn(at, " \n");
        if (but != NULL && strncmp(at, but, strlen(but)) == 0)
            continue;
        const char *as = role != NULL ? fmt("SET ROLE %s; ", role) : "";
        assert_true(cluster_sql(db, database, fmt("%s%.*s", as, (int)(end - at), at), NULL, 0));
    }
}

static void write_uri(const cluster *db, const char *role, const char *database, char out[300])
{
    (void)snprintf(out, 300, "postgresql://%s@/%s?host=%s&port=%u", role, database, db->directory,
                   db->port);
}

/* --- The store --------------------------------------------------------------------------------------- */

typedef struct place {
    cluster db;
    server ends[FRONT_ENDS];
    char *grants;
} place;

/* Front ends that connect as the role that serves; the owner has made the store. */
static void open_all(place *p)
{
    char uri[300], owner[300], out[512];
    *p = (place){.grants = read_block("sql", 1)};
    char *roles = read_block("sql", 0);
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    cluster_open(&p->db, NULL);
    run_block(&p->db, "postgres", NULL, roles, NULL);
    write_uri(&p->db, "tacit_service", "tacit", uri);
    write_uri(&p->db, "tacit_owner", "tacit", owner);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        server *s = &p->ends[i];
        const unsigned port = pick_port();
        server_open(s, TACIT_COMMAND,
                    fmt("listen: 127.0.0.1:%u\nstore: '%s'\n%s", port, uri, learners));
        (void)snprintf(s->key, sizeof s->key, "%s/tacit.key", s->directory);
        (void)snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", port);
        s->port = port;
    }
    assert_int_equal(
        server_tool(&p->ends[0], fmt("store init service.yaml --as '%s'", owner), out, sizeof out),
        0);
    run_block(&p->db, "tacit", "tacit_owner", p->grants, NULL);
    server_token(&p->ends[0], "all", "admin", p->ends[0].token);
    assert_shell("cp -p '%s' '%s'", p->ends[0].key, p->ends[1].key);
    (void)snprintf(p->ends[1].token, sizeof p->ends[1].token, "%s", p->ends[0].token);
    free(roles);
}

static void close_all(place *p)
{
    for (size_t i = 0; i < FRONT_ENDS; i++)
        server_close(&p->ends[i]);
    cluster_close(&p->db);
    free(p->grants);
}

/* Decides on this path and observes; the status of the observation. */
static int take_step(const server *s, const char *path, const char *body, const char *told)
{
    char decision[1024];
    if (server_post(s, path, body, answer) != 200 ||
        !json_field(answer, "decision", decision, sizeof decision))
        return 0;
    return server_post(s, "/v1/observe",
                       fmt("{\"decision\":\"%s\",\"reward\":1%s}", decision, told), answer);
}

/* One user of `arms`, with or without a name; the status of the observation. */
static int bring_one(const server *s, const char *user)
{
    return take_step(s, "/v1/decide",
                     fmt("{\"learner\":\"arms\",\"state\":1%s%s%s}",
                         user != NULL ? ",\"user\":\"" : "", user != NULL ? user : "",
                         user != NULL ? "\"" : ""),
                     "");
}

/* One user of `walk`, whose episode is open in between. */
static void bring_walker(const server *s)
{
    char episode[512];
    assert_int_equal(server_post(s, "/v1/episodes", "{\"learner\":\"walk\"}", answer), 201);
    assert_true(json_field(answer, "episode", episode, sizeof episode));
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    assert_int_equal(take_step(s, path, "{\"state\":1}", ",\"next_state\":2"), 200);
    assert_int_equal(take_step(s, path, "{\"state\":2}", ",\"next_state\":2"), 200);
}

/* By a session of the role's own: an administrator's could change back. */
static bool can(place *p, const char *sql)
{
    char uri[300];
    write_uri(&p->db, "tacit_service", "tacit", uri);
    PGconn *link = PQconnectdb(uri);
    PGresult *r = PQexec(link, sql);
    const ExecStatusType code = PQresultStatus(r);
    PQclear(r);
    PQfinish(link);
    return code == PGRES_COMMAND_OK || code == PGRES_TUPLES_OK;
}

TEST(the_role_that_serves_can_serve_and_nothing_else)
{
    static const char *const beyond[] = {
        "CREATE TABLE tacit.more(i int)",
        "CREATE TABLE public.more(i int)",
        "DROP TABLE tacit.seen",
        "TRUNCATE tacit.seen",
        "ALTER TABLE tacit.seen ADD COLUMN more int",
        "CREATE INDEX ON tacit.seen(key)",
        "CREATE RULE r AS ON DELETE TO tacit.open DO INSTEAD NOTHING",
        "DELETE FROM tacit.learner",
        "DELETE FROM tacit.ledger",
        "DELETE FROM tacit.seen",
        "DELETE FROM tacit.adoption",
        "UPDATE tacit.adoption SET lives=0",
        "UPDATE tacit.event SET what=''",
        "UPDATE tacit.trail SET stamp=NULL",
        "SET ROLE tacit_owner",
        "CREATE ROLE more",
        "SELECT * FROM pg_authid"};
    place p;
    char token[128], out[2048];
    open_all(&p);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_true(server_start(&p.ends[i], NULL));
    server_token(&p.ends[0], "reader", "read", token);
    assert_int_equal(
        server_tool(&p.ends[0], "token revoke service.yaml --name reader", out, sizeof out), 0);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        assert_int_equal(bring_one(&p.ends[i], i > 0 ? "ann" : NULL), 200);
        bring_walker(&p.ends[i]);
    }
    server_wait_users(&p.ends[0], "arms", 2);
    assert_int_equal(server_tool(&p.ends[0], "store check service.yaml", out, sizeof out), 0);
    assert_int_equal(server_tool(&p.ends[0], "store events service.yaml", out, sizeof out), 0);
    assert_int_equal(
        server_tool(&p.ends[0], "store export service.yaml --decisions", out, sizeof out), 0);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (can(&p, beyond[i]))
            fail_msg("the role can %s", beyond[i]);
    close_all(&p);
}

/* One user of `arms`, who is sent twice. */
static void bring_twice(const server *s)
{
    char decision[1024];
    assert_int_equal(server_post(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":1}", answer),
                     200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    for (int i = 0; i < 2; i++)
        assert_int_equal(server_post(s, "/v1/observe",
                                     fmt("{\"decision\":\"%s\",\"reward\":1}", decision), answer),
                         200);
}

/* No row of `seen` is in the log of the database; whether an insertion was refused. */
static bool is_refused_unnamed(place *p)
{
    char name[64] = "";
    char *log = read_text(fmt("%s/log", p->db.directory));
    for (int i = 0;; i++) {
        assert_true(cluster_sql(
            &p->db, "tacit",
            fmt("SELECT encode(key, 'hex') FROM tacit.seen ORDER BY key OFFSET %d LIMIT 1", i),
            name, sizeof name));
        if (name[0] == '\0')
            break;
        if (strstr(log, name) != NULL)
            fail_msg("a row is named in %s/log", p->db.directory);
    }
    const bool refused = strstr(log, "seen_pkey") != NULL;
    free(log);
    return refused;
}

static void set_verbosity(place *p, const char *value)
{
    assert_true(cluster_sql(&p->db, "tacit",
                            fmt("ALTER SYSTEM SET log_error_verbosity = %s", value), NULL, 0));
    assert_true(cluster_sql(&p->db, "tacit", "SELECT pg_reload_conf()", NULL, 0));
}

/* The name of a row is a keyed hash. A server whose errors are not terse would write it into its log when an insertion is refused. */
TEST(the_log_of_the_database_names_nobody)
{
    place p;
    open_all(&p);
    assert_true(
        cluster_sql(&p.db, "tacit", "ALTER ROLE tacit_service RESET log_error_verbosity", NULL, 0));
    assert_true(server_start(&p.ends[0], NULL));
    bring_twice(&p.ends[0]);
    assert_false(is_refused_unnamed(&p)); /* it asks first, */
    set_verbosity(&p, "terse");
    wait_until((bring_twice(&p.ends[0]), is_refused_unnamed(&p))); /* and no longer, */
    set_verbosity(&p, "default");
    for (int i = 0; i < 2 * 64; i++) /* and again, for more transactions than follow a refusal */
        bring_twice(&p.ends[0]);
    assert_true(is_refused_unnamed(&p));
    close_all(&p);
}

/* As on the page. */
TEST(the_role_that_serves_has_terse_errors)
{
    place p;
    open_all(&p);
    assert_true(server_start(&p.ends[0], NULL));
    bring_twice(&p.ends[0]);
    assert_true(is_refused_unnamed(&p));
    close_all(&p);
}

TEST(a_service_of_libpq_names_the_database)
{
    place p;
    char out[2048];
    open_all(&p);
    server *s = &p.ends[0];
    server_write(s, "pg_service.conf",
                 fmt("[shop]\nhost=%s\nport=%u\nuser=tacit_service\ndbname=tacit\n", p.db.directory,
                     p.db.port));
    (void)setenv("PGSERVICEFILE", fmt("%s/pg_service.conf", s->directory), 1);
    server_rewrite(s, fmt("listen: 127.0.0.1:%u\nstore: service=shop\n%s", s->port, learners));
    for (size_t i = 0; i < FRONT_ENDS; i++) { /* the other one by a URI */
        assert_true(server_start(&p.ends[i], NULL));
        assert_int_equal(bring_one(&p.ends[i], NULL), 200);
    }
    for (size_t i = 0; i < FRONT_ENDS; i++)
        server_wait_users(&p.ends[i], "arms", FRONT_ENDS);
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 0);
    (void)unsetenv("PGSERVICEFILE");
    close_all(&p);
}

TEST(a_store_of_another_format_is_not_served)
{
    static const char *const formats[] = {"02", "00"};
    place p;
    char out[2048], text[2048];
    int code = 0;
    open_all(&p);
    server *s = &p.ends[0];
    for (size_t i = 0; i < 2; i++) {
        assert_true(cluster_sql(&p.db, "tacit",
                                fmt("UPDATE tacit.meta SET value='\\x%s00000000000000' WHERE"
                                    " name='format'",
                                    formats[i]),
                                NULL, 0));
        assert_false(server_start(s, &code));
        assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), code);
        server_read(s, "tool.err", text, sizeof text);
        assert_non_null(strstr(text, fmt("the store has format %s, and", formats[i] + 1)));
        assert_non_null(strstr(text, "reads format 1 only"));
    }
    close_all(&p);
}

/* --- No grant too many ------------------------------------------------------------------------------- */

/* All statements of the program about the store of a service, as one text. */
static char *read_statements(void)
{
    glob_t found;
    char *all = calloc(1, 1 << 20);
    size_t used = 0;
    assert_int_equal(glob(TACIT_SOURCE "/src/store/vault/*.[ch]", 0, NULL, &found), 0);
    assert_int_equal(glob(TACIT_SOURCE "/src/store/postgres/*.c", GLOB_APPEND, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], "schema") != NULL)
            continue; /* of files, and of the owner */
        char *text = read_text(found.gl_pathv[i]);
        for (const char *at = text; *at != '\0'; at++) { /* literals that go on in the next line */
            const char *next = *at == '"' ? at + 1 + strspn(at + 1, " \\\n") : at;
            if (*at == '"' && next > at + 1 && *next == '"')
                at = next;
            else
                all[used++] = *at;
        }
        free(text);
    }
    globfree(&found);
    return all;
}

/* Whether a statement begins like this, with the name ended by something that is no letter. */
static bool has_words(const char *all, const char *before, const char *table, const char *later)
{
    const char *words = fmt("%s%s", before, table);
    for (const char *at = all; (at = strstr(at, words)) != NULL; at++) {
        const char *after = at + strlen(words);
        if (strchr(" (;\"", *after) == NULL)
            continue;
        const char *end = strchr(after, '"'), *found = strstr(after, later);
        if (found != NULL && (end == NULL || found < end || later[0] == '\0'))
            return true;
    }
    return false;
}

TEST(every_grant_is_needed_and_every_statement_granted)
{
    place p;
    char tables[2048], is[8];
    open_all(&p);
    char *all = read_statements();
    assert_true(cluster_sql(&p.db, "tacit",
                            "SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind='r' AND"
                            " relnamespace=to_regnamespace('tacit')",
                            tables, sizeof tables));
    int n = 0;
    for (char *table = strtok(tables, " "); table != NULL; table = strtok(NULL, " "), n++) {
        const struct {
            const char *what;
            bool needed;
        } rights[] = {{"UPDATE", has_words(all, "UPDATE ", table, " SET ") ||
                                     has_words(all, "INSERT INTO ", table, "DO UPDATE")},
                      {"DELETE", has_words(all, "DELETE FROM ", table, "")}};
        for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
            assert_true(
                cluster_sql(&p.db, "tacit",
                            fmt("SELECT has_table_privilege('tacit_service', 'tacit.%s', '%s')",
                                table, rights[i].what),
                            is, sizeof is));
            if ((is[0] == 't') != rights[i].needed)
                fail_msg("%s on %s is %s, but %s", rights[i].what, table,
                         is[0] == 't' ? "granted" : "not granted",
                         rights[i].needed ? "needed" : "no statement needs it");
        }
    }
    assert_true(n > 15);
    free(all);
    /* without any one of the lines it does not work */
    static const char *const lines[] = {"GRANT USAGE", "GRANT SELECT", "GRANT UPDATE",
                                        "GRANT DELETE"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int code = 0;
        assert_true(cluster_sql(&p.db, "tacit",
                                "SET ROLE tacit_owner; REVOKE ALL ON SCHEMA tacit FROM"
                                " tacit_service; REVOKE ALL ON ALL TABLES IN SCHEMA tacit FROM"
                                " tacit_service",
                                NULL, 0));
        run_block(&p.db, "tacit", "tacit_owner", p.grants, lines[i]);
        if (server_start(&p.ends[0], &code)) {
            if (bring_one(&p.ends[0], NULL) == 200)
                fail_msg("it works without %s", lines[i]);
            (void)server_stop(&p.ends[0], SIGKILL);
        }
    }
    close_all(&p);
}

/* --- Backups ----------------------------------------------------------------------------------------- */

static bool has_status(const server *s, const char *wanted)
{
    char word[32] = "";
    return server_get(s, "/healthz", answer) == 200 &&
           json_field(answer, "status", word, sizeof word) && strcmp(word, wanted) == 0;
}

TEST(a_restored_dump_is_a_copy_until_it_is_adopted)
{
    place p;
    char uri[300], owner[300], out[1024];
    open_all(&p);
    server *s = &p.ends[0];
    assert_true(server_start(s, NULL));
    assert_int_equal(bring_one(s, "ann"), 200);
    server_wait_users(s, "arms", 1);
    assert_int_equal(server_stop(s, SIGTERM), 0);
    write_uri(&p.db, "tacit_owner", "tacit", owner);
    assert_true(
        cluster_sql(&p.db, "postgres", "CREATE DATABASE restored OWNER tacit_owner", NULL, 0));
    assert_shell("'%s/pg_dump' --schema=tacit '%s' | '%s/psql' -q -v ON_ERROR_STOP=1 -h '%s' -p %u"
                 " -U tacit_owner restored >/dev/null",
                 TACIT_POSTGRES_BIN, owner, TACIT_POSTGRES_BIN, p.db.directory, p.db.port);
    write_uri(&p.db, "tacit_service", "restored", uri);
    server_rewrite(s, fmt("listen: 127.0.0.1:%u\nstore: '%s'\n%s", s->port, uri, learners));
    assert_true(server_start(s, NULL));
    assert_true(has_status(s, "copy"));
    assert_int_equal(server_get(s, "/readyz", answer), 503);
    assert_int_equal(bring_one(s, NULL), 503);
    assert_int_equal(server_stop(s, SIGTERM), 0);
    assert_int_equal(server_tool(s, "store adopt service.yaml", out, sizeof out), 2);
    assert_int_equal(server_tool(s, "store adopt service.yaml --original-is-gone", out, sizeof out),
                     0);
    assert_true(server_start(s, NULL));
    assert_true(has_status(s, "ok"));
    assert_int_equal(bring_one(s, "bob"), 200);
    server_wait_users(s, "arms", 2);
    close_all(&p);
}

/* --- A file ------------------------------------------------------------------------------------------ */

TEST(the_owner_takes_a_file_over_and_the_other_role_serves_it)
{
    place p;
    server old;
    char owner[300], out[2048];
    open_all(&p);
    server_open(&old, TACIT_COMMAND, fmt("listen: 127.0.0.1:0\nstore: service.db\n%s", learners));
    server_token(&old, "all", "admin", old.token);
    assert_true(server_start(&old, NULL));
    assert_int_equal(bring_one(&old, "ann"), 200);
    server_wait_users(&old, "arms", 1);
    assert_int_equal(server_stop(&old, SIGTERM), 0);
    assert_true(
        cluster_sql(&p.db, "tacit", "DELETE FROM tacit.token", NULL, 0)); /* as init leaves it */
    server *s = &p.ends[0];
    write_uri(&p.db, "tacit_owner", "tacit", owner);
    const char *command = fmt("store move service.yaml '%s' --as '%s'", old.file, owner);
    if (server_tool(s, command, out, sizeof out) != 0) {
        server_read(s, "tool.err", out, sizeof out);
        fail_msg("%s", out);
    }
    (void)snprintf(s->token, sizeof s->token, "%s", old.token);
    assert_true(server_start(s, NULL));
    assert_int_equal(bring_one(s, "bob"), 200);
    server_wait_users(s, "arms", 2);
    server_close(&old);
    close_all(&p);
}

/* --- nginx ------------------------------------------------------------------------------------------- */

static void replace(char *text, size_t size, const char *what, const char *with)
{
    char *at = strstr(text, what), *rest;
    assert_non_null(at);
    rest = strdup(at + strlen(what));
    (void)snprintf(at, size - (size_t)(at - text), "%s%s", with, rest);
    free(rest);
}

/* The file of the page, with addresses of this machine and without TLS. */
static pid_t start_nginx(const place *p, unsigned port, const char *directory)
{
    char conf[4096];
    char *block = read_block("nginx", 0);
    (void)snprintf(conf, sizeof conf,
                   "daemon off;\nmaster_process off;\npid %s/nginx.pid;\nerror_log %s/nginx.log;\n"
                   "events {}\nhttp {\naccess_log off;\nclient_body_temp_path %s/body;\n"
                   "proxy_temp_path %s/proxy;\nfastcgi_temp_path %s/f;\nuwsgi_temp_path %s/u;\n"
                   "scgi_temp_path %s/s;\n%s}\n",
                   directory, directory, directory, directory, directory, directory, directory,
                   block);
    free(block);
    replace(conf, sizeof conf, "10.0.0.11:8470", fmt("127.0.0.1:%u", p->ends[0].port));
    replace(conf, sizeof conf, "10.0.0.12:8470", fmt("127.0.0.1:%u", p->ends[1].port));
    replace(conf, sizeof conf, "listen 443 ssl;", fmt("listen 127.0.0.1:%u;", port));
    server_write(&p->ends[0], "nginx.conf", conf);
    const char *path = fmt("%s/nginx.conf", directory);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execlp("nginx", "nginx", "-p", directory, "-c", path, (char *)NULL);
        _exit(127);
    }
    return pid;
}

TEST(nginx_sends_requests_to_the_front_end_that_is_left)
{
    place p;
    if (system("command -v nginx >/dev/null 2>&1") != 0) {
        (void)fprintf(stderr, "SKIPPED: nginx is not installed here (scripts/setup installs it)\n");
        return;
    }
    open_all(&p);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_true(server_start(&p.ends[i], NULL));
    server via = {.port = pick_port()};
    (void)snprintf(via.token, sizeof via.token, "%s", p.ends[0].token);
    const pid_t nginx = start_nginx(&p, via.port, p.ends[0].directory);
    wait_until(server_get(&via, "/readyz", answer) == 200);
    assert_int_equal(server_get(&via, "/readyz", answer), 200);
    crowd *c = calloc(1, sizeof *c);
    c->learner = "arms";
    c->n_states = 12;
    c->ends[0] = c->ends[1] = &via;
    crowd_start(c);
    for (size_t i = 0; i < 4 && c->wrong == NULL; i++) {
        const unsigned long wanted = atomic_load(&c->acknowledged) + 20;
        wait_until(atomic_load(&c->acknowledged) >= wanted || c->wrong != NULL);
        server *s = &p.ends[i % FRONT_ENDS];
        assert_int_equal(server_stop(s, SIGKILL), -SIGKILL);
        server_nap(500);
        assert_true(server_start(s, NULL));
        server_nap(2500); /* after fail_timeout it is asked again */
    }
    crowd_stop(c);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_all_counted(&p.ends[i], c);
    assert_int_equal(atomic_load(&c->repeated), 0); /* nobody had to ask twice */
    crowd_free(c);
    (void)kill(nginx, SIGTERM);
    (void)waitpid(nginx, NULL, 0);
    close_all(&p);
}
