/* Declarations that the files of the vault share. */
#ifndef TACIT_STORE_VAULT_VAULT_INSIDE_H
#define TACIT_STORE_VAULT_VAULT_INSIDE_H

#include <stdatomic.h>
#include <time.h>

#include "store/backend.h"
#include "store/driver.h"
#include "store/vault/vault_maintenance.h"

enum {
    TACIT__VAULT_FORMAT = 1,
    TACIT__OWNER_BYTES = 16,
    TACIT__VAULT_TOUCHED = 64,
    TACIT__VAULT_BUSY_MS = 5000
};

/* The part of a learner's row that decides whether a user is accepted, as of the current transaction. */
typedef struct tacit__vault_terms {
    int64_t learner;
    uint64_t visits, apart, accepted, limit;
    bool named;
    bool changed; /* `accepted` is ahead of the row */
} tacit__vault_terms;

struct tacit__vault {
    const tacit__backend *backend;
    tacit__connection *db;
    char path[TACIT__DB_PATH]; /* path of the file, or another name of the store */
    tacit__vault_use use;
    int lock;  /* descriptor of the lock file, or -1 */
    int file;  /* descriptor of the store with its lock, closed after SQLite's; or -1 */
    bool made; /* the lock file says that the store was made before */
    bool keyed, copy, behind, answers_counted;
    bool unsafe;                /* a server without fsync or full_page_writes is allowed */
    bool on_unsafe, was_unsafe; /* the server is such a one; the store has been on such a one */
    bool may_be_gone, gone;     /* a store that was moved is allowed; the store was moved */
    bool owned;                 /* this process has written its owner into the store */
    bool unmarked;              /* the mark is still to be written */
    uint64_t answers;           /* rows of the table of answers, if answers_counted */
    int log_pages,
        log_tried; /* length of the log, and its length when it was last copied into the file */
    uint8_t key_state[TACIT__KEY_BYTES], key_input[TACIT__KEY_BYTES]; /* keys of sealed data */
    uint8_t key_proof[TACIT__KEY_BYTES], key_mark[TACIT__KEY_BYTES];
    uint8_t key_outside[TACIT__N_VAULT_KEYS][TACIT__KEY_BYTES]; /* tacit__vault_key */

    atomic_int store_status;       /* tacit__store_status; asked by other threads too */
    void (*fenced)(void *context); /* or NULL */
    void *fenced_context;
    uint8_t owner[TACIT__OWNER_BYTES], identity[TACIT__OWNER_BYTES];
    uint64_t origin;            /* tacit__vault_get_names, */
    atomic_uint_fast64_t start; /* which other threads ask for */
    uint64_t generation, forks; /* as they are on disk */
    uint8_t last_proof[32];     /* proof of the whole store in the last transaction */
    uint8_t secrets_tag[16];    /* tag of the sealed keys */
    /* location of the database in which the facts were written */
    char location[64];
    struct tacit__pg_lineage *lineage;     /* store/postgres/postgres_fencing.c */
    uint64_t marked_forks;                 /* forks by the mark, of this fork or of another; or 0 */
    uint8_t marked_stamp[32];              /* stamp of the mark, if it has one */
    bool mark_foreign;                     /* there is a mark, under a key of another store */
    int64_t touched[TACIT__VAULT_TOUCHED]; /* learners whose proofs are written at commit */
    size_t n_touched;
    tacit__vault_terms terms[TACIT__VAULT_TOUCHED + 1];
    size_t n_terms;
    /* inputs of a learner after `ahead_after`, which were read at once; or NULL */
    tacit__cursor *ahead;
    int64_t ahead_learner, ahead_after;
    tacit__text announcements; /* of the current transaction, to the other processes */

    char mark_path[TACIT__DB_PATH + 8];
    /* the service file names the mark; otherwise its name follows from the store's */
    bool mark_named;
    int mark;      /* descriptor, or -1 */
    bool mark_due; /* the mark is behind the store, because it could not be written */
    struct timespec mark_synced;
};

