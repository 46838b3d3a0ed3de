/* JSON bodies: the parser stays within its text and its nodes, and what it takes can be walked and written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "text/json.h"
#include "text/json_text.h"
#include "text/text.h"

enum { ROOM = 512 };

/* Writes the value at `node` and returns the node after it. */
static const tacit__json_node *write_again(const tacit__json_node *node,
                                           const tacit__json_node *nodes, tacit__text *out)
{
    char text[4096];
    static const char *const words[] = {"null", "false", "true"};
    const tacit__json_node *at = node + 1;
    switch (node->kind) {
    case TACIT__JSON_NUMBER:
        tacit__text_number(out, node->number);
        break;
    case TACIT__JSON_STRING:
        if (tacit__json_string(node, text, sizeof text))
            tacit__text_json_string(out, text, strlen(text));
        else
            tacit__text_put(out, "\"?\"");
        break;
    case TACIT__JSON_NUMBERS:
        require(node->size > 0);
        for (uint32_t i = 0; i < node->size; i++) {
            tacit__text_put(out, i > 0 ? "," : "[");
            tacit__text_number(out, tacit__json_number_at(node, i));
        }
        tacit__text_put(out, "]");
        at += (node->size + TACIT__JSON_PACKED - 1) / TACIT__JSON_PACKED;
        break;
    case TACIT__JSON_ARRAY:
    case TACIT__JSON_OBJECT:
        tacit__text_put(out, node->kind == TACIT__JSON_ARRAY ? "[" : "{");
        for (uint32_t i = 0; i < node->size; i++) {
            if (i > 0)
                tacit__text_put(out, ",");
            if (node->kind == TACIT__JSON_OBJECT) {
                tacit__text_print(out, "\"%lu\":", (unsigned long)i);
                require(at->kind == TACIT__JSON_STRING);
                at = nodes + at->next;
            }
            at = write_again(at, nodes, out);
        }
        tacit__text_put(out, node->kind == TACIT__JSON_ARRAY ? "]" : "}");
        break;
    default:
        tacit__text_put(out, words[node->kind]);
    }
    require(nodes + node->next == at);
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tacit__json_node nodes[ROOM], again[ROOM];
    const char *why = NULL;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    size_t n = tacit__json_parse(text, size, nodes, ROOM, &why);
    if (n > 0) {
        tacit__text out = {0};
        require(write_again(nodes, nodes, &out) == nodes + n);
        require(tacit__json_parse(out.data, out.length, again, ROOM, &why) == n);
        tacit__text_destroy(&out);
        (void)tacit__json_get(nodes, nodes, "state");
    } else {
        require(why != NULL);
    }
    free(text);
    return 0;
}
