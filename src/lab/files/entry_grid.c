/* A value that is written as a list stands for one entry per value, and several lists for their product.
 * Nothing is copied: a grid points at the chosen values, and the reader of an entry asks the grid for a
 * key's value.
 *
 * Every list adds to the label, even a list of one value. So a list can grow without renaming the entries
 * that were there before, and without changing their random numbers. */
#include "lab/files/entry_grid.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static tacit_status add_axis(const tacit__node *list, tacit__grid *grid, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    if (list->n_children == 0)
        return tacit__node_fail(list, err, "%.40s is an empty list, expected at least one value",
                                list->key);
    for (const tacit__node *value = list->first; value != NULL; value = value->next)
        if (value->kind != TACIT__SCALAR || tacit__node_is_null(value))
            return tacit__node_fail(value, err, "a value of %.40s is %s, expected a plain value",
                                    list->key, tacit__node_format(value, shown));
    if (grid->n_axes == TACIT__MAX_AXES)
        return tacit__node_fail(list, err,
                                "more than %d lists of values in one entry; write several entries",
                                TACIT__MAX_AXES);
    grid->axis[grid->n_axes] = list;
    grid->at[grid->n_axes++] = list->first;
    if (__builtin_mul_overflow(grid->size, list->n_children, &grid->size))
        grid->size = UINT64_MAX;
    return TACIT_OK;
}

tacit_status tacit__grid_open(const tacit__node *map, const tacit__field *fields, tacit__grid *grid,
                              tacit_error *err)
{
    TACIT__REQUIRE(map != NULL && fields != NULL);
    *grid = (tacit__grid){.size = 1};
    for (const tacit__node *child = map->first; child != NULL; child = child->next)
        if (child->kind == TACIT__LIST && tacit__field_find(fields, child->key) == SIZE_MAX)
            TRY(add_axis(child, grid, err));
    for (; fields->name != NULL; fields++) {
        const tacit__node *inner =
            fields->type == TACIT__FIELD_MAP ? tacit__node_get(map, fields->name) : NULL;
        for (const tacit__node *child = inner != NULL && inner->kind == TACIT__MAP ? inner->first
                                                                                   : NULL;
             child != NULL; child = child->next)
            if (child->kind == TACIT__LIST)
                TRY(add_axis(child, grid, err));
    }
    return TACIT_OK;
}

bool tacit__grid_next(tacit__grid *grid)
{
    for (size_t i = grid->n_axes; i > 0; i--) {
        grid->at[i - 1] = grid->at[i - 1]->next;
        if (grid->at[i - 1] != NULL)
            return true;
        grid->at[i - 1] = grid->axis[i - 1]->first;
    }
    return false;
}

const tacit__node *tacit__grid_at(const tacit__grid *grid, const tacit__node *node)
{
    if (node->kind == TACIT__LIST)
        for (size_t i = 0; i < grid->n_axes; i++)
            if (grid->axis[i] == node)
                return grid->at[i];
    return node;
}

tacit_status tacit__grid_label(const tacit__grid *grid, const char *label, const char **out,
                               tacit_error *err)
{
    TACIT__REQUIRE(label != NULL && out != NULL);
    char text[TACIT__MAX_GRID_LABEL + 1];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", label);
    if (grid->n_axes == 0) {
        *out = label;
        return TACIT_OK;
    }
    for (size_t i = 0; i < grid->n_axes; i++) {
        const tacit__node *value = grid->at[i];
        for (const char *c = value->text; *c != '\0'; c++)
            if ((unsigned char)*c < ' ' || *c == 127)
                return tacit__node_fail(value, err,
                                        "a value of %.40s has a line break or control character "
                                        "in it, and it would be part of a label",
                                        grid->axis[i]->key);
        used += (size_t)snprintf(text + used, sizeof text - used, " %s %s", grid->axis[i]->key,
                                 value->text);
        if (used >= sizeof text)
            return tacit__node_fail(value, err,
                                    "with its values the label '%.40s...' is longer than %d bytes; "
                                    "give shorter ones, or fewer lists",
                                    label, TACIT__MAX_GRID_LABEL);
    }
    *out = tacit__yaml_copy(grid->axis[0]->yaml, text, used);
    return *out != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}
