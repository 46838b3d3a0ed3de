/* The service from the outside: the real program, spoken to over HTTP. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/server.h"

#define JOINT "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"
#define LOCAL "{kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}"

static const char plain[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "limits: {body: 4096, header: 8192, timeout: 2}\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100000, agent: " JOINT
    "}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 100, agent: " JOINT "}\n"
    "  - {name: few, space: {states: 1, actions: 2, horizon: 1}, users: 4, agent: " JOINT ",\n"
    "     monitor: {epsilon: 1}}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 2, stationary: yes}, users: 50, "
    "agent: " LOCAL "}\n";

/* A sanitizer's run-time must be the first library, so nothing can be put before it. */
#ifdef TACIT_SANITIZED
static const bool may_preload = false;
#else
static const bool may_preload = true;
#endif

static char answer[SERVER_ANSWER];

static void nap(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

static void begin(server *s, const char *yaml)
{
    server_open(s, TACIT_COMMAND, yaml);
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
}

static void end(server *s)
{
    if (s->pid > 0)
        assert_int_equal(server_stop(s, SIGTERM), 0);
    server_close(s);
}

/* The answer is this error, about this field ("" if about none). */
static void assert_error(int status, int wanted, const char *code, const char *field)
{
    char text[128] = "";
    if (status != wanted)
        fail_msg("status %d, expected %d: %s", status, wanted, answer);
    assert_true(json_field(answer, "code", text, sizeof text));
    assert_string_equal(text, code);
    text[0] = '\0';
    (void)json_field(answer, "field", text, sizeof text);
    assert_string_equal(text, field);
}

static void decide(const server *s, const char *path, const char *body, char decision[1024])
{
    int status = server_post(s, path, body, answer);
    if (status != 200)
        fail_msg("status %d: %s", status, answer);
    assert_true(json_field(answer, "decision", decision, 1024));
}

static int observe(const server *s, const char *decision, const char *rest)
{
    char body[2048];
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\"%s}", decision, rest);
    return server_post(s, "/v1/observe", body, answer);
}

/* The word that an observation was answered with. */
static void assert_observed(const server *s, const char *decision, const char *rest,
                            const char *wanted)
{
    char word[32] = "";
    int status = observe(s, decision, rest);
    if (status != 200)
        fail_msg("status %d: %s", status, answer);
    assert_true(json_field(answer, "status", word, sizeof word));
    assert_string_equal(word, wanted);
}

static void open_episode(const server *s, const char *body, char episode[512])
{
    assert_int_equal(server_post(s, "/v1/episodes", body, answer), 201);
    assert_true(json_field(answer, "episode", episode, 512));
}

static double ledger(const server *s, const char *learner, const char *key)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/ledger?learner=%s", learner);
    assert_int_equal(server_get(s, path, answer), 200);
    return json_number(answer, key);
}

/* --- What it does ------------------------------------------------------------------------------- */

static void episodes_are_opened_decided_observed_and_learned(void **state)
{
    (void)state;
    server s;
    char episode[512], decision[3][1024], path[700], body[2048];
    begin(&s, plain);
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":2}", decision[0]);
    assert_true(json_number(answer, "step") == 0 && json_number(answer, "probability") == 1);
    assert_true(json_number(answer, "action") < 2 && json_number(answer, "version") >= 1);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/observe", episode);
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"next_state\":3}", decision[0]);
    assert_int_equal(server_post(&s, path, body, answer), 200); /* the reward comes later */
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":3}", decision[1]);
    assert_true(json_number(answer, "step") == 1);
    assert_observed(&s, decision[1], ",\"reward\":0.5,\"next_state\":4", "open");
    decide(&s, path, "{\"state\":4}", decision[2]);
    assert_true(json_number(answer, "step") == 2);
    assert_observed(&s, decision[2], ",\"reward\":1,\"next_state\":0", "open");
    assert_error(server_post(&s, path, "{\"state\":4}", answer), 409, "finished", "");
    assert_true(ledger(&s, "walk", "accepted") == 0);
    assert_observed(&s, decision[0], ",\"reward\":0.25", "finished"); /* days later */
    server_wait_users(&s, "walk", 1);
    assert_true(ledger(&s, "walk", "passed") == 1); /* of the first release */
    assert_observed(&s, decision[0], ",\"reward\":0.25",
                    "finished"); /* said again: nothing happens */
    assert_true(ledger(&s, "walk", "accepted") == 1);
    assert_error(server_post(&s, path, "{\"state\":4}", answer), 409, "finished", "");
    end(&s);
}

