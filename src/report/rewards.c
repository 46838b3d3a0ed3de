/* Worlds that are logs: what each policy would have earned, as far as the log can tell. Nothing here is
 * exact, and the page says so: estimates in three ways with their intervals, the effective number of
 * users, and the lift over the log's own policy and over the best constant action. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/intervals.h"
#include "report/render.h"
#include "report/write.h"

static const double limit = 1.959963984540054; /* normal, 97.5 %: users are many */

static const tacit_estimate *any_estimate(const tacit__report *r, const tacit__report_world *s)
{
    for (size_t i = 0; i < r->n_agents; i++)
        if (s->outcomes[i].estimate.known)
            return &s->outcomes[i].estimate;
    return NULL;
}

static void fill_row(tacit__interval_row *row, const char *name, double value, double error,
                     tacit__style style)
{
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    row->value = value;
    row->low = value - limit * error;
    row->high = value + limit * error;
    row->style = style;
}

bool tacit__reward_svg(tacit__text *to, const tacit__report *r, size_t world,
                       const tacit__sheet *sheet)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit__report_world *s = &r->worlds[world];
    const tacit_estimate *log = s->logged ? any_estimate(r, s) : NULL;
    char title[240], notes[240];
    bool flagged = false;
    size_t n = 0;
    if (log == NULL)
        return false;
    tacit__interval_row *rows =
        tacit__alloc(tacit__sheet_size(sheet, r) + 1, sizeof *rows); /* and the log's own policy */
    if (rows == NULL) {
        to->failed = true;
        return true;
    }
    fill_row(&rows[n++], "the log's own policy", log->logging, log->logging_error,
             (tacit__style){TACIT__GRAY, 0, 0});
    for (size_t k = 0; k < tacit__sheet_size(sheet, r); k++) {
        const size_t i = tacit__sheet_agent(sheet, k);
        const tacit_estimate *e = &s->outcomes[i].estimate;
        if (!e->known)
            continue;
        rows[n].flagged = s->outcomes[i].flagged;
        flagged = flagged || rows[n].flagged;
        fill_row(&rows[n++], r->agents[i].entry->label, e->doubly_robust, e->doubly_robust_error,
                 r->agents[i].style);
    }
    (void)snprintf(title, sizeof title, "%s",
                   sheet->title != NULL ? sheet->title : "Estimated reward a user: ");
    if (sheet->title == NULL)
        (void)snprintf(title + strlen(title), sizeof title - strlen(title), "%s",
                       tacit__world_title(r, s));
    (void)snprintf(notes, sizeof notes, "Doubly robust, from the log, with 95 %% intervals.%s",
                   flagged ? " † below the best constant action." : "");
    const tacit__intervals drawing = {.rows = rows,
                                      .n = n,
                                      .title = title,
                                      .notes = notes,
                                      .x_name = "reward a user",
                                      .reference = log->constant,
                                      .reference_name = "best constant action"};
    tacit__intervals_svg(to, &drawing, sheet);
    tacit__free(rows);
    return true;
}

/* --- The section of the page --------------------------------------------------------------------- */

static void put_interval(tacit__text *to, const char *name, double value, double error)
{
    char number[TACIT__NUMBER];
    tacit__text_print(to, "<td data-name=\"%s\">%s</td>", name,
                      tacit__mean(number, value, limit * error));
}

static void open_table(tacit__text *to, size_t number, const char *const columns[][2], size_t n)
{
    tacit__text_print(
        to,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Results\">\n<table "
        "class=\"results\" aria-describedby=\"table%zu\">\n<thead><tr><th "
        "scope=\"col\">agent</th>",
        number);
    for (size_t i = 0; i < n; i++)
        tacit__text_print(to,
                          "<th scope=\"col\"%s><abbr tabindex=\"0\" title=\"%s\">%s</abbr></th>",
                          strcmp(columns[i][0], "guarantee") == 0 ? " class=\"words\"" : "",
                          columns[i][1], columns[i][0]);
    tacit__text_put(to, "</tr></thead>\n<tbody>\n");
}

static void put_table(tacit__text *to, const tacit__report *r, size_t world)
{
    static const char *const columns[][2] = {
        {"guarantee", "What the agent claims: joint (a trusted curator) or local."},
        {"reward", "Doubly robust: unbiased, and less noisy than inverse propensities alone."},
        {"over the log", "Lift over the policy that wrote the log, user by user."},
        {"over constant", "Lift over the best constant action, chosen on the same log."},
        {"effective users", "Effective number of users: (sum of weights) squared over the "
                            "sum of their squares."}};
    const tacit__report_world *s = &r->worlds[world];
    char number[TACIT__NUMBER];
    open_table(to, world + 1, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_estimate *e = &s->outcomes[i].estimate;
        if (!e->known)
            continue;
        tacit__row_head(to, r, s, i);
        tacit__text_put(to, "<td class=\"words\" data-name=\"guarantee\"><span>");
        tacit__guarantee(to, r->agents[i].entry);
        tacit__text_put(to, "</span></td>");
        put_interval(to, "reward", e->doubly_robust, e->doubly_robust_error);
        put_interval(to, "over the log", e->lift_logging, e->lift_logging_error);
        put_interval(to, "over constant", e->lift_constant, e->lift_constant_error);
        tacit__text_print(to, "<td data-name=\"effective users\">%s</td></tr>\n",
                          tacit__count(number, (uint64_t)llround(e->effective)));
    }
    tacit__text_print(
        to,
        "</tbody>\n</table>\n</div>\n<p class=\"caption\" id=\"table%zu\"><b>Table %zu.</b> Mean "
        "reward a user, <b>estimated</b> from the log, ± half of the 95&nbsp;%% interval. Runs "
        "replay the same log in other orders: numbers are means over them, and intervals do not "
        "shrink with more runs.</p>\n",
        world + 1, world + 1);
}

