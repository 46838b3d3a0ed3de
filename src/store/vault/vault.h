/* The vault: the data of the decision service, in one SQLite file or a PostgreSQL database.
 *
 *     learner   one row each: description, counters, and a proof that they belong together
 *     state     the learners' whole states, sealed, in parts
 *     open      episodes with some of their steps, sealed, until they are finished or too old
 *     input     finished users in the order of their acknowledgment, sealed, until a learner's state has them
 *     seen      episodes and reports that were accepted, so that none counts twice
 *     answer    answers to requests with an idempotency key, sealed, until their episode is too old
 *     person    users that took part, as keyed hashes; a user who was answered `full` did not. Where people
 *               may come back, how often they were learned from, and when last (vault_people.c)
 *     verdict   episodes and reports of people who came too soon or too often, until they are too old
 *     ledger    releases: how many steps were declared, how many have passed
 *     history   points for curves; public
 *     token     access tokens and their scopes and ends; hashes only
 *     quota     the users of each token on its last day
 *     event     what was done to the store, and when; public
 *     adoption  when the store was adopted although its original may have continued
 *     decision  the decision log, sealed, if the operator asks for one
 * Counters and ledger are readable without the key; a proof binds them to the state (vault_proof.c).
 * All raw data are sealed with keys under the master key, and deleted pages are overwritten. An input
 * stays until a saved state contains it; what a billboard shows is in the ledger before it is published.
 * One process serves from a vault: locks on the file and beside it ensure that, and every transaction
 * checks that the process is still the owner. Meanwhile tools may read the vault and change tokens.
 * Outside the store, STORE.mark records how far the store has come, so a store that went back is detected
 * (vault_mark.c). A vault object belongs to one thread at a time. */
#ifndef TACIT_STORE_VAULT_VAULT_H
#define TACIT_STORE_VAULT_VAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "noise/stream.h"
#include "text/text.h"

typedef struct tacit__vault tacit__vault;

typedef enum tacit__vault_use {
    TACIT__VAULT_SERVE, /* created if it does not exist; no other process may serve from it */
    TACIT__VAULT_READ,  /* a second connection of the process that serves, or a tool: reads only */
    TACIT__VAULT_TOOL   /* must exist; may change tokens */
} tacit__vault_use;

/* `key` may be NULL for READ and TOOL: then sealed data cannot be read. A key that is not the vault's is
 * WRONG_PLAN; a second server is SYSTEM; a store of another format is WRONG_VERSION. */
TACIT_MUST_USE tacit_status tacit__vault_open(const char *path, tacit__vault_use use,
                                              const uint8_t *key, tacit__vault **out,
                                              tacit_error *err);
/* Opens a vault at a location. `mark` is the path of its mark; NULL means STORE.mark. With `unsafe` the
 * server may be one that can lose what it has acknowledged, which the store then remembers. */
typedef struct tacit__vault_location {
    const char *path, *mark;
    bool unsafe;
    bool gone; /* also opens a store that was moved; for the process that moves it */
} tacit__vault_location;
TACIT_MUST_USE tacit_status tacit__vault_open_at(const tacit__vault_location *location,
                                                 tacit__vault_use use, const uint8_t *key,
                                                 tacit__vault **out, tacit_error *err);
/* Whether this names a PostgreSQL database rather than a file: a URI, or connection parameters of libpq. */
bool tacit__vault_is_remote(const char *path);
/* Writes the path without a password, for messages. */
void tacit__vault_describe(const char *path, char *out, size_t size);
/* Creates the tables of a store in a database. */
TACIT_MUST_USE tacit_status tacit__vault_init(const tacit__vault_location *location,
                                              const uint8_t *key, tacit_error *err);
bool tacit__vault_is_shared(const tacit__vault *vault); /* several processes may serve from it */
/* Whether the store was served on a server that may lose what it has acknowledged. */
bool tacit__vault_is_unsafe(const tacit__vault *vault);
void tacit__vault_close(tacit__vault *vault);

