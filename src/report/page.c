/* The page: head, story, figures, table, promises, settings; styles and scripts come from web/ by way of
 * the build. */
#include <math.h>
#include <string.h>

#include "base/assets.h"
#include "base/error.h"
#include "report/figure.h"
#include "report/render.h"
#include "report/write.h"

enum { SHOWN_RUNS = 20 };

/* --- Head ---------------------------------------------------------------------------------------- */

static void put_asset(tacit__text *to, const tacit__asset *asset)
{
    tacit__text_add(to, (const char *)asset->bytes, asset->size);
}

static void put_head(tacit__text *to, const tacit__report *r)
{
    /* The page loads nothing, and tells the browser to enforce that. */
    tacit__text_put(to,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: "
                    "blob:\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta "
                    "name=\"generator\" content=\"tacit ");
    tacit__write_html(to, r->version);
    tacit__text_put(to, "\">\n<title>");
    tacit__write_html(to, r->title);
    tacit__text_put(to, "</title>\n<style>\n");
    put_asset(to, &tacit__asset_report_css);
    tacit__text_put(to, "</style>\n</head>\n");
}

static void put_space(tacit__text *to, const tacit__report_world *s)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER], d[TACIT__NUMBER];
    tacit__write_html(to, s->name);
    if (s->n_states > 0)
        tacit__text_print(to, ": %s states, %s actions, %s step%s", tacit__count(a, s->n_states),
                          tacit__count(b, s->n_actions), tacit__count(c, s->horizon),
                          s->horizon == 1 ? "" : "s");
    if (!s->logged)
        tacit__text_print(to, "; the best policy earns %s per user",
                          tacit__number(d, s->optimal_value, 4));
}

static void put_opening(tacit__text *to, const tacit__report *r)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    tacit__text_put(to, "<header>\n<p class=\"kicker\"><span>tacit, experiment report</span> "
                        "<span class=\"stamp\">simulated, not private</span></p>\n<h1>");
    tacit__write_html(to, r->title);
    tacit__text_put(to, "</h1>\n");
    if (r->n_worlds == 1) {
        tacit__text_put(to, "<p class=\"story\">");
        tacit__story(to, r, 0);
        tacit__text_put(to, "</p>\n");
    }
    tacit__text_put(to, "<p class=\"facts\">");
    if (r->n_worlds == 1)
        put_space(to, &r->worlds[0]);
    else
        tacit__text_print(to, "%zu worlds", r->n_worlds);
    tacit__text_print(to, ". %s users, %s run%s, seed %llu.</p>\n", tacit__count(a, r->episodes),
                      tacit__count(b, r->runs), r->runs == 1 ? "" : "s",
                      (unsigned long long)r->seed);
    if (r->n_done < r->n_jobs)
        tacit__text_print(to,
                          "<p class=\"notice\" role=\"status\"><strong>Not finished.</strong> This "
                          "experiment was stopped: %s of %s runs of agents are done, and "
                          "everything below is about these. <code>tacit run --resume</code> "
                          "plays the rest.</p>\n",
                          tacit__count(a, r->n_done), tacit__count(b, r->n_jobs));
    tacit__text_print(
        to,
        "<p class=\"notice\"><strong>Simulated, not private.</strong> All noise comes "
        "from seed %llu, so that every result here can be reproduced; anyone who knows "
        "the seed can subtract it. The promises below are those of the same agents with "
        "noise from the operating system.</p>\n",
        (unsigned long long)r->seed);
    tacit__text_put(to, "<p class=\"tools top\" data-script hidden><button type=\"button\" "
                        "data-print>Print / PDF</button></p>\n</header>\n");
}

/* --- Figures ------------------------------------------------------------------------------------- */

static void put_switch(tacit__text *to, const char *axis, const char *name, bool log)
{
    tacit__text_print(to,
                      "<span class=\"switch\" role=\"group\" aria-label=\"%s axis\">%s "
                      "<button type=\"button\" data-axis=\"%s\" data-scale=\"linear\" "
                      "aria-pressed=\"%s\">linear</button><button type=\"button\" "
                      "data-axis=\"%s\" data-scale=\"log\" aria-pressed=\"%s\">log</button></span>",
                      name, name, axis, log ? "false" : "true", axis, log ? "true" : "false");
}

