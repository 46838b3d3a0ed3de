/* What `decide` must know besides the billboard: whether a user has taken part, at which step an episode is,
 * and how a request with the same idempotency key was answered.
 *
 * If the store is a file, the service reads all this from the file. If it is a database, `decide` does not
 * query it: a front end keeps what it needs in memory (serve/roster.h, serve/replies.h). It reads people and
 * episodes from the database when it starts and after it was disconnected. Afterwards it remembers what it
 * has written itself, once that is on disk, and the transactions of other front ends announce what they write
 * (tacit__vault_announce). All of this is advice: the transaction that accepts the observation decides
 * whether the learner learns from a user. */
#ifndef TACIT_SERVE_FORESIGHT_H
#define TACIT_SERVE_FORESIGHT_H

#include "serve/learner.h"
#include "serve/request.h"

typedef struct tacit__foresight tacit__foresight;

/* Nothing, where the store is a file. */
TACIT_MUST_USE tacit_status tacit__foresight_open(tacit_service *service, tacit_error *err);
void tacit__foresight_close(tacit_service *service);

/* Begins to read what the database has; then reads on for about so long, and says whether there is more. */
void tacit__foresight_begin_reading(tacit_service *service);
TACIT_MUST_USE tacit_status tacit__foresight_read(tacit_service *service, tacit__vault *vault,
                                                  double ms, bool *more, tacit_error *err);
/* Forgets what is too old, now and then. */
void tacit__foresight_expire(tacit_service *service);
/* Something that another front end has told; the context is the service. */
void tacit__foresight_hear(void *service, const uint8_t news[TACIT__NEWS_BYTES]);

/* Whether the user of a ticket has taken part as often as they may. False: refused. */
bool tacit__foresight_returning(tacit__request *r, const tacit__ticket *ticket, bool *returning);
/* How many steps of an episode have been observed; *over: all. False: refused. */
bool tacit__foresight_steps(tacit__request *r, const tacit__ticket *ticket, size_t *steps,
                            bool *over);

/* What an observation has changed: told to the others by the transaction, and known here when that is on
 * disk. */
typedef struct tacit__stage {
    size_t steps;    /* of the episode, so far */
    bool finished;   /* it is over, */
    bool remembered; /* and the store says so */
    uint64_t before; /* of a person who may come back: how often they had come */
} tacit__stage;
void tacit__foresight_note(tacit__request *r, tacit__vault *vault, const tacit__stage *stage);
void tacit__foresight_done(tacit__request *r);

/* A person of a log, by the transaction that takes them under this name: into `news`, which others are told.
 * They are known here with tacit__foresight_hear when it is on disk. */
void tacit__foresight_note_logged(const uint8_t person[TACIT__VAULT_KEY],
                                  const uint8_t key[TACIT__VAULT_KEY], tacit__vault *vault,
                                  uint8_t news[TACIT__NEWS_BYTES]);

#endif
