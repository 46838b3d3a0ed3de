/* A small HTTP client: one persistent connection, requests with JSON bodies, answers with a known length. */
#ifndef TACIT_CLI_WIRE_H
#define TACIT_CLI_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "text/json.h"

enum { CLI_TOKEN_TEXT = 128 };

typedef struct cli_wire {
    char host[256], port[8];
    char token[CLI_TOKEN_TEXT]; /* "": none */
    int fd;                     /* -1: not connected */
    const char *why;            /* there was no answer; a sentence's end */
    char *buffer;               /* of the last answer */
    size_t capacity;
    tacit__json_node *nodes; /* of the last answer that was read as JSON */
    size_t n_nodes;          /* for which there is room */
} cli_wire;

/* The token that is a file's first line, as `tacit token create` prints it; if there is none, a message
 * that says why and how to get one. */
int cli_wire_token(const char *path, char out[CLI_TOKEN_TEXT]);

/* From http://HOST:PORT; false: it is none. Connects at the first request. */
bool cli_wire_open(cli_wire *wire, const char *url, const char *token);
void cli_wire_close(cli_wire *wire);

/* The status of the answer, or 0 if there was none; *body lives until the next call. `key`: an
 * Idempotency-Key, or NULL. */
int cli_wire_ask(cli_wire *wire, const char *method, const char *path, const char *key,
                 const char *json, const char **body, size_t *size);

/* The body as JSON; NULL: it is none. Lives as long as the body does. */
const tacit__json_node *cli_wire_json(cli_wire *wire, const char *body, size_t size);

#endif
