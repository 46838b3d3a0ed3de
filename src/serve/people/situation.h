/* The situation of a user in a request: a number, or features as JSON or as bytes. */
#ifndef TACIT_SERVE_PEOPLE_SITUATION_H
#define TACIT_SERVE_PEOPLE_SITUATION_H

#include "serve/config.h"
#include "serve/http/request.h"

/* Bytes of the features as they are read: [per_user] doubles, with space for tacit__stored_situation_size()
 * bytes behind them. The caller frees them with tacit__free_secret. */
size_t tacit__situation_capacity(const tacit__learner_config *config);

/* Reads the situation of a decision or, with `next`, the one that it led to; has as in tacit__body_read. Sets
 * *state or *features. A situation outside of the space was refused, or clipped into it (r->outside), and
 * features are on the learner's grid. Returns false if the request was refused. */
bool tacit__situation_read(const tacit__body *body, const tacit__learner_config *config, bool next,
                           bool *has, uint32_t *state, double **features);

#endif
