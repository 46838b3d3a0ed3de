/* --agent LABEL: checks that a file has this agent, and suggests another one if not. */
#ifndef TACIT_CLI_AGENT_LABELS_H
#define TACIT_CLI_AGENT_LABELS_H

#include <tacit/lab.h>
#include <tacit/service.h>

/* BAD_ARGUMENT, with a message that names the labels there are, unless an agent of the experiment has this
 * label. A NULL label asks for nothing. */
TACIT_MUST_USE tacit_status cli_check_label(const tacit_experiment_facts *facts, const char *label,
                                            tacit_error *err);
/* The same for the learners of a service file. */
TACIT_MUST_USE tacit_status cli_check_learner(const char *path, const tacit_service_file *file,
                                              const char *name, tacit_error *err);

#endif
