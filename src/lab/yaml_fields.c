/* See lab/yaml_fields.h. One pass over the table for each map; texts stay in the tree. */
#include "lab/yaml_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "lab/experiment.h"

enum { MAX_KEYS = 64 }; /* of a table */

static tacit_status fail_value(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                               const char *expected, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX, "%s is %s, expected %s", what,
                            tacit__node_format(node, shown), expected);
}

static tacit_status read_text(const tacit__yaml *yaml, const tacit__node *node,
                              const tacit__field *f, void *object, tacit_error *err)
{
    if (node->kind != TACIT__SCALAR || node->text[0] == '\0' || tacit__node_is_null(node))
        return fail_value(yaml, node, f->name, "a text", err);
    if (strlen(node->text) > f->high)
        return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                                "%s is %zu bytes long, expected at most %zu", f->name,
                                strlen(node->text), (size_t)f->high);
    for (const char *c = node->text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                                    "%s has a line break or control character in it, expected one "
                                    "line of text",
                                    f->name);
    return tacit__field_read(f, node->text, object)
               ? TACIT_OK
               : fail_value(yaml, node, f->name, "a text", err);
}

tacit_status tacit__node_read(const tacit__yaml *yaml, const tacit__node *node,
                              const tacit__field *f, void *object, tacit_error *err)
{
    TACIT__REQUIRE(node != NULL && f->name != NULL && object != NULL);
    char expected[TACIT__EXPECTED], more[TACIT__EXPECTED + 64], hint[TACIT__WHOLE_HINT];
    const char *const *words = tacit__field_words(f), *near = NULL;
    const char *wanted = tacit__field_expected(f, expected);
    const bool scalar = node->kind == TACIT__SCALAR;
    size_t n = 0;
    if (f->type == TACIT__FIELD_TEXT)
        return read_text(yaml, node, f, object, err);
    if (scalar && !node->plain && (f->type == TACIT__FIELD_COUNT || f->type == TACIT__FIELD_REAL))
        return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                                "%s is a text in quotes, expected %s without them", f->name,
                                wanted);
    if (scalar && tacit__field_read(f, node->text, object))
        return TACIT_OK;
    while (words != NULL && words[n] != NULL)
        n++;
    if (scalar && words != NULL)
        near = tacit__nearest(node->text, words, n);
    (void)snprintf(more, sizeof more, "%s%s", wanted,
                   scalar && f->type == TACIT__FIELD_COUNT ? tacit__whole_hint(node->text, hint)
                                                           : "");
    if (near != NULL)
        (void)snprintf(more, sizeof more, "%s; did you mean '%s'?", wanted, near);
    return fail_value(yaml, node, f->name, more, err);
}

tacit_status tacit__map_missing(const tacit__yaml *yaml, const tacit__node *node, const char *key,
                                const char *example, tacit_error *err)
{
    return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                            "'%s' is missing, expected for example %s", key, example);
}

tacit_status tacit__map_check(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                              const tacit__field *fields, tacit_error *err)
{
    TACIT__REQUIRE(node != NULL && fields != NULL);
    const char *names[MAX_KEYS];
    size_t n = 0;
    if (node->kind != TACIT__MAP)
        return fail_value(yaml, node, what, "a map", err);
    for (; n < MAX_KEYS && fields[n].name != NULL; n++)
        names[n] = fields[n].name;
    return tacit__node_check_keys(yaml, node, what, names, n, err);
}

tacit_status tacit__map_read(const tacit__yaml *yaml, const tacit__node *map,
                             const tacit__field *fields, void *object, tacit_error *err)
{
    TACIT__REQUIRE(map != NULL && fields != NULL && object != NULL);
    for (const tacit__field *f = fields; f->name != NULL; f++) {
        const tacit__node *node = tacit__node_get(map, f->name);
        const bool own = f->type == TACIT__FIELD_OTHER && f->parse == NULL;
        tacit_status status = TACIT_OK;
        if (node == NULL && f->example != NULL)
            status = tacit__map_missing(yaml, map, f->name, f->example, err);
        else if (node != NULL && !own)
            status = tacit__node_read(yaml, node, f, object, err);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

static bool is_skipped(const char *key, const char *const *skip)
{
    for (; *skip != NULL; skip++)
        if (strcmp(key, *skip) == 0)
            return true;
    return false;
}

tacit_status tacit__settings_collect(tacit_experiment *experiment, const tacit__node *map,
                                     const tacit__grid *grid, const char *const *skip,
                                     const tacit_setting **settings, size_t *n, tacit_error *err)
{
    tacit_setting *first =
        tacit__yaml_allocate(experiment->yaml, (map->n_children + 1) * sizeof *first);
    size_t count = 0;
    if (first == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (const tacit__node *child = map->first; child != NULL; child = child->next) {
        if (is_skipped(child->key, skip))
            continue;
        const tacit__node *value = tacit__grid_at(grid, child);
        if (value->kind != TACIT__SCALAR || tacit__node_is_null(value))
            return fail_value(experiment->yaml, value, child->key, "a plain value", err);
        first[count++] = (tacit_setting){child->key, value->text, value->line};
    }
    *settings = first;
    *n = count;
    return TACIT_OK;
}
