/* Refusals, and reading the fields of a JSON body with their checks. Every message names the field and what
 * was expected, and none repeats what was sent. See serve/http/request.h. */
#include "serve/http/request.h"

#include "base/error.h"
#include "base/memory.h"
#include "serve/config.h"
#include "serve/http/routes.h"
#include "text/json_text.h"
#include "text/nearest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tacit__refuse(tacit__request *r, unsigned status, const char *code, const char *field,
                   const char *format, ...)
{
    TACIT__REQUIRE(status >= 400 && code != NULL);
    char message[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->status = status;
    r->answer.length = 0;
    tacit__text_print(&r->answer, "{\"error\":{\"code\":\"%s\"", code);
    if (field != NULL) {
        tacit__text_put(&r->answer, ",\"field\":");
        tacit__text_json_string(&r->answer, field, strlen(field));
    }
    tacit__text_put(&r->answer, ",\"message\":");
    tacit__text_json_string(&r->answer, message, strlen(message));
    tacit__text_put(&r->answer, "}}");
}

void tacit__name_list_add(tacit__name_list *list, const char *name, size_t size)
{
    static const char end[] = ", ...";
    const size_t needed = size + (list->used > 0 ? 2 : 0);
    char copy[65];
    const char *one = copy;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)size, name);
    if (list->wanted != NULL && list->near[0] == '\0' &&
        tacit__nearest(list->wanted, &one, 1) != NULL)
        (void)snprintf(list->near, sizeof list->near, " (did you mean '%s'?)", copy);
    if (list->full)
        return;
    list->full = list->used + needed + sizeof end > sizeof list->text;
    list->used +=
        (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, "%s%.*s",
                         list->full       ? end
                         : list->used > 0 ? ", "
                                          : "",
                         list->full ? 0 : (int)size, name);
}

void tacit__refuse_missing(tacit__request *r, const char *field)
{
    const bool empty = r->body_size == 0 && r->nodes == NULL; /* it is taken for {} */
    tacit__refuse(r, 422, "missing", field, "%s is missing%s", field,
                  empty ? ": the body is empty" : "");
}

void tacit__refuse_unwritten(tacit__request *r, tacit_status status)
{
    TACIT__REQUIRE(status != TACIT_OK);
    if (status == TACIT_FENCED)
        tacit__refuse(r, 503, "fenced", NULL,
                      "another server has taken over the store; nothing was kept: ask that one");
    else
        tacit__refuse(r, 503, "store", NULL,
                      "the store could not be written; nothing was kept: try again later");
}

void tacit__request_clear(tacit__request *r)
{
    tacit__free_secret(r->data, r->data != NULL ? r->data_size : 0);
    tacit__free_secret(r->many, r->many != NULL ? r->many_size : 0);
    tacit__text_destroy(&r->answer);
}

/* The nodes of most bodies fit; larger bodies get memory of their own. */
enum { FEW_NODES = 128 };
static _Thread_local tacit__json_node few[FEW_NODES];

/* An upper bound on the nodes of a text: each node but the first follows one of these characters. */
static size_t most_nodes(const char *text, size_t size)
{
    enum { BLOCK = 240 }; /* what a byte can count, so that the compiler counts many at a time */
    size_t n = 1, at = 0;
    while (at < size) {
        const size_t end = size - at < BLOCK ? size : at + BLOCK;
        uint8_t few_of = 0;
        for (; at < end; at++) {
            const char c = text[at];
            few_of = (uint8_t)(few_of + ((c == ',') | (c == ':') | (c == '[') | (c == '{')));
        }
        n += few_of;
    }
    return n;
}

const tacit__json_node *tacit__body_parse(tacit__request *r)
{
    TACIT__REQUIRE(r->body != NULL || r->body_size == 0);
    static const char nothing[] = "{}";
    const bool empty = r->body_size == 0 || r->binary;
    const char *text = empty ? nothing : r->body, *why = "";
    const size_t size = empty ? sizeof nothing - 1 : r->body_size;
    size_t capacity = FEW_NODES, n = 0;
    tacit__json_node *nodes = few;
    if (size > 2 * FEW_NODES && (capacity = most_nodes(text, size)) > FEW_NODES) {
        r->many_size = capacity * sizeof *nodes;
        nodes = r->many = tacit__alloc_raw(capacity, sizeof *nodes);
    }
    if (nodes == NULL)
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
    else if ((n = tacit__json_parse(text, size, nodes, capacity, &why)) == 0)
        tacit__refuse(r, 400, "not_json", NULL, "the body is not the JSON expected: %s", why);
    if (n == 0)
        return NULL;
    if (nodes == r->many)
        r->many_size = n * sizeof *nodes; /* the rest was not used, and need not be wiped */
    return nodes;
}

tacit__sent_name tacit__sent_name_of(const tacit__json_node *key)
{
    tacit__sent_name out = {""};
    (void)snprintf(out.text, sizeof out.text, "%.*s",
                   (int)(key->length < sizeof out.text ? key->length : sizeof out.text - 1),
                   key->text);
    return out;
}

static void refuse_field(tacit__request *r, const tacit__json_node *key, const tacit__member *f)
{
    const tacit__sent_name sent = tacit__sent_name_of(key);
    tacit__name_list list = {.wanted = sent.text};
    for (; f->name != NULL; f++)
        tacit__name_list_add(&list, f->name, strlen(f->name));
    tacit__refuse(r, 422, "unknown_field", NULL,
                  "the body has an unknown field%s; the fields are: %s", list.near, list.text);
}

