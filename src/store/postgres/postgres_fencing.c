/* Whether a database is still the one that it was. See store/vault/vault.h.
 *
 * A server may come back as an older one: a standby that lacked the last transactions was promoted, a
 * backup or a snapshot was restored. Each process that serves remembers the number of the last transaction
 * that it knows of, and its proof, in memory and in its mark. The table `trail` has the proofs of the last
 * TRAIL transactions. A process that remembers a transaction that the trail lacks, or has another proof
 * for, knows that the database went back; it says so in the database (`behind`), and from then on everybody
 * knows. The trail is looked at with every transaction, and every second.
 *
 * A copy by pg_dump is sound and says nothing of its own: but its tables are other ones, so the fact
 * `location`, which names the cluster, the database and the table, does not fit. A standby is a copy of the
 * cluster with all its names, and fits. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "noise/seal.h"
#include "store/postgres/postgres_store.h"

enum { TRAIL = 100000 };

tacit_status tacit__pg_lineage_create(tacit__vault *vault, tacit_error *err)
{
    vault->lineage = tacit__alloc(1, sizeof *vault->lineage);
    if (vault->lineage == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)pthread_mutex_init(&vault->lineage->lock, NULL);
    tacit__random_few(&vault->lineage->sender, sizeof vault->lineage->sender);
    return TACIT_OK;
}

void tacit__pg_lineage_destroy(tacit__vault *vault)
{
    if (vault->lineage != NULL)
        (void)pthread_mutex_destroy(&vault->lineage->lock);
    tacit__free(vault->lineage);
    vault->lineage = NULL;
}

void tacit__pg_lineage_set(struct tacit__pg_lineage *lineage, uint64_t generation,
                           const uint8_t *stamp)
{
    pthread_mutex_lock(&lineage->lock);
    if (generation >= lineage->generation) {
        lineage->generation = generation;
        memcpy(lineage->stamp, stamp, sizeof lineage->stamp);
    }
    pthread_mutex_unlock(&lineage->lock);
}

void tacit__vault_get_lineage(const tacit__vault *vault, uint64_t *generation, uint8_t stamp[32])
{
    pthread_mutex_lock(&vault->lineage->lock);
    *generation = vault->lineage->generation;
    memcpy(stamp, vault->lineage->stamp, sizeof vault->lineage->stamp);
    pthread_mutex_unlock(&vault->lineage->lock);
}

#define PLACE_SQL                                                                                  \
    "SELECT to_regclass('tacit.meta')::oid::text, (current_setting('fsync')='on' AND"              \
    " current_setting('full_page_writes')='on')::int"

/* A session stays with its cluster, its database and the run of its server, which are asked for once: to tell
 * the first, the server reads a file. Two servers that continue the same store, whether one is a standby that
 * was promoted too early or runs on a snapshot of the other's disk, were started at different times. */
static tacit_status read_cluster(tacit__vault *vault, tacit_error *err)
{
    tacit__pg_connection *c = tacit__pg_of(vault->db);
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(
        vault->db, SQL_PG_CLUSTER,
        "SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' ||"
        " (SELECT oid FROM pg_database WHERE datname=current_database())::text,"
        " extract(epoch FROM pg_postmaster_start_time())::text",
        &s, err));
    TRY(tacit__cursor_next(s, &found, err));
    const char *text = found ? tacit__cursor_text(s, 0) : NULL;
    (void)snprintf(c->cluster, sizeof c->cluster, "%s", text != NULL ? text : "");
    const char *since = found ? tacit__cursor_text(s, 1) : NULL;
    char run[sizeof c->cluster + 40];
    const int n = snprintf(run, sizeof run, "%s/%.32s", c->cluster, since != NULL ? since : "");
    tacit__vault_set_start(vault, run, (size_t)n);
    tacit__cursor_reset(s);
    return TACIT_OK;
}

static tacit_status receive_place(void *context, tacit__cursor *row, tacit_error *err)
{
    (void)err;
    tacit__vault *vault = context;
    const char *text = tacit__cursor_text(row, 0);
    (void)snprintf(vault->lineage->table, sizeof vault->lineage->table, "%s",
                   text != NULL ? text : "");
    vault->on_unsafe = tacit__cursor_int(row, 1) == 0;
    return TACIT_OK;
}

/* Writes what read_cluster and receive_place have found. */
static void write_location(tacit__vault *vault, char location[64])
{
    (void)snprintf(location, 64, "%s/%s", tacit__pg_of(vault->db)->cluster, vault->lineage->table);
}

tacit_status tacit__pg_read_location(tacit__vault *vault, char location[64], tacit_error *err)
{
    if (tacit__pg_of(vault->db)->cluster[0] == '\0')
        TRY(read_cluster(vault, err));
    TRY(tacit__connection_ask(vault->db, SQL_PG_PLACE, PLACE_SQL, receive_place, vault, err, ""));
    TRY(tacit__connection_await(vault->db, err));
    write_location(vault, location);
    return TACIT_OK;
}

/* --- What is known --------------------------------------------------------------------------------- */

