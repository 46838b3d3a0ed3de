/* Options: one table for each command, from which they are read, complained about and listed in the help. */
#ifndef TACIT_CLI_OPTIONS_H
#define TACIT_CLI_OPTIONS_H

#include <getopt.h> /* optind */

#include "text/fields.h"

enum { CLI_MAX_OPTIONS = 16 };

/* The options and the help of a command. */
typedef struct cli_form {
    const char *before, *after;  /* of the help: the text before and after the list of options */
    const tacit__field *options; /* beside --help, which every command has; NULL ends them */
} cli_form;

/* Reads the options into `object`; optind is then the first argument. CLI_HELPED: help was asked for, and
 * printed; CLI_WRONG, with a message, if an option is wrong. Bit i of *given (which may be NULL) says that
 * options[i] was given. */
int cli_read_options(int argc, char **argv, const cli_form *form, void *object, uint64_t *given);

/* The one argument after the options. `missing`: "no service is given, expected FILE.yaml"; `noun`:
 * "service". */
int cli_read_argument(int argc, char **argv, const char *missing, const char *noun,
                      const char **out);

/* The value of an option, or of a part of an argument: as in files, but a count has no sign. False: it is
 * none. */
bool cli_read_field(const tacit__field *field, const char *text, void *object);

extern const tacit__range cli_not_negative, cli_positive, cli_below_one;

#endif
