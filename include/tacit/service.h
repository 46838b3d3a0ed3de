/* The decision service: private learning in front of real users, over HTTP.
 *
 *     tacit_service_open(&options, &service, &err);   reads the file, loads the learners, listens
 *     ... it serves until ...
 *     tacit_service_close(service);                   finishes what was begun
 *
 * What it serves is in docs/reference/http.md, what it promises in docs/why/service.md. Noise is keyed by
 * the operating system; there is no way to ask for a seed. */
#ifndef TACIT_SERVICE_H
#define TACIT_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/agent.h>
#include <tacit/plan.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line for the operators of the service, ready to be written: "tacit: ...", or JSON if the service
 * file asks for it. It never contains data of users. */
typedef void tacit_log_fn(void *context, const char *line);

typedef struct tacit_service_options {
    const char *file; /* the service file */
    /* A directory that may hold the store's key as `tacit-key`, such as systemd's; or NULL. */
    const char *credentials;
    tacit_log_fn *log; /* or NULL */
    void *log_context;
    /* Called once, from a thread of the service, with log_context: another server has taken over the
     * store. From then on nothing is learned or written; close the service. Or NULL. */
    void (*fenced)(void *log_context);
} tacit_service_options;

typedef struct tacit_service tacit_service;

/* UNSUPPORTED if the library was built without libmicrohttpd. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_open(const tacit_service_options *options,
                                                         tacit_service **out, tacit_error *err);
/* Where it listens: "http://127.0.0.1:8470". */
TACIT_API const char *tacit_service_url(const tacit_service *service);
/* Tokens and certificate are read again. Open connections keep their certificate; an invalid
 * certificate is not used. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_reload(tacit_service *service,
                                                           tacit_error *err);
/* Takes no more requests, answers those that it has, lets the learners finish their users, and closes the
 * store. Accepts NULL. */
TACIT_API void tacit_service_close(tacit_service *service);

/* docs/reference/http.md, from the table of routes; to be freed with free(). NULL: no memory, or built
 * without the server. */
TACIT_API char *tacit_service_reference(void);
/* The same as OpenAPI 3.1, in JSON. */
TACIT_API char *tacit_service_openapi(void);

/* --- What a service file promises, before anything is served --------------------------------------- */

typedef struct tacit_service_file tacit_service_file;

typedef struct tacit_service_learner {
    const char *name;
    const char *kind; /* of the agent as the file has it; request->kind is what that stands for */
    const tacit_agent_request *request;
    tacit_guarantee monitor;  /* of the released mean reward; model none: it is not released */
    tacit_guarantee together; /* what a user pays for both, as /v1/guarantee says */
    const char *const *action_names; /* [n_actions]; NULL: actions have numbers */
    const char *context;    /* named columns, as they were declared; NULL: features are numbers */
    bool user_required;     /* users without an id are refused */
    bool log_decisions;     /* the operator keeps a record of decisions, outside the promise */
    const char *warm_start; /* a log that it is warmed up with, as the file has it; NULL: none */
} tacit_service_learner;

/* The users of a log, for a learner that has had none. */
typedef struct tacit_service_log {
    uint64_t rows;   /* of the log */
    uint64_t people; /* different ids; as many as rows where the log has none */
    uint64_t users;  /* rows that the learner learns from: no person more often than they may */
} tacit_service_log;

/* True if a YAML file has `learners`: it means to describe a service, well or badly. */
TACIT_API bool tacit_service_is_file(const char *path);
/* Reads a service file and the tables that it names. Nothing is opened or written. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_file_read(const char *path,
                                                              tacit_service_file **out,
                                                              tacit_error *err);
TACIT_API void tacit_service_file_destroy(tacit_service_file *file);
TACIT_API size_t tacit_service_file_size(const tacit_service_file *file);
/* Learner i, counted from 0. */
TACIT_API const tacit_service_learner *tacit_service_file_at(const tacit_service_file *file,
                                                             size_t i);
/* The calibrated plan of learner i's monitor; NULL: it has none. To be destroyed. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_file_monitor(const tacit_service_file *file,
                                                                 size_t i, tacit_plan **out,
                                                                 tacit_error *err);
/* Reads learner i's log, all of it, and counts its users. BAD_ARGUMENT: the learner has none, or it cannot be
 * opened; TOO_LARGE: it has more users than the learner may have; else what is wrong with it, by line. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_file_log(const tacit_service_file *file,
                                                             size_t i, tacit_service_log *out,
                                                             tacit_error *err);

/* --- Tokens: who may do what -------------------------------------------------------------------- */

enum { TACIT_TOKEN_SIZE = 64 };

typedef struct tacit_token_request {
    const char *name;
    const char *scopes;     /* "decide,observe"; admin is all */
    const char *learner;    /* the only one that it is for; NULL: all */
    uint64_t users_per_day; /* that it may bring, by observations or reports; 0: any number */
    int64_t expires;        /* seconds since 1970; 0: never */
} tacit_token_request;