static void contradictions_are_refused_and_repetitions_are_not(void **state)
{
    (void)state;
    server s;
    char episode[512], first[1024], second[1024], path[700];
    begin(&s, plain);
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":2,\"step\":0}", first);
    assert_observed(&s, first, ",\"reward\":0.5,\"next_state\":3", "open");
    assert_observed(&s, first, ",\"reward\":0.5,\"next_state\":3", "open");
    assert_error(observe(&s, first, ",\"reward\":0.75"), 409, "contradiction", "reward");
    assert_error(observe(&s, first, ",\"next_state\":1"), 409, "contradiction", "next_state");
    decide(&s, path, "{\"state\":1,\"step\":0}", second); /* the same step from elsewhere */
    assert_error(observe(&s, second, ",\"reward\":0.5"), 409, "contradiction", "decision");
    decide(&s, path, "{\"state\":1,\"step\":1}", second); /* but it led to 3 */
    assert_error(observe(&s, second, ",\"reward\":0.5"), 409, "contradiction", "decision");
    decide(&s, path, "{\"state\":3,\"step\":1}", second);
    assert_observed(&s, second, ",\"reward\":0.5", "open");
    /* a decision belongs to its episode */
    char other[512], body[2048];
    open_episode(&s, "{\"learner\":\"walk\"}", other);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/observe", other);
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", second);
    assert_error(server_post(&s, path, body, answer), 422, "out_of_range", "decision");
    end(&s);
}

static void a_user_takes_part_once(void **state)
{
    (void)state;
    server s;
    char decision[1024], again[1024];
    begin(&s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann@example.org\"}",
           decision);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann@example.org\"}",
           again);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_error(observe(&s, again, ",\"reward\":1"), 409, "taken_part", "");
    assert_error(server_post(&s, "/v1/decide",
                             "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann@example.org\"}",
                             answer),
                 409, "taken_part", "user");
    /* in another learner she is somebody else, and so is everybody else in this one */
    decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0,\"user\":\"ann@example.org\"}",
           decision);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"bob@example.org\"}",
           decision);
    assert_true(ledger(&s, "arms", "accepted") == 1);
    end(&s);
}

static void after_the_last_user_it_decides_and_learns_no_more(void **state)
{
    (void)state;
    server s;
    char decision[1024];
    begin(&s, plain);
    for (int i = 0; i < 4; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0}", decision);
        assert_observed(&s, decision, ",\"reward\":0.5", "finished");
    }
    server_wait_users(&s, "few", 4);
    double version = ledger(&s, "few", "version");
    for (int i = 0; i < 3; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0}", decision);
        assert_true(json_number(answer, "version") == version);
        assert_observed(&s, decision, ",\"reward\":0.5", "full");
    }
    assert_true(ledger(&s, "few", "accepted") == 4 && ledger(&s, "few", "left") == 0);
    assert_non_null(strstr(answer, "\"learning\":false"));
    assert_non_null(strstr(answer, "the budget is spent"));
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_users_left{learner=\"few\"} 0\n"));
    assert_non_null(strstr(answer, "tacit_learning{learner=\"few\"} 0\n"));
    assert_non_null(strstr(answer, "tacit_learning{learner=\"arms\"} 1\n"));
    end(&s);
}

static void episodes_that_never_finish_expire_without_harm(void **state)
{
    (void)state;
    server s;
    char yaml[2048], decision[1024], episode[512], path[700];
    (void)snprintf(yaml, sizeof yaml, "expire: 2\n%s", plain);
    begin(&s, yaml);
    open_episode(&s, "{\"learner\":\"walk\",\"user\":\"eve\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":0.5,\"next_state\":1", "open");
    assert_int_equal(
        server_post(&s, "/v1/episodes", "{\"learner\":\"walk\",\"user\":\"eve\"}", answer),
        409); /* she is taking part */
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_episodes_open 1\n"));
    for (int i = 0; i < 1000 && strstr(answer, "tacit_episodes_expired_total 1\n") == NULL; i++) {
        nap(20);
        assert_int_equal(server_get(&s, "/metrics", answer), 200);
    }
    assert_non_null(strstr(answer, "tacit_episodes_open 0\n"));
    assert_error(observe(&s, decision, ",\"reward\":0.5"), 410, "expired", "");
    assert_error(server_post(&s, path, "{\"state\":1}", answer), 410, "expired", "");
    open_episode(&s, "{\"learner\":\"walk\",\"user\":\"eve\"}",
                 episode); /* nothing came of it: she may come */
    assert_true(ledger(&s, "walk", "accepted") == 0);
    char out[512];
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    assert_non_null(strstr(out, " 0 episodes open"));
    end(&s);
}

