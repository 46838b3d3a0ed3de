/* The price of privacy: regret against epsilon, both logarithmic. A line for each family of private
 * agents; the levels of those without privacy, and of the baselines, across. Hollow points are claims
 * that do not hold. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/workspace.h"
#include "report/figure.h"
#include "report/write.h"

/* The figure that is being drawn. */
typedef struct view {
    const tacit__report *r;
    const tacit__report_world *world;
    const tacit__sheet *sheet;
    tacit_spread interval;
    bool any_flagged;
} view;

static void widen(tacit__axis *axis, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    axis->low = value < axis->low ? value : axis->low;
    axis->high = value > axis->high ? value : axis->high;
}

/* At least a decade is shown, and some air on both sides. */
static void add_margin(tacit__axis *axis, double factor)
{
    double decade = axis->high / axis->low;
    if (decade < 10) {
        axis->low /= sqrt(10 / decade);
        axis->high *= sqrt(10 / decade);
    }
    axis->low /= factor;
    axis->high *= factor;
}

/* An epsilon of 0, beside a delta, is nowhere on an axis of logarithms. */
static bool is_plotted(const tacit__report_agent *p)
{
    return p->entry->guarantee.epsilon > 0;
}

/* Returns whether the agent is on the sheet, and was played. */
static bool is_shown(const view *v, size_t agent)
{
    TACIT__REQUIRE(agent < v->r->n_agents);
    bool shown = false;
    for (size_t k = 0; k < tacit__sheet_size(v->sheet, v->r) && !shown; k++)
        shown = tacit__sheet_agent(v->sheet, k) == agent;
    return shown && v->world->outcomes[agent].n_runs > 0;
}

static void edges(const view *v, const tacit__report_outcome *o, double *low, double *high)
{
    *low = *high = o->regret;
    if (v->interval == TACIT_SPREAD_RANGE) {
        *low = o->low[v->r->n_points - 1];
        *high = o->high[v->r->n_points - 1];
    } else if (o->error > 0) {
        double half = tacit__spread_factor(v->interval, o->n_runs) * o->error;
        *low -= half;
        *high += half;
    }
}

static bool find_ranges(const view *v, tacit__figure_frame *f)
{
    f->x = f->y = (tacit__axis){HUGE_VAL, 0, true, 0};
    for (size_t i = 0; i < v->r->n_agents; i++) {
        if (!is_shown(v, i))
            continue;
        double low, high;
        edges(v, &v->world->outcomes[i], &low, &high);
        widen(&f->y, v->world->outcomes[i].regret);
        widen(&f->y, high);
        if (v->r->agents[i].family != SIZE_MAX && is_plotted(&v->r->agents[i]))
            widen(&f->x, v->r->agents[i].entry->guarantee.epsilon);
    }
    if (!(f->x.high > 0) || !(f->y.high > 0))
        return false;
    add_margin(&f->x, 1.6);
    add_margin(&f->y, 1.5);
    return true;
}

static bool holds(const tacit__report_outcome *o)
{
    return o->promise == NULL || o->promise->verdict != TACIT_VERDICT_FAILS;
}

/* Families stand a little apart, so that bars of the same epsilon do not cover each other. */
static double place_x(const view *v, const tacit__figure_frame *f, const tacit__report_agent *p)
{
    const double apart =
        0.22 * v->sheet->font; /* less than a point is wide: it still stands on its tick */
    return tacit__frame_x(f, p->entry->guarantee.epsilon) + apart * (p->style.color % 3 - 1);
}

