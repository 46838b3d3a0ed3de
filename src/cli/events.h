/* The audit log, as text or as one JSON document. */
#ifndef TACIT_CLI_EVENTS_H
#define TACIT_CLI_EVENTS_H

#include <stdbool.h>

#include <tacit/service.h>

int cli_store_events(const tacit_service_options *service, bool json);

#endif
