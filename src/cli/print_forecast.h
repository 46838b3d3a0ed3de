/* What can be told before an experiment is played. */
#ifndef TACIT_CLI_PRINT_FORECAST_H
#define TACIT_CLI_PRINT_FORECAST_H

#include <tacit/lab.h>

/* Says, on stderr, which agents have too little data for their epsilon. What goes wrong here goes wrong again when the
 * experiment is played, and is told then. */
void cli_forecast_print(const tacit_experiment *experiment);

#endif
