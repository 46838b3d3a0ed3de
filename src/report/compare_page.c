/* A comparison as a page: a table of differences, and a drawing of their intervals. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assets.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "report/compare.h"
#include "report/intervals.h"
#include "report/write.h"

static const char *const outcome_words[] = {"one run only", "equal", "better", "not significant",
                                            "worse"};

/* --- The drawing --------------------------------------------------------------------------------- */

/* As a share of what it is compared with, so that agents of different size stand on one axis; absolute
 * where that is 0. */
static bool is_relative(const tacit_comparison *c)
{
    for (size_t i = 0; i < tacit_comparison_size(c); i++)
        if (!(tacit_comparison_at(c, i)->reference_mean > 0))
            return false;
    return true;
}

static void put_name(char out[240], const tacit_comparison *c, const tacit_difference *d,
                     bool several, const char *const *names)
{
    (void)snprintf(out, 240, "%.80s%s%.60s%s%.60s", d->agent, several ? ", " : "",
                   several ? d->world : "", tacit__comparison_results(c) > 2 ? ", " : "",
                   tacit__comparison_results(c) > 2 ? names[d->which] : "");
}

static bool has_worlds(const tacit_comparison *c)
{
    for (size_t i = 1; i < tacit_comparison_size(c); i++)
        if (strcmp(tacit_comparison_at(c, i)->world, tacit_comparison_at(c, 0)->world) != 0)
            return true;
    return false;
}

static void put_drawings(tacit__text *to, const tacit_comparison *c, const char *const *names)
{
    static const tacit__style styles[] = {{0, 0, 0}, {7, 0, 0}, {3, 0, 0}, {7, 0, 0}, {2, 0, 0}};
    static const tacit__sheet sheets[] = {{.width = 912, .font = 12.5, .css_class = "broad linear"},
                                          {.width = 358, .font = 11, .css_class = "slim linear"}};
    const size_t n = tacit_comparison_size(c);
    const bool relative = is_relative(c), several = has_worlds(c);
    tacit__interval_row *rows = tacit__alloc(n, sizeof *rows);
    if (rows == NULL) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const tacit_difference *d = tacit_comparison_at(c, i);
        const double scale = relative ? 100 / d->reference_mean : 1;
        put_name(rows[i].name, c, d, several, names);
        rows[i].value = scale * d->difference;
        rows[i].low = scale * d->low;
        rows[i].high = scale * d->high;
        rows[i].style = styles[tacit__difference_outcome(d)];
    }
    const tacit__intervals drawing = {
        .rows = rows,
        .n = n,
        .title = "",
        .notes = "",
        .x_name =
            relative ? "difference of regret, in percent of the reference" : "difference of regret",
        .reference = 0};
    for (size_t i = 0; i < 2; i++)
        tacit__intervals_svg(to, &drawing, &sheets[i]);
    tacit__free(rows);
}

/* --- The table ----------------------------------------------------------------------------------- */

static void put_row(tacit__text *to, const tacit_comparison *c, const tacit_difference *d,
                    bool several, const char *const *names)
{
    char number[TACIT__NUMBER], low[TACIT__NUMBER], high[TACIT__NUMBER], name[240];
    const tacit__outcome outcome = tacit__difference_outcome(d);
    put_name(name, c, d, several, names);
    tacit__text_put(to, "<tr><th scope=\"row\">");
    tacit__write_html(to, name);
    tacit__text_print(to, "</th><td data-name=\"reference\">%s</td>",
                      tacit__number(number, d->reference_mean, 5));
    tacit__text_print(to, "<td data-name=\"regret\">%s</td>", tacit__number(number, d->mean, 5));
    tacit__text_print(to, "<td data-name=\"difference\">%s</td>",
                      tacit__number(number, d->difference, 4));
    tacit__text_print(to, "<td data-name=\"95 %% interval\">%s to %s</td>",
                      tacit__number(low, d->low, 4), tacit__number(high, d->high, 4));
    tacit__text_print(to, "<td data-name=\"runs\">%llu%s</td>", (unsigned long long)d->runs,
                      d->paired ? "" : ", not paired");
    tacit__text_print(to, "<td data-name=\"\"%s>%s",
                      outcome == TACIT__OUTCOME_WORSE ? " class=\"bad\"" : "",
                      outcome_words[outcome]);
    if (d->runs_not_learned > 0)
        tacit__text_print(to, "; %llu did not learn", (unsigned long long)d->runs_not_learned);
    tacit__text_put(to, "</td></tr>\n");
}

