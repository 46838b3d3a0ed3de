/* Sheets: where the panels, the title and the notes of a figure go, whatever its width.
 *
 * All distances are multiples of the letters' size. Panels stand in as many columns as have room; a row
 * shares the height that its labels or a pleasant shape need. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/student.h"
#include "report/figure.h"
#include "report/write.h"

static const double shape = 0.62, /* of a frame, height over width: near the golden section */
    narrowest_panel = 28,         /* all in letters */
    lowest_frame = 8, highest_frame = 30, small = 0.85; /* of notes */

size_t tacit__sheet_size(const tacit__sheet *s, const tacit__report *r)
{
    return s->agents != NULL ? s->n_agents : r->n_agents;
}

size_t tacit__sheet_agent(const tacit__sheet *s, size_t i)
{
    TACIT__REQUIRE(s->agents == NULL || i < s->n_agents);
    return s->agents != NULL ? s->agents[i] : i;
}

/* --- Layout -------------------------------------------------------------------------------------- */

/* The longest label decides, up to a part of the panel. */
static double width_of_labels(const tacit__drawing *d, double panel_width)
{
    size_t most = 0;
    for (size_t p = 0; p < d->n_panels; p++)
        for (size_t i = 0; i < d->panels[p].n_labels; i++) {
            const tacit__label *l = &d->panels[p].labels[i];
            size_t n = tacit__characters(l->text) + l->flagged;
            most = n > most ? n : most;
        }
    return fmin(tacit__words_width((double)most + 1, d->sheet->font), 0.36 * panel_width);
}

/* Lines that a text needs, and where the next line begins: at the last space that fits. */
static const char *next_line(const char *text, size_t most, size_t *length)
{
    size_t bytes = 0, n = 0, space = 0;
    for (; text[bytes] != '\0' && n <= most; n++) {
        if (text[bytes] == ' ')
            space = bytes;
        do
            bytes++;
        while (((unsigned char)text[bytes] & 0xc0) == 0x80);
    }
    if (n > most && space > 0)
        bytes = space;
    *length = bytes;
    return text + bytes + (text[bytes] == ' ');
}

static size_t characters_across(const tacit__drawing *d, double font)
{
    return (size_t)fmax((d->sheet->width - d->sheet->font) / tacit__words_width(1, font), 10);
}

static size_t count_lines(const char *text, size_t most)
{
    size_t n = 0, length;
    for (; *text != '\0'; n++)
        text = next_line(text, most, &length);
    return n;
}

static double top_of_panels(const tacit__drawing *d)
{
    const double font = d->sheet->font;
    size_t n = count_lines(d->title, characters_across(d, font));
    return n > 0 ? font * (1.35 * (double)n + 0.9) : 0.6 * font;
}

static double height_of_notes(const tacit__drawing *d)
{
    const double font = small * d->sheet->font;
    return 1.35 * font * (double)count_lines(d->notes, characters_across(d, font));
}

static double height_of_frames(const tacit__drawing *d, double frame_width, double others,
                               size_t n_rows)
{
    const double font = d->sheet->font;
    /* labels beside a narrow frame must not make it low as well */
    const double width = fmax(frame_width, 0.8 * d->sheet->width / (double)d->n_columns);
    double height = fmin(fmax(shape * width, lowest_frame * font), highest_frame * font);
    for (size_t p = 0; p < d->n_panels; p++)
        height = fmax(height, tacit__labels_gap(font) * (double)d->panels[p].n_labels);
    if (d->sheet->height > 0)
        height = fmax((d->sheet->height - others) / (double)n_rows, 4 * font);
    return height;
}

