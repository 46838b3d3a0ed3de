/* See figure.h. The labels are placed by isotonic regression (pool adjacent violators): exact, and linear
 * once sorted. */
#include "report/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "report/write.h"

enum { GAP = 15, LONGEST = 27 }; /* pixels between labels; characters */

static double fraction(const tacit__axis *a, double v)
{
    if (!(v > a->low)) /* NaN too, and zero on a logarithmic axis */
        return 0;
    if (v >= a->high)
        return 1;
    return a->log ? log(v / a->low) / log(a->high / a->low) : (v - a->low) / (a->high - a->low);
}

double tacit__frame_x(const tacit__figure_frame *f, double x)
{
    return f->left + (f->right - f->left) * fraction(&f->x, x);
}

double tacit__frame_y(const tacit__figure_frame *f, double y)
{
    return f->bottom - (f->bottom - f->top) * fraction(&f->y, y);
}

/* --- Ticks --------------------------------------------------------------------------------------- */

static size_t linear_ticks(const tacit__axis *a, double out[TACIT__TICKS])
{
    enum { WANTED = 6 };
    double raw = (a->high - a->low) / WANTED, power = pow(10, floor(log10(raw))), n = raw / power;
    double step = power * (n <= 1.5 ? 1 : n <= 3 ? 2 : n <= 7 ? 5 : 10);
    size_t count = 0;
    double first = ceil(a->low / step - 1e-9), last = floor(a->high / step + 1e-9);
    for (double i = first; i <= last && count < TACIT__TICKS; i++)
        out[count++] = i * step + 0.0; /* no negative zero */
    return count;
}

static size_t log_ticks(const tacit__axis *a, double out[TACIT__TICKS])
{
    int first = (int)ceil(log10(a->low) - 1e-9), last = (int)floor(log10(a->high) + 1e-9);
    int stride = 1 + (last - first) / 8;
    size_t count = 0;
    if (last - first >= 2) {
        for (int e = first; e <= last; e += stride)
            out[count++] = pow(10, e);
        return count;
    }
    static const double parts[] = {1, 2, 5}; /* less than two decades: 1, 2, 5 of each */
    for (int e = first - 1; e <= last; e++)
        for (size_t i = 0; i < 3 && count < TACIT__TICKS; i++) {
            double v = parts[i] * pow(10, e);
            if (v >= a->low * (1 - 1e-9) && v <= a->high * (1 + 1e-9))
                out[count++] = v;
        }
    return count;
}

size_t tacit__axis_ticks(const tacit__axis *axis, double out[TACIT__TICKS])
{
    if (!(axis->high > axis->low) || (axis->log && !(axis->low > 0)))
        return 0;
    return axis->log ? log_ticks(axis, out) : linear_ticks(axis, out);
}

/* --- Styles -------------------------------------------------------------------------------------- */

const char *tacit__color(tacit__style style)
{
    static const char *const colors[] = {"#1a1a1a", "#0072B2", "#D55E00", "#009E73",
                                         "#CC79A7", "#E69F00", "#56B4E9", "#767676"};
    return colors[style.color >= 0 && style.color <= TACIT__GRAY ? style.color : 0];
}

const char *tacit__dash(tacit__style style)
{
    static const char *const dashes[TACIT__DASHES] = {"", "7 4", "2 3", "9 3 2 3"};
    return dashes[style.dash >= 0 && style.dash < TACIT__DASHES ? style.dash : 0];
}

void tacit__figure_stroke(tacit__text *to, tacit__style style)
{
    tacit__text_print(to, " class=\"c%d\" stroke=\"%s\"", style.color, tacit__color(style));
    if (style.dash > 0)
        tacit__text_print(to, " stroke-dasharray=\"%s\"", tacit__dash(style));
}

void tacit__figure_fill(tacit__text *to, tacit__style style)
{
    tacit__text_print(to, " class=\"f%d\" fill=\"%s\"", style.color, tacit__color(style));
}

/* --- The frame ----------------------------------------------------------------------------------- */

static void line(tacit__text *to, const char *css_class, const char *color, double x1, double y1,
                 double x2, double y2)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER], d[TACIT__NUMBER];
    tacit__text_print(to,
                      "<line class=\"%s\" stroke=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>",
                      css_class, color, tacit__coordinate(a, x1), tacit__coordinate(b, y1),
                      tacit__coordinate(c, x2), tacit__coordinate(d, y2));
}

static void words(tacit__text *to, const char *css_class, const char *anchor, double x, double y,
                  const char *more, const char *text)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    tacit__text_print(to, "<text class=\"%s\" fill=\"%s\" text-anchor=\"%s\" x=\"%s\" y=\"%s\"%s>",
                      css_class, css_class[0] == 'i' ? "#1a1a1a" : "#555555", anchor,
                      tacit__coordinate(a, x), tacit__coordinate(b, y), more);
    tacit__write_html(to, text);
    tacit__text_put(to, "</text>");
}

