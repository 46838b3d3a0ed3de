/* See text/settings.h. Every message names the line, the value, and what was expected. */
#include "text/settings.h"

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
#include "text/fields.h"
#include "text/nearest.h"

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

/* A parameter as a field of its value. Texts say what they are in their help. */
typedef struct described {
    tacit__range range;
    tacit__field field;
} described;

static const tacit__field *describe(const tacit_parameter *p, described *out)
{
    static const struct {
        tacit__field_type type;
        size_t offset;
    } kinds[] = {[TACIT_PARAMETER_INTEGER] = {TACIT__FIELD_INTEGER, offsetof(tacit_value, integer)},
                 [TACIT_PARAMETER_REAL] = {TACIT__FIELD_REAL, offsetof(tacit_value, real)},
                 [TACIT_PARAMETER_FLAG] = {TACIT__FIELD_FLAG, offsetof(tacit_value, flag)},
                 [TACIT_PARAMETER_TEXT] = {TACIT__FIELD_TEXT, offsetof(tacit_value, text)},
                 [TACIT_PARAMETER_FILE] = {TACIT__FIELD_TEXT, offsetof(tacit_value, text)}};
    const bool text = kinds[p->type].type == TACIT__FIELD_TEXT;
    out->range = (tacit__range){p->low, p->high, .closed = true};
    out->field = (tacit__field){p->name,  kinds[p->type].type,  kinds[p->type].offset,
                                .low = 1, .range = &out->range, .expected = text ? p->help : NULL};
    return &out->field;
}

static bool read_value(const tacit_parameter *p, const char *text, tacit__value *value)
{
    described d;
    value->text = text;
    if (!tacit__field_read(describe(p, &d), text, value))
        return false;
    if (p->type == TACIT_PARAMETER_INTEGER)
        value->real = (double)value->integer;
    return true;
}

static tacit_status read_one(const tacit_parameter *p, const tacit_setting *setting,
                             const tacit__origin *origin, tacit__value *value, tacit_error *err)
{
    char advice[TACIT__ADVICE];
    described d;
    if (value->given)
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)setting->line,
                              "'%s' is given twice; keep one", p->name);
    value->given = true;
    value->line = setting->line > 0 ? setting->line : origin->line;
    if (!read_value(p, setting->value, value))
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)setting->line,
                              "%s is '%.40s', expected %s", p->name, setting->value,
                              tacit__field_advice(describe(p, &d), setting->value, advice));
    return TACIT_OK;
}

static tacit_status fail_unknown(const tacit_parameter *parameters, size_t n,
                                 const tacit_setting *setting, const tacit__origin *origin,
                                 tacit_error *err)
{
    const char *names[TACIT__MAX_PARAMETERS];
    char hint[TACIT__SUGGESTION];
    for (size_t i = 0; i < n; i++)
        names[i] = parameters[i].name;
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)setting->line,
                          "%s has no parameter '%.40s'%s", origin->kind, setting->key,
                          n > 0 ? tacit__suggest(setting->key, names, n, NULL, hint)
                                : ": it has none");
}

tacit_status tacit__settings_read(const tacit_parameter *parameters, size_t n_parameters,
                                  const tacit_setting *settings, size_t n_settings,
                                  const tacit__origin *origin, tacit__value *values,
                                  tacit_error *err)
{
    TACIT__REQUIRE(origin != NULL && (settings != NULL || n_settings == 0));
    TACIT__REQUIRE(n_parameters <= TACIT__MAX_PARAMETERS);
    char expected[TACIT__EXPECTED];
    described d;
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
            return tacit__fail_at(err, TACIT_BAD_ARGUMENT, origin->file, (size_t)origin->line,
                                  "%s needs '%s': %s", origin->kind, parameters[j].name,
                                  tacit__field_expected(describe(&parameters[j], &d), expected));
        values[j].line = origin->line;
        values[j].text = parameters[j].fallback;
        if (parameters[j].fallback[0] != '\0')
            TACIT__REQUIRE(read_value(&parameters[j], parameters[j].fallback, &values[j]));
    }
    return TACIT_OK;
}
