/* The service behind the routes. */
#ifndef TACIT_SERVE_SERVICE_H
#define TACIT_SERVE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <tacit/service.h>

#include "serve/config.h"
#include "serve/learner.h"
#include "serve/request.h"
#include "serve/scribe.h"
#include "store/service.h"

/* A token in use: what it may do, and how much it has asked for lately. */
typedef struct tacit__guest {
    tacit__token token;
    double allowance; /* requests that it may still make at once */
    double seen_ms;   /* when the allowance was last filled up */
} tacit__guest;

enum { TACIT__N_BUCKETS = 14, TACIT__MAX_ROUTES = 24 };

/* Counted for each route: answers by class (2xx, 4xx, 5xx), and how long they took. */
typedef struct tacit__route_figures {
    atomic_uint_fast64_t answers[6];
    atomic_uint_fast64_t buckets[TACIT__N_BUCKETS], total_us;
} tacit__route_figures;

void tacit__figures_add(tacit__route_figures *figures, unsigned status, double seconds);

struct tacit__http;

struct tacit_service {
    tacit__service_config config;
    tacit_log_fn *log;
    void *log_context;
    void (*fenced)(void *log_context); /* or NULL */
    uint8_t key_ticket[TACIT__KEY_BYTES], key_person[TACIT__KEY_BYTES], key_again[TACIT__KEY_BYTES];
    uint8_t key_tag
        [TACIT__KEY_BYTES]; /* of ETags; another one after every start, since a store may be another one then */
    tacit__vault *vault; /* the scribe's, while there is one */
    tacit__scribe *scribe;
    tacit__vault *reader;
    pthread_mutex_t reader_lock;
    tacit__learner *learners[TACIT__MAX_LEARNERS];
    pthread_mutex_t guest_lock;
    tacit__guest *guests;
    size_t n_guests;
    pthread_mutex_t guarantee_lock;
    tacit__text guarantees[TACIT__MAX_LEARNERS]; /* answers, made when first asked for */
    atomic_uint_fast64_t open_episodes, expired;
    atomic_bool has_answers; /* of requests with keys, kept in the store */
    tacit__route_figures figures[TACIT__MAX_ROUTES];
    time_t started;
    pthread_t sweeper;
    bool sweeping, stop;
    pthread_mutex_t stop_lock;
    pthread_cond_t stop_news;
    struct tacit__http *http;
    char url[128];
};

/* The learner of this name, or the only one if name is NULL; else NULL. */
tacit__learner *tacit__service_learner(const tacit_service *service, const char *name);
tacit__learner *tacit__service_learner_by_id(const tacit_service *service, int64_t id);

/* Whether the bearer of this token may use a route: 200, 401 (nobody knows it), 403 (it may not), 429 (too often). */
unsigned tacit__service_admit(tacit_service *service, const char *bearer, unsigned scope);

__attribute__((format(printf, 2, 3))) void tacit__service_say(tacit_service *service,
                                                              const char *format, ...);

/* The clock on the wall, in seconds; it may go backwards. */
int64_t tacit__service_now(void);

#endif
