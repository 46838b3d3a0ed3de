/* Reports: the numbers are those of the results, families are what differs in epsilon alone, the page is well-formed and
 * harmless whatever is in the file, and a stopped run says so. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/report.h>

#include "base/assets.h"
#include "base/memory.h"
#include "report/figure.h"
#include "report/render.h"

#define HEAD                                                                                       \
    "title: \"<b>T</b> & </script>\"\nworld: {kind: riverswim, horizon: 6}\nepisodes: 300\nruns: " \
    "3\nagents:\n"
#define PLAIN "  - {label: plain, kind: ucbvi}\n"
#define JOINT                                                                                      \
    "  - {label: \"joint </script> eps 1\", kind: dp-ucbvi, privacy: {model: joint, epsilon: "     \
    "1}}\n"                                                                                        \
    "  - {label: \"joint </script> eps 9\", kind: dp-ucbvi, privacy: {model: joint, epsilon: "     \
    "9}}\n"
#define PURE "  - {label: p, kind: dp-ucbvi, privacy: {model: joint, epsilon: 2, delta: 0}}\n"
#define FALSE_CLAIM                                                                                \
    "  - {label: f, kind: dp-ucbvi, privacy: {model: joint, epsilon: 2, delta: 0, calibration: "   \
    "figure}}\n"
#define NORM "  - {label: n, kind: dp-ucbvi, user_norm: 0.5, privacy: {model: joint, epsilon: 1}}\n"
#define STICKS "  - {kind: uniform}\n  - {kind: optimal}\n"

static bool stop_at_three(void *context, const tacit_lab_progress *now)
{
    (void)context;
    return now->jobs < 3;
}

static tacit_results *play(const char *text, bool stop)
{
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *results = NULL;
    tacit_error err = {0};
    const tacit_lab_options options = {.n_threads = 1, .progress = stop ? stop_at_three : NULL};
    assert_ok(tacit_experiment_parse(text, strlen(text), "an 'odd'.yaml", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, &options, &results, &err));
    return results;
}

static tacit__report fill(const tacit_results *results)
{
    tacit__report r;
    tacit_error err = {0};
    assert_ok(tacit__report_fill(results, &r, &err));
    return r;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

/* --- The model ------------------------------------------------------------------------------------ */

TEST(curves_and_bands_are_those_of_the_runs)
{
    SCOPED(tacit_results) *results = play(HEAD PLAIN JOINT STICKS, false);
    tacit__report r = fill(results);
    assert_int_equal(r.n_points, 300);
    assert_int_equal(r.at[299], 300);
    for (size_t i = 0; i < r.n_agents; i++) {
        const tacit__report_outcome *o = &r.worlds[0].outcomes[i];
        tacit_summary s = tacit_results_summary(results, 0, i);
        assert_true(o->regret == s.regret_mean && o->switches == s.switches);
        for (size_t p = 0; p < r.n_points; p += 7) {
            double low = HUGE_VAL, high = 0, sum = 0;
            for (uint64_t run = 0; run < 3; run++) {
                double v = tacit_results_job(results, 0, i, run)->curve[p];
                low = fmin(low, v);
                high = fmax(high, v);
                sum += v;
            }
            assert_true(o->low[p] == low && o->high[p] == high);
            assert_within(o->mean[p], sum / 3 - 1e-9 * (1 + sum), sum / 3 + 1e-9 * (1 + sum));
        }
    }
    tacit__report_empty(&r);
}

TEST(families_differ_in_epsilon_alone)
{
    SCOPED(tacit_results) *results = play(HEAD PLAIN JOINT PURE FALSE_CLAIM NORM STICKS, false);
    tacit__report r = fill(results);
    assert_int_equal(r.n_families, 4); /* joint, pure, figure, another user_norm */
    assert_int_equal(r.families[0].n_members, 2);
    assert_string_equal(r.families[0].name, "joint </script>");
    assert_string_equal(r.families[1].name, "p");
    assert_int_equal(r.families[0].members[0], 1); /* ascending epsilon */
    assert_int_equal(r.agents[1].style.color, r.agents[2].style.color);
    assert_int_not_equal(r.agents[1].style.dash, r.agents[2].style.dash);
    assert_int_equal(r.agents[2].style.dash, 0); /* the weakest promise is solid, and darkest */
    assert_true(r.agents[2].style.shade < r.agents[1].style.shade);
    assert_int_equal(r.agents[0].family, SIZE_MAX);
    assert_int_equal(r.agents[0].style.color, 0);
    assert_int_equal(r.agents[6].style.color, TACIT__GRAY);
    for (size_t i = 1; i < 4; i++)
        assert_int_not_equal(r.families[i].style.color, r.families[i - 1].style.color);
    tacit__report_empty(&r);
}

