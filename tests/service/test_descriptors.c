/* Few files that may be open, and more connections than that: the service says so at its start, keeps what it needs for itself, and
 * who finds no room is told at once. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/plain.h"

enum { HELD = 200, FEW = 64 };

static const char yaml[] = "listen: 127.0.0.1:0\n"
                           "store: service.db\n"
                           "threads: 2\n"
                           "limits: {per_address: 0, timeout: 60}\n"
                           "%s"
                           "learners: [{name: arms, space: {states: 1, actions: 2, horizon: 1},"
                           " users: 2000, agent: " JOINT "}]\n";

/* A service whose limits are set by this command of the shell. */
static void open_limited(server *s, const char *text, const char *limits)
{
    server_open(s, TACIT_COMMAND, text);
    server_token(s, "all", "admin", s->token);
    server_write(s, "limited", fmt("#!/bin/sh\n%s\nexec '%s' \"$@\"\n", limits, TACIT_COMMAND));
    server_shell(s, "chmod 700 limited");
    s->command = fmt("%s/limited", s->directory);
}

static bool says(const server *s, const char *what)
{
    char text[4096];
    server_read(s, "err", text, sizeof text);
    return strstr(text, what) != NULL;
}

/* Half a request, which keeps the connection. */
static void hold(const server *s, int held[HELD])
{
    for (int i = 0; i < HELD; i++) {
        held[i] = server_connect(s);
        server_say(held[i], "GET /he", 7);
    }
}

static void release(int held[HELD])
{
    for (int i = 0; i < HELD; i++)
        (void)close(held[i]);
}

TEST(who_finds_no_room_is_told_at_once)
{
    SCOPED_BY(end) server s;
    int held[HELD];
    open_limited(&s, fmt(yaml, ""), fmt("ulimit -n %d", FEW));
    assert_true(server_start(&s, NULL));
    assert_true(says(&s, "limits.connections is 1000, but the service may open 64 files"));
    hold(&s, held);
    /* one that waits hears after a second, and the next ones at once */
    await(server_get(&s, "/healthz", answer) == 503);
    const double before = server_seconds();
    for (int i = 0; i < 5; i++) {
        assert_error(server_get(&s, "/healthz", answer), 503, "busy", "");
        assert_non_null(strstr(answer, "Retry-After: 1\r\n"));
    }
    assert_true(server_seconds() - before < 10); /* of 60 s that the others may take */
    release(held);
    await(server_get(&s, "/healthz", answer) == 200);
    char decision[1024];
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "{method=\"any\",route=\"unmatched\",status=\"5xx\"}"));
}

TEST(health_has_places_of_its_own)
{
    SCOPED_BY(end) server s;
    int held[HELD];
    open_limited(&s, fmt(yaml, "admin: 127.0.0.1:0\n"), fmt("ulimit -n %d", FEW));
    assert_true(server_start(&s, NULL));
    char text[4096], port[8] = "";
    server_read(&s, "err", text, sizeof text);
    hold(&s, held);
    server admin = s;
    const char *at = strstr(text, "metrics on http://127.0.0.1:");
    if (at == NULL)
        fail_msg("%s", text);
    (void)sscanf(at, "metrics on http://127.0.0.1:%7[0-9]", port);
    admin.port = (unsigned)atoi(port);
    (void)snprintf(admin.url, sizeof admin.url, "http://127.0.0.1:%s", port);
    assert_int_equal(server_get(&admin, "/readyz", answer), 200);
    release(held);
}

TEST(the_soft_limit_is_raised)
{
    SCOPED_BY(end) server s;
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 1200)
        skip();
    open_limited(&s, fmt(yaml, ""), fmt("ulimit -Sn %d", FEW));
    assert_true(server_start(&s, NULL));
    assert_false(says(&s, "limits.connections"));
}

TEST(too_few_files_are_refused)
{
    SCOPED_BY(end) server s;
    int code = 0;
    open_limited(&s, fmt(yaml, ""), "ulimit -n 30");
    assert_false(server_start(&s, &code));
    assert_int_equal(code, 3);
    assert_true(says(&s, "raise the limit (ulimit -n, or LimitNOFILE of systemd) to"));
}
