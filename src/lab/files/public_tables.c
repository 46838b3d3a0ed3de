/* See lab/files/public_tables.h. A line is a number and its place:
 * `state,action,part,next_state,probability`. The order of lines does not matter, and a missing number
 * is 0, but every row (such as a pair of a state and an action) needs a line, and no number may be
 * given twice. The file is read twice: first to count parts or features, then for their values. */
#include "lab/files/public_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/domain.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/settings.h"
#include "worlds/csv.h"
#include "worlds/mdp.h"

enum { PLACES = 4, MAX_OPEN = 4096 }; /* parts, features: a stated choice */

typedef struct sheet {
    const char *header;
    char names[64];
    const char *name[PLACES]; /* of the columns before the number, in the order of the table */
    size_t size[PLACES];      /* 0: as many as the file has */
    size_t n, n_row;          /* columns; the first n_row make a row */
    const char *value;
    double low, high;
    tacit__text_file file;
    double *cell;       /* NaN: not told yet */
    size_t *line;       /* [row]: its first; 0: none */
    size_t *open, rows; /* what the column of size 0 means; rows of the whole table */
} sheet;

static bool begins_with(const tacit__text_file *file, const char *text)
{
    size_t n = strlen(text), skip = file->size >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0;
    skip *= 3;
    return file->size >= skip + n && memcmp(file->text + skip, text, n) == 0;
}

/* Which columns a file of this table has; the last one has the numbers. */
static const char *header_of(const sheet *s, const tacit__learner_config *l,
                             tacit__table_name table)
{
    switch (table) {
    case TACIT__TABLE_REWARDS:
        return !l->request.stationary && begins_with(&s->file, "step") ? "step,state,action,reward"
                                                                       : "state,action,reward";
    case TACIT__TABLE_MIXTURE:
        return "state,action,part,next_state,probability";
    case TACIT__TABLE_WEIGHTS:
        return "state,probability";
    case TACIT__TABLE_FEATURES:
    case TACIT__N_TABLES:
        break;
    }
    return l->known.disjoint ? "state,feature,value" : "state,action,feature,value";
}

/* Returns how many values a column before the number has; 0: as many as the file has. */
static size_t size_of(const tacit__learner_config *l, const char *name)
{
    if (strcmp(name, "step") == 0)
        return l->request.horizon;
    if (strcmp(name, "action") == 0)
        return l->request.n_actions;
    return strcmp(name, "state") == 0 || strcmp(name, "next_state") == 0 ? l->request.n_states : 0;
}

/* Says what the file must look like. Rewards are rows of one number; others lack their last column. */
static void describe(sheet *s, tacit__learner_config *l, tacit__table_name table)
{
    const tacit__domain domain = tacit__domain_of(&l->request);
    const bool rewards = table == TACIT__TABLE_REWARDS, features = table == TACIT__TABLE_FEATURES;
    s->header = header_of(s, l, table);
    (void)snprintf(s->names, sizeof s->names, "%s", s->header);
    s->value = s->names;
    for (char *comma; (comma = strchr(s->value, ',')) != NULL; s->value = comma + 1) {
        *comma = '\0';
        s->size[s->n] = size_of(l, s->value);
        s->name[s->n++] = s->value;
    }
    s->n_row = rewards ? s->n : s->n - 1;
    s->low = rewards ? domain.reward_low : features ? -1e6 : 0;
    s->high = rewards ? domain.reward_high : features ? 1e6 : 1;
    s->open = features ? &l->known.features : &l->known.parts;
}

static tacit_status next_line(const sheet *s, tacit__csv *csv, bool *more, uint32_t at[PLACES],
                              tacit_error *err)
{
    tacit_status status = tacit__csv_next(csv, more, err);
    for (size_t i = 0; i < s->n && status == TACIT_OK && *more; i++) {
        uint32_t most = s->size[i] > 0 ? (uint32_t)s->size[i] - 1 : MAX_OPEN - 1;
        status = tacit__csv_index(csv, i, s->name[i], most, &at[i], err);
    }
    return status;
}

static tacit_status open_lines(const sheet *s, tacit__csv *csv, tacit_error *err)
{
    return tacit__csv_open(csv, s->file.path, s->header, (tacit__span){s->file.text, s->file.size},
                           err);
}

/* The open column becomes as large as it must. */
static tacit_status count(sheet *s, tacit_error *err)
{
    tacit__csv csv;
    bool more;
    uint32_t at[PLACES];
    size_t column = 0, largest = 0, lines = 0;
    while (column < s->n && s->size[column] > 0)
        column++;
    TRY(open_lines(s, &csv, err));
    tacit_status status = TACIT_OK;
    for (; (status = next_line(s, &csv, &more, at, err)) == TACIT_OK && more; lines++)
        if (column < s->n && at[column] >= largest)
            largest = at[column] + (size_t)1;
    if (status == TACIT_OK && lines == 0)
        status = tacit__fail_at(err, TACIT_SYNTAX, csv.name, 0, "no line follows the header");
    if (status == TACIT_OK && column < s->n)
        *s->open = s->size[column] = largest;
    return status;
}

/* "state 2, action 1" for the first n columns of a place. */
static const char *show_place(const sheet *s, size_t place, size_t n, char out[120])
{
    size_t at[PLACES] = {0}, used = 0;
    out[0] = '\0';
    for (size_t i = n; i-- > 0; place /= s->size[i])
        at[i] = place % s->size[i];
    for (size_t i = 0; i < n && used < 120; i++)
        used += (size_t)snprintf(out + used, 120 - used, "%s%s %zu", i > 0 ? ", " : "", s->name[i],
                                 at[i]);
    return out;
}

