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
    " current_setting('full_page_writes')='on')::int,"                                             \
    " (current_setting('log_error_verbosity')='terse')::int"

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

tacit_status tacit__pg_read_location(tacit__vault *vault, char location[64], tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_PG_PLACE, PLACE_SQL, &s, err));
    if (tacit__pg_of(vault->db)->cluster[0] == '\0')
        TRY(read_cluster(vault, err));
    TRY(tacit__cursor_next(s, &found, err));
    const char *text = found ? tacit__cursor_text(s, 0) : NULL;
    (void)snprintf(location, 64, "%s/%s", tacit__pg_of(vault->db)->cluster,
                   text != NULL ? text : "");
    vault->on_unsafe = found && tacit__cursor_int(s, 1) == 0;
    tacit__pg_of(vault->db)->terse = found && tacit__cursor_int(s, 2) == 1;
    tacit__cursor_reset(s);
    return TACIT_OK;
}

/* --- What is known --------------------------------------------------------------------------------- */

#define TRAIL_SQL "SELECT stamp FROM trail WHERE generation=?"

/* Finds out whether there is a transaction of this number (*found), with this proof (*same). */
static tacit_status find_stamp(tacit__vault *vault, uint64_t generation, uint8_t *stamp,
                               bool *found, bool *same, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(vault->db, SQL_PG_TRAIL, TRAIL_SQL, &s, err));
    tacit__cursor_bind_int(s, 1, (int64_t)generation);
    TRY(tacit__cursor_next(s, found, err));
    size_t size = 0;
    const void *bytes = *found ? tacit__cursor_bytes(s, 0, &size) : NULL;
    *same = size == TACIT__PROOF_BYTES && memcmp(bytes, stamp, size) == 0;
    if (size == TACIT__PROOF_BYTES)
        memcpy(stamp, bytes, size);
    tacit__cursor_reset(s);
    return TACIT_OK;
}

/* Decides the status by what other processes have noted about the database, and by where it is. */
static tacit_status judge(const tacit__vault *vault, const char *location, bool went_back,
                          tacit__store_status *store_status)
{
    const bool moved = vault->location[0] != '\0' && strcmp(vault->location, location) != 0;
    *store_status = vault->copy || moved         ? TACIT__STORE_COPY
                    : vault->behind || went_back ? TACIT__STORE_BEHIND
                                                 : TACIT__STORE_FINE;
    return TACIT_OK;
}

static void expect_lineage(tacit__vault *vault, struct tacit__pg_lineage *known)
{
    pthread_mutex_lock(&known->lock);
    const uint64_t generation = known->generation;
    pthread_mutex_unlock(&known->lock);
    tacit__connection_expect(vault->db, SQL_FACTS, TACIT__SQL_FACTS, "");
    tacit__connection_expect(vault->db, SQL_PG_TRAIL, TRAIL_SQL, "i", (int64_t)generation);
    tacit__connection_expect(vault->db, SQL_PG_PLACE, PLACE_SQL, "");
}

tacit_status tacit__pg_lineage_check(tacit__vault *vault, struct tacit__pg_lineage *known,
                                     tacit__store_status *store_status, tacit_error *err)
{
    uint8_t stamp[TACIT__PROOF_BYTES];
    char location[64];
    bool found = false, same = false;
    pthread_mutex_lock(&known->lock);
    const uint64_t generation = known->generation;
    memcpy(stamp, known->stamp, sizeof stamp);
    pthread_mutex_unlock(&known->lock);
    expect_lineage(vault, known);
    TRY(tacit__vault_read_facts(vault, NULL, err));
    if (generation > 0)
        TRY(find_stamp(vault, generation, stamp, &found, &same, err));
    /* a front end that was away for so long that the trail has forgotten cannot know better */
    const bool forgotten = !found && generation + TRAIL <= vault->generation;
    const bool went_back =
        generation > 0 && (generation > vault->generation || (!forgotten && !same));
    TRY(tacit__pg_read_location(vault, location, err));
    return judge(vault, location, went_back, store_status);
}

/* --- Transactions ----------------------------------------------------------------------------------- */

#define LOCK_SQL "SELECT value FROM meta WHERE name='generation' FOR UPDATE"

/* Sends the reads of the check with the lock, in one round trip; the server answers them when it has the
 * lock. */
static tacit_status lock_store(tacit__vault *vault, tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_run(vault->db, "BEGIN", "write", err));
    tacit__connection_expect(vault->db, SQL_PG_LOCK, LOCK_SQL, "");
    expect_lineage(vault, vault->lineage);
    TRY(tacit__connection_prepare(vault->db, SQL_PG_LOCK, LOCK_SQL, &s, err));
    TRY(tacit__cursor_next(s, &found, err));
    tacit__cursor_reset(s);
    return found ? TACIT_OK
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
    if (!vault->on_unsafe || vault->unsafe)
        return TACIT_OK;
    return tacit__fail(err, failure,
                       "%.200s: the server has fsync or full_page_writes off: a crash may take "
                       "what was acknowledged, and what was published with it. Turn them on; "
                       "unsafe: yes in the service file overrides this, and the store remembers it "
                       "for good",
                       vault->path);
}

/* Writes the status that all processes must know from now on. */
static tacit_status note_facts(tacit__vault *vault, tacit__store_status store_status,
                               tacit_error *err)
{
    if (vault->on_unsafe && !vault->was_unsafe) {
        TRY(tacit__vault_set_fact(vault, "unsafe", "", 1, err));
        TRY(tacit__vault_add_event(vault, err,
                                   "served on a server without fsync or full_page_writes"));
    }
    if (store_status != TACIT__STORE_BEHIND || vault->behind)
        return TACIT_OK;
    TRY(tacit__vault_set_fact(vault, "behind", "", 1, err));
    return tacit__vault_add_event(vault, err, "the database went back: nobody learns from it");
}

/* Locks the store: all writers take turns. The following statements see what the previous writer has
 * written. */
tacit_status tacit__pg_begin(tacit__vault *vault, tacit_error *err)
{
    tacit__store_status store_status;
    if (tacit__vault_store_status(vault) == TACIT__STORE_FENCED)
        return tacit__vault_fence(vault, "the store was adopted, or its key was changed", err);
    TRY(lock_store(vault, err));
    if (vault->use != TACIT__VAULT_SERVE)
        return TACIT_OK;
    const who before = who_is(vault);
    TRY(tacit__pg_lineage_check(vault, vault->lineage, &store_status, err));
    if (!is_still(vault, &before))
        return tacit__vault_fence(vault, "the store was adopted, or its key was changed", err);
    if (store_status != tacit__vault_store_status(vault) &&
        tacit__vault_store_status(vault) != TACIT__STORE_UNSOUND)
        atomic_store(&vault->store_status, (int)store_status);
    TRY(tacit__pg_check_safety(vault, TACIT_SYSTEM, err));
    return note_facts(vault, store_status, err);
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
    tacit__store_status store_status;
    uint8_t stamp[TACIT__PROOF_BYTES] = {0};
    bool found, same;
    const who before = who_is(vault);
    const uint64_t generation = vault->generation;
    TRY(tacit__pg_lineage_check(vault, served->lineage, &store_status, err));
    TRY(find_stamp(vault, vault->generation, stamp, &found, &same, err));
    if (store_status == TACIT__STORE_FINE && found)
        tacit__pg_lineage_set(served->lineage, vault->generation, stamp);
    else if (store_status != TACIT__STORE_FINE &&
             tacit__vault_store_status(served) == TACIT__STORE_FINE)
        atomic_store(&served->store_status, (int)store_status);
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