static void draw_axes(tacit__text *to, const tacit__figure_frame *f, const char *x_name,
                      const char *y_name)
{
    double ticks[TACIT__TICKS];
    char number[TACIT__NUMBER], turn[TACIT__NUMBER], turned[160];
    size_t n = tacit__axis_ticks(&f->y, ticks);
    for (size_t i = 0; i < n; i++) {
        double y = tacit__frame_y(f, ticks[i]);
        line(to, "grid", "#e3e3e3", f->left, y, f->right, y);
        words(to, "soft", "end", f->left - 8, y + 4, "", tacit__number(number, ticks[i], 4));
    }
    n = tacit__axis_ticks(&f->x, ticks);
    for (size_t i = 0; i < n; i++) {
        double x = tacit__frame_x(f, ticks[i]);
        line(to, "axis", "#555555", x, f->bottom, x, f->bottom + 5);
        words(to, "soft", "middle", x, f->bottom + 19, "", tacit__number(number, ticks[i], 4));
    }
    line(to, "axis", "#555555", f->left, f->bottom, f->right, f->bottom);
    words(to, "ink", "middle", (f->left + f->right) / 2, f->bottom + 39, "", x_name);
    double middle = (f->top + f->bottom) / 2;
    (void)snprintf(turned, sizeof turned, " transform=\"rotate(-90 14 %.20s)\"",
                   tacit__coordinate(turn, middle));
    words(to, "ink", "middle", 14, middle, turned, y_name);
}

void tacit__figure_begin(tacit__text *to, const tacit__figure_frame *f, const char *css_class,
                         const char *title, const char *x_name, const char *y_name)
{
    TACIT__REQUIRE(title != NULL && x_name != NULL && y_name != NULL);
    tacit__text_print(to,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot %s\" role=\"img\" "
                      "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
                      "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" "
                      "font-size=\"12\">\n<title>",
                      css_class, f->width, f->height, f->width, f->height);
    tacit__write_html(to, title);
    tacit__text_put(to, "</title>\n<g class=\"axes\" shape-rendering=\"crispEdges\">");
    draw_axes(to, f, x_name, y_name);
    tacit__text_put(to, "</g>\n");
}

void tacit__figure_end(tacit__text *to)
{
    tacit__text_put(to, "</svg>\n");
}

/* --- Labels -------------------------------------------------------------------------------------- */

static int by_height(const void *a, const void *b)
{
    const tacit__label *x = a, *y = b;
    if (x->y < y->y || x->y > y->y)
        return (x->y > y->y) - (x->y < y->y);
    return (x->series > y->series) - (x->series < y->series);
}

double tacit__labels_height(size_t n)
{
    return (double)n * GAP;
}

void tacit__labels_arrange(tacit__label *labels, size_t n, double top, double bottom)
{
    TACIT__REQUIRE(top <= bottom);
    if (n == 0)
        return;
    qsort(labels, n, sizeof *labels, by_height);
    /* z_i = y_i - i GAP must not descend. Runs of equal z are pools; `height` of a pool's first label is
     * its mean until the next merge. */
    for (size_t i = 0; i < n; i++)
        labels[i].height = labels[i].y - (double)i * GAP;
    for (size_t i = 1; i < n; i++) {
        size_t first = i;
        double sum = labels[i].height, count = 1;
        while (first > 0 && labels[first - 1].height > sum / count) {
            double pooled = labels[first - 1].height;
            while (first > 0 && labels[first - 1].height >= pooled) {
                sum += labels[first - 1].height;
                count++;
                first--;
            }
        }
        for (size_t j = first; j <= i; j++)
            labels[j].height = sum / count;
    }
    double most = bottom - (double)(n - 1) * GAP;
    for (size_t i = 0; i < n; i++) {
        double z = labels[i].height;
        z = z > most ? most : z;
        z = z < top ? top : z;
        labels[i].height = z + (double)i * GAP;
    }
}

void tacit__labels_draw(tacit__text *to, const tacit__figure_frame *f, const tacit__label *labels,
                        size_t n)
{
    TACIT__REQUIRE(labels != NULL || n == 0);
    for (size_t i = 0; i < n; i++) {
        const tacit__label *l = &labels[i];
        char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER], d[TACIT__NUMBER],
            e[TACIT__NUMBER];
        tacit__text_print(to, "<g data-series=\"%zu\"><path fill=\"none\" opacity=\"0.6\"",
                          l->series);
        tacit__style solid = {l->style.color, 0};
        tacit__figure_stroke(to, solid);
        tacit__text_print(to, " d=\"M%s %sL%s %sH%s\"/>", tacit__coordinate(a, l->x + 3),
                          tacit__coordinate(b, l->y), tacit__coordinate(c, f->right + 16),
                          tacit__coordinate(d, l->height), tacit__coordinate(e, f->right + 20));
        tacit__text_print(to, "<text class=\"ink\" fill=\"#1a1a1a\" x=\"%s\" y=\"%s\">",
                          tacit__coordinate(a, f->right + 24), tacit__coordinate(b, l->height + 4));
        tacit__write_html_short(to, l->text, LONGEST);
        tacit__text_put(to, "</text></g>\n");
    }
}
