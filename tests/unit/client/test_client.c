/* The user's side of local privacy: from a billboard to a report that the learner takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>

#include "agents/agent_inside.h"
#include "base/bytes.h"
#include "noise/seal.h"
#include "support/check.h"
#include "support/random.h"

#define HEAD                                                                                       \
    "{\"learner\":\"ours\",\"version\":3,\"users\":7,\"model\":\"local\",\"guarantee\":{"          \
    "\"epsilon\":1,"                                                                               \
    "\"delta\":0},\"agent\":{\"kind\":\"dp-ucbvi\",\"sums\":null,\"settings\":[[\"pooled\","       \
    "\"yes\"]]},"                                                                                  \
    "\"space\":{\"states\":2,\"actions\":3,\"horizon\":2,\"stationary\":true},\"episodes\":50"
static const char board[] = HEAD ",\"policy\":[[0,2],[1,1]]}";
static const char mixed[] = HEAD ",\"mixed\":[[[0,1,0],[0.5,0,0.5]],[[0.25,0.25,0.5],[1,0,0]]]}";

static const tacit_client_terms any = {.epsilon = HUGE_VAL, .delta = 1};

static tacit_client *open_client(const char *text)
{
    tacit_client *client = NULL;
    tacit_error err = {0};
    if (tacit_client_create(text, strlen(text), &any, &client, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return client;
}

TEST(a_client_acts_by_the_billboard)
{
    uint32_t action;
    double p;
    SCOPED(tacit_client) *client = open_client(board);
    const tacit_client_facts *facts = tacit_client_describe(client);
    assert_string_equal(facts->learner, "ours");
    assert_true(facts->horizon == 2 && facts->n_states == 2 && facts->version == 3);
    assert_ok(
        tacit_client_act(client, &(tacit_situation){.step = 0, .state = 1}, &action, &p, NULL));
    assert_true(action == 2 && p == 1);
    assert_ok(
        tacit_client_act(client, &(tacit_situation){.step = 1, .state = 0}, &action, &p, NULL));
    assert_true(action == 1 && p == 1);
    assert_status(
        tacit_client_act(client, &(tacit_situation){.step = 2, .state = 0}, &action, &p, NULL),
        TACIT_OUT_OF_BOUND);
    assert_false(tacit_client_was_cut(client));
    assert_ok(/* a state that the learner does not have is the last one */
              tacit_client_act(client, &(tacit_situation){.step = 0, .state = 7}, &action, &p,
                               NULL));
    assert_true(action == 2 && p == 1 && tacit_client_was_cut(client));
    tacit_client_destroy(client);
    client = open_client(mixed);
    int seen[3] = {0};
    for (int i = 0; i < 400; i++) {
        assert_ok(
            tacit_client_act(client, &(tacit_situation){.step = 0, .state = 1}, &action, &p, NULL));
        assert_true(p == 0.5);
        seen[action]++;
    }
    assert_true(seen[1] == 0 && seen[0] > 0 && seen[2] > 0); /* fails once in 2^399 */
}

/* The agent of the same learner, on the server's side. */
static tacit_agent *open_server(void)
{
    const tacit_setting settings[] = {SET("pooled", "yes")};
    const tacit_agent_request request = {SPACE_OF(2, 3, 2),  SETTINGS_OF(settings, 1),
                                         .kind = "dp-ucbvi", .guarantee = {TACIT_MODEL_LOCAL, 1, 0},
                                         .stationary = true, .episodes = 50};
    tacit_agent *agent;
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    assert_ok(tacit_agent_create(&request, noise, &agent, NULL));
    return agent;
}