static void draw_point(tacit__text *to, const view *v, const tacit__figure_frame *f,
                       const tacit__report_agent *p, const tacit__report_outcome *o)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER], color[TACIT__COLOR];
    const double x = place_x(v, f, p), font = v->sheet->font;
    tacit__style solid = {p->style.color, 0, 0};
    double low, high;
    edges(v, o, &low, &high);
    if (high > low) {
        tacit__text_print(to, "<path stroke-width=\"%s\"", tacit__coordinate(a, 0.1 * font));
        tacit__figure_stroke(to, solid);
        tacit__text_print(to, " d=\"M%s %sV%s\"/>", tacit__coordinate(a, x),
                          tacit__coordinate(b, tacit__frame_y(f, low)),
                          tacit__coordinate(c, tacit__frame_y(f, high)));
    }
    tacit__text_print(to, "<circle r=\"%s\"", tacit__coordinate(a, 0.32 * font));
    if (holds(o))
        tacit__figure_fill(to, solid);
    else
        tacit__text_print(to,
                          " class=\"c h%d hollow\" stroke=\"%s\" stroke-width=\"%s\" "
                          "fill=\"#ffffff\"",
                          solid.color, tacit__color(solid, color),
                          tacit__coordinate(b, 0.15 * font));
    tacit__text_print(to, " cx=\"%s\" cy=\"%s\"><title>", tacit__coordinate(a, x),
                      tacit__coordinate(b, tacit__frame_y(f, o->regret)));
    tacit__write_html(to, p->entry->label);
    tacit__text_print(to, ": %s</title></circle>", tacit__mean(c, o->regret, o->half));
}

static bool is_point(const view *v, size_t agent)
{
    return is_shown(v, agent) && is_plotted(&v->r->agents[agent]);
}

/* The line of a family through its finished members. */
static void draw_family(tacit__text *to, const view *v, const tacit__figure_frame *f,
                        const tacit__report_family *family)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    bool begun = false;
    tacit__text_print(to, "<path fill=\"none\" stroke-width=\"%s\"",
                      tacit__coordinate(a, 0.15 * v->sheet->font));
    tacit__figure_stroke(to, family->style);
    tacit__text_put(to, " d=\"");
    for (size_t m = 0; m < family->n_members; m++) {
        size_t i = family->members[m];
        if (!is_point(v, i))
            continue;
        double x = place_x(v, f, &v->r->agents[i]);
        tacit__text_print(to, "%c%s %s", begun ? 'L' : 'M', tacit__coordinate(a, x),
                          tacit__coordinate(b, tacit__frame_y(f, v->world->outcomes[i].regret)));
        begun = true;
    }
    tacit__text_put(to, "\"/>");
    for (size_t m = 0; m < family->n_members; m++)
        if (is_point(v, family->members[m]))
            draw_point(to, v, f, &v->r->agents[family->members[m]],
                       &v->world->outcomes[family->members[m]]);
}

/* The member with the largest epsilon, at whose point the family's label stands; SIZE_MAX: none is
 * drawn. */
static size_t last_of(const view *v, const tacit__report_family *family, bool *flagged)
{
    size_t last = SIZE_MAX;
    *flagged = true;
    for (size_t m = 0; m < family->n_members; m++)
        if (is_point(v, family->members[m])) {
            last = family->members[m];
            *flagged = *flagged && v->world->outcomes[last].flagged;
        }
    return last;
}

static void draw_level(tacit__text *to, const view *v, const tacit__figure_frame *f, size_t agent)
{
    TACIT__REQUIRE(agent < v->r->n_agents);
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    tacit__text_print(to, "<path fill=\"none\" stroke-width=\"%s\"",
                      tacit__coordinate(a, 0.11 * v->sheet->font));
    tacit__figure_stroke(to, v->r->agents[agent].style);
    tacit__text_print(to, " d=\"M%s %sH%s\"/>", tacit__coordinate(a, f->left),
                      tacit__coordinate(b, tacit__frame_y(f, v->world->outcomes[agent].regret)),
                      tacit__coordinate(c, f->right));
}

static bool is_level(const view *v, size_t agent)
{
    return is_shown(v, agent) && v->r->agents[agent].family == SIZE_MAX &&
           v->world->outcomes[agent].regret > 0;
}

/* Series are the families, then the levels by the number of their agent. A family is flagged if none of its
 * members has learned. */
