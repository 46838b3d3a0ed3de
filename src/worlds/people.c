/* See people.h. Two passes over the text: the first finds the columns, counts people, and looks up what
 * was not declared; the second encodes. */
#include "worlds/people.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "worlds/csv.h"

enum { MAX_PEOPLE = 1 << 28 };

typedef struct reader {
    const tacit__people_source *source;
    tacit__csv csv;
    tacit__columns_list context, label, reward; /* label: or action */
    size_t propensity_field;
    double propensity; /* if it is a number; 0: it is a column */
    tacit__people *people;
} reader;

static bool is_missing(const reader *r, tacit__span value)
{
    return value.size == 0 || tacit__span_is(value, r->source->missing);
}

/* --- Columns ------------------------------------------------------------------------------------- */

static tacit_status one_column(reader *r, const tacit__declaration *d, tacit__columns_list *out,
                               tacit_error *err)
{
    tacit_status status = tacit__columns_read(d, out, err);
    if (status == TACIT_OK && out->n != 1)
        status = tacit__fail_at(err, TACIT_BAD_ARGUMENT, d->file, d->line,
                                "%s has %zu columns, expected one", d->key, out->n);
    if (status == TACIT_OK)
        status = tacit__columns_locate(&r->csv, d, out->column[0].name, &out->column[0].field, err);
    return status;
}

static tacit_status find_logged(reader *r, tacit_error *err)
{
    const tacit__people_source *s = r->source;
    const tacit__declaration *p = &s->propensity;
    tacit_status status = one_column(r, &s->reward, &r->reward, err);
    if (status == TACIT_OK && r->reward.column[0].declared && !r->reward.column[0].numeric)
        status = tacit__fail_at(err, TACIT_BAD_ARGUMENT, s->reward.file, s->reward.line,
                                "reward has categories, expected a range: 'reward 0..1'");
    if (status != TACIT_OK)
        return status;
    if (tacit__read_real(p->text, strlen(p->text), &r->propensity)) {
        if (!(r->propensity > 0 && r->propensity <= 1))
            return tacit__fail_at(err, TACIT_BAD_ARGUMENT, p->file, p->line,
                                  "propensity is %g, expected a number in (0, 1], or a column",
                                  r->propensity);
        return TACIT_OK;
    }
    r->propensity = 0;
    return tacit__columns_locate(&r->csv, p, (tacit__span){p->text, strlen(p->text)},
                                 &r->propensity_field, err);
}

static tacit_status find_columns(reader *r, tacit_error *err)
{
    const tacit__people_source *s = r->source;
    bool labeled = s->label.text[0] != '\0';
    tacit_status status = tacit__columns_read(&s->context, &r->context, err);
    for (size_t i = 0; i < r->context.n && status == TACIT_OK; i++)
        status = tacit__columns_locate(&r->csv, &s->context, r->context.column[i].name,
                                       &r->context.column[i].field, err);
    if (status == TACIT_OK && r->context.n == 0 && !s->intercept)
        status = tacit__fail_at(err, TACIT_BAD_ARGUMENT, s->context.file, s->context.line,
                                "context names no column and there is no intercept");
    if (status == TACIT_OK)
        status = one_column(r, labeled ? &s->label : &s->action, &r->label, err);
    if (status == TACIT_OK && r->label.column[0].numeric)
        status = tacit__fail_at(err, TACIT_BAD_ARGUMENT, s->label.file, s->label.line,
                                "the actions are a range, expected categories: 'income {low | "
                                "high}'");
    if (status == TACIT_OK && !labeled)
        status = find_logged(r, err);
    return status;
}

/* --- The scan ------------------------------------------------------------------------------------ */

/* A column without a declaration counts as numeric until a value is not a number. */
static tacit_status scan_value(reader *r, tacit__column *c, tacit_error *err)
{
    tacit__span value = r->csv.field[c->field];
    double x;
    if (is_missing(r, value)) {
        c->missing = true;
        return TACIT_OK;
    }
    if (tacit__column_find(c, value) == c->n_categories) {
        tacit_status status = tacit__column_add(c, value);
        if (status == TACIT_TOO_LARGE && c->numeric)
            status = TACIT_OK;
        if (status == TACIT_TOO_LARGE) {
            char shown[TACIT__SHOWN];
            return tacit__fail_at(err, status, r->source->name, r->csv.line,
                                  "column '%s' has more than %d different values; declare "
                                  "categories, or leave it out",
                                  tacit__span_format(c->name, shown), (int)TACIT__MAX_CATEGORIES);
        }
        if (status != TACIT_OK)
            return tacit__fail_plain(err, status);
    }
    if (!tacit__read_real(value.text, value.size, &x)) {
        c->numeric = false;
        return c->n_categories < TACIT__MAX_CATEGORIES
                   ? TACIT_OK
                   : tacit__fail_at(err, TACIT_TOO_LARGE, r->source->name, r->csv.line,
                                    "a column has too many different values; declare categories");
    }
    c->low = fmin(c->low, x);
    c->high = fmax(c->high, x);
    return TACIT_OK;
}

