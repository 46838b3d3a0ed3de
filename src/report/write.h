/* These functions write into a page: escaped text, numbers for people, numbers for programs.
 *
 * Everything that comes from a file passes `html` or `json` here; nothing else may put it into a page. */
#ifndef TACIT_REPORT_WRITE_H
#define TACIT_REPORT_WRITE_H

#include <stdint.h>

#include "text/text.h"

/* Text as content or as a quoted attribute, in HTML and in XML: markup is escaped; control characters and
 * bytes that are no UTF-8 become U+FFFD. */
void tacit__write_html(tacit__text *to, const char *text);
/* The same, at most `most` characters; a longer text loses its middle, because labels often differ only at
 * their ends. */
void tacit__write_html_short(tacit__text *to, const char *text, size_t most);

/* A quoted JSON string that is safe inside a script element: <, > and & are escapes. */
void tacit__write_json(tacit__text *to, const char *text);
/* Seven digits, in any locale; null if not finite. */
void tacit__write_json_number(tacit__text *to, double x);

/* Writes as many digits as bring the same double back, in any locale; nothing if it is not finite. */
void tacit__write_exact(tacit__text *to, double x);

/* One of our own sentences: epsilon, delta, mu, powers and inequalities as mathematics. */
void tacit__write_prose(tacit__text *to, const char *sentence);

/* Write a number for people, in UTF-8: "11,508", "0.0096", "2×10⁻⁶", "∞", and a dash for NaN. `digits`
 * are significant, but whole numbers below ten million are never rounded. All return `out`. */
enum { TACIT__NUMBER = 64 };
char *tacit__number(char out[TACIT__NUMBER], double x, int digits);
char *tacit__count(char out[TACIT__NUMBER], uint64_t n);
/* "11,508 ± 95": two digits of the error decide how many the mean has; NaN: no error is shown. */
char *tacit__mean(char out[TACIT__NUMBER], double mean, double error);
/* A coordinate with two decimals, in any locale. */
char *tacit__coordinate(char out[TACIT__NUMBER], double x);
/* "6.8 %", from a share; "0.25", "12". */
char *tacit__percent(char out[TACIT__NUMBER], double share);
char *tacit__seconds(char out[TACIT__NUMBER], double seconds);

#endif
