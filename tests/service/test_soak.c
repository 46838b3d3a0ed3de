/* The service for a long time: memory and store do not grow with requests, but with what is kept.
 *
 * Many clients at once send everything that a client can send: decisions with and without a key, observations, reports, episodes that
 * never end, billboards, figures, and nonsense; on kept connections and, every sixteenth time, on a fresh one. After a warm-up,
 * in which caches fill, the resident memory may grow by GROWTH_KB, whatever the number of requests; the store may have what its
 * rows take. test_soak_slow.c is the same for an hour's worth of requests: scripts/run-tests BUILD -L slow -R soak. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/client.h>

#include "support/check.h"
#include "support/server.h"

#ifndef REQUESTS
#define REQUESTS 30000 /* five minutes at 100 a second */
#define GROWTH_KB 3072 /* caches of the store are still being filled: 1.4 MB of pages */
#endif

enum {
    CLIENTS = 16,
    WARM_UP = REQUESTS / 3,
    ROUND = 16, /* requests on a connection */
    EXPIRE = 3, /* seconds, as below */
};

#ifdef TACIT_SANITIZED
static const bool memory_tells = false; /* a sanitizer keeps what was freed */
#else
static const bool memory_tells = true;
#endif

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "expire: 3\n"
    "limits: {keys: 500}\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 1000000, plan_every: 10,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}}\n"
    "  - {name: lin, space: {features: 5, actions: 3}, users: 1000000, plan_every: 10,\n"
    "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 1000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 2, stationary: yes}, users: "
    "1000000,\n"
    "     plan_every: 10, agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}},\n"
    "     monitor: {epsilon: 1}}\n";

/* --- Clients ------------------------------------------------------------------------------------ */

typedef struct soak {
    server s;
    char board[SERVER_ANSWER]; /* what devices make their reports by */
    atomic_ulong sent, wrong, taken;
    unsigned long until;
} soak;

typedef struct client {
    soak *soak;
    unsigned long number, count; /* of the client; of its own requests */
    int fd;
    double since; /* the beginning of the episode at hand */
    char answer[SERVER_ANSWER], body[4096], path[1200];
    char decision[2048];
} client;

/* One request whose answer must be this. */
static bool say(client *c, const char *method, const char *extra, int wanted)
{
    if (c->count++ % ROUND == 0 && c->fd >= 0) {
        (void)close(c->fd);
        c->fd = -1;
    }
    int status = server_talk(&c->soak->s, &c->fd, method, c->path, extra,
                             c->body[0] != '\0' ? c->body : NULL, c->answer);
    (void)atomic_fetch_add(&c->soak->sent, 1);
    /* who has taken longer than episodes live is rightly told so */
    if (status != wanted && !(status == 410 && server_seconds() - c->since > EXPIRE))
        (void)atomic_fetch_add(&c->soak->wrong, 1);
    return status == wanted;
}

static void ask(client *c, const char *path, const char *body)
{
    (void)snprintf(c->path, sizeof c->path, "%s", path);
    (void)snprintf(c->body, sizeof c->body, "%s", body);
}

/* Decides, and tells what came of it. */
static void one_step(client *c, const char *body, const char *extra)
{
    ask(c, "/v1/decide", body);
    c->since = server_seconds();
    if (!say(c, "POST", extra, 200) ||
        !json_field(c->answer, "decision", c->decision, sizeof c->decision))
        return;
    if (c->count % 3 == 0) /* of many nothing more is heard */
        return;
    (void)snprintf(c->body, sizeof c->body, "{\"decision\":\"%s\",\"reward\":0.5}", c->decision);
    (void)snprintf(c->path, sizeof c->path, "/v1/observe");
    if (say(c, "POST", NULL, 200))
        (void)atomic_fetch_add(&c->soak->taken, 1);
}

/* An episode that is begun and left. */
static void begin_and_leave(client *c)
{
    char episode[700];
    ask(c, "/v1/episodes", "{\"learner\":\"walk\"}");
    c->since = server_seconds();
    if (!say(c, "POST", NULL, 201) || !json_field(c->answer, "episode", episode, sizeof episode))
        return;
    (void)snprintf(c->path, sizeof c->path, "/v1/episodes/%s/decide", episode);
    (void)snprintf(c->body, sizeof c->body, "{\"state\":2,\"step\":0}");
    if (!say(c, "POST", NULL, 200) ||
        !json_field(c->answer, "decision", c->decision, sizeof c->decision))
        return;
    (void)snprintf(c->body, sizeof c->body, "{\"decision\":\"%s\",\"reward\":0.5,\"next_state\":1}",
                   c->decision);
    (void)snprintf(c->path, sizeof c->path, "/v1/observe");
    (void)say(c, "POST", NULL, 200);
}

/* A device of its own, and its only report: the same bytes would count once. */
static void make_report(client *c)
{
    uint32_t states[3] = {0, 1, 2}, actions[2] = {0, 1};
    double rewards[2] = {0.25, 0.75};
    char key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
    SCOPED(tacit_client) *device = NULL;
    const tacit_client_terms terms = {.epsilon = 2, .delta = 1};
    const char *board = c->soak->board;
    const tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
    if (tacit_client_create(board, strlen(board), &terms, &device, NULL) != TACIT_OK ||
        tacit_client_report(device, &t, &body, key, NULL) != TACIT_OK)
        (void)atomic_fetch_add(&c->soak->wrong, 1);
    ask(c, "/v1/reports", body != NULL ? body : "");
    free(body);
}