/* Numbers of the statements that are compiled once. */
enum {
    SQL_FIND_LEARNER,
    SQL_ADD_LEARNER,
    SQL_SAVE_COUNTERS,
    SQL_SAVE_SHOWN,
    SQL_SAVE_LINE,
    SQL_STATE,
    SQL_PART,
    SQL_NEW_PART,
    SQL_DELETE_PARTS,
    SQL_EDITION,
    SQL_STATE_SIZE,
    SQL_READ_PARTS,
    SQL_PROVE,
    SQL_PROVE_LINES,
    SQL_PROOF,
    SQL_SET_PROOF,
    SQL_OWNER,
    SQL_SET_META,
    SQL_PROVE_META,
    SQL_PROVE_ADOPTIONS,
    SQL_PROVE_PROOFS,
    SQL_DELETE_INPUTS,
    SQL_ADD_POINT,
    SQL_ADD_SEEN,
    SQL_IS_SEEN,
    SQL_ACCEPT,
    SQL_CLAIM,
    SQL_CLAIMED,
    SQL_UNCLAIM,
    SQL_IS_FULL,
    SQL_ADD_INPUT,
    SQL_SAVE_EPISODE,
    SQL_GET_EPISODE,
    SQL_DELETE_EPISODE,
    SQL_END_CLAIM,
    SQL_HAS_DIGESTS,
    SQL_DELETE_DIGESTS,
    SQL_NEXT,
    SQL_FIND_ANSWER,
    SQL_SAVE_ANSWER,
    SQL_MAKE_ROOM,
    SQL_DELETE_ANSWERS,
    SQL_CLOCK,
    SQL_FIND_REPORT,
    SQL_QUOTA,
    SQL_USE_QUOTA,
    SQL_EVENT,
    SQL_DELETE_EVENTS,
    SQL_ADD_DECISION,
    SQL_READ_DECISIONS,
    SQL_LEARNERS,
    SQL_TERMS,
    SQL_VISITS,
    SQL_COUNT_VISIT,
    SQL_SAVE_VERDICT,
    SQL_FIND_VERDICT,
    SQL_HAS_VERDICTS,
    SQL_DELETE_VERDICTS,
    SQL_RETAG,
    SQL_RESEAL_INPUT,
    SQL_RESEAL_OPEN,
    SQL_RESEAL_ANSWER,
    SQL_RESEAL_DECISION,
    SQL_GET_CLOCK,
    SQL_FIND_ID,
    SQL_FACTS,
    SQL_COUNT_ACCEPTED,
    SQL_EPOCH,
    SQL_SET_EPOCH,
    SQL_PG_LOCK,
    SQL_PG_CLUSTER,
    SQL_PG_PLACE,
    SQL_PG_TRAIL,
    SQL_PG_LEAVE_TRAIL,
    SQL_PG_CUT_TRAIL,
    SQL_PG_NOTIFY,
    SQL_PG_LEASE,
    SQL_PG_TRY_LOCK,
    SQL_PG_SESSION,
    SQL_PG_BEAT,
    N_SQL
};
_Static_assert((int)N_SQL <= (int)TACIT__DB_STATEMENTS, "each statement has its place");

/* Makes seen.content of an episode. The caller frees it. */
TACIT_MUST_USE tacit_status tacit__vault_make_content(const tacit__vault_observed *observed,
                                                      uint8_t **out, size_t *size,
                                                      tacit_error *err);

/* Queries for each user, which can be announced in advance. */
#define TACIT__SQL_TERMS                                                                           \
    "SELECT visits, apart, accepted, users_limit, named FROM learner WHERE id=?"
#define TACIT__SQL_CLAIMED "SELECT key FROM person WHERE learner=? AND hash=?"
#define TACIT__SQL_VISITS "SELECT visits, last_place, tag FROM person WHERE learner=? AND hash=?"
#define TACIT__SQL_IS_SEEN "SELECT content FROM seen WHERE learner=? AND key=?"
#define TACIT__SQL_FIND_REPORT "SELECT 1 FROM seen WHERE learner=? AND content=?"
#define TACIT__SQL_GET_EPISODE "SELECT data FROM open WHERE learner=? AND key=?"
#define TACIT__SQL_FIND_VERDICT "SELECT soon FROM verdict WHERE learner=? AND key=?"
#define TACIT__SQL_FACTS "SELECT name, value FROM meta ORDER BY name"
#define TACIT__SQL_QUOTA "SELECT used FROM quota WHERE token=? AND day>=?"

/* Opens data that were sealed with this key. The caller frees them with tacit__free_secret. */
TACIT_MUST_USE tacit_status tacit__vault_open_sealed(const tacit__vault *vault, const uint8_t *key,
                                                     const void *sealed, size_t size, uint8_t **out,
                                                     size_t *out_size, tacit_error *err);

enum { TACIT__PROOF_BYTES = 32 };

/* --- Proofs (vault_proof.c) ------------------------------------------------------------------ */

/* Marks that the row of a learner, or its lines in the ledger, have changed. They are proved again when the
 * transaction is committed, or at once if there is none. The row has a keyed hash of them, so that a change
 * without the key is detected. */
