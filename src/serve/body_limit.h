/* Checks that the requests of a learner fit into limits.body, whatever their data. */
#ifndef TACIT_SERVE_BODY_LIMIT_H
#define TACIT_SERVE_BODY_LIMIT_H

#include "serve/config.h"

/* Refuse a learner whose requests, or whose devices' reports of at most `size` bytes, may be larger than
 * limits.body, and say what that must be. */
TACIT_MUST_USE tacit_status tacit__body_limit_check(const tacit__learner_config *config,
                                                    tacit_error *err);
TACIT_MUST_USE tacit_status tacit__body_limit_check_report(const tacit__learner_config *config,
                                                           size_t size, tacit_error *err);

#endif
