/* What a store must provide beyond statements (store/driver.h), by a table of functions.
 *
 * The vault is the same for all stores: users, people, states, proofs, keys, adoption. A store provides
 *
 *     - a way to open it, for one process that serves or for many, and its status: whether services may
 *       learn from it, or it went back, or it is a copy;
 *     - transactions that begin only while this process may write, and that come one after the other: all
 *       writers of a store take turns, so no number is assigned twice, and numbers are in the order of
 *       commits;
 *     - a lease for each learner, which at most one process has, and which ends with the process or soon
 *       after the process stops responding. Fencing does not depend on it: every write of a learner checks
 *       its epoch, which grows each time another process begins to learn;
 *     - a way to wait for the writes of other processes. */
#ifndef TACIT_STORE_BACKEND_H
#define TACIT_STORE_BACKEND_H

#include "store/vault/vault.h"

typedef struct tacit__backend {
    /* Opens it, reads its facts and, to serve, decides the status. */
    tacit_status (*open)(tacit__vault *vault, const char *path, const uint8_t *key,
                         tacit_error *err);
    /* Called before the connection is closed, and after. */
    void (*leave)(tacit__vault *vault);
    void (*close)(tacit__vault *vault);

    const char *begin_snapshot; /* the statement that begins a snapshot */
    bool keeps_snapshots;       /* keeping a snapshot costs others nothing */
    const char *bytes;          /* the query for the size of the store in bytes */

    /* Begins a transaction that writes. FENCED: this process must not write any more. */
    tacit_status (*begin)(tacit__vault *vault, tacit_error *err);
    /* Called after everything was proved, and after it is on disk. */
    tacit_status (*before_commit)(tacit__vault *vault, tacit_error *err);
    tacit_status (*after_commit)(tacit__vault *vault, tacit_error *err);
    /* The number of this transaction is `vault->generation` + 1, if it counts. */

    tacit_status (*check_pages)(tacit__vault *vault, tacit_error *err);
    tacit_status (*check_status)(tacit__vault *vault, tacit__store_status *store_status,
                                 tacit_error *err);
    /* Called in an adoption: inside the transaction, to write where the store is; and after it. */
    tacit_status (*settle)(tacit__vault *vault, tacit_error *err);
    tacit_status (*adopted)(tacit__vault *vault, tacit_error *err);
    tacit_status (*copy)(tacit__vault *vault, const char *path, tacit_error *err);

    /* The write-ahead log, if the store has one of its own. */
    void (*watch_log)(tacit__vault *vault);
    bool (*log_is_long)(tacit__vault *vault, int pages);
    void (*empty_log)(tacit__vault *vault);
    bool (*truncate_log)(tacit__vault *vault);

    /* See tacit__vault_lease, tacit__vault_check_lease and tacit__vault_await_news in vault.h. */
    tacit_status (*lease)(tacit__vault *vault, int64_t learner, bool wanted, bool *held,
                          tacit_error *err);
    tacit_status (*check_session)(tacit__vault *vault, int64_t learner, int64_t session, bool *held,
                                  tacit_error *err);
    tacit_status (*await)(tacit__vault *vault, tacit__vault *served, int ms,
                          tacit__vault_news *news, tacit_error *err);
    bool shared; /* several processes may serve */
} tacit__backend;

extern const tacit__backend tacit__backend_sqlite;
/* NULL in a build without libpq. */
extern const tacit__backend *const tacit__backend_postgres;

#endif