static void put_tools(tacit__text *to, bool switches, bool log)
{
    tacit__text_put(to, "<div class=\"tools\" data-script hidden>");
    if (switches)
        put_switch(to, "y", "Regret", log);
    tacit__text_put(to, "<span class=\"end\"><button type=\"button\" class=\"phone\" data-curves "
                        "aria-expanded=\"false\">Curves</button><button type=\"button\" "
                        "data-svg>SVG</button><button "
                        "type=\"button\" data-pdf>PDF</button></span></div>\n");
}

static void open_figure(tacit__text *to, size_t number, size_t world, const char *what)
{
    tacit__text_print(to,
                      "<figure id=\"figure%zu\" data-figure=\"%s\" data-world=\"%zu\" "
                      "data-file=\"figure%zu\">\n",
                      number, what, world, number);
}

static void put_drawings_frame(tacit__text *to, bool log)
{
    tacit__text_print(to,
                      "<div class=\"still\" data-shown=\"%s\">\n<div class=\"legend\" "
                      "role=\"group\" aria-label=\"Curves\" hidden></div>\n",
                      log ? "log" : "linear");
}

/* Every drawing for wide screens and paper, and for telephones; style sheets show one of them. */
static const tacit__sheet sheets[] = {
    {.width = 912, .font = 12.5, .log = true, .css_class = "broad log"},
    {.width = 912, .font = 12.5, .css_class = "broad linear"},
    {.width = 358, .font = 11, .log = true, .css_class = "slim log"},
    {.width = 358, .font = 11, .css_class = "slim linear"},
};
enum { N_SHEETS = sizeof sheets / sizeof *sheets };

static size_t put_curves(tacit__text *to, const tacit__report *r, size_t world, size_t number)
{
    TACIT__REQUIRE(world < r->n_worlds);
    bool log = tacit__curves_want_log(r, world), drawn = false;
    open_figure(to, number, world, "curves");
    put_tools(to, true, log);
    put_drawings_frame(to, log);
    for (size_t i = 0; i < N_SHEETS; i++)
        drawn = tacit__curves_svg(to, r, world, &sheets[i]) || drawn;
    if (!drawn)
        tacit__text_put(to, "<p>No run was finished, so there is nothing to draw.</p>\n");
    tacit__text_print(to,
                      "</div>\n<figcaption><b>Figure %zu.</b> Regret against the number of users: "
                      "what the best policy would have earned, minus what the policies that were "
                      "shown earn in expectation; exact, not sampled.</figcaption>\n</figure>\n",
                      number);
    return number + 1;
}

static bool any_hollow(const tacit__report_world *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s->outcomes[i].promise != NULL &&
            s->outcomes[i].promise->verdict == TACIT_VERDICT_FAILS)
            return true;
    return false;
}

static size_t put_price(tacit__text *to, const tacit__report *r, size_t world, size_t number)
{
    TACIT__REQUIRE(world < r->n_worlds);
    tacit__text drawings = {0};
    char users[TACIT__NUMBER];
    bool drawn = tacit__price_svg(&drawings, r, world, &sheets[0]);
    drawn = tacit__price_svg(&drawings, r, world, &sheets[2]) && drawn;
    to->failed = to->failed || drawings.failed;
    if (drawn && !drawings.failed) {
        open_figure(to, number, world, "price");
        put_tools(to, false, false);
        put_drawings_frame(to, true);
        tacit__text_add(to, drawings.data, drawings.length);
        tacit__text_print(to,
                          "</div>\n<figcaption><b>Figure %zu.</b> The price of privacy: regret "
                          "after %s users against the claimed <i>ε</i>, both logarithmic; agents "
                          "without an <i>ε</i> are horizontal lines.%s</figcaption>\n</figure>\n",
                          number, tacit__count(users, r->episodes),
                          any_hollow(&r->worlds[world], r->n_agents)
                              ? " Hollow points claim what does not hold."
                              : "");
        number++;
    }
    tacit__text_destroy(&drawings);
    return number;
}

/* --- Table --------------------------------------------------------------------------------------- */

