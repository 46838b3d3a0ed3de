/* The operator's own record of decisions. For every user from whom a learner learns, it has the situations,
 * the decisions, their probabilities and the outcomes. It is written if the service file has log_decisions:
 * yes, in the transaction that acknowledges the user, whatever the user sent. The record is not a release:
 * the guarantee does not cover it. */
#ifndef TACIT_SERVE_RECORD_H
#define TACIT_SERVE_RECORD_H

#include "base/text.h"
#include "serve/episode.h"
#include "serve/ticket.h"
#include "store/service_store.h"

/* Bytes of features that a record needs and an episode has not: with chosen_only, those of all actions. 0:
 * none. */
size_t tacit__record_extra(const tacit__learner_config *config);
/* Takes them from the place that a decision's ticket carries. Those of a ticket from before the record was
 * begun are not known, but for the chosen action's. */
void tacit__record_fill(const tacit__learner_config *config, const tacit__ticket *ticket,
                        const uint8_t *place, uint8_t *extra);

/* Keeps the record of a finished episode; `extra` is NULL where an episode has all. */
TACIT_MUST_USE tacit_status tacit__record_save(tacit__vault *vault, int64_t learner,
                                               const tacit__episode *episode, const double *extra,
                                               tacit_error *err);

/* A record as lines of JSON, one for each step, each with a newline at its end. `names` is the learner in
 * the service file, or NULL. False: it is none. */
bool tacit__record_write(const uint8_t *data, size_t size, int64_t number, const char *learner,
                         const tacit__learner_config *names, tacit__text *out);

#endif
