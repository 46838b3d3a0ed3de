/* See text/fields.h. Values are stored through the field's offset, by its type; numbers are read in any
 * locale. */
#include "text/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "text/nearest.h"
#include "text/settings.h"

/* YAML's own spellings. */
static bool is_infinity(const char *text)
{
    text += text[0] == '+';
    return strcasecmp(text, ".inf") == 0;
}

bool tacit__range_has(const tacit__range *r, double value)
{
    TACIT__REQUIRE(r->low <= r->high);
    return (r->open ? value > r->low : value >= r->low) &&
           (value < r->high || (r->closed && value == r->high) ||
            (r->infinite && value == HUGE_VAL));
}

static bool read_real(const tacit__range *range, const char *text, double *out)
{
    double value = HUGE_VAL;
    if ((!is_infinity(text) && !tacit__read_real(text, strlen(text), &value)) ||
        !tacit__range_has(range, value))
        return false;
    *out = value;
    return true;
}

static bool read_word(const char *const *words, const char *text, size_t *out)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    return false;
}

bool tacit__field_read(const tacit__field *f, const char *text, void *object)
{
    void *out = (char *)object + f->offset;
    const size_t length = strlen(text);
    int64_t number;
    size_t word;
    switch (f->type) {
    case TACIT__FIELD_FLAG:
        if (f->words == NULL)
            return tacit__read_flag(text, out);
        if (!read_word(f->words, text, &word))
            return false;
        *(bool *)out = word == 1;
        return true;
    case TACIT__FIELD_COUNT:
        if (!tacit__read_whole(text, length, &number) || number < 0 || (uint64_t)number < f->low ||
            (uint64_t)number > f->high)
            return false;
        *(uint64_t *)out = (uint64_t)number;
        return true;
    case TACIT__FIELD_INTEGER:
        if (!tacit__read_whole(text, length, &number) ||
            !tacit__range_has(f->range, (double)number))
            return false;
        *(int64_t *)out = number;
        return true;
    case TACIT__FIELD_REAL:
        return read_real(f->range, text, out);
    case TACIT__FIELD_WORD:
        return read_word(f->words, text, out);
    case TACIT__FIELD_TEXT:
        if (length < f->low || (f->high > 0 && length > f->high))
            return false;
        *(const char **)out = text;
        return true;
    case TACIT__FIELD_MAP:
    case TACIT__FIELD_OTHER:
        break;
    }
    return f->parse != NULL && f->parse(text, out);
}

void tacit__fields_reset(const tacit__field *f, void *object)
{
    for (; f->name != NULL; f++)
        if (f->type == TACIT__FIELD_MAP)
            tacit__fields_reset(f->fields, (char *)object + f->offset);
        else if (f->fallback != NULL)
            TACIT__REQUIRE(tacit__field_read(f, f->fallback, object));
}

const char *const *tacit__field_words(const tacit__field *f)
{
    static const char *const yes_or_no[] = {"yes", "no", NULL};
    return f->type == TACIT__FIELD_FLAG && f->words == NULL ? yes_or_no : f->words;
}

static const char *expected_number(const tacit__field *f, char out[TACIT__EXPECTED])
{
    const tacit__range *r = f->range;
    if (r->expected != NULL)
        return r->expected;
    const size_t used = (size_t)snprintf(
        out, TACIT__EXPECTED, f->type == TACIT__FIELD_INTEGER ? "a whole number" : "a number");
    if (isfinite(r->low) && isfinite(r->high))
        (void)snprintf(out + used, TACIT__EXPECTED - used, " from %.15g to %.15g", r->low, r->high);
    return out;
}

/* "a map, for example {people: 10000, visits: 5}": what is required. */
static const char *expected_map(const tacit__field *fields, char out[TACIT__EXPECTED])
{
    const char *before = ", for example {";
    size_t used = (size_t)snprintf(out, TACIT__EXPECTED, "a map");
    for (; fields->name != NULL && used < TACIT__EXPECTED; fields++)
        if (fields->example != NULL) {
            used += (size_t)snprintf(out + used, TACIT__EXPECTED - used, "%s%s", before,
                                     fields->example);
            before = ", ";
        }
    if (before[2] == '\0' && used < TACIT__EXPECTED)
        (void)snprintf(out + used, TACIT__EXPECTED - used, "}");
    return out;
}

const char *tacit__field_expected(const tacit__field *f, char out[TACIT__EXPECTED])
{
    const char *const *words = tacit__field_words(f);
    size_t used = 0;
    if (f->expected != NULL)
        return f->expected;
    switch (f->type) {
    case TACIT__FIELD_COUNT:
        (void)snprintf(out, TACIT__EXPECTED, "a whole number from %" PRIu64 " to %" PRIu64, f->low,
                       f->high);
        return out;
    case TACIT__FIELD_INTEGER:
    case TACIT__FIELD_REAL:
        return expected_number(f, out);
    case TACIT__FIELD_FLAG:
    case TACIT__FIELD_WORD:
        for (size_t i = 0; words[i] != NULL && used < TACIT__EXPECTED; i++)
            used += (size_t)snprintf(out + used, TACIT__EXPECTED - used, "%s%s",
                                     i == 0                 ? ""
                                     : words[i + 1] == NULL ? " or "
                                                            : ", ",
                                     words[i]);
        return out;
    case TACIT__FIELD_MAP:
        return expected_map(f->fields, out);
    case TACIT__FIELD_TEXT:
    case TACIT__FIELD_OTHER:
        break;
    }
    return "a text";
}

const char *tacit__field_advice(const tacit__field *f, const char *text, char out[TACIT__ADVICE])
{
    char expected[TACIT__EXPECTED], hint[TACIT__WHOLE_HINT] = "";
    const char *const *words = tacit__field_words(f);
    size_t n = 0;
    while (words != NULL && words[n] != NULL)
        n++;
    const char *near = n > 0 ? tacit__nearest(text, words, n) : NULL;
    if (f->type == TACIT__FIELD_COUNT || f->type == TACIT__FIELD_INTEGER)
        (void)tacit__whole_hint(text, hint);
    (void)snprintf(out, TACIT__ADVICE, "%s%s%s%s%s", tacit__field_expected(f, expected), hint,
                   near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
    return out;
}

size_t tacit__field_find(const tacit__field *fields, const char *name)
{
    TACIT__REQUIRE(fields != NULL && name != NULL);
    for (size_t i = 0; fields[i].name != NULL; i++)
        if (strcmp(fields[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

const char *tacit__field_nearest(const tacit__field *fields, const char *word)
{
    const char *best = NULL;
    for (; fields->name != NULL; fields++) {
        const char *pair[] = {best, fields->name};
        best = tacit__nearest(word, pair, 2);
    }
    return best;
}
