/* These functions show what a run found: as a table, as summary.json, as curves.csv. */
#ifndef TACIT_CLI_SUMMARY_H
#define TACIT_CLI_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include <tacit/lab.h>

#include "text/json_text.h"

/* All of them need every job finished. */
void cli_summary_print(const tacit_results *results);

/* summary.json */
void cli_put_summary(tacit__json_writer *to, const tacit_results *results);

/* summary.json and curves.csv for cli_output_write; the context is the text, and the results. */
bool cli_summary_write(const void *context, FILE *to);
bool cli_curves_write(const void *context, FILE *to);

#endif
