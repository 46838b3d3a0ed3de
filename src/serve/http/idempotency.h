/* Repeated requests: with the header Idempotency-Key, a repeated request gets the same answer as the first.
 * Answers are stored under keyed hashes of the key and of the body until the episode expires. A stored answer
 * has the decision, not the situation, which the repeated request contains again.
 *
 * A store in a file keeps answers, even across a crash. A front end with a database keeps them in memory,
 * since deciding does not query the database. A repetition that reaches another front end, or comes after a
 * restart, opens the same episode, and gets the same action if the billboard is the same, even if the policy
 * is random.
 *
 * The name of an episode that is opened with a key follows from key and body. So even if its answer is
 * forgotten, the same request refers to the same episode, and nothing can count twice. */
#ifndef TACIT_SERVE_HTTP_IDEMPOTENCY_H
#define TACIT_SERVE_HTTP_IDEMPOTENCY_H

#include "serve/http/request.h"

/* Reads the header into r->key and r->content, and sets r->keyed if there is one; a route that needs a key
 * refuses a request without one. The same key of another token, route, learner or episode (16 bytes, or NULL)
 * is another key. Returns false if the request was refused. */
bool tacit__idempotency_read(tacit__request *r, bool needed, int64_t learner,
                             const uint8_t *episode);
/* Computes the name of the episode that this request opens. */
void tacit__idempotency_episode(const tacit__request *r, uint8_t episode[TACIT__VAULT_KEY]);

/* For a request with a key whose ticket is complete except for the answer: fills the answer in if the request
 * was answered before. Returns false if the request was refused. */
bool tacit__idempotency_recall(tacit__request *r, tacit__ticket *ticket, bool *found);
/* Stores the answer in r->ticket, and calls `answer` when it is stored, or with the answer that another
 * request with the same key stored meanwhile. Returns true if the answer is ready, and false if it will come
 * later. */
TACIT_MUST_USE bool tacit__idempotency_store(tacit__request *r, void (*answer)(tacit__request *r));
/* A number in [0, 1) by which a request with a key decides; it is the same for the same request. */
double tacit__idempotency_chance(const tacit__request *r);
/* Creates the cache of a front end. */
TACIT_MUST_USE tacit_status tacit__idempotency_open(tacit_service *service, tacit_error *err);

/* Refuses the request because its key belongs to another request. */
void tacit__idempotency_refuse(tacit__request *r);

#endif
