/* Requests grown from a recipe: every byte of it chooses one of a few ways to go on. Most ways are sound, so that what is broken is broken
 * in one place and the rest of it is understood. A recipe that is at its end chooses 0, the soundest way. */
#ifndef TACIT_FUZZ_HTTP_GRAMMAR_H
#define TACIT_FUZZ_HTTP_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct http_recipe {
    const uint8_t *at;
    size_t left;
    char *out;
    size_t size, room;
} http_recipe;

static inline size_t http_choose(http_recipe *r, size_t n)
{
    if (r->left == 0)
        return 0;
    r->left--;
    return *r->at++ % n;
}

static inline void http_add(http_recipe *r, const char *text, size_t n)
{
    if (n > r->room - r->size)
        n = r->room - r->size;
    memcpy(r->out + r->size, text, n);
    r->size += n;
}

static inline void http_put(http_recipe *r, const char *text)
{
    http_add(r, text, strlen(text));
}

#define HTTP_PICK(r, list) ((list)[http_choose(r, sizeof(list) / sizeof *(list))])

static inline void http_repeat(http_recipe *r, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        http_put(r, text);
}

static inline void http_target(http_recipe *r)
{
    static const char *const targets[] = {"/v1/decide",
                                          "/v1/observe",
                                          "/v1/episodes",
                                          "/v1/episodes/@E/decide",
                                          "/v1/episodes/@E/observe",
                                          "/v1/reports",
                                          "/v1/billboard?learner=ours",
                                          "/v1/billboard?learner=%00ours",
                                          "/v1/billboard?learner=@S",
                                          "/v1/billboard?learner",
                                          "/v1/billboard?learner=arms&learner=ours",
                                          "/v1/ledger?learner=walk",
                                          "/v1/guarantee?learner=arms",
                                          "/v1/history?learner=arms",
                                          "/v1/learners",
                                          "/metrics",
                                          "/healthz",
                                          "/readyz",
                                          "/",
                                          "/v1/episodes//decide",
                                          "/v1/episodes/%2e%2e/decide",
                                          "/v1/episodes/@E%00/decide",
                                          "/v1/episodes/@S/decide",
                                          "http://x/v1/learners",
                                          "//v1/learners",
                                          "/../../etc/passwd",
                                          "*",
                                          "",
                                          "/%",
                                          "/%zz?%=%&&=",
                                          "/healthz?",
                                          "/v1/decide?learner=lin",
                                          "/v1/episodes/@E/decide?step=1"};
    http_put(r, HTTP_PICK(r, targets));
    if (http_choose(r, 16) == 15)
        http_repeat(r, "a/@S", http_choose(r, 256) * 32);
}

static inline void http_headers(http_recipe *r)
{
    static const char *const lines[] = {"Host: x\r\n",
                                        "Authorization: Bearer @T\r\n",
                                        "Idempotency-Key: 0123456789abcdef\r\n",
                                        "Idempotency-Key: @S@S@S@S\r\n",
                                        "Connection: keep-alive\r\n",
                                        "Connection: close\r\n",
                                        "Expect: 100-continue\r\n",
                                        "Expect: @S\r\n",
                                        "If-None-Match: \"1\"\r\n",
                                        "If-None-Match: *\r\n",
                                        "Authorization: bearer @T\r\n",
                                        "Authorization: Bearer tacit_wrong\r\n",
                                        "Authorization: Basic QFM6QFM=\r\n",
                                        "Authorization:\r\n",
                                        "Cookie: a=@S; b=\"; c=,;;=\r\n",
                                        "Content-Type: application/x-www-form-urlencoded\r\n",
                                        "X: \xff\xfe@S\r\n",
                                        " folded: @S\r\n",
                                        "\tfolded\r\n",
                                        "No-Colon\r\n",
                                        ": no name\r\n",
                                        "Space : x\r\n",
                                        "Bare: a\nLine: b\n",
                                        "Return: a\rb\r\n",
                                        "Host: y\r\nHost: z\r\n",
                                        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n",
                                        "Range: bytes=0-18446744073709551616\r\n",
                                        "Trailer: X\r\nTE: trailers\r\n",
                                        "Content-Type: application/octet-stream\r\n",
                                        "Tacit-User: @S\r\n",
                                        "Tacit-User:\r\n"};
    static const char nul[] = "Nul: a\0b\r\n";
    http_put(r, http_choose(r, 16) == 15 ? "" : "Host: x\r\n");
    http_put(r, http_choose(r, 8) == 7 ? "" : "Authorization: Bearer @T\r\n");
    for (size_t n = http_choose(r, 5); n > 0; n--)
        http_put(r, HTTP_PICK(r, lines));
    size_t odd = http_choose(r, 32);
    if (odd == 29)
        http_add(r, nul, sizeof nul - 1);
    if (odd == 30)
        http_repeat(r, "X-Flood: @S\r\n", http_choose(r, 256) * 8);
    if (odd == 31) {
        http_put(r, "X-Long: ");
        http_repeat(r, "@S", http_choose(r, 256) * 32);
        http_put(r, "\r\n");
    }
}

