/* From libyaml's events to the tree. One pass, recursive to the stated depth; all memory is in a chain of
 * blocks that is freed at once. */
#include "lab/files/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <yaml.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/nearest.h"

enum { BLOCK_BYTES = 1 << 14 };

typedef struct block {
    struct block *before;
    size_t used, size;
} block;

struct tacit__yaml {
    char *name, *text;
    size_t size;
    tacit__node *root;
    block *blocks;
};

/* --- Memory ------------------------------------------------------------------------------------ */

void *tacit__yaml_allocate(tacit__yaml *yaml, size_t bytes)
{
    TACIT__REQUIRE(bytes > 0);
    bytes = (bytes + 15) / 16 * 16;
    block *b = yaml->blocks;
    if (b == NULL || b->size - b->used < bytes) {
        size_t head = (sizeof *b + 15) / 16 * 16;
        size_t size = head + bytes > BLOCK_BYTES ? head + bytes : BLOCK_BYTES;
        b = tacit__alloc(size, 1);
        if (b == NULL)
            return NULL;
        *b = (block){.before = yaml->blocks, .used = head, .size = size};
        yaml->blocks = b;
    }
    void *p = (char *)b + b->used;
    b->used += bytes;
    return p;
}

char *tacit__yaml_copy(tacit__yaml *yaml, const char *text, size_t length)
{
    TACIT__REQUIRE(text != NULL || length == 0);
    char *copy = tacit__yaml_allocate(yaml, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

void tacit__yaml_destroy(tacit__yaml *yaml)
{
    if (yaml == NULL)
        return;
    for (block *b = yaml->blocks; b != NULL;) {
        block *before = b->before;
        tacit__free(b);
        b = before;
    }
    tacit__free(yaml);
}

/* --- Messages ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 5, 0))) static tacit_status fail_at(const tacit__yaml *yaml, int line,
                                                                  tacit_error *err,
                                                                  tacit_status status,
                                                                  const char *format, va_list args)
{
    char message[sizeof err->message];
    (void)vsnprintf(message, sizeof message, format, args);
    for (char *c = message; *c != '\0'; c++) /* a message is one line, whatever the file contains */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    if (line > 0)
        return tacit__fail(err, status, "%s:%d: %s", yaml->name, line, message);
    return tacit__fail(err, status, "%s: %s", yaml->name, message);
}

/* Their names in parentheses: in the analyzer they are macros too. */
tacit_status(tacit__yaml_fail)(const tacit__yaml *yaml, int line, tacit_error *err,
                               tacit_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = fail_at(yaml, line, err, status, format, args);
    va_end(args);
    return status;
}

tacit_status(tacit__node_fail)(const tacit__node *node, tacit_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tacit_status status = fail_at(node->yaml, node->line, err, TACIT_SYNTAX, format, args);
    va_end(args);
    return status;
}

bool tacit__node_is_null(const tacit__node *node)
{
    return node->kind == TACIT__SCALAR && node->plain &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
            strcasecmp(node->text, "null") == 0);
}

const char *tacit__node_format(const tacit__node *node, char out[TACIT__NODE_TEXT])
{
    if (node->kind != TACIT__SCALAR)
        (void)snprintf(out, TACIT__NODE_TEXT, node->kind == TACIT__LIST ? "a list" : "a map");
    else if (tacit__node_is_null(node))
        (void)snprintf(out, TACIT__NODE_TEXT, "nothing");
    else
        (void)snprintf(out, TACIT__NODE_TEXT, "'%.40s'", node->text);
    return out;
}

tacit_status tacit__node_check_keys(const tacit__node *map, const char *what,
                                    const char *const *keys, size_t n_keys, tacit_error *err)
{
    TACIT__REQUIRE(map != NULL && what != NULL && keys != NULL);
    for (const tacit__node *child = map->first; child != NULL; child = child->next) {
        size_t i = 0;
        while (i < n_keys && strcmp(keys[i], child->key) != 0)
            i++;
        if (i < n_keys)
            continue;
        char hint[TACIT__SUGGESTION];
        return tacit__node_fail(child, err, "%s has no key '%.40s'%s", what, child->key,
                                tacit__suggest(child->key, keys, n_keys, NULL, hint));
    }
    return TACIT_OK;
}

/* --- Events ------------------------------------------------------------------------------------ */

typedef struct reader {
    tacit__yaml *yaml;
    yaml_parser_t parser;
    const char *text;
    size_t size;
    tacit_error *err;
} reader;

