/* Figures as SVG: panels with two axes, lines with their styles, labels at the ends of lines that do not
 * overlap, a title, and a note that names the intervals.
 *
 * Everything is laid out for the width and the letters that a sheet asks for, so that a column of a paper,
 * a telephone and a wide screen get the same drawing, each at its size. Colors are attributes, so that a
 * figure is complete by itself; classes let the page's style sheet change them on a dark background. */
#ifndef TACIT_REPORT_FIGURE_H
#define TACIT_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/report.h>

#include "report/model.h"
#include "text/text.h"

/* --- Styles (style.c) ---------------------------------------------------------------------------- */

enum { TACIT__COLOR = 16, TACIT__DASH = 256 };
/* "#0072b2", and "7 4" or "". Both return `out`. */
const char *tacit__color(tacit__style style, char out[TACIT__COLOR]);
const char *tacit__dash(tacit__style style, char out[TACIT__DASH]);
/* " class=… stroke=… stroke-dasharray=…" of a line; " class=… fill=…" of an area; " class=…" of a dot in a
 * table. */
void tacit__figure_stroke(tacit__text *to, tacit__style style);
void tacit__figure_fill(tacit__text *to, tacit__style style);
void tacit__swatch(tacit__text *to, tacit__style style);

/* --- Axes (figure.c) ----------------------------------------------------------------------------- */

typedef struct tacit__axis {
    double low, high;
    bool log;
    int wanted; /* ticks, roughly; 0: 6 */
} tacit__axis;

typedef struct tacit__figure_frame {
    double left, right, top, bottom; /* in pixels of 1/96 inch */
    tacit__axis x, y;
} tacit__figure_frame;

/* Returns where a value lies; values beyond the frame lie on its edge. */
double tacit__frame_x(const tacit__figure_frame *frame, double x);
double tacit__frame_y(const tacit__figure_frame *frame, double y);

/* Ticks inside [low, high], ascending, at most TACIT__TICKS; returns how many. Steps of 1, 2, 5 times a
 * power of ten, or powers of ten. */
enum { TACIT__TICKS = 16 };
size_t tacit__axis_ticks(const tacit__axis *axis, double out[TACIT__TICKS]);

/* Pixels that the longest number beside the axis needs, in letters of this size; 0: there are none. */
double tacit__axis_numbers_width(const tacit__axis *axis, double font);
/* A generous estimate of the width of n characters. */
double tacit__words_width(double n, double font);
/* Characters of a UTF-8 text. */
size_t tacit__characters(const char *text);

/* Grid, ticks and numbers of a frame. */
void tacit__axes_draw(tacit__text *to, const tacit__figure_frame *frame, double font);

/* --- Labels (labels.c) --------------------------------------------------------------------------- */

/* To the right of a frame, for what ends at (x, y), in pixels. */
typedef struct tacit__label {
    char text[96];
    bool flagged; /* a dagger follows */
    tacit__style style;
    size_t series; /* which legend entry hides it */
    double x, y;
    double height; /* where it goes, set by tacit__labels_arrange */
} tacit__label;

/* Moves labels apart, as little as possible in the sense of least squares, between top and bottom; sorts
 * them. */
void tacit__labels_arrange(tacit__label *labels, size_t n, double gap, double top, double bottom);
void tacit__labels_draw(tacit__text *to, const tacit__figure_frame *frame, double font,
                        double width, const tacit__label *labels, size_t n);
/* Pixels between labels in letters of this size. */
double tacit__labels_gap(double font);

/* --- Sheets (drawing.c) -------------------------------------------------------------------------- */

/* The purpose of a figure. */
typedef struct tacit__sheet {
    double width, height;    /* in pixels; height 0: as the contents want */
    double font;             /* in pixels */
    const char *font_family; /* NULL: Helvetica or its relatives */
    const char *title;       /* NULL: its own; "": none */
    const char *css_class;
    const size_t *agents; /* which, in this order; NULL: all */
    size_t n_agents;
    bool log, physical; /* physical: the size is given in millimeters */
    tacit_spread interval;
    tacit_facets facets;
} tacit__sheet;

typedef struct tacit__panel {
    const char *title; /* NULL: none */
    tacit__figure_frame frame;
    tacit__label *labels;
    size_t n_labels;
} tacit__panel;

/* A figure on its way: the caller fills the first part and the axes and the texts of the labels of each
 * panel; arrange places the frames; then the labels' ends are known. */
typedef struct tacit__drawing {
    const tacit__sheet *sheet;
    const char *x_name, *x_help; /* help: what a reader who points at the name sees; NULL: none */
    char title[240], notes[480];
    tacit__panel *panels;
    size_t n_panels;

    size_t n_columns;
    double height, label_width, notes_top;
} tacit__drawing;

void tacit__drawing_arrange(tacit__drawing *drawing);
/* <svg …> with title, axes and notes; labels and the end. */
void tacit__drawing_begin(tacit__text *to, const tacit__drawing *drawing);
void tacit__drawing_end(tacit__text *to, tacit__drawing *drawing);

/* --- The figures --------------------------------------------------------------------------------- */

/* Regret over time in a world; regret against epsilon. False: nothing to draw, and nothing is written. */
bool tacit__curves_svg(tacit__text *to, const tacit__report *report, size_t world,
                       const tacit__sheet *sheet);
bool tacit__price_svg(tacit__text *to, const tacit__report *report, size_t world,
                      const tacit__sheet *sheet);

/* Estimated rewards, where the world is a log. */
bool tacit__reward_svg(tacit__text *to, const tacit__report *report, size_t world,
                       const tacit__sheet *sheet);

/* Returns whether a logarithmic axis is clearer: the results span more than a factor of 50, a stated
 * choice. */
bool tacit__curves_want_log(const tacit__report *report, size_t world);

/* Agent number i of those on the sheet. */
size_t tacit__sheet_agent(const tacit__sheet *sheet, size_t i);
size_t tacit__sheet_size(const tacit__sheet *sheet, const tacit__report *report);

/* Returns what a figure's title calls the world: its label or, where it is the only one and has none of
 * its own, the title of the experiment. */
const char *tacit__world_title(const tacit__report *r, const tacit__report_world *s);

/* "Bands: 95 % confidence intervals of the mean (Student's t, 5 runs)." and what a dagger means. `what` is
 * "bands" or "bars". */
void tacit__sheet_notes(const tacit__report *r, const tacit__report_world *s, tacit_spread interval,
                        const char *what, bool flagged, char *out, size_t size);

/* The half width of an interval: errors times this; 0 for RANGE and NONE. */
double tacit__spread_factor(tacit_spread interval, uint64_t runs);

/* Text in SVG as a PDF or PNG file, `density` pixels of it per inch. */
TACIT_MUST_USE tacit_status tacit__paper_convert(const tacit__text *svg, tacit_format format,
                                                 double width, double height, double density,
                                                 const char *title, tacit__text *out,
                                                 tacit_error *err);
bool tacit__paper_is_here(void);

#endif