/* Whether the service may learn from the store. In every status but FINE it decides, and accepts no
 * data of users. */
typedef enum tacit__store_status {
    TACIT__STORE_FINE,
    TACIT__STORE_COPY, /* it was made by `backup`: the original may have continued */
    /* the mark is higher than the store, or gone: this is an older file, or its log was lost */
    TACIT__STORE_BEHIND,
    TACIT__STORE_UNSOUND, /* its counts do not add up */
    TACIT__STORE_FENCED   /* another process is the owner now; this one writes nothing more */
} tacit__store_status;
/* The status of a vault that was opened to serve, or that was checked with a key by `tacit__vault_check`. May
 * be called from any thread. */
tacit__store_status tacit__vault_store_status(const tacit__vault *vault);
/* The name of a status, such as "copy", and a sentence that explains it. */
const char *tacit__store_status_name(tacit__store_status store_status);
const char *tacit__store_status_reason(tacit__store_status store_status);
/* Sets a function that is called once, from the thread that writes, when the vault finds that it is
 * FENCED. */
void tacit__vault_when_fenced(tacit__vault *vault, void (*call)(void *context), void *context);

/* Whether the store is a copy made by `backup`. Its learners must not learn, since the original may have
 * continued with the same noise. */
bool tacit__vault_is_copy(const tacit__vault *vault);

/* Keys with which the service hashes and seals. They stay the same when the key of the store is changed. */
typedef enum tacit__vault_purpose {
    TACIT__VAULT_TICKETS,
    TACIT__VAULT_PEOPLE,
    TACIT__VAULT_REQUESTS,
    TACIT__VAULT_DIGESTS,
    TACIT__N_VAULT_KEYS
} tacit__vault_purpose;
const uint8_t *tacit__vault_key(const tacit__vault *vault, tacit__vault_purpose purpose);

/* Begins a transaction. FENCED: another server has taken the store over, and this process can never write to
 * it again. */
TACIT_MUST_USE tacit_status tacit__vault_begin(tacit__vault *vault, tacit_error *err);
/* Commits. On failure, everything since `begin` is undone. */
TACIT_MUST_USE tacit_status tacit__vault_commit(tacit__vault *vault, tacit_error *err);
void tacit__vault_undo(tacit__vault *vault);
/* Commits the transaction if `status` is OK, and undoes it otherwise. */
TACIT_MUST_USE tacit_status tacit__vault_finish_transaction(tacit__vault *vault,
                                                            tacit_status status, tacit_error *err);
/* From now on only `empty_log` copies the log into the file. Unless a reader uses the log, it is then
 * overwritten from its beginning. The log is long when it has grown by `pages` since then. */
void tacit__vault_watch_log(tacit__vault *vault);
bool tacit__vault_log_is_long(tacit__vault *vault, int pages);
void tacit__vault_empty_log(tacit__vault *vault);
/* Opens a snapshot for all searches until it is dropped. Returns false if each search has its own. */
bool tacit__vault_hold_snapshot(tacit__vault *vault);
void tacit__vault_drop_snapshot(tacit__vault *vault);
/* Copies the log into the file and truncates it, so that neither contains deleted data. Returns false if a
 * reader prevents that; the caller tries again later. */
bool tacit__vault_truncate_log(tacit__vault *vault);

/* --- Learners --------------------------------------------------------------------------------- */

