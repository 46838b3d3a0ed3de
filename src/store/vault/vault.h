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

#include "base/text.h"
#include "noise/stream.h"

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
/* The same with the mark at another path than STORE.mark; NULL: there. `unsafe`: also on a server that may
 * lose what it has acknowledged; the store remembers that. */
typedef struct tacit__vault_location {
    const char *path, *mark;
    bool unsafe;
    bool gone; /* also one that was moved, by who moves it */
} tacit__vault_location;
TACIT_MUST_USE tacit_status tacit__vault_open_at(const tacit__vault_location *location,
                                                 tacit__vault_use use, const uint8_t *key,
                                                 tacit__vault **out, tacit_error *err);
/* Whether this is the name of a PostgreSQL database, and not of a file: a URI, or words of libpq. */
bool tacit__vault_is_remote(const char *path);
/* For messages: without a password. */
void tacit__vault_describe(const char *path, char *out, size_t size);
/* Makes the tables of a store in a database. */
TACIT_MUST_USE tacit_status tacit__vault_init(const tacit__vault_location *location,
                                              const uint8_t *key, tacit_error *err);
bool tacit__vault_is_shared(const tacit__vault *vault); /* several processes may serve from it */
/* It was served on a server that may lose what it has acknowledged. */
bool tacit__vault_is_unsafe(const tacit__vault *vault);
void tacit__vault_close(tacit__vault *vault);

/* Whether the service may learn from the store. In every status but FINE it decides, and accepts no
 * data of users. */
typedef enum tacit__store_status {
    TACIT__STORE_FINE,
    TACIT__STORE_COPY,    /* made by `backup`: the original may have gone on */
    TACIT__STORE_BEHIND,  /* the mark is higher, or gone: an older file, or a lost log */
    TACIT__STORE_UNSOUND, /* its counts do not add up */
    TACIT__STORE_FENCED   /* another process is the owner now; this one writes nothing more */
} tacit__store_status;
/* Of a vault that was opened to serve, or with a key by `tacit__vault_check`. From any thread. */
tacit__store_status tacit__vault_store_status(const tacit__vault *vault);
/* "copy", and a sentence for a person. */
const char *tacit__store_status_name(tacit__store_status store_status);
const char *tacit__store_status_reason(tacit__store_status store_status);
/* Called once, from the thread that writes, when the vault finds that it is FENCED. */
void tacit__vault_when_fenced(tacit__vault *vault, void (*call)(void *context), void *context);

/* A copy that was made by `backup` and then served from: its learners must not learn, since the original
 * may have gone on with the same noise. */
bool tacit__vault_is_copy(const tacit__vault *vault);

/* Keys of what the service itself hashes and seals; they stay when the store's key is changed. */
typedef enum tacit__vault_purpose {
    TACIT__VAULT_TICKETS,
    TACIT__VAULT_PEOPLE,
    TACIT__VAULT_REQUESTS,
    TACIT__VAULT_DIGESTS,
    TACIT__N_VAULT_KEYS
} tacit__vault_purpose;
const uint8_t *tacit__vault_key(const tacit__vault *vault, tacit__vault_purpose purpose);

/* FENCED if another server has taken the store over: then nothing will ever be written by this one again. */
TACIT_MUST_USE tacit_status tacit__vault_begin(tacit__vault *vault, tacit_error *err);
/* On failure everything since `begin` is undone. */
TACIT_MUST_USE tacit_status tacit__vault_commit(tacit__vault *vault, tacit_error *err);
void tacit__vault_undo(tacit__vault *vault);
/* Commits what was written with this status, or undoes it if it failed. */
TACIT_MUST_USE tacit_status tacit__vault_finish_transaction(tacit__vault *vault,
                                                            tacit_status status, tacit_error *err);
/* From now on only `empty_log` brings the log into the file; unless a reader uses it, the log is then
 * overwritten from its beginning. It is long when it has grown by `pages` since. */