static void local_reports_are_counted_once(void **state)
{
    (void)state;
    server s;
    begin(&s, plain);
    assert_int_equal(server_ask(&s, "", "GET", "/v1/billboard?learner=ours", NULL, NULL, answer),
                     200); /* public */
    char etag[80], extra[200], out[1024], arguments[512];
    const char *at = strstr(answer, "ETag: ");
    assert_non_null(at);
    (void)snprintf(etag, sizeof etag, "%.*s", (int)strcspn(at + 6, "\r"), at + 6);
    (void)snprintf(extra, sizeof extra, "If-None-Match: %s\r\n", etag);
    assert_int_equal(server_ask(&s, "", "GET", "/v1/billboard?learner=ours", extra, NULL, answer),
                     304);
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", NULL,
                            "{\"learner\":\"ours\",\"report\":\"AAAA\"}", answer),
                 422, "missing", "Idempotency-Key");
    const char *key = "Idempotency-Key: 0123456789abcdef\r\n";
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", key,
                            "{\"learner\":\"ours\",\"report\":\"AAAA\"}", answer),
                 422, "out_of_range", "report");
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", key,
                            "{\"learner\":\"ours\",\"report\":\"not base64!\"}", answer),
                 422, "out_of_range", "report");
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", key,
                            "{\"learner\":\"arms\",\"report\":\"AAAA\"}", answer),
                 409, "not_local", "learner");
    assert_error(server_post(&s, "/v1/episodes", "{\"learner\":\"ours\"}", answer), 409, "local",
                 "learner");
    /* real reports, by the client's library */
    (void)snprintf(arguments, sizeof arguments,
                   "simulate-users %s --token-file token --learner ours --world riverswim "
                   "--set states=3 --set horizon=2 --users 40 --json",
                   s.url);
    char path[300];
    (void)snprintf(path, sizeof path, "%s/token", s.directory);
    FILE *file = fopen(path, "w");
    (void)fprintf(file, "%s\n", s.token);
    (void)fclose(file);
    assert_int_equal(server_tool(&s, arguments, out, sizeof out), 0);
    assert_true(json_number(out, "users") == 40 && json_number(out, "failures") == 0);
    server_wait_users(&s, "ours", 40);
    assert_true(ledger(&s, "ours", "refused") == 0);
    end(&s);
}

static void agents_of_all_families_are_served(void **state)
{
    (void)state;
    static const char families[] = "listen: 127.0.0.1:0\n"
                                   "store: service.db\n"
                                   "learners:\n"
                                   "  - {name: mixed, space: {states: 4, actions: 2, horizon: 3}, "
                                   "users: 100, agent: {kind: linopt-vi,\n"
                                   "     privacy: {model: local, epsilon: 1}}}\n"
                                   "  - {name: linear, space: {states: 4, actions: 2, horizon: 3}, "
                                   "users: 100, agent: {kind: lsvi-ucb,\n"
                                   "     privacy: {model: joint, epsilon: 1}}}\n"
                                   "  - {name: bandit, space: {features: 3, actions: 2, bound: 2}, "
                                   "users: 100, agent: {kind: lin-ucb,\n"
                                   "     privacy: {model: joint, epsilon: 1}}}\n"
                                   "  - {name: own, space: {features: 2, actions: 3, shared: no}, "
                                   "users: 100, agent: {kind: lin-ucb}}\n";
    server s;
    char path[300], arguments[512], out[1024], decision[1024];
    begin(&s, families);
    (void)snprintf(path, sizeof path, "%s/token", s.directory);
    FILE *file = fopen(path, "w");
    (void)fprintf(file, "%s\n", s.token);
    (void)fclose(file);
    static const char *const simulated[] = {"mixed", "linear"};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(arguments, sizeof arguments,
                       "simulate-users %s --token-file token --learner %s --set states=4 --set "
                       "horizon=3 --users 30 --json",
                       s.url, simulated[i]);
        assert_int_equal(server_tool(&s, arguments, out, sizeof out), 0);
        server_wait_users(&s, simulated[i], 30);
        assert_true(ledger(&s, simulated[i], "refused") == 0);
    }
    const char *here = "{\"learner\":\"bandit\",\"context\":[1,0,0,0,1.5,0.5]}";
    for (int i = 0; i < 10; i++) {
        decide(&s, "/v1/decide", here, decision);
        assert_true(json_number(answer, "action") < 2);
        assert_observed(&s, decision, ",\"reward\":1", "finished");
        decide(&s, "/v1/decide", "{\"learner\":\"own\",\"context\":[0.6,-0.8]}", decision);
        assert_true(json_number(answer, "action") < 3);
        assert_observed(&s, decision, ",\"reward\":0", "finished");
    }
    server_wait_users(&s, "bandit", 10);
    server_wait_users(&s, "own", 10);
    assert_error(
        server_post(&s, "/v1/decide", "{\"learner\":\"bandit\",\"context\":[1,0,0,0,1.5]}", answer),
        422, "out_of_range", "context");
    assert_error(server_post(&s, "/v1/decide",
                             "{\"learner\":\"bandit\",\"context\":[1,0,0,0,2,0.5]}", answer),
                 422, "out_of_range", "context"); /* longer than 2 */
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"bandit\",\"state\":0}", answer), 422,
                 "out_of_range", "state");
    /* killed and started again, all of them are where they were */
    double version[4];
    static const char *const names[] = {"mixed", "linear", "bandit", "own"};
    for (int i = 0; i < 4; i++)
        version[i] = ledger(&s, names[i], "version");
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    assert_true(server_start(&s, NULL));
    for (int i = 0; i < 4; i++)
        assert_true(ledger(&s, names[i], "version") == version[i]);
    decide(&s, "/v1/decide", here, decision);
    assert_true(json_number(answer, "version") == version[2]);
    end(&s);
}

/* --- What it refuses ---------------------------------------------------------------------------- */

