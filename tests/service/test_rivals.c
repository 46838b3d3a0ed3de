/* Two front ends and rival learners on one PostgreSQL, killed again and again, and the database with them:
 * nobody who was acknowledged is lost or counted twice, there is one billboard for each version, and what was
 * learned is to the bit what one process learns from the same users in the same order. ROUNDS kills in a run.
 */
#include <libpq-fe.h>

#include "serve/key.h"
#include "service/rivals.h"
#include "store/vault/vault.h"

#ifndef ROUNDS
#define ROUNDS 20
#endif

static const char learners[] =
    "learners:\n"
    "  - {name: arms, space: {states: 12, actions: 4, horizon: 1}, users: 1000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: other, space: {states: 2, actions: 2, horizon: 1}, users: 1000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

/* A state that is checkpointed in parts, apart from what is shown. */
static const char large[] =
    "learners:\n"
    "  - {name: arms, space: {states: 60, actions: 10, horizon: 1}, users: 1000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

typedef struct place {
    cluster db;
    server ends[FRONT_ENDS];
    unsigned random;
} place;

static void open_both(place *p, const char *yaml)
{
    char uri[300];
    *p = (place){.random = 1};
    cluster_open(&p->db, NULL);
    cluster_database(&p->db, "tacit");
    cluster_uri(&p->db, "tacit", uri, sizeof uri);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        open_front_end(&p->ends[i], uri, yaml, i > 0 ? &p->ends[0] : NULL);
        assert_true(server_start(&p->ends[i], NULL));
    }
}

static void close_both(place *p)
{
    for (size_t i = 0; i < FRONT_ENDS; i++)
        server_close(&p->ends[i]);
    cluster_close(&p->db);
}

/* A front end may have been started while the database was away, and ended with an error. */
static void start_again(server *s)
{
    int code = 0;
    while (!server_start(s, &code))
        server_nap(100);
}

/* One blow: at a front end, whether it learns or not, or at the database. */
static void strike(place *p)
{
    const unsigned what = next_random(&p->random) % 20;
    server *s = &p->ends[what % FRONT_ENDS];
    if (what == 0) {
        cluster_stop(&p->db, SIGQUIT);
        server_nap(next_random(&p->random) % 100);
        cluster_start(&p->db);
    } else if (what == 1) {
        (void)kill(s->pid, SIGSTOP);
        server_nap(3500); /* beyond its lease */
        (void)kill(s->pid, SIGCONT);
    } else {
        assert_int_equal(server_stop(s, SIGKILL), -SIGKILL);
        server_nap(next_random(&p->random) % 50);
        start_again(s);
    }
    server_nap(next_random(&p->random) % 300);
}

static crowd *send_crowd(place *p, unsigned n_states)
{
    crowd *c = calloc(1, sizeof *c);
    c->learner = "arms";
    c->n_states = n_states;
    for (size_t i = 0; i < FRONT_ENDS; i++)
        c->ends[i] = &p->ends[i];
    crowd_start(c);
    return c;
}

TEST(nobody_is_lost_or_doubled_under_kills_of_everything)
{
    place p;
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    open_both(&p, learners);
    crowd *c = send_crowd(&p, 12);
    const char *asked = getenv("TACIT_ROUNDS"); /* for trying out */
    const int rounds = asked != NULL ? atoi(asked) : ROUNDS;
    for (int i = 0; i < rounds && c->wrong == NULL; i++)
        strike(&p);
    crowd_stop(c);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_all_counted(&p.ends[i], c);
    assert_true(c->n_boards > 1);
    crowd_free(c);
    close_both(&p);
}

/* --- One process, the same users, the same order ------------------------------------------------------ */

/* The learner's lease is the test's, so that inputs gather: whoever wants it may not end an administrator's
 * session. */
static PGconn *hold_lease(const place *p)
{
    PGconn *link =
        PQconnectdb(fmt("host=%s port=%u user=postgres dbname=tacit", p->db.directory, p->db.port));
    PGresult *r =
        PQexec(link, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype='advisory';"
                     "SELECT pg_advisory_lock(1952539508, 1)");
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    PQclear(r);
    return link;
}

static uint8_t *read_state(const server *s, const char *uri, size_t *size,
                           tacit__vault_learner *row)
{
    uint8_t key[TACIT__KEY_BYTES], *state = NULL;
    tacit__vault *vault = NULL;
    tacit_error err = {0};
    bool there, found;
    assert_ok(tacit__key_read_file(s->key, key, &there, &err));
    assert_ok(tacit__vault_open(uri, TACIT__VAULT_READ, key, &vault, &err));
    assert_ok(tacit__vault_find_learner(vault, "arms", &found, row, &state, size, &err));
    tacit__vault_close(vault);
    return state;
}

