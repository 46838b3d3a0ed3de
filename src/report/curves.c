/* Regret over time: a line for the mean of each agent, a band for its runs, a label at its end. Where
 * there are many, each family of private agents has a panel, and the others stand in all of them as thin
 * lines. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/workspace.h"
#include "report/figure.h"
#include "report/write.h"

enum { MANY = 8 }; /* lines in one panel: stated choice */

static const double spread = 50,
                    depth = 1e7; /* of results; of a logarithmic axis: stated choices */

/* The figure that is being drawn. Panel p is about family groups[p], or about all if there is one panel. */
typedef struct view {
    const tacit__report *r;
    const tacit__report_world *world;
    const tacit__sheet *sheet;
    bool faceted, any_flagged;
    size_t *groups;
} view;

bool tacit__curves_want_log(const tacit__report *r, size_t world)
{
    TACIT__REQUIRE(world < r->n_worlds);
    double low = HUGE_VAL, high = 0;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit__report_outcome *o = &r->worlds[world].outcomes[i];
        if (o->n_runs == 0 || !(o->regret > 0))
            continue;
        low = o->regret < low ? o->regret : low;
        high = o->regret > high ? o->regret : high;
    }
    return high > spread * low;
}

static tacit_spread interval_of(const view *v)
{
    return v->sheet->interval == TACIT_SPREAD_USUAL ? TACIT_SPREAD_CI : v->sheet->interval;
}

/* The edges of the band at a point. */
static void edges(const view *v, const tacit__report_outcome *o, size_t p, double factor,
                  double *low, double *high)
{
    bool range = interval_of(v) == TACIT_SPREAD_RANGE;
    *low = range ? o->low[p] : o->mean[p] - factor * o->errors[p];
    *high = range ? o->high[p] : o->mean[p] + factor * o->errors[p];
}

/* Zero has no place on a logarithmic axis. */
static bool drawable(const view *v, size_t agent)
{
    TACIT__REQUIRE(agent < v->r->n_agents);
    const tacit__report_outcome *o = &v->world->outcomes[agent];
    return o->mean != NULL && (!v->sheet->log || o->mean[v->r->n_points - 1] > 0);
}

/* From 0, or from the least positive value, to the largest. False: there is nothing. */
static bool find_range(const view *v, tacit__axis *axis)
{
    double low = HUGE_VAL, high = 0;
    bool any = false;
    for (size_t k = 0; k < tacit__sheet_size(v->sheet, v->r); k++) {
        const size_t i = tacit__sheet_agent(v->sheet, k);
        const tacit__report_outcome *o = &v->world->outcomes[i];
        const double factor = tacit__spread_factor(interval_of(v), o->n_runs);
        any = any || drawable(v, i);
        for (size_t p = 0; drawable(v, i) && p < v->r->n_points; p++) {
            double bottom, top;
            edges(v, o, p, factor, &bottom, &top);
            high = top > high ? top : high;
            low = o->mean[p] > 0 && o->mean[p] < low ? o->mean[p] : low;
        }
    }
    high = high > 0 ? high : 1;
    low = low < high ? low : high / 10;
    low = low < high / depth ? high / depth : low;
    *axis = v->sheet->log ? (tacit__axis){low / 1.3, high * 1.3, true, 0}
                          : (tacit__axis){0, high * 1.04, false, 0};
    return any;
}

/* --- Panels -------------------------------------------------------------------------------------- */

/* The families on the sheet, in their order there; whether they have panels of their own. */
static size_t find_groups(view *v)
{
    size_t n = 0, n_drawn = 0;
    for (size_t k = 0; k < tacit__sheet_size(v->sheet, v->r); k++) {
        const size_t i = tacit__sheet_agent(v->sheet, k), family = v->r->agents[i].family;
        bool known = !drawable(v, i) || family == SIZE_MAX;
        n_drawn += drawable(v, i);
        for (size_t g = 0; g < n && !known; g++)
            known = v->groups[g] == family;
        if (!known)
            v->groups[n++] = family;
    }
    v->faceted = n > 1 && (v->sheet->facets == TACIT_FACETS_YES ||
                           (v->sheet->facets == TACIT_FACETS_USUAL && n_drawn > MANY));
    return v->faceted ? n : 1;
}

