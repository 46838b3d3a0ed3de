/* What a run found: as a table, as summary.json, as curves.csv. */
#ifndef TACIT_CLI_SUMMARY_H
#define TACIT_CLI_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include <tacit/lab.h>

typedef struct cli_findings {
    const tacit_experiment_facts *facts;
    const tacit_world *world;
    const tacit_results *results;
} cli_findings;

void cli_summary_print(const cli_findings *findings);

/* summary.json; NULL: no memory. */
json_t *cli_summary_json(const cli_findings *findings);

/* curves.csv. Both for cli_output_write; context is a text, and a cli_findings. */
bool cli_summary_write(void *context, FILE *to);
bool cli_curves_write(void *context, FILE *to);

#endif
