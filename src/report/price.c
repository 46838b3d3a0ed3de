/* The price of privacy: regret against epsilon, both logarithmic. A line for each family of private
 * agents; the levels of those without privacy, and of the yardsticks, across. Hollow points are claims
 * that do not hold. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/figure.h"
#include "report/write.h"

enum { WIDTH = 760, HEIGHT = 400, LEFT = 74, RIGHT = 196, TOP = 14, BOTTOM = 50 };

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

static bool find_ranges(const tacit__report *r, const tacit__report_world *s,
                        tacit__figure_frame *f)
{
    f->x = f->y = (tacit__axis){HUGE_VAL, 0, true};
    for (size_t i = 0; i < r->n_agents; i++) {
        if (s->outcomes[i].n_runs == 0)
            continue;
        widen(&f->y, s->outcomes[i].regret);
        if (r->agents[i].family != SIZE_MAX && is_plotted(&r->agents[i]))
            widen(&f->x, r->agents[i].entry->guarantee.epsilon);
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

static void draw_point(tacit__text *to, const tacit__figure_frame *f, const tacit__report_agent *p,
                       const tacit__report_outcome *o)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    double x = tacit__frame_x(f, p->entry->guarantee.epsilon);
    tacit__style solid = {p->style.color, 0};
    if (o->error > 0) {
        tacit__text_put(to, "<path stroke-width=\"1.2\"");
        tacit__figure_stroke(to, solid);
        tacit__text_print(to, " d=\"M%s %sV%s\"/>", tacit__coordinate(a, x),
                          tacit__coordinate(b, tacit__frame_y(f, o->regret - o->error)),
                          tacit__coordinate(c, tacit__frame_y(f, o->regret + o->error)));
    }
    if (holds(o)) {
        tacit__text_put(to, "<circle r=\"4\"");
        tacit__figure_fill(to, solid);
    } else {
        tacit__text_print(to,
                          "<circle r=\"4\" class=\"c%d hollow\" stroke=\"%s\" stroke-width=\"1.8\" "
                          "fill=\"#ffffff\"",
                          solid.color, tacit__color(solid));
    }
    tacit__text_print(to, " cx=\"%s\" cy=\"%s\"><title>", tacit__coordinate(a, x),
                      tacit__coordinate(b, tacit__frame_y(f, o->regret)));
    tacit__write_html(to, p->entry->label);
    tacit__text_print(to, ": %s</title></circle>", tacit__mean(c, o->regret, o->error));
}

/* The line of a family through its finished members; returns the last of them, or SIZE_MAX. */
static size_t draw_family(tacit__text *to, const tacit__figure_frame *f, const tacit__report *r,
                          const tacit__report_world *s, const tacit__report_family *family)
{
    size_t last = SIZE_MAX;
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    tacit__text_put(to, "<path fill=\"none\" stroke-width=\"1.8\"");
    tacit__figure_stroke(to, family->style);
    tacit__text_put(to, " d=\"");
    for (size_t m = 0; m < family->n_members; m++) {
        size_t i = family->members[m];
        if (s->outcomes[i].n_runs == 0 || !is_plotted(&r->agents[i]))
            continue;
        double x = tacit__frame_x(f, r->agents[i].entry->guarantee.epsilon);
        tacit__text_print(to, "%c%s %s", last == SIZE_MAX ? 'M' : 'L', tacit__coordinate(a, x),
                          tacit__coordinate(b, tacit__frame_y(f, s->outcomes[i].regret)));
        last = i;
    }
    tacit__text_put(to, last == SIZE_MAX ? "M0 0\"/>" : "\"/>");
    for (size_t m = 0; m < family->n_members; m++) {
        size_t i = family->members[m];
        if (s->outcomes[i].n_runs > 0 && is_plotted(&r->agents[i]))
            draw_point(to, f, &r->agents[i], &s->outcomes[i]);
    }
    return last;
}

static void draw_level(tacit__text *to, const tacit__figure_frame *f, const tacit__report_agent *p,
                       double y)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    tacit__style dashed = {p->style.color, p->style.dash};
    tacit__text_put(to, "<path fill=\"none\" stroke-width=\"1.4\"");
    tacit__figure_stroke(to, dashed);
    tacit__text_print(to, " d=\"M%s %sH%s\"/>", tacit__coordinate(a, f->left),
                      tacit__coordinate(b, y), tacit__coordinate(c, f->right));
}

/* Series are the families, then the levels by the number of their agent. */
static size_t draw_all(tacit__text *to, const tacit__figure_frame *f, const tacit__report *r,
                       const tacit__report_world *s, tacit__label *labels)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit__report_agent *p = &r->agents[i];
        const tacit__report_outcome *o = &s->outcomes[i];
        if (p->family != SIZE_MAX || o->n_runs == 0 || !(o->regret > 0))
            continue;
        double y = tacit__frame_y(f, o->regret);
        tacit__text_print(to, "<g data-series=\"%zu\">", r->n_families + i);
        draw_level(to, f, p, y);
        tacit__text_put(to, "</g>\n");
        labels[n++] = (tacit__label){p->entry->label, p->style, r->n_families + i, f->right, y, 0};
    }
    for (size_t i = 0; i < r->n_families; i++) {
        tacit__text_print(to, "<g data-series=\"%zu\">", i);
        size_t last = draw_family(to, f, r, s, &r->families[i]);
        tacit__text_put(to, "</g>\n");
        if (last != SIZE_MAX)
            labels[n++] =
                (tacit__label){r->families[i].name,
                               r->families[i].style,
                               i,
                               tacit__frame_x(f, r->agents[last].entry->guarantee.epsilon) + 4,
                               tacit__frame_y(f, s->outcomes[last].regret),
                               0};
    }
    return n;
}

bool tacit__price_svg(tacit__text *to, const tacit__report *r, size_t world)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit__report_world *s = &r->worlds[world];
    tacit__figure_frame f = {.width = WIDTH, .left = LEFT, .right = WIDTH - RIGHT, .top = TOP};
    double height = tacit__labels_height(r->n_agents) + TOP + BOTTOM;
    f.height = height > HEIGHT ? height : HEIGHT;
    f.bottom = f.height - BOTTOM;
    if (!find_ranges(r, s, &f))
        return false;
    tacit__label *labels = tacit__alloc(r->n_agents, sizeof *labels);
    if (labels == NULL) {
        to->failed = true;
        return true;
    }
    tacit__figure_begin(to, &f, "price", "Regret against epsilon", "ε, as claimed", "regret");
    size_t n = draw_all(to, &f, r, s, labels);
    tacit__labels_arrange(labels, n, f.top + 4, f.bottom);
    tacit__labels_draw(to, &f, labels, n);
    tacit__figure_end(to);
    tacit__free(labels);
    return true;
}