static inline void http_json(http_recipe *r)
{
    static const char *const bodies[] = {
        "{\"learner\":\"arms\",\"state\":0}",
        "{\"learner\":\"arms\",\"state\":0,\"user\":\"@S\"}",
        "{\"learner\":\"walk\"}",
        "{\"learner\":\"walk\",\"user\":\"@S\"}",
        "{\"state\":1}",
        "{\"state\":1,\"step\":2}",
        "{\"decision\":\"@D\",\"reward\":0.5,\"next_state\":2}",
        "{\"decision\":\"@D\",\"reward\":0.25}",
        "{\"decision\":\"@S\",\"reward\":1}",
        "{\"learner\":\"ours\",\"report\":\"AAAA\"}",
        "{\"learner\":\"ours\",\"report\":\"@S\"}",
        "{\"@S\":1}",
        "{\"state\":\"@S\"}",
        "{\"learner\":\"@S\"}",
        "{\"learner\":\"arms\",\"state\":1e308}",
        "{\"learner\":\"arms\",\"context\":[1,2,3]}",
        "",
        "[]",
        "[[[[[[[[[[[[[[[[[[[[[[[[",
        "\"@S",
        "{\"user\":\"\xff@S\"}",
        "{\"user\":\"\\u0000@S\"}",
        "[{\"learner\":\"arms\",\"state\":0},{\"learner\":\"arms\",\"state\":\"@S\"},7]",
        "[{\"decision\":\"@D\",\"reward\":0.5},{\"decision\":\"@D\",\"reward\":0.25},{}]",
        "[{\"learner\":\"lin\",\"context\":[0.1,0.2,0.3,0.4]},[]]",
        "abcdefghabcdefghabcdefghabcdefgh",
    };
    http_put(r, HTTP_PICK(r, bodies));
    if (http_choose(r, 16) == 15)
        http_repeat(r, " [@S]", http_choose(r, 256) * 32);
}

/* A body and the headers that say how long it is, often truly. */
static inline void http_body(http_recipe *r)
{
    static const char *const lengths[] = {"0",
                                          "1",
                                          "-1",
                                          "+5",
                                          "0x10",
                                          "99999999999",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "340282366920938463463374607431768211456",
                                          "",
                                          "5, 5",
                                          "5\r\nContent-Length: 6",
                                          "@S"};
    static const char *const chunk_sizes[] = {"0",
                                              "-1",
                                              "ffffffffffffffff",
                                              "10000000000000000",
                                              "7fffffffffffffff",
                                              "@S",
                                              "",
                                              "5;ext=@S",
                                              "00000000000000000000000000000005",
                                              "0x5",
                                              " 5"};
    static char body[1 << 16];
    char text[96];
    http_recipe inner = {.at = r->at, .left = r->left, .out = body, .room = sizeof body};
    http_json(&inner);
    r->at = inner.at;
    r->left = inner.left;
    size_t way = http_choose(r, 12);
    if (way >= 9) { /* the wrong length; or both, which smugglers like */
        (void)snprintf(text, sizeof text, "Content-Length: %s\r\n", HTTP_PICK(r, lengths));
        http_put(r, text);
    }
    if (way < 6) {
        /* the secret and ids have other lengths than what stands for them: say so only where there are none */
        if (memchr(body, '@', inner.size) == NULL) {
            (void)snprintf(text, sizeof text, "Content-Length: %zu\r\n\r\n", inner.size);
            http_put(r, text);
            http_add(r, body, inner.size);
            return;
        }
        way = 6;
    }
    if (way == 9) {
        http_put(r, "\r\n");
        http_add(r, body, inner.size);
        return;
    }
    /* a chunk with @ in it has no true length either: one character at a time, the ids whole in the last piece */
    http_put(r, way == 11 ? "Transfer-Encoding: gzip, chunked\r\n\r\n"
                          : "Transfer-Encoding: chunked\r\n\r\n");
    if (way == 8) {
        http_put(r, HTTP_PICK(r, chunk_sizes));
        http_put(r, "\r\n");
        http_add(r, body, inner.size);
        http_put(r, "\r\n");
        return;
    }
    for (size_t i = 0; i < inner.size && i < 256; i++) {
        http_put(r, way == 7 ? "1;x=y\r\n" : "1\r\n");
        http_add(r, body + i, 1);
        http_put(r, "\r\n");
    }
    static const char *const ends[] = {"0\r\n\r\n", "0\r\nX: @S\r\n\r\n", "0\r\n", "", "\r\n"};
    http_put(r, HTTP_PICK(r, ends));
}

static inline size_t http_grammar(const uint8_t *recipe, size_t n, char *out, size_t room)
{
    static const char *const methods[] = {"POST",  "POST", "POST",   "GET", "GET",     "HEAD",
                                          "PUT",   "post", "DELETE", "@S",  "OPTIONS", "CONNECT",
                                          "TRACE", "",     "PO ST",  "PRI"};
    static const char *const versions[] = {" HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.1\r\n",
                                           " HTTP/1.0\r\n", " HTTP/2.0\r\n", " HTTP/0.9\r\n",
                                           " HTTP/9.9\r\n", " HTTP/1.1\n",   " http/1.1\r\n",
                                           "\r\n",          " @S\r\n",       "\r",
                                           " HTTP/1.1 \r\n"};
    http_recipe r = {.at = recipe, .left = n, .out = out, .room = room};
    for (size_t requests = 1 + http_choose(&r, 4); requests > 0; requests--) {
        http_put(&r, HTTP_PICK(&r, methods));
        http_put(&r, http_choose(&r, 32) == 31 ? "\t" : " ");
        http_target(&r);
        http_put(&r, HTTP_PICK(&r, versions));
        http_headers(&r);
        http_body(&r);
    }
    return r.size;
}

#endif
