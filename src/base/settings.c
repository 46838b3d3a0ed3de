/* See base/settings.h. Every message names the line, the value, and what was expected. */
#include "base/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/host.h"
#include "base/nearest.h"

#undef tacit__fail_at

enum { MAX_NUMBER = 64 }; /* characters; 17 digits, sign, point and exponent take 24 */

tacit_status tacit__fail_at(tacit_error *err, tacit_status status, const char *file, size_t line,
                            const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (file != NULL && line > 0)
        return tacit__fail(err, status, "%s:%zu: %s", file, line, message);
    if (file != NULL)
        return tacit__fail(err, status, "%s: %s", file, message);
    if (line > 0)
        return tacit__fail(err, status, "line %zu: %s", line, message);
    return tacit__fail(err, status, "%s", message);
}

bool tacit__is_name(const char *text)
{
    return text != NULL && text[0] != '\0' && strlen(text) <= 64 &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_")] == '\0';
}

bool tacit__read_flag(const char *text, bool *out)
{
    const bool yes = strcasecmp(text, "yes") == 0 || strcasecmp(text, "true") == 0;
    if (!yes && strcasecmp(text, "no") != 0 && strcasecmp(text, "false") != 0)
        return false;
    *out = yes;
    return true;
}

bool tacit__read_integer(const char *text, size_t n, int64_t *out)
{
    TACIT__REQUIRE(out != NULL && (text != NULL || n == 0));
    size_t i = n > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = i == 1 && text[0] == '-';
    int64_t value = 0;
    if (i == n)
        return false;
    for (; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
    }
    *out = negative ? -value : value;
    return true;
}

/* value * 10^power for digits with at most one point; the power may take back what the point added. */
static bool read_power(const char *text, size_t n, int64_t power, int64_t *out)
{
    char digits[MAX_NUMBER + 1];
    size_t used = 0, point = n;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.' && point == n && i > 0)
            point = i;
        else
            digits[used++] = text[i];
    }
    if (power < 0 || power > 18 || (point < n && (int64_t)(n - point - 1) > power))
        return false;
    power -= point < n ? (int64_t)(n - point - 1) : 0;
    if (!tacit__read_integer(digits, used, out))
        return false;
    for (; power > 0; power--)
        if (__builtin_mul_overflow(*out, 10, out))
            return false;
    return true;
}

bool tacit__read_whole(const char *text, size_t n, int64_t *out)
{
    TACIT__REQUIRE(out != NULL && (text != NULL || n == 0));
    char plainly[MAX_NUMBER + 1] = "";
    size_t used = 0;
    int64_t power, value;
    if (n > MAX_NUMBER)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '_')
            plainly[used++] = text[i];
        else if (i == 0 || i + 1 == n || !isdigit((unsigned char)text[i - 1]) ||
                 !isdigit((unsigned char)text[i + 1]))
            return false;
    }
    const char *e = memchr(plainly, 'e', used);
    e = e != NULL ? e : memchr(plainly, 'E', used);
    if (e == NULL)
        return tacit__read_integer(plainly, used, out);
    const size_t before = (size_t)(e - plainly);
    if (!tacit__read_integer(e + 1, used - before - 1, &power) ||
        !read_power(plainly, before, power, &value))
        return false;
    *out = value;
    return true;
}

const char *tacit__whole_hint(const char *text, char out[TACIT__WHOLE_HINT])
{
    static const char suffixes[] = "kKmMgG";
    static const int64_t factors[] = {1000, 1000000, 1000000000};
    char digits[MAX_NUMBER + 1];
    const size_t n = strlen(text);
    const char *suffix = n > 1 ? strchr(suffixes, text[n - 1]) : NULL;
    size_t used = 0;
    int64_t value;
    out[0] = '\0';
    if (n > MAX_NUMBER || !isdigit((unsigned char)text[0]))
        return out;
    for (size_t i = 0; i < n - (suffix != NULL); i++)
        if (text[i] != ',' && text[i] != ' ' && text[i] != '\'')
            digits[used++] = text[i];
    if ((suffix == NULL && used == n) || !tacit__read_whole(digits, used, &value) ||
        __builtin_mul_overflow(value, suffix != NULL ? factors[(suffix - suffixes) / 2] : 1,
                               &value))
        return out;
    (void)snprintf(out, TACIT__WHOLE_HINT, "; write %" PRId64, value);
    return out;
}