TEST(a_report_is_what_the_learner_takes_and_comes_once)
{
    const uint32_t states[] = {0, 1, 1}, actions[] = {0, 1};
    const double rewards[] = {0.5, 1};
    const tacit_trajectory episode = {STEPS_OF(states, actions, rewards)};
    SCOPED(tacit_agent) *server = open_server();
    char *bodies[2], keys[2][TACIT_CLIENT_KEY_SIZE];
    for (int i = 0; i < 2; i++) {
        SCOPED(tacit_client) *client = open_client(board);
        assert_ok(tacit_client_report(client, &episode, &bodies[i], keys[i], NULL));
        char *again = NULL, key[TACIT_CLIENT_KEY_SIZE];
        assert_status(tacit_client_report(client, &episode, &again, key, NULL), TACIT_EXHAUSTED);
        assert_null(again);
        const char *start = strstr(bodies[i], "\"report\":\"") + 10;
        uint8_t bytes[4096];
        size_t size;
        assert_true(tacit__base64_read(start, strcspn(start, "\""), bytes, sizeof bytes, &size));
        assert_true(size > TACIT__REPORT_NAME);
        size -= TACIT__REPORT_NAME;
        assert_ok(tacit_agent_check_report(server, bytes, size, NULL));
        assert_ok(tacit_agent_absorb(server, bytes, size, NULL));
    }
    assert_string_not_equal(bodies[0], bodies[1]); /* noise of their own */
    assert_string_not_equal(keys[0], keys[1]);
    free(bodies[0]);
    free(bodies[1]);
}

/* Features, no table: the device acts by the model of the billboard as the server would, and reports. */
TEST(a_client_follows_a_model_where_there_is_no_table)
{
    enum { ACTIONS = 3, D = 2 };
    const tacit_bandit bandit = {.dimension = D, .bound = 1};
    const tacit_agent_request request = {.kind = "lin-ucb",
                                         .guarantee = {TACIT_MODEL_LOCAL, 2, 0.001},
                                         .n_actions = ACTIONS,
                                         .horizon = 1,
                                         .stationary = true,
                                         .episodes = 200,
                                         .bandit = &bandit};
    tacit_noise *noise;
    SCOPED(tacit_agent) *server = NULL;
    tacit_billboard look;
    assert_ok(tacit_noise_create_simulated(1, &noise));
    assert_ok(tacit_agent_create(&request, noise, &server, NULL));
    tacit_noise_destroy(noise);
    uint64_t random = 3;
    for (int k = 0; k < 40; k++) {
        static char text[16384];
        uint8_t model[4096], report[4096];
        size_t size = sizeof model;
        assert_ok(tacit_agent_plan(server, &look, NULL));
        assert_ok(tacit_agent_publish(server, model, &size, NULL));
        int n = snprintf(
            text, sizeof text,
            "{\"learner\":\"l\",\"version\":%llu,\"users\":%d,\"model\":\"local\",\"guarantee\":"
            "{\"epsilon\":2,\"delta\":0.001},\"agent\":{\"kind\":\"lin-ucb\",\"sums\":null,"
            "\"settings\":[]},\"space\":{\"states\":0,\"actions\":3,\"horizon\":1,\"stationary\":"
            "true,"
            "\"features\":2,\"shared\":true,\"bound\":1},\"episodes\":200,\"model_bytes\":\"",
            (unsigned long long)look.version, k);
        tacit__base64_write(model, size, text + n);
        (void)strcat(text, "\"}");
        SCOPED(tacit_client) *client = open_client(text);
        assert_true(tacit_client_describe(client)->per_situation == ACTIONS * D);
        double features[2 * ACTIONS * D] = {0}, rewards[1] = {random_unit(&random)}, p, q;
        for (int i = 0; i < ACTIONS * D; i++)
            features[i] = 0.7 * (2 * random_unit(&random) - 1);
        const tacit_situation here = {.features = features};
        uint32_t mine, theirs;
        assert_ok(tacit_client_act(client, &here, &mine, &p, NULL));
        assert_ok(tacit_agent_act(server, &here, 0.5, &theirs, &q, NULL));
        if (p == 1)
            assert_int_equal(mine, theirs);
        const tacit_trajectory episode = {
            .actions = &mine, .rewards = rewards, .features = features};
        char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
        assert_ok(tacit_client_report(client, &episode, &body, key, NULL));
        const char *start = strstr(body, "\"report\":\"") + 10;
        assert_true(tacit__base64_read(start, strcspn(start, "\""), report, sizeof report, &size));
        assert_ok(tacit_agent_absorb(server, report, size - TACIT__REPORT_NAME, NULL));
        free(body);
    }
    assert_true(look.version > 1);
}

