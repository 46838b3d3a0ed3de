/* Who may ask, how often and how slowly, and what nobody learns from answers, logs and files. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "serve/http/routes.h"
#include "service/plain.h"

/* The plain service with one more limit. */
static void begin_with(server *s, const char *limit)
{
    static const char mark[] = "header: 8192";
    const char *at = strstr(plain, mark);
    assert_non_null(at);
    at += sizeof mark - 1;
    begin(s, fmt("%.*s, %s%s", (int)(at - plain), plain, limit, at));
}

enum { SLOW = 20 };

/* Connections on which half a request has come, in its head or in its body. */
static void begin_slowly(const server *s, int slow[SLOW])
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                     "Content-Length: 30\r\n\r\n{\"learner\":",
                     s->token);
    for (int i = 0; i < SLOW; i++) {
        slow[i] = server_connect(s);
        server_say(slow[i], text, i % 2 == 0 ? (size_t)n : 10);
    }
}

TEST(slow_and_half_closed_clients_do_not_block_others)
{
    SCOPED_BY(end) server s;
    char text[512];
    int slow[SLOW];
    begin_with(&s, "timeout: 5");
    begin_slowly(&s, slow);
    for (int i = 0; i < 50; i++)
        assert_int_equal(
            server_post(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", answer), 200);
    /* half closed: the request is whole, and the answer comes */
    int fd = server_connect(&s);
    int n = snprintf(text, sizeof text,
                     "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                     "Content-Length: 28\r\n\r\n{\"learner\":\"arms\",\"state\":0}",
                     s.token);
    server_say(fd, text, (size_t)n);
    (void)shutdown(fd, SHUT_WR);
    (void)server_hear(fd, answer, sizeof answer, 20000);
    (void)close(fd);
    assert_non_null(strstr(answer, "HTTP/1.1 200 "));
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    for (int i = 0; i < SLOW; i++)
        (void)close(slow[i]);
}

static bool was_closed(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

TEST(slow_clients_are_sent_away)
{
    SCOPED_BY(end) server s;
    int slow[SLOW], gone = 0;
    begin_with(&s, "timeout: 1");
    begin_slowly(&s, slow);
    for (int i = 0; i < SLOW; i++) {
        (void)server_hear(slow[i], answer, sizeof answer, 20000);
        gone += was_closed(slow[i]);
        (void)close(slow[i]);
    }
    assert_int_equal(gone, SLOW);
    wait_until(server_get(&s, "/healthz", answer) == 200); /* it may be sent away itself */
    assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
}

/* The answer to a request, after which the client says no more; the status, or 0. */
static int ask_and_hang_up(const server *s, const char *path, const char *extra, const char *body)
{
    char text[4096];
    int fd = server_connect(s), status = 0;
    int n = snprintf(text, sizeof text,
                     "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s"
                     "Content-Length: %zu\r\n\r\n%s",
                     path, s->token, extra, strlen(body), body);
    server_say(fd, text, (size_t)n);
    (void)shutdown(fd, SHUT_WR);
    (void)server_hear(fd, answer, sizeof answer, 20000);
    (void)close(fd);
    return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

TEST(who_hangs_up_on_one_side_hears_what_was_written)
{
    char decision[1024], body[2048];
    SERVER(s, fmt("threads: 1\n%s", plain));
    for (int i = 0; i < 10; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":1}", decision);
        int older = server_connect(&s); /* and idle: the thread has more than one to look after */
        assert_int_equal(ask_and_hang_up(&s, "/v1/observe", "", body), 200);
        assert_non_null(strstr(answer, "\"finished\""));
        assert_int_equal(ask_and_hang_up(&s, "/v1/decide",
                                         fmt("Idempotency-Key: 0123456789abcde%d\r\n", i),
                                         "{\"learner\":\"arms\",\"state\":0}"),
                         200);
        (void)close(older);
    }
    assert_true(ledger(&s, "arms", "accepted") == 10);
}

/* The sockets that the server has open. */
static int count_sockets(const server *s)
{
    char target[64];
    int n = 0;
    DIR *directory = opendir(fmt("/proc/%ld/fd", (long)s->pid));
    if (directory == NULL && errno == EACCES)
        skip(); /* the process cannot be dumped, so only root may look */
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);
        n += length > 7 && strncmp(target, "socket:", 7) == 0;
    }
    (void)closedir(directory);
    return n;
}

/* Waits until it has so many sockets; false: not within half a minute. */
static bool wait_for_sockets(const server *s, int wanted)
{
    for (int i = 0; i < 1500; i++) {
        if (count_sockets(s) == wanted)
            return true;
        server_nap(20);
    }
    return false;
}

TEST(wherever_a_connection_is_broken_off_its_place_comes_back)
{
    enum { POINTS = 10 };
    enum way { SILENT, HALF_CLOSED, CLOSED, RESET, WAYS };
    SCOPED_BY(end) server s;
    char text[8192], decision[1024], body[2048];
    int fd[POINTS][WAYS];
    begin_with(&s, "timeout: 5");
    assert_true(wait_for_sockets(&s, 1)); /* the one that listens */
    const char *head = fmt("HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n", s.token);
    for (int way = 0; way < WAYS; way++) {
        decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":1}", decision);
        /* an observation, which waits for the disk, and after it a question, the last two points of which are
         * whole */
        int length = snprintf(text, sizeof text, "POST /v1/observe %sContent-Length: %zu\r\n\r\n%s",
                              head, strlen(body), body);
        int all = length + snprintf(text + length, sizeof text - (size_t)length,
                                    "GET /healthz %s\r\n", head);
        int start = (int)(strstr(text, "\r\n\r\n") - text);
        const int points[POINTS] = {0,         5,      30,         start,   start + 4,
                                    start + 9, length, length + 5, all - 1, all};
        for (int i = 0; i < POINTS; i++) {
            struct linger hard = {.l_onoff = 1};
            int c = fd[i][way] = server_connect(&s);
            assert_true(c >= 0);
            server_say(c, text, (size_t)points[i]);
            if (way == HALF_CLOSED)
                (void)shutdown(c, SHUT_WR);
            if (way == RESET)
                (void)setsockopt(c, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
            if (way == CLOSED || way == RESET)
                (void)close(c);
        }
    }
    /* the clients hold on to what they have not closed; the server does not */
    assert_true(wait_for_sockets(&s, 1));
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    for (int i = 0; i < POINTS; i++)
        for (int way = SILENT; way <= HALF_CLOSED; way++)
            (void)close(fd[i][way]);
}

TEST(tokens_open_what_their_scopes_say)
{
    char decider[128], observer[128], reader[128], out[2048];
    SERVER(s, plain);
    server_token(&s, "decider", "decide", decider);
    server_token(&s, "observer", "observe", observer);
    server_token(&s, "reader", "read", reader);
    const char *body = "{\"learner\":\"arms\",\"state\":0}";
    /* the service does not know them yet */
    assert_error(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer), 401, "token",
                 "");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_until(server_ask(&s, reader, "GET", "/v1/learners", NULL, NULL, answer) == 200);
    assert_int_equal(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer), 200);
    /* schemes have no case */
    assert_int_equal(server_ask(&s, "", "POST", "/v1/decide",
                                fmt("Authorization: bearer %s\r\n", decider), body, answer),
                     200);
    assert_error(server_ask(&s, observer, "POST", "/v1/decide", NULL, body, answer), 403, "scope",
                 "");
    assert_error(server_ask(&s, decider, "POST", "/v1/observe", NULL, "{}", answer), 403, "scope",
                 "");
    assert_error(server_ask(&s, observer, "POST", "/v1/observe", NULL, "{}", answer), 422,
                 "missing", "decision");
    assert_error(server_ask(&s, decider, "GET", "/metrics", NULL, NULL, answer), 403, "scope", "");
    assert_int_equal(server_ask(&s, reader, "GET", "/metrics", NULL, NULL, answer), 200);
    assert_error(server_ask(&s, "", "GET", "/v1/ledger", NULL, NULL, answer), 401, "token", "");
    assert_error(server_ask(&s, "tacit_wrong", "POST", "/v1/decide", NULL, body, answer), 401,
                 "token", "");
    assert_int_equal(server_ask(&s, "", "GET", "/healthz", NULL, NULL, answer), 200);
    assert_int_equal(server_ask(&s, "", "GET", "/", NULL, NULL, answer), 200);
    assert_int_equal(server_tool(&s, "token revoke service.yaml --name decider", out, sizeof out),
                     0);
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_until(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer) != 200);
    assert_error(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer), 401, "token",
                 "");
    assert_int_equal(server_tool(&s, "token list service.yaml", out, sizeof out), 0);
    assert_non_null(strstr(out, "revoked"));
    assert_null(strstr(out, decider));
}

