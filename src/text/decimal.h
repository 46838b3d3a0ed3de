/* Numbers as JSON writes them, read fast and rounded correctly: the double nearest to the number, ties to
 * even. */
#ifndef TACIT_TEXT_DECIMAL_H
#define TACIT_TEXT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* The number at the beginning of text [RFC 8259, section 6]; returns what follows it, or NULL if there is
 * none. *in_range is false if no finite double is near it. */
const char *tacit__decimal_read(const char *text, const char *end, double *out, bool *in_range);

/* The same for numbers that are one digit, a point and fewer than eight digits, as most features are, each
 * with a comma behind it: stores *n of them at out[capacity], as doubles, and returns what follows. It stops
 * at the first that may be another number, and a few bytes before the end. */
const char *tacit__decimal_run(const char *text, const char *end, size_t capacity, void *out,
                               size_t *n);

#endif
