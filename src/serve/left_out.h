/* Learners that are in the store but not in the service file. */
#ifndef TACIT_SERVE_LEFT_OUT_H
#define TACIT_SERVE_LEFT_OUT_H

#include <tacit/service.h>

#include "serve/config.h"
#include "store/service_store.h"

/* One line of the log for each. */
TACIT_MUST_USE tacit_status tacit__left_out_log(const tacit__service_config *config,
                                                tacit__vault *vault, tacit_log_fn *log,
                                                void *log_context, tacit_error *err);

#endif