static void *come(void *context)
{
    client *c = context;
    char key[100];
    for (unsigned long i = 0; atomic_load(&c->soak->sent) < c->soak->until; i++) {
        (void)snprintf(key, sizeof key, "Idempotency-Key: client-%lu-request-%lu-%lu\r\n",
                       c->number, i, c->soak->until);
        switch (i % 10) {
        case 0:
            one_step(c, "{\"learner\":\"arms\",\"state\":1}", key);
            break;
        case 1:
            make_report(c);
            if (say(c, "POST", key, 202))
                (void)atomic_fetch_add(&c->soak->taken, 1);
            break;
        case 2:
            one_step(c, "{\"learner\":\"lin\",\"context\":[0.5,0,0,0,0.5,0,0.5,0,0,0,0,0,0.5,0,0]}",
                     NULL);
            break;
        case 3:
            ask(c, i % 20 == 3 ? "/v1/billboard?learner=ours" : "/metrics", "");
            (void)say(c, "GET", NULL, 200);
            break;
        case 4:
            ask(c, "/v1/decide", i % 20 == 4 ? "{\"learner\":" : "{\"learner\":\"arms\"}");
            (void)say(c, "POST", NULL, i % 20 == 4 ? 400 : 422);
            break;
        case 5:
            if (i % 30 == 5)
                begin_and_leave(c);
            break;
        default:
            one_step(c, "{\"learner\":\"arms\",\"state\":0}", NULL);
        }
    }
    if (c->fd >= 0)
        (void)close(c->fd);
    return NULL;
}

static void send_until(soak *k, unsigned long until)
{
    pthread_t threads[CLIENTS];
    client *clients = calloc(CLIENTS, sizeof *clients);
    assert_non_null(clients);
    k->until = until;
    for (unsigned long i = 0; i < CLIENTS; i++) {
        clients[i] = (client){.soak = k, .number = i, .fd = -1};
        assert_int_equal(pthread_create(&threads[i], NULL, come, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++)
        (void)pthread_join(threads[i], NULL);
    free(clients);
    if (atomic_load(&k->wrong) > 0)
        fail_msg("%lu of %lu answers were not as expected", atomic_load(&k->wrong),
                 atomic_load(&k->sent));
}

/* --- What is looked at -------------------------------------------------------------------------- */

/* Resident memory of the server, in kB. */
static long memory_of(const server *s)
{
    long pages = 0;
    FILE *file = fopen(fmt("/proc/%d/statm", (int)s->pid), "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    (void)fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

typedef struct health {
    unsigned long waiting, open, taken, answers, bytes, log;
} health;

static health look(server *s)
{
    char out[512];
    struct stat entry;
    health h = {0};
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 0);
    if (sscanf(out,
               "sound: %*u learners, %lu users waiting, %lu episodes open, %lu taken, %*u people, "
               "%lu answers, %*u tokens, %lu bytes",
               &h.waiting, &h.open, &h.taken, &h.answers, &h.bytes) != 5)
        fail_msg("%s", out);
    h.log = stat(fmt("%s-wal", s->store), &entry) == 0 ? (unsigned long)entry.st_size : 0;
    return h;
}

TEST(memory_and_store_do_not_grow_with_requests)
{
    static soak k;
    static char answer[SERVER_ANSWER];
    server_open(&k.s, TACIT_COMMAND, yaml);
    server_token(&k.s, "all", "admin", k.s.token);
    assert_true(server_start(&k.s, NULL));
    assert_int_equal(server_get(&k.s, "/v1/billboard?learner=ours", answer), 200);
    (void)snprintf(k.board, sizeof k.board, "%s", strchr(answer, '{'));
    const unsigned long requests = memory_tells ? REQUESTS : REQUESTS < 3000 ? REQUESTS : 3000;
    double start = server_seconds();
    send_until(&k, memory_tells ? WARM_UP : requests / 3);
    long before = memory_of(&k.s);
    health first = look(&k.s);
    send_until(&k, requests);
    long after = memory_of(&k.s);
    double took = server_seconds() - start;
    /* everybody is learned from, and who never finished is given up */
    health last;
    wait_until((last = look(&k.s), last.waiting == 0 && last.open == 0 && last.answers == 0));
    print_message(
        "%lu requests in %.1f s; %ld kB at a third, %ld kB at the end; store %lu bytes for "
        "%lu users, log %lu bytes\n",
        atomic_load(&k.sent), took, before, after, last.bytes, last.taken, last.log);
    assert_true(last.waiting == 0 && last.open == 0 && last.answers == 0);
    assert_true(last.taken == atomic_load(&k.taken));
    if (memory_tells)
        assert_in_range(after, 0, before + GROWTH_KB);
    /* a name of 16 bytes for each user, another hash for reports, B-tree pages that are at worst half full; what was deleted
     * leaves pages that are used again: not more than the first third has left */
    unsigned long room = first.bytes + 128 * (last.taken - first.taken) + (1UL << 18);
    assert_in_range(last.bytes, 0, room);
    assert_in_range(last.log, 0, 64UL << 20);
    assert_int_equal(server_stop(&k.s, SIGTERM), 0);
    server_close(&k.s);
}
