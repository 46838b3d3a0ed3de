/* See write.h. Numbers are printed by the C library and then put right, because a program may have set a
 * locale. */
#include "report/write.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the character at `s`, or 0 if none begins there [RFC 3629]. */
static size_t character(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    /* XML has no place for the two non-characters at the end of the first plane */
    return s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe ? 0 : n;
}

/* The character at p, escaped; returns its length. */
static size_t put_character(tacit__text *to, const char *p)
{
    size_t n = character((const unsigned char *)p);
    if (*p == '<')
        tacit__text_put(to, "&lt;");
    else if (*p == '>')
        tacit__text_put(to, "&gt;");
    else if (*p == '&')
        tacit__text_put(to, "&amp;");
    else if (*p == '"')
        tacit__text_put(to, "&quot;");
    else if (*p == '\'')
        tacit__text_put(to, "&#39;");
    else if (n == 0 || ((unsigned char)*p < 0x20 && strchr("\t\n", *p) == NULL) || *p == 0x7f)
        tacit__text_put(to, REPLACEMENT);
    else
        tacit__text_add(to, p, n);
    return n > 0 ? n : 1;
}

void tacit__write_html_short(tacit__text *to, const char *text, size_t most)
{
    TACIT__REQUIRE(text != NULL);
    size_t n_all = 0, done = 0, tail = most * 2 / 5;
    for (const char *p = text; *p != '\0';) {
        size_t n = character((const unsigned char *)p);
        p += n > 0 ? n : 1;
        n_all++;
    }
    for (const char *p = text; *p != '\0'; done++) {
        if (n_all > most && done + 1 == most - tail)
            tacit__text_put(to, "…");
        if (n_all > most && done + 1 >= most - tail && done + tail < n_all) {
            size_t n = character((const unsigned char *)p);
            p += n > 0 ? n : 1;
        } else {
            p += put_character(to, p);
        }
    }
}

void tacit__write_html(tacit__text *to, const char *text)
{
    tacit__write_html_short(to, text, SIZE_MAX);
}

void tacit__write_json(tacit__text *to, const char *text)
{
    TACIT__REQUIRE(text != NULL);
    tacit__text_put(to, "\"");
    for (const char *p = text; *p != '\0';) {
        size_t n = character((const unsigned char *)p);
        unsigned char c = (unsigned char)*p;
        /* the line separators U+2028 and U+2029 end a line in older scripts */
        bool separator = n == 3 && memcmp(p, "\xe2\x80", 2) == 0 && (p[2] & 0x7e) == 0x28;
        if (n == 0)
            tacit__text_put(to, REPLACEMENT);
        else if (separator)
            tacit__text_put(to, (p[2] & 1) == 0 ? "\\u2028" : "\\u2029");
        else if (n == 1 && (c < 0x20 || c == 0x7f || strchr("\"\\<>&'", c) != NULL))
            tacit__text_print(to, "\\u%04x", c);
        else
            tacit__text_add(to, p, n);
        p += n > 0 ? n : 1;
    }
    tacit__text_put(to, "\"");
}

/* --- Numbers ------------------------------------------------------------------------------------- */

/* printf with a full stop as the decimal point. */
static void decimal(char out[TACIT__NUMBER], const char *format, int digits, double x)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(out, TACIT__NUMBER, format, digits, x);
#pragma GCC diagnostic pop
    const char *point = localeconv()->decimal_point;
    char *at = strcmp(point, ".") != 0 ? strstr(out, point) : NULL;
    if (at != NULL) {
        size_t n = strlen(point);
        memmove(at + 1, at + n, strlen(at + n) + 1);
        *at = '.';
    }
}

void tacit__write_json_number(tacit__text *to, double x)
{
    char out[TACIT__NUMBER];
    if (!isfinite(x)) {
        tacit__text_put(to, "null");
        return;
    }
    decimal(out, "%.*g", 7, x);
    tacit__text_put(to, out);
}

void tacit__write_exact(tacit__text *to, double x)
{
    char out[TACIT__NUMBER];
    if (!isfinite(x))
        return;
    (void)snprintf(out, sizeof out, "%.15g", x);
    const bool same = strtod(out, NULL) == x;
    decimal(out, "%.*g", same ? 15 : 17, x);
    tacit__text_put(to, out);
}

char *tacit__coordinate(char out[TACIT__NUMBER], double x)
{
    decimal(out, "%.*f", 2, x);
    return out;
}

/* "-12345.6" -> "−12,345.6" */
static char *group(char out[TACIT__NUMBER], const char *plain)
{
    char *to = out;
    if (*plain == '-') {
        (void)memcpy(to, "−", sizeof "−" - 1);
        to += sizeof "−" - 1;
        plain++;
    }
    size_t whole = strspn(plain, "0123456789");
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    (void)snprintf(to, TACIT__NUMBER - (size_t)(to - out), "%s", plain + whole);
    return out;
}

/* "2e-06" -> "2×10⁻⁶" */
static char *scientific(char out[TACIT__NUMBER], const char *plain)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const char *e = strchr(plain, 'e');
    TACIT__REQUIRE(e != NULL);
    const int exponent = (int)strtol(e + 1, NULL, 10);
    char mantissa[TACIT__NUMBER], digits[16];
    (void)snprintf(mantissa, sizeof mantissa, "%s%.*s", plain[0] == '-' ? "−" : "",
                   (int)(e - plain) - (plain[0] == '-'), plain + (plain[0] == '-'));
    (void)snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
    size_t used = 0;
    if (strcmp(mantissa, "1") != 0)
        used = (size_t)snprintf(out, TACIT__NUMBER, "%.24s×", mantissa);
    used += (size_t)snprintf(out + used, TACIT__NUMBER - used, "10%s", exponent < 0 ? "⁻" : "");
    for (const char *d = digits; *d != '\0'; d++)
        used += (size_t)snprintf(out + used, TACIT__NUMBER - used, "%s", raised[*d - '0']);
    return out;
}

