/* These functions complete words for a shell, from the commands' own tables.
 *
 * `tacit __complete WORD... CURRENT` prints a line for each word that CURRENT, which may be empty, could
 * become: the word, and after a tab what it is. The last line says what else fits: `:files`, `:directories`
 * or `:none`. The scripts in completions/ ask it; they know nothing of their own. */
#ifndef TACIT_CLI_COMPLETE_H
#define TACIT_CLI_COMPLETE_H

#include "cli/cli.h"
#include "cli/options.h"

/* argv[0] is "__complete". */
int cli_complete(int argc, char **argv, const cli_command *commands, size_t n_commands);

/* True while a command is run for the words that it could take: cli_read_options then calls
 * cli_complete_options and returns CLI_HELPED. */
bool cli_is_completing(void);
void cli_complete_options(const cli_form *form);

/* Prints the word, and after a tab what it is, if the current word could become it. */
void cli_offer(const char *word, const char *what);

#endif