static void change_store(const server *s, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(s->store, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(tokens_are_renewed_for_ever)
{
    static const char again[] = "token create service.yaml --name web --scopes decide",
                      body[] = "{\"learner\":\"arms\",\"state\":0}";
    char first[128], second[128], other[128];
    static char out[1 << 16];
    SERVER(s, plain);
    server_token(&s, "web", "decide", first);
    assert_int_equal(server_tool(&s, again, out, sizeof out), 2); /* it is taken */
    assert_int_equal(server_tool(&s, "token revoke service.yaml --name web", out, sizeof out), 0);
    server_token(&s, "web", "decide", second);
    assert_string_not_equal(first, second);
    assert_int_equal(server_tool(&s, again, out, sizeof out), 2);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    /* years later */
    change_store(&s, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 253)"
                     " INSERT INTO token(name, hash, scopes, created, revoked)"
                     " SELECT 'old' || i || '.', randomblob(32), 1, i, 1 FROM n");
    server_token(&s, "new", "decide", other);
    assert_int_equal(server_tool(&s, "token list service.yaml", out, sizeof out), 0);
    assert_null(strstr(out, "old0. ")); /* the oldest that was revoked, and it alone */
    assert_non_null(strstr(out, "old1. "));
    assert_non_null(strstr(out, "old253. "));
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_get(&s, "/v1/learners", answer), 200); /* the very first one */
    assert_int_equal(server_ask(&s, first, "POST", "/v1/decide", NULL, body, answer), 401);
    assert_int_equal(server_ask(&s, second, "POST", "/v1/decide", NULL, body, answer), 200);
    assert_int_equal(server_ask(&s, other, "POST", "/v1/decide", NULL, body, answer), 200);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    /* all of them valid: none is forgotten */
    change_store(&s, "UPDATE token SET revoked = 0");
    assert_int_not_equal(
        server_tool(&s, "token create service.yaml --name more --scopes read", out, sizeof out), 0);
    assert_true(file_has(s.directory, "at most 256 valid tokens"));
    assert_int_equal(server_tool(&s, "token revoke service.yaml --name old7.", out, sizeof out), 0);
    server_token(&s, "more", "read", other);
}