TEST(an_episode_out_of_range_is_cut_and_reported)
{
    const uint32_t states[] = {0, 1, 2}, actions[] = {0, 9};
    const double rewards[] = {(double)NAN, 1e300};
    const tacit_trajectory episode = {STEPS_OF(states, actions, rewards)};
    SCOPED(tacit_client) *client = open_client(board);
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    const tacit_trajectory empty = {.actions = actions, .rewards = rewards};
    assert_status(tacit_client_report(client, &empty, &body, key, NULL), TACIT_BAD_ARGUMENT);
    assert_ok(tacit_client_report(client, &episode, &body, key, NULL));
    assert_true(tacit_client_was_cut(client));
    free(body);
}

TEST(a_guarantee_weaker_than_the_terms_is_refused)
{
    static const struct {
        tacit_client_terms terms;
        tacit_status status;
    } cases[] = {{{.epsilon = 1, .delta = 0}, TACIT_OK},
                 {{.epsilon = HUGE_VAL, .delta = 1}, TACIT_OK},
                 {{.epsilon = 0.999, .delta = 0}, TACIT_BAD_EPSILON},
                 {{.epsilon = 0, .delta = 0}, TACIT_BAD_EPSILON},
                 {{.epsilon = (double)NAN, .delta = 0}, TACIT_BAD_EPSILON},
                 {{.epsilon = 1, .delta = -1}, TACIT_BAD_DELTA},
                 {{.epsilon = 1, .delta = (double)NAN}, TACIT_BAD_DELTA}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED(tacit_client) *client = NULL;
        tacit_error err = {0};
        assert_status(tacit_client_create(board, strlen(board), &cases[i].terms, &client, &err),
                      cases[i].status);
        assert_true((client == NULL) == (cases[i].status != TACIT_OK));
        assert_true((client == NULL) == (err.message[0] != '\0'));
    }
    tacit_client *client = NULL;
    assert_status(tacit_client_create(board, strlen(board), NULL, &client, NULL),
                  TACIT_BAD_ARGUMENT);
}

/* With a monitor a report has one number more, and costs the sum of both. */
TEST(a_monitor_is_part_of_the_report_and_of_its_price)
{
    static const char *const monitors[] = {"{\"epsilon\":0.5,\"delta\":0}",
                                           "{\"epsilon\":0.5,\"delta\":1e-7}"};
    const uint32_t states[] = {0, 1, 1}, actions[] = {0, 1};
    const double rewards[] = {0.5, 1};
    const tacit_trajectory episode = {STEPS_OF(states, actions, rewards)};
    for (int i = 0; i < 2; i++) {
        const double delta = i == 0 ? 0 : 1e-7;
        char text[1024], *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
        SCOPED(tacit_client) *client = NULL;
        (void)snprintf(text, sizeof text, HEAD ",\"policy\":[[0,2],[1,1]],\"monitor\":%s}",
                       monitors[i]);
        const tacit_client_terms enough = {.epsilon = 1.5, .delta = delta},
                                 few = {.epsilon = 1.4, .delta = 1},
                                 none = {.epsilon = 2, .delta = -1};
        assert_status(tacit_client_create(text, strlen(text), &few, &client, NULL),
                      TACIT_BAD_EPSILON);
        assert_status(tacit_client_create(text, strlen(text), &none, &client, NULL),
                      TACIT_BAD_DELTA);
        assert_ok(tacit_client_create(text, strlen(text), &enough, &client, NULL));
        const tacit_client_facts *facts = tacit_client_describe(client);
        assert_true(facts->guarantee.epsilon == 1 && facts->monitor.epsilon == 0.5 &&
                    facts->monitor.delta == delta && facts->monitor.model == TACIT_MODEL_LOCAL);
        assert_ok(tacit_client_report(client, &episode, &body, key, NULL));
        SCOPED(tacit_client) *plain = open_client(board);
        SCOPED_FREE char *less = NULL;
        assert_ok(tacit_client_report(plain, &episode, &less, key, NULL));
        size_t longer = strlen(body) - strlen(less);
        assert_true(longer == 10 || longer == 11); /* eight bytes in base64 */
        free(body);
    }
    /* one of them cannot pay for the other */
    static const char *const bad[] = {"{\"epsilon\":-0.5,\"delta\":0}",
                                      "{\"epsilon\":1}",
                                      "{\"epsilon\":1,\"delta\":-1}",
                                      "[]",
                                      "1",
                                      "{\"epsilon\":0,\"delta\":0}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        tacit_client *client = NULL;
        (void)snprintf(text, sizeof text, HEAD ",\"policy\":[[0,2],[1,1]],\"monitor\":%s}", bad[i]);
        assert_true(tacit_client_create(text, strlen(text), &any, &client, NULL) != TACIT_OK);
        assert_null(client);
    }
}