static void put_table(tacit__text *to, const tacit_comparison *c, const char *const *names)
{
    const bool several = has_worlds(c);
    tacit__text_put(to,
                    "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Differences\">"
                    "<table class=\"results\"><thead><tr><th scope=\"col\">agent</th><th "
                    "scope=\"col\">reference</th><th scope=\"col\">regret</th><th "
                    "scope=\"col\">difference</th><th scope=\"col\">95&nbsp;% interval</th><th "
                    "scope=\"col\">runs</th><th scope=\"col\"></th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < tacit_comparison_size(c); i++)
        put_row(to, c, tacit_comparison_at(c, i), several, names);
    tacit__text_put(
        to, "</tbody></table></div>\n<p class=\"caption\"><i>Reference</i> is the regret of ");
    if (tacit__comparison_results(c) == 1)
        tacit__write_html(to, tacit_comparison_at(c, 0)->reference);
    else
        tacit__text_put(to, "the agent of the same label in ");
    if (tacit__comparison_results(c) > 1)
        tacit__write_html(to, names[0]);
    tacit__text_put(
        to, ". Lower regret is better. Intervals are 95&nbsp;% confidence intervals of the mean "
            "difference by Student's t, each by itself; runs over the same people are "
            "compared one by one.</p>\n");
}

static void put_page(tacit__text *to, const tacit_comparison *c, const char *const *names)
{
    tacit__text_put(to,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'\">\n<meta name=\"color-scheme\" content=\"light "
                    "dark\">\n<title>Comparison</title>\n<style>\n");
    tacit__text_add(to, (const char *)tacit__asset_report_css.bytes, tacit__asset_report_css.size);
    tacit__text_put(to, "</style>\n</head>\n<body>\n<main>\n<p class=\"kicker\"><span>tacit, "
                        "comparison</span> <span class=\"stamp\">simulated, not "
                        "private</span></p>\n<h1>");
    for (size_t i = 0; i < tacit__comparison_results(c); i++) {
        tacit__text_put(to, i == 0 ? "" : i == 1 ? " beside " : ", ");
        tacit__write_html(to, names[tacit__comparison_results(c) - 1 - i]);
    }
    tacit__text_put(to, "</h1>\n<figure><div class=\"still\" data-shown=\"linear\">\n");
    put_drawings(to, c, names);
    tacit__text_put(to,
                    "</div><figcaption>Differences of regret with their 95&nbsp;% intervals; to "
                    "the left of zero an agent is better than what it is compared "
                    "with.</figcaption></figure>\n");
    put_table(to, c, names);
    for (size_t i = 0; tacit_comparison_note(c, i) != NULL; i++) {
        tacit__text_put(to, i == 0 ? "<h2>What was not compared</h2>\n<ul>\n<li>" : "<li>");
        tacit__write_html(to, tacit_comparison_note(c, i));
        tacit__text_put(to, tacit_comparison_note(c, i + 1) == NULL ? "</li>\n</ul>\n" : "</li>\n");
    }
    tacit__text_put(to, "</main>\n</body>\n</html>\n");
}

tacit_status tacit_comparison_write(const tacit_comparison *comparison, const char *const *names,
                                    const char *path, tacit_error *err)
{
    if (comparison == NULL || names == NULL || path == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__text page = {0};
    put_page(&page, comparison, names);
    tacit_status status = page.failed ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                                      : tacit__file_replace(path, page.data, page.length, err);
    tacit__text_destroy(&page);
    return status;
}
