/* The operator's log of decisions. For every user from whom a learner learns, it has the situations, the
 * decisions, their probabilities and the outcomes. It is written if the service file has log_decisions: yes,
 * in the transaction that acknowledges the user. The log is not a release: the guarantee does not cover
 * it. */
#ifndef TACIT_SERVE_PEOPLE_DECISION_LOG_H
#define TACIT_SERVE_PEOPLE_DECISION_LOG_H

#include "serve/people/episode.h"
#include "serve/people/ticket.h"
#include "store/vault/vault.h"
#include "text/text.h"

/* Bytes of features that an entry needs and an episode does not have: with chosen_only, the features of all
 * actions; otherwise 0. */
size_t tacit__decision_log_extra_size(const tacit__learner_config *config);
/* Copies these bytes from the situation in a decision's ticket. A ticket from before the log was begun has
 * only the features of the chosen action; the others become NaN. */
void tacit__decision_log_fill(const tacit__learner_config *config, const tacit__ticket *ticket,
                              const uint8_t *situation, uint8_t *extra);

/* Saves the entry of a finished episode. `extra` is NULL if the episode has all features. */
TACIT_MUST_USE tacit_status tacit__decision_log_save(tacit__vault *vault, int64_t learner,
                                                     const tacit__episode *episode,
                                                     const double *extra, tacit_error *err);

/* Writes an entry as lines of JSON, one for each step, each with a newline at its end. `names` is the learner
 * in the service file, or NULL. Returns false if the bytes are not an entry. */
bool tacit__decision_log_write(const uint8_t *data, size_t size, int64_t number,
                               const char *learner, const tacit__learner_config *names,
                               tacit__text *out);

#endif
