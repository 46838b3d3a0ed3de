/* tacit store export --decisions: what was recorded, for those who evaluate other policies on it. */
#ifndef TACIT_CLI_STORE_DECISIONS_H
#define TACIT_CLI_STORE_DECISIONS_H

#include <tacit/service.h>

int cli_store_decisions(const tacit_service_options *options);

#endif
