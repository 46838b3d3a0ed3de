/* tacit explain, for service files. */
#ifndef TACIT_CLI_EXPLAIN_SERVICE_H
#define TACIT_CLI_EXPLAIN_SERVICE_H

#include <stdbool.h>

/* Prints what every learner of a service file promises, or the one of this name. */
int cli_explain_service(const char *path, const char *name, bool json);

#endif
