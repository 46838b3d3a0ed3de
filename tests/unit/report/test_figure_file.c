/* Figures and tables as files: the page's drawings at the size that was asked for, chosen agents, numbers of the results,
 * flags for learners that did not learn. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/report.h>

#include "base/memory.h"
#include "report/figure.h"
#include "report/render.h"

static const char many[] =
    "title: many\nworld: {kind: riverswim, horizon: 6}\nepisodes: 200\nruns: 3\nagents:\n"
    "  - {label: plain, kind: ucbvi, privacy: {model: none}}\n"
    "  - {label: one, kind: dp-ucbvi, privacy: {model: joint, epsilon: [0.5, 1, 2, 5, 10]}}\n"
    "  - {label: \"two, of three\", kind: dp-ucbvi, user_norm: 0.5, privacy: {model: joint, "
    "epsilon: "
    "[1, 9]}}\n"
    "  - {label: p_r&i%c#e, kind: ldp-obi, privacy: {model: local, epsilon: 0.01}}\n"
    "  - {kind: uniform}\n  - {kind: constant}\n  - {kind: optimal}\n";

static tacit_results *results; /* played once */

static tacit_results *play(void)
{
    if (results == NULL) {
        SCOPED(tacit_experiment) *e = NULL;
        tacit_error err = {0};
        const tacit_lab_options options = {.n_threads = 1};
        assert_ok(tacit_experiment_parse(many, strlen(many), "many.yaml", NULL, &e, &err));
        assert_ok(tacit_lab_run(e, &options, &results, &err));
    }
    return results;
}

static char *figure(const tacit_figure_options *wanted, size_t *size)
{
    char *bytes = NULL;
    tacit_error err = {0};
    tacit_status status = tacit_report_figure(play(), wanted, &bytes, size, &err);
    if (status != TACIT_OK)
        fail_msg("%s", err.message);
    return bytes;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

TEST(a_figure_has_the_width_that_was_asked_for)
{
    size_t size = 0;
    char *svg = figure(&(tacit_figure_options){.width = 84, .what = TACIT_FIGURE_PRICE}, &size);
    assert_int_equal(strlen(svg), size);
    assert_int_equal(strncmp(svg, "<?xml", 5), 0);
    assert_non_null(strstr(svg, " width=\"84.00mm\" "));
    assert_non_null(strstr(svg, "95 % confidence intervals"));
    assert_non_null(strstr(svg, "The price of privacy after 200 users"));
    free(svg);
    svg = figure(
        &(tacit_figure_options){
            .width = 120, .height = 60, .title = "", .font = "A & B", .facets = TACIT_FACETS_NO},
        &size);
    assert_non_null(strstr(svg, " height=\"60.00mm\" "));
    assert_non_null(strstr(svg, "font-family=\"A &amp; B\""));
    assert_null(strstr(svg, "Regret against users"));
    free(svg);
}

TEST(many_curves_have_a_panel_for_each_family)
{
    size_t size;
    char *svg = figure(&(tacit_figure_options){.width = 174}, &size);
    assert_int_equal(count(svg, "class=\"frame\""), 3);
    assert_int_equal(count(svg, ">ε = 0.5"), 1);
    assert_int_equal(count(svg, ">plain"),
                     6); /* to compare with, in each: a line with its title, and a label */
    free(svg);
    svg = figure(&(tacit_figure_options){.width = 174, .facets = TACIT_FACETS_NO}, &size);
    assert_int_equal(count(svg, "class=\"frame\""), 1);
    free(svg);
}

TEST(intervals_are_named)
{
    static const char *const words[] = {"95 % confidence interval", "lowest to highest run",
                                        "one standard error", "95 % confidence interval", NULL};
    for (int i = 0; i < 5; i++) {
        size_t size;
        SCOPED_FREE char *svg = figure(&(tacit_figure_options){.interval = (tacit_spread)i}, &size);
        if (words[i] != NULL)
            assert_non_null(strstr(svg, words[i]));
        assert_int_equal(count(svg, "fill-opacity"), words[i] != NULL ? 8 : 0);
    }
}

/* The band of a confidence interval is the mean plus and minus t times the error, at every point. */
TEST(bands_are_computed_from_the_runs)
{
    tacit__report r;
    tacit_error err = {0};
    assert_ok(tacit__report_fill(play(), &r, &err));
    const tacit__report_outcome *o = &r.worlds[0].outcomes[1];
    for (size_t p = 0; p < r.n_points; p += 13) {
        double v[3], mean = 0, squares = 0;
        for (uint64_t run = 0; run < 3; run++)
            mean += (v[run] = tacit_results_job(results, 0, 1, run)->curve[p]) / 3;
        for (int run = 0; run < 3; run++)
            squares += (v[run] - mean) * (v[run] - mean);
        assert_close(o->errors[p], sqrt(squares / 2 / 3), 1e-9 * (1 + mean));
    }
    tacit__report_empty(&r);
}

TEST(agents_are_chosen_by_label_or_family)
{
    size_t chosen[16], n;
    tacit_error err = {0};
    assert_ok(tacit_report_agents(play(), "constant, plain", chosen, &n, &err));
    assert_int_equal(n, 2);
    assert_int_equal(chosen[0], 10);
    assert_int_equal(chosen[1], 0);
    assert_ok(tacit_report_agents(play(), "two, of three,plain,plain", chosen, &n, &err));
    assert_int_equal(n, 3); /* both of the family, and plain once */
    assert_ok(tacit_report_agents(play(), "two, of three epsilon 9", chosen, &n, &err));
    assert_int_equal(n, 1);
    assert_status(tacit_report_agents(play(), "plian", chosen, &n, &err), TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "did you mean 'plain'?"));
    assert_status(tacit_report_agents(play(), "plain,nothing of this kind", chosen, &n, &err),
                  TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "expected one of one, two, of three"));
    assert_status(tacit_report_agents(play(), " ", chosen, &n, &err), TACIT_BAD_ARGUMENT);
    size_t size;
    SCOPED_FREE char *svg =
        figure(&(tacit_figure_options){.agents = (const size_t[]){10, 0}, .n_agents = 2}, &size);
    assert_int_equal(count(svg, ">constant</text>"), 1);
    assert_null(strstr(svg, ">uniform</text>"));
}

