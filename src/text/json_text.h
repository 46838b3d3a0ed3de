/* JSON that is written: pieces for tacit__text, and documents made of them. */
#ifndef TACIT_TEXT_JSON_TEXT_H
#define TACIT_TEXT_JSON_TEXT_H

#include <stdint.h>

#include "text/text.h"

/* A JSON string, quotes included; `string` is UTF-8, what is not becomes U+FFFD. */
void tacit__text_json_string(tacit__text *text, const char *string, size_t size);
/* The shortest decimal that reads back as x; null if x is not finite. In any locale. */
void tacit__text_number(tacit__text *text, double x);
void tacit__text_count(tacit__text *text, uint64_t n);
/* x >= 0 with at most so many digits, never less than x, so that a bound stays one; returns `out`. */
const char *tacit__round_up(char out[32], int digits, double x);
/* The number of twelve digits that is nearest to x: 0.1 + 0.2 is 0.3 again. */
double tacit__short_real(double x);

/* A document, member by member. The writer puts the commas, the line breaks and the blanks; that memory
 * has run out is asked of `text` at the end. Begins as {0}, or with the first two fields set;
 * tacit__text_destroy(&w.text) ends it. */
typedef struct tacit__json_writer {
    unsigned indent; /* blanks for each level; 0: everything in one line, without blanks */
    unsigned digits; /* of reals, which then look like reals ("1.0"); 0: as tacit__text_number */
    tacit__text text;
    unsigned depth; /* objects and lists that are open: at most 32 */
    uint32_t lists; /* which of them are lists, a bit for each level */
    bool begun;     /* the innermost has something in it */
} tacit__json_writer;

/* All take the key of the member, or NULL: in a list, and for the document itself. */
void tacit__json_begin_object(tacit__json_writer *w, const char *key);
void tacit__json_begin_list(tacit__json_writer *w, const char *key);
/* Closes the innermost object or list. */
void tacit__json_end(tacit__json_writer *w);
void tacit__json_put_null(tacit__json_writer *w, const char *key);
void tacit__json_put_flag(tacit__json_writer *w, const char *key, bool flag);
void tacit__json_put_count(tacit__json_writer *w, const char *key, uint64_t n);
void tacit__json_put_integer(tacit__json_writer *w, const char *key, int64_t n);
/* null if x is not finite: JSON has neither NaN nor infinity */
void tacit__json_put_real(tacit__json_writer *w, const char *key, double x);
/* null if `string` is NULL */
void tacit__json_put_string(tacit__json_writer *w, const char *key, const char *string);

#endif
