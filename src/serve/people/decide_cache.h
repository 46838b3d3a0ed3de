/* What `decide` must know besides the billboard: whether a user has taken part, at which step an episode is,
 * and how a request with the same idempotency key was answered.
 *
 * If the store is a file, the service reads all this from the file. If it is a database, `decide` does not
 * query it: a front end keeps what it needs in memory (serve/people/participant_cache.h,
 * serve/people/reply_cache.h). It reads people and episodes from the database when it starts and after it was
 * disconnected. Afterwards it remembers what it has written itself, once that is on disk, and the
 * transactions of other front ends announce what they write (tacit__vault_announce). All of this is advice:
 * the transaction that accepts the observation decides whether the learner learns from a user. */
#ifndef TACIT_SERVE_PEOPLE_DECIDE_CACHE_H
#define TACIT_SERVE_PEOPLE_DECIDE_CACHE_H

#include "serve/http/request.h"
#include "serve/learner/learner.h"

typedef struct tacit__decide_cache tacit__decide_cache;

/* Does nothing if the store is a file. */
TACIT_MUST_USE tacit_status tacit__decide_cache_open(tacit_service *service, tacit_error *err);
void tacit__decide_cache_close(tacit_service *service);

/* `begin_load` starts to load what the database has. `load` continues for about this many milliseconds and
 * says whether there is more. */
void tacit__decide_cache_begin_load(tacit_service *service);
TACIT_MUST_USE tacit_status tacit__decide_cache_load(tacit_service *service, tacit__vault *vault,
                                                     double ms, bool *more, tacit_error *err);
/* Removes expired entries, if it has not done so for some minutes. */
void tacit__decide_cache_expire(tacit_service *service);
/* Applies what another front end has announced. The context is the service. */
void tacit__decide_cache_receive(void *service, const uint8_t news[TACIT__NEWS_BYTES]);

/* Finds out whether the user of a ticket has taken part as often as they may. Returns false if the request
 * was refused. */
bool tacit__decide_cache_find_returning(tacit__request *r, const tacit__ticket *ticket,
                                        bool *returning);
/* Finds out how many steps of an episode have been observed; *over means all. Returns false if the request
 * was refused. */
bool tacit__decide_cache_find_steps(tacit__request *r, const tacit__ticket *ticket, size_t *steps,
                                    bool *over);

/* What an observation has changed. `announce` tells the other front ends when the transaction is on disk;
 * `apply`, called after that, changes this front end's own cache. */
typedef struct tacit__observed_change {
    size_t steps;    /* of the episode so far */
    bool finished;   /* the episode is over */
    bool remembered; /* the store remembers that it is over */
    uint64_t before; /* how often the person had come, if people may come back */
} tacit__observed_change;
void tacit__decide_cache_announce(tacit__request *r, tacit__vault *vault,
                                  const tacit__observed_change *seen);
void tacit__decide_cache_apply(tacit__request *r);

/* Announces a person of a log, in the transaction that accepts them under the name `key`. When that is on
 * disk, the caller passes `news` to tacit__decide_cache_receive. */
void tacit__decide_cache_announce_logged(const uint8_t person[TACIT__VAULT_KEY],
                                         const uint8_t key[TACIT__VAULT_KEY], tacit__vault *vault,
                                         uint8_t news[TACIT__NEWS_BYTES]);

#endif
