/* A request and its answer, independent of the HTTP library: the route, the token, the body, the status.
 * Handlers use only this. */
#ifndef TACIT_SERVE_HTTP_REQUEST_H
#define TACIT_SERVE_HTTP_REQUEST_H

#include <tacit/service.h>

#include "serve/committer.h"
#include "serve/people/ticket.h"
#include "store/vault/vault_maintenance.h"
#include "text/fields.h"
#include "text/json.h"
#include "text/text.h"

typedef struct tacit__route tacit__route;
typedef struct tacit__request tacit__request;

/* The scopes of a token, as bits. */
typedef enum tacit__scope {
    TACIT__SCOPE_OPEN = 0, /* anybody */
    TACIT__SCOPE_DECIDE = 1,
    TACIT__SCOPE_OBSERVE = 2,
    TACIT__SCOPE_REPORT = 4,
    TACIT__SCOPE_READ = 8,
    TACIT__SCOPE_ADMIN = 16 /* everything */
} tacit__scope;

/* The bearer of the token, as far as handlers need to know; {0} if no token is needed. */
typedef struct tacit__bearer {
    int64_t token; /* its number in the store */
    uint8_t hash[TACIT__TOKEN_HASH];
    uint64_t users_per_day;               /* 0: any number */
    bool reads;                           /* it may read /v1/learners */
    bool bound;                           /* the token is for one learner */
    const struct tacit__learner *learner; /* if bound; NULL: a learner that is not served */
} tacit__bearer;

struct tacit__request {
    tacit_service *service;
    tacit__bearer bearer;
    const tacit__route *route;
    const char *path_id; /* the {id} of the path; not terminated */
    size_t path_id_length;
    const char *learner;     /* ?learner=, or NULL */
    const char *step;        /* ?step=, or NULL */
    const char *user;        /* the header Tacit-User, or NULL */
    const char *idempotency; /* the header, or NULL */
    const char *if_none_match;
    const char *body;
    size_t body_size;
    /* the body is features as they are in memory, not JSON: application/octet-stream */
    bool binary;
    /* For an element of a batch: its part of the body, and its number from 1. */
    const tacit__json_node *nodes, *object;
    uint32_t number;
    struct tacit__batch *batch;

    unsigned status;      /* of the answer */
    tacit__text answer;   /* JSON, unless `type` says otherwise */
    const char *type;     /* NULL: application/json */
    bool compiles;        /* a page that may compile WebAssembly and start workers */
    const char *allow;    /* with 405: the allowed methods */
    char etag[64];        /* "": none */
    unsigned max_age;     /* seconds for which others may cache the answer; 0: they may not */
    unsigned retry_after; /* seconds; 0: none */

    /* For handlers that wait for the committer. */
    tacit__job job;
    tacit__ticket ticket;
    /* expiry of an episode, as its opener is told: an estimate in seconds since 1970 */
    int64_t expires;
    struct tacit__learner *chosen;
    uint8_t *data; /* data of the job; freed with the request */
    size_t data_size;
    tacit__json_node *many; /* nodes of a large body; freed with the request */
    size_t many_size;
    bool keyed; /* there is an idempotency key: its hash, and the hash of the body */
    uint8_t key[TACIT__VAULT_KEY], content[TACIT__VAULT_KEY];
    void (*answer_again)(tacit__request *request);
    int answer_code;
    const char *field;
    bool is_user, opens, closes; /* how the job changes the counts */
    uint64_t ordinal;            /* number of the user among all that were accepted */
    uint64_t came_before;        /* how often the person had come, where people may come back */
    uint8_t news[2][TACIT__NEWS_BYTES]; /* announcements of the job to other front ends */
    size_t n_news;
    bool again;      /* the answer was given before, and is not counted again */
    bool has_person; /* a report whose sender gave an id */
    uint8_t person[TACIT__VAULT_KEY];
    bool learned; /* the learner learns, or will learn, from this episode */
    bool has_reward, has_next, is_done;
    /* a value of the user was clipped into the learner's domain; only the answer says so */
    bool outside;
    double reward;
    uint32_t next_state;
    void (*resume)(tacit__request *request); /* set by the caller of the handler */
};

/* The request that a job is part of. */
static inline tacit__request *tacit__request_of(tacit__job *job)
{
    return (tacit__request *)(void *)((char *)job - offsetof(tacit__request, job));
}

/* Frees what the handlers have left in a request: its answer, its data, its nodes. */
void tacit__request_clear(tacit__request *r);

/* Answers with an error: {"error": {"code", "field", "message"}}; field may be NULL. The message never
 * repeats what was sent, not even field names, since a mistaken caller may put data anywhere. */
__attribute__((format(printf, 5, 6))) void tacit__refuse(tacit__request *r, unsigned status,
                                                         const char *code, const char *field,
                                                         const char *format, ...);

/* A list of names for a sentence, "a, b, c", which ends with "..." if there is no room for all. If `wanted`
 * is set before the first name is added, `near` becomes " (did you mean 'b'?)" for the first similar name. */
typedef struct tacit__name_list {
    const char *wanted;
    char text[256], near[100];
    size_t used;
    bool full;
} tacit__name_list;
/* A name that was sent, which is compared but not shown. */
typedef struct tacit__sent_name {
    char text[65];
} tacit__sent_name;
tacit__sent_name tacit__sent_name_of(const tacit__json_node *key);
void tacit__name_list_add(tacit__name_list *list, const char *name, size_t size);

/* Refuses a request in which a field of the body is missing: 422. */
void tacit__refuse_missing(tacit__request *r, const char *field);
/* Refuses a request whose job failed with this status: 503. */
void tacit__refuse_unwritten(tacit__request *r, tacit_status status);

/* --- Bodies ------------------------------------------------------------------------------------- */

typedef struct tacit__body {
    tacit__request *request;
    const tacit__json_node *nodes, *object;
} tacit__body;

/* Parses the body. The nodes are valid until another body is parsed in this thread, or the request ends.
 * Returns NULL if the request was refused. */
const tacit__json_node *tacit__body_parse(tacit__request *r);
/* Opens the body as an object with no other fields than those of the route's shape; it has none if the body
 * is bytes. Returns false if the request was refused. */
bool tacit__body_open(tacit__request *r, tacit__body *body);
/* The value of a key; NULL if it is missing or null. */
const tacit__json_node *tacit__body_get(const tacit__body *body, const char *key);
/* The kind of a value, for a sentence: "text", "a number". */
const char *tacit__body_kind(const tacit__json_node *node);
/* Functions that read values return false if the request was refused. *has says whether the key is there; if
 * `has` is NULL, it must be. */

/* Reads a field by its type and limits: a count (uint64_t), a real (double) or a text (char [high + 1]) into
 * *out. */
bool tacit__body_read(const tacit__body *body, const tacit__field *field, bool *has, void *out);
extern const tacit__field tacit__field_learner; /* char [TACIT__MAX_NAME + 1] */
/* Reads a number below `below`. Any other number becomes the nearest such number, rounded down, and *cut is
 * set. */
bool tacit__body_index(const tacit__body *body, const char *key, size_t below, bool *has,
                       uint32_t *out, bool *cut);
/* Reads n numbers into out[n]. */
bool tacit__body_reals(const tacit__body *body, const char *key, size_t n, bool *has, double *out);

#endif