/* The rule of tacit_bar by hand, run by run. */
TEST(runs_that_end_no_better_than_the_best_constant_action_are_counted_and_flagged)
{
    tacit__report r;
    tacit_error err = {0};
    assert_ok(tacit__report_fill(play(), &r, &err));
    const tacit__report_world *s = &r.worlds[0];
    const double bar = fmax(s->outcomes[10].late, 0.1 * s->outcomes[9].late);
    assert_close(s->bar.late, bar, 1e-12);
    for (size_t i = 0; i < r.n_agents; i++) {
        uint64_t n = 0;
        for (uint64_t run = 0; run < 3 && !r.agents[i].entry->baseline; run++)
            n += tacit_results_job(results, 0, i, run)->late_regret >= 0.9 * bar;
        assert_int_equal(s->outcomes[i].n_not_learned, n);
        assert_int_equal(s->outcomes[i].flagged, 2 * n >= 3);
    }
    assert_true(s->outcomes[8].flagged && !s->outcomes[9].flagged); /* epsilon 0.01; uniform */
    tacit__text page = {0};
    tacit__page(&page, &r, false);
    assert_non_null(strstr(page.data, "did not learn</b>"));
    assert_non_null(strstr(page.data, "nine tenths of a tenth of what random actions lose"));
    tacit__text_destroy(&page);
    tacit__report_empty(&r);
}

/* One run of ten never finds the river's end; the other nine do, so the learner is not flagged. */
TEST(a_run_that_failed_is_counted)
{
    static const char text[] =
        "{world: {kind: riverswim, states: 6, horizon: 20}, episodes: 5000, runs: 10, seed: 4,"
        " agents: [{label: auto 1, kind: auto, privacy: {model: joint, epsilon: 1, delta: 1e-6}},"
        " {kind: constant}, {kind: uniform}]}";
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *river = NULL;
    tacit_error err = {0};
    assert_ok(tacit_experiment_parse(text, strlen(text), "river.yaml", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, &(tacit_lab_options){.n_threads = 1}, &river, &err));
    const tacit_summary s = tacit_results_summary(river, 0, 0);
    assert_string_equal(tacit_results_bar(river, 0).what, "a tenth of what random actions lose");
    assert_int_equal(s.runs_not_learned, 1);
    assert_false(s.did_not_learn);
    assert_close(s.regret_half, 2.26216 * s.regret_error, 1e-5 * s.regret_half); /* t of 9 */
    tacit__report r;
    tacit__text page = {0};
    assert_ok(tacit__report_fill(river, &r, &err));
    tacit__page(&page, &r, false);
    assert_non_null(strstr(page.data, "<b>1 of 10 runs did not learn</b>"));
    assert_non_null(strstr(page.data, "1 of auto 1."));
    assert_non_null(strstr(page.data, ">1 of 10 runs did not learn</b></th>"));
    tacit__text_destroy(&page);
    tacit__report_empty(&r);
    tacit_results_destroy(river);
}

/* In the river a constant action is nearly optimal: who finds the best policy has lost to it before. */
TEST(a_learner_that_ends_better_than_it_began_has_learned)
{
    static const char text[] =
        "{world: {kind: riverswim, states: 6, horizon: 20}, episodes: 5000, runs: 1, seed: 1,"
        " agents: [{kind: posterior-tabular, privacy: {model: none}}, {kind: constant}]}";
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *river = NULL;
    tacit_error err = {0};
    assert_ok(tacit_experiment_parse(text, strlen(text), "river.yaml", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, &(tacit_lab_options){.n_threads = 1}, &river, &err));
    const tacit_summary learner = tacit_results_summary(river, 0, 0),
                        constant = tacit_results_summary(river, 0, 1);
    assert_true(learner.regret_mean > constant.regret_mean);
    assert_true(learner.late_mean < constant.late_mean);
    assert_false(learner.did_not_learn || constant.did_not_learn);
    tacit_results_destroy(river);
}

