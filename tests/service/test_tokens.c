/* What a token is limited to: users a day, a time, a learner, and keys of its own. And a report that counts once, whoever sends it
 * under whatever name. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include <tacit/client.h>

#include "service/wall.h"

/* A token with more options than a name and a scope; known after the next start or SIGHUP. */
static void make_token(server *s, const char *name, const char *scopes, const char *options,
                       char token[128])
{
    assert_int_equal(server_tool(s,
                                 fmt("token create service.yaml --name %s --scopes %s %s", name,
                                     scopes, options),
                                 token, 128),
                     0);
    token[strcspn(token, "\n")] = '\0';
}

/* SIGHUP, and the wait until it was heard. */
static void reload(server *s, const char *token, int wanted)
{
    assert_int_equal(kill(s->pid, SIGHUP), 0);
    wait_until(server_ask(s, token, "GET", "/v1/learners", NULL, NULL, answer) == wanted);
    assert_int_equal(server_ask(s, token, "GET", "/v1/learners", NULL, NULL, answer), wanted);
}

/* A user of `arms`, with this token; the status of the observation, whose body is in `body`. */
static int bring_user(const server *s, const char *token, char body[2048])
{
    char decision[1024];
    int status = server_ask(s, token, "POST", "/v1/decide", NULL,
                            "{\"learner\":\"arms\",\"state\":0}", answer);
    if (status != 200)
        fail_msg("status %d: %s", status, answer);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    (void)snprintf(body, 2048, "{\"decision\":\"%s\",\"reward\":1}", decision);
    return server_ask(s, token, "POST", "/v1/observe", NULL, body, answer);
}

/* The status of a report under a key that ends with `number`. */
static int send_report(const server *s, const char *token, int number, const char *body)
{
    return server_ask(s, token, "POST", "/v1/reports",
                      fmt("Idempotency-Key: 0123456789abcdef-%d\r\n", number), body, answer);
}

/* Noon by the service clock, which has not begun: no day ends in the midst of a test. */
static void set_noon(const server *s)
{
    run_in_store(s, cluster_of_tests() != NULL /* 20000 * 86400 + 43200, low byte first */
                        ? "INSERT INTO meta VALUES('clock', '\\xc0d8ff6600000000')"
                        : "INSERT INTO meta VALUES('clock', X'c0d8ff6600000000')");
}

/* --- Quotas ------------------------------------------------------------------------------------- */

static void assert_over_quota(int status)
{
    assert_error(status, 429, "quota", "");
    const char *at = strstr(answer, "\r\nRetry-After: ");
    assert_non_null(at);
    long seconds = strtol(at + 15, NULL, 10);
    assert_in_range(seconds, 1, WALL_DAY);
}

TEST(a_token_brings_its_users_of_a_day_and_no_more)
{
    SCOPED_BY(end) server s;
    char token[128], first[2048], over[2048];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "web", "decide,observe,report", "--users-per-day 3", token);
    set_noon(&s);
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_user(&s, token, first), 200);
    char *report = make_report(&s), *other = make_report(&s);
    assert_int_equal(send_report(&s, token, 1, report), 202);
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL); /* what was counted is on disk */
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_user(&s, token, over), 200);
    assert_over_quota(bring_user(&s, token, over));
    assert_over_quota(send_report(&s, token, 2, other));
    /* who counted is told so again */
    assert_int_equal(server_ask(&s, token, "POST", "/v1/observe", NULL, first, answer), 200);
    assert_int_equal(send_report(&s, token, 1, report), 202);
    assert_int_equal(send_report(&s, token, 3, report), 202);
    /* nothing of the others was kept: another token may bring them */
    assert_true(ledger(&s, "arms", "accepted") == 2 && ledger(&s, "ours", "accepted") == 1);
    assert_int_equal(server_ask(&s, s.token, "POST", "/v1/observe", NULL, over, answer), 200);
    assert_true(ledger(&s, "arms", "accepted") == 3);
    free(report);
    free(other);
}