/* Returns whether the agent is in the panel; *thin: to compare with only. */
static bool is_in(const view *v, size_t panel, size_t agent, bool *thin)
{
    const size_t family = v->r->agents[agent].family;
    *thin = v->faceted && family == SIZE_MAX;
    return drawable(v, agent) && (!v->faceted || *thin || family == v->groups[panel]);
}

static void fill_labels(view *v, tacit__panel *panel, size_t number)
{
    for (size_t k = 0; k < tacit__sheet_size(v->sheet, v->r); k++) {
        const size_t i = tacit__sheet_agent(v->sheet, k);
        const tacit__report_agent *p = &v->r->agents[i];
        bool thin;
        if (!is_in(v, number, i, &thin))
            continue;
        tacit__label *l = &panel->labels[panel->n_labels++];
        char epsilon[TACIT__NUMBER];
        *l = (tacit__label){
            .style = p->style, .series = i, .flagged = v->world->outcomes[i].flagged};
        v->any_flagged = v->any_flagged || l->flagged;
        if (v->faceted && !thin && v->r->families[p->family].n_members > 1)
            (void)snprintf(l->text, sizeof l->text, "ε = %s",
                           tacit__number(epsilon, p->entry->guarantee.epsilon, 4));
        else
            (void)snprintf(l->text, sizeof l->text, "%s", p->entry->label);
    }
}

/* --- Lines --------------------------------------------------------------------------------------- */

/* Point i of n on the way through the curve's points, the last included. */
static size_t pick(const tacit__report *r, size_t i, size_t n)
{
    return (i + 1) * r->n_points / n - 1;
}

static size_t fineness(const view *v, const tacit__figure_frame *f)
{
    size_t n = (size_t)((f->right - f->left) / 2) + 1; /* a point for two pixels */
    return v->r->n_points < n ? v->r->n_points : n;
}

static void point(tacit__text *to, const view *v, const tacit__figure_frame *f, char how, size_t p,
                  double value)
{
    char x[TACIT__NUMBER], y[TACIT__NUMBER];
    tacit__text_print(to, "%c%s %s", how,
                      tacit__coordinate(x, tacit__frame_x(f, (double)v->r->at[p])),
                      tacit__coordinate(y, tacit__frame_y(f, value)));
}

static void draw_band(tacit__text *to, const view *v, const tacit__figure_frame *f, size_t agent)
{
    TACIT__REQUIRE(agent < v->r->n_agents);
    const tacit__report_outcome *o = &v->world->outcomes[agent];
    const double factor = tacit__spread_factor(interval_of(v), o->n_runs);
    const size_t n = fineness(v, f);
    double low, high;
    tacit__text_put(to, "<path");
    tacit__figure_fill(to, v->r->agents[agent].style);
    tacit__text_put(to, " fill-opacity=\"0.16\" stroke=\"none\" d=\"");
    for (size_t i = 0; i < n; i++) {
        edges(v, o, pick(v->r, i, n), factor, &low, &high);
        point(to, v, f, i == 0 ? 'M' : 'L', pick(v->r, i, n), high);
    }
    for (size_t i = n; i-- > 0;) {
        edges(v, o, pick(v->r, i, n), factor, &low, &high);
        point(to, v, f, 'L', pick(v->r, i, n), low);
    }
    tacit__text_put(to, "Z\"/>");
}

