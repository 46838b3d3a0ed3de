/* The service behind the routes. */
#ifndef TACIT_SERVE_SERVICE_INSIDE_H
#define TACIT_SERVE_SERVICE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include <tacit/service.h>

#include "noise/seal.h"
#include "serve/clock.h"
#include "serve/committer.h"
#include "serve/config.h"
#include "serve/http/access.h"
#include "serve/http/request.h"
#include "serve/learner/learner.h"
#include "serve/people/pledge.h"
#include "store/vault/vault.h"

enum { TACIT__N_BUCKETS = 14, TACIT__MAX_ROUTES = 24 };

/* Counted for each route, and once for requests that have none: answers by class (2xx, 4xx, 5xx), and how
 * long they took. */
typedef struct tacit__route_figures {
    atomic_uint_fast64_t answers[6];
    atomic_uint_fast64_t buckets[TACIT__N_BUCKETS], total_us;
} tacit__route_figures;

void tacit__figures_add(tacit__route_figures *figures, unsigned status, double seconds);
/* The times as a histogram in Prometheus' text format; nothing where nothing was counted. */
void tacit__figures_write(tacit__route_figures *figures, const char *method, const char *route,
                          struct tacit__text *out);

struct tacit__http;

struct tacit_service {
    tacit__service_config config;
    tacit__clock clock;
    tacit_log_fn *log;
    void *log_context;
    void (*fenced)(void *log_context); /* or NULL */
    uint8_t key_ticket[TACIT__KEY_BYTES], key_person[TACIT__KEY_BYTES],
        key_request[TACIT__KEY_BYTES];
    uint8_t key_digest[TACIT__SHORT_KEY]; /* of what is kept of finished episodes */
    uint8_t key_tag
        /* of ETags; another one after every start, since a store may be another one then */
        [TACIT__KEY_BYTES];
    tacit__vault *vault; /* the committer's, while there is one */
    tacit__committer *committer;
    tacit__vault *reader;
    pthread_mutex_t reader_lock;
    /* the read pool: one connection for each thread that serves requests */
    struct tacit__vault_reader *readers;
    size_t n_readers;
    tacit__learner *learners[TACIT__MAX_LEARNERS];
    tacit__pledge pledge; /* to one person who takes part in all of them */
    pthread_mutex_t bearer_lock;
    tacit__bearer_row *bearers;
    size_t n_bearers;
    pthread_mutex_t guarantee_lock;
    tacit__text guarantees[TACIT__MAX_LEARNERS]; /* answers, made when first asked for */
    atomic_uint_fast64_t open_episodes, expired;
    atomic_bool has_answers; /* of requests with keys, kept in the store */
    tacit__route_figures figures[TACIT__MAX_ROUTES + 1]; /* the last: without a route */
    time_t started;
    pthread_t sweeper;
    bool sweeping, stop, stop_sync;
    struct tacit__store_sync *store_sync;     /* NULL: the store is this process's alone */
    struct tacit__decide_cache *decide_cache; /* the same */
    struct tacit__reply_cache *reply_cache;   /* the same */
    struct tacit__warm *warm;                 /* NULL: no learner has a log */
    pthread_mutex_t stop_lock;
    pthread_cond_t stop_news;
    struct tacit__http *http, *admin; /* admin: NULL if there is none */
    atomic_bool stopping;
    atomic_bool unsafe; /* the store was served on a server that may lose what it acknowledged */
    char url[128], admin_url[128];
};

/* The store was on a server that may lose what it acknowledged: said once, and shown permanently. */
void tacit__service_note_unsafe(tacit_service *service);

/* The learner of this name, or the only one if name is NULL; else NULL. */
tacit__learner *tacit__service_learner(const tacit_service *service, const char *name);
tacit__learner *tacit__service_learner_by_id(const tacit_service *service, int64_t id);

/* A connection from the read pool, for a short time within a request. The thread that acquired it releases
 * it. */
tacit__vault *tacit__service_acquire_reader(tacit_service *service);
void tacit__service_release_reader(tacit_service *service);

/* The learner that a request means: the one named, else that of ?learner=, else the one that its token is
 * for, else the only one. Returns NULL if the request was refused. */
tacit__learner *tacit__service_choose(tacit__request *r, const char *name);
/* Whether the token of a request is for this learner. Returns false if the request was refused. */
bool tacit__service_may_use(tacit__request *r, const tacit__learner *learner);

/* --- The log (log.c) ---------------------------------------------------------------------------- */

typedef enum tacit__level { TACIT__INFO, TACIT__WARNING, TACIT__ERROR } tacit__level;

/* `event` is a word for machines: start, stop, reload, store, learner, token, listen. */
__attribute__((format(printf, 4, 5))) void tacit__service_log(tacit_service *service,
                                                              tacit__level level, const char *event,
                                                              const char *format, ...);
/* What learners and the committer say; their context is the service. */
void tacit__service_log_learner(void *service, const char *line);
void tacit__service_log_store(void *service, const char *line);

#endif
