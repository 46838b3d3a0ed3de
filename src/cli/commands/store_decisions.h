/* tacit store export --decisions: prints the recorded decisions, for evaluating other policies on them. */
#ifndef TACIT_CLI_STORE_DECISIONS_H
#define TACIT_CLI_STORE_DECISIONS_H

#include <tacit/service.h>

int cli_store_decisions(const tacit_service_options *options);

#endif
