/* A comparison as a page: a table of differences, and a drawing of their intervals. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assets.h"
#include "base/error.h"
#include "base/file.h"
#include "report/compare.h"
#include "report/figure.h"
#include "report/write.h"

static const char *const outcome_words[] = {"one run only", "equal", "better", "not told apart",
                                            "worse"};

/* --- The drawing: a line for each interval, zero in the middle of things ------------------------- */

/* As a share of what it is compared with, so that agents of different size stand on one axis; absolute
 * where that is 0. */
static bool is_relative(const tacit_comparison *c)
{
    for (size_t i = 0; i < tacit_comparison_size(c); i++)
        if (!(tacit_comparison_at(c, i)->reference_mean > 0))
            return false;
    return true;
}

static double scaled(const tacit_difference *d, double x, bool relative)
{
    return relative ? 100 * x / d->reference_mean : x;
}

static tacit__axis find_axis(const tacit_comparison *c, bool relative)
{
    tacit__axis axis = {0, 0, false, 0};
    for (size_t i = 0; i < tacit_comparison_size(c); i++) {
        const tacit_difference *d = tacit_comparison_at(c, i);
        const double ends[] = {isnan(d->low) ? d->difference : d->low,
                               isnan(d->high) ? d->difference : d->high};
        axis.low = fmin(axis.low, scaled(d, ends[0], relative));
        axis.high = fmax(axis.high, scaled(d, ends[1], relative));
    }
    const double air = fmax(0.05 * (axis.high - axis.low), 1e-9);
    axis.low -= air;
    axis.high += air;
    return axis;
}

static void put_text(tacit__text *to, const char *css_class, const char *anchor, double x, double y,
                     const char *text, size_t most)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    tacit__text_print(to, "<text class=\"%s\" fill=\"%s\" text-anchor=\"%s\" x=\"%s\" y=\"%s\">",
                      css_class, css_class[0] == 'i' ? "#1a1a1a" : "#555555", anchor,
                      tacit__coordinate(a, x), tacit__coordinate(b, y));
    tacit__write_html_short(to, text, most);
    tacit__text_put(to, "</text>");
}

static void put_interval(tacit__text *to, const tacit__figure_frame *f, const tacit_difference *d,
                         double y, double font, bool relative)
{
    static const tacit__style styles[] = {{0, 0, 0}, {7, 0, 0}, {3, 0, 0}, {7, 0, 0}, {2, 0, 0}};
    const tacit__style style = styles[tacit__difference_outcome(d)];
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    if (!isnan(d->low)) {
        tacit__text_print(to, "<path fill=\"none\" stroke-width=\"%s\"",
                          tacit__coordinate(a, 0.18 * font));
        tacit__figure_stroke(to, style);
        tacit__text_print(to, " d=\"M%s %sH%s\"/>",
                          tacit__coordinate(a, tacit__frame_x(f, scaled(d, d->low, relative))),
                          tacit__coordinate(b, y),
                          tacit__coordinate(c, tacit__frame_x(f, scaled(d, d->high, relative))));
    }
    tacit__text_print(to, "<circle r=\"%s\"", tacit__coordinate(a, 0.32 * font));
    tacit__figure_fill(to, style);
    tacit__text_print(to, " cx=\"%s\" cy=\"%s\"/>\n",
                      tacit__coordinate(a, tacit__frame_x(f, scaled(d, d->difference, relative))),
                      tacit__coordinate(b, y));
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

static void put_drawing(tacit__text *to, const tacit_comparison *c, const char *const *names,
                        double width, double font, const char *css_class)
{
    const size_t n = tacit_comparison_size(c);
    const bool relative = is_relative(c), several = has_worlds(c);
    const double row = 1.9 * font, left = 0.42 * width, zero_room = 2 * font;
    tacit__figure_frame f = {.left = left, .right = width - zero_room, .top = 0.5 * font};
    char a[TACIT__NUMBER], b[TACIT__NUMBER], d[TACIT__NUMBER], name[240];
    f.bottom = f.top + row * (double)n + 0.5 * font;
    f.x = find_axis(c, relative);
    f.x.wanted = (int)fmax(3, (f.right - f.left) / (8 * font));
    f.y = (tacit__axis){0, 0, false, 0}; /* no ticks */
    const double height = f.bottom + 3.6 * font;
    tacit__text_print(to,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot %s\" role=\"img\" "
                      "viewBox=\"0 0 %s %s\" font-size=\"%s\" font-family=\"Helvetica, Arial, "
                      "'Liberation Sans', sans-serif\">\n<title>Differences of regret</title>\n",
                      css_class, tacit__coordinate(a, width), tacit__coordinate(b, height),
                      tacit__coordinate(d, font));
    tacit__axes_draw(to, &f, font);
    const double zero = tacit__frame_x(&f, 0);
    tacit__text_print(to, "<line class=\"axis\" stroke=\"#555555\" x1=\"%s\" x2=\"%s\" ",
                      tacit__coordinate(a, zero), tacit__coordinate(b, zero));
    tacit__text_print(to, "y1=\"%s\" y2=\"%s\"/>\n", tacit__coordinate(a, f.top),
                      tacit__coordinate(b, f.bottom));
    for (size_t i = 0; i < n; i++) {
        const double y = f.top + row * ((double)i + 0.7);
        put_name(name, c, tacit_comparison_at(c, i), several, names);
        put_text(to, "ink", "end", left - 0.8 * font, y + 0.35 * font, name,
                 (size_t)(left / tacit__words_width(1, font)));
        put_interval(to, &f, tacit_comparison_at(c, i), y, font, relative);
    }
    put_text(to, "ink", "middle", (f.left + f.right) / 2, f.bottom + 2.9 * font,
             relative ? "difference of regret, in percent of the reference"
                      : "difference of regret",
             90);
    tacit__text_put(to, "</svg>\n");
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
    tacit__text_print(to, "<td data-name=\"\"%s>%s</td></tr>\n",
                      outcome == TACIT__OUTCOME_WORSE ? " class=\"bad\"" : "",
                      outcome_words[outcome]);
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
    tacit__text_put(to, ". Regret is lower where an agent "
                        "is better. Intervals are 95&nbsp;% confidence intervals of the mean "
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
    put_drawing(to, c, names, 912, 12.5, "broad linear");
    put_drawing(to, c, names, 358, 11, "slim linear");
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
