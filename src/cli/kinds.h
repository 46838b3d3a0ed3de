/* Lists of what exists: the common part of `tacit worlds` and `tacit agents`. */
#ifndef TACIT_CLI_KINDS_H
#define TACIT_CLI_KINDS_H

#include <tacit/lab.h>

#include "cli/options.h"

/* One thing of a list. */
typedef struct cli_kind {
    const char *name, *help, *source;
    unsigned models; /* of tacit_agent_models; 0: not an agent */
    bool returning;  /* people may come back to it */
    const tacit_parameter *parameters;
    size_t n_parameters;
} cli_kind;

typedef struct cli_catalog {
    const char *command, *noun;
    const char *before, *after; /* of its help; see cli_form */
    size_t (*count)(void);      /* with those of plug-ins, once they are loaded */
    cli_kind (*at)(size_t i);
} cli_catalog;

/* The whole command. */
int cli_list(int argc, char **argv, const cli_catalog *catalog);

#endif
