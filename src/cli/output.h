/* A directory of results whose files appear whole or not at all. */
#ifndef TACIT_CLI_OUTPUT_H
#define TACIT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct cli_output {
    char *path;
    size_t n_made; /* length of the first part of `path` that had to be made; 0: all was there */
} cli_output;

/* Makes the directory (and its parents) if need be and checks that it is writable. CLI_SYSTEM, with a
 * message, if not. */
int cli_output_open(cli_output *output, const char *path);

/* Writes a file under a temporary name, flushes it to the disk and renames it. `write` returns false if it
 * cannot. A failure prints a message, leaves the old file, and returns CLI_SYSTEM. */
typedef bool cli_write_fn(const void *context, FILE *to);
int cli_output_write(const cli_output *output, const char *name, cli_write_fn *write,
                     const void *context);

/* Removes directories that open has made, as far as they are empty. */
void cli_output_undo(const cli_output *output);
void cli_output_close(cli_output *output);

#endif
