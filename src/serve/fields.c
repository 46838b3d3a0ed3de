#include "serve/fields.h"

tacit_status tacit__field_missing(const tacit__yaml *yaml, const tacit__node *node, const char *key,
                                  const char *example, tacit_error *err)
{
    return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                            "'%s' is missing, expected for example %s", key, example);
}

tacit_status tacit__field_map(const tacit__yaml *yaml, const tacit__node *node, const char *what,
                              const char *const *names, size_t n, tacit_error *err)
{
    char shown[TACIT__NODE_SHOWN];
    if (node->kind != TACIT__MAP)
        return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX, "%s is %s, expected a map",
                                what, tacit__node_show(node, shown));
    return tacit__node_check_keys(yaml, node, what, names, n, err);
}

tacit_status tacit__field_count(const tacit__yaml *yaml, const tacit__node *map, const char *key,
                                uint64_t low, uint64_t high, uint64_t *out, tacit_error *err)
{
    const tacit__node *node = map != NULL ? tacit__node_get(map, key) : NULL;
    return node != NULL ? tacit__take_count(yaml, node, key, low, high, out, err) : TACIT_OK;
}

tacit_status tacit__field_flag(const tacit__yaml *yaml, const tacit__node *map, const char *key,
                               bool *out, tacit_error *err)
{
    static const char *const words[] = {"no", "yes", NULL};
    const tacit__node *node = tacit__node_get(map, key);
    size_t word = 0;
    if (node == NULL)
        return TACIT_OK;
    tacit_status status = tacit__take_word(yaml, node, key, words, &word, err);
    if (status == TACIT_OK)
        *out = word == 1;
    return status;
}