/* The single runs, shown when the reader points at their mean. */
static void put_runs(tacit__text *to, const tacit__report *r, const tacit__report_outcome *o)
{
    char number[TACIT__NUMBER];
    const char *between = " title=\"single runs: ";
    if (o->n_runs < 2 || o->n_runs > SHOWN_RUNS)
        return;
    for (uint64_t run = 0; run < r->runs; run++) {
        if (isnan(o->per_run[run]))
            continue;
        tacit__text_print(to, "%s%s", between, tacit__number(number, o->per_run[run], 4));
        between = "; ";
    }
    tacit__text_put(to, "\"");
}

static void put_row(tacit__text *to, const tacit__report *r, const tacit__report_world *s, size_t i)
{
    TACIT__REQUIRE(i < r->n_agents);
    const tacit__report_agent *p = &r->agents[i];
    const tacit__report_outcome *o = &s->outcomes[i];
    char number[TACIT__NUMBER];
    tacit__row_head(to, r, s, i);
    tacit__text_put(to, "<td class=\"words\" data-name=\"guarantee\"><span>");
    tacit__guarantee(to, p->entry);
    if (p->entry->guarantee.model != TACIT_MODEL_NONE &&
        p->entry->calibration != TACIT_CALIBRATION_TIGHT)
        tacit__text_print(to, ", %s", tacit_calibration_name(p->entry->calibration));
    if (o->promise != NULL && o->promise->verdict == TACIT_VERDICT_FAILS)
        tacit__text_print(to, "; <b class=\"bad\">really <i>ε</i>&nbsp;=&nbsp;%s</b>",
                          tacit__number(number, o->promise->real.epsilon.high, 3));
    tacit__text_put(to, "</span></td><td data-name=\"regret\"");
    put_runs(to, r, o);
    tacit__text_print(to, ">%s</td>", tacit__mean(number, o->regret, o->half));
    if (s->has_share)
        tacit__text_print(to, "<td data-name=\"of best\">%s</td>",
                          o->n_runs > 0 ? tacit__percent(number, o->regret / (s->optimal_value *
                                                                              (double)r->episodes))
                                        : "–");
    tacit__text_print(to, "<td data-name=\"late\">%s</td>", tacit__number(number, o->late, 3));
    tacit__text_print(
        to, "<td data-name=\"switches\">%s</td>",
        tacit__number(number, o->switches >= 1000 ? round(o->switches) : o->switches, 4));
    tacit__text_print(to, "<td data-name=\"seconds\">%s</td>", tacit__seconds(number, o->seconds));
    if (r->n_done < r->n_jobs)
        tacit__text_print(to, "<td data-name=\"runs\">%s of %llu</td>",
                          tacit__count(number, o->n_runs), (unsigned long long)r->runs);
    tacit__text_put(to, "</tr>\n");
}

/* A column's name; pointing at it, or moving to it by the keyboard, shows what it is. */
static void put_column(tacit__text *to, const char *name, const char *help)
{
    tacit__text_print(to, "<th scope=\"col\"%s>",
                      strcmp(name, "guarantee") == 0 ? " class=\"words\"" : "");
    if (help != NULL)
        tacit__text_print(to, "<abbr tabindex=\"0\" title=\"%s\">%s</abbr></th>", help, name);
    else
        tacit__text_print(to, "%s</th>", name);
}

static void put_columns(tacit__text *to, bool share, bool runs)
{
    put_column(to, "agent", NULL);
    put_column(to, "guarantee",
               "What the agent claims: joint (a trusted curator) or local, epsilon and delta. "
               "Where its noise does not give that, the real epsilon follows.");
    put_column(to, "regret",
               "How much less all users together received than from the best policy, "
               "as mean over the runs, plus and minus half of its 95&nbsp;% confidence interval.");
    if (share)
        put_column(to, "of best", "Regret as a share of what the best policy earns.");
    put_column(to, "late",
               "Regret per user over the last tenth of the users: how good the policy is "
               "in the end.");
    put_column(to, "switches", "How often the policy changed after the first one.");
    put_column(to, "seconds", "Processor time of one run.");
    if (runs)
        put_column(to, "runs", "How many runs are finished.");
}

static bool any_chosen_delta(const tacit__report *r)
{
    for (size_t i = 0; i < r->n_agents; i++)
        if (r->agents[i].entry->delta_chosen &&
            r->agents[i].entry->guarantee.model != TACIT_MODEL_NONE)
            return true;
    return false;
}

