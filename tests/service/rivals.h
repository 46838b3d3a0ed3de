/* Two front ends on one database, and a crowd of users that asks both and repeats what was not answered. */
#ifndef TACIT_TESTS_RIVALS_H
#define TACIT_TESTS_RIVALS_H

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

enum { FRONT_ENDS = 2, CROWD = 4, MOST_BOARDS = 20000 };

/* A free port, for a server that is started again and again on the same one. */
static inline unsigned pick_port(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    (void)close(fd);
    return ntohs(at.sin_port);
}

/* A front end in a directory of its own; `target` is its store, `learners` the end of the file. The first one
 * makes the store, the others have its key. */
static inline void open_front_end(server *s, const char *target, const char *learners,
                                  const server *first)
{
    const unsigned port = pick_port();
    server_open(s, TACIT_COMMAND,
                fmt("listen: 127.0.0.1:%u\nstore: '%s'\n%s", port, target, learners));
    (void)snprintf(s->key, sizeof s->key, "%s/tacit.key", s->directory);
    (void)snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", port);
    s->port = port;
    if (first == NULL) {
        char out[512];
        if (server_tool(s, "store init service.yaml", out, sizeof out) != 0) {
            server_read(s, "tool.err", out, sizeof out);
            fail_msg("no store: %s", out);
        }
        server_token(s, "all", "admin", s->token);
        return;
    }
    assert_shell("cp -p '%s' '%s'", first->key, s->key);
    (void)snprintf(s->token, sizeof s->token, "%s", first->token);
}

/* --- The crowd ------------------------------------------------------------------------------------ */

typedef struct crowd {
    server *ends[FRONT_ENDS];
    const char *learner;
    unsigned n_states;
    atomic_bool stop;
    atomic_ulong asked, acknowledged, repeated;
    pthread_t threads[CROWD], watcher;
    pthread_mutex_t lock;
    struct {
        unsigned long version, users;
        char *body;
    } boards[MOST_BOARDS]; /* that were seen, in any order */
    size_t n_boards;
    const char *wrong; /* or NULL */
} crowd;

static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Until it is answered with 2xx; a request that was answered otherwise is a mistake. */
static inline bool insist(crowd *c, unsigned *random, const char *path, const char *body,
                          int wanted, char *answer)
{
    for (;;) {
        const server *s = c->ends[next_random(random) % FRONT_ENDS];
        const int status = server_ask(s, s->token, "POST", path, NULL, body, answer);
        if (status == wanted)
            return true;
        if (atomic_load(&c->stop) && strcmp(path, "/v1/decide") == 0)
            return false;
        if (status != 0 && status != 503) {
            c->wrong = "an answer that is neither 2xx nor 503";
            (void)fprintf(stderr, "%d: %s\n", status, strchr(answer, '{'));
            return false;
        }
        atomic_fetch_add(&c->repeated, 1);
        server_nap(20);
    }
}

static void *bring_users(void *context)
{
    crowd *c = context;
    static atomic_uint next = 1;
    unsigned random = 7919 * atomic_fetch_add(&next, 1);
    char *answer = malloc(SERVER_ANSWER), body[2048], decision[1024];
    while (!atomic_load(&c->stop) && c->wrong == NULL) {
        (void)snprintf(body, sizeof body, "{\"learner\":\"%s\",\"state\":%u,\"user\":\"%u-%lu\"}",
                       c->learner, next_random(&random) % c->n_states, random,
                       atomic_fetch_add(&c->asked, 1));
        if (!insist(c, &random, "/v1/decide", body, 200, answer) ||
            !json_field(answer, "decision", decision, sizeof decision))
            break;
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":%u}", decision,
                       next_random(&random) % 2);
        if (!insist(c, &random, "/v1/observe", body, 200, answer))
            break;
        atomic_fetch_add(&c->acknowledged, 1);
        if (next_random(&random) % 8 == 0 && /* once more, on any of them: nothing changes */
            !insist(c, &random, "/v1/observe", body, 200, answer))
            break;
    }
    free(answer);
    return NULL;
}

