/* --load FILE.so: agents and worlds of the user's own (tacit/plugin.h). */
#ifndef TACIT_CLI_PLUGINS_H
#define TACIT_CLI_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

enum { CLI_MAX_PLUGINS = 16 };

typedef struct cli_plugins {
    const char *paths[CLI_MAX_PLUGINS];
    size_t n;
} cli_plugins;

/* The option, for the table of a command whose object has the plug-ins at `where`. It may be given more than
 * once. */
#define CLI_LOAD_OPTION(where)                                                                     \
    {                                                                                              \
        "load", TACIT__FIELD_OTHER, where,                                                         \
            .parse = cli_add_plugin, .expected = "a file, at most 16 times", .value = "FILE.so",   \
            .help = "agents or worlds of your own (docs/how-to/own.md)"                            \
    }
bool cli_add_plugin(const char *text, void *plugins);

/* Loads them, in order, for as long as the process lives. CLI_DONE, or CLI_WRONG with a message. */
int cli_load_plugins(const cli_plugins *plugins);

/* Options, the experiment or service that they are for, and the plug-ins among the options. */
int cli_read_file(int argc, char **argv, const cli_form *form, void *options,
                  const cli_plugins *plugins, const char **file);

#endif