static int compare(const void *a, const void *b)
{
    const tacit__span *x = a, *y = b;
    size_t n = x->size < y->size ? x->size : y->size;
    int order = n > 0 ? memcmp(x->text, y->text, n) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Makes what the scan found the column's declaration, and adds its name to the list of scanned columns. */
static tacit_status finish_scan(reader *r, tacit__column *c, tacit_error *err)
{
    char shown[TACIT__SHOWN];
    if (c->numeric && !(c->low < c->high)) { /* one value, or none */
        double value = isfinite(c->low) ? c->low : 1;
        double margin = fmax(1, fabs(value) * 0x1p-40); /* where 1 would be lost in rounding */
        c->low = value - margin;
        c->high = c->low + 2 * margin;
    }
    if (c->numeric && !isfinite(c->high - c->low))
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->source->name, 1,
                              "the values of '%s' go from %g to %g, which is too far for "
                              "arithmetic; declare a range",
                              tacit__span_format(c->name, shown), c->low, c->high);
    if (c->numeric)
        c->n_categories = 0;
    else if (c->n_categories > 1)
        qsort(c->category, c->n_categories, sizeof *c->category, compare);
    char *list = r->people->scanned;
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof r->people->scanned - used, "%s%s", used > 0 ? ", " : "",
                   tacit__span_format(c->name, shown));
    return TACIT_OK;
}

static void begin_scan(tacit__column *c, bool numeric)
{
    c->numeric = numeric;
    c->low = HUGE_VAL;
    c->high = -HUGE_VAL;
}

/* Counts people, and finds the range or categories of columns without a declaration. */
static tacit_status scan(reader *r, size_t *n_lines, tacit_error *err)
{
    tacit__column *label = &r->label.column[0], *reward = &r->reward.column[0];
    bool more, logged = r->reward.n > 0;
    for (size_t i = 0; i < r->context.n; i++)
        if (!r->context.column[i].declared)
            begin_scan(&r->context.column[i], true);
    if (!label->declared)
        begin_scan(label, false);
    if (logged && !reward->declared)
        begin_scan(reward, true);
    *n_lines = 0;
    for (;;) {
        tacit_status status = tacit__csv_next(&r->csv, &more, err);
        if (status != TACIT_OK)
            return status;
        if (!more)
            break;
        for (size_t i = 0; i < r->context.n && status == TACIT_OK; i++)
            if (!r->context.column[i].declared)
                status = scan_value(r, &r->context.column[i], err);
        if (status == TACIT_OK && !label->declared)
            status = scan_value(r, label, err);
        if (status == TACIT_OK && logged && !reward->declared)
            status = scan_value(r, reward, err);
        if (status != TACIT_OK)
            return status;
        if (++*n_lines > MAX_PEOPLE)
            return tacit__fail_at(err, TACIT_TOO_LARGE, r->source->name, r->csv.line,
                                  "more than %d people", (int)MAX_PEOPLE);
    }
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < r->context.n && status == TACIT_OK; i++)
        if (!r->context.column[i].declared)
            status = finish_scan(r, &r->context.column[i], err);
    if (status == TACIT_OK && !label->declared)
        status = finish_scan(r, label, err);
    if (status == TACIT_OK && logged && !reward->declared)
        status = finish_scan(r, reward, err);
    if (status == TACIT_OK && logged && !reward->numeric)
        return tacit__fail_at(err, TACIT_SYNTAX, r->source->name, 1,
                              "the reward has values that are not numbers");
    return status;
}

/* --- Encoding ------------------------------------------------------------------------------------ */

static tacit_status fail_value(const reader *r, const tacit__column *c, tacit__span value,
                               bool missing, tacit_error *err)
{
    char shown[TACIT__SHOWN], name[TACIT__SHOWN];
    (void)tacit__span_format(c->name, name);
    if (missing)
        return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->source->name, r->csv.line,
                              "%s is missing; if that may be, declare it as '%s %g..%g ?'", name,
                              name, c->low, c->high);
    return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->source->name, r->csv.line,
                          c->numeric
                              ? "%s is '%s', expected a number"
                              : "%s is '%s', which is not a declared category; declare it, or "
                                "'...' for all others",
                          name, tacit__span_format(value, shown));
}

static tacit_status encode_context(const reader *r, double *x, tacit_error *err)
{
    for (size_t i = 0; i < r->context.n; i++) {
        const tacit__column *c = &r->context.column[i];
        tacit__span value = r->csv.field[c->field];
        bool missing = is_missing(r, value);
        if (!tacit__column_encode(c, value, missing, x + c->first))
            return fail_value(r, c, value, missing, err);
    }
    tacit__columns_finish(&r->context, r->source->intercept, r->source->unit, x);
    return TACIT_OK;
}

