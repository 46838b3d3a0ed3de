/* One learner of a service file. */
#ifndef TACIT_SERVE_CONFIG_LEARNER_H
#define TACIT_SERVE_CONFIG_LEARNER_H

#include "serve/config.h"

/* `out` is one of config->learners; those before it have been read. */
TACIT_MUST_USE tacit_status tacit__learner_config_read(const tacit__service_config *config,
                                                       const tacit__node *node,
                                                       tacit__learner_config *out,
                                                       tacit_error *err);

#endif
