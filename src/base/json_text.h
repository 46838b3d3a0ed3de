/* JSON that is written: pieces for tacit__text. */
#ifndef TACIT_BASE_JSON_TEXT_H
#define TACIT_BASE_JSON_TEXT_H

#include <stdint.h>

#include "base/text.h"

/* A JSON string, quotes included; `string` is UTF-8, what is not becomes U+FFFD. */
void tacit__text_json_string(tacit__text *text, const char *string, size_t size);
/* The shortest decimal that reads back as x; null if x is not finite. In any locale. */
void tacit__text_number(tacit__text *text, double x);
void tacit__text_count(tacit__text *text, uint64_t n);

#endif