/* A new token in the store of this service file. It is shown once: the store has its hash. A running
 * service knows it after tacit_service_reload. */
TACIT_API TACIT_MUST_USE tacit_status tacit_token_create(const tacit_service_options *options,
                                                         const tacit_token_request *request,
                                                         char token[TACIT_TOKEN_SIZE],
                                                         tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_token_revoke(const tacit_service_options *options,
                                                         const char *name, tacit_error *err);

typedef struct tacit_token_facts {
    const char *name, *scopes;
    int64_t created; /* seconds since 1970 */
    bool revoked;
    const char *learner;    /* NULL: any */
    uint64_t users_per_day; /* 0: any number */
    int64_t expires;        /* seconds since 1970; 0: never */
} tacit_token_facts;
TACIT_API TACIT_MUST_USE tacit_status tacit_token_list(const tacit_service_options *options,
                                                       void (*each)(void *context,
                                                                    const tacit_token_facts *token),
                                                       void *context, tacit_error *err);

/* --- The store, also while a service runs on it -------------------------------------------------- */

typedef struct tacit_store_health {
    uint64_t learners, inputs, open, seen, people, answers, tokens, bytes;
    bool unsafe; /* it was served on a database server that may lose what it acknowledged */
} tacit_store_health;

/* Everything is readable, adds up, and opens with the key. CORRUPT says what is not. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_check(const tacit_service_options *options,
                                                        tacit_store_health *health,
                                                        tacit_error *err);
/* A consistent copy. A service that is started on it decides, but does not learn: the original may have
 * gone on, and a person in both would pay twice. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_backup(const tacit_service_options *options,
                                                         const char *path, tacit_error *err);
/* What is public, as JSON: counts, ledger, curves. To be freed with free(). */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_export(const tacit_service_options *options,
                                                         char **json, tacit_error *err);

/* Decisions that were recorded (log_decisions: yes), as JSON: one line for each step, given to `each` in
 * the order in which users were acknowledged; a record at a time, with newlines. They are users' data, in
 * the clear: an entry in the audit log comes first. It ends when `each` is false, as SYSTEM. */
typedef bool tacit_line_fn(void *context, const char *lines, size_t size);
TACIT_API TACIT_MUST_USE tacit_status tacit_store_decisions(const tacit_service_options *options,
                                                            tacit_line_fn *each, void *context,
                                                            tacit_error *err);

/* The audit log, the oldest entry first: what was done to the store and its service, when (seconds since
 * 1970), and by which user of the machine. Nothing about users of the service. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_events(const tacit_service_options *options,
                                                         void (*each)(void *context, int64_t at,
                                                                      const char *what),
                                                         void *context, tacit_error *err);

/* --- The store, while no service runs on it ------------------------------------------------------- */

/* What a store that learns again has cost a learner's users. */
typedef struct tacit_store_cost {
    const char *learner;
    uint64_t users;         /* that it had learned from */
    tacit_guarantee before; /* for a person in one line: learner and monitor together */
    tacit_guarantee after;  /* for a person in all lines; model none: there is no number */
} tacit_store_cost;

/* What an adoption would do: in how many lines the store may have gone on after it, and what that costs,
 * learner by learner. Nothing is changed. BAD_ARGUMENT: there is nothing to adopt. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_adoption(
    const tacit_service_options *options, uint64_t *lives,
    void (*each)(void *context, const tacit_store_cost *cost), void *context, tacit_error *err);
/* Makes a backup that was put in the store's place, or a store that went back, learn again. The caller
 * says by this that the original is gone; what both together cost is kept in the store for good. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_adopt(const tacit_service_options *options,
                                                        tacit_error *err);
/* Brings a store of an earlier format to the present one, as a start of the service does; *from is what it
 * had. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_migrate(const tacit_service_options *options,
                                                          int *from, int *to, tacit_error *err);
/* Another key for the store: in the place of the old one, or, where `new_key` is given, in that file,
 * which is made if it is not there. Call it again if it was cut short. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_rekey(const tacit_service_options *options,
                                                        const char *new_key, tacit_error *err);

/* Makes the store of a service file whose store is a PostgreSQL database: the key, if there is none, and
 * the tables, in the schema `tacit`. `as`: another connection for that, of a role that may create a
 * schema; or NULL. BAD_ARGUMENT: there is one. A store in a file needs no making. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_init(const tacit_service_options *options,
                                                       const char *as, tacit_error *err);
/* Takes the store of another service file, `from`, which is in a file and which no service runs on, over
 * into the database of this one: states, ledger, tokens, people, users that wait. The database must have
 * been made by tacit_store_init and be empty. The key is the source's from then on; the source is marked
 * as gone. A move that was interrupted is finished by the same call. `as` is the URI of the database for a
 * role that may write to all tables, their owner; NULL: that of the service file. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_move(const tacit_service_options *options,
                                                       const char *from, const char *as,
                                                       tacit_error *err);

#ifdef __cplusplus
}
#endif

#endif