bool tacit__body_open(tacit__request *r, tacit__body *body)
{
    const tacit__object_shape *shape = r->route->asks->shape;
    *body = (tacit__body){r, r->nodes, r->object};
    if (body->nodes == NULL)
        body->nodes = body->object = tacit__body_parse(r);
    if (body->nodes == NULL)
        return false;
    if (body->object->kind != TACIT__JSON_OBJECT) {
        tacit__refuse(r, 400, "not_an_object", NULL, "%s must be a JSON object",
                      r->batch != NULL ? "an element of a batch" : "the body");
        return false;
    }
    const tacit__json_node *key = body->object + 1;
    for (uint32_t i = 0; i < body->object->size; i++) {
        if (!tacit__shape_has(shape, key->text, key->length)) {
            refuse_field(r, key, shape->fields);
            return false;
        }
        key = body->nodes + body->nodes[key->next].next;
    }
    return true;
}

const tacit__json_node *tacit__body_get(const tacit__body *b, const char *key)
{
    const tacit__json_node *node = tacit__json_get(b->object, b->nodes, key);
    return node != NULL && node->kind != TACIT__JSON_NULL ? node : NULL;
}

/* Finds the node of a key, or returns NULL if it is missing. *go_on is false if the request was refused for
 * that. */
static const tacit__json_node *find(const tacit__body *b, const char *key, bool *has, bool *go_on)
{
    const tacit__json_node *node = tacit__body_get(b, key);
    *go_on = node != NULL || has != NULL;
    if (has != NULL)
        *has = node != NULL;
    if (!*go_on)
        tacit__refuse_missing(b->request, key);
    return node;
}

const char *tacit__body_kind(const tacit__json_node *node)
{
    switch (node->kind) {
    case TACIT__JSON_STRING:
        return "text";
    case TACIT__JSON_NUMBER:
        return "a number";
    case TACIT__JSON_ARRAY:
        return "an array";
    case TACIT__JSON_OBJECT:
        return "an object";
    case TACIT__JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

const tacit__field tacit__field_learner = {"learner", TACIT__FIELD_TEXT, .low = 1,
                                           .high = TACIT__MAX_NAME,
                                           .expected = "a string of 1 to 64 bytes"};
_Static_assert(TACIT__MAX_NAME == 64, "as the field says");

static bool read_node(const tacit__json_node *node, const tacit__field *f, void *out)
{
    switch (f->type) {
    case TACIT__FIELD_COUNT:
        return tacit__json_count(node, f->high, out) && *(uint64_t *)out >= f->low;
    case TACIT__FIELD_REAL:
        if (node->kind != TACIT__JSON_NUMBER || !tacit__range_has(f->range, node->number))
            return false;
        *(double *)out = node->number;
        return true;
    case TACIT__FIELD_TEXT:
        return node->kind == TACIT__JSON_STRING && node->length >= f->low &&
               tacit__json_string(node, out, f->high + 1);
    case TACIT__FIELD_FLAG:
        if (node->kind != TACIT__JSON_TRUE && node->kind != TACIT__JSON_FALSE)
            return false;
        *(bool *)out = node->kind == TACIT__JSON_TRUE;
        return true;
    default:
        break;
    }
    TACIT__REQUIRE(false); /* bodies have no fields of other types */
    return false;
}

bool tacit__body_read(const tacit__body *b, const tacit__field *f, bool *has, void *out)
{
    bool go_on;
    char expected[TACIT__EXPECTED];
    const tacit__json_node *node = find(b, f->name, has, &go_on);
    if (node == NULL || read_node(node, f, out))
        return go_on;
    const bool number = f->type == TACIT__FIELD_COUNT || f->type == TACIT__FIELD_REAL,
               right = node->kind == (number ? TACIT__JSON_NUMBER : TACIT__JSON_STRING);
    tacit__refuse(b->request, 422, "out_of_range", f->name, "%s must be %s%s%s", f->name,
                  tacit__field_expected(f, expected), right ? "" : ", not ",
                  right ? "" : tacit__body_kind(node));
    return false;
}

bool tacit__body_index(const tacit__body *b, const char *key, size_t below, bool *has,
                       uint32_t *out, bool *cut)
{
    TACIT__REQUIRE(below > 0);
    bool go_on;
    uint64_t number = 0;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    if (node->kind != TACIT__JSON_NUMBER) {
        tacit__refuse(b->request, 422, "out_of_range", key, "%s must be a number, not %s", key,
                      tacit__body_kind(node));
        return false;
    }
    if (!tacit__json_count(node, below - 1, &number)) {
        *cut = true;
        if (node->number > 0)
            number = node->number < (double)below ? (uint64_t)node->number : below - 1;
    }
    *out = (uint32_t)number;
    return true;
}

bool tacit__body_reals(const tacit__body *b, const char *key, size_t n, bool *has, double *out)
{
    TACIT__REQUIRE(n > 0);
    bool go_on;
    const tacit__json_node *node = find(b, key, has, &go_on);
    if (node == NULL)
        return go_on;
    if (node->kind == TACIT__JSON_NUMBERS && node->size == n) {
        for (size_t i = 0; i < n; i++)
            out[i] = tacit__json_number_at(node, i);
        return true;
    }
    tacit__refuse(b->request, 422, "out_of_range", key, "%s must be an array of %zu numbers", key,
                  n);
    return false;
}
