/* The decision service: private learning in front of real users, over HTTP.
 *
 *     tacit_service_open(&options, &service, &err);   reads the file, loads the learners, listens
 *     ... it serves until ...
 *     tacit_service_close(service);                   finishes the requests in progress
 *
 * docs/reference/http.md describes the interface, docs/why/service.md the guarantees. The keys of the noise
 * come from the operating system; the noise cannot be seeded. */
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

/* Receives one line for the operators of the service, ready to be written: "tacit: ...", or JSON if the
 * service file asks for it. It never contains data of users. */
typedef void tacit_log_fn(void *context, const char *line);

typedef struct tacit_service_options {
    const char *file; /* the service file */
    /* A directory that may hold the store's key as `tacit-key`, such as systemd's; or NULL. */
    const char *credentials;
    tacit_log_fn *log; /* or NULL */
    void *log_context;
    /* Called once, from a thread of the service, with log_context, when another server has taken over the
     * store. From then on this service neither learns nor writes; close it. Or NULL. */
    void (*fenced)(void *log_context);
} tacit_service_options;

typedef struct tacit_service tacit_service;

/* UNSUPPORTED if the library was built without libmicrohttpd. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_open(const tacit_service_options *options,
                                                         tacit_service **out, tacit_error *err);
/* Where it listens: "http://127.0.0.1:8470". */
TACIT_API const char *tacit_service_url(const tacit_service *service);
/* Reads tokens and certificate again. Open connections keep their certificate; an invalid certificate is not
 * used. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_reload(tacit_service *service,
                                                           tacit_error *err);
/* From now on /readyz says that the service is stopping, and all requests are answered as before. Returns for
 * how many seconds the service file wants that (`drain`), so that load balancers turn to other front ends
 * before tacit_service_close. */
TACIT_API uint64_t tacit_service_drain(tacit_service *service);
/* Accepts no more requests, answers those in progress, lets the learners finish their users, and closes the
 * store. Accepts NULL. */
TACIT_API void tacit_service_close(tacit_service *service);

/* The text of docs/reference/http.md, from the table of routes; to be freed with free(). NULL: no memory, or
 * built without the server. */
TACIT_API char *tacit_service_reference(void);
/* The same as OpenAPI 3.1, in JSON. */
TACIT_API char *tacit_service_openapi(void);

/* --- Service files, without a service -------------------------------------------------------------- */

typedef struct tacit_service_file tacit_service_file;

typedef struct tacit_service_learner {
    const char *name;
    const char *kind; /* of the agent, as in the file; request->kind is never an alias */
    const tacit_agent_request *request;
    tacit_guarantee monitor;  /* of the released mean reward; model none: it is not released */
    tacit_guarantee together; /* of both, composed, for one user, as in /v1/guarantee */
    const char *const *action_names; /* [n_actions]; NULL: actions have numbers */
    const char *context;    /* named columns, as they were declared; NULL: features are numbers */
    bool user_required;     /* users without an id are refused */
    bool log_decisions;     /* the operator keeps a record of decisions, outside the guarantee */
    const char *warm_start; /* the log that it begins with, as in the file; NULL: none */
} tacit_service_learner;

/* What one person pays who takes part in everything that the file has: one human visitor, who may be in every
 * learner and in every mean reward that is released (docs/why/person.md). */
typedef struct tacit_service_person {
    bool separate; /* people: separate; the author declares that nobody is in two learners */
    /* The most that a person may pay. Model none: the file sets no budget. */
    tacit_guarantee budget;
    /* Of all learners that have a guarantee, and their monitors: toward everybody but the service, or, if
     * the model is local, toward everybody. Model none: there are no such learners. */
    tacit_guarantee all;
    /* Of the local learners alone, toward the service as well. Model none: there are none. */
    tacit_guarantee devices;
    size_t joint, local; /* learners of each model */
    size_t exact;        /* learners without a guarantee: who is in one of them has none */
} tacit_service_person;

/* The users of a log, for a learner that has had no users yet. */
typedef struct tacit_service_log {
    uint64_t rows;   /* of the log */
    uint64_t people; /* different ids; as many as rows where the log has none */
    uint64_t users;  /* rows that the learner learns from: no person more often than allowed */
} tacit_service_log;

/* Whether a YAML file has the key `learners`, as service files do. Errors in it are not reported. */
TACIT_API bool tacit_service_is_file(const char *path);
/* Reads a service file and the tables that it names. It does not open the store and writes nothing. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_file_read(const char *path,
                                                              tacit_service_file **out,
                                                              tacit_error *err);
TACIT_API void tacit_service_file_destroy(tacit_service_file *file);
TACIT_API size_t tacit_service_file_size(const tacit_service_file *file);
/* Learner i, counted from 0. */
TACIT_API const tacit_service_learner *tacit_service_file_at(const tacit_service_file *file,
                                                             size_t i);
