/* What is declared about columns, of a file of people or of a service's requests, and how a person becomes
 * features.
 *
 *     age 17..90                     a number of this range, clipped to it; becomes one feature in [-1, 1]
 *     capital_gain 0..100000 log     the same on a logarithmic scale: log(1 + value - low)
 *     height 140..200 ?              may be missing: a second feature says so, and the first is then 0
 *     sex {Male | Female}            one feature for each category; a missing value has none of them
 *     race {White | Black | ...}     all others have none of them either
 *     marital_status                 no declaration: range or categories come from the data, with a remark
 *
 * Ranges and categories are public. What is found in the data is not. */
#ifndef TACIT_WORLDS_COLUMNS_H
#define TACIT_WORLDS_COLUMNS_H

#include <stdbool.h>

#include "worlds/csv.h"

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

/* The position of the declaration, for messages: "FILE:LINE: KEY: ". */
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

/* Writes the features of a value (already trimmed), or of a number. False: it does not fit what was
 * declared; the features are then those of the nearest number, of no category, or of the middle of the
 * range if the value is missing. */
bool tacit__column_encode(const tacit__column *column, tacit__span value, bool missing,
                          double *features);
void tacit__column_encode_number(const tacit__column *column, double value, double *features);

/* Gives every column its first feature, after one that is always 1 if there is an intercept, and returns
 * how many features all have together. */
size_t tacit__columns_arrange(tacit__columns_list *columns, bool intercept);
/* The features of all columns, in their places, become those of a person: with the intercept, and at most
 * 1 long. With `unit` each person is scaled to length 1, else everybody by the same factor. */
void tacit__columns_finish(const tacit__columns_list *columns, bool intercept, bool unit,
                           double *features);

/* The place of a column in a header, whose fields are those of the line now; the declaration is where the
 * name comes from. */
TACIT_MUST_USE tacit_status tacit__columns_locate(const tacit__csv *header,
                                                  const tacit__declaration *declaration,
                                                  tacit__span name, size_t *field,
                                                  tacit_error *err);

bool tacit__span_is(tacit__span span, const char *text);

#endif