typedef struct tacit__vault_learner {
    int64_t id;
    uint8_t fingerprint[TACIT__KEY_BYTES];
    uint64_t limit;    /* the number of users that it was declared for */
    uint64_t accepted; /* users acknowledged */
    uint64_t users;    /* accepted users that are in the state */
    /* users in the state that a learner of an earlier version skipped; it no longer grows */
    uint64_t refused;
    uint64_t version; /* version of the billboard that was published last */
    int64_t taken;    /* number of the last input in the state */
    int64_t dropped;  /* inputs up to this number are deleted; 0: not known. It is not in the row */
    uint64_t shown;   /* users behind that billboard: those in the state, and the first inputs */
    uint64_t
        /* the most visits of one person (0: 1), and the fewest users between two of them (0: 1) */
        visits;
    uint64_t apart;
    bool named;      /* every user has an id, so the visits of all people are its users */
    uint64_t epoch;  /* how often the process that learns has changed */
    int64_t session; /* of the lease; see tacit__vault_lease */
} tacit__vault_learner;

/* *found is false, and nothing else is set, if no learner has this name. *state, which the caller frees with
 * tacit__free_secret, may be NULL if it is not wanted. */
TACIT_MUST_USE tacit_status tacit__vault_find_learner(tacit__vault *vault, const char *name,
                                                      bool *found, tacit__vault_learner *learner,
                                                      uint8_t **state, size_t *state_size,
                                                      tacit_error *err);
/* Reports how many users each learner has accepted, through any process. */
TACIT_MUST_USE tacit_status tacit__vault_count_accepted(tacit__vault *vault,
                                                        void (*each)(void *context, int64_t learner,
                                                                     uint64_t accepted),
                                                        void *context, tacit_error *err);
/* Adds a learner and sets learner->id. */
TACIT_MUST_USE tacit_status tacit__vault_add_learner(tacit__vault *vault, const char *name,
                                                     tacit__vault_learner *learner,
                                                     const uint8_t *state, size_t state_size,
                                                     tacit_error *err);

/* --- Who learns ---------------------------------------------------------------------------------- */

/* Acquires or renews the lease of a learner, or releases it if it is not `wanted`. At most one process has
 * the lease, and must renew it about once a second. The lease belongs to the session of this vault, which is
 * used for nothing else. */
TACIT_MUST_USE tacit_status tacit__vault_lease(tacit__vault *vault, int64_t learner, bool wanted,
                                               bool *held, tacit_error *err);
int64_t tacit__vault_session(const tacit__vault *vault); /* the session that its leases belong to */
/* Begins a new epoch, after which the process that learned before cannot write any more. FENCED: the lease is
 * gone. */
TACIT_MUST_USE tacit_status tacit__vault_take_over(tacit__vault *vault,
                                                   tacit__vault_learner *learner, tacit_error *err);
/* Checks, in the transaction that writes, that this process still learns. FENCED: by the lease or by the
 * epoch, another process does. */
TACIT_MUST_USE tacit_status tacit__vault_check_lease(tacit__vault *vault,
                                                     const tacit__vault_learner *learner,
                                                     tacit_error *err);
/* Changes by other processes. */
enum { TACIT__NEWS_BYTES = 20 };
typedef struct tacit__vault_news {
    bool any;    /* other processes have written */
    bool missed; /* announcements may have been lost; the store has what they said */
    /* the store was adopted or its key was changed, so the next transaction will be FENCED */
    bool replaced;
    /* Called with each announcement of another process (tacit__vault_announce). */
    void (*receive)(void *context, const uint8_t news[TACIT__NEWS_BYTES]);
    void *context;
} tacit__vault_news;
/* Waits until another process has written, at most so many milliseconds. If the store went back to an earlier
 * state, it sets the status of `served`, the vault that this process writes to. */
TACIT_MUST_USE tacit_status tacit__vault_await_news(tacit__vault *vault, tacit__vault *served,
                                                    int ms, tacit__vault_news *news,
                                                    tacit_error *err);
/* Announces something to the other processes, if there are any, when the current transaction is on disk. */
void tacit__vault_announce(tacit__vault *vault, const uint8_t news[TACIT__NEWS_BYTES]);

/* A scan over all rows of a table, some thousands at a time, each page in a snapshot of its own unless a
 * transaction is open. `sql` selects at most ?3 rows after the number ?1 and the name ?2: number, name, and
 * what the callback needs. */