TEST(what_cannot_be_drawn_is_refused)
{
    const struct {
        tacit_figure_options wanted;
        const char *says;
    } cases[] = {
        {{.width = 5}, "width is 5 mm, expected 40 to 1000 mm"},
        {{.width = (double)NAN}, "width is"},
        {{.height = 5000}, "height is 5000 mm"},
        {{.font_size = 1}, "letters of 1 points"},
        {{.dots_per_inch = 1e9}, "dots per inch"},
        {{.world = 1}, "there is no world 1"},
        {{.agents = (const size_t[]){99}, .n_agents = 1}, "there is no agent 99"},
        {{.agents = (const size_t[]){0}, .n_agents = 1, .what = TACIT_FIGURE_PRICE},
         "no agent with an epsilon"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bytes = NULL;
        size_t size = 7;
        tacit_error err = {0};
        assert_true(tacit_report_figure(play(), &cases[i].wanted, &bytes, &size, &err) != TACIT_OK);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
        assert_null(bytes);
        assert_int_equal(size, 7);
    }
}

TEST(paper_is_made_or_what_is_missing_is_named)
{
    static const char *const begins[] = {"<?xml", "%PDF-1.", "\x89PNG"};
    for (int format = 1; format < 3; format++) {
        char *bytes = NULL, *again = NULL;
        size_t size = 0, size_again = 0;
        tacit_error err = {0};
        const tacit_figure_options wanted = {
            .format = (tacit_format)format, .width = 84, .dots_per_inch = 100};
        tacit_status status = tacit_report_figure(play(), &wanted, &bytes, &size, &err);
        if (!tacit_report_has_paper()) {
            assert_status(status, TACIT_UNSUPPORTED);
            assert_non_null(strstr(err.message, "librsvg"));
            continue;
        }
        assert_ok(status);
        assert_true(size > 2000);
        assert_memory_equal(bytes, begins[format], strlen(begins[format]));
        assert_ok(tacit_report_figure(play(), &wanted, &again, &size_again, &err));
        assert_int_equal(size, size_again); /* the same results, the same bytes */
        assert_memory_equal(bytes, again, size);
        free(bytes);
        free(again);
    }
}

static char *table(tacit_table format)
{
    char *bytes = NULL;
    size_t size = 0;
    tacit_error err = {0};
    assert_ok(tacit_report_table(
        play(), &(tacit_table_options){.format = format, .world = SIZE_MAX}, &bytes, &size, &err));
    assert_int_equal(strlen(bytes), size);
    return bytes;
}

TEST(tables_have_the_numbers_of_the_results)
{
    char *csv = table(TACIT_TABLE_CSV), *tex = table(TACIT_TABLE_TEX), *md = table(TACIT_TABLE_MD);
    const tacit_experiment_facts *facts = tacit_results_describe(play());
    assert_int_equal(count(csv, "\n"), 1 + facts->n_agents);
    assert_int_equal(count(csv, "\"two, of three epsilon 1\""), 1);
    const char *at = csv;
    for (size_t i = 0; i < facts->n_agents; i++) {
        at = strchr(at, '\n') + 1;
        const char *field = at;
        size_t commas = 0; /* to the regret, outside of quotes */
        for (bool quoted = false; commas < 10; field++) {
            quoted = quoted != (*field == '"');
            commas += *field == ',' && !quoted;
        }
        tacit_summary s = tacit_results_summary(results, 0, i);
        assert_true(strtod(field, NULL) == s.regret_mean);
    }
    assert_int_equal(count(tex, "\\\\\n"), 1 + facts->n_agents);
    assert_non_null(strstr(tex, "p\\_r\\&i\\%c\\#e"));
    assert_non_null(strstr(tex, "$\\varepsilon$ = 0.5"));
    assert_int_equal(count(md, "\n|"), 2 + facts->n_agents);
    assert_non_null(strstr(md, "p\\_r&i%c#e"));
    free(csv);
    free(tex);
    free(md);
}

TEST(memory_that_runs_out_gives_no_figure)
{
    (void)play();
    for (uint64_t n = 1;; n += 1 + n / 3) { /* the first ones, and some of the others */
        char *bytes = NULL;
        size_t size;
        tacit_error err = {0};
        tacit__alloc_fail_at(n);
        tacit_status status = tacit_report_figure(results, NULL, &bytes, &size, &err);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        if (!failed) {
            assert_ok(status);
            assert_true(n > 20);
            free(bytes);
            break;
        }
        assert_status(status, TACIT_NO_MEMORY);
        assert_null(bytes);
    }
    tacit_results_destroy(results);
    results = NULL;
}
