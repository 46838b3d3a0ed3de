/* See csv.h. */
#include "worlds/csv.h"

#include <string.h>

#include "base/error.h"

/* Returns where the quoted field that begins at text[0] ends: the place of its closing quote; `size`:
 * it has none. */
static size_t closing_quote(tacit__span t)
{
    size_t n = 1;
    while (n < t.size && (t.text[n] != '"' || (n + 1 < t.size && t.text[n + 1] == '"')))
        n += t.text[n] == '"' ? 2 : 1;
    return n < t.size ? n : t.size;
}

/* Takes one field off the line, up to the comma after it. False: a quote is not closed, or text follows. */
static bool read_field(tacit__span *line, bool quotes, tacit__span *field)
{
    const tacit__span t = tacit__span_trim(*line);
    if (quotes && t.size > 0 && t.text[0] == '"') {
        size_t n = closing_quote(t);
        if (n == t.size)
            return false;
        *field = (tacit__span){t.text + 1, n - 1};
        *line = tacit__span_trim((tacit__span){t.text + n + 1, t.size - n - 1});
        return line->size == 0 || line->text[0] == ',';
    }
    const char *comma = line->size > 0 ? memchr(line->text, ',', line->size) : NULL;
    size_t n = comma != NULL ? (size_t)(comma - line->text) : line->size;
    *field = tacit__span_trim((tacit__span){line->text, n});
    *line = (tacit__span){line->text + n, line->size - n};
    return true;
}

static tacit_status split(tacit__csv *csv, tacit__span line, size_t *n, tacit_error *err)
{
    for (*n = 0;; line = (tacit__span){line.text + 1, line.size - 1}) {
        if (*n == TACIT__MAX_FIELDS)
            return tacit__fail_at(err, TACIT_TOO_LARGE, csv->name, csv->line, "more than %d fields",
                                  (int)TACIT__MAX_FIELDS);
        if (!read_field(&line, csv->header == NULL, &csv->field[(*n)++]))
            return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                                  "field %zu: a quote is not closed, or text follows it", *n);
        if (line.size == 0)
            return TACIT_OK;
    }
}

/* The next line that is not blank. */
static bool next_line(tacit__csv *csv, tacit__span *line)
{
    while (tacit__line_next(&csv->rest, line)) {
        csv->line++;
        if (tacit__span_trim(*line).size > 0)
            return true;
    }
    return false;
}

/* The fields are the names of the header that was asked for. */
static bool matches(const tacit__csv *csv)
{
    const char *name = csv->header;
    for (size_t i = 0; i < csv->n_fields; i++) {
        size_t size = strcspn(name, ",");
        if (csv->field[i].size != size || memcmp(csv->field[i].text, name, size) != 0)
            return false;
        name += size;
        if ((*name == '\0') != (i + 1 == csv->n_fields))
            return false;
        name += *name == ',';
    }
    return true;
}

tacit_status tacit__csv_open(tacit__csv *csv, const char *name, const char *header,
                             tacit__span text, tacit_error *err)
{
    TACIT__REQUIRE(name != NULL && (text.text != NULL || text.size == 0));
    static const char mark[] = "\xef\xbb\xbf";
    csv->name = name;
    csv->header = header;
    csv->rest = text;
    csv->line = 0;
    if (text.size >= 3 && memcmp(text.text, mark, 3) == 0)
        csv->rest = (tacit__span){text.text + 3, text.size - 3};
    tacit__span line;
    char shown[TACIT__SHOWN];
    if (!next_line(csv, &line))
        return tacit__fail_at(err, TACIT_SYNTAX, name, 0, "the file is empty, expected %s%s",
                              header != NULL ? "the header " : "a header with names of columns",
                              header != NULL ? header : "");
    TRY(split(csv, line, &csv->n_fields, err));
    if (header != NULL && !matches(csv))
        return tacit__fail_at(err, TACIT_SYNTAX, name, csv->line,
                              "the header is '%s', expected %s%s", tacit__span_format(line, shown),
                              header,
                              memchr(line.text, ';', line.size) != NULL
                                  ? "; separate columns by commas, not by semicolons"
                                  : "");
    return TACIT_OK;
}

tacit_status tacit__csv_next(tacit__csv *csv, bool *more, tacit_error *err)
{
    TACIT__REQUIRE(csv->line > 0);
    tacit__span line;
    size_t n;
    *more = next_line(csv, &line);
    if (!*more)
        return TACIT_OK;
    TRY(split(csv, line, &n, err));
    if (n != csv->n_fields)
        return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                              "%zu field%s, expected %zu%s%s", n, n == 1 ? "" : "s", csv->n_fields,
                              csv->header != NULL ? ": " : " as in the header",
                              csv->header != NULL ? csv->header : "");
    return TACIT_OK;
}

tacit_status tacit__csv_index(const tacit__csv *csv, size_t i, const char *what, uint32_t most,
                              uint32_t *out, tacit_error *err)
{
    TACIT__REQUIRE(i < csv->n_fields);
    int64_t value;
    char shown[TACIT__SHOWN];
    if (!tacit__read_integer(csv->field[i].text, csv->field[i].size, &value) || value < 0 ||
        value > most)
        return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                              "%s is '%s', expected a whole number from 0 to %u", what,
                              tacit__span_format(csv->field[i], shown), most);
    *out = (uint32_t)value;
    return TACIT_OK;
}

tacit_status tacit__csv_real(const tacit__csv *csv, size_t i, const char *what, double *out,
                             tacit_error *err)
{
    TACIT__REQUIRE(i < csv->n_fields);
    char shown[TACIT__SHOWN];
    if (!tacit__read_real(csv->field[i].text, csv->field[i].size, out))
        return tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                              "%s is '%s', expected a decimal number", what,
                              tacit__span_format(csv->field[i], shown));
    return TACIT_OK;
}
