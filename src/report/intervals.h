/* Rows of numbers with their intervals, as a drawing: one line each, on one axis. */
#ifndef TACIT_REPORT_INTERVALS_H
#define TACIT_REPORT_INTERVALS_H

#include "report/figure.h"

typedef struct tacit__interval_row {
    char name[240];
    bool flagged;            /* a dagger follows the name */
    double value, low, high; /* low NaN: no interval */
    tacit__style style;
} tacit__interval_row;

typedef struct tacit__intervals {
    const tacit__interval_row *rows;
    size_t n;
    const char *title, *x_name, *notes; /* title and notes may be empty */
    double reference;                   /* a line across all rows; NaN: none */
    const char *reference_name;         /* beside it; NULL: none */
} tacit__intervals;

void tacit__intervals_svg(tacit__text *to, const tacit__intervals *intervals,
                          const tacit__sheet *sheet);

#endif
