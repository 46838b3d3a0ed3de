/* Prometheus itself reads the figures: its checker promtool, or the parser of its Python client, whichever is installed, or both. With
 * neither the test is skipped, and says so (exit status 77). */
#include <string.h>

#include "service/plain.h"

enum { SKIPPED = 77 };

/* Families without a help or a type, and samples of none, have the type "unknown" there. */
#define PARSE                                                                                      \
    "import sys\n"                                                                                 \
    "from prometheus_client.parser import text_fd_to_metric_families\n"                            \
    "all = list(text_fd_to_metric_families(sys.stdin))\n"                                          \
    "assert len(all) > 15, len(all)\n"                                                             \
    "for f in all:\n"                                                                              \
    "    assert f.documentation and f.type in (\"counter\", \"gauge\", \"histogram\"), f\n"        \
    "    places = [(s.name, tuple(sorted(s.labels.items()))) for s in f.samples]\n"                \
    "    assert len(places) == len(set(places)), f\n"

/* Debian's packages belong to Debian's Python, which is not always the first in the path. */
static const struct {
    const char *test, *command;
} checkers[] = {
    {"command -v promtool", "promtool check metrics"},
    {"/usr/bin/python3 -c 'import prometheus_client.parser'", "/usr/bin/python3 -c '" PARSE "'"},
    {"python3 -c 'import prometheus_client.parser'", "python3 -c '" PARSE "'"},
};
enum { CHECKERS = sizeof checkers / sizeof *checkers };

static bool is_there(size_t i)
{
    return shell("%s >/dev/null 2>&1", checkers[i].test) == 0;
}

TEST(prometheus_finds_nothing_wrong)
{
    char decision[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_get(&s, "/v1/nothing", answer), 404);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    server_write(&s, "metrics", strstr(answer, "\r\n\r\n") + 4);
    for (size_t i = 0; i < CHECKERS; i++) {
        if (!is_there(i))
            continue;
        assert_shell("%s <'%s/metrics' >&2", checkers[i].command, s.directory);
        /* and a line that is none is noticed */
        assert_int_not_equal(
            shell("{ cat '%s/metrics'; echo 'tacit_nothing{x=1 2'; } | %s >/dev/null 2>&1",
                  s.directory, checkers[i].command),
            0);
    }
}

int main(void)
{
    size_t there = 0;
    for (size_t i = 0; i < CHECKERS; i++)
        there += is_there(i);
    if (there == 0) {
        (void)printf("skipped: neither promtool nor Python's prometheus_client is installed "
                     "(Debian: prometheus, python3-prometheus-client)\n");
        return SKIPPED;
    }
    return test_run(NULL, NULL);
}