static int line_of(const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

/* Returns whether libyaml stopped in a line that is indented by a tab, which YAML does not allow. */
static bool tab_indents(const reader *r)
{
    const char *at = r->text, *end = r->text + r->size;
    for (size_t line = 0; line < r->parser.problem_mark.line && at < end; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next != NULL ? next + 1 : end;
    }
    while (at < end && *at == ' ')
        at++;
    return at < end && *at == '\t';
}

/* libyaml reports the problem and its context. */
static tacit_status fail_parser(const reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem != NULL ? p->problem : "the text cannot be understood";
    if (p->error == YAML_MEMORY_ERROR)
        return tacit__fail_plain(r->err, TACIT_NO_MEMORY);
    if (p->error == YAML_READER_ERROR)
        return tacit__yaml_fail(r->yaml, (int)p->mark.line + 1, r->err, TACIT_SYNTAX,
                                "not YAML: %s (byte %zu), expected text in UTF-8", problem,
                                p->problem_offset);
    if (tab_indents(r))
        return tacit__yaml_fail(r->yaml, (int)p->problem_mark.line + 1, r->err, TACIT_SYNTAX,
                                "not YAML: the line is indented by a tab; indent with spaces");
    return tacit__yaml_fail(r->yaml, (int)p->problem_mark.line + 1, r->err, TACIT_SYNTAX,
                            "not YAML: %s%s%s (column %zu)", problem,
                            p->context != NULL ? ", " : "", p->context != NULL ? p->context : "",
                            p->problem_mark.column + 1);
}

/* The next event; the caller deletes it after success. */
static tacit_status next_event(reader *r, yaml_event_t *event)
{
    if (!yaml_parser_parse(&r->parser, event))
        return fail_parser(r);
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        anchor = event->data.alias.anchor;
        break;
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        return TACIT_OK;
    }
    tacit_status status = TACIT_OK;
    if (anchor != NULL)
        status = tacit__yaml_fail(
            r->yaml, line_of(event), r->err, TACIT_SYNTAX,
            "'%c%.40s': anchors and aliases are not supported; write the value out",
            event->type == YAML_ALIAS_EVENT ? '*' : '&', (const char *)anchor);
    else if (tag != NULL)
        status = tacit__yaml_fail(r->yaml, line_of(event), r->err, TACIT_SYNTAX,
                                  "'%.40s': tags are not supported; write the plain value",
                                  (const char *)tag);
    if (status != TACIT_OK)
        yaml_event_delete(event);
    return status;
}

static tacit_status read_scalar(reader *r, const yaml_event_t *event, const char **text)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length) != NULL)
        return tacit__yaml_fail(r->yaml, line_of(event), r->err, TACIT_SYNTAX,
                                "a text with a NUL character in it, expected none");
    *text = tacit__yaml_copy(r->yaml, value, length);
    return *text != NULL ? TACIT_OK : tacit__fail_plain(r->err, TACIT_NO_MEMORY);
}

/* A key of `map`, which must be a scalar and new. */
static tacit_status read_key(reader *r, const yaml_event_t *event, const tacit__node *map,
                             const char **key)
{
    if (event->type != YAML_SCALAR_EVENT)
        return tacit__yaml_fail(r->yaml, line_of(event), r->err, TACIT_SYNTAX,
                                "a key is a list or a map, expected a word");
    TRY(read_scalar(r, event, key));
    /* Keys become parts of messages and labels, which are lines. */
    for (const char *c = *key; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return tacit__yaml_fail(r->yaml, line_of(event), r->err, TACIT_SYNTAX,
                                    "a key has a line break or control character in it, expected a "
                                    "word");
    const tacit__node *other = tacit__node_get(map, *key);
    if (other != NULL)
        return tacit__yaml_fail(r->yaml, line_of(event), r->err, TACIT_SYNTAX,
                                "'%.40s' is given twice, first in line %d; keep one", *key,
                                other->line);
    return TACIT_OK;
}

static tacit_status build(reader *r, const yaml_event_t *event, int depth, tacit__node **out);

static tacit_status build_children(reader *r, tacit__node *node, int depth)
{
    tacit__node *last = NULL;
    for (;;) {
        yaml_event_t event;
        const char *key = NULL;
        int line = 0;
        tacit_status status = next_event(r, &event);
        if (status != TACIT_OK)
            return status;
        if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return TACIT_OK;
        }
        if (node->n_children == TACIT__YAML_MAX_CHILDREN)
            status = tacit__yaml_fail(r->yaml, line_of(&event), r->err, TACIT_SYNTAX,
                                      "the %s that begins in line %d has more than %d entries",
                                      node->kind == TACIT__MAP ? "map" : "list", node->line,
                                      TACIT__YAML_MAX_CHILDREN);
        if (status == TACIT_OK && node->kind == TACIT__MAP) {
            line = line_of(&event);
            status = read_key(r, &event, node, &key);
            yaml_event_delete(&event);
            if (status == TACIT_OK)
                status = next_event(r, &event);
            if (status != TACIT_OK)
                return status;
        }
        tacit__node *child = NULL;
        if (status == TACIT_OK)
            status = build(r, &event, depth + 1, &child);
        yaml_event_delete(&event);
        if (status != TACIT_OK || child == NULL)
            return status;
        child->key = key;
        if (line > 0)
            child->line = line;
        if (last == NULL)
            node->first = child;
        else
            last->next = child;
        last = child;
        node->n_children++;
    }
}

