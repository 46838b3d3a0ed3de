/* Warm start: users of a log are taken by the door by which all others come, before them. A thread reads the
 * log and gives its rows to the committer, some at a time; a transaction takes them as users and writes how
 * far it has come (store/service_warm.c). So a crash, a kill or another front end in the middle loses nobody
 * and counts nobody twice. A row's name is made of the log and its place: should it ever come again, it is
 * known.
 *
 * Until everybody in the log has been learned from, /readyz says 503 `warming_up`; decisions are made all the
 * same. */
#ifndef TACIT_SERVE_WARM_H
#define TACIT_SERVE_WARM_H

#include <tacit/service.h>

#include "serve/warm_log.h"

/* Reads and checks the logs of a service, before its store is opened or made: a log that does not fit leaves
 * nothing behind. */
TACIT_MUST_USE tacit_status tacit__warm_open(tacit_service *service, const char *credentials,
                                             tacit_error *err);
/* The learners and the committer run. */
TACIT_MUST_USE tacit_status tacit__warm_start(tacit_service *service, tacit_error *err);
/* Both accept a service that has never got as far. */
void tacit__warm_stop(tacit_service *service);
void tacit__warm_close(tacit_service *service);

/* Whether users of logs are still to come. */
bool tacit__warm_is_going_on(const tacit_service *service);

/* Whether a learner that has `accepted` users has room for the log's. */
TACIT_MUST_USE tacit_status tacit__warm_check_budget(const tacit__learner_config *config,
                                                     const tacit_service_log *log,
                                                     uint64_t accepted, tacit_error *err);

#endif