/* One billboard for each version and number of users, whoever shows it. */
static inline void note_board(crowd *c, char *answer)
{
    char *body = strchr(answer, '{');
    const unsigned long version = (unsigned long)json_number(body, "version"),
                        users = (unsigned long)json_number(body, "users");
    pthread_mutex_lock(&c->lock);
    for (size_t i = c->n_boards; i-- > 0;)
        if (c->boards[i].version == version && c->boards[i].users == users) {
            if (strcmp(c->boards[i].body, body) != 0)
                c->wrong = "two billboards of one version";
            pthread_mutex_unlock(&c->lock);
            return;
        }
    if (c->n_boards < MOST_BOARDS) {
        c->boards[c->n_boards].version = version;
        c->boards[c->n_boards].users = users;
        c->boards[c->n_boards++].body = strdup(body);
    }
    pthread_mutex_unlock(&c->lock);
}

static void *watch_boards(void *context)
{
    crowd *c = context;
    char *answer = malloc(SERVER_ANSWER), path[128], ledger[128];
    (void)snprintf(path, sizeof path, "/v1/billboard?learner=%s", c->learner);
    (void)snprintf(ledger, sizeof ledger, "/v1/ledger?learner=%s", c->learner);
    for (size_t i = 0; !atomic_load(&c->stop); i++) {
        const server *s = c->ends[i % FRONT_ENDS];
        if (server_ask(s, s->token, "GET", path, NULL, NULL, answer) == 200)
            note_board(c, answer);
        if (server_ask(s, s->token, "GET", ledger, NULL, NULL, answer) == 200 &&
            json_number(answer, "accepted") < json_number(answer, "users"))
            c->wrong = "fewer are accepted than were learned from";
        server_nap(2);
    }
    free(answer);
    return NULL;
}

static inline void crowd_start(crowd *c)
{
    (void)pthread_mutex_init(&c->lock, NULL);
    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&c->threads[i], NULL, bring_users, c), 0);
    assert_int_equal(pthread_create(&c->watcher, NULL, watch_boards, c), 0);
}

/* Everybody who began is answered; both front ends must be there. */
static inline void crowd_stop(crowd *c)
{
    atomic_store(&c->stop, true);
    for (size_t i = 0; i < CROWD; i++)
        (void)pthread_join(c->threads[i], NULL);
    (void)pthread_join(c->watcher, NULL);
    if (c->wrong != NULL)
        fail_msg("%s", c->wrong);
}

static inline void crowd_free(crowd *c)
{
    for (size_t i = 0; i < c->n_boards; i++)
        free(c->boards[i].body);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Everybody who was acknowledged is counted once, and learned from. */
static inline void assert_all_counted(server *s, const crowd *c)
{
    static char answer[SERVER_ANSWER];
    char out[512];
    const unsigned long n = atomic_load(&c->acknowledged);
    const char *path = fmt("/v1/ledger?learner=%s", c->learner);
    server_wait_users(s, c->learner, n);
    assert_int_equal(server_get(s, path, answer), 200);
    if (json_number(answer, "accepted") != (double)n || json_number(answer, "users") != (double)n)
        fail_msg("%.0f are accepted of %lu, and %.0f learned from", json_number(answer, "accepted"),
                 n, json_number(answer, "users"));
    /* one that was stopped has not heard of its database for a while */
    wait_until(server_get(s, "/readyz", answer) == 200);
    assert_int_equal(server_get(s, "/readyz", answer), 200);
    if (server_tool(s, "store check service.yaml", out, sizeof out) != 0) {
        server_read(s, "tool.err", out, sizeof out);
        fail_msg("%s", out);
    }
    (void)fprintf(stderr, "%lu users, %lu requests repeated, %zu billboards\n", n,
                  atomic_load(&c->repeated), c->n_boards);
}

#endif