/* The routes that a scope opens, beside those that are open. All others are closed: every route with every
 * scope is asked. */
TEST(every_route_asks_for_its_scope)
{
    static const struct {
        const char *scope, *routes;
    } opens[] = {
        {"decide", "POST /v1/episodes;POST /v1/episodes/x/decide;POST /v1/decide;"},
        {"observe", "POST /v1/episodes/x/observe;POST /v1/observe;"},
        {"report", "POST /v1/reports;"},
        {"read", "GET /v1/learners;GET /v1/ledger;GET /v1/guarantee;GET /v1/history;GET /metrics;"},
    };
    static const char open[] = "GET /v1/billboard;GET /healthz;GET /readyz;GET /;GET /live.css;"
                               "GET /live.js;GET /demo;GET /demo/x;";
    enum { SCOPES = sizeof opens / sizeof *opens };
    SCOPED_BY(end) server s;
    char tokens[SCOPES][128], all[2048] = "";
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    for (size_t i = 0; i < SCOPES; i++) {
        server_token(&s, opens[i].scope, opens[i].scope, tokens[i]);
        (void)strcat(all, opens[i].routes);
    }
    (void)strcat(all, open);
    assert_true(server_start(&s, NULL));
    size_t asked = 0;
    for (const char *at = all; *at != '\0'; at += strcspn(at, ";") + 1, asked++) {
        char method[8], path[64];
        const char *route = fmt("%.*s;", (int)strcspn(at, ";"), at);
        assert_int_equal(sscanf(route, "%7s %63[^;]", method, path), 2);
        bool is_open = strstr(open, route) != NULL;
        const char *body = method[0] == 'P' ? "{}" : NULL;
        int status = server_ask(&s, "", method, path, NULL, body, answer);
        if (is_open ? status == 401 : status != 401)
            fail_msg("%s without a token: %d", route, status);
        status = server_ask(&s, s.token, method, path, NULL, body, answer);
        if (status == 401 || status == 403)
            fail_msg("%s as admin: %d", route, status);
        for (size_t i = 0; i < SCOPES; i++) {
            status = server_ask(&s, tokens[i], method, path, NULL, body, answer);
            if ((status != 403) != (is_open || strstr(opens[i].routes, route) != NULL) ||
                status == 401)
                fail_msg("%s with %s: %d", route, opens[i].scope, status);
        }
    }
    assert_int_equal(asked, tacit__n_routes); /* none was forgotten */
    assert_true(ledger(&s, "arms", "accepted") == 0);
}

