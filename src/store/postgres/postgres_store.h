/* Declarations that the files of the store on PostgreSQL share. */
#ifndef TACIT_STORE_POSTGRES_POSTGRES_STORE_H
#define TACIT_STORE_POSTGRES_POSTGRES_STORE_H

#include <pthread.h>

#include "store/postgres/postgres.h"
#include "store/vault/vault_inside.h"

enum { TACIT__PG_LEASES = 128, TACIT__PG_LOCK_CLASS = 0x74616374 };

/* The lease of a learner, as one vault sees it. */
typedef struct tacit__pg_lease {
    int64_t learner;
    bool held;
    int64_t beat;      /* the last beat of another process */
    double beat_since; /* ms */
    double free_since; /* ms; 0: the lease is not free */
    /* ms: when this process handed it over and no other has taken it yet; or 0 */
    double left_at;
} tacit__pg_lease;

/* How far the database has come, as far as this process knows: the number of the last transaction and its
 * proof. Also the leases of this vault. */
struct tacit__pg_lineage {
    pthread_mutex_t lock;
    uint64_t generation; /* 0: nothing is known */
    uint8_t stamp[TACIT__PROOF_BYTES];
    uint64_t session; /* the connection's session in which this vault began to listen */
    uint64_t sender;  /* a random name of this vault in its announcements */
    tacit__pg_lease leases[TACIT__PG_LEASES];
    size_t n_leases, n_held;
    int64_t n_processes; /* processes that serve; 0: not known */
    double hand_over_at; /* ms: no lease is handed over before this time */
};

/* --- Lineage (postgres_fencing.c) --------------------------------------------------------------------- */

TACIT_MUST_USE tacit_status tacit__pg_lineage_create(tacit__vault *vault, tacit_error *err);
void tacit__pg_lineage_destroy(tacit__vault *vault);
/* Reads the facts, and decides by them and by `known` whether this is still the same database. */
TACIT_MUST_USE tacit_status tacit__pg_lineage_check(tacit__vault *vault,
                                                    struct tacit__pg_lineage *known,
                                                    tacit__store_status *store_status,
                                                    tacit_error *err);
/* Remembers this transaction as the last one. */
void tacit__pg_lineage_set(struct tacit__pg_lineage *lineage, uint64_t generation,
                           const uint8_t *stamp);
/* Reads where the tables are: cluster, database, table. A copy by pg_dump is elsewhere. Also finds out
 * whether this server may lose what it has acknowledged, and whether its errors are terse; both can change
 * while it runs, and with every other server. */
TACIT_MUST_USE tacit_status tacit__pg_read_location(tacit__vault *vault, char location[64],
                                                    tacit_error *err);

/* Returns `failure` if the server may lose what it acknowledged and that was not allowed. */
TACIT_MUST_USE tacit_status tacit__pg_check_safety(const tacit__vault *vault, tacit_status failure,
                                                   tacit_error *err);

TACIT_MUST_USE tacit_status tacit__pg_begin(tacit__vault *vault, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_before_commit(tacit__vault *vault, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_after_commit(tacit__vault *vault, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_await(tacit__vault *vault, tacit__vault *served, int ms,
                                            tacit__vault_news *news, tacit_error *err);

/* --- News (postgres_news.c) ------------------------------------------------------------------------- */

/* Notifies the others of this transaction, with its announcements. */
TACIT_MUST_USE tacit_status tacit__pg_notify(tacit__vault *vault, tacit_error *err);
/* Begins to listen if this session does not listen yet; then sets news->missed. */
TACIT_MUST_USE tacit_status tacit__pg_listen(tacit__vault *vault, tacit__vault_news *news,
                                             tacit_error *err);
/* Waits for notifications, at most so many milliseconds, and passes on the announcements of other vaults than
 * `served`. */
TACIT_MUST_USE tacit_status tacit__pg_receive_news(tacit__vault *vault, const tacit__vault *served,
                                                   int ms, tacit__vault_news *news,
                                                   tacit_error *err);

/* --- Leases (postgres_lease.c) ---------------------------------------------------------------------- */

/* Counts the process of this session as one that serves. */
TACIT_MUST_USE tacit_status tacit__pg_join(tacit__vault *vault, tacit_error *err);

TACIT_MUST_USE tacit_status tacit__pg_lease_step(tacit__vault *vault, int64_t learner, bool wanted,
                                                 bool *held, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_lease_check(tacit__vault *vault, int64_t learner,
                                                  int64_t session, bool *held, tacit_error *err);

#endif