void tacit__vault_watch_log(tacit__vault *vault);
bool tacit__vault_log_is_long(tacit__vault *vault, int pages);
void tacit__vault_empty_log(tacit__vault *vault);
/* Opens a snapshot for all searches until it is dropped. Returns false if each search has its own. */
bool tacit__vault_hold_snapshot(tacit__vault *vault);
void tacit__vault_drop_snapshot(tacit__vault *vault);
/* Brings the log into the file and truncates it, so that neither has deleted data. False: a reader
 * prevents it; try again later. */
bool tacit__vault_truncate_log(tacit__vault *vault);

/* --- Learners --------------------------------------------------------------------------------- */

typedef struct tacit__vault_learner {
    int64_t id;
    uint8_t fingerprint[TACIT__KEY_BYTES];
    uint64_t limit;    /* users that it was declared for */
    uint64_t accepted; /* users acknowledged */
    uint64_t users;    /* of these, in the state */
    /* of these, those that a learner of an earlier version skipped; no longer grows */
    uint64_t refused;
    uint64_t version; /* of the billboard that was put up last */
    int64_t taken;    /* the last input in the state */
    int64_t dropped;  /* inputs up to this number are gone; 0: not known. Not in the row */
    uint64_t shown;   /* users behind that billboard: those in the state, and the first inputs */
    uint64_t visits;  /* of one person, at most (0: 1), and how many users apart, at least (0: 1) */
    uint64_t apart;
    bool named; /* all of its users have an id, so that the visits of all people are its users */
    uint64_t epoch;  /* how often the process that learns has changed */
    int64_t session; /* of the lease; see tacit__vault_lease */
} tacit__vault_learner;

/* *found is false, and nothing else is set, if there is none of this name. *state (to be freed with
 * tacit__free_secret) may be NULL when it is not wanted. */
TACIT_MUST_USE tacit_status tacit__vault_find_learner(tacit__vault *vault, const char *name,
                                                      bool *found, tacit__vault_learner *learner,
                                                      uint8_t **state, size_t *state_size,
                                                      tacit_error *err);
/* How many users each learner has accepted, through any process. */
TACIT_MUST_USE tacit_status tacit__vault_count_accepted(tacit__vault *vault,
                                                        void (*each)(void *context, int64_t learner,
                                                                     uint64_t accepted),
                                                        void *context, tacit_error *err);
/* A new one; learner->id is set. */
TACIT_MUST_USE tacit_status tacit__vault_add_learner(tacit__vault *vault, const char *name,
                                                     tacit__vault_learner *learner,
                                                     const uint8_t *state, size_t state_size,
                                                     tacit_error *err);

/* --- Who learns ---------------------------------------------------------------------------------- */

/* Tries to get the lease of a learner, or keeps it: at most one process has it, and must call this again
 * within a second or so. Not `wanted`: gives it back. By a vault of its own, whose session the lease
 * belongs to. */
TACIT_MUST_USE tacit_status tacit__vault_lease(tacit__vault *vault, int64_t learner, bool wanted,
                                               bool *held, tacit_error *err);
int64_t tacit__vault_session(const tacit__vault *vault); /* that its leases belong to */
/* A new epoch: the process that learned before can write no more. FENCED: the lease is gone. */
TACIT_MUST_USE tacit_status tacit__vault_take_over(tacit__vault *vault,
                                                   tacit__vault_learner *learner, tacit_error *err);
/* FENCED if another process learns: by the lease, or by the epoch. In the transaction that writes. */
TACIT_MUST_USE tacit_status tacit__vault_check_lease(tacit__vault *vault,
                                                     const tacit__vault_learner *learner,
                                                     tacit_error *err);
/* What other processes did. */
enum { TACIT__NEWS_BYTES = 20 };
typedef struct tacit__vault_news {
    bool any;    /* they have written */
    bool missed; /* what they told until now may not have come: the store has it */
    /* the store was adopted, or its key was changed: the next transaction is FENCED */
    bool replaced;
    /* Called with each of the news that others gave to tacit__vault_announce. */
    void (*receive)(void *context, const uint8_t news[TACIT__NEWS_BYTES]);
    void *context;
} tacit__vault_news;
/* Waits until another process has written, at most so long. Finds out whether the store went back, which
 * `served`, the vault that this process writes to, is then told. */