TEST(families_without_common_words_are_named_by_their_nature)
{
    SCOPED(tacit_results) *results = play(
        HEAD
        "  - {label: a, kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n"
        "  - {label: b, kind: dp-ucbvi, privacy: {model: joint, epsilon: 2}}\n"
        "  - {label: c, kind: dp-ucbvi, user_norm: 0.5, privacy: {model: joint, epsilon: 1}}\n"
        "  - {label: d, kind: dp-ucbvi, user_norm: 0.5, privacy: {model: joint, epsilon: 2}}\n",
        false);
    tacit__report r = fill(results);
    assert_int_equal(r.n_families, 2);
    assert_string_equal(r.families[0].name, "joint");
    assert_string_equal(r.families[1].name, "joint, user_norm 0.5");
    tacit__report_empty(&r);
}

/* --- The page ------------------------------------------------------------------------------------- */

/* Well-formed XML as far as our drawings use it: tags nest, attributes are quoted, & begins an entity. */
static const char *check_element(const char *p)
{
    char name[32] = "";
    assert_int_equal(*p, '<');
    size_t n = strcspn(++p, " \t\n/>");
    assert_within((double)n, 1, 31);
    (void)memcpy(name, p, n);
    for (p += n;;) {
        p += strspn(p, " \t\n");
        if (strncmp(p, "/>", 2) == 0)
            return p + 2;
        if (*p == '>')
            break;
        size_t key = strcspn(p, "= <>");
        assert_true(key > 0 && p[key] == '=' && p[key + 1] == '"');
        p += key + 2;
        p += strcspn(p, "\"<");
        assert_int_equal(*p++, '"');
    }
    for (p++;; p++) {
        p += strcspn(p, "<&>");
        if (*p == '&') {
            size_t length = strcspn(p, "; <");
            assert_int_equal(p[length], ';');
            p += length;
        } else {
            assert_int_equal(*p, '<');
            if (p[1] == '/')
                break;
            p = check_element(p) - 1;
        }
    }
    assert_int_equal(strncmp(p + 2, name, n), 0);
    assert_int_equal(p[2 + n], '>');
    return p + 3 + n;
}

TEST(drawings_are_well_formed)
{
    static const char *const files[] = {HEAD PLAIN JOINT PURE FALSE_CLAIM NORM STICKS, HEAD STICKS,
                                        HEAD PLAIN, HEAD JOINT};
    for (size_t i = 0; i < 4; i++) {
        SCOPED(tacit_results) *results = play(files[i], false);
        tacit__report r = fill(results);
        for (int which = 0; which < 12; which++) {
            SCOPED_BY(tacit__text_destroy) tacit__text t = {0};
            const tacit__sheet sheet = {.width = which < 6 ? 300 : 900,
                                        .font = 11,
                                        .css_class = "x",
                                        .log = which % 2 == 0,
                                        .facets =
                                            which % 3 == 0 ? TACIT_FACETS_YES : TACIT_FACETS_NO,
                                        .interval = (tacit_spread)(which % 5)};
            bool curves = which % 4 < 2;
            bool drawn =
                curves ? tacit__curves_svg(&t, &r, 0, &sheet) : tacit__price_svg(&t, &r, 0, &sheet);
            assert_int_equal(drawn, curves || r.n_families > 0);
            if (drawn) {
                assert_string_equal(check_element(t.data), "\n");
                assert_null(strstr(t.data, "nan"));
                assert_null(strstr(t.data, "inf"));
                assert_null(strstr(t.data, "<script"));
            }
        }
        tacit__report_empty(&r);
    }
}

