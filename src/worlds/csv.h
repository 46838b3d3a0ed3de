/* Comma-separated files with a header line [RFC 4180], the only reader of them. Lines count from 1; blank
 * ones are skipped; a byte order mark before the first is too.
 *
 * A table has a known header, and numbers below it. A file of people has names of columns in its header, and
 * texts below them, which may be quoted; a quoted field does not go over the end of a line. */
#ifndef TACIT_WORLDS_CSV_H
#define TACIT_WORLDS_CSV_H

#include "worlds/text_file.h"

enum { TACIT__MAX_FIELDS = 1024 };

typedef struct tacit__csv {
    const char *name; /* of the file, for messages */
    /* what the first line must be: "state,probability"; NULL: names of columns */
    const char *header;
    tacit__span rest;
    size_t line, n_fields; /* as many as the header has */
    tacit__span field[TACIT__MAX_FIELDS];
} tacit__csv;

/* Reads the header; its fields stay until tacit__csv_next. */
TACIT_MUST_USE tacit_status tacit__csv_open(tacit__csv *csv, const char *name, const char *header,
                                            tacit__span text, tacit_error *err);
/* The fields of the next line, trimmed, as many as the header has; *more is false after the last. A quoted
 * field is what the quotes enclose; doubled quotes stay doubled. */
TACIT_MUST_USE tacit_status tacit__csv_next(tacit__csv *csv, bool *more, tacit_error *err);

/* Field i as a whole number from 0 to `most`, or as a number. `what` names it. */
TACIT_MUST_USE tacit_status tacit__csv_index(const tacit__csv *csv, size_t i, const char *what,
                                             uint32_t most, uint32_t *out, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__csv_real(const tacit__csv *csv, size_t i, const char *what,
                                            double *out, tacit_error *err);

#endif