/* Sizes of 2^32 - 1 with a table that has others: refused before the table is read where sizes have 32 bits. */
static const tacit_status uncountable = sizeof(size_t) > 4 ? TACIT_SYNTAX : TACIT_TOO_LARGE;

/* What a server claims about sizes costs the device no more than it agreed to. */
TEST(a_billboard_takes_no_more_memory_than_agreed)
{
    static const char *const sizes[] = {
        "\"states\":4294967295,\"actions\":3,\"horizon\":2", /* not those of the table */
        "\"states\":2,\"actions\":3,\"horizon\":4294967295",
        "\"states\":2,\"actions\":4294967295,\"horizon\":2",
        "\"states\":2,\"actions\":90000000,\"horizon\":2", /* they are, but for the counts */
    };
    static const char *const head = "{\"learner\":\"ours\",\"version\":3,\"model\":\"local\","
                                    "\"guarantee\":{\"epsilon\":1,\"delta\":0},\"agent\":{"
                                    "\"kind\":\"dp-ucbvi\",\"sums\":null,\"settings\":[]},"
                                    "\"episodes\":50,\"space\":{\"stationary\":true,";
    char text[1024];
    tacit_error err = {0};
    SCOPED(tacit_client) *client = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        (void)snprintf(text, sizeof text, "%s%s},\"policy\":[[0,2],[1,1]]}", head, sizes[i]);
        tacit_status status = tacit_client_create(text, strlen(text), &any, &client, &err);
        if (i < 2)
            assert_status(status, uncountable);
        else
            assert_true(status == TACIT_NO_MEMORY || status == TACIT_TOO_LARGE);
        assert_true(client == NULL && err.message[0] != '\0');
    }
    tacit_client_terms small = any;
    small.memory = 4096;
    assert_status(tacit_client_create(board, strlen(board), &small, &client, &err),
                  TACIT_NO_MEMORY);
    client = open_client(board); /* and afterwards there is as much as ever */
}

/* A device has nobody's sums, so that it does not matter how many users there are. */
TEST(a_device_of_a_billion_users_needs_little_memory)
{
    static const char format[] =
        "{\"learner\":\"ours\",\"version\":3,\"users\":7,\"model\":\"local\",\"guarantee\":{"
        "\"epsilon\":1,\"delta\":%g},\"agent\":{\"kind\":\"dp-ucbvi\",\"sums\":null,\"settings\":[]"
        "},"
        "\"space\":{\"states\":2,\"actions\":3,\"horizon\":2,\"stationary\":true},"
        "\"episodes\":1000000000,\"policy\":[[0,2],[1,1]]}";
    const tacit_client_terms small = {.epsilon = 1, .delta = 1e-9, .memory = 40 << 10};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        SCOPED(tacit_client) *client = NULL;
        tacit_error err = {0};
        const char *text = fmt(format, gaussian ? 1e-9 : 0);
        if (tacit_client_create(text, strlen(text), &small, &client, &err) != TACIT_OK)
            fail_msg("%s", err.message);
    }
}