TACIT_MUST_USE tacit_status tacit__vault_await_news(tacit__vault *vault, tacit__vault *served,
                                                    int ms, tacit__vault_news *news,
                                                    tacit_error *err);
/* Tells the other processes, if there are any, when the transaction that is under way is on disk. */
void tacit__vault_announce(tacit__vault *vault, const uint8_t news[TACIT__NEWS_BYTES]);

/* All rows of a table, some thousands at a time, each time in a snapshot of its own unless a transaction
 * is under way. `sql` goes on after the number ?1 and the name ?2, for at most ?3 rows: number, name, and
 * what `each` needs. */
typedef struct tacit__paged_scan {
    const char *sql;
    int64_t number; /* where it begins, and goes on */
    bool writes; /* `each` changes the row: then one at a time, where it would meet the row again */
    uint8_t name[64];
    size_t name_size;
} tacit__paged_scan;

/* What front ends keep in memory (vault_user_facts.c): people who have taken part as often as they may, or do
 * so in an episode, and episodes that are open, or over and not yet too old. */
typedef enum tacit__user_fact_kind {
    TACIT__FACT_PERSON,
    TACIT__FACT_OPEN,
    TACIT__FACT_OVER
} tacit__user_fact_kind;
typedef struct tacit__user_fact {
    tacit__user_fact_kind kind;
    int64_t learner;
    const uint8_t *name;    /* the person's hash, or the episode's key */
    const uint8_t *episode; /* of a person: the one that they take part in, or NULL */
    bool is_open;           /* of a person: that one is still open */
    int64_t opened;         /* of an episode; of a person if that one is open */
    const uint8_t *data;    /* of an open episode: its steps so far */
    size_t size;
} tacit__user_fact;
typedef void tacit__user_fact_fn(void *context, const tacit__user_fact *known);
typedef struct tacit__user_scan {
    tacit__paged_scan scan;
    size_t table;
    bool people_only;
} tacit__user_scan;
/* Some thousands of them, from where the scan is, which begins as {0}; *more: call it again. */
TACIT_MUST_USE tacit_status tacit__vault_scan_users(tacit__vault *vault, tacit__user_scan *scan,
                                                    tacit__user_fact_fn *each, void *context,
                                                    bool *more, tacit_error *err);

/* One line of the ledger. */
typedef struct tacit__vault_ledger_line {
    const char *release;
    uint64_t declared, passed;
} tacit__vault_ledger_line;

/* What is about to be put up: learner->shown and ->version, and the ledger. The inputs behind it stay
 * until a state has them. */
TACIT_MUST_USE tacit_status tacit__vault_save_shown(tacit__vault *vault,
                                                    const tacit__vault_learner *learner,
                                                    const tacit__vault_ledger_line *lines,
                                                    size_t n_lines, tacit_error *err);

/* A checkpoint of a large state goes to disk in parts, each in a transaction of its own, so that others'
 * come in between. The parts are sealed on any thread, with a key of their own, and put beside the state
 * that there is; a crash leaves that one as it was. Then the checkpoint flips: the parts are the state,
 * with learner->users and ->taken. */
enum { TACIT__VAULT_PART = 1 << 18 }; /* bytes: some milliseconds of writing */
typedef struct tacit__edition {
    const uint8_t *state;
    size_t state_size;
    uint8_t key[TACIT__KEY_BYTES];
    size_t parts;      /* that were sealed */
    tacit__text heads; /* of all of them */
    uint8_t *sealed;   /* the last one */
    size_t sealed_size;
} tacit__edition;
TACIT_MUST_USE tacit_status tacit__edition_open(tacit__edition *e, const uint8_t *state,
                                                size_t size, tacit_error *err);
