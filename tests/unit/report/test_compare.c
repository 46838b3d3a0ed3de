/* Comparisons: differences and intervals are those that the textbook's formulas give, run by run or as two samples. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/report.h>

#define AGENTS(epsilon)                                                                            \
    "agents:\n  - {label: plain, kind: ucbvi, privacy: {model: none}}\n  - {label: joint, kind: "  \
    "dp-ucbvi, privacy: {model: joint, epsilon: " epsilon "}}\n  - {kind: uniform}\n"

static tacit_results *play(const char *text)
{
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *results = NULL;
    tacit_error err = {0};
    const tacit_lab_options options = {.n_threads = 1};
    assert_ok(tacit_experiment_parse(text, strlen(text), "f.yaml", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, &options, &results, &err));
    return results;
}

#define HEAD(seed) "world: {kind: riverswim, horizon: 5}\nepisodes: 150\nruns: 4\nseed: " seed "\n"

static const tacit_difference *find(const tacit_comparison *c, const char *agent)
{
    for (size_t i = 0; i < tacit_comparison_size(c); i++)
        if (strcmp(tacit_comparison_at(c, i)->agent, agent) == 0)
            return tacit_comparison_at(c, i);
    fail_msg("no row for %s", agent);
    return NULL;
}

TEST(runs_over_the_same_people_are_compared_one_by_one)
{
    SCOPED(tacit_results) *a = play(HEAD("1") AGENTS("1")), *b = play(HEAD("1") AGENTS("3"));
    tacit_comparison *c = NULL;
    tacit_error err = {0};
    assert_ok(tacit_comparison_create((const tacit_results *const[]){a, b}, 2, NULL, &c, &err));
    assert_int_equal(tacit_comparison_size(c), 3);
    const tacit_difference *d = find(c, "joint");
    double v[4], mean = 0, squares = 0;
    for (uint64_t run = 0; run < 4; run++) {
        v[run] = tacit_results_job(b, 0, 1, run)->regret - tacit_results_job(a, 0, 1, run)->regret;
        mean += v[run] / 4;
    }
    for (int run = 0; run < 4; run++)
        squares += (v[run] - mean) * (v[run] - mean);
    const double half = 3.182446 * sqrt(squares / 3 / 4); /* t, three degrees of freedom */
    assert_true(d->paired && d->runs == 4 && d->which == 1);
    assert_close(d->difference, mean, 1e-9);
    assert_close(d->low, mean - half, 1e-4);
    assert_close(d->high, mean + half, 1e-4);
    assert_true(find(c, "plain")->low == 0 && find(c, "plain")->high == 0);
    assert_null(tacit_comparison_note(c, 0));
    tacit_comparison_destroy(c);
}

TEST(other_seeds_are_two_samples)
{
    SCOPED(tacit_results) *a = play(HEAD("1") AGENTS("1")), *b = play(HEAD("2") AGENTS("1"));
    tacit_comparison *c = NULL;
    tacit_error err = {0};
    assert_ok(tacit_comparison_create((const tacit_results *const[]){a, b}, 2, NULL, &c, &err));
    const tacit_difference *d = find(c, "joint");
    tacit_summary x = tacit_results_summary(a, 0, 1), y = tacit_results_summary(b, 0, 1);
    const double u = x.regret_error * x.regret_error, v = y.regret_error * y.regret_error;
    assert_false(d->paired);
    assert_close(d->difference, y.regret_mean - x.regret_mean, 1e-9);
    /* between 3 and 6 degrees of freedom [W47] */
    assert_within(d->high - d->difference, 2.446 * sqrt(u + v), 3.183 * sqrt(u + v));
    assert_non_null(strstr(tacit_comparison_note(c, 0), "another seed"));
    tacit_comparison_destroy(c);
}

TEST(agents_of_one_experiment_and_a_page)
{
    SCOPED(tacit_results) *a = play(HEAD("1") AGENTS("1"));
    tacit_comparison *c = NULL;
    tacit_error err = {0};
    assert_ok(tacit_comparison_create((const tacit_results *const[]){a}, 1, "uniform", &c, &err));
    assert_int_equal(tacit_comparison_size(c), 2);
    assert_string_equal(tacit_comparison_at(c, 0)->reference, "uniform");
    char path[] = "/tmp/tacit-compare-XXXXXX", start[16] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    assert_ok(tacit_comparison_write(c, (const char *const[]){"<b>a</b>"}, path, &err));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(start, sizeof start, file));
    assert_string_equal(start, "<!DOCTYPE html>");
    static char page[200000];
    size_t n = fread(page, 1, sizeof page - 1, file);
    page[n] = '\0';
    (void)fclose(file);
    assert_non_null(strstr(page, "&lt;b&gt;a&lt;/b&gt;"));
    assert_null(strstr(page, "<b>a</b>"));
    assert_null(strstr(page, "nan"));
    assert_int_equal(unlink(path), 0);
    tacit_comparison_destroy(c);
    assert_status(tacit_comparison_create((const tacit_results *const[]){a}, 1, "none", &c, &err),
                  TACIT_BAD_ARGUMENT);
}

TEST(worlds_that_differ_are_not_compared)
{
    SCOPED(tacit_results) *a = play(HEAD("1") AGENTS("1"));
    SCOPED(tacit_results) *b =
        play("world: {kind: riverswim, horizon: 6}\nepisodes: 150\nruns: 4\n" AGENTS("1"));
    tacit_comparison *c = NULL;
    tacit_error err = {0};
    assert_status(tacit_comparison_create((const tacit_results *const[]){a, b}, 2, NULL, &c, &err),
                  TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "horizon is 5 there and 6 here"));
}
