/* Static figures as SVG: a frame with two axes, styles, and labels beside the frame that do not overlap.
 *
 * Colors are attributes, so that a figure is complete by itself (saved, or printed in a paper); classes of
 * the same names let the page's style sheet change them on a dark background. */
#ifndef TACIT_REPORT_FIGURE_H
#define TACIT_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "report/model.h"

typedef struct tacit__axis {
    double low, high;
    bool log;
} tacit__axis;

typedef struct tacit__figure_frame {
    double width, height;            /* of the figure, in pixels */
    double left, right, top, bottom; /* of the frame inside it */
    tacit__axis x, y;
} tacit__figure_frame;

/* Where a value lies; values beyond the frame lie on its edge. */
double tacit__frame_x(const tacit__figure_frame *frame, double x);
double tacit__frame_y(const tacit__figure_frame *frame, double y);

/* Ticks inside [low, high], ascending, at most TACIT__TICKS; returns how many. Steps of 1, 2, 5 times a
 * power of ten, or powers of ten. */
enum { TACIT__TICKS = 16 };
size_t tacit__axis_ticks(const tacit__axis *axis, double out[TACIT__TICKS]);

/* <svg …> with title and description for screen readers, grid, axes; and its end. */
void tacit__figure_begin(tacit__text *to, const tacit__figure_frame *frame, const char *css_class,
                         const char *title, const char *x_name, const char *y_name);
void tacit__figure_end(tacit__text *to);

/* " class=… stroke=… stroke-dasharray=…" of a line; " class=… fill=…" of an area. */
void tacit__figure_stroke(tacit__text *to, tacit__style style);
void tacit__figure_fill(tacit__text *to, tacit__style style);
/* "#0072B2", and "7 4" or "". */
const char *tacit__color(tacit__style style);
const char *tacit__dash(tacit__style style);

/* A label to the right of the frame for what ends at (x, y), in pixels. */
typedef struct tacit__label {
    const char *text;
    tacit__style style;
    size_t series; /* which legend entry hides it */
    double x, y;
    double height; /* where it goes, set by tacit__labels_arrange */
} tacit__label;

/* Moves labels apart, as little as possible in the sense of least squares, between top and bottom; sorts
 * them. */
void tacit__labels_arrange(tacit__label *labels, size_t n, double top, double bottom);
void tacit__labels_draw(tacit__text *to, const tacit__figure_frame *frame,
                        const tacit__label *labels, size_t n);
/* Pixels of height that n labels need. */
double tacit__labels_height(size_t n);

/* The figures. Regret over time in a world; regret against epsilon. `id` is that of the SVG element.
 * False: nothing to draw, and nothing is written. */
bool tacit__curves_svg(tacit__text *to, const tacit__report *report, size_t world, bool log);
bool tacit__price_svg(tacit__text *to, const tacit__report *report, size_t world);

/* Whether a logarithmic axis is clearer: the results span more than a factor of 50, a stated choice. */
bool tacit__curves_want_log(const tacit__report *report, size_t world);

#endif
