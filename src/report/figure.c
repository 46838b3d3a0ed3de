/* Axes of figures: ticks, numbers, grid. See figure.h. */
#include "report/figure.h"

#include <math.h>

#include "base/error.h"
#include "report/write.h"

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
    enum { USUAL = 6 };
    double raw = (a->high - a->low) / (a->wanted > 0 ? a->wanted : USUAL),
           power = pow(10, floor(log10(raw))), n = raw / power;
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

/* --- Words and lines ----------------------------------------------------------------------------- */

double tacit__words_width(double n, double font)
{
    return 0.55 * font * n; /* Helvetica's letters have 0.52 em on average, its digits 0.556 */
}

size_t tacit__characters(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

double tacit__axis_numbers_width(const tacit__axis *axis, double font)
{
    double ticks[TACIT__TICKS];
    char number[TACIT__NUMBER];
    size_t n = tacit__axis_ticks(axis, ticks), most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t length = tacit__characters(tacit__number(number, ticks[i], 4));
        most = length > most ? length : most;
    }
    return tacit__words_width((double)most, font);
}

static void line(tacit__text *to, const char *css_class, const char *color, double x1, double y1,
                 double x2, double y2)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER], d[TACIT__NUMBER];
    tacit__text_print(to,
                      "<line class=\"%s\" stroke=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>",
                      css_class, color, tacit__coordinate(a, x1), tacit__coordinate(b, y1),
                      tacit__coordinate(c, x2), tacit__coordinate(d, y2));
}

static void number_at(tacit__text *to, const char *anchor, double x, double y, double value)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], number[TACIT__NUMBER];
    tacit__text_print(to,
                      "<text class=\"soft\" fill=\"#555555\" text-anchor=\"%s\" x=\"%s\" "
                      "y=\"%s\">%s</text>",
                      anchor, tacit__coordinate(a, x), tacit__coordinate(b, y),
                      tacit__number(number, value, 4));
}

void tacit__axes_draw(tacit__text *to, const tacit__figure_frame *f, double font)
{
    TACIT__REQUIRE(font > 0);
    double ticks[TACIT__TICKS];
    size_t n = tacit__axis_ticks(&f->y, ticks);
    tacit__text_put(to, "<g class=\"axes\" stroke-width=\"0.8\">");
    for (size_t i = 0; i < n; i++) {
        double y = tacit__frame_y(f, ticks[i]);
        line(to, "grid", "#e3e3e3", f->left, y, f->right, y);
        number_at(to, "end", f->left - 0.5 * font, y + 0.35 * font, ticks[i]);
    }
    n = tacit__axis_ticks(&f->x, ticks);
    for (size_t i = 0; i < n; i++) {
        double x = tacit__frame_x(f, ticks[i]);
        line(to, "axis", "#555555", x, f->bottom, x, f->bottom + 0.35 * font);
        number_at(to, "middle", x, f->bottom + 1.4 * font, ticks[i]);
    }
    line(to, "axis", "#555555", f->left, f->bottom, f->right, f->bottom);
    tacit__text_put(to, "</g>\n");
}
