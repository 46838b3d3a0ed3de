/* Experiments as text and as JSON, the same in every command. */
#ifndef TACIT_CLI_EXPERIMENT_TEXT_H
#define TACIT_CLI_EXPERIMENT_TEXT_H

#include <stddef.h>

#include <tacit/lab.h>

#include "text/json_text.h"

/* "joint (1, 2e-06)", "local 1" (pure), "none"; with the calibration if it is not tight. Returns buffer. */
char *cli_guarantee_text(char *buffer, size_t size, const tacit_entry *entry);

/* "auto: posterior-tabular" if the kind as written stands for another one (NULL or "": for none), else the
 * kind. */
enum { CLI_KIND_TEXT = 140 };
char *cli_kind_text(char *buffer, size_t size, const char *written, const char *kind);
/* "kind" and "stands_for", which is null where the kind is no alias. */
void cli_put_kind(tacit__json_writer *to, const char *written, const char *kind);

/* "guarantee": {"model", "epsilon", "delta", "calibration"}; the last three are null where nothing is
 * promised. */
void cli_put_guarantee(tacit__json_writer *to, const tacit_entry *entry);

/* The members of a world, for an object that is open: "label", "kind", "settings", "states", "actions",
 * "horizon", "stationary", "optimal_value". */
void cli_put_world(tacit__json_writer *to, const tacit_world_entry *entry,
                   const tacit_world_facts *space, double optimal_value);

/* Returns how many columns a text takes: characters, not bytes. */
size_t cli_columns(const char *text);
/* Prints `text` and blanks up to `width` columns. */
void cli_print_padded(const char *text, size_t width);
enum { CLI_LINE = 100 }; /* columns */
/* Prints `head`, then the words of `text` in lines of at most CLI_LINE columns that begin under its first
 * word. */
void cli_print_wrapped(const char *head, const char *text);

/* Six digits, never less than x: for bounds. Returns buffer. */
char *cli_rounded_up(char buffer[32], double x);

#endif
