/* See serve/people/context.h. The encoding is that of the world logged-bandit: worlds/columns.h.
 *
 * A value that is null is missing; one that is absent is so too where the column is declared to allow that,
 * and else a mistake of the caller's. Refusals name declared columns, and repeat nothing that was sent. */
#include "serve/people/context.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A value that is longer is none of the categories, which are at most this long. */
enum { MAX_VALUE = 256, MAX_FIELD = 96 };

/* One column of one request. */
typedef struct cell {
    tacit__request *request;
    const tacit__column *column;
    bool clip;
    char field[MAX_FIELD]; /* "context.age" */
} cell;

/* Handles a value outside of the declared range: refuses it, or remarks it. Returns true if the caller may go
 * on. */
static bool pass_outside(const cell *p)
{
    const tacit__column *c = p->column;
    if (p->clip) {
        p->request->outside = true;
        return true;
    }
    if (c->numeric)
        tacit__refuse(p->request, 422, "out_of_range", p->field,
                      "%s must be a number from %g to %g", p->field, c->low, c->high);
    else {
        tacit__name_list list = {0};
        for (size_t i = 0; i < c->n_categories; i++)
            tacit__name_list_add(&list, c->category[i].text, c->category[i].size);
        tacit__refuse(p->request, 422, "out_of_range", p->field, "%s must be one of: %s", p->field,
                      list.text);
    }
    return false;
}

static bool encode_number(const cell *p, const tacit__json_node *node, double *features)
{
    const tacit__column *c = p->column;
    if (node->kind != TACIT__JSON_NUMBER) {
        tacit__refuse(p->request, 422, "out_of_range", p->field,
                      "%s must be a number from %g to %g, not %s", p->field, c->low, c->high,
                      tacit__body_kind(node));
        return false;
    }
    tacit__column_encode_number(c, node->number, features);
    return (node->number >= c->low && node->number <= c->high) || pass_outside(p);
}

static bool encode_category(const cell *p, const tacit__json_node *node, double *features)
{
    char value[MAX_VALUE + 1];
    if (node->kind != TACIT__JSON_STRING) {
        tacit__refuse(p->request, 422, "out_of_range", p->field, "%s must be text, not %s",
                      p->field, tacit__body_kind(node));
        return false;
    }
    if (!tacit__json_string(node, value, sizeof value))
        value[0] = '\0'; /* which is no category either */
    const bool fits =
        tacit__column_encode(p->column, (tacit__span){value, strlen(value)}, false, features);
    tacit__wipe(value, sizeof value);
    return fits || pass_outside(p);
}

static bool encode_missing(const cell *p, double *features)
{
    if (tacit__column_encode(p->column, (tacit__span){"", 0}, true, features))
        return true;
    if (p->clip)
        return pass_outside(p);
    tacit__refuse(p->request, 422, "missing", p->field, "%s is missing", p->field);
    return false;
}

/* Encodes a column that is missing in the object. If an integrator forgets a column, or names it differently,
 * the learner must not take the value of all users for unknown. */
static bool encode_absent(const cell *p, double *features)
{
    if (p->column->numeric || p->clip)
        return encode_missing(p, features);
    tacit__refuse(p->request, 422, "missing", p->field,
                  "%s is missing; send null if it is not known", p->field);
    return false;
}

/* Finds the column that a key names, or n. */
static size_t find_column(const tacit__columns_list *columns, const tacit__json_node *key)
{
    char name[MAX_VALUE + 1];
    size_t i = 0;
    if (!tacit__json_string(key, name, sizeof name))
        return columns->n;
    while (i < columns->n && !tacit__span_is(columns->column[i].name, name))
        i++;
    return i;
}

/* `column` is the one that came twice, or n if one came that is not declared. */
static void refuse_column(tacit__request *r, const tacit__columns_list *columns, const char *key,
                          const tacit__json_node *name, size_t column)
{
    const tacit__sent_name sent = tacit__sent_name_of(name);
    tacit__name_list list = {.wanted = column == columns->n ? sent.text : NULL};
    for (size_t i = 0; i < columns->n; i++)
        tacit__name_list_add(&list, columns->column[i].name.text, columns->column[i].name.size);
    if (column == columns->n)
        tacit__refuse(r, 422, "unknown_field", key,
                      "%s has a column that is not declared%s; the columns are: %s", key, list.near,
                      list.text);
    else
        tacit__refuse(r, 422, "unknown_field", key, "%s has the column %.*s twice", key,
                      (int)columns->column[column].name.size, columns->column[column].name.text);
}

/* Finds the value of every column, NULL where there is none. Returns false if the request was refused. */
static bool find_values(const tacit__body *b, const tacit__columns_list *columns, const char *key,
                        const tacit__json_node *object,
                        const tacit__json_node *values[TACIT__JSON_KEYS])
{
    const tacit__json_node *at = object + 1;
    for (uint32_t i = 0; i < object->size; i++) {
        const tacit__json_node *value = b->nodes + at->next;
        const size_t column = find_column(columns, at);
        if (column == columns->n || values[column] != NULL) {
            refuse_column(b->request, columns, key, at, column);
            return false;
        }
        values[column] = value;
        at = b->nodes + value->next;
    }
    return true;
}

static bool encode(const tacit__body *b, const tacit__learner_config *c, const char *key,
                   const tacit__json_node *object, double *out)
{
    const tacit__columns_list *columns = c->context.columns;
    const tacit__json_node *values[TACIT__JSON_KEYS] = {NULL};
    if (!find_values(b, columns, key, object, values))
        return false;
    for (size_t i = 0; i < columns->n; i++) {
        const tacit__column *column = &columns->column[i];
        const tacit__json_node *value = values[i];
        cell p = {.request = b->request,
                  .column = column,
                  .clip = c->request.outside == TACIT_OUTSIDE_CLIP};
        (void)snprintf(p.field, sizeof p.field, "%s.%.*s", key, (int)column->name.size,
                       column->name.text);
        double *features = out + column->first;
        if (!(value == NULL                     ? encode_absent(&p, features)
              : value->kind == TACIT__JSON_NULL ? encode_missing(&p, features)
              : column->numeric                 ? encode_number(&p, value, features)
                                                : encode_category(&p, value, features)))
            return false;
    }
    tacit__columns_finish(columns, c->context.intercept, c->context.unit, out);
    return true;
}

bool tacit__context_read(const tacit__body *b, const tacit__learner_config *c, const char *key,
                         bool *has, double *out)
{
    TACIT__REQUIRE(c->per_user > 0);
    const tacit__json_node *node = tacit__body_get(b, key);
    if (c->context.columns == NULL || node == NULL || node->kind == TACIT__JSON_ARRAY ||
        node->kind == TACIT__JSON_NUMBERS)
        return tacit__body_reals(b, key, c->per_user, has, out);
    if (has != NULL)
        *has = true;
    if (node->kind != TACIT__JSON_OBJECT) {
        tacit__refuse(b->request, 422, "out_of_range", key,
                      "%s must be an object with the values of the declared columns, not %s", key,
                      tacit__body_kind(node));
        return false;
    }
    return encode(b, c, key, node, out);
}
