/* Leases of learners: advisory locks of a session, and beats. See store/vault/vault.h.
 *
 * The lock falls with the session, so when a process dies the next one has it as soon as it asks. A
 * process that is stopped, or cut off without a word, keeps its session for a while: its beats end, and
 * after STALE_MS a process that wants the lease ends it. Nothing rests on clocks: a process that lost
 * its lease without knowing finds another epoch in the learner's row, and its session without the lock, in
 * the transaction in which it writes.
 *
 * Learners spread over the processes by a rule. Every process that serves has the lock 0, shared, so each can
 * count them. The share of one is the number of learners over that of processes, rounded up. Who has its
 * share leaves a free lease to others for a while. Who has more than its share hands one over, when the
 * number of processes has not changed for a while, and keeps it if nobody takes it. So leases move until
 * nobody has more than a share, and then stay where they are. */
#include "base/error.h"
#include "base/wait.h"
#include "store/postgres/postgres_store.h"

enum {
    STALE_MS =
        2500, /* with beats every half second, and looks as often: taken over within 4 seconds */
    SPREAD_MS = 150,     /* for each lease that a process has, before it takes one more */
    LEAVE_MS = 1500,     /* who has its share */
    SETTLED_MS = 3000,   /* without a process that comes or goes, before one is handed over */
    HAND_OVER_MS = 1500, /* between two */
    UNWANTED_MS = 5000,  /* after which who handed it over takes it again, */
    IN_VAIN_MS = 10 * 60 * 1000 /* and tries no other for so long */
};

int64_t tacit__vault_session(const tacit__vault *vault)
{
    const tacit__pg_connection *c = tacit__pg_of(vault->db);
    return c != NULL && c->link != NULL ? PQbackendPID(c->link) : 0;
}

static tacit__pg_lease *find(struct tacit__pg_lineage *lineage, int64_t learner)
{
    for (size_t i = 0; i < lineage->n_leases; i++)
        if (lineage->leases[i].learner == learner)
            return &lineage->leases[i];
    TACIT__REQUIRE(lineage->n_leases < TACIT__PG_LEASES);
    lineage->leases[lineage->n_leases] = (tacit__pg_lease){.learner = learner};
    return &lineage->leases[lineage->n_leases++];
}

/* Runs a query about the lock of a learner, whose answer is one number. */
static tacit_status ask(tacit__vault *vault, const char *sql, int64_t learner, int64_t *out,
                        tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__vault_prepare(vault, sql, &s, err));
    tacit__cursor_bind_int(s, 1, TACIT__PG_LOCK_CLASS);
    tacit__cursor_bind_int(s, 2, learner);
    tacit_status status = tacit__cursor_next(s, &found, err);
    *out = found ? tacit__cursor_int(s, 0) : 0;
    tacit__cursor_close(s);
    return status;
}

#define HOLDERS_SQL                                                                                \
    "SELECT count(*) FROM pg_locks WHERE locktype='advisory' AND classid=?1::oid AND"              \
    " objid=?2::oid AND objsubid=2 AND granted AND database="                                      \
    "(SELECT oid FROM pg_database WHERE datname=current_database())"

tacit_status tacit__pg_join(tacit__vault *vault, tacit_error *err)
{
    int64_t unused;
    return ask(vault, "SELECT 1 FROM (SELECT pg_advisory_lock_shared(?1::int4, ?2::int4)) AS t", 0,
               &unused, err);
}

static tacit_status count_processes(tacit__vault *vault, tacit_error *err)
{
    struct tacit__pg_lineage *lineage = vault->lineage;
    int64_t n = 0;
    TRY(ask(vault, HOLDERS_SQL, 0, &n, err));
    if (n != lineage->n_processes)
        lineage->hand_over_at = tacit__now_ms() + SETTLED_MS;
    lineage->n_processes = n;
    return TACIT_OK;
}

static size_t share(const struct tacit__pg_lineage *lineage)
{
    const size_t n = lineage->n_processes > 0 ? (size_t)lineage->n_processes : 1;
    return (lineage->n_leases + n - 1) / n;
}

static tacit_status give_back(tacit__vault *vault, tacit__pg_lease *l, tacit_error *err)
{
    int64_t gone;
    l->held = false;
    return ask(vault, "SELECT pg_advisory_unlock(?1::int4, ?2::int4)", l->learner, &gone, err);
}

/* Hands over a lease if this process has more than its share. */
static tacit_status hand_over(tacit__vault *vault, tacit__pg_lease *l, tacit_error *err)
{
    struct tacit__pg_lineage *lineage = vault->lineage;
    const double now = tacit__now_ms();
    if (lineage->n_held <= share(lineage) || now < lineage->hand_over_at)
        return TACIT_OK;
    lineage->hand_over_at = now + HAND_OVER_MS;
    l->left_at = now;
    return give_back(vault, l, err);
}

