/* What is declared about the columns of a file of people, and how a value becomes features.
 *
 *     age 17..90                     a number of this range, outside values clipped; becomes one feature in [-1, 1]
 *     capital_gain 0..100000 log     the same on a logarithmic scale: log(1 + value - low)
 *     height 140..200 ?              may be missing: a second feature says so, and the first is then 0
 *     sex {Male | Female}            one feature for each category; a missing value has none of them
 *     race {White | Black | ...}     all others have none of them either
 *     marital_status                 nothing declared: range or categories are looked up in the data, and that is told
 *
 * Ranges and categories are public. What is looked up in the data is not. */
#ifndef TACIT_WORLDS_COLUMNS_H
#define TACIT_WORLDS_COLUMNS_H

#include <stdbool.h>

#include "worlds/file.h"

enum { TACIT__MAX_COLUMNS = 256, TACIT__MAX_CATEGORIES = 4096 };

typedef struct tacit__column {
    tacit__span name;
    bool numeric, declared; /* not declared: filled in by a scan */
    bool missing;           /* numeric: may be missing */
    bool others;            /* categorical: anything else is allowed */
    bool logarithmic;
    double low, high;
    tacit__span *category; /* [n_categories], freed with the columns */
    size_t n_categories, room;
    size_t field; /* its place in a line of the file */
    size_t first; /* its first feature */
} tacit__column;

typedef struct tacit__columns_list {
    size_t n;
    tacit__column column[TACIT__MAX_COLUMNS];
} tacit__columns_list;

/* Where the declaration stands, for messages: "FILE:LINE: KEY: ". */
typedef struct tacit__declaration {
    const char *file, *key, *text;
    size_t line;
} tacit__declaration;

TACIT_MUST_USE tacit_status tacit__columns_read(const tacit__declaration *declaration,
                                                tacit__columns_list *out, tacit_error *err);
void tacit__columns_free(tacit__columns_list *columns);

/* One more category; NO_MEMORY or TOO_LARGE. */
TACIT_MUST_USE tacit_status tacit__column_add(tacit__column *column, tacit__span category);
/* The place of a category, or n_categories. */
size_t tacit__column_find(const tacit__column *column, tacit__span value);

/* Features that the column makes, and the largest square of their length. */
size_t tacit__column_width(const tacit__column *column);

/* Writes the features of a value (already trimmed). False: it does not fit what was declared. */
bool tacit__column_encode(const tacit__column *column, tacit__span value, bool missing,
                          double *features);

bool tacit__span_is(tacit__span span, const char *text);

#endif
