/* kill -9 again and again, under load: what was acknowledged is there, once, and the learner is where it
 * would be without.
 *
 * Two services begin with the same store, so with the same noise. In both, the same users come one after the
 * other to two learners, of which one has a state that is written now and then only; one service is killed at
 * any moment, started again, and asked again for what it had not acknowledged. In the end both have the same
 * billboards, ledgers and counts. Meanwhile a crowd loads another learner: every user of it that was
 * acknowledged is counted, and nobody twice; and the operator's record of its decisions has each of them,
 * once.
 *
 * Others come back again and again, sooner and more often than the learner was declared for. After each kill
 * the store itself, copied while nobody has it open, says what was promised: nobody has more visits than
 * that, or nearer ones, than in the store after the kill before. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include <tacit/service.h>

#include "support/check.h"
#include "support/random.h"
#include "support/server.h"

#ifndef KILLS
#define KILLS 20 /* the slow test has a thousand */
#endif
enum { CROWD = 3, FEWEST = KILLS / 4 };

static const char yaml[] =
    "listen: %s:%d\n"
    "store: service.db\n"
    "learners:\n"
    "  - {name: quiet, space: {states: 3, actions: 2, horizon: 1}, users: 100000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}}\n"
    "  - {name: large, space: {states: 90, actions: 2, horizon: 1}, users: 100000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}}\n"
    "  - {name: busy, space: {states: 2, actions: 2, horizon: 2}, users: 100000,\n"
    "     agent: {kind: private-ucb-po, privacy: {model: joint, epsilon: 1, delta: 0}},\n"
    "     log_decisions: yes}\n"
    "  - {name: regulars, space: {states: 2, actions: 2, horizon: 1}, users: 100000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, visits: 4, apart: 6}}}\n";

/* A service that may be killed by another thread at any time; `lock` is held while it is started. */
typedef struct victim {
    server s;    /* the killer's, once there is one */
    server face; /* where to ask: the same port for ever */
    pthread_mutex_t lock;
    atomic_bool over;
    atomic_int kills;
    int wanted;
    uint64_t chance;
    atomic_int learned; /* visits of regulars that were acknowledged as such */
} victim;

/* --- What was promised to people who come back, by the store --------------------------------------- */

static int number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int n = sqlite3_column_int(s, 0);
    (void)sqlite3_finalize(s);
    return n;
}

