/* Learners that are in the store but not in the service file. */
#ifndef TACIT_SERVE_LEARNER_ORPHANED_LEARNERS_H
#define TACIT_SERVE_LEARNER_ORPHANED_LEARNERS_H

#include <tacit/service.h>

#include "serve/config.h"
#include "store/vault/vault.h"

/* Writes one line to the log for each of them. */
TACIT_MUST_USE tacit_status tacit__orphaned_learners_log(const tacit__service_config *config,
                                                         tacit__vault *vault, tacit_log_fn *log,
                                                         void *log_context, tacit_error *err);

#endif
