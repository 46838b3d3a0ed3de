/* Capacity doubles, so adding n bytes costs O(n) in all. See text/text.h. */
#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { FIRST = 512, PIECE = 1001 }; /* bytes; FIRST: most answers */

void tacit__text_destroy(tacit__text *text)
{
    tacit__free_secret(text->data, text->capacity); /* some texts are about people */
    *text = (tacit__text){0};
}

static bool make_room(tacit__text *text, size_t n)
{
    size_t need;
    if (text->failed || __builtin_add_overflow(text->length, n, &need) || need == (size_t)-1)
        return false;
    if (need < text->capacity)
        return true;
    size_t capacity = text->capacity > 0 ? text->capacity : FIRST;
    while (capacity <= need)
        capacity = capacity > (size_t)-1 / 2 ? (size_t)-1 : 2 * capacity;
    char *data = tacit__alloc_raw(capacity, 1);
    if (data == NULL)
        return false;
    if (text->length > 0)
        memcpy(data, text->data, text->length);
    tacit__free_secret(text->data, text->capacity);
    text->data = data;
    text->capacity = capacity;
    return true;
}

void tacit__text_add(tacit__text *text, const char *bytes, size_t n)
{
    TACIT__REQUIRE(bytes != NULL || n == 0);
    if (!make_room(text, n)) {
        text->failed = true;
        return;
    }
    if (n > 0)
        memcpy(text->data + text->length, bytes, n);
    text->length += n;
    text->data[text->length] = '\0';
}

void tacit__text_print(tacit__text *text, const char *format, ...)
{
    char piece[PIECE];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n > 0)
        tacit__text_add(text, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}
