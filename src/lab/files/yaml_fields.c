/* See lab/files/yaml_fields.h. One pass over the table for each map; texts stay in the tree. */
#include "lab/files/yaml_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { MAX_KEYS = 64 }; /* of a table, and a kind's parameters */

static tacit_status fail_value(const tacit__node *node, const char *what, const char *expected,
                               tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    return tacit__node_fail(node, err, "%s is %s, expected %s", what,
                            tacit__node_format(node, shown), expected);
}

static tacit_status read_text(const tacit__node *node, const tacit__field *f, void *object,
                              tacit_error *err)
{
    char expected[TACIT__EXPECTED];
    const char *wanted = tacit__field_expected(f, expected);
    if (node->kind != TACIT__SCALAR || node->text[0] == '\0' || tacit__node_is_null(node))
        return fail_value(node, f->name, wanted, err);
    if (strlen(node->text) > f->high)
        return tacit__node_fail(node, err, "%s is %zu bytes long, expected at most %zu", f->name,
                                strlen(node->text), (size_t)f->high);
    for (const char *c = node->text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return tacit__node_fail(node, err,
                                    "%s has a line break or control character in it, expected one "
                                    "line of text",
                                    f->name);
    return tacit__field_read(f, node->text, object) ? TACIT_OK
                                                    : fail_value(node, f->name, wanted, err);
}

static tacit_status read_scalar(const tacit__node *node, const tacit__field *f, void *object,
                                tacit_error *err)
{
    char advice[TACIT__ADVICE];
    if (node->kind != TACIT__SCALAR)
        return fail_value(node, f->name, tacit__field_expected(f, advice), err);
    if (!node->plain && (f->type == TACIT__FIELD_COUNT || f->type == TACIT__FIELD_REAL))
        return tacit__node_fail(node, err, "%s is a text in quotes, expected %s without them",
                                f->name, tacit__field_expected(f, advice));
    return tacit__field_read(f, node->text, object)
               ? TACIT_OK
               : fail_value(node, f->name, tacit__field_advice(f, node->text, advice), err);
}

static tacit_status read_map(const tacit__node *map, const tacit__grid *grid, const char *what,
                             const tacit__field *fields, bool closed, void *object,
                             tacit_error *err);

static tacit_status read_node(const tacit__node *node, const tacit__grid *grid,
                              const tacit__field *f, void *object, tacit_error *err)
{
    char expected[TACIT__EXPECTED];
    if (f->type == TACIT__FIELD_TEXT)
        return read_text(node, f, object, err);
    if (f->type != TACIT__FIELD_MAP)
        return read_scalar(node, f, object, err);
    if (node->kind != TACIT__MAP)
        return fail_value(node, f->name, tacit__field_expected(f, expected), err);
    return read_map(node, grid, f->name, f->fields, true, (char *)object + f->offset, err);
}

static tacit_status read_map(const tacit__node *map, const tacit__grid *grid, const char *what,
                             const tacit__field *fields, bool closed, void *object,
                             tacit_error *err)
{
    TACIT__REQUIRE(map->kind == TACIT__MAP);
    if (closed)
        TRY(tacit__map_check(map, what, fields, NULL, 0, err));
    tacit__fields_reset(fields, object);
    for (const tacit__field *f = fields; f->name != NULL; f++) {
        const tacit__node *node = tacit__node_get(map, f->name);
        const bool own = f->type == TACIT__FIELD_OTHER && f->parse == NULL;
        if (node == NULL && f->example != NULL)
            return tacit__map_missing(map, what, f->name, f->example, err);
        if (node != NULL && !own)
            TRY(read_node(grid != NULL ? tacit__grid_at(grid, node) : node, grid, f, object, err));
    }
    return TACIT_OK;
}

tacit_status tacit__node_read(const tacit__node *node, const tacit__field *f, void *object,
                              tacit_error *err)
{
    TACIT__REQUIRE(node != NULL && f->name != NULL && object != NULL);
    return read_node(node, NULL, f, object, err);
}

tacit_status tacit__map_read(const tacit__node *map, const char *what, const tacit__field *fields,
                             void *object, tacit_error *err)
{
    TACIT__REQUIRE(map != NULL && fields != NULL && object != NULL);
    const tacit__field whole = {what, TACIT__FIELD_MAP, .fields = fields};
    return read_node(map, NULL, &whole, object, err);
}

tacit_status tacit__map_read_some(const tacit__node *map, const tacit__grid *grid, const char *what,
                                  const tacit__field *fields, void *object, tacit_error *err)
{
    TACIT__REQUIRE(map != NULL && fields != NULL && object != NULL);
    return read_map(map, grid, what, fields, false, object, err);
}

tacit_status tacit__map_missing(const tacit__node *node, const char *what, const char *key,
                                const char *example, tacit_error *err)
{
    return tacit__node_fail(node, err, "%s has no '%s', expected for example %s", what, key,
                            example);
}

tacit_status tacit__map_check(const tacit__node *map, const char *what, const tacit__field *fields,
                              const tacit_parameter *parameters, size_t n_parameters,
                              tacit_error *err)
{
    const char *names[MAX_KEYS];
    size_t n = 0;
    for (; n < MAX_KEYS && fields->name != NULL; fields++)
        names[n++] = fields->name;
    for (size_t i = 0; n < MAX_KEYS && i < n_parameters; i++)
        names[n++] = parameters[i].name;
    return tacit__node_check_keys(map, what, names, n, err);
}

tacit_status tacit__map_settings(const tacit__node *map, const tacit__grid *grid,
                                 const tacit__field *fields, const tacit_setting **settings,
                                 size_t *n, tacit_error *err)
{
    tacit_setting *first = tacit__yaml_allocate(map->yaml, (map->n_children + 1) * sizeof *first);
    *settings = first;
    *n = 0;
    if (first == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (const tacit__node *child = map->first; child != NULL; child = child->next) {
        const tacit__node *value = tacit__grid_at(grid, child);
        if (tacit__field_find(fields, child->key) != SIZE_MAX)
            continue;
        if (value->kind != TACIT__SCALAR || tacit__node_is_null(value))
            return fail_value(value, child->key, "a plain value", err);
        first[(*n)++] = (tacit_setting){child->key, value->text, value->line};
    }
    return TACIT_OK;
}