TACIT_MUST_USE tacit_status tacit__vault_prove(tacit__vault *vault, int64_t learner,
                                               tacit_error *err);
/* Writes the proofs of what the transaction has changed, and the proof of the whole store: facts in `meta`,
 * adoptions, the proofs of all learners. This is the last step of a transaction. */
TACIT_MUST_USE tacit_status tacit__vault_prove_all(tacit__vault *vault, tacit_error *err);
/* CORRUPT: something was changed since. */
TACIT_MUST_USE tacit_status tacit__vault_check_proof(tacit__vault *vault, int64_t learner,
                                                     tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_check_facts(tacit__vault *vault, tacit_error *err);

/* --- Facts in `meta` (vault_facts.c) ---------------------------------------------------------- */

/* Sets a fact, or removes it if `what` is NULL. */
TACIT_MUST_USE tacit_status tacit__vault_set_fact(tacit__vault *vault, const char *name,
                                                  const void *what, size_t size, tacit_error *err);
/* Reads what set_count has written; 0 if it is not a count. */
uint64_t tacit__vault_read_count(const uint8_t *bytes, size_t size);
TACIT_MUST_USE tacit_status tacit__vault_set_count(tacit__vault *vault, const char *name,
                                                   uint64_t count, tacit_error *err);
/* Reads all facts: identity, generation, forks, copy, unmarked; with a key also the data keys. WRONG_PLAN:
 * this is not the key of the store. */
TACIT_MUST_USE tacit_status tacit__vault_read_facts(tacit__vault *vault, const uint8_t *key,
                                                    tacit_error *err);
/* Writes the facts of a new store: identity, counters, `unmarked`, and the data keys, sealed under the master
 * key. */
TACIT_MUST_USE tacit_status tacit__vault_begin_facts(tacit__vault *vault, const uint8_t *key,
                                                     tacit_error *err);
/* Draws new data keys. */
void tacit__vault_draw_keys(tacit__vault *vault);
/* Exchanges the keys that seal and prove for others. */
enum { TACIT__VAULT_OWN_KEYS = 4 };
void tacit__vault_swap_keys(tacit__vault *vault,
                            uint8_t others[TACIT__VAULT_OWN_KEYS][TACIT__KEY_BYTES]);
/* Seals the data keys under this master key, and saves what tells whether a key is the right one. */
TACIT_MUST_USE tacit_status tacit__vault_seal_keys(tacit__vault *vault, const uint8_t *key,
                                                   tacit_error *err);

/* --- Format (vault_schema.c) ------------------------------------------------------------------ */

/* The statements that create all tables, in SQLite's SQL. */
const char *tacit__vault_schema(void);
/* Creates the tables of a file, and writes the number of their format. */
TACIT_MUST_USE tacit_status tacit__vault_create_tables(tacit__vault *vault, tacit_error *err);
/* CORRUPT: the file is not a store. WRONG_VERSION: it is a store of another format. */
TACIT_MUST_USE tacit_status tacit__vault_check_format(tacit__vault *vault, tacit_error *err);
/* Fails with a sentence about a format that this version does not read. */
TACIT_MUST_USE tacit_status tacit__vault_expect_format(const tacit__vault *vault, int64_t format,
                                                       tacit_error *err);
/* Disables triggers and views on this connection; tacit creates none. */
void tacit__vault_forbid_triggers(tacit__vault *vault);
/* Checks that everything in the schema is there, word for word, and nothing else. */
TACIT_MUST_USE tacit_status tacit__vault_check_tables(tacit__vault *vault, tacit_error *err);

/* --- The mark (vault_mark.c) ------------------------------------------------------------------ */

/* How far a database has come, as far as this process knows (postgres_fencing.c). */
void tacit__vault_get_lineage(const tacit__vault *vault, uint64_t *generation, uint8_t stamp[32]);
/* Reads the mark. *found is false if there is none, or none of this store. */
TACIT_MUST_USE tacit_status tacit__mark_read(tacit__vault *vault, bool *found, uint64_t *generation,
                                             tacit_error *err);
/* Opens the mark, or creates it, and writes it to disk. */
TACIT_MUST_USE tacit_status tacit__mark_make(tacit__vault *vault, tacit_error *err);
/* Raises the mark to the generation of the store; on disk once a second, or at once with `now`. */
TACIT_MUST_USE tacit_status tacit__mark_raise(tacit__vault *vault, bool now, tacit_error *err);

/* --- Status (vault_status.c) ---------------------------------------------------------------- */

/* The status by the mark alone, which must have been read before the vault's facts. */
tacit__store_status tacit__vault_compare_mark(const tacit__vault *vault, bool found, uint64_t mark);
/* Fences the vault, which must not write any more: fails with a sentence, and calls `fenced`. */
tacit_status tacit__vault_fence(tacit__vault *vault, const char *what, tacit_error *err);
/* Decides whether the service may learn from this store, by the store and its mark. */
TACIT_MUST_USE tacit_status tacit__vault_update_status(tacit__vault *vault, tacit_error *err);
/* Sets `start` to a digest of these bytes, which differ between all processes, or servers, that continue the
 * store at the same time. */
void tacit__vault_set_start(tacit__vault *vault, const void *bytes, size_t size);
/* Makes this process the owner. SYSTEM: another process wrote since the facts were read. */
TACIT_MUST_USE tacit_status tacit__vault_claim_ownership(tacit__vault *vault, tacit_error *err);
/* Fails with a sentence about a second server. */
TACIT_MUST_USE tacit_status tacit__vault_refuse_second(const tacit__vault *vault, tacit_error *err);
/* Checks, inside a transaction, that this process is still the owner. FENCED: it is not. */
TACIT_MUST_USE tacit_status tacit__vault_check_owner(tacit__vault *vault, tacit_error *err);
/* Checks that the path still names the file that was opened. FENCED: it does not. */
TACIT_MUST_USE tacit_status tacit__vault_check_file(tacit__vault *vault, tacit_error *err);
/* Whether the log belongs to this vault. If not, the vault is fenced, and closing it leaves the log as it
 * is. */
bool tacit__vault_has_log(tacit__vault *vault);
/* Runs the database's own check of its pages. */
TACIT_MUST_USE tacit_status tacit__vault_check_pages(tacit__vault *vault, tacit_error *err);
/* Checks the sums that are quick to check. *why is NULL if they hold, and otherwise the sentence that does
 * not. */
TACIT_MUST_USE tacit_status tacit__vault_check_sums(tacit__vault *vault, const char **why,
                                                    tacit_error *err);

/* --- Users (vault_users.c) ------------------------------------------------------------------------ */

/* Gets the terms of a learner. They are valid until the transaction ends or, outside of one, until other
 * terms are asked for. */
TACIT_MUST_USE tacit_status tacit__vault_get_terms(tacit__vault *vault, int64_t learner,
                                                   tacit__vault_terms **out, tacit_error *err);
/* Counts one more user; `write_terms` writes the count in the same transaction. */
TACIT_MUST_USE tacit_status tacit__vault_accept(tacit__vault *vault, tacit__vault_terms *terms,
                                                tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_write_terms(tacit__vault *vault, tacit_error *err);
/* *same, if it is not NULL: what was seen is not known to differ from `content`. */
TACIT_MUST_USE tacit_status tacit__vault_is_seen(tacit__vault *vault, int64_t learner,
                                                 const uint8_t *key, bool *seen,
                                                 const uint8_t *content, bool *same,
                                                 tacit_error *err);
/* Writes an input, sealed together with its number; and opens one. CORRUPT: it belongs to another number. */
TACIT_MUST_USE tacit_status tacit__vault_put_input(tacit__vault *vault, int64_t learner,
                                                   int64_t number,
                                                   const uint8_t key[TACIT__VAULT_KEY],
                                                   const void *data, size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_open_input(const tacit__vault *vault, int64_t learner,
                                                    int64_t number, const void *sealed,
                                                    size_t sealed_size,
                                                    uint8_t key[TACIT__VAULT_KEY], uint8_t **data,
                                                    size_t *size, tacit_error *err);

/* Clears the announcements of this transaction (vault_user_facts.c). */
void tacit__vault_clear_announcements(tacit__vault *vault);

/* --- People who come back (vault_people.c) ---------------------------------------------------- */

enum { TACIT__PERSON_TAG = 16 };
typedef struct tacit__person_visits {
    uint64_t visits,
        last_place; /* ordinals of users, from 1, in the order in which they were accepted */
} tacit__person_visits;

/* Checks visits, last_place and tag of a row, which begin at `column`; column 0 is its learner, and *person
 * becomes its hash. CORRUPT: they are not as they were written. Without a key this cannot be checked. */
TACIT_MUST_USE tacit_status tacit__vault_check_row(const tacit__vault *vault, tacit__cursor *row,
                                                   int hash, int column, const uint8_t **person,
                                                   tacit_error *err);
/* Checks that all rows that count visits are as they were written, one for each person. *why is NULL if so,
 * and otherwise says what is wrong. It takes a keyed hash for each person, in one snapshot, and is meant for
 * the start. */
TACIT_MUST_USE tacit_status tacit__vault_check_people(tacit__vault *vault, const char **why,
                                                      tacit_error *err);
/* Finds out whether one person may be several users of this learner. BAD_ARGUMENT: its users are `named`, and
 * this one (NULL) is not. */
TACIT_MUST_USE tacit_status tacit__vault_may_return(tacit__vault *vault, int64_t learner,
                                                    const uint8_t *person, bool *may,
                                                    tacit_error *err);
/* Counts a visit of this person, who is the user accepted last. */
TACIT_MUST_USE tacit_status tacit__vault_count_visit(tacit__vault *vault, int64_t learner,
                                                     const uint8_t *person, tacit_error *err);
/* Writes the tags of all rows again under another key. */
TACIT_MUST_USE tacit_status tacit__vault_retag(tacit__vault *vault,
                                               const uint8_t before[TACIT__KEY_BYTES],
                                               const uint8_t after[TACIT__KEY_BYTES],
                                               tacit_error *err);

/* --- The rest ----------------------------------------------------------------------------------- */

/* Writes the state of a learner in place of the previous one, and the proof. Everything else must have been
 * written. */
TACIT_MUST_USE tacit_status tacit__vault_write_state(tacit__vault *vault, int64_t learner,
                                                     const uint8_t *state, size_t size,
                                                     tacit_error *err);
/* Makes the parts of the other edition, all of which were written, the state. The caller writes the counters
 * and the proof. */
TACIT_MUST_USE tacit_status tacit__vault_flip_state(tacit__vault *vault, int64_t learner,
                                                    const tacit__edition *e, tacit_error *err);
/* Reads the state, and checks that neither it nor what belongs to it was changed. The caller frees it with
 * tacit__free_secret. */
TACIT_MUST_USE tacit_status tacit__vault_open_state(tacit__vault *vault, int64_t learner,
                                                    uint8_t **out, size_t *out_size,
                                                    tacit_error *err);

/* Prepares a statement that is used once. */
TACIT_MUST_USE tacit_status tacit__vault_prepare(tacit__vault *vault, const char *sql,
                                                 tacit__cursor **out, tacit_error *err);
/* Begins one snapshot for several searches. If a transaction is open, that is the snapshot, and *alone is
 * false. */
TACIT_MUST_USE tacit_status tacit__vault_begin_snapshot(tacit__vault *vault, bool *alone,
                                                        tacit_error *err);
void tacit__vault_end_snapshot(tacit__vault *vault, bool alone);

/* See tacit__paged_scan. */
typedef tacit_status tacit__row_fn(tacit__vault *vault, tacit__cursor *row, void *context,
                                   tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_scan(tacit__vault *vault, tacit__paged_scan *scan,
                                              tacit__row_fn *each, void *context, tacit_error *err);

/* Scans at most `piece` rows; *n is how many there were. */
TACIT_MUST_USE tacit_status tacit__vault_scan_page(tacit__vault *vault, tacit__paged_scan *scan,
                                                   tacit__row_fn *each, void *context, int piece,
                                                   int *n, tacit_error *err);

/* Gets a single number by a query without parameters. */
TACIT_MUST_USE tacit_status tacit__vault_query_number(tacit__vault *vault, const char *sql,
                                                      int64_t *out, tacit_error *err);

/* Calls `each` with every learner's id. */
typedef tacit_status tacit__vault_each(tacit__vault *vault, int64_t id, void *context,
                                       tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_each_learner(tacit__vault *vault, tacit__vault_each *each,
                                                      void *context, tacit_error *err);

/* --- SQLite's log (sqlite_wal.c) ---------------------------------------------------------------- */

void tacit__log_watch(tacit__vault *vault);
bool tacit__log_is_long(tacit__vault *vault, int pages);
void tacit__log_empty(tacit__vault *vault);
/* Copies the log into the file and truncates it. Returns false if a reader prevents that. */
bool tacit__log_truncate(tacit__vault *vault);
/* Implements tacit__vault_backup for a file. */
TACIT_MUST_USE tacit_status tacit__vault_copy_file(tacit__vault *vault, const char *path,
                                                   tacit_error *err);

/* Syncs the directory of a file to disk. */
TACIT_MUST_USE tacit_status tacit__vault_sync_directory(const char *path, tacit_error *err);

#endif
