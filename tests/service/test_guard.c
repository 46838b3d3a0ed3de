/* Who may ask, how often and how slowly, and what nobody learns from answers, logs and files. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/plain.h"

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

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_and_half_closed_clients_do_not_block_others),
        cmocka_unit_test(tokens_open_what_their_scopes_say),
        cmocka_unit_test(a_token_that_asks_too_often_is_told_to_wait),
        cmocka_unit_test(planted_values_are_found_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
