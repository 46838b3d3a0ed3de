/* Warm start: the users of a log are accepted like all other users, before them. A thread reads the log and
 * gives its rows to the committer, some at a time. A transaction accepts them as users and records its
 * progress (store/vault/vault_warm.c). So a crash, a kill or another front end in the middle loses no user
 * and counts none twice. The name of a row is made from the log and the row's position, so a row that comes
 * again is recognized.
 *
 * Until the learner has learned from all users of the log, /readyz answers 503 `warming_up`; the service
 * decides meanwhile. */
#ifndef TACIT_SERVE_LEARNER_WARM_H
#define TACIT_SERVE_LEARNER_WARM_H

#include <tacit/service.h>

#include "serve/learner/warm_log.h"

/* Reads and checks the logs of a service, before its store is opened or made: a log that does not fit leaves
 * nothing behind. */
TACIT_MUST_USE tacit_status tacit__warm_open(tacit_service *service, const char *credentials,
                                             tacit_error *err);
/* Called when the learners and the committer run. */
TACIT_MUST_USE tacit_status tacit__warm_start(tacit_service *service, tacit_error *err);
/* Both accept a service that has not got as far. */
void tacit__warm_stop(tacit_service *service);
void tacit__warm_close(tacit_service *service);

/* Whether users of logs are still to come. */
bool tacit__warm_is_going_on(const tacit_service *service);

/* Checks whether a learner with `accepted` users has room for those of the log. */
TACIT_MUST_USE tacit_status tacit__warm_check_budget(const tacit__learner_config *config,
                                                     const tacit_service_log *log,
                                                     uint64_t accepted, tacit_error *err);

#endif
