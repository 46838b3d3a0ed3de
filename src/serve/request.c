#include "serve/request.h"
#include "base/json_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool tacit__refuse(tacit__request *r, unsigned status, const char *code, const char *field,
                   const char *format, ...)
{
    char message[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->status = status;
    r->answer.length = 0;
    tacit__text_print(&r->answer, "{\"error\":{\"code\":\"%s\"", code);
    if (field != NULL)
        tacit__text_print(&r->answer, ",\"field\":\"%s\"", field);
    tacit__text_put(&r->answer, ",\"message\":");
    tacit__text_json_string(&r->answer, message, strlen(message));
    tacit__text_put(&r->answer, "}}");
    return true;
}

bool tacit__refuse_unwritten(tacit__request *r, tacit_status status)
{
    return status == TACIT_FENCED
               ? tacit__refuse(r, 503, "fenced", NULL,
                               "another server has taken over the store; nothing was kept")
               : tacit__refuse(r, 503, "store", NULL,
                               "the store could not be written; nothing was kept");
}

/* Enough for a few thousand features; what is beyond is refused as too large. */
enum { MAX_NODES = 16384 };
static _Thread_local tacit__json_node nodes[MAX_NODES];

static bool is_known(const tacit__json_node *key, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (key->length == strlen(*keys) && memcmp(key->text, *keys, key->length) == 0)
            return true;
    return false;
}

bool tacit__body_open(tacit__request *r, const char *const *keys, tacit__body *body)
{
    const char *why = "";
    *body = (tacit__body){r, nodes};
    static const char nothing[] = "{}";
    bool empty = r->body_size == 0;
    if (tacit__json_parse(empty ? nothing : r->body, empty ? 2 : r->body_size, nodes, MAX_NODES,
                          &why) == 0)
        return !tacit__refuse(r, 400, "not_json", NULL, "the body is not the JSON expected: %s",
                              why);
    if (nodes[0].kind != TACIT__JSON_OBJECT)
        return !tacit__refuse(r, 400, "not_an_object", NULL, "the body must be a JSON object");
    const tacit__json_node *key = nodes + 1;
    for (uint32_t i = 0; i < nodes[0].size; i++) {
        if (!is_known(key, keys)) {
            char list[160] = "";
            size_t used = 0;
            for (const char *const *k = keys; *k != NULL && used < sizeof list; k++)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                         k == keys ? "" : ", ", *k);
            return !tacit__refuse(r, 422, "unknown_field", NULL,
                                  "the body has a field that does not exist; there are: %s", list);
        }
        key = nodes + nodes[key->next].next;
    }
    return true;
}

const tacit__json_node *tacit__body_get(const tacit__body *b, const char *key)
{
    const tacit__json_node *node = tacit__json_get(b->nodes, b->nodes, key);
    return node != NULL && node->kind != TACIT__JSON_NULL ? node : NULL;
}

/* The node, or NULL after a refusal of its absence; *go_on is false if it was refused. */
static const tacit__json_node *find(const tacit__body *b, const char *key, bool *has, bool *go_on)
{
    const tacit__json_node *node = tacit__body_get(b, key);
    *go_on = node != NULL || has != NULL;
    if (has != NULL)
        *has = node != NULL;
    if (!*go_on)
        (void)tacit__refuse(b->request, 422, "missing", key, "%s is missing", key);
    return node;
}

bool tacit__body_count(const tacit__body *b, const char *key, uint64_t below, bool *has,
                       uint64_t *out)
{
    bool go_on;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    if (below > 0 && tacit__json_count(node, below - 1, out))
        return true;
    return !tacit__refuse(b->request, 422, "out_of_range", key,
                          "%s must be a whole number from 0 to %llu", key,
                          (unsigned long long)below - 1);
}

bool tacit__body_index(const tacit__body *b, const char *key, size_t below, bool *has,
                       uint32_t *out, bool *cut)
{
    bool go_on;
    uint64_t number = 0;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    if (node->kind != TACIT__JSON_NUMBER)
        return !tacit__refuse(b->request, 422, "out_of_range", key, "%s must be a number", key);
    if (!tacit__json_count(node, below - 1, &number)) {
        *cut = true;
        if (node->number > 0)
            number = node->number < (double)below ? (uint64_t)node->number : below - 1;
    }
    *out = (uint32_t)number;
    return true;
}

bool tacit__body_real(const tacit__body *b, const char *key, double low, double high, bool *has,
                      double *out)
{
    bool go_on;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    if (node->kind == TACIT__JSON_NUMBER && node->number >= low && node->number <= high) {
        *out = node->number;
        return true;
    }
    return !tacit__refuse(b->request, 422, "out_of_range", key, "%s must be a number from %g to %g",
                          key, low, high);
}

bool tacit__body_text(const tacit__body *b, const char *key, bool *has, char *out, size_t capacity)
{
    bool go_on;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    if (node->kind == TACIT__JSON_STRING && node->length > 0 &&
        tacit__json_string(node, out, capacity))
        return true;
    return !tacit__refuse(b->request, 422, "out_of_range", key,
                          "%s must be a string of 1 to %zu bytes", key, capacity - 1);
}

bool tacit__body_reals(const tacit__body *b, const char *key, size_t n, bool *has, double *out)
{
    bool go_on;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    bool good = node->kind == TACIT__JSON_ARRAY && node->size == n;
    const tacit__json_node *at = node + 1;
    for (size_t i = 0; i < n && good; i++, at = b->nodes + at->next) {
        good = at->kind == TACIT__JSON_NUMBER;
        out[i] = at->number;
    }
    if (good)
        return true;
    return !tacit__refuse(b->request, 422, "out_of_range", key,
                          "%s must be an array of %zu numbers", key, n);
}
