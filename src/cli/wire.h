/* A little HTTP for a client: one connection that is kept, requests with JSON bodies, answers with a known length. */
#ifndef TACIT_CLI_WIRE_H
#define TACIT_CLI_WIRE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_wire {
    char host[256], port[8];
    char token[128]; /* "": none */
    int fd;          /* -1: not connected */
    char *buffer;    /* of the last answer */
    size_t capacity;
} cli_wire;

/* From http://HOST:PORT; false: it is none. Connects at the first request. */
bool cli_wire_open(cli_wire *wire, const char *url, const char *token);
void cli_wire_close(cli_wire *wire);

/* The status of the answer, or 0 if there was none; *body lives until the next call. `key`: an Idempotency-Key, or NULL. */
int cli_wire_ask(cli_wire *wire, const char *method, const char *path, const char *key,
                 const char *json, const char **body, size_t *size);

#endif
