/* Live progress on stderr: a bar on a terminal, a plain line now and then otherwise. */
#ifndef TACIT_CLI_PROGRESS_H
#define TACIT_CLI_PROGRESS_H

#include <stdbool.h>

#include <tacit/lab.h>

typedef struct cli_progress {
    bool quiet, terminal;
    double next; /* plain lines: when the next one is due, seconds */
    int width;   /* of what stands on the terminal's line */
} cli_progress;

void cli_progress_open(cli_progress *progress, bool quiet);
void cli_progress_show(cli_progress *progress, const tacit_lab_progress *now);
/* Wipes the bar. */
void cli_progress_close(cli_progress *progress);

#endif
