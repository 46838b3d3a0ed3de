/* Service files: addresses, the store, limits and learners. The format is in docs/reference/service.md. */
#ifndef TACIT_SERVE_CONFIG_H
#define TACIT_SERVE_CONFIG_H

#include "lab/files/learner_config.h"
#include "lab/files/yaml_fields.h"
#include "serve/http/origins.h"
#include "serve/people/person.h"

/* These are stated choices. */
enum {
    TACIT__MAX_LEARNERS = 128,
    TACIT__MAX_NAME = 64,
    TACIT__MOST_BODY = 1 << 26 /* the largest limits.body, in bytes */
};

typedef struct tacit__limits {
    uint64_t body, header; /* bytes */
    uint64_t connections, per_address;
    uint64_t rate;     /* requests per second and token; 0: any */
    uint64_t timeout;  /* seconds */
    uint64_t episodes; /* open at a time */
    uint64_t keys;     /* idempotency keys whose answers are kept at a time */
    uint64_t people; /* people and open episodes that a front end with a database keeps in memory */
} tacit__limits;

typedef struct tacit__service_config {
    tacit__yaml *yaml; /* owns the texts */
    const char *host;  /* a numeric address */
    uint64_t port;
    const char *admin_host; /* of health and metrics; NULL: only the public address */
    uint64_t admin_port;
    bool log_json;           /* the log is JSON lines */
    tacit__origins origins;  /* whose pages may ask */
    bool demo;               /* the demonstration is served */
    const char *store, *key; /* paths; key NULL: a credential, or beside the store */
    const char *beside; /* how the names of the key and of the mark begin, if they are not given */
    const char *mark;   /* NULL: beside the store */
    bool unsafe;        /* on a database that may lose what it has acknowledged */
    const char *certificate, *private_key; /* NULL: no TLS */
    uint64_t expire;                       /* seconds */
    uint64_t drain;                        /* seconds between "not ready" and the end */
    uint64_t threads;
    tacit__limits limits;
    tacit__learner_config *learners;
    size_t n_learners;
    int budget_line, people_line; /* 0: the file does not set it */
    tacit_service_person person;  /* computed from the learners by tacit__service_config_open */
    tacit__share *shares;         /* one for each learner, computed there as well */
} tacit__service_config;

/* The keys of a service file, and of a learner in it. */
extern const tacit__field tacit__service_fields[], tacit__learner_fields[];

TACIT_MUST_USE tacit_status tacit__service_config_read(const char *path, tacit__service_config *out,
                                                       tacit_error *err);
TACIT_MUST_USE tacit_status tacit__service_config_parse(const char *text, size_t size,
                                                        const char *name,
                                                        tacit__service_config *out,
                                                        tacit_error *err);
/* Reads the tables that learners name, and computes what one person pays. Refuses a file that exceeds its
 * budget. */
TACIT_MUST_USE tacit_status tacit__service_config_open(tacit__service_config *config,
                                                       tacit_error *err);
void tacit__service_config_free(tacit__service_config *config);

#endif
