/* See report/intervals.h. Names stand to the left of the frame, which has no axis of its own for the rows. */
#include "report/intervals.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "report/write.h"

static tacit__axis find_axis(const tacit__intervals *in)
{
    tacit__axis axis = {HUGE_VAL, -HUGE_VAL, false, 0};
    for (size_t i = 0; i < in->n; i++) {
        const tacit__interval_row *r = &in->rows[i];
        axis.low = fmin(axis.low, isnan(r->low) ? r->value : r->low);
        axis.high = fmax(axis.high, isnan(r->high) ? r->value : r->high);
    }
    if (!isnan(in->reference)) {
        axis.low = fmin(axis.low, in->reference);
        axis.high = fmax(axis.high, in->reference);
    }
    const double air = fmax(0.05 * (axis.high - axis.low), 1e-9 * (1 + fabs(axis.high)));
    axis.low -= air;
    axis.high += air;
    return axis;
}

static void put_text(tacit__text *to, const char *css_class, const char *more, double x, double y,
                     const char *text, size_t most, const char *tail)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    tacit__text_print(to, "<text class=\"%s\" fill=\"%s\" %s x=\"%s\" y=\"%s\">", css_class,
                      css_class[0] == 'i' ? "#1a1a1a" : "#555555", more, tacit__coordinate(a, x),
                      tacit__coordinate(b, y));
    tacit__write_html_short(to, text, most);
    tacit__text_print(to, "%s</text>", tail);
}

static void put_row(tacit__text *to, const tacit__figure_frame *f, const tacit__interval_row *r,
                    double y, double font)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    put_text(to, "ink", "text-anchor=\"end\"", f->left - 0.8 * font, y + 0.35 * font, r->name,
             (size_t)(f->left / tacit__words_width(1, font)), r->flagged ? "†" : "");
    if (!isnan(r->low)) {
        tacit__text_print(to, "<path fill=\"none\" stroke-width=\"%s\"",
                          tacit__coordinate(a, 0.18 * font));
        tacit__figure_stroke(to, (tacit__style){r->style.color, r->style.shade, 0});
        tacit__text_print(to, " d=\"M%s %sH%s\"/>", tacit__coordinate(a, tacit__frame_x(f, r->low)),
                          tacit__coordinate(b, y),
                          tacit__coordinate(c, tacit__frame_x(f, r->high)));
    }
    tacit__text_print(to, "<circle r=\"%s\"", tacit__coordinate(a, 0.32 * font));
    tacit__figure_fill(to, (tacit__style){r->style.color, r->style.shade, 0});
    tacit__text_print(to, " cx=\"%s\" cy=\"%s\"/>\n",
                      tacit__coordinate(a, tacit__frame_x(f, r->value)), tacit__coordinate(b, y));
}

static void put_reference(tacit__text *to, const tacit__figure_frame *f, const tacit__intervals *in,
                          double font)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    const double x = tacit__frame_x(f, in->reference);
    if (isnan(in->reference))
        return;
    tacit__text_print(to, "<line class=\"axis\" stroke=\"#555555\" x1=\"%s\" x2=\"%s\" ",
                      tacit__coordinate(a, x), tacit__coordinate(a, x));
    tacit__text_print(to, "y1=\"%s\" y2=\"%s\"/>\n", tacit__coordinate(a, f->top),
                      tacit__coordinate(b, f->bottom));
    if (in->reference_name != NULL)
        put_text(to, "soft", "text-anchor=\"middle\" font-size=\"85%\"", x, f->top - 0.3 * font,
                 in->reference_name, 60, "");
}

void tacit__intervals_svg(tacit__text *to, const tacit__intervals *in, const tacit__sheet *s)
{
    TACIT__REQUIRE(in->n > 0 && s->font > 0);
    const double font = s->font, row = 1.9 * font;
    char a[TACIT__NUMBER], b[TACIT__NUMBER];
    tacit__figure_frame f = {.left = 0.4 * s->width,
                             .right = s->width - 2 * font,
                             .top = (in->title[0] != '\0' ? 2.6 : 0.5) * font +
                                    (in->reference_name != NULL ? 1.2 : 0) * font};
    f.bottom = f.top + row * (double)in->n + 0.4 * font;
    f.x = find_axis(in);
    f.x.wanted = (int)fmax(2, (f.right - f.left) / (8 * font));
    const double notes = f.bottom + 4.4 * font;
    const double height = notes + (in->notes[0] != '\0' ? 0.6 : -0.8) * font;
    const double unit = s->physical ? 25.4 / 96 : 1;
    const char *suffix = s->physical ? "mm" : "";
    tacit__text_print(to,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot %s\" role=\"img\" "
                      "viewBox=\"0 0 %s %s\" ",
                      s->css_class, tacit__coordinate(a, s->width), tacit__coordinate(b, height));
    tacit__text_print(to, "width=\"%s%s\" ", tacit__coordinate(a, s->width * unit), suffix);
    tacit__text_print(to, "height=\"%s%s\" font-size=\"%s\" font-family=\"",
                      tacit__coordinate(a, height * unit), suffix, tacit__coordinate(b, font));
    tacit__write_html(to, s->font_family != NULL
                              ? s->font_family
                              : "Helvetica, Arial, 'Nimbus Sans', 'Liberation Sans', sans-serif");
    tacit__text_put(to, "\">\n<title>");
    tacit__write_html(to, in->title[0] != '\0' ? in->title : in->x_name);
    tacit__text_put(to, "</title>\n");
    const size_t across = (size_t)(s->width / tacit__words_width(1, font));
    if (in->title[0] != '\0')
        put_text(to, "ink", "font-weight=\"bold\"", 0.5 * font, 1.3 * font, in->title, across, "");
    tacit__axes_draw(to, &f, font);
    put_reference(to, &f, in, font);
    for (size_t i = 0; i < in->n; i++)
        put_row(to, &f, &in->rows[i], f.top + row * ((double)i + 0.7), font);
    put_text(to, "ink", "text-anchor=\"middle\"", (f.left + f.right) / 2, f.bottom + 2.9 * font,
             in->x_name, across, "");
    if (in->notes[0] != '\0')
        put_text(to, "soft", "font-size=\"85%\"", 0.5 * font, notes, in->notes,
                 (size_t)((double)across / 0.85), "");
    tacit__text_put(to, "</svg>\n");
}
