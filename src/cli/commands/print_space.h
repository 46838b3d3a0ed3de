/* The space of a learner, as its service file declares it: what the calibration of its noise and its
 * theorems count on. */
#ifndef TACIT_CLI_PRINT_SPACE_H
#define TACIT_CLI_PRINT_SPACE_H

#include <tacit/agent.h>
#include <tacit/service.h>

#include "text/json_text.h"

enum { CLI_SPACE_TEXT = 640 };

/* Writes it for people. Returns `out`. */
const char *cli_space_text(const tacit_agent_request *q, char out[CLI_SPACE_TEXT]);

/* The names of its actions, and whether requests must name the user; NULL: neither is declared. */
const char *cli_names_text(const tacit_service_learner *learner, char out[CLI_SPACE_TEXT]);

/* "space": {...}, with the names that service files and billboards have. */
void cli_put_space(tacit__json_writer *to, const tacit_service_learner *learner);

#endif
