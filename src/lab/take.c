/* From nodes to values. Every complaint names the line, the key, what stands there, and what was expected. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "lab/experiment.h"

static tacit_status fail_value(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                               const char *expected, tacit_error *err)
{
    char shown[TACIT__NODE_SHOWN];
    return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX, "%s is %s, expected %s", what,
                            tacit__node_show(node, shown), expected);
}

static tacit_status fail_quoted(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                                const char *expected, tacit_error *err)
{
    return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                            "%s is a text in quotes, expected %s without them", what, expected);
}

tacit_status tacit__take_text(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                              size_t max_bytes, const char **out, tacit_error *err)
{
    if (node->kind != TACIT__SCALAR || node->text[0] == '\0' || tacit__node_is_null(node))
        return fail_value(yaml, node, what, "a text", err);
    if (strlen(node->text) > max_bytes)
        return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                                "%s is %zu bytes long, expected at most %zu", what,
                                strlen(node->text), max_bytes);
    for (const char *c = node->text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                                    "%s has a line break or control character in it, expected one "
                                    "line of text",
                                    what);
    *out = node->text;
    return TACIT_OK;
}

tacit_status tacit__take_count(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                               uint64_t low, uint64_t high, uint64_t *out, tacit_error *err)
{
    char expected[96];
    (void)snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
                   (unsigned long long)low, (unsigned long long)high);
    if (node->kind == TACIT__SCALAR && !node->plain)
        return fail_quoted(yaml, node, what, expected, err);
    int64_t value;
    if (node->kind != TACIT__SCALAR ||
        !tacit__read_integer(node->text, strlen(node->text), &value) || value < 0 ||
        (uint64_t)value < low || (uint64_t)value > high)
        return fail_value(yaml, node, what, expected, err);
    *out = (uint64_t)value;
    return TACIT_OK;
}

/* YAML's own spellings. */
static bool is_infinity(const char *text)
{
    text += text[0] == '+';
    return strcasecmp(text, ".inf") == 0;
}

tacit_status tacit__take_real(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                              const tacit__range *range, double *out, tacit_error *err)
{
    double value = (double)NAN;
    if (node->kind == TACIT__SCALAR && !node->plain)
        return fail_quoted(yaml, node, what, range->expected, err);
    if (node->kind == TACIT__SCALAR && range->infinite && is_infinity(node->text)) {
        *out = (double)INFINITY;
        return TACIT_OK;
    }
    if (node->kind != TACIT__SCALAR || !tacit__read_real(node->text, strlen(node->text), &value) ||
        value < range->low || (range->open && value <= range->low) || value >= range->high)
        return fail_value(yaml, node, what, range->expected, err);
    *out = value;
    return TACIT_OK;
}

tacit_status tacit__take_word(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                              const char *const *words, size_t *out, tacit_error *err)
{
    char expected[160] = "", near_text[64] = "";
    size_t n = 0, used = 0;
    for (; words[n] != NULL && used < sizeof expected; n++) {
        if (node->kind == TACIT__SCALAR && strcmp(node->text, words[n]) == 0) {
            *out = n;
            return TACIT_OK;
        }
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s",
                                 n == 0                 ? ""
                                 : words[n + 1] == NULL ? " or "
                                                        : ", ",
                                 words[n]);
    }
    const char *near = node->kind == TACIT__SCALAR ? tacit__nearest(node->text, words, n) : NULL;
    if (near != NULL)
        (void)snprintf(near_text, sizeof near_text, "; did you mean '%s'?", near);
    char shown[TACIT__NODE_SHOWN];
    return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX, "%s is %s, expected %s%s", what,
                            tacit__node_show(node, shown), expected, near_text);
}

static bool is_skipped(const char *key, const char *const *skip)
{
    for (; *skip != NULL; skip++)
        if (strcmp(key, *skip) == 0)
            return true;
    return false;
}

tacit_status tacit__settings_take(tacit_experiment *experiment, const tacit__node *map,
                                  const tacit__grid *grid, const char *const *skip,
                                  const tacit_setting **settings, size_t *n, tacit_error *err)
{
    tacit_setting *first =
        tacit__yaml_take(experiment->yaml, (map->n_children + 1) * sizeof *first);
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
