/* Warnings about what the author of an experiment may have forgotten. */
#ifndef TACIT_CLI_WARN_H
#define TACIT_CLI_WARN_H

#include <tacit/lab.h>

/* Warns on stderr, once for each agent of the file, if it could be private and has no `privacy`, or if its
 * delta is above 1/users. With `label`, only that agent is checked. */
void cli_warn(const tacit_experiment *experiment, const char *label);

#endif
