/* Numbers as JSON writes them, read fast and rounded correctly: the double nearest to the number, ties to
 * even. */
#ifndef TACIT_TEXT_DECIMAL_H
#define TACIT_TEXT_DECIMAL_H

#include <stdbool.h>

/* The number at the beginning of text [RFC 8259, section 6]; returns what follows it, or NULL if there is
 * none. *in_range is false if no finite double is near it. */
const char *tacit__decimal_read(const char *text, const char *end, double *out, bool *in_range);

#endif
