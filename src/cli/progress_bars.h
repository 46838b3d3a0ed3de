/* Live progress on stderr: bars on a terminal, a plain line now and then otherwise. */
#ifndef TACIT_CLI_PROGRESS_BARS_H
#define TACIT_CLI_PROGRESS_BARS_H

#include <stdbool.h>

#include <tacit/lab.h>

typedef struct cli_progress {
    const tacit_experiment_facts *facts;
    bool quiet, terminal, color;
    double next; /* plain lines: when the next one is due, seconds */
    int lines;   /* that stand on the terminal */
} cli_progress;

void cli_progress_open(cli_progress *progress, bool quiet, const tacit_experiment_facts *facts);
void cli_progress_show(cli_progress *progress, const tacit_lab_progress *now);
/* Wipes the bars. */
void cli_progress_close(cli_progress *progress);

#endif
