/* Requests that can be read in two ways are refused, and the connection is closed after the answer; so nobody in front of the service
 * can be made to read another request than the service does. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/plain.h"

/* What comes back for these bytes, until the connection is closed. */
static int ask_raw(const server *s, const char *text)
{
    int status = 0, fd = server_connect(s);
    server_say(fd, text, strlen(text));
    (void)server_hear(fd, answer, sizeof answer, 60000);
    (void)close(fd);
    return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
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
        {"GET /healthz%00 HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /%00healthz HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /healthz%00/more HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /healthz%0d%0a HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
        {"GET /healthz%01 HTTP/1.1\r\nHost: x\r\n\r\n", "path"},
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
    assert_int_equal(server_get(&s, "/%68ealthz", answer), 200);
    assert_int_equal(server_get(&s, "/healthz%2500", answer), 404);
    assert_int_equal(server_get(&s, "/v1/billboard?learner=%61rms", answer), 200);
    const char *chunked =
        fmt(POST "Authorization: Bearer %s\r\nTransfer-Encoding: Chunked\r\n"
                 "Connection: close\r\n\r\n1c\r\n{\"learner\":\"arms\",\"state\":0}\r\n0\r\n\r\n",
            s.token);
    assert_int_equal(ask_raw(&s, chunked), 200);
}