/* Two decisions of one user, made before either was told of: the second is told that the user has taken part, whatever is left of the
 * quota, since it takes nobody. */
TEST(a_returning_user_needs_no_quota)
{
    SCOPED_BY(end) server s;
    char token[128], decision[2][1024], body[2200], status[32];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "web", "decide,observe", "--users-per-day 1", token);
    set_noon(&s);
    assert_true(server_start(&s, NULL));
    for (int i = 0; i < 2; i++)
        decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}",
               decision[i]);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":1}", decision[i]);
        assert_int_equal(server_ask(&s, token, "POST", "/v1/observe", NULL, body, answer), 200);
        assert_true(json_field(answer, "status", status, sizeof status));
        assert_string_equal(status, i == 0 ? "finished" : "taken_part");
    }
    assert_over_quota(bring_user(&s, token, body));
    assert_true(ledger(&s, "arms", "accepted") == 1);
}

TEST(a_new_token_of_the_same_name_begins_with_nothing)
{
    SCOPED_BY(end) server s;
    char token[128], out[64], body[2048];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "web", "decide,observe,read", "--users-per-day 1", token);
    set_noon(&s);
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_user(&s, token, body), 200);
    assert_over_quota(bring_user(&s, token, body));
    assert_int_equal(server_tool(&s, "token revoke service.yaml --name web", out, sizeof out), 0);
    make_token(&s, "web", "decide,observe,read", "--users-per-day 1", token);
    reload(&s, token, 200);
    assert_int_equal(bring_user(&s, token, body), 200);
    assert_over_quota(bring_user(&s, token, body));
}

TEST(a_clock_that_jumps_opens_no_new_day)
{
    if (!may_preload)
        skip();
    SCOPED_BY(end) server s;
    wall w;
    char token[128], body[2048];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "web", "decide,observe", "--users-per-day 1", token);
    set_noon(&s);
    wall_arm(&w, &s);
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_user(&s, token, body), 200);
    for (long days = -2; days <= 2; days++) {
        wall_move(&w, days * WALL_DAY);
        assert_over_quota(bring_user(&s, token, body));
    }
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_true(server_start(&s, NULL));
    assert_over_quota(bring_user(&s, token, body));
}

/* --- An end, and a learner ----------------------------------------------------------------------- */

TEST(a_token_ends_at_its_time)
{
    if (!may_preload)
        skip();
    SCOPED_BY(end) server s;
    wall w;
    char token[128];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "web", "read", "--expires 2d", token);
    wall_arm(&w, &s);
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_ask(&s, token, "GET", "/v1/learners", NULL, NULL, answer), 200);
    wall_move(&w, 3 * WALL_DAY);
    assert_error(server_ask(&s, token, "GET", "/v1/learners", NULL, NULL, answer), 401,
                 "expired_token", "");
    assert_non_null(strstr(answer, "WWW-Authenticate: Bearer"));
    assert_int_equal(server_get(&s, "/v1/learners", answer), 200);
}

