/* Pages of declared origins may ask for the billboard and send reports; no other page, and nothing else. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve/http/routes.h"
#include "service/plain.h"

#define SHOP "https://shop.example"

/* What comes back, heads included, until the connection is closed. */
static int ask(const server *s, const char *method, const char *path, const char *origin,
               const char *more, const char *body)
{
    static char text[4096];
    int status = 0, fd = server_connect(s);
    (void)snprintf(text, sizeof text,
                   "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s%s%s%sContent-Length: "
                   "%zu\r\n\r\n%s",
                   method, path, origin != NULL ? "Origin: " : "", origin != NULL ? origin : "",
                   origin != NULL ? "\r\n" : "", more, strlen(body), body);
    server_say(fd, text, strlen(text));
    (void)server_hear(fd, answer, sizeof answer, 60000);
    (void)close(fd);
    return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

static bool allows(const char *origin)
{
    return strstr(answer, fmt("Access-Control-Allow-Origin: %s\r\n", origin)) != NULL;
}

/* Not for a page, not even one of a declared origin that has a token for everything. */
static void assert_closed(const server *s, const char *method, const char *path)
{
    const int status = ask(
        s, method, path, SHOP,
        fmt("Authorization: Bearer %s\r\nAccess-Control-Request-Method: %s\r\n", s->token, method),
        "");
    assert_true(status >= 200 && status != 204);
    assert_null(strstr(answer, "Access-Control"));
}

static void begin_with(server *s, const char *origins)
{
    static char yaml[4096];
    (void)snprintf(yaml, sizeof yaml, "%s%s", origins, plain);
    begin(s, yaml);
}

TEST(pages_of_a_declared_origin_read_the_billboard_and_report)
{
    SCOPED_BY(end) server s;
    begin_with(&s, "origins: [" SHOP ", 'http://127.0.0.1:8000']\n");
    assert_int_equal(ask(&s, "GET", "/v1/billboard?learner=ours", SHOP, "", ""), 200);
    assert_true(allows(SHOP));
    assert_non_null(strstr(answer, "Vary: Origin\r\n"));
    assert_int_equal(ask(&s, "GET", "/v1/billboard?learner=ours", "http://127.0.0.1:8000", "", ""),
                     200);
    assert_true(allows("http://127.0.0.1:8000"));
    assert_int_equal(ask(&s, "OPTIONS", "/v1/reports", SHOP,
                         "Access-Control-Request-Method: POST\r\n"
                         "Access-Control-Request-Headers: authorization,idempotency-key\r\n",
                         ""),
                     204);
    assert_true(allows(SHOP));
    assert_non_null(strstr(answer, "Access-Control-Allow-Methods: POST\r\n"));
    assert_null(strstr(answer, "Access-Control-Allow-Credentials")); /* cookies mean nothing here */
    assert_non_null(strstr(answer, "Access-Control-Allow-Headers: Authorization, Content-Type, "
                                   "Idempotency-Key\r\n"));
    assert_int_equal(ask(&s, "OPTIONS", "/v1/billboard?learner=ours", SHOP,
                         "Access-Control-Request-Method: DELETE\r\n", ""),
                     204);
    assert_non_null(strstr(answer, "Access-Control-Allow-Methods: GET\r\n"));
    /* a refusal can be read as well, or the page could not say what is wrong */
    assert_int_equal(ask(&s, "POST", "/v1/reports", SHOP, "", "{}"), 401);
    assert_true(allows(SHOP));
}

TEST(no_other_page_and_no_other_route)
{
    static const char *const others[] = {
        "https://shop.example.org", "http://shop.example",
        "https://shop.exampl",      "https://SHOP.example",
        "https://shop.example:444", "null",
        "https://shop.example/",    "",
    };
    static const char *const closed[][2] = {
        {"POST", "/v1/billboard"}, {"DELETE", "/v1/billboard"},  {"GET", "/v1/reports"},
        {"PUT", "/v1/reports"},    {"DELETE", "/v1/reports"},    {"OPTIONS", "/v1/reports/"},
        {"OPTIONS", "*"},          {"OPTIONS", "/v1/billboards"}};
    SCOPED_BY(end) server s;
    begin_with(&s, "origins: [" SHOP "]\n");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(ask(&s, "GET", "/v1/billboard?learner=ours", others[i], "", ""), 200);
        assert_null(strstr(answer, "Access-Control"));
        assert_non_null(strstr(answer, "Vary: Origin\r\n"));
        assert_int_equal(ask(&s, "OPTIONS", "/v1/reports", others[i], "", ""), 405);
        assert_null(strstr(answer, "Access-Control"));
    }
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        assert_closed(&s, closed[i][0], closed[i][1]);
    size_t open = 0;
    for (size_t i = 0; i < tacit__n_routes; i++) {
        const char *path = tacit__routes[i].path;
        if (strcmp(path, "/v1/billboard") == 0 || strcmp(path, "/v1/reports") == 0) {
            open++;
            continue;
        }
        assert_closed(&s, tacit__routes[i].method, path);
        assert_closed(&s, "OPTIONS", path);
    }
    assert_int_equal(open, 2);
    assert_int_equal(ask(&s, "GET", "/v1/billboard?learner=ours", SHOP, "Origin: null\r\n", ""),
                     400); /* two origins are two answers */
}

TEST(without_origins_nothing_is_said_of_them)
{
    SCOPED_BY(end) server s;
    begin_with(&s, "");
    assert_int_equal(ask(&s, "GET", "/v1/billboard?learner=ours", SHOP, "", ""), 200);
    assert_null(strstr(answer, "Access-Control"));
    assert_null(strstr(answer, "Vary:"));
    assert_int_equal(ask(&s, "OPTIONS", "/v1/reports", SHOP, "", ""), 405);
}
