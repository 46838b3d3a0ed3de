/* Text that grows. A failure is sticky: once memory has run out, nothing more is added, and the caller
 * checks at the end. */
#ifndef TACIT_TEXT_TEXT_H
#define TACIT_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Begins as {0}. `data` ends with a zero byte that `length` does not count; NULL while empty. */
typedef struct tacit__text {
    char *data;
    size_t length, capacity;
    bool failed;
} tacit__text;

void tacit__text_destroy(tacit__text *text);

void tacit__text_add(tacit__text *text, const char *bytes, size_t n);
static inline void tacit__text_put(tacit__text *text, const char *string)
{
    tacit__text_add(text, string,
                    strlen(string)); /* known to the compiler where it is written out */
}
/* Writes short pieces of at most 1000 bytes, and cuts what is longer. */
__attribute__((format(printf, 2, 3))) void tacit__text_print(tacit__text *text, const char *format,
                                                             ...);

#endif
