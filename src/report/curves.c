/* Regret over time: a line for the mean of each agent, a band for its runs, a label at its end. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/figure.h"
#include "report/write.h"

enum { WIDTH = 760, HEIGHT = 420, LEFT = 74, RIGHT = 196, TOP = 14, BOTTOM = 50 };
enum { FINEST = 250 }; /* points of a line that is 490 pixels long */

static const double spread = 50,
                    depth = 1e7; /* of results; of a logarithmic axis: stated choices */

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

/* From 0, or from the least positive value, to the largest. False: there is nothing. */
static bool find_range(const tacit__report *r, size_t world, bool log, tacit__axis *axis)
{
    TACIT__REQUIRE(world < r->n_worlds);
    double low = HUGE_VAL, high = 0;
    bool any = false;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit__report_outcome *o = &r->worlds[world].outcomes[i];
        any = any || o->mean != NULL;
        for (size_t p = 0; o->mean != NULL && p < r->n_points; p++) {
            high = o->high[p] > high ? o->high[p] : high;
            low = o->mean[p] > 0 && o->mean[p] < low ? o->mean[p] : low;
        }
    }
    high = high > 0 ? high : 1;
    low = low < high ? low : high / 10;
    low = low < high / depth ? high / depth : low;
    *axis = log ? (tacit__axis){low / 1.3, high * 1.3, true} : (tacit__axis){0, high * 1.04, false};
    return any;
}

static void point(tacit__text *to, const tacit__figure_frame *f, const tacit__report *r, char how,
                  size_t p, const double *values)
{
    char x[TACIT__NUMBER], y[TACIT__NUMBER];
    tacit__text_print(to, "%c%s %s", how, tacit__coordinate(x, tacit__frame_x(f, (double)r->at[p])),
                      tacit__coordinate(y, tacit__frame_y(f, values[p])));
}

/* Point i of n on the way through the curve's points, the last included. */
static size_t pick(const tacit__report *r, size_t i, size_t n)
{
    return (i + 1) * r->n_points / n - 1;
}

static void draw_band(tacit__text *to, const tacit__figure_frame *f, const tacit__report *r,
                      const tacit__report_outcome *o, tacit__style style)
{
    size_t n = r->n_points < FINEST ? r->n_points : FINEST;
    tacit__text_put(to, "<path");
    tacit__figure_fill(to, style);
    tacit__text_put(to, " fill-opacity=\"0.16\" stroke=\"none\" d=\"");
    for (size_t i = 0; i < n; i++)
        point(to, f, r, i == 0 ? 'M' : 'L', pick(r, i, n), o->high);
    for (size_t i = n; i-- > 0;)
        point(to, f, r, 'L', pick(r, i, n), o->low);
    tacit__text_put(to, "Z\"/>");
}

static void draw_mean(tacit__text *to, const tacit__figure_frame *f, const tacit__report *r,
                      const tacit__report_outcome *o, tacit__style style)
{
    size_t n = r->n_points < FINEST ? r->n_points : FINEST;
    tacit__text_put(to, "<path fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\"");
    tacit__figure_stroke(to, style);
    tacit__text_put(to, " d=\"");
    for (size_t i = 0; i < n; i++)
        point(to, f, r, i == 0 ? 'M' : 'L', pick(r, i, n), o->mean);
    tacit__text_put(to, "\"/>");
}

/* Zero has no place on a logarithmic axis. */
static bool drawable(const tacit__report *r, const tacit__report_outcome *o, bool log)
{
    return o->mean != NULL && (!log || o->mean[r->n_points - 1] > 0);
}

static void draw_agents(tacit__text *to, const tacit__figure_frame *f, const tacit__report *r,
                        const tacit__report_world *world)
{
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < r->n_agents; i++) {
            const tacit__report_outcome *o = &world->outcomes[i];
            if (!drawable(r, o, f->y.log) || (layer == 0 && o->n_runs < 2))
                continue;
            tacit__text_print(to, "<g data-series=\"%zu\">", i);
            if (layer == 0) {
                draw_band(to, f, r, o, r->agents[i].style);
            } else {
                tacit__text_put(to, "<title>");
                tacit__write_html(to, r->agents[i].entry->label);
                tacit__text_put(to, "</title>");
                draw_mean(to, f, r, o, r->agents[i].style);
            }
            tacit__text_put(to, "</g>\n");
        }
}

bool tacit__curves_svg(tacit__text *to, const tacit__report *r, size_t world, bool log)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit__report_world *s = &r->worlds[world];
    tacit__figure_frame f = {.width = WIDTH, .left = LEFT, .right = WIDTH - RIGHT, .top = TOP};
    double height = tacit__labels_height(r->n_agents) + TOP + BOTTOM;
    f.height = height > HEIGHT ? height : HEIGHT;
    f.bottom = f.height - BOTTOM;
    f.x = (tacit__axis){0, (double)r->episodes, false};
    if (!find_range(r, world, log, &f.y))
        return false;
    tacit__label *labels = tacit__alloc(r->n_agents, sizeof *labels);
    if (labels == NULL) {
        to->failed = true;
        return true;
    }
    size_t n = 0;
    for (size_t i = 0; i < r->n_agents; i++)
        if (drawable(r, &s->outcomes[i], log))
            labels[n++] =
                (tacit__label){.text = r->agents[i].entry->label,
                               .style = r->agents[i].style,
                               .series = i,
                               .x = f.right,
                               .y = tacit__frame_y(&f, s->outcomes[i].mean[r->n_points - 1])};
    tacit__labels_arrange(labels, n, f.top + 4, f.bottom);
    tacit__figure_begin(to, &f, log ? "log" : "linear",
                        log ? "Regret against users, logarithmic" : "Regret against users", "users",
                        "regret");
    draw_agents(to, &f, r, s);
    tacit__labels_draw(to, &f, labels, n);
    tacit__figure_end(to);
    tacit__free(labels);
    return true;
}