/* The node that `event` begins. */
static tacit_status build(reader *r, const yaml_event_t *event, int depth, tacit__node **out)
{
    if (depth > TACIT__YAML_MAX_DEPTH)
        return tacit__yaml_fail(r->yaml, line_of(event), r->err, TACIT_SYNTAX,
                                "maps and lists are nested more than %d deep",
                                TACIT__YAML_MAX_DEPTH);
    tacit__node *node = tacit__yaml_allocate(r->yaml, sizeof *node);
    if (node == NULL)
        return tacit__fail_plain(r->err, TACIT_NO_MEMORY);
    node->yaml = r->yaml;
    node->line = line_of(event);
    *out = node;
    if (event->type == YAML_SCALAR_EVENT) {
        node->kind = TACIT__SCALAR;
        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return read_scalar(r, event, &node->text);
    }
    node->kind = event->type == YAML_MAPPING_START_EVENT ? TACIT__MAP : TACIT__LIST;
    return build_children(r, node, depth);
}

/* Stream and document brackets, one document, and nothing after it. */
static tacit_status build_document(reader *r)
{
    for (;;) {
        yaml_event_t event;
        tacit_status status = next_event(r, &event);
        if (status != TACIT_OK)
            return status;
        yaml_event_type_t type = event.type;
        if (type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&event);
            return TACIT_OK;
        }
        if (type == YAML_DOCUMENT_START_EVENT && r->yaml->root != NULL)
            status = tacit__yaml_fail(r->yaml, line_of(&event), r->err, TACIT_SYNTAX,
                                      "a second document begins here, expected one");
        else if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
                 type != YAML_DOCUMENT_END_EVENT)
            status = build(r, &event, 1, &r->yaml->root);
        yaml_event_delete(&event);
        if (status != TACIT_OK)
            return status;
    }
}

static tacit_status parse(tacit__yaml *yaml, const char *text, size_t size, tacit_error *err)
{
    if (size > TACIT__YAML_MAX_BYTES)
        return tacit__yaml_fail(yaml, 0, err, TACIT_SYNTAX,
                                "the file is larger than %d bytes; is it the right one?",
                                TACIT__YAML_MAX_BYTES);
    reader r = {.yaml = yaml, .text = text, .size = size, .err = err};
    if (!yaml_parser_initialize(&r.parser))
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    tacit_status status = build_document(&r);
    yaml_parser_delete(&r.parser);
    if (status == TACIT_OK && yaml->root == NULL)
        return tacit__yaml_fail(yaml, 0, err, TACIT_SYNTAX, "the file is empty");
    return status;
}

tacit_status tacit__yaml_parse(const char *text, size_t size, const char *name, tacit__yaml **out,
                               tacit_error *err)
{
    TACIT__REQUIRE(name != NULL && (text != NULL || size == 0));
    if ((text == NULL && size > 0) || name == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__yaml *yaml = tacit__alloc(1, sizeof *yaml);
    if (yaml == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    yaml->name = tacit__yaml_copy(yaml, name, strlen(name));
    tacit_status status = yaml->name != NULL ? parse(yaml, size > 0 ? text : "", size, err)
                                             : tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK) {
        yaml->text = tacit__yaml_copy(yaml, text, size);
        yaml->size = size;
        if (yaml->text == NULL)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (status == TACIT_OK)
        *out = yaml;
    else
        tacit__yaml_destroy(yaml);
    return status;
}

tacit_status tacit__yaml_read(const char *path, const char *what, tacit__yaml **out,
                              tacit_error *err)
{
    TACIT__REQUIRE(what != NULL);
    if (path == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        bool wrong_name = errno == ENOENT || errno == EACCES || errno == ENOTDIR ||
                          errno == ENAMETOOLONG || errno == ELOOP;
        return tacit__fail(err, wrong_name ? TACIT_BAD_ARGUMENT : TACIT_SYSTEM,
                           "%.300s: cannot open: %s; expected %s", path, strerror(errno), what);
    }
    const size_t room = (size_t)TACIT__YAML_MAX_BYTES + 1; /* one more shows that it is too large */
    char *text = tacit__alloc(room, 1);
    size_t size = text != NULL ? fread(text, 1, room, f) : 0;
    tacit_status status;
    if (text == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    else if (ferror(f))
        status = errno == EISDIR ? tacit__fail(err, TACIT_BAD_ARGUMENT,
                                               "%.300s: is a directory, expected %s", path, what)
                                 : tacit__fail(err, TACIT_SYSTEM, "%.300s: cannot read: %s", path,
                                               strerror(errno));
    else if (size == 0)
        status =
            tacit__fail(err, TACIT_SYNTAX, "%.300s: the file is empty, expected %s", path, what);
    else
        status = tacit__yaml_parse(text, size, path, out, err);
    (void)fclose(f);
    tacit__free(text);
    return status;
}

const tacit__node *tacit__yaml_root(const tacit__yaml *yaml)
{
    return yaml->root;
}

const char *tacit__yaml_text(const tacit__yaml *yaml, size_t *size)
{
    *size = yaml->size;
    return yaml->text;
}

const char *tacit__yaml_name(const tacit__yaml *yaml)
{
    return yaml->name;
}

const tacit__node *tacit__node_get(const tacit__node *map, const char *key)
{
    TACIT__REQUIRE(map != NULL && key != NULL);
    for (const tacit__node *child = map->first; child != NULL; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}
