/* Requests that can be read in two ways are refused, and the connection is closed after the answer; so nobody in front of the service
 * can be made to read another request than the service does. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/plain.h"

/* What comes back for these bytes, until the connection is closed. */
static int ask_bytes(const server *s, const char *text, size_t size)
{
    int status = 0, fd = server_connect(s);
    server_say(fd, text, size);
    (void)server_hear(fd, answer, sizeof answer, 60000);
    (void)close(fd);
    return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

static int ask_raw(const server *s, const char *text)
{
    return ask_bytes(s, text, strlen(text));
}

#define POST "POST /v1/decide HTTP/1.1\r\nHost: x\r\n"

TEST(what_can_be_read_in_two_ways_is_refused)
{
    static const struct {
        const char *text, *code;
    } requests[] = {
        {POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "header"},
        {POST "Content-Length: 2\r\ncontent-length: 30\r\n\r\n{}", "header"},
        {POST "Transfer-Encoding: gzip\r\n\r\n{}", "encoding"},
        {POST "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "encoding"},
        {POST "Transfer-Encoding: identity\r\n\r\n{}", "encoding"},
        {POST
         "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         "header"},
        {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         "header"},
        {POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         "length"},
        {POST "Transfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "length"},
        {POST "Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}", "header"},
        {"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "header"},
        {"GET /healthz HTTP/1.1\r\n\r\n", "host"},
        {"GET /v1/learners HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer "
         "b\r\n\r\n",
         "header"},
        {POST "Tacit-User: a\r\nTacit-User: b\r\nContent-Length: 2\r\n\r\n{}", "header"},
        {"GET /healthz\x01 HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /v1/billboard?learner=arms%01x HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /v1/billboard?learner=arms%00x HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /v1/billboard?learner=arms&learner=walk HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /v1/billboard?learner=arms&learner=arms HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /healthz?step=1&step=2 HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
    };
    SERVER(s, plain);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char code[32] = "";
        int status = ask_raw(&s, requests[i].text);
        if (status != 400 || !json_field(answer, "code", code, sizeof code) ||
            strcmp(code, requests[i].code) != 0)
            fail_msg("%s\nwas answered %d %s, expected 400 %s", requests[i].text, status, code,
                     requests[i].code);
        if (strstr(answer, "Connection: close") == NULL)
            fail_msg("%s\nleaves the connection open", requests[i].text);
    }
}

#define GET "GET /healthz HTTP/1.1\r\nHost: x\r\n"

/* A part of a head: what is before the first NUL, for libmicrohttpd, or a line. */
TEST(control_characters_in_a_head_are_refused)
{
    static const struct {
        const char *bytes;
        size_t size;
    } heads[] = {
#define HEAD(text) {(text), sizeof(text) - 1}
        HEAD(GET "X: a\0b\r\n\r\n"),
        HEAD(GET "X: a\0\r\n\r\n"),
        HEAD(GET "X: \0\r\nY: b\r\n\r\n"),
        HEAD(GET "X: a\0\r\nY: b\r\n\r\n"),
        HEAD(GET "X: a\0 \r\nY: b\r\n\r\n"),
        HEAD(GET "\0X: a\r\n\r\n"),
        HEAD("GET /healthz HTTP/1.1\r\n\0X: a\r\nHost: x\r\n\r\n"),
        HEAD(GET "X: a\nY: b\r\n\r\n"),
        HEAD(GET "X: a\n\r\n"),
        HEAD(GET "X: a\r\n\n"),
        HEAD("GET /healthz HTTP/1.1\nHost: x\r\n\r\n"),
        HEAD(GET "X: a\rb\r\n\r\n"),
        HEAD(GET "X: a\x01\r\n\r\n"),
        HEAD(GET "X: a\x7f\r\n\r\n"),
        HEAD(GET "X: a\r\n folded\r\n\r\n"),
        HEAD(GET "X: a\r\n\tY: folded\r\n\r\n"),
#undef HEAD
    };
    SERVER(s, plain);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const int status = ask_bytes(&s, heads[i].bytes, heads[i].size);
        if (status != 400 || strstr(answer, "Connection: close") == NULL)
            fail_msg("head %zu was answered %d: %s", i, status, answer);
    }
    /* what is not refused: tabs and spaces around a value, none at all, and other bytes */
    assert_int_equal(
        ask_raw(&s, GET "X:\ta \tb\t\r\nY:\r\nZ: \xc3\xa9\r\nConnection: close\r\n\r\n"), 200);
}

/* A token with something behind a NUL is not the token. */
TEST(a_token_is_the_whole_value)
{
    char head[512];
    SERVER(s, plain);
    for (int i = 0; i < 2; i++) {
        const int n = snprintf(head, sizeof head,
                               "GET /v1/ledger?learner=arms HTTP/1.1\r\nHost: x\r\nConnection: "
                               "close\r\nAuthorization: Bearer %s%sxyz\r\n\r\n",
                               s.token, i == 0 ? "" : "@");
        if (i == 1)
            *strchr(head, '@') = '\0';
        assert_int_equal(ask_bytes(&s, head, (size_t)n), i == 0 ? 401 : 400);
    }
}

/* Two requests in one go, the first of which hides the second from somebody who counts otherwise. */
TEST(nothing_behind_a_refused_request_is_answered)
{
    SERVER(s, plain);
    assert_int_equal(ask_raw(&s, POST "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}"
                                      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                     400);
    assert_null(strstr(answer + 1, "HTTP/1.1"));
    assert_null(strstr(answer, "\"version\""));
}

/* A learner or a step in the query and another one in the body. */
TEST(the_query_and_the_body_say_the_same)
{
    char episode[1024];
    SERVER(s, plain);
    assert_int_equal(
        server_post(&s, "/v1/decide?learner=arms", "{\"learner\":\"arms\",\"state\":0}", answer),
        200);
    assert_error(
        server_post(&s, "/v1/decide?learner=few", "{\"learner\":\"arms\",\"state\":0}", answer),
        422, "out_of_range", "learner");
    assert_int_equal(server_post(&s, "/v1/episodes", "{\"learner\":\"walk\"}", answer), 201);
    assert_true(json_field(answer, "episode", episode, sizeof episode));
    const char *path = fmt("/v1/episodes/%s/decide?step=1", episode);
    assert_int_equal(server_post(&s, path, "{\"state\":0}", answer), 200);
    assert_int_equal(server_post(&s, path, "{\"state\":0,\"step\":1}", answer), 200);
    assert_error(server_post(&s, path, "{\"state\":0,\"step\":2}", answer), 422, "out_of_range",
                 "step");
}

TEST(what_is_only_unusual_is_answered)
{
    SERVER(s, plain);
    /* a path has one spelling: with an escape it is another one */
    static const char *const escaped[] = {"/%68ealthz",     "/%76%31/ledger",   "/healthz%00",
                                          "/%00healthz",    "/healthz%00/more", "/healthz%2500",
                                          "/healthz%0d%0a", "/v1%2fhealthz"};
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++)
        assert_error(server_get(&s, escaped[i], answer), 404, "no_route", "");
    assert_int_equal(server_get(&s, "/v1/billboard?learner=%61rms", answer), 200);
    const char *chunked =
        fmt(POST "Authorization: Bearer %s\r\nTransfer-Encoding: Chunked\r\n"
                 "Connection: close\r\n\r\n1c\r\n{\"learner\":\"arms\",\"state\":0}\r\n0\r\n\r\n",
            s.token);
    assert_int_equal(ask_raw(&s, chunked), 200);
}