static void what_is_out_of_range_is_refused_with_its_field(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
        int status;
        const char *code, *field;
    } cases[] = {
        {"/v1/decide", "{\"learner\":\"arms\"}", 422, "missing", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":3}", 422, "out_of_range", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":-1}", 422, "out_of_range", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":0.5}", 422, "out_of_range", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":\"0\"}", 422, "out_of_range", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":[0]}", 422, "out_of_range", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":1e300}", 422, "out_of_range", "state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"context\":[1,2]}", 422, "out_of_range", "context"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":7}", 422, "out_of_range",
         "user"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"\"}", 422, "out_of_range",
         "user"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"what\":1}", 422, "unknown_field", ""},
        {"/v1/decide", "{\"learner\":\"walk\",\"state\":0}", 409, "episodes", "learner"},
        {"/v1/decide", "{\"learner\":\"nobody\",\"state\":0}", 404, "no_learner", "learner"},
        {"/v1/decide", "{\"state\":0}", 404, "no_learner", "learner"},
        {"/v1/observe", "{}", 422, "missing", "decision"},
        {"/v1/observe", "{\"decision\":\"abc\",\"reward\":1}", 422, "out_of_range", "decision"},
        {"/v1/observe", "{\"decision\":5,\"reward\":1}", 422, "out_of_range", "decision"},
        {"/v1/episodes/xyz/decide", "{\"state\":0}", 404, "no_episode", ""},
        {"/v1/decide", "", 404, "no_learner", "learner"},
        {"/v1/decide", "[1]", 400, "not_an_object", ""},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":0", 400, "not_json", ""},
        {"/v1/decide", "{\"state\":0,\"state\":1}", 400, "not_json", ""},
        {"/v1/decide", "{\"state\":NaN}", 400, "not_json", ""},
        {"/v1/decide", "{\"user\":\"\xff\"}", 400, "not_json", ""},
        {"/v1/decide", "[[[[[[[[[[[[1]]]]]]]]]]]]", 400, "not_json", ""},
        {"/v1/nowhere", "{}", 404, "no_route", ""},
        {"/v1/billboard", "{}", 405, "method", ""},
    };
    server s;
    char decision[1024];
    begin(&s, plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_error(server_post(&s, cases[i].path, cases[i].body, answer), cases[i].status,
                     cases[i].code, cases[i].field);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_error(observe(&s, decision, ""), 422, "missing", "reward");
    assert_error(observe(&s, decision, ",\"reward\":1.5"), 422, "out_of_range", "reward");
    assert_error(observe(&s, decision, ",\"reward\":-0.1"), 422, "out_of_range", "reward");
    assert_error(observe(&s, decision, ",\"reward\":\"1\""), 422, "out_of_range", "reward");
    assert_error(observe(&s, decision, ",\"reward\":1,\"next_state\":9"), 422, "out_of_range",
                 "next_state");
    decision[20] = decision[20] == 'A' ? 'B' : 'A';
    assert_error(observe(&s, decision, ",\"reward\":1"), 422, "out_of_range", "decision");
    assert_true(ledger(&s, "arms", "accepted") == 0); /* nothing has changed */
    end(&s);
}