#define TRAIL_SQL "SELECT stamp FROM trail WHERE generation=?"

typedef struct stamp {
    uint8_t bytes[TACIT__PROOF_BYTES];
    bool found; /* there is a transaction of this number */
    bool same;  /* its proof is `bytes` */
} stamp;

static tacit_status receive_stamp(void *context, tacit__cursor *row, tacit_error *err)
{
    (void)err;
    stamp *t = context;
    size_t size;
    const void *bytes = tacit__cursor_bytes(row, 0, &size);
    t->found = true;
    t->same = size == sizeof t->bytes && memcmp(bytes, t->bytes, size) == 0;
    if (size == sizeof t->bytes)
        memcpy(t->bytes, bytes, size);
    return TACIT_OK;
}

/* Asks for the transaction of this number. */
static tacit_status ask_stamp(tacit__vault *vault, uint64_t generation, stamp *t, tacit_error *err)
{
    return tacit__connection_ask(vault->db, SQL_PG_TRAIL, TRAIL_SQL, receive_stamp, t, err, "i",
                                 (int64_t)generation);
}

/* Decides what the database is by what other processes have noted about it, and by where it is. */
static tacit__store_finding judge(const tacit__vault *vault, const char *location, bool went_back)
{
    const bool moved = vault->location[0] != '\0' && strcmp(vault->location, location) != 0;
    return (vault->facts & TACIT__FACT_IS_COPY) != 0 || moved      ? TACIT__FOUND_COPY
           : (vault->facts & TACIT__FACT_BEHIND) != 0 || went_back ? TACIT__FOUND_OLDER
                                                                   : TACIT__FOUND_ORIGINAL;
}

/* Asks in one round trip for everything that tells how far the database has come. */
static tacit_status ask_lineage(tacit__vault *vault, uint64_t generation, stamp *t,
                                tacit_error *err)
{
    if (tacit__pg_of(vault->db)->cluster[0] == '\0')
        TRY(read_cluster(vault, err));
    TRY(tacit__vault_ask_facts(vault, err));
    TRY(ask_stamp(vault, generation, t, err));
    TRY(tacit__connection_ask(vault->db, SQL_PG_PLACE, PLACE_SQL, receive_place, vault, err, ""));
    return tacit__connection_await(vault->db, err);
}

tacit_status tacit__pg_lineage_check(tacit__vault *vault, struct tacit__pg_lineage *known,
                                     tacit__store_finding *finding, tacit_error *err)
{
    stamp t = {.found = false};
    char location[64];
    pthread_mutex_lock(&known->lock);
    const uint64_t generation = known->generation;
    memcpy(t.bytes, known->stamp, sizeof t.bytes);
    pthread_mutex_unlock(&known->lock);
    const tacit_status status = ask_lineage(vault, generation, &t, err);
    if (status != TACIT_OK) {
        tacit__connection_reset_all(vault->db);
        return status;
    }
    /* a front end that was away for so long that the trail has forgotten cannot know better */
    const bool forgotten = !t.found && generation + TRAIL <= vault->generation;
    const bool went_back =
        generation > 0 && (generation > vault->generation || (!forgotten && !t.same));
    write_location(vault, location);
    *finding = judge(vault, location, went_back);
    return TACIT_OK;
}

/* --- Transactions ----------------------------------------------------------------------------------- */

#define LOCK_SQL "SELECT value FROM meta WHERE name='generation' FOR UPDATE"

static tacit_status receive_lock(void *context, tacit__cursor *row, tacit_error *err)
{
    (void)row;
    (void)err;
    tacit__vault *vault = context;
    vault->lineage->locked = true;
    return TACIT_OK;
}

/* Sends what begins a transaction. The server answers what follows when it has the lock. */
static tacit_status send_begin(tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__connection_run(vault->db, "BEGIN", "write", err));
    vault->lineage->locked = false;
    return tacit__connection_ask(vault->db, SQL_PG_LOCK, LOCK_SQL, receive_lock, vault, err, "");
}

static tacit_status check_lock(const tacit__vault *vault, tacit_error *err)
{
    return vault->lineage->locked
               ? TACIT_OK
               : tacit__fail(err, TACIT_CORRUPT, "%.200s: the store is damaged: it has no number",
                             vault->path);
}

/* The identity and the keys of a store, as its facts were last read. */
typedef struct who {
    uint8_t identity[TACIT__OWNER_BYTES], secrets[16];
} who;

static who who_is(const tacit__vault *vault)
{
    who w;
    memcpy(w.identity, vault->identity, sizeof w.identity);
    memcpy(w.secrets, vault->secrets_tag, sizeof w.secrets);
    return w;
}

static bool is_still(const tacit__vault *vault, const who *before)
{
    const who now = who_is(vault);
    return memcmp(&now, before, sizeof now) == 0;
}