/* Of the store of a service that is dead: each query counts what contradicts the promise. */
static void assert_promise(const server *s, int learned)
{
    static const char *const wrong[] = {
        "SELECT count(*) FROM person WHERE visits > 4 OR last_place < 1 + (visits - 1) * 6",
        "SELECT count(visits) - count(DISTINCT last_place) FROM person WHERE visits IS NOT NULL",
        "SELECT coalesce(sum(visits), 0) != (SELECT accepted FROM learner WHERE name='regulars')"
        " FROM person",
        /* nobody is lost, comes back changed, or came nearer to their last visit than declared */
        "SELECT count(*) FROM old.person AS o LEFT JOIN main.person AS n ON n.learner=o.learner AND"
        " n.hash=o.hash WHERE n.hash IS NULL OR n.visits < o.visits OR (n.visits = o.visits AND"
        " n.last_place != o.last_place) OR n.last_place < o.last_place + (n.visits - o.visits) * "
        "6"};
    sqlite3 *db;
    assert_shell("cd '%s' && mkdir -p seen && rm -f seen/now* && for e in '' -wal; do"
                 " [ ! -e service.db$e ] || cp service.db$e seen/now$e; done;"
                 " [ -e seen/old ] || cp seen/now seen/old",
                 s->directory);
    assert_int_equal(sqlite3_open(fmt("%s/seen/now", s->directory), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, fmt("ATTACH '%s/seen/old' AS old", s->directory), NULL, NULL, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (number(db, wrong[i]) != 0)
            fail_msg("the store contradicts the promise: %s", wrong[i]);
    assert_true(number(db, "SELECT accepted FROM learner WHERE name='regulars'") >= learned);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_shell("cd '%s/seen' && mv now old && rm -f now* old-*", s->directory);
}

static void *kill_often(void *context)
{
    victim *v = context;
    while (!atomic_load(&v->over) && atomic_load(&v->kills) < v->wanted) {
        server_nap(5 + (long)(random_unit(&v->chance) * 120));
        pthread_mutex_lock(&v->lock);
        if (!atomic_load(&v->over)) {
            const int learned = atomic_load(&v->learned);
            assert_int_equal(server_stop(&v->s, SIGKILL), -SIGKILL);
            assert_promise(&v->s, learned);
            assert_true(server_start(&v->s, NULL));
            atomic_fetch_add(&v->kills, 1);
        }
        pthread_mutex_unlock(&v->lock);
    }
    return NULL;
}

/* Asks until there is an answer, however often the service dies. */
static int ask_named(const victim *v, const char *method, const char *path, const char *name,
                     const char *body, char *answer)
{
    int status = 0;
    wait_until((status = server_ask(&v->face, v->face.token, method, path, name, body, answer)) !=
               0);
    if (status == 0)
        fail_msg("no answer to %s %s", method, path);
    return status;
}

static int ask(const victim *v, const char *method, const char *path, const char *body,
               char *answer)
{
    return ask_named(v, method, path, NULL, body, answer);
}

static const char *const steady[] = {"quiet", "large"};
enum { STEADY = 2 };

/* User i of a steady learner, and the learner has learned from them. The episode has the same name wherever
 * this key of the service is, since noise depends on it. */
static void come(const victim *v, const char *learner, int i, char *answer)
{
    char decision[1024];
    const char *name = fmt("Idempotency-Key: user-of-the-%s-%06d\r\n", learner, i);
    const char *ledger = fmt("/v1/ledger?learner=%s", learner);
    assert_int_equal(ask_named(v, "POST", "/v1/decide", name,
                               fmt("{\"learner\":\"%s\",\"state\":%d}", learner, i % 3), answer),
                     200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    int action = (int)json_number(answer, "action");
    const char *body = fmt("{\"decision\":\"%s\",\"reward\":%.2f}", decision,
                           0.01 * ((i * 37 + action * 50) % 100));
    assert_int_equal(ask(v, "POST", "/v1/observe", body, answer), 200);
    wait_until(ask(v, "GET", ledger, NULL, answer) != 200 || json_number(answer, "users") > i);
    assert_true(json_number(answer, "users") == i + 1); /* never twice */
}

typedef struct guest {
    victim *v;
    atomic_int acknowledged;
    int unsure;
} guest;

/* Users of the busy learner, until it is over. */
static void *crowd(void *context)
{
    guest *g = context;
    char *answer = malloc(SERVER_ANSWER), body[2048], decision[1024], episode[512], path[700];
    while (!atomic_load(&g->v->over)) {
        const server s = g->v->face;
        if (server_post(&s, "/v1/episodes", "{\"learner\":\"busy\"}", answer) != 201 ||
            !json_field(answer, "episode", episode, sizeof episode)) {
            server_nap(5);
            continue;
        }
        (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
        bool finished = false, asked = false;
        for (int h = 0; h < 2; h++) {
            (void)snprintf(body, sizeof body, "{\"state\":%d,\"step\":%d}", h, h);
            if (server_post(&s, path, body, answer) != 200 ||
                !json_field(answer, "decision", decision, sizeof decision))
                break;
            (void)snprintf(body, sizeof body,
                           "{\"decision\":\"%s\",\"reward\":0.5,\"next_state\":%d}", decision,
                           h == 0 ? 1 : 0);
            asked = h == 1;
            int status = server_post(&s, "/v1/observe", body, answer);
            if (status != 200)
                break;
            finished = h == 1;
        }
        (void)atomic_fetch_add(&g->acknowledged, finished);
        g->unsure += asked && !finished;
    }
    free(answer);
    return NULL;
}

/* Three people at a time, each of whom comes until the visits are used and once more; then three others. What
 * is not answered is asked again, so every visit has its word; and asked once more, it has the same. */
static void *come_back(void *context)
{
    victim *v = context;
    char *answer = malloc(SERVER_ANSWER), body[2048], decision[1024], first[32], word[32];
    for (int round = 0; !atomic_load(&v->over); round++) {
        (void)snprintf(body, sizeof body,
                       "{\"learner\":\"regulars\",\"state\":0,\"user\":\"regular-%d\"}",
                       round / 40 * 3 + round % 3);
        assert_int_equal(ask(v, "POST", "/v1/decide", body, answer), 200);
        assert_true(json_field(answer, "decision", decision, sizeof decision));
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", decision);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(ask(v, "POST", "/v1/observe", body, answer), 200);
            assert_true(json_field(answer, "status", again == 0 ? first : word, sizeof word));
        }
        assert_string_equal(first, word);
        const bool learned = strcmp(first, "finished") == 0;
        assert_true(learned == (strstr(answer, "\"learned\":true") != NULL));
        assert_true(learned || strcmp(first, "too_soon") == 0 || strcmp(first, "visits_used") == 0);
        (void)atomic_fetch_add(&v->learned, learned);
        if (!learned) /* who passes by, so that the others come nearer to their next visit */
            (void)snprintf(body, sizeof body,
                           "{\"learner\":\"regulars\",\"state\":1,\"user\":\"passing-%d\"}", round);
        if (!learned && ask(v, "POST", "/v1/decide", body, answer) == 200 &&
            json_field(answer, "decision", decision, sizeof decision)) {
            (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0}", decision);
            assert_int_equal(ask(v, "POST", "/v1/observe", body, answer), 200);
            assert_non_null(strstr(answer, "\"learned\":true"));
            (void)atomic_fetch_add(&v->learned, 1);
        }
    }
    free(answer);
    return NULL;
}

/* At an address of this process's own, where no other program takes the port while the service is dead, and
 * no socket that connects to it can get it as its own. */
static void open_victim(victim *v, int port)
{
    unsigned pid = (unsigned)getpid();
    *v = (victim){.chance = 42};
    (void)pthread_mutex_init(&v->lock, NULL);
    server_open(
        &v->s, TACIT_COMMAND,
        fmt(yaml, fmt("127.%u.%u.%u", 64 + (pid >> 16 & 63), pid >> 8 & 255, pid & 255), port));
}

static void copy_store(const server *from, const server *to)
{
    assert_shell("for e in '' .key .mark; do cp '%s'$e '%s'$e; done", from->store, to->store);
}

static int count(guest *bearers)
{
    int acknowledged = 0;
    for (int i = 0; i < CROWD; i++)
        acknowledged += atomic_load(&bearers[i].acknowledged);
    return acknowledged;
}

/* A record: both steps of one user, whole, with the probabilities that they were decided with. */
static bool take_record(void *context, const char *lines, size_t size)
{
    static const char first[] = "{\"learner\":\"busy\",\"user\":";
    int *users = context;
    const char *line = lines;
    for (int step = 0; step < 2; step++) {
        assert_true(strncmp(line, first, sizeof first - 1) == 0);
        assert_true(json_number(line, "step") == step && json_number(line, "state") == step);
        assert_within(json_number(line, "probability"), 1e-6, 1);
        assert_true(json_number(line, "reward") == 0.5 && json_number(line, "version") >= 1);
        line = strchr(line, '\n');
        assert_non_null(line);
        line++;
    }
    assert_true(line == lines + size);
    ++*users;
    return true;
}

TEST(killed_often_it_ends_where_it_would_have_ended)
{
    static char here[SERVER_ANSWER], there[SERVER_ANSWER];
    victim calm, hunted;
    pthread_t killer, regulars, crowds[CROWD];
    guest bearers[CROWD] = {0};
    open_victim(&calm, 8471);
    open_victim(&hunted, 8472);
    server_token(&calm.s, "all", "admin", calm.s.token);
    assert_true(server_start(&calm.s, NULL)); /* makes the learners, with their noise */
    assert_int_equal(server_stop(&calm.s, SIGTERM), 0);
    copy_store(&calm.s, &hunted.s);
    (void)snprintf(hunted.s.token, sizeof hunted.s.token, "%s", calm.s.token);
    assert_true(server_start(&calm.s, NULL));
    assert_true(server_start(&hunted.s, NULL));
    calm.face = calm.s;
    hunted.face = hunted.s;
    hunted.wanted = KILLS;
    assert_int_equal(pthread_create(&killer, NULL, kill_often, &hunted), 0);
    assert_int_equal(pthread_create(&regulars, NULL, come_back, &hunted), 0);
    for (int i = 0; i < CROWD; i++) {
        bearers[i].v = &hunted;
        assert_int_equal(pthread_create(&crowds[i], NULL, crowd, &bearers[i]), 0);
    }
    int users = 0;
    for (; atomic_load(&hunted.kills) < KILLS || users < FEWEST; users++)
        for (int l = 0; l < STEADY; l++)
            come(&hunted, steady[l], users, there);
    wait_until(count(bearers) > 0); /* most of them between two kills, unless the machine is slow */
    pthread_mutex_lock(&hunted.lock);
    atomic_store(&hunted.over, true);
    pthread_mutex_unlock(&hunted.lock);
    (void)pthread_join(killer, NULL);
    (void)pthread_join(regulars, NULL);
    double unsure = 0;
    for (int i = 0; i < CROWD; i++) {
        (void)pthread_join(crowds[i], NULL);
        unsure += bearers[i].unsure;
    }
    for (int i = 0; i < users; i++)
        for (int l = 0; l < STEADY; l++)
            come(&calm, steady[l], i, here);
    double acknowledged = count(bearers);
    assert_true(users >= FEWEST && acknowledged > 0);
    for (int l = 0; l < STEADY; l++)
        for (int i = 0; i < 2; i++) {
            const char *path = fmt("/v1/%s?learner=%s", i == 0 ? "ledger" : "billboard", steady[l]);
            assert_int_equal(ask(&hunted, "GET", path, NULL, there), 200);
            assert_int_equal(ask(&calm, "GET", path, NULL, here), 200);
            assert_string_equal(strstr(here, "{\"learner\""), strstr(there, "{\"learner\""));
        }
    assert_int_equal(ask(&hunted, "GET", "/v1/ledger?learner=busy", NULL, there), 200);
    assert_within(json_number(there, "accepted"), acknowledged, acknowledged + unsure);
    const double accepted = json_number(there, "accepted");
    const tacit_service_options options = {.file = hunted.s.file};
    tacit_error err = {0};
    int recorded = 0;
    assert_ok(tacit_store_decisions(&options, take_record, &recorded, &err));
    assert_true(recorded == accepted);
    assert_int_equal(ask(&hunted, "GET", "/v1/ledger?learner=regulars", NULL, there), 200);
    assert_true(json_number(there, "accepted") == atomic_load(&hunted.learned)); /* all, once */
    char out[512];
    assert_int_equal(server_tool(&hunted.s, "store check service.yaml", out, sizeof out), 0);
    assert_int_equal(server_stop(&hunted.s, SIGTERM), 0);
    assert_promise(&hunted.s, atomic_load(&hunted.learned));
    assert_int_equal(server_stop(&calm.s, SIGTERM), 0);
    server_close(&hunted.s);
    server_close(&calm.s);
}