static void large_and_strange_requests_do_no_harm(void **state)
{
    (void)state;
    server s;
    begin(&s, plain);
    char *large = malloc(100000);
    memset(large, ' ', 99999);
    large[99999] = '\0';
    assert_error(server_post(&s, "/v1/decide", large, answer), 413, "too_large", "");
    /* chunks that never end */
    int fd = server_connect(&s);
    char text[512];
    int n = snprintf(text, sizeof text,
                     "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n",
                     s.token);
    server_say(fd, text, (size_t)n);
    for (int i = 0; i < 50; i++) {
        server_say(fd, "400\r\n", 5);
        server_say(fd, large, 1024);
        server_say(fd, "\r\n", 2);
    }
    (void)server_hear(fd, answer, sizeof answer, 3000);
    (void)close(fd);
    /* headers that do not fit */
    memset(large, 'a', 99999);
    fd = server_connect(&s);
    server_say(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ", 39);
    server_say(fd, large, 60000);
    server_say(fd, "\r\n\r\n", 4);
    (void)server_hear(fd, answer, sizeof answer, 3000);
    assert_null(strstr(answer, " 200 "));
    (void)close(fd);
    /* no Host: an answer, and one */
    fd = server_connect(&s);
    n = snprintf(text, sizeof text,
                 "POST /v1/decide HTTP/1.1\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n"
                 "Connection: close\r\n\r\n{}",
                 s.token);
    server_say(fd, text, (size_t)n);
    (void)server_hear(fd, answer, sizeof answer, 3000);
    (void)close(fd);
    assert_int_equal(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
    assert_error(400, 400, "host", "");
    assert_null(strstr(answer + 1, "HTTP/1.1 400"));
    /* not HTTP at all */
    fd = server_connect(&s);
    server_say(fd, large, 50000);
    (void)server_hear(fd, answer, sizeof answer, 3000);
    (void)close(fd);
    free(large);
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    end(&s);
}

static void slow_and_half_closed_clients_do_not_block_others(void **state)
{
    (void)state;
    server s;
    char text[512];
    int slow[20];
    begin(&s, plain);
    int n = snprintf(text, sizeof text,
                     "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                     "Content-Length: 30\r\n\r\n{\"learner\":",
                     s.token);
    for (int i = 0; i < 20; i++) {
        slow[i] = server_connect(&s);
        server_say(slow[i], text, i % 2 == 0 ? (size_t)n : 10);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(
            server_post(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", answer), 200);
    /* half closed: the request is whole, and the answer comes */
    int fd = server_connect(&s);
    n = snprintf(text, sizeof text,
                 "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                 "Content-Length: 28\r\n\r\n{\"learner\":\"arms\",\"state\":0}",
                 s.token);
    server_say(fd, text, (size_t)n);
    (void)shutdown(fd, SHUT_WR);
    (void)server_hear(fd, answer, sizeof answer, 3000);
    (void)close(fd);
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    for (int i = 0; i < 20; i++) { /* the slow ones are sent away after the time limit */
        (void)server_hear(slow[i], answer, sizeof answer, 8000);
        (void)close(slow[i]);
    }
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    end(&s);
}

static void tokens_open_what_their_scopes_say(void **state)
{
    (void)state;
    server s;
    char decider[128], observer[128], reader[128], out[2048];
    begin(&s, plain);
    server_token(&s, "decider", "decide", decider);
    server_token(&s, "observer", "observe", observer);
    server_token(&s, "reader", "read", reader);
    const char *body = "{\"learner\":\"arms\",\"state\":0}";
    /* the service does not know them yet */
    assert_error(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer), 401, "token",
                 "");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    for (int i = 0;
         i < 500 && server_ask(&s, reader, "GET", "/v1/learners", NULL, NULL, answer) != 200; i++)
        nap(10);
    assert_int_equal(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer), 200);
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
    for (int i = 0;
         i < 500 && server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer) == 200; i++)
        nap(10);
    assert_error(server_ask(&s, decider, "POST", "/v1/decide", NULL, body, answer), 401, "token",
                 "");
    assert_int_equal(server_tool(&s, "token list service.yaml", out, sizeof out), 0);
    assert_non_null(strstr(out, "revoked"));
    assert_null(strstr(out, decider));
    assert_int_equal(server_tool(&s, "token create service.yaml --name decider --scopes decide",
                                 out, sizeof out),
                     2); /* a name is used once */
    end(&s);
}

static void a_token_that_asks_too_often_is_told_to_wait(void **state)
{
    (void)state;
    server s;
    char yaml[2048];
    (void)snprintf(yaml, sizeof yaml, "%s", plain);
    char *at = strstr(yaml, "timeout: 2");
    memcpy(at, "rate: 5   ", 10);
    begin(&s, yaml);
    int refused = 0;
    for (int i = 0; i < 30; i++)
        if (server_get(&s, "/v1/learners", answer) == 429) {
            assert_non_null(strstr(answer, "Retry-After: "));
            refused++;
        }
    assert_true(refused >= 10);
    nap(1100);
    assert_int_equal(server_get(&s, "/v1/learners", answer), 200);
    end(&s);
}

/* --- What it keeps to itself -------------------------------------------------------------------- */

static bool file_has(const char *directory, const char *what)
{
    char command[512];
    (void)snprintf(command, sizeof command, "grep -rqaF -- '%s' '%s'", what, directory);
    return system(command) == 0;
}

static void planted_values_are_found_nowhere(void **state)
{
    (void)state;
    server s;
    char decision[1024], episode[512], path[700];
    begin(&s, plain);
    static const char *const planted[] = {"zanzibar-person-4711", "0.123456789", "zanzibar-field"};
    open_episode(&s, "{\"learner\":\"walk\",\"user\":\"zanzibar-person-4711\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":2}", decision);
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
    end(&s);
}

/* --- Stores in trouble -------------------------------------------------------------------------- */

static void a_second_server_on_the_store_refuses(void **state)
{
    (void)state;
    server s;
    begin(&s, plain);
    server other = s;
    other.pid = 0;
    int code = 0;
    assert_false(server_start(&other, &code));
    assert_int_equal(code, 3);
    assert_true(file_has(s.directory, "another server is running"));
    end(&s);
}

static void a_store_of_another_key_or_with_damage_is_refused(void **state)
{
    (void)state;
    server s;
    char path[300], kept[300], command[800], out[512];
    int code = 0;
    begin(&s, plain);
    char decision[1024];
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    (void)snprintf(path, sizeof path, "%s/service.db.key", s.directory);
    (void)snprintf(kept, sizeof kept, "%s/kept", s.directory);
    assert_int_equal(rename(path, kept), 0);
    assert_false(server_start(&s, &code)); /* a store without its key */
    assert_int_equal(code, 2);
    (void)snprintf(command, sizeof command, "umask 077; head -c 32 /dev/zero > '%s'", path);
    assert_int_equal(system(command), 0);
    assert_false(server_start(&s, &code)); /* with another */
    assert_int_equal(code, 2);
    assert_int_equal(rename(kept, path), 0);
    (void)snprintf(command, sizeof command, "chmod 644 '%s'", path);
    assert_int_equal(system(command), 0);
    assert_false(server_start(&s, &code)); /* with one that others may read */
    assert_int_equal(code, 2);
    (void)snprintf(command, sizeof command, "chmod 600 '%s'", path);
    assert_int_equal(system(command), 0);
    /* a damaged page */
    (void)snprintf(command, sizeof command,
                   "dd if=/dev/urandom of='%s' bs=4096 seek=1 count=8 conv=notrunc 2>/dev/null",
                   s.store);
    assert_int_equal(system(command), 0);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 1);
    assert_false(server_start(&s, &code));
    assert_true(code == 2 || code == 3);
    /* not a database */
    (void)snprintf(command, sizeof command, "echo nonsense > '%s'", s.store);
    assert_int_equal(system(command), 0);
    assert_false(server_start(&s, &code));
    assert_true(code == 2 || code == 3);
    end(&s);
}

static void changed_settings_need_another_name(void **state)
{
    (void)state;
    server s;
    int code = 0;
    char yaml[2048];
    begin(&s, plain);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    (void)snprintf(yaml, sizeof yaml, "%s", plain);
    char *at = strstr(yaml, "epsilon: 1");
    at[9] = '9';
    server_rewrite(&s, yaml);
    assert_false(server_start(&s, &code));
    assert_int_equal(code, 2);
    assert_true(file_has(s.directory, "give a changed learner another name"));
    end(&s);
}

static void a_full_disk_acknowledges_nothing_and_recovers(void **state)
{
    (void)state;
    if (!may_preload)
        skip();
    server s;
    char decision[1024], preload[600], flag[300], flag_env[400];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", TACIT_FAULT_IO);
    (void)snprintf(flag, sizeof flag, "%s/full", s.directory);
    (void)snprintf(flag_env, sizeof flag_env, "TACIT_FAULT_FULL_FLAG=%s", flag);
    s.environment[s.n_environment++] = preload;
    s.environment[s.n_environment++] = flag_env;
    s.environment[s.n_environment++] = "TACIT_FAULT_PATH=/service.db";
    assert_true(server_start(&s, NULL));
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    FILE *file = fopen(flag, "w");
    (void)fclose(file);
    assert_error(observe(&s, decision, ",\"reward\":1"), 503, "store", "");
    assert_int_equal(server_get(&s, "/healthz", answer), 503);
    char again[1024];
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", again); /* it goes on deciding */
    assert_int_equal(unlink(flag), 0);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    server_wait_users(&s, "arms", 1);
    assert_true(ledger(&s, "arms", "accepted") == 1);
    end(&s);
}

static void a_read_only_store_is_refused(void **state)
{
    (void)state;
    server s;
    int code = 0;
    char command[1000];
    begin(&s, plain);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    if (geteuid() == 0) /* nothing is read-only for root */
        s.user = 65534;
    (void)snprintf(command, sizeof command, "chown -R %d '%s'; chmod 400 '%s'; chmod 500 '%s'",
                   geteuid() == 0 ? 65534 : (int)geteuid(), s.directory, s.store, s.directory);
    assert_int_equal(system(command), 0);
    assert_false(server_start(&s, &code));
    (void)snprintf(command, sizeof command, "chmod 700 '%s'", s.directory);
    assert_int_equal(system(command), 0);
    end(&s);
    if (code == 127 && geteuid() == 0)
        skip(); /* the program lies in a directory that only root may enter */
    assert_int_equal(code, 3);
}

static void a_clock_that_goes_backwards_harms_nobody(void **state)
{
    (void)state;
    if (!may_preload)
        skip();
    server s;
    char decision[1024], later[1024], preload[600], clock[300], clock_env[400], command[500];
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", TACIT_FAULT_IO);
    (void)snprintf(clock, sizeof clock, "%s/clock", s.directory);
    (void)snprintf(clock_env, sizeof clock_env, "TACIT_FAULT_CLOCK=%s", clock);
    s.environment[s.n_environment++] = preload;
    s.environment[s.n_environment++] = clock_env;
    assert_true(server_start(&s, NULL));
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    (void)snprintf(command, sizeof command, "echo -100000000 > '%s'", clock);
    assert_int_equal(system(command), 0);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", later);
    assert_observed(&s, decision, ",\"reward\":1", "finished"); /* from the future */
    assert_observed(&s, later, ",\"reward\":1", "finished");
    assert_int_equal(unlink(clock), 0);
    assert_error(observe(&s, later, ",\"reward\":0.5"), 410, "expired", "");
    server_wait_users(&s, "arms", 2);
    end(&s);
}

static void a_copy_decides_but_does_not_learn(void **state)
{
    (void)state;
    server s;
    char decision[1024], out[512], path[300], body[64];
    begin(&s, plain);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(body, sizeof body, "{\"learner\":\"arms\",\"state\":%d}", i % 3);
        decide(&s, "/v1/decide", body, decision);
        assert_observed(&s, decision, ",\"reward\":1", "finished");
    }
    server_wait_users(&s, "arms", 5);
    assert_int_equal(server_tool(&s, "store backup service.yaml copy.db", out, sizeof out), 0);
    assert_int_equal(server_tool(&s, "store backup service.yaml copy.db", out, sizeof out), 2);
    assert_int_equal(server_tool(&s, "store export service.yaml", out, sizeof out), 0);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    (void)snprintf(path, sizeof path, "%s/copy.db", s.directory);
    assert_int_equal(rename(path, s.store), 0);
    assert_true(server_start(&s, NULL));
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "full");
    assert_true(ledger(&s, "arms", "users") == 5);
    assert_non_null(strstr(answer, "the store is a copy"));
    end(&s);
}

/* --- TLS ---------------------------------------------------------------------------------------- */

static void make_certificate(const server *s, const char *name)
{
    char command[800];
    (void)snprintf(command, sizeof command,
                   "cd '%s' && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=%s "
                   "-keyout key.pem -out cert.pem 2>/dev/null",
                   s->directory, name);
    assert_int_equal(system(command), 0);
}

/* The name on the certificate that the server shows, and what /healthz answers over TLS. */
static void look_at(const server *s, char *name, size_t size, char *health, size_t health_size)
{
    char command[512];
    (void)snprintf(
        command, sizeof command,
        "printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' | "
        "timeout 10 openssl s_client -ign_eof -connect 127.0.0.1:%u 2>&1",
        s->port);
    FILE *pipe = popen(command, "r");
    static char text[SERVER_ANSWER];
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    (void)pclose(pipe);
    const char *at = strstr(text, "CN = "), *body = strstr(text, "HTTP/1.1 ");
    (void)snprintf(name, size, "%.*s", at != NULL ? (int)strcspn(at + 5, "\n") : 0,
                   at != NULL ? at + 5 : "");
    (void)snprintf(health, health_size, "%.*s", body != NULL ? 12 : 0, body != NULL ? body : "");
}

static void wait_for(const server *s, const char *text)
{
    for (int i = 0; i < 500 && !file_has(s->directory, text); i++)
        nap(10);
    assert_true(file_has(s->directory, text));
}

static void tls_speaks_with_its_certificate_and_takes_a_new_one(void **state)
{
    (void)state;
    if (system("command -v openssl >/dev/null") != 0)
        skip();
    server s;
    char yaml[2048], name[64], health[32];
    (void)snprintf(yaml, sizeof yaml, "tls: {certificate: cert.pem, key: key.pem}\n%s", plain);
    server_open(&s, TACIT_COMMAND, yaml);
    int code = 0;
    assert_false(server_start(&s, &code)); /* there is none yet */
    assert_int_equal(code, 2);
    make_certificate(&s, "first");
    assert_true(server_start(&s, NULL));
    assert_true(strncmp(s.url, "https://", 8) == 0);
    look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "first");
    assert_string_equal(health, "HTTP/1.1 200");
    assert_int_not_equal(server_ask(&s, "", "GET", "/healthz", NULL, NULL, answer),
                         200); /* not in the clear */
    make_certificate(&s, "second");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    for (int i = 0; i < 100 && strcmp(name, "second") != 0; i++)
        look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "second");
    assert_string_equal(health, "HTTP/1.1 200");
    /* one that does not work is not taken */
    char command[400];
    (void)snprintf(command, sizeof command, "cd '%s' && echo nonsense >cert.pem", s.directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_for(&s, "no certificate in PEM format");
    look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "second");
    assert_string_equal(health, "HTTP/1.1 200");
    /* neither is the key of another */
    make_certificate(&s, "third");
    (void)snprintf(command, sizeof command,
                   "cd '%s' && openssl genrsa -out key.pem 2048 2>/dev/null", s.directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_for(&s, "do not belong together");
    look_at(&s, name, sizeof name, health, sizeof health);
    assert_string_equal(name, "second");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_false(server_start(&s, &code)); /* nor to begin with */
    assert_int_equal(code, 2);
    end(&s);
}