typedef struct tacit__paged_scan {
    const char *sql;
    int64_t number; /* where the scan begins and continues */
    bool
        /* the callback changes rows; then a page has one row, so that no row is met twice */
        writes;
    uint8_t name[64];
    size_t name_size;
} tacit__paged_scan;

/* What front ends keep in memory (vault_user_facts.c): people who have taken part as often as they may, or
 * who take part in an episode; and episodes that are open, or finished and not yet expired. */
typedef enum tacit__user_fact_kind {
    TACIT__FACT_PERSON,
    TACIT__FACT_OPEN,
    TACIT__FACT_OVER
} tacit__user_fact_kind;
typedef struct tacit__user_fact {
    tacit__user_fact_kind kind;
    int64_t learner;
    const uint8_t *name;    /* the hash of the person, or the key of the episode */
    const uint8_t *episode; /* for a person, the episode that they take part in, or NULL */
    bool is_open;           /* for a person, that episode is still open */
    int64_t opened; /* when the episode was opened; for a person, when their open episode was */
    const uint8_t *data; /* for an open episode, its steps so far */
    size_t size;
} tacit__user_fact;
typedef void tacit__user_fact_fn(void *context, const tacit__user_fact *known);
typedef struct tacit__user_scan {
    tacit__paged_scan scan;
    size_t table;
    bool people_only;
} tacit__user_scan;
/* Reports some thousands of facts from the position of the scan, which begins as {0}. *more: there are
 * others, so call it again. */
TACIT_MUST_USE tacit_status tacit__vault_scan_users(tacit__vault *vault, tacit__user_scan *scan,
                                                    tacit__user_fact_fn *each, void *context,
                                                    bool *more, tacit_error *err);

/* One line of the ledger. */
typedef struct tacit__vault_ledger_line {
    const char *release;
    uint64_t declared, passed;
} tacit__vault_ledger_line;

/* Saves what is about to be published: learner->shown and ->version, and the ledger. The inputs behind it
 * stay until a saved state contains them. */
TACIT_MUST_USE tacit_status tacit__vault_save_shown(tacit__vault *vault,
                                                    const tacit__vault_learner *learner,
                                                    const tacit__vault_ledger_line *lines,
                                                    size_t n_lines, tacit_error *err);

/* A checkpoint of a large state is written in parts, each in a transaction of its own, so that other
 * transactions come in between. Any thread may seal the parts, with a key of their own. They are written
 * beside the current state, which a crash leaves as it was. Then the checkpoint makes the parts the state,
 * together with learner->users and ->taken. */
enum { TACIT__VAULT_PART = 1 << 18 }; /* bytes, which take some milliseconds to write */
typedef struct tacit__edition {
    const uint8_t *state;
    size_t state_size;
    uint8_t key[TACIT__KEY_BYTES];
    size_t parts;      /* number of parts that were sealed */
    tacit__text heads; /* the heads of all parts */
    uint8_t *sealed;   /* the last part */
    size_t sealed_size;
} tacit__edition;
TACIT_MUST_USE tacit_status tacit__edition_open(tacit__edition *e, const uint8_t *state,
                                                size_t size, tacit_error *err);