/* Seals the next part; false: there are no more. */
bool tacit__edition_next(tacit__edition *e);
void tacit__edition_close(tacit__edition *e);
/* Puts the part there that was sealed last. */
TACIT_MUST_USE tacit_status tacit__vault_write_part(tacit__vault *vault, int64_t learner,
                                                    const tacit__edition *e, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_checkpoint(tacit__vault *vault,
                                                    const tacit__vault_learner *learner,
                                                    const tacit__edition *e, tacit_error *err);
/* Removes inputs after number `after` that are in the state, `most` at a time: *more of them may be there. */
TACIT_MUST_USE tacit_status tacit__vault_delete_inputs(tacit__vault *vault, int64_t learner,
                                                       int64_t after, uint64_t most, bool *more,
                                                       tacit_error *err);

/* All of it in one transaction, for small states: the state with all inputs up to learner->taken in it,
 * which is shown. */
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
/* The points of a learner as a JSON array, at most `most` of them, evenly taken. */
TACIT_MUST_USE tacit_status tacit__vault_write_history(tacit__vault *vault, int64_t learner,
                                                       uint64_t most, tacit__text *out,
                                                       tacit_error *err);
/* Lines passed as they are on disk. */
TACIT_MUST_USE tacit_status tacit__vault_get_steps_passed(tacit__vault *vault, int64_t learner,
                                                          const char *release, uint64_t *passed,
                                                          tacit_error *err);

/* --- Users ------------------------------------------------------------------------------------ */

enum {
    TACIT__VAULT_KEY = 16
}; /* bytes of an episode's or a report's name, and of a person's hash */

typedef enum tacit__vault_answer {
    TACIT__VAULT_TAKEN,
    TACIT__VAULT_SEEN, /* it was taken before; nothing changed */
    TACIT__VAULT_FULL, /* the learner has had all its users, or the vault is not FINE; nothing is kept */
    TACIT__VAULT_PERSON,  /* this person took part in another episode; nothing changed */
    TACIT__VAULT_CHANGED, /* another content was taken under this key; nothing changed */
    TACIT__VAULT_USED,    /* this person has had all visits; nothing is kept */
    TACIT__VAULT_SOON     /* this person's last visit is too near; nothing is kept */
} tacit__vault_answer;

/* Adds a finished user: `key` names the episode or report, `person` is a hash or NULL, which it must not be
 * where a learner's users are `named`. Deletes the open episode of that name. `content`, a hash of the data,
 * tells a repetition from other data under the same key; NULL: not checked. */
TACIT_MUST_USE tacit_status tacit__vault_add_user(tacit__vault *vault, int64_t learner,
                                                  const uint8_t key[TACIT__VAULT_KEY],
                                                  const uint8_t *person, const uint8_t *content,
                                                  const void *data, size_t size,
                                                  tacit__vault_answer *answer, tacit_error *err);

/* The same, of an episode: when it was opened, and a digest of its observations (tacit__vault_get_digest). */
typedef struct tacit__vault_observed {
    int64_t opened;
    tacit__bytes digest;
} tacit__vault_observed;
TACIT_MUST_USE tacit_status tacit__vault_add_user_with_digest(
    tacit__vault *vault, int64_t learner, const uint8_t key[TACIT__VAULT_KEY],
    const uint8_t *person, const tacit__vault_observed *observed, const void *data, size_t size,
    tacit__vault_answer *answer, tacit_error *err);
/* What `add_user` and what comes before it will ask for: a far database can then be asked for many users at
 * once. Nothing else comes of it. */
typedef struct tacit__vault_expected_user {
    int64_t learner;
    const uint8_t *key, *person, *content; /* person and content may be NULL */
    bool returns;                          /* people may come back */
    /* The user will be added in this transaction, and is probably new. Then a far database is not asked
     * whether they are: what it says when they are added is enough. If they are known after all, or are not
     * added, the transaction fails, assumed_wrongly is true, and it must be done again. */
    bool is_new;
} tacit__vault_expected_user;
void tacit__vault_expect_user(tacit__vault *vault, const tacit__vault_expected_user *user);
/* The last transaction failed because a user was taken for new. The next one asks. */
bool tacit__vault_assumed_wrongly(const tacit__vault *vault);
void tacit__vault_expect_quota(tacit__vault *vault, int64_t token, int64_t day);

/* Whether a report was accepted, by its key or, under any key, by its content: SEEN, CHANGED (other data
 * under this key), or TAKEN if it is new. */
TACIT_MUST_USE tacit_status tacit__vault_find_report(tacit__vault *vault, int64_t learner,
                                                     const uint8_t key[TACIT__VAULT_KEY],
                                                     const uint8_t content[TACIT__VAULT_KEY],
                                                     tacit__vault_answer *answer, tacit_error *err);

/* The open episode: its steps so far. `person` claims the person for this episode. */
TACIT_MUST_USE tacit_status tacit__vault_save_episode(tacit__vault *vault, int64_t learner,
                                                      const uint8_t key[TACIT__VAULT_KEY],
                                                      const uint8_t *person, int64_t opened,
                                                      const void *data, size_t size,
                                                      tacit__vault_answer *answer,
                                                      tacit_error *err);
/* Deletes the open episode of a user from whom the learner does not learn; the person has then not taken
 * part. */
TACIT_MUST_USE tacit_status tacit__vault_end_episode(tacit__vault *vault, int64_t learner,
                                                     const uint8_t key[TACIT__VAULT_KEY],
                                                     const uint8_t *person, tacit_error *err);
/* The digest of an accepted episode: gets it (*known is false if there is none of this size); tells whether
 * there are digests of episodes that were opened before `opened`; deletes at most `most` of those. */
TACIT_MUST_USE tacit_status tacit__vault_get_digest(tacit__vault *vault, int64_t learner,
                                                    const uint8_t key[TACIT__VAULT_KEY],
                                                    void *digest, size_t size, bool *known,
                                                    tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_has_digests(tacit__vault *vault, int64_t learner,
                                                     int64_t opened, bool *has, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_delete_digests(tacit__vault *vault, int64_t learner,
                                                        int64_t opened, uint64_t most, uint64_t *n,
                                                        tacit_error *err);
/* How many users the learner has accepted: in a transaction, those of it included. */
TACIT_MUST_USE tacit_status tacit__vault_get_accepted(tacit__vault *vault, int64_t learner,
                                                      uint64_t *accepted, tacit_error *err);
/* Whether the learner has had all its users. */
TACIT_MUST_USE tacit_status tacit__vault_is_full(tacit__vault *vault, int64_t learner, bool *full,
                                                 tacit_error *err);
/* *size 0: there is none. *data is to be freed with tacit__free_secret. *seen: it was finished before. */
TACIT_MUST_USE tacit_status tacit__vault_get_episode(tacit__vault *vault, int64_t learner,
                                                     const uint8_t key[TACIT__VAULT_KEY],
                                                     uint8_t **data, size_t *size, bool *seen,
                                                     tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_has_person(tacit__vault *vault, int64_t learner,
                                                    const uint8_t person[TACIT__VAULT_KEY],
                                                    const uint8_t key[TACIT__VAULT_KEY], bool *has,
                                                    tacit_error *err);
/* --- People who come back: vault_people.c ---------------------------------------------------------- */

/* What add_user would answer now to a person of a learner to whom people may come back: TAKEN, FULL, USED or
 * SOON. *before: how often they have come. */
TACIT_MUST_USE tacit_status tacit__vault_check_visit(tacit__vault *vault, int64_t learner,
                                                     const uint8_t person[TACIT__VAULT_KEY],
                                                     tacit__vault_answer *answer, uint64_t *before,
                                                     tacit_error *err);
/* Whether the person has had all visits, which stays so. */
TACIT_MUST_USE tacit_status tacit__vault_has_all_visits(tacit__vault *vault, int64_t learner,
                                                        const uint8_t person[TACIT__VAULT_KEY],
                                                        bool *used, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_count_people(tacit__vault *vault, int64_t learner,
                                                      uint64_t *n, tacit_error *err);
/* What an episode or report was told belongs to its name: SOON or USED, in the transaction that decides it;
 * TAKEN if there is no verdict. Those that were opened before `opened` are deleted, `most` at a time. */
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

/* Ends episodes that were opened before `opened`, at most `most`; *n is how many. */
TACIT_MUST_USE tacit_status tacit__vault_expire_episodes(tacit__vault *vault, int64_t opened,
                                                         uint64_t most, uint64_t *n,
                                                         tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_count_open(tacit__vault *vault, uint64_t *n,
                                                    tacit_error *err);

/* The first input of a learner after `after`, and the key that it was taken under: *size 0 if there is
 * none yet. To be freed with tacit__free_secret. */
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