/* Stops a front end in order, so that what it has learned is in its state. */
static void stop_all(place *p)
{
    for (size_t i = 0; i < FRONT_ENDS; i++)
        if (p->ends[i].pid > 0)
            assert_int_equal(server_stop(&p->ends[i], SIGTERM), 0);
}

static void gather_users(place *p, unsigned long n)
{
    PGconn *held = hold_lease(p);
    crowd *c = send_crowd(p, 60);
    wait_until(atomic_load(&c->acknowledged) >= n || c->wrong != NULL);
    crowd_stop(c);
    stop_all(p);
    PQfinish(held);
    crowd_free(c);
}

static void make_twin(place *p, server *twin, char uri[300])
{
    char out[512];
    assert_true(cluster_sql(&p->db, "postgres", "CREATE DATABASE twin TEMPLATE tacit OWNER tacit",
                            NULL, 0));
    cluster_uri(&p->db, "twin", uri, 300);
    open_front_end(twin, uri, large, &p->ends[0]);
    /* it is a copy, and is noticed as one */
    assert_int_equal(server_tool(twin, "store check service.yaml", out, sizeof out), 1);
    assert_int_equal(
        server_tool(twin, "store adopt service.yaml --original-is-gone", out, sizeof out), 0);
}

TEST(what_rivals_learn_under_kills_is_what_one_process_learns)
{
    place p;
    server twin;
    char uri[300], twin_uri[300];
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    open_both(&p, large);
    gather_users(&p, 150);
    make_twin(&p, &twin, twin_uri);
    tacit__vault_learner row = {0}, twin_row = {0};
    size_t size = 0, twin_size = 0;
    cluster_uri(&p.db, "tacit", uri, sizeof uri);
    free(read_state(&p.ends[0], uri, &size, &row));
    const uint64_t changed_hands = row.epoch + 3; /* it has led, and was followed twice */
    for (size_t i = 0; i < FRONT_ENDS; i++)
        start_again(&p.ends[i]);
    for (int kills = 0; kills < 12 || (kills < 60 && row.epoch < changed_hands); kills++) {
        if (row.shown == row.accepted && row.epoch >= changed_hands)
            break;
        strike(&p);
        free(read_state(&p.ends[0], uri, &size, &row));
    }
    server_wait_users(&p.ends[0], "arms", row.accepted);
    stop_all(&p);
    assert_true(server_start(&twin, NULL));
    server_wait_users(&twin, "arms", row.accepted);
    assert_int_equal(server_stop(&twin, SIGTERM), 0);
    uint8_t *learned = read_state(&p.ends[0], uri, &size, &row),
            *twin_state = read_state(&p.ends[0], twin_uri, &twin_size, &twin_row);
    assert_true(row.users == row.accepted && twin_row.users == row.users);
    assert_int_equal(row.version, twin_row.version);
    assert_int_equal(size, twin_size);
    assert_memory_equal(learned, twin_state, size);
    assert_true(row.epoch >= changed_hands);
    free(learned);
    free(twin_state);
    server_close(&twin);
    close_both(&p);
}

/* --- A learner that stops ----------------------------------------------------------------------------- */

/* The front end that learns, by its own word. */
static server *find_leader(place *p)
{
    static char answer[SERVER_ANSWER];
    for (size_t i = 0; i < FRONT_ENDS; i++)
        if (server_get(&p->ends[i], "/v1/learners", answer) == 200 &&
            strstr(strstr(answer, "\"arms\""), "\"learns_here\":true") != NULL)
            return &p->ends[i];
    return NULL;
}

TEST(a_learner_that_was_stopped_beyond_its_lease_writes_nothing)
{
    place p;
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    open_both(&p, large);
    server *leader = NULL;
    wait_until((leader = find_leader(&p)) != NULL);
    assert_non_null(leader);
    crowd *c = send_crowd(&p, 60);
    wait_until(atomic_load(&c->acknowledged) >= 50 || c->wrong != NULL);
    (void)kill(leader->pid, SIGSTOP);
    server *other = leader == &p.ends[0] ? &p.ends[1] : &p.ends[0], *next = NULL;
    /* requests to the one that is stopped wait, so the crowd does; the other takes over */
    static char answer[SERVER_ANSWER];
    wait_until(server_get(other, "/v1/learners", answer) == 200 &&
               strstr(answer, "\"learns_here\":true") != NULL);
    assert_non_null(strstr(answer, "\"learns_here\":true"));
    (void)kill(leader->pid, SIGCONT);
    wait_until((next = find_leader(&p)) == other);
    assert_ptr_equal(next, other);
    crowd_stop(c);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_all_counted(&p.ends[i], c);
    crowd_free(c);
    close_both(&p);
}
