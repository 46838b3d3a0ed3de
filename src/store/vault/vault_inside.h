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
    bool there;   /* the row was read */
    bool changed; /* `accepted` is ahead of the row */
} tacit__vault_terms;

/* The tables of which a transaction has rows about its users (vault_rows.c), in the order in which they are
 * read and written. */
typedef enum tacit__vault_table {
    TACIT__TABLE_REPORT, /* accepted reports by their content; it is not written */
    TACIT__TABLE_OPEN,
    TACIT__TABLE_VERDICT,
    TACIT__TABLE_SEEN,
    TACIT__TABLE_CLAIM, /* people of learners with one visit; the data are the name of the episode */
    TACIT__TABLE_VISITS, /* people who may come back */
    TACIT__TABLE_QUOTA,
    TACIT__TABLE_INPUT,    /* it is not read */
    TACIT__TABLE_DECISION, /* it is not read */
    TACIT__TABLE_END
} tacit__vault_table;

typedef struct tacit__vault_group tacit__vault_group;

enum { TACIT__ROW_NUMBERS = 2 }; /* of a row, at most */

/* A row that is or may be in the store. */
typedef struct tacit__vault_row tacit__vault_row;
struct tacit__vault_row {
    tacit__vault_table table;
    int64_t learner;
    uint8_t name[16];
    bool claims;  /* it is inserted when it is loaded */
    bool loaded;  /* `stored` is known */
    bool stored;  /* it is in the store */
    bool wanted;  /* it will be in the store after the transaction */
    bool differs; /* what is in the store is not what is here */
    int64_t numbers[TACIT__ROW_NUMBERS];
    int n_numbers;
    uint8_t *data;
    size_t size;
    tacit__vault_row *next, *next_in_bucket;
};

/* Facts that a store has or does not have, as rows of `meta`. */
typedef enum tacit__store_fact {
    TACIT__FACT_IS_COPY = 1,  /* `copy`: it was made by `backup` */
    TACIT__FACT_BEHIND = 2,   /* a process found that transactions are missing */
    TACIT__FACT_GONE = 4,     /* it was moved into a database */
    TACIT__FACT_UNMARKED = 8, /* the mark is still to be written */
    TACIT__FACT_UNSAFE = 16   /* it has been on a server without fsync or full_page_writes */
} tacit__store_fact;

struct tacit__vault {
    const tacit__backend *backend;
    tacit__connection *db;
    char path[TACIT__DB_PATH]; /* path of the file, or another name of the store */
    tacit__vault_use use;
    int lock;  /* descriptor of the lock file, or -1 */
    int file;  /* descriptor of the store with its lock, closed after SQLite's; or -1 */
    bool made; /* the lock file says that the store was made before */
    bool keyed, answers_counted;
    unsigned facts;   /* tacit__store_fact, of those that hold */
    unsigned allowed; /* those that do not keep the store from being opened */
    bool on_unsafe;   /* the server has fsync or full_page_writes off */
    bool owned;       /* this process has written its owner into the store */
    uint64_t answers; /* rows of the table of answers, if answers_counted */
    int log_pages,
        log_tried; /* length of the log, and its length when it was last copied into the file */
    uint8_t key_state[TACIT__KEY_BYTES], key_input[TACIT__KEY_BYTES]; /* keys of sealed data */
    uint8_t key_proof[TACIT__KEY_BYTES], key_mark[TACIT__KEY_BYTES];
    uint8_t key_outside[TACIT__N_VAULT_KEYS][TACIT__KEY_BYTES]; /* tacit__vault_key */

    const uint8_t *key;            /* the master key while the facts are read with it, or NULL */
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
    tacit__vault_group *group; /* the rows about the users of this transaction, or NULL */
    bool writing;              /* this is a transaction that writes, and it is not over */
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
    SQL_ACCEPT,
    SQL_HAS_DIGESTS,
    SQL_DELETE_DIGESTS,
    SQL_NEXT,
    SQL_FIND_ANSWER,
    SQL_SAVE_ANSWER,
    SQL_MAKE_ROOM,
    SQL_DELETE_ANSWERS,
    SQL_CLOCK,
    SQL_EVENT,
    SQL_DELETE_EVENTS,
    SQL_READ_DECISIONS,
    SQL_LEARNERS,
    SQL_TERMS,
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
    SQL_ROWS, /* four for each table of a group */
    N_SQL = SQL_ROWS + 4 * TACIT__TABLE_END
};
_Static_assert((int)N_SQL <= (int)TACIT__DB_STATEMENTS, "each statement has its place");

