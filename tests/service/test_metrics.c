/* The figures of /metrics: each has a help and a type, and is in docs/reference/metrics.md with the same ones, so that a name that
 * somebody's alarm depends on cannot change unnoticed. Histograms add up. Whether Prometheus can read them is in test_prometheus.c. */
#include <string.h>

#include "serve/service_inside.h"
#include "service/plain.h"
#include "text/text.h"

enum { MOST = 64, ROOM = 1 << 16 };

/* A family of figures, as "name|type|help". */
typedef struct families {
    char rows[MOST][400];
    size_t n;
} families;

static bool has_family(const families *f, const char *row)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->rows[i], row) == 0)
            return true;
    return false;
}

/* The family of a sample: what stands before a suffix of histograms, if that is one. */
static bool has_sample(const families *f, const char *line)
{
    static const char *const suffixes[] = {"", "_bucket", "_sum", "_count"};
    const size_t length = strcspn(line, "{ ");
    for (size_t i = 0; i < f->n; i++) {
        const size_t name = strcspn(f->rows[i], "|");
        const bool histogram = strncmp(f->rows[i] + name, "|histogram|", 11) == 0;
        for (size_t j = histogram ? 1 : 0; j < (histogram ? 4 : 1); j++)
            if (name + strlen(suffixes[j]) == length && memcmp(f->rows[i], line, name) == 0 &&
                memcmp(line + name, suffixes[j], strlen(suffixes[j])) == 0)
                return true;
    }
    return false;
}

/* Reads what the service says, line by line: HELP, TYPE, then samples of that family. */
static void read_figures(char *text, families *f)
{
    char help[300] = "", name[100] = "", type[32];
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (sscanf(line, "# HELP %99s %299[^\n]", name, help) == 2)
            continue;
        char same[100];
        if (sscanf(line, "# TYPE %99s %31s", same, type) == 2) {
            assert_string_equal(same, name);
            const char *end = strrchr(name, '_');
            assert_int_equal(strcmp(type, "counter") == 0,
                             end != NULL && strcmp(end, "_total") == 0);
            assert_true(f->n < MOST);
            (void)snprintf(f->rows[f->n++], sizeof f->rows[0], "%s|%s|%s", name, type, help);
            continue;
        }
        if (line[0] == '#' || !has_sample(f, line))
            fail_msg("of no family: %s", line);
        assert_true(strncmp(f->rows[f->n - 1], line, strlen(name)) == 0); /* in one piece */
    }
}

/* The table of the document: | `name` | type | labels | help |. */
static void read_document(families *f)
{
    char line[600], name[100], type[32], help[300];
    FILE *file = fopen(TACIT_SOURCE "/docs/reference/metrics.md", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "| `%99[a-z_]` | %31[a-z] | %*[^|] | %299[^|\n]", name, type, help) == 3) {
            help[strlen(help) - 1] = '\0'; /* the space */
            assert_true(f->n < MOST);
            (void)snprintf(f->rows[f->n++], sizeof f->rows[0], "%s|%s|%s", name, type, help);
        }
    (void)fclose(file);
}

TEST(every_figure_has_help_and_type_and_is_documented)
{
    static families said, written;
    static char text[ROOM];
    char decision[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    (void)snprintf(text, sizeof text, "%s", strstr(answer, "\r\n\r\n") + 4);
    read_figures(text, &said);
    read_document(&written);
    assert_true(said.n > 15);
    for (size_t i = 0; i < said.n; i++)
        if (!has_family(&written, said.rows[i]))
            fail_msg("docs/reference/metrics.md lacks %s", said.rows[i]);
    assert_int_equal(said.n, written.n);
}

TEST(requests_for_nothing_are_counted)
{
    SERVER(s, plain);
    assert_int_equal(server_get(&s, "/v1/nothing", answer), 404);
    assert_int_equal(server_post(&s, "/metrics", "{}", answer), 405);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "\ntacit_http_requests_total{method=\"any\",route=\"unmatched\","
                                   "status=\"4xx\"} 2\n"));
}

/* After months the sum still tells microseconds, and the buckets end in the count. */
TEST(times_of_a_route_add_up)
{
    static tacit__route_figures f;
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    tacit__figures_add(&f, 200, 0.0002);
    tacit__figures_add(&f, 200, 0.003);
    tacit__figures_add(&f, 503, 12345678.901234);
    tacit__figures_write(&f, "GET", "/x", &out);
    static const char *const wanted[] = {
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.0001\"} 0\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.00025\"} 1\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.005\"} 2\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"5\"} 2\n",
        "seconds_bucket{route=\"/x\",method=\"GET\",le=\"+Inf\"} 3\n",
        "seconds_sum{route=\"/x\",method=\"GET\"} 12345678.904434\n",
        "seconds_count{route=\"/x\",method=\"GET\"} 3\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(out.data, wanted[i]) == NULL)
            fail_msg("%s is not in\n%s", wanted[i], out.data);
}
