/* YAML files as a tree of nodes that remember their lines.
 *
 * The part of YAML that people write by hand: maps, lists and scalars, in block or flow style. Anchors,
 * aliases, tags and further documents are refused, so that a file cannot mean more than it shows; so are a
 * key given twice and a file beyond the limits below. A scalar stays text: its reader decides what it must
 * be. */
#ifndef TACIT_LAB_YAML_H
#define TACIT_LAB_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

/* Stated choices: ten times what the largest sensible experiment needs, and little enough to check in no
 * time. */
enum {
    TACIT__YAML_MAX_BYTES = 1 << 18,
    TACIT__YAML_MAX_DEPTH = 8,
    TACIT__YAML_MAX_CHILDREN = 1000 /* of one map or list */
};

typedef enum tacit__node_kind { TACIT__SCALAR, TACIT__LIST, TACIT__MAP } tacit__node_kind;

typedef struct tacit__yaml tacit__yaml;

typedef struct tacit__node {
    tacit__yaml *yaml; /* the tree: its file's name, and its memory */
    tacit__node_kind kind;
    int line;         /* counted from 1 */
    const char *key;  /* in a map; else NULL */
    const char *text; /* of a scalar, without NULs inside */
    bool plain;       /* a scalar without quotes */
    size_t n_children;
    const struct tacit__node *first, *next; /* children, and siblings, in the file's order */
} tacit__node;

/* Reads a text; `name` is the file's name in messages and is copied. */
TACIT_MUST_USE tacit_status tacit__yaml_parse(const char *text, size_t size, const char *name,
                                              tacit__yaml **out, tacit_error *err);
/* Reads a file. BAD_ARGUMENT: it does not exist or must not be read; SYSTEM: reading failed. In messages
 * `what` says which kind of file is expected: "an experiment file, such as ...". */
TACIT_MUST_USE tacit_status tacit__yaml_read(const char *path, const char *what, tacit__yaml **out,
                                             tacit_error *err);
/* The text that was read. */
const char *tacit__yaml_text(const tacit__yaml *yaml, size_t *size);
void tacit__yaml_destroy(tacit__yaml *yaml);

/* Memory, and a copy of a text, that live as long as the tree; NULL: no memory. */
void *tacit__yaml_allocate(tacit__yaml *yaml, size_t bytes);
char *tacit__yaml_copy(tacit__yaml *yaml, const char *text, size_t length);

const tacit__node *tacit__yaml_root(const tacit__yaml *yaml);
const char *tacit__yaml_name(const tacit__yaml *yaml);

/* The value of a key, or NULL. */
const tacit__node *tacit__node_get(const tacit__node *map, const char *key);

/* "a map", "a list", "'6'", "nothing": the node's value for messages, in `out`. */
enum { TACIT__NODE_TEXT = 48 };
const char *tacit__node_format(const tacit__node *node, char out[TACIT__NODE_TEXT]);

/* A plain scalar that is empty, ~ or null. */
bool tacit__node_is_null(const tacit__node *node);

/* Fails at the line of the first key of the map that is not in `keys`, and suggests the nearest key or
 * lists them all. `what` is the owner: "an experiment has no key 'episode'". */
TACIT_MUST_USE tacit_status tacit__node_check_keys(const tacit__node *map, const char *what,
                                                   const char *const *keys, size_t n_keys,
                                                   tacit_error *err);

/* Fails with "FILE:LINE: " before the message; line 0 is left out. */
__attribute__((format(printf, 5, 6))) tacit_status tacit__yaml_fail(const tacit__yaml *yaml,
                                                                    int line, tacit_error *err,
                                                                    tacit_status status,
                                                                    const char *format, ...);
/* The same at the line of a node, with SYNTAX. */
__attribute__((format(printf, 3, 4))) tacit_status tacit__node_fail(const tacit__node *node,
                                                                    tacit_error *err,
                                                                    const char *format, ...);
#ifdef __clang_analyzer__ /* as in base/error.h */
#define tacit__node_fail(node, err, ...) (tacit__node_fail(node, err, __VA_ARGS__), TACIT_SYNTAX)
#define tacit__yaml_fail(yaml, line, err, status, ...)                                             \
    (tacit__yaml_fail(yaml, line, err, status, __VA_ARGS__), (status))
#endif

#endif
