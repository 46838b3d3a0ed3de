/* Forecasts that are printed before an experiment is played. */
#ifndef TACIT_CLI_PRINT_FORECAST_H
#define TACIT_CLI_PRINT_FORECAST_H

#include <tacit/lab.h>

/* Prints on stderr which agents have too little data for their epsilon. Failures here happen again when
 * the experiment is played, and are reported then. */
void cli_forecast_print(const tacit_experiment *experiment);

#endif