#define TACIT__SQL_TERMS                                                                           \
    "SELECT visits, apart, accepted, users_limit, named FROM learner WHERE id=?"
#define TACIT__SQL_FACTS "SELECT name, value FROM meta ORDER BY name"

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
/* Reads all facts: identity, generation, forks, those of tacit__store_fact; with a key also the data keys.
 * WRONG_PLAN: this is not the key of the store. */
TACIT_MUST_USE tacit_status tacit__vault_read_facts(tacit__vault *vault, const uint8_t *key,
                                                    tacit_error *err);
/* Asks for all facts, without a key; they are there after `tacit__connection_await`. */
TACIT_MUST_USE tacit_status tacit__vault_ask_facts(tacit__vault *vault, tacit_error *err);
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

/* Notes what was found out about the store. Returns the status before. */
tacit__store_status tacit__vault_note(tacit__vault *vault, tacit__store_finding finding);
/* What the mark alone says, which must have been read before the vault's facts. */
tacit__store_finding tacit__vault_compare_mark(const tacit__vault *vault, bool found,
                                               uint64_t mark);
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
/* Asks for the terms of a learner, inside a transaction. */
TACIT_MUST_USE tacit_status tacit__vault_ask_terms(tacit__vault *vault, int64_t learner,
                                                   tacit_error *err);
/* Counts one more user; `write_terms` writes the count in the same transaction. */
TACIT_MUST_USE tacit_status tacit__vault_accept(tacit__vault *vault, tacit__vault_terms *terms,
                                                tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_write_terms(tacit__vault *vault, tacit_error *err);

/* --- Rows about users (vault_rows.c) -------------------------------------------------------------- */

/* Notes that a row will be needed; `load` gets all rows that were noted. */
TACIT_MUST_USE tacit_status tacit__row_expect(tacit__vault *vault, tacit__vault_table table,
                                              int64_t learner, const uint8_t name[TACIT__VAULT_KEY],
                                              tacit_error *err);
/* Notes that a row is probably missing: `load` inserts it, unless it is there. It is removed at the end if it
 * is not set. */
TACIT_MUST_USE tacit_status tacit__row_claim(tacit__vault *vault, tacit__vault_table table,
                                             int64_t learner, const uint8_t name[TACIT__VAULT_KEY],
                                             const void *data, size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__rows_load(tacit__vault *vault, tacit_error *err);
/* Gets a row, which is loaded now if it was not noted. It is valid until the rows are written or cleared. */
TACIT_MUST_USE tacit_status tacit__row_get(tacit__vault *vault, tacit__vault_table table,
                                           int64_t learner, const uint8_t name[TACIT__VAULT_KEY],
                                           tacit__vault_row **out, tacit_error *err);
/* Sets what the store will have: the data, which are copied; or nothing. */
TACIT_MUST_USE tacit_status tacit__row_set(tacit__vault_row *row, const void *data, size_t size,
                                           tacit_error *err);
void tacit__row_unset(tacit__vault_row *row);
/* Adds a new row with a number and data. */
TACIT_MUST_USE tacit_status tacit__row_append(tacit__vault *vault, tacit__vault_table table,
                                              int64_t learner, int64_t number, const void *data,
                                              size_t size, tacit_error *err);
/* Writes what differs from the store, and forgets all rows. Statements that write to these tables in another
 * way must come after it. */
TACIT_MUST_USE tacit_status tacit__rows_write(tacit__vault *vault, tacit_error *err);
void tacit__rows_clear(tacit__vault *vault);
/* Ends a call that used rows: outside of a transaction that writes, they are written now if the call
 * succeeded, and cleared. */
TACIT_MUST_USE tacit_status tacit__rows_settle(tacit__vault *vault, tacit_status status,
                                               tacit_error *err);

/* Opens an input, which was sealed together with its number. CORRUPT: it belongs to another number. */
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
/* Gets the row of a person who may come back, and the visits in it. CORRUPT: they are not as they were
 * written. */
TACIT_MUST_USE tacit_status tacit__vault_get_visits(tacit__vault *vault, int64_t learner,
                                                    const uint8_t *person, tacit__vault_row **row,
                                                    tacit__person_visits *visits, tacit_error *err);
/* Counts a visit of this person, who is the user accepted last. */
TACIT_MUST_USE tacit_status tacit__vault_count_visit(tacit__vault *vault,
                                                     const tacit__vault_terms *terms,
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
