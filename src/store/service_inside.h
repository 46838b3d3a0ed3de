/* What the files of the vault share. */
#ifndef TACIT_STORE_SERVICE_INSIDE_H
#define TACIT_STORE_SERVICE_INSIDE_H

#include "store/db.h"
#include "store/service.h"

struct tacit__vault {
    tacit__db db;
    int lock;  /* descriptor of the lock file, or -1 */
    bool made; /* with the lock: the store was made before */
    bool keyed, copy, answers_counted;
    uint64_t answers; /* rows of that table, if they were counted */
    int log_pages,
        log_tried; /* length of the log, and at which it was last brought into the file */
    uint8_t key_state[TACIT__KEY_BYTES], key_input[TACIT__KEY_BYTES]; /* of what is sealed */
    uint8_t key_proof[TACIT__KEY_BYTES];
};

/* Numbers of the statements that are compiled once. */
enum {
    SQL_FIND_LEARNER,
    SQL_ADD_LEARNER,
    SQL_KEEP,
    SQL_SHOW,
    SQL_KEEP_LINE,
    SQL_STATE,
    SQL_PART,
    SQL_NEW_PART,
    SQL_DROP_PARTS,
    SQL_EDITION,
    SQL_STATE_SIZE,
    SQL_READ_PARTS,
    SQL_PROVE,
    SQL_PROVE_LINES,
    SQL_PROOF,
    SQL_SET_PROOF,
    SQL_DROP_INPUTS,
    SQL_NOTE,
    SQL_SEE,
    SQL_IS_SEEN,
    SQL_ACCEPT,
    SQL_CLAIM,
    SQL_CLAIMED,
    SQL_UNCLAIM,
    SQL_IS_FULL,
    SQL_TAKE,
    SQL_HOLD,
    SQL_HELD,
    SQL_LET_GO,
    SQL_END_CLAIM,
    SQL_KEEP_TOLD,
    SQL_HAS_TOLD,
    SQL_FORGET_TOLD,
    SQL_NEXT,
    SQL_RECALL,
    SQL_REMEMBER,
    SQL_FORGET,
    SQL_FORGET_OLD,
    SQL_CLOCK,
    SQL_IS_TAKEN,
    SQL_QUOTA,
    SQL_USE_QUOTA,
    SQL_EVENT,
    SQL_FORGET_EVENT,
    SQL_RECORD,
    SQL_RECORDS,
    SQL_LEARNERS,
};

/* The column as bytes; NULL when it is empty. */
const void *tacit__vault_blob(sqlite3_stmt *statement, int column, size_t *size);

/* Opens what was sealed with this key; to be freed with tacit__free_secret. */
TACIT_MUST_USE tacit_status tacit__vault_open_sealed(const tacit__vault *vault, const uint8_t *key,
                                                     const void *sealed, size_t size, uint8_t **out,
                                                     size_t *out_size, tacit_error *err);

enum { TACIT__PROOF_BYTES = 32 };

/* Proves a learner's row and its lines in the ledger as they are now: a keyed hash of them stands in the row, so that nobody
 * without the key can change one without the others. The last thing of a transaction that changes them. */
TACIT_MUST_USE tacit_status tacit__vault_prove(tacit__vault *vault, int64_t learner,
                                               tacit_error *err);
/* CORRUPT if something was changed since. */
TACIT_MUST_USE tacit_status tacit__vault_check_proof(tacit__vault *vault, int64_t learner,
                                                     tacit_error *err);

/* The learner's state instead of the one before, and the proof. All the rest must have been written. */
TACIT_MUST_USE tacit_status tacit__vault_write_state(tacit__vault *vault, int64_t learner,
                                                     const uint8_t *state, size_t size,
                                                     tacit_error *err);
/* The parts of the other edition, all of which were put there, are the state from now on. The counters and the proof are the caller's. */
TACIT_MUST_USE tacit_status tacit__vault_flip_state(tacit__vault *vault, int64_t learner,
                                                    const tacit__edition *e, tacit_error *err);
/* The state, if neither it was changed nor what belongs to it; to be freed with tacit__free_secret. */
TACIT_MUST_USE tacit_status tacit__vault_open_state(tacit__vault *vault, int64_t learner,
                                                    uint8_t **out, size_t *out_size,
                                                    tacit_error *err);

/* A single number from a query without parameters. */
TACIT_MUST_USE tacit_status tacit__vault_number(tacit__vault *vault, const char *sql, int64_t *out,
                                                tacit_error *err);

#endif