static tacit_status fill(sheet *s, tacit_error *err)
{
    tacit__csv csv;
    bool more;
    uint32_t at[PLACES];
    char place[120];
    tacit_status status = open_lines(s, &csv, err);
    while (status == TACIT_OK && (status = next_line(s, &csv, &more, at, err)) == TACIT_OK &&
           more) {
        double x;
        size_t cell = 0, row = 0;
        for (size_t i = 0; i < s->n; i++) {
            cell = cell * s->size[i] + at[i];
            row = i < s->n_row ? cell : row;
        }
        status = tacit__csv_real(&csv, s->n, s->value, &x, err);
        if (status == TACIT_OK && !(x >= s->low && x <= s->high))
            status = tacit__fail_at(err, TACIT_OUT_OF_BOUND, csv.name, csv.line,
                                    "%s is %g, expected a number from %g to %g", s->value, x,
                                    s->low, s->high);
        if (status == TACIT_OK && !isnan(s->cell[cell]))
            status = tacit__fail_at(err, TACIT_SYNTAX, csv.name, csv.line,
                                    "%s comes twice; keep one", show_place(s, cell, s->n, place));
        if (status != TACIT_OK)
            break;
        s->cell[cell] = x;
        s->line[row] = s->line[row] > 0 ? s->line[row] : csv.line;
    }
    return status;
}

/* Every row was told, and is what it must be; what it does not tell is 0. */
static tacit_status check_rows(const sheet *s, const tacit__learner_config *l,
                               tacit__table_name table, tacit_error *err)
{
    char place[120];
    const bool law = table == TACIT__TABLE_MIXTURE || table == TACIT__TABLE_WEIGHTS;
    size_t width = s->n_row < s->n ? s->size[s->n - 1] : 1;
    for (size_t row = 0; row < s->rows; row++) {
        double *x = s->cell + row * width, sum = 0, square = 0;
        if (s->line[row] == 0)
            return tacit__fail_at(err, TACIT_SYNTAX, s->file.path, 0, "%s has no line",
                                  show_place(s, row, s->n_row, place));
        for (size_t i = 0; i < width; i++) {
            x[i] = isnan(x[i]) ? 0 : x[i];
            sum += x[i];
            square += x[i] * x[i];
        }
        if (law && fabs(sum - 1) > TACIT__SUM_TOLERANCE)
            return tacit__fail_at(err, TACIT_SYNTAX, s->file.path, s->line[row],
                                  "the probabilities%s%s sum to %.9g, expected 1",
                                  s->n_row > 0 ? " of " : "", show_place(s, row, s->n_row, place),
                                  sum);
        for (size_t i = 0; i < width && law; i++)
            x[i] /= sum; /* printed digits are few */
        if (table == TACIT__TABLE_FEATURES && l->known.bound > 0 &&
            sqrt(square) > l->known.bound * (1 + TACIT__TABLES_TOL))
            return tacit__fail_at(err, TACIT_OUT_OF_BOUND, s->file.path, s->line[row],
                                  "the features of %s are %g long, outside the declared bound %g; "
                                  "raise the bound, or divide all features by a number",
                                  show_place(s, row, s->n_row, place), sqrt(square),
                                  l->known.bound);
    }
    return TACIT_OK;
}

static tacit_status read_table(sheet *s, const tacit__learner_config *l, tacit__table_name table,
                               tacit_error *err)
{
    size_t cells = tacit__world_tables_size(&l->known, &l->request, table), told = 1;
    if (cells == 0)
        return tacit__fail_at(err, TACIT_TOO_LARGE, l->request.file, (size_t)l->files[table].line,
                              "the table of %s would have more than 134 million numbers",
                              tacit__table_names[table]);
    s->rows = 1;
    for (size_t i = 0; i < s->n; i++) {
        told *= s->size[i];
        s->rows *= i < s->n_row ? s->size[i] : 1;
    }
    s->cell = tacit__alloc(cells, sizeof *s->cell);
    s->line = tacit__alloc(s->rows, sizeof *s->line);
    if (s->cell == NULL || s->line == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < cells; i++)
        s->cell[i] = (double)NAN;
    tacit_status status = fill(s, err);
    if (status == TACIT_OK)
        status = check_rows(s, l, table, err);
    for (size_t i = told; i < cells && status == TACIT_OK; i++)
        s->cell[i] = s->cell[i - told]; /* rewards without steps are those of every step */
    return status;
}

tacit_status tacit__table_load(tacit__learner_config *l, tacit__table_name table, tacit_error *err)
{
    TACIT__REQUIRE(table < TACIT__N_TABLES);
    sheet s = {0};
    const tacit__world_tables before = l->known;
    const tacit__value setting = {.text = l->files[table].name, .line = l->files[table].line};
    const tacit__origin origin = {.file = l->request.file, .line = setting.line, .kind = "space"};
    tacit_status status = tacit__text_file_read(&setting, &origin, &s.file, err);
    if (status == TACIT_OK) {
        describe(&s, l, table);
        status = count(&s, err);
    }
    if (status == TACIT_OK)
        status = read_table(&s, l, table, err);
    tacit__text_file_close(&s.file);
    tacit__free(s.line);
    if (status == TACIT_OK) {
        l->known.table[table] = s.cell;
    } else {
        tacit__free(s.cell);
        l->known = before; /* parts and features have been counted */
    }
    return status;
}