static tacit_status keep(tacit__vault *vault, tacit__pg_lease *l, tacit_error *err)
{
    uint64_t n = 0;
    TRY(tacit__connection_write(vault->db, SQL_PG_BEAT,
                                "UPDATE lease SET beat=beat+1 WHERE learner=? AND session=?", err,
                                "ii", l->learner, tacit__vault_session(vault)));
    TRY(tacit__connection_changes(vault->db, &n, err));
    return n > 0 ? hand_over(vault, l, err) : give_back(vault, l, err);
}

static tacit_status take(tacit__vault *vault, tacit__pg_lease *l, tacit_error *err)
{
    int64_t got = 0;
    TRY(ask(vault, "SELECT pg_try_advisory_lock(?1::int4, ?2::int4)", l->learner, &got, err));
    if (got == 0)
        return TACIT_OK;
    TRY(tacit__connection_write(vault->db, SQL_PG_LEASE,
                                "INSERT INTO lease VALUES(?,?,1) ON CONFLICT(learner) DO UPDATE SET"
                                " session=excluded.session, beat=lease.beat+1",
                                err, "ii", l->learner, tacit__vault_session(vault)));
    l->held = true;
    l->free_since = 0;
    if (l->left_at > 0) /* nobody wants it */
        vault->lineage->hand_over_at = tacit__now_ms() + IN_VAIN_MS;
    l->left_at = 0;
    return TACIT_OK;
}

/* Takes the lock away from a session that has fallen silent. */
static tacit_status watch(tacit__vault *vault, tacit__pg_lease *l, tacit_error *err)
{
    int64_t beat = 0, ended;
    const double now = tacit__now_ms();
    TRY(ask(vault, "SELECT beat FROM lease WHERE ?1 > 0 AND learner=?2", l->learner, &beat, err));
    if (beat != l->beat || l->beat_since == 0) {
        l->beat = beat;
        l->beat_since = now;
    }
    if (now < l->beat_since + STALE_MS)
        return TACIT_OK;
    l->beat_since = now;
    return ask(vault,
               "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype='advisory'"
               " AND classid=?1::oid AND objid=?2::oid AND objsubid=2 AND granted AND database="
               "(SELECT oid FROM pg_database WHERE datname=current_database())",
               l->learner, &ended, err);
}

/* How long a lease must have been free before this process takes it. */
static double patience(const struct tacit__pg_lineage *lineage, const tacit__pg_lease *l)
{
    if (l->left_at > 0)
        return UNWANTED_MS;
    return lineage->n_held >= share(lineage) ? LEAVE_MS : (double)lineage->n_held * SPREAD_MS;
}

static tacit_status try_lease(tacit__vault *vault, tacit__pg_lease *l, tacit_error *err)
{
    int64_t holders = 0;
    const double now = tacit__now_ms();
    TRY(ask(vault, HOLDERS_SQL, l->learner, &holders, err));
    if (holders != 0) {
        l->free_since = l->left_at = 0;
        return watch(vault, l, err);
    }
    l->free_since = l->free_since > 0 ? l->free_since : now;
    return now < l->free_since + patience(vault->lineage, l) ? TACIT_OK : take(vault, l, err);
}

tacit_status tacit__pg_lease_step(tacit__vault *vault, int64_t learner, bool wanted, bool *held,
                                  tacit_error *err)
{
    tacit__pg_connection *c = tacit__pg_of(vault->db);
    struct tacit__pg_lineage *lineage = vault->lineage;
    tacit_status status = TACIT_OK;
    if (c->link == NULL || lineage->session != c->sessions) { /* locks fell with the session */
        for (size_t i = 0; i < lineage->n_leases; i++)
            lineage->leases[i].held = false;
        *held = false;
        return TACIT_OK; /* until it listens again */
    }
    tacit__pg_lease *l = find(lineage, learner);
    if (l == lineage->leases) /* once in each round */
        TRY(count_processes(vault, err));
    if (wanted)
        status = l->held ? keep(vault, l, err) : try_lease(vault, l, err);
    else if (l->held)
        status = give_back(vault, l, err);
    lineage->n_held = 0;
    for (size_t i = 0; i < lineage->n_leases; i++)
        lineage->n_held += lineage->leases[i].held;
    *held = status == TACIT_OK && l->held;
    return status;
}

tacit_status tacit__pg_lease_check(tacit__vault *vault, int64_t learner, int64_t session,
                                   bool *held, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(
        vault->db, SQL_PG_SESSION,
        "SELECT 1 FROM pg_locks WHERE locktype='advisory' AND classid=?1::oid AND objid=?2::oid"
        " AND objsubid=2 AND pid=?3 AND granted AND database="
        "(SELECT oid FROM pg_database WHERE datname=current_database())",
        &s, err));
    tacit__cursor_bind_int(s, 1, TACIT__PG_LOCK_CLASS);
    tacit__cursor_bind_int(s, 2, learner);
    tacit__cursor_bind_int(s, 3, session);
    TRY(tacit__cursor_next(s, held, err));
    tacit__cursor_reset(s);
    return TACIT_OK;
}