void tacit__drawing_arrange(tacit__drawing *d)
{
    TACIT__REQUIRE(d->n_panels > 0 && d->sheet->font > 0);
    const tacit__sheet *s = d->sheet;
    const double font = s->font;
    d->n_columns = (size_t)fmax(1, floor(s->width / (narrowest_panel * font)));
    d->n_columns = d->n_columns < d->n_panels ? d->n_columns : d->n_panels;
    const size_t n_rows = (d->n_panels + d->n_columns - 1) / d->n_columns;
    const double name = 1.5 * font; /* of the axis, on its side */
    const double column = (s->width - name) / (double)d->n_columns;
    d->label_width = width_of_labels(d, column);
    double numbers = 0;
    for (size_t p = 0; p < d->n_panels; p++)
        numbers = fmax(numbers, tacit__axis_numbers_width(&d->panels[p].frame.y, font));
    const double left = numbers + 0.9 * font, right = d->label_width + 1.9 * font;
    const double above = d->panels[0].title != NULL ? 1.7 * font : 0.5 * font, below = 2.2 * font;
    const double others = top_of_panels(d) + (double)n_rows * (above + below) + 1.6 * font +
                          height_of_notes(d) + 0.6 * font;
    const double frame_width = fmax(column - left - right, 4 * font);
    const double height = height_of_frames(d, frame_width, others, n_rows);
    for (size_t p = 0; p < d->n_panels; p++) {
        const size_t place = p / d->n_columns; /* of its row */
        tacit__figure_frame *f = &d->panels[p].frame;
        f->left = name + (double)(p % d->n_columns) * column + left;
        f->right = f->left + frame_width;
        f->top = top_of_panels(d) + above + (double)place * (above + height + below);
        f->bottom = f->top + height;
        f->x.wanted = (int)fmax(2, frame_width / (7 * font));
        f->y.wanted = (int)fmin(6, fmax(2, height / (3 * font)));
    }
    d->notes_top = d->panels[d->n_panels - 1].frame.bottom + below + 1.6 * font;
    d->height = fmax(d->notes_top + height_of_notes(d) + 0.6 * font, s->height);
}

/* --- Drawing ------------------------------------------------------------------------------------- */

/* Words in ink or soft, at a place; `more` are further attributes. */
static void words(tacit__text *to, const char *css_class, const char *more, double x, double y,
                  const char *text, size_t bytes, const char *help)
{
    char a[TACIT__NUMBER], b[TACIT__NUMBER], part[512];
    (void)snprintf(part, sizeof part, "%.*s", (int)bytes, text);
    tacit__text_print(to, "<text class=\"%s\" fill=\"%s\" x=\"%s\" y=\"%s\"%s>", css_class,
                      css_class[0] == 'i' ? "#1a1a1a" : "#555555", tacit__coordinate(a, x),
                      tacit__coordinate(b, y), more);
    if (help != NULL) {
        tacit__text_put(to, "<title>");
        tacit__write_html(to, help);
        tacit__text_put(to, "</title>");
    }
    tacit__write_html(to, part);
    tacit__text_put(to, "</text>");
}

static void draw_lines(tacit__text *to, const tacit__drawing *d, const char *css_class,
                       const char *more, const char *text, double font, double top)
{
    const size_t most = characters_across(d, font);
    for (double y = top + font; *text != '\0'; y += 1.35 * font) {
        size_t length;
        const char *next = next_line(text, most, &length);
        words(to, css_class, more, 0.5 * d->sheet->font, y, text, length, NULL);
        text = next;
    }
}

static void draw_names(tacit__text *to, const tacit__drawing *d)
{
    const double font = d->sheet->font;
    TACIT__REQUIRE(d->n_columns > 0);
    char turn[160], middle[TACIT__NUMBER], across[TACIT__NUMBER];
    for (size_t p = 0; p < d->n_panels; p++) {
        const tacit__figure_frame *f = &d->panels[p].frame;
        const double y = (f->top + f->bottom) / 2;
        if (d->panels[p].title != NULL)
            words(to, "ink", " font-weight=\"bold\"", f->left, f->top - 0.7 * font,
                  d->panels[p].title, 200, NULL);
        if (p + d->n_columns >= d->n_panels) /* the lowest of its column */
            words(to, "ink", " text-anchor=\"middle\"", (f->left + f->right) / 2,
                  f->bottom + 2.9 * font, d->x_name, strlen(d->x_name), d->x_help);
        if (p % d->n_columns > 0)
            continue;
        (void)snprintf(turn, sizeof turn,
                       " text-anchor=\"middle\" transform=\"rotate(-90 %.20s %.20s)\"",
                       tacit__coordinate(across, 1.2 * font), tacit__coordinate(middle, y));
        words(to, "ink", turn, 1.2 * font, y, "regret", 6, NULL);
    }
}

static void put_range(tacit__text *to, const char *name, double a, double b)
{
    tacit__text_print(to, " data-%s=\"", name);
    tacit__write_json_number(to, a);
    tacit__text_put(to, " ");
    tacit__write_json_number(to, b);
    tacit__text_put(to, "\"");
}