bool tacit__read_real(const char *text, size_t n, double *out)
{
    TACIT__REQUIRE(out != NULL && (text != NULL || n == 0));
    char copy[MAX_NUMBER + 1], *end;
    if (n == 0 || n > MAX_NUMBER)
        return false;
    for (size_t i = 0; i < n; i++) /* no hexadecimal, infinity, NaN or blanks */
        if (text[i] == '\0' || strchr("0123456789+-.eE", text[i]) == NULL)
            return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    double value = tacit__strtod(copy, &end);
    if (end != copy + n || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* "a whole number from 2 to 100" */
static const char *expectation(const tacit_parameter *p, char *out, size_t size)
{
    const char *what = p->type == TACIT_PARAMETER_INTEGER ? "a whole number" : "a number";
    if (p->type == TACIT_PARAMETER_FLAG)
        (void)snprintf(out, size, "yes or no");
    else if (p->type == TACIT_PARAMETER_TEXT || p->type == TACIT_PARAMETER_FILE)
        (void)snprintf(out, size, "%s", p->help);
    else if (isfinite(p->low) && isfinite(p->high))
        (void)snprintf(out, size, "%s from %.15g to %.15g", what, p->low, p->high);
    else
        (void)snprintf(out, size, "%s", what);
    return out;
}

static bool read_value(const tacit_parameter *p, const char *text, tacit__value *value)
{
    size_t n = strlen(text);
    value->text = text;
    switch (p->type) {
    case TACIT_PARAMETER_INTEGER:
        if (!tacit__read_whole(text, n, &value->integer))
            return false;
        value->real = (double)value->integer;
        return value->real >= p->low && value->real <= p->high;
    case TACIT_PARAMETER_REAL:
        return tacit__read_real(text, n, &value->real) && value->real >= p->low &&
               value->real <= p->high;
    case TACIT_PARAMETER_FLAG:
        return tacit__read_flag(text, &value->flag);
    case TACIT_PARAMETER_TEXT:
    case TACIT_PARAMETER_FILE:
        break;
    }
    return n > 0;
}

enum { MAX_NAMES = 64 }; /* parameters of a kind that are looked at for a slip of the hand */

static tacit_status fail_unknown(const tacit_parameter *parameters, size_t n,
                                 const tacit_setting *setting, const tacit__origin *origin,
                                 tacit_error *err)
{
    char names[320] = "", hint[64] = "";
    const char *words[MAX_NAMES] = {NULL};
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        int written = snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                               parameters[i].name);
        used += (size_t)written < sizeof names - used ? (size_t)written : 0;
        if (i < MAX_NAMES)
            words[i] = parameters[i].name;
    }
    const char *near = tacit__nearest(setting->key, words, n < MAX_NAMES ? n : MAX_NAMES);
    if (near != NULL)
        (void)snprintf(hint, sizeof hint, " (did you mean '%s'?)", near);
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)setting->line,
                          "%s has no parameter '%.40s'%s; it takes %s", origin->kind, setting->key,
                          hint, names);
}

static tacit_status fail_missing(const tacit_parameter *p, const tacit__origin *origin,
                                 tacit_error *err)
{
    char expected[200];
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)origin->line,
                          "%s needs '%s': %s", origin->kind, p->name,
                          expectation(p, expected, sizeof expected));
}

static tacit_status read_one(const tacit_parameter *p, const tacit_setting *setting,
                             const tacit__origin *origin, tacit__value *value, tacit_error *err)
{
    if (value->given)
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)setting->line,
                              "'%s' is given twice; keep one", p->name);
    value->given = true;
    value->line = setting->line > 0 ? setting->line : origin->line;
    char expected[200], hint[TACIT__WHOLE_HINT] = "";
    if (!read_value(p, setting->value, value))
        return tacit__fail_at(
            err, TACIT_BAD_ARGUMENT, origin->file, (size_t)setting->line,
            "%s is '%.40s', expected %s%s", p->name, setting->value,
            expectation(p, expected, sizeof expected),
            p->type == TACIT_PARAMETER_INTEGER ? tacit__whole_hint(setting->value, hint) : "");
    return TACIT_OK;
}

tacit_status tacit__settings_read(const tacit_parameter *parameters, size_t n_parameters,
                                  const tacit_setting *settings, size_t n_settings,
                                  const tacit__origin *origin, tacit__value *values,
                                  tacit_error *err)
{
    TACIT__REQUIRE(origin != NULL && (settings != NULL || n_settings == 0));
    memset(values, 0, n_parameters * sizeof *values);
    for (size_t i = 0; i < n_settings; i++) {
        size_t j = 0;
        while (j < n_parameters && strcmp(parameters[j].name, settings[i].key) != 0)
            j++;
        if (j == n_parameters)
            return fail_unknown(parameters, n_parameters, &settings[i], origin, err);
        TRY(read_one(&parameters[j], &settings[i], origin, &values[j], err));
    }
    for (size_t j = 0; j < n_parameters; j++) {
        if (values[j].given)
            continue;
        if (parameters[j].fallback == NULL)
            return fail_missing(&parameters[j], origin, err);
        values[j].line = origin->line;
        values[j].text = parameters[j].fallback;
        if (parameters[j].fallback[0] != '\0')
            TACIT__REQUIRE(read_value(&parameters[j], parameters[j].fallback, &values[j]));
    }
    return TACIT_OK;
}