/* Every key of an answer is named in the reference, at its route. */
TEST(what_is_answered_is_written_down)
{
    static const char *const paths[] = {"/v1/billboard", "/v1/learners", "/v1/ledger",
                                        "/v1/guarantee", "/v1/history",  "/healthz"};
    char decision[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "few", 1);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *id, *allowed;
        size_t length;
        const tacit__route *route = tacit__route_find("GET", paths[i], &id, &length, &allowed);
        const char *type = route->answers->type;
        for (int j = 0; j < 2; j++) {
            const char *path = fmt("%s?learner=%s", paths[i], j == 0 ? "few" : "ours");
            assert_int_equal(server_get(&s, path, answer), 200);
            int depth = 0;
            for (const char *at = strchr(answer, '{'); *at != '\0'; at++) {
                char key[40] = "";
                depth += (*at == '{') - (*at == '}');
                if (depth != 1 || sscanf(at, "\"%39[a-z0-9_]\":", key) != 1 ||
                    strncmp(at + 1 + strlen(key), "\":", 2) != 0)
                    continue;
                if (!tacit__shape_has(tacit__shape_find(type, strlen(type)), key, strlen(key)))
                    fail_msg("%s answers %s, which is not in the reference", path, key);
            }
        }
    }
}

/* The page has no script and no style but those that the service sends, and the browser is told so. */
TEST(the_page_runs_nothing_inline)
{
    SERVER(s, plain);
    assert_int_equal(server_ask(&s, "", "GET", "/", NULL, NULL, answer), 200);
    assert_non_null(strstr(answer, "script-src 'self'"));
    assert_non_null(strstr(answer, "style-src 'self'"));
    assert_null(strstr(answer, "unsafe"));
    assert_null(strstr(answer, "<style"));
    assert_null(strstr(answer, "<script>"));
}

/* However fast or slow the two sides are: in t seconds a token gets at most one second's worth and what came
 * in since. */
TEST(a_token_that_asks_too_often_is_told_to_wait)
{
    enum { RATE = 2, REFUSED = 10, MOST = 2000 };
    SCOPED_BY(end) server s;
    begin_with(&s, "rate: 2");
    int refused = 0, served = 0;
    double start = server_seconds();
    for (int i = 0; i < MOST && refused < REFUSED; i++) {
        int status = server_get(&s, "/v1/learners", answer);
        assert_true(status == 200 || status == 429);
        if (status == 429)
            assert_non_null(strstr(answer, "Retry-After: "));
        refused += status == 429;
        served += status == 200;
    }
    assert_int_equal(refused, REFUSED);
    assert_within(served, 1, RATE + RATE * (server_seconds() - start));
    server_nap(1100);
    assert_int_equal(server_get(&s, "/v1/learners", answer), 200);
}

TEST(planted_values_are_found_nowhere)
{
    char decision[1024], episode[512];
    SERVER(s, plain);
    static const char *const planted[] = {"zanzibar-person-4711", "0.123456789", "zanzibar-field"};
    open_episode(&s, "{\"learner\":\"walk\",\"user\":\"zanzibar-person-4711\"}", episode);
    decide(&s, fmt("/v1/episodes/%s/decide", episode), "{\"state\":2}", decision);
    assert_observed(&s, decision, ",\"reward\":0.123456789,\"next_state\":1", "open");
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":2,\"user\":\"zanzibar-person-4711\"}",
           decision);
    assert_observed(&s, decision, ",\"reward\":0.123456789", "finished");
    char everything[4 * SERVER_ANSWER] = "";
    (void)server_post(&s, "/v1/decide", "{\"zanzibar-field\":1}", answer);
    (void)strncat(everything, answer, SERVER_ANSWER);
    (void)server_post(&s, "/v1/decide", "{\"user\":\"zanzibar-person-4711", answer);
    (void)strncat(everything, answer, SERVER_ANSWER);
    (void)server_post(&s, "/v1/zanzibar-field", "{}", answer);
    (void)strncat(everything, answer, SERVER_ANSWER);
    (void)observe(&s, decision, ",\"reward\":0.123456789123");
    (void)strncat(everything, answer, SERVER_ANSWER);
    server_wait_users(&s, "arms", 1);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    (void)strncat(everything, answer, SERVER_ANSWER);
    double reward = 0.123456789;
    char raw[sizeof reward + 1] = "";
    memcpy(raw, &reward, sizeof reward); /* as the machine writes it */
    for (size_t i = 0; i < 3; i++) {
        assert_null(strstr(everything, planted[i]));
        assert_false(file_has(s.directory, planted[i])); /* store, write-ahead log, out, err */
    }
    assert_false(file_has(s.directory, raw));
    assert_null(strstr(everything, s.directory));
    struct stat entry;
    assert_int_equal(stat(s.store, &entry), 0);
    assert_int_equal(entry.st_mode & 077, 0);
    /* nor stays it, sealed, in the log of a service that has nothing to do */
    const char *log = fmt("%s-wal", s.store);
    for (int i = 0; i < 3000 && stat(log, &entry) == 0 && entry.st_size > 0; i++)
        server_nap(10);
    assert_true(stat(log, &entry) != 0 || entry.st_size == 0);
}