void tacit__drawing_begin(tacit__text *to, const tacit__drawing *d)
{
    const tacit__sheet *s = d->sheet;
    char a[TACIT__NUMBER], b[TACIT__NUMBER], c[TACIT__NUMBER];
    const double unit = s->physical ? 25.4 / 96 : 1;
    const char *suffix = s->physical ? "mm" : "";
    tacit__text_print(to,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot %s\" role=\"img\" "
                      "viewBox=\"0 0 %s %s\" ",
                      s->css_class, tacit__coordinate(a, s->width),
                      tacit__coordinate(b, d->height));
    tacit__text_print(to, "width=\"%s%s\" ", tacit__coordinate(a, s->width * unit), suffix);
    tacit__text_print(to, "height=\"%s%s\" font-size=\"%s\" font-family=\"",
                      tacit__coordinate(a, d->height * unit), suffix,
                      tacit__coordinate(c, s->font));
    tacit__write_html(to, s->font_family != NULL
                              ? s->font_family
                              : "Helvetica, Arial, 'Nimbus Sans', 'Liberation Sans', sans-serif");
    tacit__text_put(to, "\">\n<title>");
    tacit__write_html(to, d->title[0] != '\0' ? d->title : d->x_name);
    tacit__text_put(to, "</title>\n");
    draw_lines(to, d, "ink", " font-weight=\"bold\"", d->title, s->font, 0.3 * s->font);
    for (size_t p = 0; p < d->n_panels; p++) {
        const tacit__figure_frame *f = &d->panels[p].frame;
        tacit__text_put(to, "<g class=\"frame\"");
        put_range(to, "across", f->left, f->right);
        put_range(to, "down", f->top, f->bottom);
        put_range(to, "values", f->x.low, f->x.high);
        tacit__text_print(to, " data-scale=\"%s\">", f->x.log ? "log" : "linear");
        tacit__axes_draw(to, f, s->font);
        tacit__text_put(to, "</g>\n");
    }
    draw_names(to, d);
    draw_lines(to, d, "soft", " font-size=\"85%\"", d->notes, small * s->font, d->notes_top);
    tacit__text_put(to, "\n");
}

void tacit__drawing_end(tacit__text *to, tacit__drawing *d)
{
    const double font = d->sheet->font;
    for (size_t i = 0; i < d->n_panels; i++) {
        tacit__panel *p = &d->panels[i];
        double room = p->frame.bottom - p->frame.top, gap = tacit__labels_gap(font);
        if (p->n_labels > 1) /* a height that was asked for may be too small for them */
            gap = fmin(gap, (room - 0.4 * font) / (double)(p->n_labels - 1));
        tacit__labels_arrange(p->labels, p->n_labels, gap, p->frame.top + 0.3 * font,
                              p->frame.bottom);
        tacit__labels_draw(to, &p->frame, font, d->label_width, p->labels, p->n_labels);
    }
    tacit__text_put(to, "</svg>\n");
}

const char *tacit__world_title(const tacit__report *r, const tacit__report_world *s)
{
    return r->n_worlds == 1 && strcmp(s->name, s->kind) == 0 ? r->title : s->name;
}

/* --- What the intervals are ---------------------------------------------------------------------- */

double tacit__spread_factor(tacit_spread interval, uint64_t runs)
{
    if (interval == TACIT_SPREAD_STDERR)
        return 1;
    return interval == TACIT_SPREAD_CI && runs > 1 ? tacit__student_limit(runs - 1) : 0;
}

void tacit__sheet_notes(const tacit__report *r, const tacit__report_world *s, tacit_spread interval,
                        const char *what, bool flagged, char *out, size_t size)
{
    char runs[TACIT__NUMBER];
    size_t used = 0;
    (void)tacit__count(runs, r->runs);
    if (r->runs == 1 || interval == TACIT_SPREAD_NONE)
        used = (size_t)snprintf(out, size, r->runs == 1 ? "One run." : "Means of %s runs.", runs);
    else if (interval == TACIT_SPREAD_RANGE)
        used = (size_t)snprintf(out, size, "Means of %s runs; %s: lowest to highest run%s.", runs,
                                what, r->runs >= 10 ? ", without the outer tenths" : "");
    else if (interval == TACIT_SPREAD_STDERR)
        used = (size_t)snprintf(
            out, size, "Means of %s runs; %s: plus and minus one standard error.", runs, what);
    else
        used = (size_t)snprintf(
            out, size,
            "Means of %s runs; %s: 95 %% confidence intervals of the mean (Student's t).", runs,
            what);
    if (flagged && used < size)
        (void)snprintf(
            out + used, size - used,
            " † did not learn: half of its runs or more end no better than nine tenths of "
            "%s.",
            s->bar.what);
}
