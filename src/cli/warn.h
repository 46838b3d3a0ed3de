/* Warnings about what the author of an experiment may have forgotten. */
#ifndef TACIT_CLI_WARN_H
#define TACIT_CLI_WARN_H

#include <tacit/lab.h>

/* On stderr, once for each agent of the file: that it could be private and has no `privacy`; that its
 * delta is above 1/users. `label` NULL: all agents, else that one. */
void cli_warn(const tacit_experiment *experiment, const char *label);

#endif
