/* The situation of a user in a request: a number, or features as JSON or as bytes. */
#ifndef TACIT_SERVE_PEOPLE_SITUATION_H
#define TACIT_SERVE_PEOPLE_SITUATION_H

#include "serve/config.h"
#include "serve/http/request.h"

/* Features as they are read: [per_user], with space for tacit__stored_situation_size() bytes behind them. To
 * be freed with tacit__free_secret. */
size_t tacit__situation_capacity(const tacit__learner_config *config);

/* The situation of a decision, or (`next`) the one that it led to; has as in tacit__body_real.
 * Either *state or *features is set: what lies outside the space was refused or cut into it
 * (r->outside), and features are on the learner's grid. False: refused. */
bool tacit__situation_read(const tacit__body *body, const tacit__learner_config *config, bool next,
                           bool *has, uint32_t *state, double **features);

#endif
