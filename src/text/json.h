/* JSON as it comes over a network: checked as a whole before anything of it is used [RFC 8259].
 *
 * The text becomes a flat array of nodes in the order of the text; nothing is copied or allocated. An array
 * of numbers is one node, and its numbers, which are most of many texts, are in the room of the nodes after
 * it.
 * Refused, beside what the grammar refuses: a key given twice, more than TACIT__JSON_KEYS keys in one
 * object (each is compared with all before it), nesting deeper than TACIT__JSON_DEPTH, more nodes than
 * there is room for, bytes that are not UTF-8, numbers that no double can hold, and anything after the
 * value. */
#ifndef TACIT_TEXT_JSON_H
#define TACIT_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TACIT__JSON_DEPTH = 8, TACIT__JSON_KEYS = 64 };

typedef enum tacit__json_kind {
    TACIT__JSON_NULL,
    TACIT__JSON_FALSE,
    TACIT__JSON_TRUE,
    TACIT__JSON_NUMBER,
    TACIT__JSON_STRING,
    TACIT__JSON_NUMBERS, /* an array of numbers, at least one */
    TACIT__JSON_ARRAY,   /* any other */
    TACIT__JSON_OBJECT
} tacit__json_kind;

typedef struct tacit__json_node {
    tacit__json_kind kind;
    uint32_t size;    /* children, or numbers: of an object, pairs */
    uint32_t next;    /* index of the node after this one and all that is in it */
    uint32_t length;  /* bytes of the text: of a string, between the quotes */
    const char *text; /* a string's bytes are escaped as they came */
    double number;
} tacit__json_node;

/* Returns the number of nodes, the value itself being nodes[0]; 0: it is no JSON, and *why says so in a
 * few words, without repeating anything of the text. Children of an object are key, value, key, value,
 * ... */
size_t tacit__json_parse(const char *text, size_t size, tacit__json_node *nodes, size_t capacity,
                         const char **why);

/* Numbers in the room of a node. */
enum { TACIT__JSON_PACKED = sizeof(tacit__json_node) / sizeof(double) };

/* The i-th of an array of numbers, from 0. */
static inline double tacit__json_number_at(const tacit__json_node *numbers, size_t i)
{
    double x;
    memcpy(&x, (const char *)(numbers + 1) + i * sizeof x, sizeof x);
    return x;
}

/* The value of a key that needs no escapes, or NULL. */
const tacit__json_node *tacit__json_get(const tacit__json_node *object,
                                        const tacit__json_node *nodes, const char *key);

/* A string with its escapes resolved and a NUL at its end; false: longer than capacity - 1, or with a NUL
 * in it. */
bool tacit__json_string(const tacit__json_node *node, char *out, size_t capacity);

/* Reads a whole number in [0, high]. */
bool tacit__json_count(const tacit__json_node *node, uint64_t high, uint64_t *out);

#endif
