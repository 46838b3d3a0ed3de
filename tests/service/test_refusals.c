/* Requests that are wrong: not JSON, of other types, out of bounds, too large, or not HTTP. Each is refused with a reason, and changes
 * nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/plain.h"

TEST(what_is_out_of_range_is_refused_with_its_field)
{
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
        {"/v1/decide", "1", 400, "not_an_object", ""},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":0", 400, "not_json", ""},
        {"/v1/decide", "{\"state\":0,\"state\":1}", 400, "not_json", ""},
        {"/v1/decide", "{\"state\":NaN}", 400, "not_json", ""},
        {"/v1/decide", "{\"user\":\"\xff\"}", 400, "not_json", ""},
        {"/v1/decide", "[[[[[[[[[[[[1]]]]]]]]]]]]", 400, "not_json", ""},
        {"/v1/nowhere", "{}", 404, "no_route", ""},
        {"/v1/billboard", "{}", 405, "method", ""},
    };
    char decision[1024];
    SERVER(s, plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_error(server_post(&s, cases[i].path, cases[i].body, answer), cases[i].status,
                     cases[i].code, cases[i].field);
    assert_error(server_get(&s, "/v1/decide", answer), 405, "method", "");
    assert_non_null(strstr(answer, "Allow: POST\r\n"));
    assert_error(server_post(&s, "/metrics", "{}", answer), 405, "method", "");
    assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
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
}

/* Who reads an error should know what to do, without looking it up. */
TEST(errors_say_what_would_be_right)
{
    static const struct {
        const char *path, *body, *words;
    } cases[] = {
        {"/v1/decide", "{\"learner\":\"nobody\",\"state\":0}",
         "there is no such learner; there are: arms, walk, few, ours"},
        {"/v1/decide", "{\"state\":0}", "must name one; there are: arms, walk, few, ours"},
        {"/v1/decide", "", "the body is empty, and there are several learners"},
        {"/v1/decide?learner=arms", "", "state is missing: the body is empty"},
        {"/v1/observe", "", "decision is missing: the body is empty"},
        {"/v1/observe", "[{}]", "\"decision is missing\""},
        {"/v1/decide", "{\"learner\":7,\"state\":0}",
         "learner must be a string of 1 to 64 bytes, not a number"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":\"0\"}",
         "state must be a whole number from 0 to 2, not text"},
        {"/v1/decide", "{\"learner\":\"arms\",\"what\":7}", "an unknown field; the fields are: "},
        {"/v1/decide", "{\"learner\":\"arms\",\"context\":[1]}", "send state"},
        {"/v1/decide", "{\"learner\":\"arms\",\"state\":7}", "from 0 to 2"},
        {"/v1/decide", "{\"learner\":\"arms\",\"what\":7}", "learner, user, state, context"},
        {"/v1/decide", "{\"learner\":\"walk\",\"state\":0}", "POST /v1/episodes"},
        {"/v1/decide", "[[]]", "an element of a batch must be a JSON object"},
        {"/v1/episodes/xyz/decide", "{\"state\":0}", "POST /v1/episodes returned"},
        {"/v1/observe", "{\"decision\":\"abc\",\"reward\":1}",
         "must be an id that decide returned"},
        {"/v1/billboard", "{}", "GET, HEAD"},
        {"/v1/nowhere", "{}", "tacit serve --reference"},
    };
    char decision[1024];
    SERVER(s, plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)server_post(&s, cases[i].path, cases[i].body, answer);
        if (strstr(answer, cases[i].words) == NULL)
            fail_msg("%s: '%s' is not in %s", cases[i].body, cases[i].words, answer);
    }
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_error(observe(&s, decision, ""), 422, "missing", "reward");
    assert_null(strstr(answer, "next_state")); /* of one step, which leads nowhere */
    assert_int_equal(observe(&s, decision, ",\"reward\":1"), 200);
    assert_error(observe(&s, decision, ",\"reward\":0"), 409, "contradiction", "reward");
    assert_non_null(strstr(answer, "the first one counts"));
    assert_int_equal(server_ask(&s, "", "POST", "/v1/decide", "", "{}", answer), 401);
    assert_non_null(strstr(answer, "Authorization: Bearer"));
}

/* The names of learners are for those who may read them. */
TEST(only_readers_are_told_the_learners)
{
    char decides[128], bound[128];
    SERVER(s, plain);
    server_token(&s, "decides", "decide", decides);
    assert_int_equal(server_tool(&s,
                                 "token create service.yaml --name bound --scopes "
                                 "read,decide --learner few",
                                 answer, sizeof answer),
                     0);
    assert_true(sscanf(answer, "%127s", bound) == 1);
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    const char *body = "{\"learner\":\"nobody\",\"state\":0}";
    await(server_ask(&s, decides, "POST", "/v1/decide", NULL, body, answer) == 404);
    assert_non_null(strstr(answer, "GET /v1/learners lists them"));
    assert_null(strstr(answer, "arms"));
    await(server_ask(&s, bound, "POST", "/v1/decide", NULL, body, answer) == 404);
    assert_non_null(strstr(answer, "there are: few\""));
    assert_int_equal(server_ask(&s, "", "GET", "/v1/billboard?learner=no", NULL, NULL, answer),
                     404);
    assert_null(strstr(answer, "arms"));
}

TEST(large_and_strange_requests_do_no_harm)
{
    SERVER(s, plain);
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
    (void)server_hear(fd, answer, sizeof answer, 60000); /* it closes */
    (void)close(fd);
    assert_int_equal(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
    assert_error(400, 400, "host", "");
    assert_null(strstr(answer + 1, "HTTP/1.1 400"));
    /* two lengths */
    fd = server_connect(&s);
    n = snprintf(text, sizeof text,
                 "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                 "Content-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                 "0\r\n\r\n",
                 s.token);
    server_say(fd, text, (size_t)n);
    (void)server_hear(fd, answer, sizeof answer, 60000);
    (void)close(fd);
    assert_int_equal(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
    assert_error(400, 400, "length", "");
    /* not HTTP at all */
    fd = server_connect(&s);
    server_say(fd, large, 50000);
    (void)server_hear(fd, answer, sizeof answer, 3000);
    (void)close(fd);
    free(large);
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
}
