#include "base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "base/utf8.h"

void tacit__text_json_string(tacit__text *t, const char *string, size_t size)
{
    tacit__text_put(t, "\"");
    for (size_t i = 0; i < size;) {
        size_t length = tacit__utf8_length(string + i, size - i);
        unsigned char c = (unsigned char)string[i];
        if (length == 0)
            tacit__text_put(t, "\xef\xbf\xbd");
        else if (c == '"' || c == '\\')
            tacit__text_print(t, "\\%c", c);
        else if (c < ' ' || c == 127)
            tacit__text_print(t, "\\u%04x", c);
        else
            tacit__text_add(t, string + i, length);
        i += length == 0 ? 1 : length;
    }
    tacit__text_put(t, "\"");
}

/* A number with at most PLACES digits behind the point, as %.15g prints it; false: x is none. w and 10^PLACES are exact doubles, so w / 10^PLACES
 * is the double nearest to that decimal, which has at most 15 digits and so is the only such one that reads back as x [C90]. */
static bool put_short(tacit__text *t, double x)
{
    enum { PLACES = 9, SCALE = 1000000000 };
    if (!(x >= 1e-4 && x < 1e5))
        return false;
    uint64_t w = (uint64_t)(x * SCALE + 0.5);
    if ((double)w / SCALE != x)
        return false;
    char places[PLACES];
    size_t n = PLACES;
    const uint64_t whole = w / SCALE;
    w %= SCALE;
    for (size_t i = PLACES; i-- > 0; w /= 10)
        places[i] = (char)('0' + w % 10);
    while (n > 0 && places[n - 1] == '0')
        n--;
    tacit__text_count(t, whole);
    tacit__text_put(t, ".");
    tacit__text_add(t, places, n);
    return true;
}

void tacit__text_number(tacit__text *t, double x)
{
    char buffer[32];
    double back = 0;
    if (!isfinite(x)) {
        tacit__text_put(t, "null");
        return;
    }
    if (x >= 0 && x < 1e15 && x == floor(x) && !signbit(x)) { /* what %.15g prints as digits */
        tacit__text_count(t, (uint64_t)x);
        return;
    }
    if (put_short(t, x))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(buffer, sizeof buffer, "%.*g", digits, x);
        for (char *c = buffer; *c != '\0'; c++)
            if (*c == ',')
                *c = '.';
        if (tacit__read_real(buffer, strlen(buffer), &back) && back == x)
            break;
    }
    tacit__text_put(t, buffer);
}

void tacit__text_count(tacit__text *t, uint64_t n)
{
    char digits[20]; /* 2^64 has as many */
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    tacit__text_add(t, digits + at, sizeof digits - at);
}