/* Seals the next part. Returns false if there are no more. */
bool tacit__edition_next(tacit__edition *e);
void tacit__edition_close(tacit__edition *e);
/* Writes the part that was sealed last. */
TACIT_MUST_USE tacit_status tacit__vault_write_part(tacit__vault *vault, int64_t learner,
                                                    const tacit__edition *e, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_checkpoint(tacit__vault *vault,
                                                    const tacit__vault_learner *learner,
                                                    const tacit__edition *e, tacit_error *err);
/* Deletes at most `most` inputs after number `after` that are in the state. *more: others may be left. */
TACIT_MUST_USE tacit_status tacit__vault_delete_inputs(tacit__vault *vault, int64_t learner,
                                                       int64_t after, uint64_t most, bool *more,
                                                       tacit_error *err);

/* Does all of this in one transaction, for small states: saves the state, which contains all inputs up to
 * learner->taken and is published. */
TACIT_MUST_USE tacit_status tacit__vault_save_learner(tacit__vault *vault,
                                                      const tacit__vault_learner *learner,
                                                      const uint8_t *state, size_t state_size,
                                                      const tacit__vault_ledger_line *lines,
                                                      size_t n_lines, tacit_error *err);

/* A point of the public curves; `reward` and its standard `error` may be NaN. */
typedef struct tacit__vault_point {
    uint64_t users, version;
    double reward, error;
} tacit__vault_point;

TACIT_MUST_USE tacit_status tacit__vault_add_point(tacit__vault *vault, int64_t learner,
                                                   const tacit__vault_point *point,
                                                   tacit_error *err);
/* Writes the points of a learner as a JSON array, at most `most` of them, evenly spaced. */
TACIT_MUST_USE tacit_status tacit__vault_write_history(tacit__vault *vault, int64_t learner,
                                                       uint64_t most, tacit__text *out,
                                                       tacit_error *err);
/* Gets how many steps of a release have passed, according to the store. */
TACIT_MUST_USE tacit_status tacit__vault_get_steps_passed(tacit__vault *vault, int64_t learner,
                                                          const char *release, uint64_t *passed,
                                                          tacit_error *err);

/* --- Users ------------------------------------------------------------------------------------ */

enum {
    TACIT__VAULT_KEY = 16
}; /* bytes of the name of an episode or report, and of the hash of a person */

typedef enum tacit__vault_answer {
    TACIT__VAULT_TAKEN,
    TACIT__VAULT_SEEN, /* the same user was accepted before; nothing changed */
    /* the learner has had all its users, or the store is not FINE; nothing is stored */
    TACIT__VAULT_FULL,
    TACIT__VAULT_PERSON,  /* this person took part in another episode; nothing changed */
    TACIT__VAULT_CHANGED, /* other data were accepted under this key; nothing changed */
    TACIT__VAULT_USED,    /* this person has had all visits; nothing is stored */
    TACIT__VAULT_SOON     /* the last visit of this person is too recent; nothing is stored */
} tacit__vault_answer;

/* Adds a finished user and deletes the open episode of that name. `key` names the episode or report. `person`
 * is a hash, or NULL, which is not allowed if the users of the learner are `named`. `content`, a hash of the
 * data, tells a repetition from other data under the same key; NULL: it is not checked. */
TACIT_MUST_USE tacit_status tacit__vault_add_user(tacit__vault *vault, int64_t learner,
                                                  const uint8_t key[TACIT__VAULT_KEY],
                                                  const uint8_t *person, const uint8_t *content,
                                                  const void *data, size_t size,
                                                  tacit__vault_answer *answer, tacit_error *err);

/* Adds the user of an episode: when it was opened, and a digest of its observations
 * (tacit__vault_get_digest). */
typedef struct tacit__vault_observed {
    int64_t opened;
    tacit__bytes digest;
} tacit__vault_observed;
TACIT_MUST_USE tacit_status tacit__vault_add_user_with_digest(
    tacit__vault *vault, int64_t learner, const uint8_t key[TACIT__VAULT_KEY],
    const uint8_t *person, const tacit__vault_observed *observed, const void *data, size_t size,
    tacit__vault_answer *answer, tacit_error *err);
/* Announces the reads that precede `add_user`, so that a remote database can answer those of many users at
 * once. It has no other effect. */
typedef struct tacit__vault_expected_user {
    int64_t learner;
    const uint8_t *key, *person, *content; /* person and content may be NULL */
    bool returns;                          /* people may come back */
    /* The user will be added in this transaction and is probably new, so a remote database is not asked about
     * that: it reports a conflict when the user is added. If the user is known after all, or is not added,
     * the transaction fails, assumed_wrongly is true, and the transaction must be repeated. */
    bool is_new;
} tacit__vault_expected_user;
void tacit__vault_expect_user(tacit__vault *vault, const tacit__vault_expected_user *user);
/* Whether the last transaction failed because a user was assumed to be new. The next one asks. */
bool tacit__vault_assumed_wrongly(const tacit__vault *vault);
void tacit__vault_expect_quota(tacit__vault *vault, int64_t token, int64_t day);

/* Finds out whether a report was accepted, by its key or, under any key, by its content: SEEN, CHANGED (other
 * data under this key), or TAKEN if it is new. */
TACIT_MUST_USE tacit_status tacit__vault_find_report(tacit__vault *vault, int64_t learner,
                                                     const uint8_t key[TACIT__VAULT_KEY],
                                                     const uint8_t content[TACIT__VAULT_KEY],
                                                     tacit__vault_answer *answer, tacit_error *err);

/* Saves the steps of an open episode so far. `person` claims the person for this episode. */
TACIT_MUST_USE tacit_status tacit__vault_save_episode(tacit__vault *vault, int64_t learner,
                                                      const uint8_t key[TACIT__VAULT_KEY],
                                                      const uint8_t *person, int64_t opened,
                                                      const void *data, size_t size,
                                                      tacit__vault_answer *answer,
                                                      tacit_error *err);
/* Deletes the open episode of a user from whom the learner does not learn. The person has then not taken
 * part. */
TACIT_MUST_USE tacit_status tacit__vault_end_episode(tacit__vault *vault, int64_t learner,
                                                     const uint8_t key[TACIT__VAULT_KEY],
                                                     const uint8_t *person, tacit_error *err);
/* `get_digest` gets the digest of an accepted episode; *known is false if there is none of this size.
 * `has_digests` finds out whether there are digests of episodes that were opened before `opened`, and
 * `delete_digests` deletes at most `most` of them. */
TACIT_MUST_USE tacit_status tacit__vault_get_digest(tacit__vault *vault, int64_t learner,
                                                    const uint8_t key[TACIT__VAULT_KEY],
                                                    void *digest, size_t size, bool *known,
                                                    tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_has_digests(tacit__vault *vault, int64_t learner,
                                                     int64_t opened, bool *has, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_delete_digests(tacit__vault *vault, int64_t learner,
                                                        int64_t opened, uint64_t most, uint64_t *n,
                                                        tacit_error *err);
/* Gets the number of users that the learner has accepted, including those of the current transaction. */
TACIT_MUST_USE tacit_status tacit__vault_get_accepted(tacit__vault *vault, int64_t learner,
                                                      uint64_t *accepted, tacit_error *err);
/* Finds out whether the learner has had all its users. */
TACIT_MUST_USE tacit_status tacit__vault_is_full(tacit__vault *vault, int64_t learner, bool *full,
                                                 tacit_error *err);
/* Gets an open episode. *size is 0 if there is none. The caller frees *data with tacit__free_secret. *seen:
 * the episode was finished before. */
TACIT_MUST_USE tacit_status tacit__vault_get_episode(tacit__vault *vault, int64_t learner,
                                                     const uint8_t key[TACIT__VAULT_KEY],
                                                     uint8_t **data, size_t *size, bool *seen,
                                                     tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_has_person(tacit__vault *vault, int64_t learner,
                                                    const uint8_t person[TACIT__VAULT_KEY],
                                                    const uint8_t key[TACIT__VAULT_KEY], bool *has,
                                                    tacit_error *err);
/* --- People who come back: vault_people.c ---------------------------------------------------------- */

/* Gets what add_user would answer now to a person who may come back: TAKEN, FULL, USED or SOON. *before is
 * how often the person has come. */
TACIT_MUST_USE tacit_status tacit__vault_check_visit(tacit__vault *vault, int64_t learner,
                                                     const uint8_t person[TACIT__VAULT_KEY],
                                                     tacit__vault_answer *answer, uint64_t *before,
                                                     tacit_error *err);
/* Finds out whether the person has had all visits, which is final. */
TACIT_MUST_USE tacit_status tacit__vault_has_all_visits(tacit__vault *vault, int64_t learner,
                                                        const uint8_t person[TACIT__VAULT_KEY],
                                                        bool *used, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_count_people(tacit__vault *vault, int64_t learner,
                                                      uint64_t *n, tacit_error *err);
/* The verdict on an episode or report: SOON or USED, saved in the transaction that decides it, or TAKEN if
 * there is none. `delete_verdicts` deletes at most `most` verdicts on those that were opened before
 * `opened`. */
TACIT_MUST_USE tacit_status tacit__vault_save_verdict(tacit__vault *vault, int64_t learner,
                                                      const uint8_t key[TACIT__VAULT_KEY],
                                                      int64_t opened, tacit__vault_answer verdict,
                                                      tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_find_verdict(tacit__vault *vault, int64_t learner,
                                                      const uint8_t key[TACIT__VAULT_KEY],
                                                      tacit__vault_answer *verdict,
                                                      tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_has_verdicts(tacit__vault *vault, int64_t opened,
                                                      bool *has, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_delete_verdicts(tacit__vault *vault, int64_t opened,
                                                         uint64_t most, uint64_t *n,
                                                         tacit_error *err);

/* --- Episodes and inputs -------------------------------------------------------------------------- */

/* Deletes at most `most` open episodes that were opened before `opened`; *n is how many. */
TACIT_MUST_USE tacit_status tacit__vault_expire_episodes(tacit__vault *vault, int64_t opened,
                                                         uint64_t most, uint64_t *n,
                                                         tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_count_open(tacit__vault *vault, uint64_t *n,
                                                    tacit_error *err);

/* Gets the first input of a learner after `after`, and the key under which it was accepted. *size is 0 if
 * there is none yet. The caller frees *data with tacit__free_secret. */
TACIT_MUST_USE tacit_status tacit__vault_next_input(tacit__vault *vault, int64_t learner,
                                                    int64_t after, int64_t *number,
                                                    uint8_t key[TACIT__VAULT_KEY], uint8_t **data,
                                                    size_t *size, tacit_error *err);

/* --- Answers to requests that may come again --------------------------------------------------- */

typedef enum tacit__vault_answer_match {
    TACIT__VAULT_NEW,  /* the key is new */
    TACIT__VAULT_SAME, /* the same request came before: *data is its answer */
    TACIT__VAULT_OTHER /* another request came with this key */
} tacit__vault_answer_match;

/* Finds the answer to the request `name` in an episode that was opened at `opened` or later; `content` is
 * a hash of the present request. */
TACIT_MUST_USE tacit_status tacit__vault_find_answer(tacit__vault *vault,
                                                     const uint8_t name[TACIT__VAULT_KEY],
                                                     const uint8_t content[TACIT__VAULT_KEY],
                                                     int64_t opened,
                                                     tacit__vault_answer_match *memory, void *data,
                                                     size_t size, tacit_error *err);
/* Saves an answer; if there are more than `most`, deletes the oldest. */
TACIT_MUST_USE tacit_status tacit__vault_save_answer(tacit__vault *vault,
                                                     const uint8_t name[TACIT__VAULT_KEY],
                                                     const uint8_t content[TACIT__VAULT_KEY],
                                                     int64_t opened, const void *data, size_t size,
                                                     uint64_t most, tacit_error *err);
/* Deletes at most `most` answers of episodes that were opened before `opened`; *n is how many. */
TACIT_MUST_USE tacit_status tacit__vault_delete_answers(tacit__vault *vault, int64_t opened,
                                                        uint64_t most, uint64_t *n,
                                                        tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_has_answers(tacit__vault *vault, bool *has,
                                                     tacit_error *err);

#endif