TEST(what_is_no_billboard_is_refused)
{
    static const struct {
        const char *text;
        tacit_status status;
    } cases[] = {
        {"", TACIT_SYNTAX},
        {"[]", TACIT_SYNTAX},
        {"{}", TACIT_SYNTAX},
        {HEAD "}", TACIT_UNSUPPORTED},
        {HEAD ",\"policy\":[[0,2]]}", TACIT_SYNTAX},
        {HEAD ",\"policy\":[[0,2],[1]]}", TACIT_SYNTAX},
        {HEAD ",\"policy\":[[0,3],[1,1]]}", TACIT_SYNTAX},
        {HEAD ",\"policy\":[[0,-1],[1,1]]}", TACIT_SYNTAX},
        {HEAD ",\"policy\":7}", TACIT_SYNTAX},
        {HEAD ",\"mixed\":[[[0,1,0],[0.5,0,0.4]],[[0.25,0.25,0.5],[1,0,0]]]}", TACIT_SYNTAX},
        {"{\"model\":\"joint\"}", TACIT_UNSUPPORTED},
        {"{\"model\":\"local\",\"learner\":5}", TACIT_SYNTAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_client *client = NULL;
        tacit_error err = {0};
        tacit_status status =
            tacit_client_create(cases[i].text, strlen(cases[i].text), &any, &client, &err);
        if (status != cases[i].status)
            fail_msg("%s: %s", cases[i].text, tacit_status_name(status));
        assert_true(client == NULL && err.message[0] != '\0');
    }
    for (size_t n = 0; n < sizeof board - 1; n++) { /* cut short anywhere */
        tacit_client *client = NULL;
        assert_true(tacit_client_create(board, n, &any, &client, NULL) != TACIT_OK);
    }
}

/* Public tables are checked like anything that a server says. */
TEST(tables_that_are_not_what_was_declared_are_refused)
{
    enum { S = 2, A = 3, PARTS = 2, D = 2, MOST = S * A * PARTS * S };
    static const struct {
        const char *name, *space;
        size_t n;
        double numbers[MOST]; /* the last one is repeated */
        bool good;
    } cases[] = {
        {"rewards", "", 6, {0, 1, 0.5, 0.25}, true},
        {"rewards", "", 5, {0.5}, false},
        {"rewards", "", 7, {0.5}, false},
        {"rewards", "", 6, {0.5, 1.5, 0.5}, false},
        {"rewards", "", 6, {0.5, -0.5, 0.5}, false},
        {"mixture", ",\"parts\":2", 24, {0.5}, true},
        {"mixture", ",\"parts\":2", 24, {0.4}, false},
        {"mixture", ",\"parts\":2", 24, {2, -1, 0.5}, false},
        {"mixture", ",\"parts\":1", 24, {0.5}, false},
        {"mixture", "", 24, {0.5}, false},
        {"rewards", ",\"parts\":2", 6, {0.5}, false}, /* parts, but no mixture */
        {"features", ",\"features\":2,\"shared\":true,\"bound\":1", 12, {0.7}, true},
        {"features", ",\"features\":2,\"shared\":true,\"bound\":1", 12, {0.8}, false},
        {"features", ",\"features\":2,\"shared\":true,\"bound\":0", 12, {0.7}, false},
        {"features", ",\"features\":4294967295,\"shared\":true,\"bound\":1", 12, {0.7}, false},
        {"rewards", ",\"features\":2,\"shared\":true,\"bound\":1", 6, {0.5}, false},
        {"features", "", 12, {0.5}, false},
        {"rewards", ",\"context\":1", 6, {0.5}, false},
    };
    tacit__seal_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[8 * MOST];
        char table[TACIT__BASE64_SIZE(sizeof bytes)];
        tacit__writer w = {.at = bytes};
        size_t told = MOST;
        while (told > 1 && cases[i].numbers[told - 1] == 0)
            told--;
        for (size_t j = 0; j < cases[i].n; j++)
            tacit__write_double(&w, cases[i].numbers[j < told ? j : told - 1]);
        tacit__base64_write(bytes, w.size, table);
        const char *end = strstr(board, ",\"horizon\"");
        const char *text = fmt("{\"tables\":{\"%s\":\"%s\"},%.*s%s%s", cases[i].name, table,
                               (int)(end - board - 1), board + 1, cases[i].space, end);
        SCOPED(tacit_client) *client = NULL;
        tacit_error err = {0};
        tacit_status status = tacit_client_create(text, strlen(text), &any, &client, &err);
        const tacit_status refusal =
            strstr(cases[i].space, "4294967295") != NULL ? uncountable : TACIT_SYNTAX;
        if (status != (cases[i].good ? TACIT_OK : refusal))
            fail_msg("case %zu: %s", i, err.message);
    }
}