char *tacit__number(char out[TACIT__NUMBER], double x, int digits)
{
    TACIT__REQUIRE(digits > 0 && digits <= 17);
    char plain[TACIT__NUMBER];
    double size = fabs(x);
    if (isnan(x)) {
        (void)snprintf(out, TACIT__NUMBER, "–");
    } else if (isinf(x)) {
        (void)snprintf(out, TACIT__NUMBER, "%s∞", x < 0 ? "−" : "");
    } else if (size != 0 && (size < 1e-4 || size >= 1e7)) {
        decimal(plain, "%.*e", digits - 1, x);
        char *e = strchr(plain, 'e'), *end = e; /* "2e-06", not "2.000e-06" */
        while (digits > 1 && end[-1] == '0')
            end--;
        end -= end[-1] == '.';
        memmove(end, e, strlen(e) + 1);
        return scientific(out, plain);
    } else if (size >= 1000) {
        decimal(plain, "%.*f", 0, x);
        return group(out, plain);
    } else {
        decimal(plain, "%.*g", digits, x);
        return group(out, strchr(plain, 'e') != NULL ? "0" : plain);
    }
    return out;
}

char *tacit__count(char out[TACIT__NUMBER], uint64_t n)
{
    char plain[24];
    (void)snprintf(plain, sizeof plain, "%llu", (unsigned long long)n);
    return group(out, plain);
}

char *tacit__mean(char out[TACIT__NUMBER], double mean, double error)
{
    char plain[TACIT__NUMBER], left[TACIT__NUMBER], right[TACIT__NUMBER];
    if (isnan(error) || !isfinite(mean))
        return tacit__number(out, mean, 4);
    if (error == 0 || fabs(mean) >= 1e9 || error < 1e-4) {
        (void)snprintf(out, TACIT__NUMBER, "%.28s ± %.28s", tacit__number(left, mean, 5),
                       tacit__number(right, error, 2));
        return out;
    }
    int decimals = 1 - (int)floor(log10(error));
    decimals = decimals > 0 ? decimals : 0;
    decimal(plain, "%.*f", decimals, mean);
    (void)group(left, plain);
    decimal(plain, "%.*f", decimals, error);
    (void)snprintf(out, TACIT__NUMBER, "%.28s ± %.28s", left, group(right, plain));
    return out;
}

char *tacit__percent(char out[TACIT__NUMBER], double share)
{
    TACIT__REQUIRE(!isnan(share));
    char plain[TACIT__NUMBER], number[TACIT__NUMBER];
    double percent = 100 * share;
    if (percent >= 0.95 && percent < 1e6) {
        decimal(plain, "%.*f", 1, percent);
        (void)group(number, plain);
    } else {
        (void)tacit__number(number, percent, 2);
    }
    (void)snprintf(out, TACIT__NUMBER, "%.40s\xc2\xa0%%", number);
    return out;
}

char *tacit__seconds(char out[TACIT__NUMBER], double seconds)
{
    char plain[TACIT__NUMBER];
    if (isnan(seconds))
        return tacit__number(out, seconds, 1);
    decimal(plain, "%.*f", seconds < 9.95 ? 2 : 0, seconds);
    return group(out, plain);
}

/* --- Sentences ----------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number in scientific notation at p: its length, else 0. */
static size_t scientific_length(const char *p)
{
    size_t n = strspn(p, "0123456789.");
    if (n == 0 || p[n] != 'e' || (p[n + 1] != '-' && p[n + 1] != '+'))
        return 0;
    size_t digits = strspn(p + n + 2, "0123456789");
    return digits > 0 ? n + 2 + digits : 0;
}

void tacit__write_prose(tacit__text *to, const char *sentence)
{
    TACIT__REQUIRE(sentence != NULL);
    static const struct {
        const char *plain, *shown;
        bool word;
    } signs[] = {
        {"epsilon", "<i>ε</i>", true},
        {"delta", "<i>δ</i>", true},
        {"mu", "<i>μ</i>", true},
        {"rho", "<i>ρ</i>", true},
        {"sqrt", "√", true},
        {"<=", "≤", false},
        {">=", "≥", false},
        {"^2", "²", false},
        {"_1", "<sub>1</sub>", false},
        {"_2", "<sub>2</sub>", false},
    };
    for (const char *p = sentence; *p != '\0';) {
        bool begins = p == sentence || !is_letter(p[-1]);
        size_t i = 0, n_signs = sizeof signs / sizeof *signs, n = 0;
        for (; i < n_signs; i++) {
            n = strlen(signs[i].plain);
            if (strncmp(p, signs[i].plain, n) == 0 &&
                (!signs[i].word || (begins && !is_letter(p[n]))))
                break;
        }
        size_t length = begins ? scientific_length(p) : 0;
        char one[8] = "", number[TACIT__NUMBER];
        if (i < n_signs) {
            tacit__text_put(to, signs[i].shown);
            p += n;
        } else if (length > 0 && length < TACIT__NUMBER) {
            char plain[TACIT__NUMBER];
            (void)snprintf(plain, sizeof plain, "%.*s", (int)length, p);
            tacit__text_put(to, scientific(number, plain));
            p += length;
        } else {
            size_t bytes = character((const unsigned char *)p);
            bytes = bytes > 0 ? bytes : 1;
            (void)memcpy(one, p, bytes);
            tacit__write_html(to, one);
            p += bytes;
        }
    }
}