tacit_status tacit__pg_check_safety(const tacit__vault *vault, tacit_status failure,
                                    tacit_error *err)
{
    if (!vault->on_unsafe || (vault->allowed & TACIT__FACT_UNSAFE) != 0)
        return TACIT_OK;
    return tacit__fail(err, failure,
                       "%.200s: the server has fsync or full_page_writes off: a crash may take "
                       "what was acknowledged, and what was published with it. Turn them on; "
                       "unsafe: yes in the service file overrides this, and the store remembers it "
                       "for good",
                       vault->path);
}

/* Writes the status that all processes must know from now on. */
static tacit_status note_facts(tacit__vault *vault, tacit__store_finding finding, tacit_error *err)
{
    if (vault->on_unsafe && (vault->facts & TACIT__FACT_UNSAFE) == 0) {
        TRY(tacit__vault_set_fact(vault, "unsafe", "", 1, err));
        TRY(tacit__vault_add_event(vault, err,
                                   "served on a server without fsync or full_page_writes"));
    }
    if (finding != TACIT__FOUND_OLDER || (vault->facts & TACIT__FACT_BEHIND) != 0)
        return TACIT_OK;
    TRY(tacit__vault_set_fact(vault, "behind", "", 1, err));
    return tacit__vault_add_event(vault, err, "the database went back: nobody learns from it");
}

/* Locks the store: all writers take turns. The following statements see what the previous writer has
 * written. */
tacit_status tacit__pg_begin(tacit__vault *vault, tacit_error *err)
{
    tacit__store_finding finding;
    if (tacit__vault_store_status(vault) == TACIT__STORE_FENCED)
        return tacit__vault_fence(vault, "the store was adopted, or its key was changed", err);
    TRY(send_begin(vault, err));
    if (vault->use != TACIT__VAULT_SERVE) {
        TRY(tacit__connection_await(vault->db, err));
        return check_lock(vault, err);
    }
    const who before = who_is(vault);
    TRY(tacit__pg_lineage_check(vault, vault->lineage, &finding, err));
    TRY(check_lock(vault, err));
    if (!is_still(vault, &before))
        return tacit__vault_fence(vault, "the store was adopted, or its key was changed", err);
    (void)tacit__vault_note(vault, finding);
    TRY(tacit__pg_check_safety(vault, TACIT_SYSTEM, err));
    return note_facts(vault, finding, err);
}

tacit_status tacit__pg_before_commit(tacit__vault *vault, tacit_error *err)
{
    if (vault->use == TACIT__VAULT_SERVE && tacit__vault_store_status(vault) == TACIT__STORE_FINE) {
        const int64_t number = (int64_t)vault->generation + 1;
        TRY(tacit__connection_write(vault->db, SQL_PG_LEAVE_TRAIL, "INSERT INTO trail VALUES(?,?)",
                                    err, "ib", number, vault->last_proof,
                                    sizeof vault->last_proof));
        TRY(tacit__connection_write(vault->db, SQL_PG_CUT_TRAIL,
                                    "DELETE FROM trail WHERE generation=?", err, "i",
                                    number - TRAIL));
    }
    return tacit__pg_notify(vault, err);
}

tacit_status tacit__pg_after_commit(tacit__vault *vault, tacit_error *err)
{
    (void)err;
    if (vault->use == TACIT__VAULT_SERVE && tacit__vault_store_status(vault) == TACIT__STORE_FINE)
        tacit__pg_lineage_set(vault->lineage, vault->generation, vault->last_proof);
    return TACIT_OK;
}

/* --- What others do --------------------------------------------------------------------------------- */

static tacit_status poll_database(tacit__vault *vault, tacit__vault *served,
                                  tacit__vault_news *news, tacit_error *err)
{
    tacit__store_finding finding;
    stamp t = {.found = false};
    const who before = who_is(vault);
    const uint64_t generation = vault->generation;
    TRY(tacit__pg_lineage_check(vault, served->lineage, &finding, err));
    tacit_status status = ask_stamp(vault, vault->generation, &t, err);
    if (status == TACIT_OK)
        status = tacit__connection_await(vault->db, err);
    if (status != TACIT_OK) {
        tacit__connection_reset_all(vault->db);
        return status;
    }
    if (finding == TACIT__FOUND_ORIGINAL && t.found)
        tacit__pg_lineage_set(served->lineage, vault->generation, t.bytes);
    else if (finding != TACIT__FOUND_ORIGINAL &&
             tacit__vault_store_status(served) == TACIT__STORE_FINE)
        (void)tacit__vault_note(served, finding); /* a transaction finds out what else it is then */
    atomic_store(&served->start, atomic_load(&vault->start));
    news->any = news->any || vault->generation != generation;
    news->replaced = !is_still(vault, &before);
    return TACIT_OK;
}

tacit_status tacit__pg_await(tacit__vault *vault, tacit__vault *served, int ms,
                             tacit__vault_news *news, tacit_error *err)
{
    bool alone;
    TRY(tacit__pg_listen(vault, news, err));
    TRY(tacit__pg_receive_news(vault, served, ms, news, err));
    TRY(tacit__vault_begin_snapshot(vault, &alone, err));
    tacit_status status = poll_database(vault, served, news, err);
    tacit__vault_end_snapshot(vault, alone);
    return status;
}
