/* See columns.h. Declarations are parsed in one pass; categories are found by linear search. */
#include "worlds/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

bool tacit__span_is(tacit__span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.text, text, span.size) == 0;
}

static bool is_same(tacit__span a, tacit__span b)
{
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

tacit_status tacit__column_add(tacit__column *c, tacit__span category)
{
    TACIT__REQUIRE(c->n_categories <= c->room);
    if (c->n_categories == TACIT__MAX_CATEGORIES)
        return TACIT_TOO_LARGE;
    if (c->n_categories == c->room) {
        size_t room = c->room == 0 ? 8 : 2 * c->room;
        tacit__span *larger = tacit__alloc(room, sizeof *larger);
        if (larger == NULL)
            return TACIT_NO_MEMORY;
        if (c->n_categories > 0)
            memcpy(larger, c->category, c->n_categories * sizeof *larger);
        tacit__free(c->category);
        c->category = larger;
        c->room = room;
    }
    c->category[c->n_categories++] = category;
    return TACIT_OK;
}

size_t tacit__column_find(const tacit__column *c, tacit__span value)
{
    size_t i = 0;
    while (i < c->n_categories && !is_same(c->category[i], value))
        i++;
    return i;
}

void tacit__columns_free(tacit__columns_list *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        tacit__free(columns->column[i].category);
    columns->n = 0;
}

/* --- Declarations -------------------------------------------------------------------------------- */

static tacit_status fail(const tacit__declaration *d, tacit__span item, const char *what,
                         tacit_error *err)
{
    char shown[TACIT__SHOWN];
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, d->file, d->line,
                          "%s: '%s' %s; expected for example 'age 17..90', 'sex {Male | Female}', "
                          "or 'race {White | Black | ...}', with commas between columns",
                          d->key, tacit__span_format(item, shown), what);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static tacit__span trim(tacit__span s)
{
    while (s.size > 0 && is_space(s.text[0]))
        s = (tacit__span){s.text + 1, s.size - 1};
    while (s.size > 0 && is_space(s.text[s.size - 1]))
        s.size--;
    return s;
}

/* The first word, or quoted text; `rest` is what follows it. */
static tacit__span read_word(tacit__span *rest)
{
    *rest = trim(*rest);
    size_t n = 0;
    if (rest->size > 0 && rest->text[0] == '"') {
        const char *end = memchr(rest->text + 1, '"', rest->size - 1);
        n = end != NULL ? (size_t)(end - rest->text) : rest->size;
        tacit__span word = {rest->text + 1, n - 1};
        n += end != NULL;
        *rest = (tacit__span){rest->text + n, rest->size - n};
        return word;
    }
    while (n < rest->size && !is_space(rest->text[n]) && rest->text[n] != '{')
        n++;
    tacit__span word = {rest->text, n};
    *rest = (tacit__span){rest->text + n, rest->size - n};
    return word;
}

/* "17..90" */
static bool read_range(tacit__span word, tacit__column *c)
{
    for (size_t i = 0; i + 1 < word.size; i++)
        if (word.text[i] == '.' && word.text[i + 1] == '.')
            return tacit__read_real(word.text, i, &c->low) &&
                   tacit__read_real(word.text + i + 2, word.size - i - 2, &c->high) &&
                   c->low < c->high && isfinite(c->high - c->low);
    return false;
}

static tacit_status read_categories(const tacit__declaration *d, tacit__span item,
                                    tacit__span *rest, tacit__column *c, tacit_error *err)
{
    const char *end = memchr(rest->text, '}', rest->size);
    if (end == NULL)
        return fail(d, item, "has no closing brace", err);
    tacit__span inside = {rest->text + 1, (size_t)(end - rest->text) - 1};
    *rest = (tacit__span){end + 1, rest->size - inside.size - 2};
    for (;;) {
        const char *bar = memchr(inside.text, '|', inside.size);
        size_t size = bar != NULL ? (size_t)(bar - inside.text) : inside.size;
        tacit__span category = trim((tacit__span){inside.text, size});
        if (category.size == 0)
            return fail(d, item, "has an empty category", err);
        if (tacit__span_is(category, "...")) {
            c->others = true;
        } else {
            if (tacit__column_find(c, category) < c->n_categories)
                return fail(d, item, "has a category twice", err);
            tacit_status status = tacit__column_add(c, category);
            if (status == TACIT_TOO_LARGE)
                return fail(d, item, "has too many categories", err);
            if (status != TACIT_OK)
                return tacit__fail_plain(err, status);
        }
        if (bar == NULL)
            return TACIT_OK;
        inside = (tacit__span){bar + 1, inside.size - size - 1};
    }
}

static tacit_status read_item(const tacit__declaration *d, tacit__span item, tacit__column *c,
                              tacit_error *err)
{
    tacit__span rest = item;
    *c = (tacit__column){.name = read_word(&rest)};
    if (c->name.size == 0)
        return fail(d, item, "has no column's name", err);
    rest = trim(rest);
    if (rest.size > 0 && rest.text[0] == '{') {
        TRY(read_categories(d, item, &rest, c, err));
        c->declared = true;
    }
    while ((rest = trim(rest)).size > 0) {
        if (rest.text[0] == '{')
            return fail(d, item, "has two lists of categories", err);
        tacit__span word = read_word(&rest);
        if (!c->declared && read_range(word, c))
            c->declared = c->numeric = true;
        else if (c->numeric && tacit__span_is(word, "log"))
            c->logarithmic = true;
        else if (c->numeric && tacit__span_is(word, "?"))
            c->missing = true;
        else
            return fail(d, item, "is not understood", err);
    }
    return TACIT_OK;
}

/* The next item: commas in braces and quotes do not count. */
static tacit__span next_item(tacit__span *rest)
{
    bool braces = false, quotes = false;
    size_t n = 0;
    for (; n < rest->size && (braces || quotes || rest->text[n] != ','); n++) {
        quotes ^= rest->text[n] == '"' && !braces;
        braces = !quotes && (rest->text[n] == '{' || (braces && rest->text[n] != '}'));
    }
    tacit__span item = trim((tacit__span){rest->text, n});
    n += n < rest->size;
    *rest = (tacit__span){rest->text + n, rest->size - n};
    return item;
}

tacit_status tacit__columns_read(const tacit__declaration *d, tacit__columns_list *out,
                                 tacit_error *err)
{
    TACIT__REQUIRE(d->text != NULL && d->key != NULL);
    tacit__span rest = {d->text, strlen(d->text)};
    out->n = 0;
    while (trim(rest).size > 0) {
        tacit__span item = next_item(&rest);
        if (out->n == TACIT__MAX_COLUMNS)
            return fail(d, item, "is one column too many", err);
        tacit__column *c = &out->column[out->n];
        tacit_status status = read_item(d, item, c, err);
        out->n++; /* also when it failed: its categories must be freed */
        for (size_t i = 0; status == TACIT_OK && i + 1 < out->n; i++)
            if (is_same(out->column[i].name, c->name))
                status = fail(d, item, "is declared twice", err);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* --- Values -------------------------------------------------------------------------------------- */

/* Features that the column makes. */
static size_t width_of(const tacit__column *c)
{
    return c->numeric ? 1 + (size_t)c->missing : c->n_categories;
}

void tacit__column_encode_number(const tacit__column *c, double value, double *features)
{
    TACIT__REQUIRE(c->numeric && c->low < c->high);
    double x = fmin(c->high, fmax(c->low, value)) - c->low;
    double share = c->logarithmic ? log1p(x) / log1p(c->high - c->low) : x / (c->high - c->low);
    features[0] = fmin(1, fmax(-1, 2 * share - 1));
    if (c->missing)
        features[1] = 0;
}

bool tacit__column_encode(const tacit__column *c, tacit__span value, bool missing, double *features)
{
    TACIT__REQUIRE(features != NULL);
    if (!c->numeric) {
        size_t i = missing ? c->n_categories : tacit__column_find(c, value);
        for (size_t j = 0; j < c->n_categories; j++)
            features[j] = j == i;
        return missing || i < c->n_categories || c->others;
    }
    double x;
    features[0] = 0;
    if (c->missing)
        features[1] = missing;
    if (missing)
        return c->missing;
    if (!tacit__read_real(value.text, value.size, &x))
        return false;
    tacit__column_encode_number(c, x, features);
    return true;
}

/* --- Files --------------------------------------------------------------------------------------- */

tacit_status tacit__columns_locate(const tacit__csv *header, const tacit__declaration *d,
                                   tacit__span name, size_t *field, tacit_error *err)
{
    TACIT__REQUIRE(field != NULL);
    char shown[TACIT__SHOWN], list[160] = "";
    size_t found = 0, used = 0;
    for (size_t i = 0; i < header->n_fields; i++)
        if (header->field[i].size == name.size &&
            memcmp(header->field[i].text, name.text, name.size) == 0) {
            *field = i;
            found++;
        }
    if (found == 1)
        return TACIT_OK;
    if (found > 1)
        return tacit__fail_at(err, TACIT_SYNTAX, header->name, 1, "two columns are called '%s'",
                              tacit__span_format(name, shown));
    for (size_t i = 0; i < header->n_fields && used + 48 < sizeof list; i++) {
        char one[TACIT__SHOWN];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                 tacit__span_format(header->field[i], one));
    }
    return tacit__fail_at(err, TACIT_BAD_ARGUMENT, d->file, d->line,
                          "%s: %.60s has no column '%s'; there are %s%s", d->key, header->name,
                          tacit__span_format(name, shown), list,
                          used + 48 >= sizeof list ? ", ..." : "");
}

/* --- People -------------------------------------------------------------------------------------- */

size_t tacit__columns_arrange(tacit__columns_list *columns, bool intercept)
{
    size_t n = intercept;
    for (size_t i = 0; i < columns->n; i++) {
        columns->column[i].first = n;
        n += width_of(&columns->column[i]);
    }
    return n;
}

void tacit__columns_finish(const tacit__columns_list *columns, bool intercept, bool unit,
                           double *features)
{
    TACIT__REQUIRE(columns->n <= TACIT__MAX_COLUMNS);
    size_t n = intercept;
    double square = 0, most = (double)(columns->n + intercept); /* no column is longer than 1 */
    for (size_t i = 0; i < columns->n; i++)
        n += width_of(&columns->column[i]);
    if (intercept)
        features[0] = 1;
    for (size_t i = 0; i < n; i++)
        square += features[i] * features[i];
    double length = sqrt(unit ? square : most);
    for (size_t i = 0; i < n && length > 0; i++)
        features[i] /= length;
}