TEST(nothing_in_a_file_becomes_markup)
{
    SCOPED(tacit_results) *results = play(HEAD PLAIN JOINT STICKS, false);
    tacit__report r = fill(results);
    tacit__text t = {0};
    tacit__page(&t, &r, true);
    assert_false(t.failed);
    /* the data, and the program: no label has ended either */
    assert_int_equal(count(t.data, "<script"), 2);
    assert_int_equal(count(t.data, "</script"), 2);
    assert_int_equal(count(t.data, "<b>T</b>"), 0);
    assert_true(count(t.data, "&lt;b&gt;T&lt;/b&gt; &amp; &lt;/script&gt;") >= 2);
    assert_true(count(t.data, "joint \\u003c/script\\u003e eps 1") >= 1);
    /* the command is quoted for a shell, then for HTML */
    assert_int_equal(count(t.data,
                           "tacit run &#39;an &#39;\\&#39;&#39;odd&#39;\\&#39;&#39;.yaml&#39; "
                           "--episodes 300 --runs 3"),
                     1);
    tacit__text_destroy(&t);
    tacit__report_empty(&r);
}

TEST(the_page_tells_what_it_must)
{
    SCOPED(tacit_results) *results = play(HEAD PLAIN JOINT PURE FALSE_CLAIM STICKS, false);
    tacit__report r = fill(results);
    tacit__text t = {0};
    tacit__page(&t, &r, true);
    static const char *const wanted[] = {"simulated, not private",
                                         "NOT PRIVATE",
                                         "does not hold",
                                         "really <i>ε</i>",
                                         "learning without privacy",
                                         "Joint privacy",
                                         "What leaves the curator",
                                         "Why the bound holds",
                                         "Gaussian noise of standard deviation",
                                         "Laplace noise",
                                         "people who come back",
                                         "To have it again",
                                         "Figure 2."};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(t.data, wanted[i]) == NULL)
            fail_msg("the page does not say '%s'", wanted[i]);
    assert_null(strstr(t.data, "Not finished"));
    tacit__text_destroy(&t);
    tacit__report_empty(&r);
}

TEST(static_pages_have_no_scripts)
{
    SCOPED(tacit_results) *results = play(HEAD PLAIN JOINT, false);
    tacit__report r = fill(results);
    tacit__text still = {0};
    tacit__page(&still, &r, false);
    assert_int_equal(count(still.data, "<script"), 0);
    /* two scales of the curves, one of the price; for broad screens, and for slim ones */
    assert_int_equal(count(still.data, "<svg"), 6);
    assert_non_null(strstr(still.data, "as was asked for"));
    tacit__text_destroy(&still);
    tacit__report_empty(&r);
}

TEST(a_stopped_run_says_so)
{
    SCOPED(tacit_results) *results = play(HEAD PLAIN JOINT PURE STICKS, true);
    assert_false(tacit_results_complete(results));
    tacit__report r = fill(results);
    assert_true(r.n_done < r.n_jobs);
    assert_int_equal(r.n_jobs, 18);
    tacit__text t = {0};
    tacit__page(&t, &r, true);
    assert_non_null(strstr(t.data, "Not finished."));
    assert_non_null(strstr(t.data, "of 18 runs of agents are done"));
    assert_non_null(strstr(t.data, " of 3</td>"));
    tacit__text_destroy(&t);
    tacit__report_empty(&r);
}

/* --- Writing -------------------------------------------------------------------------------------- */

TEST(memory_that_runs_out_leaves_no_page)
{
    char path[] = "/tmp/tacit-report-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "old", 3), 3);
    (void)close(fd);
    tacit_results *results = play(HEAD PLAIN JOINT STICKS, false);
    uint64_t n = 1;
    for (;; n++) {
        tacit_error err = {0};
        tacit__alloc_fail_at(n);
        tacit_status status = tacit_report_write(results, NULL, path, &err);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        char start[16] = "";
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(start, sizeof start, file));
        (void)fclose(file);
        if (!failed) {
            assert_ok(status);
            assert_string_equal(start, "<!DOCTYPE html>");
            break;
        }
        assert_status(status, TACIT_NO_MEMORY);
        assert_string_equal(start, "old");
    }
    assert_true(n > 30);
    tacit_results_destroy(results);
    assert_int_equal(unlink(path), 0);
}

TEST(embedded_files_are_what_they_should_be)
{
    assert_true(tacit__asset_report_css.size > 1000 && tacit__asset_report_js.size > 1000);
}