static tacit_status encode_logged(const reader *r, size_t person, tacit_error *err)
{
    TACIT__REQUIRE(person < r->people->n + 1 && r->people->reward != NULL);
    const tacit__column *c = &r->reward.column[0];
    tacit__span value = r->csv.field[c->field];
    double x, p = r->propensity;
    if (!tacit__read_real(value.text, value.size, &x))
        return fail_value(r, c, value, false, err);
    if (p == 0) {
        tacit__span text = r->csv.field[r->propensity_field];
        char shown[TACIT__SHOWN];
        if (!tacit__read_real(text.text, text.size, &p) || !(p > 0 && p <= 1))
            return tacit__fail_at(err, TACIT_OUT_OF_BOUND, r->source->name, r->csv.line,
                                  "the propensity is '%s', expected a number in (0, 1]",
                                  tacit__span_format(text, shown));
    }
    r->people->propensity[person] = p;
    r->people->reward[person] = (fmin(c->high, fmax(c->low, x)) - c->low) / (c->high - c->low);
    return TACIT_OK;
}

static tacit_status encode_all(reader *r, tacit_error *err)
{
    tacit__people *p = r->people;
    const tacit__column *label = &r->label.column[0];
    bool more, logged = r->reward.n > 0;
    for (;;) {
        tacit_status status = tacit__csv_next(&r->csv, &more, err);
        if (status != TACIT_OK || !more)
            return status;
        tacit__span value = r->csv.field[label->field];
        size_t action = tacit__column_find(label, value);
        if (is_missing(r, value) || (action == label->n_categories && label->others)) {
            p->skipped++;
            continue;
        }
        if (action == label->n_categories)
            return fail_value(r, label, value, false, err);
        status = encode_context(r, p->features + p->n * p->dimension, err);
        if (status == TACIT_OK && logged)
            status = encode_logged(r, p->n, err);
        if (status != TACIT_OK)
            return status;
        p->answer[p->n++] = (uint32_t)action;
    }
}

static tacit_status make_room(reader *r, size_t n_lines, tacit_error *err)
{
    tacit__people *p = r->people;
    size_t all;
    p->dimension = tacit__columns_arrange(&r->context, r->source->intercept);
    p->n_actions = r->label.column[0].n_categories;
    if (n_lines == 0 || p->n_actions == 0 || p->dimension == 0)
        return tacit__fail_at(err, TACIT_SYNTAX, r->source->name, 0,
                              "%zu people, %zu features and %zu actions; expected some of each",
                              n_lines, p->dimension, p->n_actions);
    if (__builtin_mul_overflow(n_lines, p->dimension, &all))
        all = SIZE_MAX;
    if (TACIT__PIECES(TACIT__PIECE(p->features, all), TACIT__PIECE(p->answer, n_lines),
                      TACIT__PIECE_IF(r->reward.n > 0, p->propensity, n_lines),
                      TACIT__PIECE_IF(r->reward.n > 0, p->reward, n_lines)) == NULL)
        return tacit__fail(err, TACIT_NO_MEMORY,
                           "%zu people with %zu features do not fit into "
                           "memory",
                           n_lines, p->dimension);
    return TACIT_OK;
}

tacit_status tacit__people_read(const tacit__people_source *source, tacit__people **out,
                                tacit_error *err)
{
    TACIT__REQUIRE(source->name != NULL && source->missing != NULL);
    size_t n_lines = 0;
    reader *r = tacit__alloc(1, sizeof *r);
    tacit__people *p = tacit__alloc(1, sizeof *p);
    tacit_status status = TACIT_OK;
    if (r == NULL || p == NULL) {
        tacit__free(r);
        tacit__free(p);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    r->source = source;
    r->people = p;
    status = tacit__csv_open(&r->csv, source->name, NULL, source->text, err);
    if (status == TACIT_OK)
        status = find_columns(r, err);
    if (status == TACIT_OK)
        status = scan(r, &n_lines, err);
    if (status == TACIT_OK)
        status = make_room(r, n_lines, err);
    if (status == TACIT_OK)
        status = tacit__csv_open(&r->csv, source->name, NULL, source->text, err);
    if (status == TACIT_OK)
        status = encode_all(r, err);
    if (status == TACIT_OK && p->n == 0)
        status = tacit__fail_at(err, TACIT_SYNTAX, source->name, 0, "no line has an answer");
    p->reward_high = 1;
    if (r->reward.n > 0) {
        p->reward_low = r->reward.column[0].low;
        p->reward_high = r->reward.column[0].high;
    }
    tacit__columns_free(&r->context);
    tacit__columns_free(&r->label);
    tacit__columns_free(&r->reward);
    tacit__free(r);
    if (status == TACIT_OK)
        *out = p;
    else
        tacit__people_destroy(p);
    return status;
}

void tacit__people_destroy(tacit__people *p)
{
    if (p == NULL)
        return;
    tacit__workspace_destroy(p->features);
    tacit__free(p);
}