/* A table of their own: beside the others they would not fit. */
static void put_others(tacit__text *to, const tacit__report *r, size_t world)
{
    static const char *const columns[][2] = {
        {"self-normalized",
         "Inverse propensities divided by their sum: a little biased, less noisy."},
        {"inverse propensities", "Unbiased, and the noisiest."}};
    const tacit__report_world *s = &r->worlds[world];
    tacit__text_put(to, "<details><summary>Two other estimates of the reward</summary>\n");
    open_table(to, world + 1, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_estimate *e = &s->outcomes[i].estimate;
        if (!e->known)
            continue;
        tacit__row_head(to, r, s, i);
        put_interval(to, "self-normalized", e->self_normalized, e->self_normalized_error);
        put_interval(to, "inverse propensities", e->ips, e->ips_error);
        tacit__text_put(to, "</tr>\n");
    }
    tacit__text_put(to, "</tbody>\n</table>\n</div>\n</details>\n");
}

size_t tacit__rewards(tacit__text *to, const tacit__report *r, size_t world, size_t number)
{
    TACIT__REQUIRE(world < r->n_worlds);
    static const tacit__sheet sheets[] = {{.width = 912, .font = 12.5, .css_class = "broad linear"},
                                          {.width = 358, .font = 11, .css_class = "slim linear"}};
    bool drawn = true;
    tacit__text_print(to, "<figure id=\"figure%zu\"><div class=\"still\" data-shown=\"linear\">\n",
                      number);
    for (size_t i = 0; i < 2; i++)
        drawn = tacit__reward_svg(to, r, world, &sheets[i]) && drawn;
    tacit__text_print(to,
                      "%s</div>\n<figcaption><b>Figure %zu.</b> What each policy would have earned "
                      "a user, <b>estimated</b> from the log.</figcaption>\n</figure>\n",
                      drawn ? "" : "<p>No run was finished, so there is nothing to draw.</p>\n",
                      number);
    if (drawn) {
        put_table(to, r, world);
        put_others(to, r, world);
    }
    return number + 1;
}

/* "0.204 a user (95 % interval 0.187 to 0.221)" */
static void put_reward(tacit__text *to, const tacit_estimate *e)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    tacit__text_print(to, "%s per user (95&nbsp;%% interval %s to %s)",
                      tacit__number(a, e->doubly_robust, 3),
                      tacit__number(b, e->doubly_robust - limit * e->doubly_robust_error, 3),
                      tacit__number(c, e->doubly_robust + limit * e->doubly_robust_error, 3));
}

void tacit__rewards_story(tacit__text *to, const tacit__report *r, size_t world)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit__report_world *s = &r->worlds[world];
    const tacit_estimate *log = any_estimate(r, s);
    size_t best[2] = {SIZE_MAX, SIZE_MAX}; /* without privacy, and with */
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    if (log == NULL) {
        tacit__text_put(to, "No run was finished.");
        return;
    }
    for (size_t i = 0; i < r->n_agents; i++) {
        const size_t which = r->agents[i].family != SIZE_MAX;
        if (s->outcomes[i].estimate.known && !r->agents[i].entry->baseline &&
            (best[which] == SIZE_MAX || s->outcomes[i].estimate.doubly_robust >
                                            s->outcomes[best[which]].estimate.doubly_robust))
            best[which] = i;
    }
    tacit__text_print(to,
                      "This world is a log of %s users, so everything is estimated. Its own policy "
                      "earned %s per user, ",
                      tacit__count(a, r->episodes), tacit__number(b, log->logging, 3));
    tacit__text_print(to, "and the best constant action would have earned %s.",
                      tacit__number(a, log->constant, 3));
    for (size_t w = 0; w < 2; w++)
        if (best[w] != SIZE_MAX) {
            tacit__text_put(to, w == 0 ? " The best learner without privacy, "
                                       : " The best learner with privacy, ");
            tacit__write_html(to, r->agents[best[w]].entry->label);
            tacit__text_put(to, ", would have earned ");
            put_reward(to, &s->outcomes[best[w]].estimate);
            tacit__text_put(to, ".");
        }
}