static void put_table(tacit__text *to, const tacit__report *r, size_t world)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit__report_world *s = &r->worlds[world];
    tacit__text_print(
        to,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Results\">\n<table "
        "class=\"results\" aria-describedby=\"table%zu\">\n<thead><tr>",
        world + 1);
    put_columns(to, s->has_share, r->n_done < r->n_jobs);
    tacit__text_put(to, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n_agents; i++)
        if (s->outcomes[i].plays)
            put_row(to, r, s, i);
    tacit__text_print(
        to,
        "</tbody>\n</table>\n</div>\n<p class=\"caption\" id=\"table%zu\"><b>Table %zu.</b> "
        "Regret in the world's own units, mean over the runs ± half of its 95&nbsp;%% confidence "
        "interval%s; <i>late</i> is per user over the last tenth of them; <i>switches</i> are "
        "changes of policy; "
        "<i>seconds</i> of processor time for a run.%s</p>\n",
        world + 1, world + 1, s->has_share ? ", and as a share of what the best policy earns" : "",
        any_chosen_delta(r) ? " Where the file gives no <i>δ</i>, it is 1/(10 users)." : "");
}

static size_t put_world(tacit__text *to, const tacit__report *r, size_t world, size_t number)
{
    TACIT__REQUIRE(world < r->n_worlds);
    tacit__text_print(to, "<section id=\"world%zu\">\n<h2>", world + 1);
    if (r->n_worlds == 1) {
        tacit__text_put(to, "What was found</h2>\n");
    } else {
        tacit__write_html(to, r->worlds[world].name);
        tacit__text_put(to, "</h2>\n<p class=\"story\">");
        tacit__story(to, r, world);
        tacit__text_put(to, "</p>\n<p class=\"facts\">");
        put_space(to, &r->worlds[world]);
        tacit__text_put(to, ".</p>\n");
    }
    if (r->worlds[world].logged) {
        number = tacit__rewards(to, r, world, number);
    } else {
        number = put_curves(to, r, world, number);
        number = put_price(to, r, world, number);
        put_table(to, r, world);
    }
    tacit__text_put(to, "</section>\n");
    return number;
}

/* --- End ----------------------------------------------------------------------------------------- */

static void put_repeat(tacit__text *to, const tacit__report *r, bool scripts)
{
    tacit__text command = {0};
    tacit__command(&command, r);
    tacit__text_put(to, "<section id=\"repeat\">\n<h2>To have it again</h2>\n<pre><code>");
    if (command.data != NULL)
        tacit__write_html(to, command.data);
    to->failed = to->failed || command.failed;
    tacit__text_destroy(&command);
    tacit__text_put(to, "</code></pre>\n<p>with tacit ");
    tacit__write_html(to, r->version);
    tacit__text_put(to, ". On one machine the numbers come out the same to the last bit, whatever "
                        "the number of threads; only the seconds differ.</p>\n");
    tacit__text_put(to, "<p class=\"facts\">For a paper: <code>tacit report DIR --figure price -o "
                        "price.pdf --width 84mm</code>, and <code>--table tex</code>.</p>\n");
    if (!scripts)
        tacit__text_put(to, "<p class=\"facts\">This page has no scripts, as was asked for.</p>\n");
    else
        tacit__text_put(to,
                        "<noscript><p class=\"facts\">With scripts allowed, figures tell values "
                        "under the cursor.</p></noscript>\n");
    tacit__text_put(to, "</section>\n");
}

static void put_scripts(tacit__text *to, const tacit__report *r)
{
    tacit__text_put(to, "<script type=\"application/json\" id=\"data\">");
    tacit__data(to, r);
    tacit__text_put(to, "</script>\n<script>\n");
    put_asset(to, &tacit__asset_drawing_js);
    put_asset(to, &tacit__asset_report_js);
    tacit__text_put(to, "</script>\n");
}

void tacit__page(tacit__text *to, const tacit__report *r, bool scripts)
{
    put_head(to, r);
    tacit__text_put(to, "<body>\n<main>\n");
    put_opening(to, r);
    size_t number = 1;
    for (size_t w = 0; w < r->n_worlds; w++)
        number = put_world(to, r, w, number);
    tacit__promises(to, r);
    tacit__settings(to, r);
    put_repeat(to, r, scripts);
    tacit__text_put(to, "</main>\n");
    if (scripts)
        put_scripts(to, r);
    tacit__text_put(to, "</body>\n</html>\n");
}
