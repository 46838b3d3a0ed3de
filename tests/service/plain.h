/* A plain service with learners of several shapes, and what tests say to it in more than one file. The last
 * answer is in `answer`. */
#ifndef TACIT_TESTS_SERVICE_PLAIN_H
#define TACIT_TESTS_SERVICE_PLAIN_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tacit/client.h>

#include "support/check.h"
#include "support/cluster.h"
#include "support/server.h"

#define JOINT "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"
#define LOCAL "{kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}"

static const char plain[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "limits: {body: 4096, header: 8192}\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100000, agent: " JOINT
    "}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 100, agent: " JOINT "}\n"
    "  - {name: few, space: {states: 1, actions: 2, horizon: 1}, users: 4, agent: " JOINT ",\n"
    "     monitor: {epsilon: 1}}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 2, stationary: yes}, users: 50, "
    "agent: " LOCAL "}\n";

static char answer[SERVER_ANSWER];

static inline void begin(server *s, const char *yaml)
{
    server_open(s, TACIT_COMMAND, yaml);
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
}

static inline void end(server *s)
{
    if (s->pid > 0)
        assert_int_equal(server_stop(s, SIGTERM), 0);
    server_close(s);
}

/* A server of this file, from here to the end of the block. */
#define SERVER(s, yaml)                                                                            \
    SCOPED_BY(end) server s;                                                                       \
    begin(&(s), yaml)

static inline void kill_and_start(server *s)
{
    assert_int_equal(server_stop(s, SIGKILL), -SIGKILL);
    assert_true(server_start(s, NULL));
}

/* The answer is this error, about this field ("" if about none). */
static inline void assert_error(int status, int wanted, const char *code, const char *field)
{
    char text[128] = "";
    if (status != wanted)
        fail_msg("status %d, expected %d: %s", status, wanted, answer);
    assert_true(json_field(answer, "code", text, sizeof text));
    assert_string_equal(text, code);
    text[0] = '\0';
    (void)json_field(answer, "field", text, sizeof text);
    assert_string_equal(text, field);
}

static inline void decide(const server *s, const char *path, const char *body, char decision[1024])
{
    int status = server_post(s, path, body, answer);
    if (status != 200)
        fail_msg("status %d: %s", status, answer);
    assert_true(json_field(answer, "decision", decision, 1024));
}

static inline int observe(const server *s, const char *decision, const char *rest)
{
    return server_post(s, "/v1/observe", fmt("{\"decision\":\"%.1023s\"%s}", decision, rest),
                       answer);
}

/* The word that an observation was answered with. */
static inline void assert_observed(const server *s, const char *decision, const char *rest,
                                   const char *wanted)
{
    char word[32] = "";
    int status = observe(s, decision, rest);
    if (status != 200)
        fail_msg("status %d: %s", status, answer);
    assert_true(json_field(answer, "status", word, sizeof word));
    assert_string_equal(word, wanted);
}

static inline void open_episode(const server *s, const char *body, char episode[512])
{
    assert_int_equal(server_post(s, "/v1/episodes", body, answer), 201);
    assert_true(json_field(answer, "episode", episode, 512));
}

static inline double ledger(const server *s, const char *learner, const char *key)
{
    assert_int_equal(server_get(s, fmt("/v1/ledger?learner=%s", learner), answer), 200);
    return json_number(answer, key);
}

/* The report of a device of `ours`; to be freed. */
static inline char *make_report(const server *s)
{
    uint32_t states[3] = {0, 1, 2}, actions[2] = {0, 1};
    double rewards[2] = {0.25, 0.75};
    char key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
    tacit_client *client = NULL;
    tacit_error err = {0};
    assert_int_equal(server_get(s, "/v1/billboard?learner=ours", answer), 200);
    const char *board = strchr(answer, '{');
    const tacit_client_terms terms = {.epsilon = 1, .delta = 1};
    assert_ok(tacit_client_create(board, strlen(board), &terms, &client, &err));
    const tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
    assert_ok(tacit_client_report(client, &t, &body, key, &err));
    tacit_client_destroy(client);
    return body;
}

#endif
