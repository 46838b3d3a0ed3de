/* What the files of the store on PostgreSQL share. */
#ifndef TACIT_STORE_POSTGRES_POSTGRES_STORE_H
#define TACIT_STORE_POSTGRES_POSTGRES_STORE_H

#include <pthread.h>

#include "store/postgres/postgres.h"
#include "store/vault/vault_inside.h"

enum { TACIT__PG_LEASES = 128, TACIT__PG_LOCK_CLASS = 0x74616374 };

/* A learner's lease as one vault sees it. */
typedef struct tacit__pg_lease {
    int64_t learner;
    bool held;
    int64_t beat;      /* of another process, when it was last looked at */
    double beat_since; /* ms */
    double free_since; /* ms; 0: it is not free */
    double left_at;    /* ms; when this process handed it over, and nobody has taken it yet; or 0 */
} tacit__pg_lease;

/* How far the database has come, as far as this process knows: the number of a transaction and its proof. */
struct tacit__pg_lineage {
    pthread_mutex_t lock;
    uint64_t generation; /* 0: nothing is known */
    uint8_t stamp[TACIT__PROOF_BYTES];
    uint64_t session; /* of the connection: how many there were when it began to listen */
    uint64_t sender;  /* a random name of this vault in what it tells */
    tacit__pg_lease leases[TACIT__PG_LEASES];
    size_t n_leases, n_held;
    int64_t n_processes; /* that serve; 0: not known */
    double hand_over_at; /* ms: not before */
};

/* --- Lineage (postgres_fencing.c) --------------------------------------------------------------------- */

TACIT_MUST_USE tacit_status tacit__pg_lineage_create(tacit__vault *vault, tacit_error *err);
void tacit__pg_lineage_destroy(tacit__vault *vault);
/* Reads the facts, and decides by them and by what `known` knows whether this is the database that it was. */
TACIT_MUST_USE tacit_status tacit__pg_lineage_check(tacit__vault *vault,
                                                    struct tacit__pg_lineage *known,
                                                    tacit__store_status *store_status,
                                                    tacit_error *err);
/* What is there now is known from now on. */
void tacit__pg_lineage_set(struct tacit__pg_lineage *lineage, uint64_t generation,
                           const uint8_t *stamp);
/* Where the tables are: cluster, database, table. A copy by pg_dump is elsewhere. And whether this server may
 * lose what it has acknowledged, and whether its errors are terse, which can change while it runs, and with
 * every other server. */
TACIT_MUST_USE tacit_status tacit__pg_read_location(tacit__vault *vault, char location[64],
                                                    tacit_error *err);

/* `failure`: it may, and nobody asked for that. */
TACIT_MUST_USE tacit_status tacit__pg_check_safety(const tacit__vault *vault, tacit_status failure,
                                                   tacit_error *err);

TACIT_MUST_USE tacit_status tacit__pg_begin(tacit__vault *vault, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_before_commit(tacit__vault *vault, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_after_commit(tacit__vault *vault, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_await(tacit__vault *vault, tacit__vault *served, int ms,
                                            tacit__vault_news *news, tacit_error *err);

/* --- News (postgres_news.c) ------------------------------------------------------------------------- */

/* Tells the others of this transaction, and what was given to tacit__vault_announce in it. */
TACIT_MUST_USE tacit_status tacit__pg_notify(tacit__vault *vault, tacit_error *err);
/* Listens, if this session does not yet; then news->missed. */
TACIT_MUST_USE tacit_status tacit__pg_listen(tacit__vault *vault, tacit__vault_news *news,
                                             tacit_error *err);
/* Waits for news, at most so long, and passes on what others than `served` have told. */
TACIT_MUST_USE tacit_status tacit__pg_receive_news(tacit__vault *vault, const tacit__vault *served,
                                                   int ms, tacit__vault_news *news,
                                                   tacit_error *err);

/* --- Leases (postgres_lease.c) ---------------------------------------------------------------------- */

/* From now on this session's process counts as one that serves. */
TACIT_MUST_USE tacit_status tacit__pg_join(tacit__vault *vault, tacit_error *err);

TACIT_MUST_USE tacit_status tacit__pg_lease_step(tacit__vault *vault, int64_t learner, bool wanted,
                                                 bool *held, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_lease_check(tacit__vault *vault, int64_t learner,
                                                  int64_t session, bool *held, tacit_error *err);

#endif