static void fill_labels(view *v, tacit__panel *panel)
{
    for (size_t i = 0; i < v->r->n_agents; i++)
        if (is_level(v, i)) {
            tacit__label *l = &panel->labels[panel->n_labels++];
            *l = (tacit__label){.style = v->r->agents[i].style,
                                .series = v->r->n_families + i,
                                .flagged = v->world->outcomes[i].flagged};
            v->any_flagged = v->any_flagged || l->flagged;
            (void)snprintf(l->text, sizeof l->text, "%s", v->r->agents[i].entry->label);
        }
    for (size_t f = 0; f < v->r->n_families; f++) {
        bool flagged;
        if (last_of(v, &v->r->families[f], &flagged) == SIZE_MAX)
            continue;
        tacit__label *l = &panel->labels[panel->n_labels++];
        *l = (tacit__label){.style = v->r->families[f].style, .series = f, .flagged = flagged};
        v->any_flagged = v->any_flagged || flagged;
        (void)snprintf(l->text, sizeof l->text, "%s", v->r->families[f].name);
    }
}

static void place_label(const view *v, const tacit__figure_frame *f, tacit__label *l)
{
    bool ignored;
    size_t agent = l->series - v->r->n_families;
    l->x = f->right;
    if (l->series < v->r->n_families) {
        agent = last_of(v, &v->r->families[l->series], &ignored);
        l->x = place_x(v, f, &v->r->agents[agent]) + 0.32 * v->sheet->font;
    }
    l->y = tacit__frame_y(f, v->world->outcomes[agent].regret);
}

static void draw_all(tacit__text *to, view *v, tacit__drawing *d)
{
    tacit__panel *panel = &d->panels[0];
    fill_labels(v, panel);
    tacit__sheet_notes(v->r, v->world, v->interval, "bars", v->any_flagged, d->notes,
                       sizeof d->notes);
    tacit__drawing_arrange(d);
    tacit__drawing_begin(to, d);
    for (size_t i = 0; i < v->r->n_agents; i++)
        if (is_level(v, i)) {
            tacit__text_print(to, "<g data-series=\"%zu\">", v->r->n_families + i);
            draw_level(to, v, &panel->frame, i);
            tacit__text_put(to, "</g>\n");
        }
    for (size_t i = 0; i < v->r->n_families; i++) {
        bool ignored;
        if (last_of(v, &v->r->families[i], &ignored) == SIZE_MAX)
            continue;
        tacit__text_print(to, "<g data-series=\"%zu\">", i);
        draw_family(to, v, &panel->frame, &v->r->families[i]);
        tacit__text_put(to, "</g>\n");
    }
    for (size_t i = 0; i < panel->n_labels; i++)
        place_label(v, &panel->frame, &panel->labels[i]);
    tacit__drawing_end(to, d);
}

bool tacit__price_svg(tacit__text *to, const tacit__report *r, size_t world,
                      const tacit__sheet *sheet)
{
    TACIT__REQUIRE(world < r->n_worlds);
    view v = {.r = r, .world = &r->worlds[world], .sheet = sheet, .interval = sheet->interval};
    if (v.interval == TACIT_SPREAD_USUAL)
        v.interval = TACIT_SPREAD_CI;
    tacit__panel panel = {0};
    tacit__drawing d = {
        .sheet = sheet,
        .x_name = "ε, as claimed",
        .x_help =
            "The epsilon that the agent's file asks for. Whether its noise really gives it is "
            "in the table: claims that do not hold are hollow points.",
        .panels = &panel,
        .n_panels = 1};
    if (!find_ranges(&v, &panel.frame))
        return false;
    if (TACIT__PIECES(TACIT__PIECE(panel.labels, r->n_agents + r->n_families)) == NULL) {
        to->failed = true;
        return true;
    }
    tacit__label *labels = panel.labels;
    char users[TACIT__NUMBER];
    if (sheet->title != NULL)
        (void)snprintf(d.title, sizeof d.title, "%s", sheet->title);
    else
        (void)snprintf(d.title, sizeof d.title, "The price of privacy after %s users: %s",
                       tacit__count(users, r->episodes), tacit__world_title(r, v.world));
    draw_all(to, &v, &d);
    tacit__workspace_destroy(labels);
    return true;
}
