/* See text/json_text.h. */
#include "text/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/settings.h"

void tacit__text_json_string(tacit__text *t, const char *string, size_t size)
{
    TACIT__REQUIRE(string != NULL || size == 0);
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

/* %.*g with a full stop as the decimal point, in any locale. */
static void print_real(char out[32], int digits, double x)
{
    (void)snprintf(out, 32, "%.*g", digits, x);
    char *comma = strchr(out, ',');
    if (comma != NULL)
        *comma = '.';
}

/* A number with at most PLACES digits behind the point, as %.15g prints it; false: x is none. w and
 * 10^PLACES are exact doubles, so w / 10^PLACES is the double nearest to that decimal, which has at
 * most 15 digits and so is the only such one that reads back as x [C90]. */
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
        print_real(buffer, digits, x);
        if (tacit__read_real(buffer, strlen(buffer), &back) && back == x)
            break;
    }
    tacit__text_put(t, buffer);
}

const char *tacit__round_up(char out[32], int digits, double x)
{
    TACIT__REQUIRE(x >= 0 && digits > 0 && digits < 16);
    if (isinf(x)) {
        (void)snprintf(out, 32, "infinite");
        return out;
    }
    /* a unit of the last digit, or a tenth of it where log10 is off at a power of ten */
    const double unit = x > 0 ? pow(10, floor(log10(x)) - digits + 1) : 0;
    double shown = x, back = 0;
    print_real(out, digits, shown);
    while (tacit__read_real(out, strlen(out), &back) && back < x) {
        shown += 0.75 * unit;
        print_real(out, digits, shown);
    }
    return out;
}

double tacit__short_real(double x)
{
    char text[32];
    double out = x;
    print_real(text, 12, x);
    return tacit__read_real(text, strlen(text), &out) ? out : x;
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

/* --- Documents ---------------------------------------------------------------------------------- */

static void break_line(tacit__json_writer *w)
{
    if (w->indent > 0)
        tacit__text_print(&w->text, "\n%*s", (int)(w->indent * w->depth), "");
}

/* Comma, line break and key before a value. */
static void begin_value(tacit__json_writer *w, const char *key)
{
    if (w->begun)
        tacit__text_put(&w->text, ",");
    if (w->depth > 0)
        break_line(w);
    w->begun = true;
    if (key == NULL)
        return;
    tacit__text_json_string(&w->text, key, strlen(key));
    tacit__text_put(&w->text, w->indent > 0 ? ": " : ":");
}

static void begin(tacit__json_writer *w, const char *key, bool list)
{
    TACIT__REQUIRE(w->depth < 32);
    begin_value(w, key);
    tacit__text_put(&w->text, list ? "[" : "{");
    const uint32_t bit = UINT32_C(1) << w->depth++;
    w->lists = list ? w->lists | bit : w->lists & ~bit;
    w->begun = false;
}

void tacit__json_begin_object(tacit__json_writer *w, const char *key)
{
    begin(w, key, false);
}

void tacit__json_begin_list(tacit__json_writer *w, const char *key)
{
    begin(w, key, true);
}

void tacit__json_end(tacit__json_writer *w)
{
    TACIT__REQUIRE(w->depth > 0);
    w->depth--;
    if (w->begun)
        break_line(w);
    tacit__text_put(&w->text, (w->lists >> w->depth & 1) != 0 ? "]" : "}");
    w->begun = true;
}

void tacit__json_put_null(tacit__json_writer *w, const char *key)
{
    begin_value(w, key);
    tacit__text_put(&w->text, "null");
}

void tacit__json_put_flag(tacit__json_writer *w, const char *key, bool flag)
{
    begin_value(w, key);
    tacit__text_put(&w->text, flag ? "true" : "false");
}

void tacit__json_put_count(tacit__json_writer *w, const char *key, uint64_t n)
{
    begin_value(w, key);
    tacit__text_count(&w->text, n);
}

void tacit__json_put_integer(tacit__json_writer *w, const char *key, int64_t n)
{
    begin_value(w, key);
    tacit__text_put(&w->text, n < 0 ? "-" : "");
    tacit__text_count(&w->text, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

/* "1.0", "0.5", "1e-5", "1.5e20": a real that no reader takes for an integer. */
static void put_digits(tacit__text *t, int digits, double x)
{
    char buffer[32];
    print_real(buffer, digits, x);
    char *e = strchr(buffer, 'e');
    if (e == NULL) {
        tacit__text_put(t, buffer);
        tacit__text_put(t, strchr(buffer, '.') == NULL ? ".0" : "");
        return;
    }
    tacit__text_add(t, buffer, (size_t)(e - buffer) + 1);
    tacit__text_put(t, e[1] == '-' ? "-" : "");
    tacit__text_put(t, e + 2 + strspn(e + 2, "0"));
}

void tacit__json_put_real(tacit__json_writer *w, const char *key, double x)
{
    begin_value(w, key);
    if (w->digits == 0 || !isfinite(x))
        tacit__text_number(&w->text, x);
    else
        put_digits(&w->text, (int)w->digits, x);
}

void tacit__json_put_string(tacit__json_writer *w, const char *key, const char *string)
{
    TACIT__REQUIRE(w->depth > 0 || key == NULL);
    begin_value(w, key);
    if (string == NULL)
        tacit__text_put(&w->text, "null");
    else
        tacit__text_json_string(&w->text, string, strlen(string));
}