/* How often a text stands in DIRECTORY/talk. */
static int heard(const server *s, const char *wanted)
{
    char path[300];
    static char text[SERVER_ANSWER];
    (void)snprintf(path, sizeof path, "%s/talk", s->directory);
    FILE *file = fopen(path, "r");
    size_t n = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    int times = 0;
    text[n] = '\0';
    if (file != NULL)
        (void)fclose(file);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        times++;
    return times;
}

static void a_new_certificate_closes_no_connection(void **state)
{
    (void)state;
    if (system("command -v openssl >/dev/null") != 0)
        skip();
    static const char yaml[] =
        "listen: 127.0.0.1:0\n"
        "store: service.db\n"
        "limits: {timeout: 60}\n"
        "tls: {certificate: cert.pem, key: key.pem}\n"
        "learners: [{name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100, agent: "
        "{kind: ucbvi}}]\n";
    server s;
    char command[1400], name[64] = "", health[32];
    server_open(&s, TACIT_COMMAND, yaml);
    make_certificate(&s, "first");
    assert_true(server_start(&s, NULL));
    /* one connection: a request, then another when we say so */
    (void)snprintf(
        command, sizeof command,
        "cd '%s' && { printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; "
        "for i in $(seq 600); do [ ! -e go ] || break; sleep 0.05; done; "
        "printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'; } | "
        "timeout 60 openssl s_client -ign_eof -connect 127.0.0.1:%u >talk 2>&1 &",
        s.directory, s.port);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 500 && heard(&s, "HTTP/1.1 200") < 1; i++)
        nap(20);
    assert_int_equal(heard(&s, "HTTP/1.1 200"), 1);
    assert_true(heard(&s, "CN = first") > 0);
    for (int round = 0; round < 3; round++) { /* several, the last of them "new2" */
        char wanted[16];
        (void)snprintf(wanted, sizeof wanted, "new%d", round);
        make_certificate(&s, wanted);
        assert_int_equal(kill(s.pid, SIGHUP), 0);
        for (int i = 0; i < 100 && strcmp(name, wanted) != 0; i++)
            look_at(&s, name, sizeof name, health, sizeof health);
        assert_string_equal(name, wanted);
        assert_string_equal(health, "HTTP/1.1 200");
    }
    (void)snprintf(command, sizeof command, "touch '%s/go'", s.directory);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 500 && heard(&s, "HTTP/1.1 200") < 2; i++)
        nap(20);
    assert_int_equal(heard(&s, "HTTP/1.1 200"), 2); /* on the connection of the first certificate */
    assert_int_equal(heard(&s, "CN = new"), 0);
    end(&s);
}