static void draw_mean(tacit__text *to, const view *v, const tacit__figure_frame *f, size_t agent,
                      bool thin)
{
    TACIT__REQUIRE(agent < v->r->n_agents);
    char width[TACIT__NUMBER];
    const size_t n = fineness(v, f);
    tacit__text_put(to, "<title>");
    tacit__write_html(to, v->r->agents[agent].entry->label);
    tacit__text_print(to,
                      "</title><path fill=\"none\" stroke-width=\"%s\" stroke-linejoin=\"round\"",
                      tacit__coordinate(width, (thin ? 0.09 : 0.15) * v->sheet->font));
    tacit__figure_stroke(to, v->r->agents[agent].style);
    tacit__text_put(to, " d=\"");
    for (size_t i = 0; i < n; i++)
        point(to, v, f, i == 0 ? 'M' : 'L', pick(v->r, i, n),
              v->world->outcomes[agent].mean[pick(v->r, i, n)]);
    tacit__text_put(to, "\"/>");
}

/* Bands below all lines. */
static void draw_panel(tacit__text *to, const view *v, const tacit__figure_frame *f, size_t panel)
{
    for (int layer = 0; layer < 2; layer++)
        for (size_t k = 0; k < tacit__sheet_size(v->sheet, v->r); k++) {
            const size_t i = tacit__sheet_agent(v->sheet, k);
            bool thin, band = interval_of(v) != TACIT_SPREAD_NONE;
            if (!is_in(v, panel, i, &thin) ||
                (layer == 0 && (thin || !band || v->world->outcomes[i].n_runs < 2)))
                continue;
            tacit__text_print(to, "<g data-series=\"%zu\">", i);
            if (layer == 0)
                draw_band(to, v, f, i);
            else
                draw_mean(to, v, f, i, thin);
            tacit__text_put(to, "</g>\n");
        }
}

static void draw_all(tacit__text *to, view *v, tacit__drawing *d, const tacit__axis *y)
{
    for (size_t p = 0; p < d->n_panels; p++) {
        tacit__panel *panel = &d->panels[p];
        panel->title = v->faceted ? v->r->families[v->groups[p]].name : NULL;
        panel->frame.x = (tacit__axis){0, (double)v->r->episodes, false, 0};
        panel->frame.y = *y;
        fill_labels(v, panel, p);
    }
    tacit__sheet_notes(v->r, v->world, interval_of(v), "bands", v->any_flagged, d->notes,
                       sizeof d->notes);
    tacit__drawing_arrange(d);
    tacit__drawing_begin(to, d);
    for (size_t p = 0; p < d->n_panels; p++) {
        const tacit__panel *panel = &d->panels[p];
        draw_panel(to, v, &panel->frame, p);
        for (size_t i = 0; i < panel->n_labels; i++) {
            tacit__label *l = &panel->labels[i];
            l->x = panel->frame.right;
            l->y = tacit__frame_y(&panel->frame,
                                  v->world->outcomes[l->series].mean[v->r->n_points - 1]);
        }
    }
    tacit__drawing_end(to, d);
}

bool tacit__curves_svg(tacit__text *to, const tacit__report *r, size_t world,
                       const tacit__sheet *sheet)
{
    TACIT__REQUIRE(world < r->n_worlds);
    view v = {.r = r, .world = &r->worlds[world], .sheet = sheet};
    tacit__drawing d = {.sheet = sheet, .x_name = "users"};
    const size_t n = tacit__sheet_size(sheet, r);
    tacit__axis y;
    tacit__label *labels;
    if (!find_range(&v, &y))
        return false;
    if (TACIT__PIECES(TACIT__PIECE(v.groups, n), TACIT__PIECE(d.panels, n)) == NULL) {
        to->failed = true;
        return true;
    }
    d.n_panels = find_groups(&v);
    if (TACIT__PIECES(TACIT__PIECE(labels, n * d.n_panels)) == NULL) {
        tacit__workspace_destroy(v.groups);
        to->failed = true;
        return true;
    }
    for (size_t p = 0; p < d.n_panels; p++)
        d.panels[p].labels = labels + p * n;
    if (sheet->title != NULL)
        (void)snprintf(d.title, sizeof d.title, "%s", sheet->title);
    else
        (void)snprintf(d.title, sizeof d.title, "Regret against users: %s",
                       tacit__world_title(v.r, v.world));
    draw_all(to, &v, &d, &y);
    tacit__workspace_destroy(labels);
    tacit__workspace_destroy(v.groups);
    return true;
}
