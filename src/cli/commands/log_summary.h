/* Worlds that are logs, in the table and in summary.json: estimates instead of regret. */
#ifndef TACIT_CLI_LOG_SUMMARY_H
#define TACIT_CLI_LOG_SUMMARY_H

#include <tacit/lab.h>

#include "text/json_text.h"

/* A row for each agent of the world; and, once, what the columns are. */
void cli_print_estimates(const tacit_results *results, size_t world);
void cli_print_estimates_footer(void);

/* "estimate": an object, or null where the world is no log. */
void cli_put_estimate(tacit__json_writer *to, const tacit_results *results, size_t world,
                      size_t agent);

#endif