/* --- Under load --------------------------------------------------------------------------------- */

typedef struct crowd {
    const server *s;
    const char *learner;
    int acknowledged;
} crowd;

static void *come(void *context)
{
    crowd *c = context;
    static _Thread_local char heard[SERVER_ANSWER];
    char body[2048], decision[1024];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(body, sizeof body, "{\"learner\":\"%s\",\"state\":0}", c->learner);
        if (server_post(c->s, "/v1/decide", body, heard) != 200 ||
            !json_field(heard, "decision", decision, sizeof decision))
            break;
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", decision);
        if (server_post(c->s, "/v1/observe", body, heard) != 200)
            break;
        c->acknowledged++;
    }
    return NULL;
}

static void sigterm_under_load_loses_nothing(void **state)
{
    (void)state;
    enum { CROWD = 6 };
    server s;
    pthread_t threads[CROWD];
    crowd crowds[CROWD];
    begin(&s, plain);
    for (int i = 0; i < CROWD; i++) {
        crowds[i] = (crowd){.s = &s, .learner = "arms"};
        assert_int_equal(pthread_create(&threads[i], NULL, come, &crowds[i]), 0);
    }
    nap(400);
    pid_t pid = s.pid;
    assert_int_equal(server_stop(&s, SIGTERM), 0); /* exit status 0 */
    assert_true(pid > 0);
    int acknowledged = 0;
    for (int i = 0; i < CROWD; i++) {
        (void)pthread_join(threads[i], NULL);
        acknowledged += crowds[i].acknowledged;
    }
    assert_true(server_start(&s, NULL));
    assert_true(acknowledged > 0);
    server_wait_users(&s, "arms", (unsigned long)acknowledged);
    double accepted = ledger(&s, "arms", "accepted"); /* an answer may have been lost on its way */
    assert_within(accepted, acknowledged, acknowledged + CROWD);
    end(&s);
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_are_opened_decided_observed_and_learned),
        cmocka_unit_test(contradictions_are_refused_and_repetitions_are_not),
        cmocka_unit_test(a_user_takes_part_once),
        cmocka_unit_test(after_the_last_user_it_decides_and_learns_no_more),
        cmocka_unit_test(episodes_that_never_finish_expire_without_harm),
        cmocka_unit_test(local_reports_are_counted_once),
        cmocka_unit_test(agents_of_all_families_are_served),
        cmocka_unit_test(what_is_out_of_range_is_refused_with_its_field),
        cmocka_unit_test(large_and_strange_requests_do_no_harm),
        cmocka_unit_test(slow_and_half_closed_clients_do_not_block_others),
        cmocka_unit_test(tokens_open_what_their_scopes_say),
        cmocka_unit_test(a_token_that_asks_too_often_is_told_to_wait),
        cmocka_unit_test(planted_values_are_found_nowhere),
        cmocka_unit_test(a_second_server_on_the_store_refuses),
        cmocka_unit_test(a_store_of_another_key_or_with_damage_is_refused),
        cmocka_unit_test(changed_settings_need_another_name),
        cmocka_unit_test(a_full_disk_acknowledges_nothing_and_recovers),
        cmocka_unit_test(a_read_only_store_is_refused),
        cmocka_unit_test(a_clock_that_goes_backwards_harms_nobody),
        cmocka_unit_test(a_copy_decides_but_does_not_learn),
        cmocka_unit_test(tls_speaks_with_its_certificate_and_takes_a_new_one),
        cmocka_unit_test(a_new_certificate_closes_no_connection),
        cmocka_unit_test(sigterm_under_load_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
