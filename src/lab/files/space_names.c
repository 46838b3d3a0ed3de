/* See lab/files/space_names.h. */
#include "lab/files/space_names.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lab/files/yaml_fields.h"
#include "text/json.h"
#include "text/settings.h"

/* Stated choices: what fits into an answer and into a message. A request's object has at most
 * TACIT__JSON_KEYS columns. */
enum { MAX_ACTION = 64, MAX_COLUMN = 64, MAX_CATEGORY = 256, MAX_DECLARATION = 1 << 16 };

tacit_status tacit__action_names_read_actions(const tacit__node *space, tacit__learner_config *l,
                                              tacit_error *err)
{
    static const tacit__field a_name = {"the name of an action", TACIT__FIELD_TEXT,
                                        .high = MAX_ACTION},
                              a_count = {"actions", TACIT__FIELD_COUNT, 0, 1, .high = 100000};
    const tacit__node *list = tacit__node_get(space, "actions");
    uint64_t n = 0;
    if (list->kind != TACIT__LIST) {
        TRY(tacit__node_read(list, &a_count, &n, err));
        l->request.n_actions = n;
        return TACIT_OK;
    }
    if (list->n_children == 0)
        return tacit__node_fail(list, err,
                                "actions is an empty list, expected names, or how many there are");
    const char **names = tacit__yaml_allocate(list->yaml, list->n_children * sizeof *names);
    if (names == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (const tacit__node *node = list->first; node != NULL; node = node->next, n++) {
        TRY(tacit__node_read(node, &a_name, &names[n], err));
        for (uint64_t i = 0; i < n; i++)
            if (strcmp(names[i], names[n]) == 0)
                return tacit__node_fail(node, err, "two actions are called '%.64s'", names[n]);
    }
    l->action_names = names;
    l->request.n_actions = n;
    return TACIT_OK;
}

static tacit_status fail_column(const tacit__node *node, const tacit__column *column,
                                const char *what, tacit_error *err)
{
    char shown[TACIT__SHOWN];
    return tacit__node_fail(node, err, "context: column '%s' %s",
                            tacit__span_format(column->name, shown), what);
}

/* Checks what a file of people may leave open, and a service may not. */
static tacit_status check_columns(const tacit__node *node, const tacit__columns_list *columns,
                                  tacit_error *err)
{
    if (columns->n > TACIT__JSON_KEYS)
        return tacit__node_fail(node, err, "context has %zu columns, expected at most %d",
                                columns->n, (int)TACIT__JSON_KEYS);
    for (size_t i = 0; i < columns->n; i++) {
        const tacit__column *c = &columns->column[i];
        if (!c->declared)
            return fail_column(
                node, c,
                "has neither a range nor categories; a service does not take them from data: "
                "declare for example 'age 17..90' or 'sex {Male | Female}'",
                err);
        if (c->name.size > MAX_COLUMN)
            return fail_column(node, c, "has a name of more than 64 bytes", err);
        for (size_t j = 0; j < c->n_categories; j++)
            if (c->category[j].size > MAX_CATEGORY)
                return fail_column(node, c, "has a category of more than 256 bytes", err);
    }
    return TACIT_OK;
}

/* Keys that say otherwise what named columns say. */
static tacit_status check_alone(const tacit__node *space, tacit_error *err)
{
    static const char *const others[] = {"states",  "features", "shared", "bound",
                                         "rewards", "mixture",  "kernel", "weights"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const tacit__node *node = tacit__node_get(space, others[i]);
        if (node != NULL)
            return tacit__node_fail(node, err,
                                    "a context of named columns has features of its own, of norm "
                                    "at most 1, and every action learns its own parameters: leave "
                                    "%s out",
                                    others[i]);
    }
    return TACIT_OK;
}

/* Returns whether `context` is a declaration, and not a number. */
static bool is_declaration(const tacit__node *node)
{
    int64_t number;
    return node != NULL && node->kind == TACIT__SCALAR && !tacit__node_is_null(node) &&
           !(node->plain && tacit__read_integer(node->text, strlen(node->text), &number));
}

static tacit_status read_columns(const tacit__node *node, tacit__learner_config *l,
                                 tacit_error *err)
{
    static const tacit__field declaration_text = {"context", TACIT__FIELD_TEXT,
                                                  .high = MAX_DECLARATION};
    TRY(tacit__node_read(node, &declaration_text, &l->context.text, err));
    l->context.columns = tacit__alloc(1, sizeof *l->context.columns);
    if (l->context.columns == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    const tacit__declaration declaration = {.file = tacit__yaml_name(node->yaml),
                                            .key = "context",
                                            .text = l->context.text,
                                            .line = (size_t)node->line};
    TRY(tacit__columns_read(&declaration, l->context.columns, err));
    return check_columns(node, l->context.columns, err);
}

tacit_status tacit__action_names_read_context(const tacit__node *space, tacit__learner_config *l,
                                              tacit_error *err)
{
    static const char *const flags[] = {"intercept", "unit"};
    const tacit__node *node = tacit__node_get(space, "context");
    for (size_t i = 0; i < 2 && !is_declaration(node); i++)
        if (tacit__node_get(space, flags[i]) != NULL)
            return tacit__node_fail(tacit__node_get(space, flags[i]), err,
                                    "%s is for a context of named columns", flags[i]);
    if (!is_declaration(node))
        return TACIT_OK;
    TRY(check_alone(space, err));
    TRY(read_columns(node, l, err));
    l->known.features = tacit__columns_arrange(l->context.columns, l->context.intercept);
    if (l->known.features == 0 || l->known.features > TACIT__MAX_FEATURES)
        return tacit__node_fail(node, err, "context makes %zu features, expected 1 to %d",
                                l->known.features, (int)TACIT__MAX_FEATURES);
    return TACIT_OK;
}

void tacit__action_names_free(tacit__learner_config *l)
{
    if (l->context.columns != NULL)
        tacit__columns_free(l->context.columns);
    tacit__free(l->context.columns);
    l->context.columns = NULL;
}