TACIT_API const tacit_service_person *tacit_service_file_person(const tacit_service_file *file);
/* The same in words, a sentence in each line; the first is "for one person: epsilon 3.1, delta 7e-06". */
TACIT_API const char *tacit_service_file_promise(const tacit_service_file *file);
/* The calibrated plan of learner i's monitor; NULL: it has none. To be destroyed. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_file_monitor(const tacit_service_file *file,
                                                                 size_t i, tacit_plan **out,
                                                                 tacit_error *err);
/* Reads the whole log of learner i and counts its users. BAD_ARGUMENT: the learner has no log, or it cannot
 * be opened; TOO_LARGE: it has more users than the learner may have. Other errors name a line of the log. */
TACIT_API TACIT_MUST_USE tacit_status tacit_service_file_log(const tacit_service_file *file,
                                                             size_t i, tacit_service_log *out,
                                                             tacit_error *err);

/* --- Tokens: who may do what -------------------------------------------------------------------- */

enum { TACIT_TOKEN_SIZE = 64 };

typedef struct tacit_token_request {
    const char *name;
    const char *scopes;     /* "decide,observe"; admin is all */
    const char *learner;    /* the only learner that it is valid for; NULL: all */
    uint64_t users_per_day; /* the most users, by observations or reports; 0: any number */
    int64_t expires;        /* seconds since 1970; 0: never */
} tacit_token_request;

/* Creates a token in the store of this service file. This is the only time it is shown: the store keeps its
 * hash. A running service knows the token after tacit_service_reload. */
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
    bool unsafe; /* a database server served it that may lose acknowledged data */
} tacit_store_health;

/* Checks that everything is readable, consistent, and opens with the key. CORRUPT: it is not; the message
 * says what is wrong. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_check(const tacit_service_options *options,
                                                        tacit_store_health *health,
                                                        tacit_error *err);
/* Makes a consistent copy. A service that is started on the copy decides, but does not learn: the original
 * may have continued, and a person in both would pay twice. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_backup(const tacit_service_options *options,
                                                         const char *path, tacit_error *err);
/* The public data as JSON: counts, ledger, curves. To be freed with free(). */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_export(const tacit_service_options *options,
                                                         char **json, tacit_error *err);

/* Recorded decisions (log_decisions: yes) as JSON, one line for each step, in the order in which users were
 * acknowledged. `each` receives one record at a time, with newlines. The output is users' data without
 * protection, so the call first makes an entry in the audit log. If `each` returns false, the call ends with
 * SYSTEM. */
typedef bool tacit_line_fn(void *context, const char *lines, size_t size);
TACIT_API TACIT_MUST_USE tacit_status tacit_store_decisions(const tacit_service_options *options,
                                                            tacit_line_fn *each, void *context,
                                                            tacit_error *err);

/* The audit log, oldest entry first: what was done to the store and its service, when (seconds since 1970),
 * and by which user of the machine. It has nothing about users of the service. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_events(const tacit_service_options *options,
                                                         void (*each)(void *context, int64_t at,
                                                                      const char *what),
                                                         void *context, tacit_error *err);

/* --- The store, while no service runs on it ------------------------------------------------------- */

/* The guarantee of a learner before and after an adoption of its store. */
typedef struct tacit_store_cost {
    const char *learner;
    uint64_t users;         /* that it had learned from */
    tacit_guarantee before; /* for a person in one line: learner and monitor together */
    tacit_guarantee after;  /* for a person in all lines */
} tacit_store_cost;

/* What an adoption would cost: in how many lines the store may have continued afterwards, and the cost for
 * each learner. Nothing is changed. BAD_ARGUMENT: the store needs no adoption. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_adoption(
    const tacit_service_options *options, uint64_t *lives,
    void (*each)(void *context, const tacit_store_cost *cost), void *context, tacit_error *err);
/* Lets a service learn again on a backup that replaced the store, or on a store that was set back. By this
 * call you confirm that the original is gone. The store records for good what both together cost. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_adopt(const tacit_service_options *options,
                                                        tacit_error *err);
/* Gives the store a new key, and checks that everything opens by it. Then the new key takes the place of the
 * old one, which stays beside it as KEY.old: backups from before open with that one only. If `new_key` is
 * given, the new key is in that file, which is created if it does not exist, and the old one stays where it
 * is. BAD_ARGUMENT: there is a KEY.old of an earlier change. If the call was interrupted, call it again. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_rekey(const tacit_service_options *options,
                                                        const char *new_key, tacit_error *err);

/* Creates the store of a service file whose store is a PostgreSQL database: the key, if there is none, and
 * the tables, in the schema `tacit`. `as`: the URI of another connection for that, as a role that may create
 * a schema; or NULL. BAD_ARGUMENT: the store exists. A store in a file does not need this call. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_init(const tacit_service_options *options,
                                                       const char *as, tacit_error *err);
/* Moves the store of another service file, `from`, into the database of this one: states, ledger, tokens,
 * people, users that wait. The source is a store in a file on which no service runs. The database must have
 * been created by tacit_store_init and be empty. From then on it uses the key of the source, and the source
 * is marked as gone. If a move was interrupted, the same call finishes it. `as` is the URI of the database
 * for the role that owns the tables and may write to all of them; NULL: that of the service file. */
TACIT_API TACIT_MUST_USE tacit_status tacit_store_move(const tacit_service_options *options,
                                                       const char *from, const char *as,
                                                       tacit_error *err);

#ifdef __cplusplus
}
#endif

#endif