TEST(a_token_is_for_its_learner_alone)
{
    SCOPED_BY(end) server s;
    char token[128], body[2048], episode[512], path[600];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "web", "decide,observe,report,read", "--learner arms", token);
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_user(&s, token, body), 200);
    /* it need not say whom it means */
    assert_int_equal(server_ask(&s, token, "POST", "/v1/decide", NULL, "{\"state\":0}", answer),
                     200);
    assert_int_equal(server_ask(&s, token, "GET", "/v1/ledger", NULL, NULL, answer), 200);
    assert_non_null(strstr(answer, "\"learner\":\"arms\""));
    static const struct {
        const char *method, *path, *body;
    } others[] = {{"POST", "/v1/episodes", "{\"learner\":\"walk\"}"},
                  {"POST", "/v1/decide", "{\"learner\":\"few\",\"state\":0}"},
                  {"POST", "/v1/reports", "{\"learner\":\"ours\",\"report\":\"AAAA\"}"},
                  {"GET", "/v1/ledger?learner=walk", NULL},
                  {"GET", "/v1/guarantee?learner=walk", NULL},
                  {"GET", "/v1/history?learner=walk", NULL}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_error(
            server_ask(&s, token, others[i].method, others[i].path, NULL, others[i].body, answer),
            403, "learner", "learner");
    assert_error(server_ask(&s, token, "GET", "/v1/ledger?learner=none", NULL, NULL, answer), 404,
                 "no_learner", "learner");
    /* tickets of others are no way around it */
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    assert_error(server_ask(&s, token, "POST", path, NULL, "{\"state\":0}", answer), 403, "learner",
                 "learner");
    char decision[1024];
    decide(&s, path, "{\"state\":0}", decision);
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":1}", decision);
    assert_error(server_ask(&s, token, "POST", "/v1/observe", NULL, body, answer), 403, "learner",
                 "learner");
    static const char *const lists[] = {"/v1/learners", "/metrics"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(server_ask(&s, token, "GET", lists[i], NULL, NULL, answer), 200);
        assert_non_null(strstr(answer, "arms"));
        assert_null(strstr(answer, "walk"));
    }
}

/* --- Keys and bytes ------------------------------------------------------------------------------ */

TEST(keys_belong_to_a_token)
{
    static const char key[] = "Idempotency-Key: 0123456789abcdef\r\n";
    static const char body[] = "{\"learner\":\"walk\"}";
    SCOPED_BY(end) server s;
    char tokens[3][128], episodes[3][512], out[64];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "one", "decide,read", "", tokens[0]);
    make_token(&s, "two", "decide,read", "", tokens[1]);
    assert_true(server_start(&s, NULL));
    for (int i = 0; i < 3; i++) {
        if (i == 2) { /* the second again, under its name, and perhaps its number */
            assert_int_equal(
                server_tool(&s, "token revoke service.yaml --name two", out, sizeof out), 0);
            make_token(&s, "two", "decide,read", "", tokens[2]);
            reload(&s, tokens[2], 200);
        }
        assert_int_equal(server_ask(&s, tokens[i], "POST", "/v1/episodes", key, body, answer), 201);
        assert_true(json_field(answer, "episode", episodes[i], sizeof episodes[i]));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(episodes[i], episodes[j]);
    }
    assert_int_equal(server_ask(&s, tokens[0], "POST", "/v1/episodes", key, body, answer), 201);
    assert_non_null(strstr(answer, episodes[0]));
}

TEST(a_report_counts_once_under_any_key)
{
    enum { TIMES = 20 };
    SCOPED_BY(end) server s;
    char other[128];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    make_token(&s, "other", "report", "", other);
    assert_true(server_start(&s, NULL));
    char *one = make_report(&s), *two = make_report(&s);
    for (int i = 0; i < TIMES; i++) {
        assert_int_equal(send_report(&s, i % 2 == 0 ? s.token : other, i, one), 202);
        assert_non_null(strstr(answer, "\"taken\"")); /* as the first was told */
    }
    const char *spaced = fmt("{ %s", one + 1); /* the same bytes, written otherwise */
    assert_int_equal(send_report(&s, s.token, TIMES, spaced), 202);
    assert_true(ledger(&s, "ours", "accepted") == 1);
    assert_error(send_report(&s, s.token, 0, two), 422, "key_reused", "Idempotency-Key");
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    assert_true(server_start(&s, NULL));
    assert_int_equal(send_report(&s, s.token, TIMES + 1, one), 202);
    assert_true(ledger(&s, "ours", "accepted") == 1);
    assert_int_equal(send_report(&s, s.token, TIMES + 2, two), 202);
    assert_true(ledger(&s, "ours", "accepted") == 2);
    free(one);
    free(two);
}
