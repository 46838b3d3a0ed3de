/* What a service file declares beyond sizes (complementary, parameter_norm, weights, simplex) against the experiment that justified
 * it: the same request, so the same noise; kept over restarts; held to by every input; told to whoever asks. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>
#include <tacit/lab.h>

#include "agents/agent_inside.h"
#include "serve/config.h"
#include "service/plain.h"

#define BEGIN "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
enum { USERS = 2000 };

static FILE *open_file(const server *s, const char *name)
{
    FILE *file = fopen(fmt("%s/%s", s->directory, name), "w");
    assert_non_null(file);
    return file;
}

static const char *read_text(const server *s, const char *name)
{
    static char text[4096];
    server_read(s, name, text, sizeof text);
    return text;
}

/* --- The same promise ----------------------------------------------------------------------------- */

#define PEOPLE "logged-bandit, file: people.csv, answer: 'right {a | b}', context: 'age 20..70'"
#define ROOMS                                                                                      \
    "kernel-bandit, contexts: 4, actions: 3, norm: 0.75, kernel: matern-2.5(0.3), noise: 0.25"

/* An experiment's world and agent, what a service says of such a world, and the same but for one thing that it leaves out. */
static const struct {
    const char *name, *world, *agent, *space, *less;
} cases[] = {
    {"norm", "linear-bandit, d: 3, actions: 4, contexts: 0, noise: 0.5",
     "lin-ucb, bonus_scale: 1, privacy: {model: joint, epsilon: 1}",
     "features: 3, actions: 4, parameter_norm: 0.25", "features: 3, actions: 4"},
    {"two", PEOPLE, "lin-ucb, privacy: {model: joint, epsilon: 1}",
     "features: 2, actions: 2, shared: no, complementary: yes",
     "features: 2, actions: 2, shared: no"},
    {"two-local", PEOPLE, "lin-ucb, privacy: {model: local, epsilon: 2}",
     "features: 2, actions: 2, shared: no, complementary: yes",
     "features: 2, actions: 2, shared: no"},
    {"rooms", ROOMS, "capri, privacy: {model: joint, epsilon: 1}",
     "states: 4, actions: 3, horizon: 1, features: rooms.csv, weights: even.csv, context: 1, "
     "kernel: matern-2.5(0.3), parameter_norm: 0.375",
     "states: 4, actions: 3, horizon: 1, features: rooms.csv, context: 1, "
     "kernel: matern-2.5(0.3), parameter_norm: 0.375"},
    {"rooms-local", ROOMS, "capri, privacy: {model: local, epsilon: 2}",
     "states: 4, actions: 3, horizon: 1, features: rooms.csv, weights: even.csv, context: 1, "
     "kernel: matern-2.5(0.3), parameter_norm: 0.375",
     "states: 4, actions: 3, horizon: 1, features: rooms.csv, weights: even.csv, context: 1, "
     "kernel: matern-2.5(0.3)"},
    {"points", "linear-bandit, d: 2, actions: 3, contexts: 4",
     "capri, privacy: {model: joint, epsilon: 1}",
     "states: 4, actions: 3, horizon: 1, features: points.csv, weights: even.csv, bound: 1, "
     "kernel: linear, parameter_norm: 0.5",
     "states: 4, actions: 3, horizon: 1, features: points.csv, weights: even.csv, bound: 1, "
     "kernel: linear"},
};

/* The public tables of a bandit world with four contexts and three actions. */
static void write_points(const server *s, const char *name, const char *kind, const char *d)
{
    const tacit_setting settings[] = {{"contexts", "4", 0}, {"actions", "3", 0}, {"d", d, 0}};
    const tacit_world_request request = {.kind = kind, SETTINGS_OF(settings, d != NULL ? 3 : 2)};
    SCOPED(tacit_world) *world = NULL;
    tacit_error err = {0};
    assert_ok(tacit_world_create(&request, &world, &err));
    const tacit_bandit *b = tacit_world_describe(world)->bandit;
    FILE *file = open_file(s, name);
    (void)fputs("state,action,feature,value\n", file);
    for (size_t i = 0; i < 12 * b->dimension; i++)
        (void)fprintf(file, "%zu,%zu,%zu,%.17g\n", i / b->dimension / 3, i / b->dimension % 3,
                      i % b->dimension, b->points[i]);
    assert_int_equal(fclose(file), 0);
}

static void write_tables(const server *s)
{
    write_points(s, "rooms.csv", "kernel-bandit", NULL);
    write_points(s, "points.csv", "linear-bandit", "2");
    FILE *even = open_file(s, "even.csv"), *uneven = open_file(s, "uneven.csv"),
         *people = open_file(s, "people.csv");
    (void)fputs("state,probability\n3,0.25\n0,0.25\n1,0.25\n2,0.25\n", even);
    (void)fputs("state,probability\n3,0.5\n0,0.25\n1,0.25\n", uneven);
    (void)fputs("age,right\n", people);
    for (int i = 0; i < 80; i++)
        (void)fprintf(people, "%d,%s\n", 20 + i % 50, i % 50 < 25 ? "a" : "b");
    assert_true(fclose(even) == 0 && fclose(uneven) == 0 && fclose(people) == 0);
}

static void put_learners(char *out, size_t size, bool less)
{
    size_t n = (size_t)snprintf(out, size, BEGIN);
    for (size_t i = 0; i < N_OF(cases); i++)
        n += (size_t)snprintf(
            out + n, size - n, "  - {name: %s, users: %d, space: {%s},\n     agent: {kind: %s}}\n",
            cases[i].name, USERS, less ? cases[i].less : cases[i].space, cases[i].agent);
    assert_true(n < size);
}

/* Every line of a plan stands in the service's guarantee, with the same numbers. */
static void assert_same_plan(const tacit_plan *plan, const char *guarantee)
{
    assert_true(tacit_plan_size(plan) > 0);
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        const char *start = fmt("{\"name\":\"%s\",\"dimension\":%zu,\"steps\":%llu,", line->name,
                                line->dimension, (unsigned long long)line->steps);
        const char *there = strstr(guarantee, start);
        if (there == NULL)
            fail_msg("%s is not in %s", start, guarantee);
        assert_true(json_number(there, "l2") == line->l2);
        assert_true(json_number(there, "column_l2") == line->column_l2);
        assert_true(json_number(there, "scale") == tacit_plan_scale(plan, i));
    }
}

TEST(an_experiment_and_its_service_promise_the_same)
{
    static char yaml[4096];
    SCOPED_BY(end) server s;
    put_learners(yaml, sizeof yaml, true);
    server_open(&s, TACIT_COMMAND, yaml);
    write_tables(&s);
    SCOPED_BY(tacit__service_config_free) tacit__service_config less, full;
    tacit_error err = {0};
    if (tacit__service_config_read(s.file, &less, &err) != TACIT_OK ||
        tacit__service_config_open(&less, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    put_learners(yaml, sizeof yaml, false);
    server_rewrite(&s, yaml);
    if (tacit__service_config_read(s.file, &full, &err) != TACIT_OK ||
        tacit__service_config_open(&full, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    server_token(&s, "all", "admin", s.token);
    if (!server_start(&s, NULL))
        fail_msg("%s", read_text(&s, "err"));
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[1024], path[128];
        uint8_t lab[TACIT__KEY_BYTES], service[TACIT__KEY_BYTES], other[TACIT__KEY_BYTES];
        SCOPED(tacit_experiment) *experiment = NULL;
        SCOPED(tacit_world) *world = NULL;
        SCOPED(tacit_agent) *agent = NULL;
        tacit_agent_request request;
        int n = snprintf(text, sizeof text,
                         "world: {kind: %s}\nepisodes: %d\nruns: 1\nseed: 1\nagents:\n  - "
                         "{kind: %s}\n",
                         cases[i].world, USERS, cases[i].agent);
        const char *name = fmt("%s/experiment.yaml", s.directory);
        if (tacit_experiment_parse(text, (size_t)n, name, NULL, &experiment, &err) != TACIT_OK ||
            tacit_experiment_world(experiment, 0, &world, &err) != TACIT_OK ||
            tacit_experiment_request(experiment, world, 0, &request, &err) != TACIT_OK ||
            tacit_experiment_agent(experiment, 0, world, 0, 0, &agent, &err) != TACIT_OK)
            fail_msg("%s: %s", cases[i].name, err.message);
        assert_ok(tacit__agent_fingerprint(&request, lab));
        assert_ok(tacit__agent_fingerprint(&full.learners[i].request, service));
        assert_ok(tacit__agent_fingerprint(&less.learners[i].request, other));
        if (memcmp(lab, service, sizeof lab) != 0)
            fail_msg("%s: the experiment asks for another agent", cases[i].name);
        assert_memory_not_equal(lab, other, sizeof lab);
        (void)snprintf(path, sizeof path, "/v1/guarantee?learner=%s", cases[i].name);
        assert_int_equal(server_get(&s, path, answer), 200);
        assert_same_plan(tacit_agent_release_plan(agent), answer);
    }
    /* what is declared is told, here and on the billboard */
    static const char *const told[][2] = {{"norm", "\"parameter_norm\":0.25"},
                                          {"two", "\"complementary\":true"},
                                          {"two-local", "\"complementary\":true"},
                                          {"rooms", "\"weights\":true"},
                                          {"rooms-local", "\"parameter_norm\":0.375"}};
    static const char *const routes[] = {"guarantee", "billboard"};
    for (size_t i = 0; i < 2 * N_OF(told); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/v1/%s?learner=%s", routes[i % 2], told[i / 2][0]);
        assert_int_equal(server_get(&s, path, answer), 200);
        assert_non_null(strstr(answer, told[i / 2][1]));
    }
    assert_int_equal(server_tool(&s, "explain service.yaml --json", answer, sizeof answer), 0);
    for (size_t i = 0; i < N_OF(told); i++) {
        assert_non_null(strstr(answer, fmt("%.*s", (int)strcspn(told[i][1], ":"), told[i][1])));
    }
}

/* One row of exact sums: on the simplex, noise is less, as for a request from C that says the same. */
TEST(features_that_sum_to_one_need_less_noise)
{
    static const char yaml[] =
        BEGIN "  - {name: any, space: {features: 3, actions: 2, horizon: 2}, users: 2000,\n"
              "     agent: {kind: lsvi-ucb, schedule: batched, privacy: {model: joint, epsilon: 1, "
              "delta: 0}}}\n"
              "  - {name: sums, space: {features: 3, actions: 2, horizon: 2, simplex: yes}, users: "
              "2000,\n"
              "     agent: {kind: lsvi-ucb, schedule: batched, privacy: {model: joint, epsilon: 1, "
              "delta: 0}}}\n";
    SERVER(s, yaml);
    const tacit_linear linear = {.dimension = 3, .bound = 1, .simplex = true};
    const tacit_setting batched = {"schedule", "batched", 0};
    const tacit_agent_request request = {SETTINGS_OF(&batched, 1),
                                         .kind = "lsvi-ucb",
                                         .guarantee = {.model = TACIT_MODEL_JOINT, .epsilon = 1},
                                         .n_actions = 2,
                                         .horizon = 2,
                                         .episodes = 2000,
                                         .linear = &linear};
    tacit_noise *noise;
    tacit_agent *agent = NULL;
    tacit_error err = {0};
    assert_ok(tacit_noise_create_simulated(1, &noise));
    assert_ok(tacit_agent_create(&request, noise, &agent, &err));
    tacit_noise_destroy(noise);
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=sums", answer), 200);
    assert_same_plan(tacit_agent_release_plan(agent), answer);
    assert_non_null(strstr(answer, "\"simplex\":true"));
    tacit_agent_destroy(agent);
    double less = json_number(answer, "scale");
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=any", answer), 200);
    assert_null(strstr(answer, "simplex"));
    assert_true(less < json_number(answer, "scale"));
}

/* --- Kept ------------------------------------------------------------------------------------------ */

TEST(what_was_declared_stays)
{
    static const char *const form =
        BEGIN "  - {name: two, space: {features: 2, actions: 2, shared: no%s%s}, users: 50,\n"
              "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
              "  - {name: rooms, space: {states: 4, actions: 3, horizon: 1, features: rooms.csv, "
              "context: 1, weights: %s},\n"
              "     users: 50, agent: {kind: capri, privacy: {model: joint, epsilon: 1}}}\n"
              "  - {name: steps, space: {features: 3, actions: 2, horizon: 2%s}, users: 50,\n"
              "     agent: {kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}}\n";
    static const char *const parts[4] = {", complementary: yes", ", parameter_norm: 0.5",
                                         "even.csv", ", simplex: yes"};
    static const char *const changed[4] = {"", ", parameter_norm: 0.75", "uneven.csv", ""};
    static const char *const learners[4] = {"two", "two", "rooms", "steps"};
    char decision[1024];
    SCOPED_BY(end) server s;
    server_open(&s, TACIT_COMMAND, fmt(form, parts[0], parts[1], parts[2], parts[3]));
    write_tables(&s);
    server_token(&s, "all", "admin", s.token);
    if (!server_start(&s, NULL))
        fail_msg("%s", read_text(&s, "err"));
    for (int i = 0; i < 6; i++) {
        if (i == 3) { /* in the middle it dies, and goes on */
            kill_and_start(&s);
        }
        decide(&s, "/v1/decide", "{\"learner\":\"two\",\"context\":[0.6,-0.5]}", decision);
        assert_observed(&s, decision, ",\"reward\":1", "finished");
        decide(&s, "/v1/decide", "{\"learner\":\"rooms\",\"state\":3}", decision);
        assert_observed(&s, decision, ",\"reward\":0.5", "finished");
    }
    server_wait_users(&s, "two", 6);
    server_wait_users(&s, "rooms", 6);
    assert_true(ledger(&s, "two", "refused") == 0 && ledger(&s, "rooms", "refused") == 0);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    for (size_t i = 0; i < 4; i++) {
        const char *now[4], *said;
        memcpy(now, parts, sizeof now);
        now[i] = changed[i];
        server_rewrite(&s, fmt(form, now[0], now[1], now[2], now[3]));
        assert_no_start(&s, 2);
        said = read_text(&s, "err");
        const char *wanted =
            fmt("the store has a learner '%s' with other settings; its promise to its "
                "users stays in force: give the changed learner another name",
                learners[i]);
        if (strstr(said, wanted) == NULL)
            fail_msg("%s", said);
    }
    server_rewrite(&s, fmt(form, parts[0], parts[1], parts[2], parts[3]));
    assert_true(server_start(&s, NULL));
    assert_true(ledger(&s, "two", "users") == 6);
}

/* --- Held to --------------------------------------------------------------------------------------- */

TEST(every_input_is_held_to_it)
{
    static const char yaml[] = BEGIN
        "  - {name: steps, space: {features: 2, actions: 2, horizon: 2, simplex: yes}, users: "
        "50,\n"
        "     agent: {kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}}\n"
        "  - {name: two, space: {features: 2, actions: 2, shared: no, complementary: yes,\n"
        "     bound: 0.5, parameter_norm: 1}, users: 50,\n"
        "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n";
    static const char *const wrong[] = {
        "[0.5,0.4, 1,0]",      "[0.5,0.5, 0.7,0.7]", "[1.5,-0.5, 1,0]",       "[0.5,0.5, 0,0]",
        "[0.5,0.500001, 1,0]", "[1,0, 0.2,0.2]",     "[1e300,1e300, 0.5,0.5]"};
    char episode[512], decision[1024];
    SERVER(s, yaml);
    open_episode(&s, "{\"learner\":\"steps\"}", episode);
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_error(server_post(&s, path, fmt("{\"context\":%s}", wrong[i]), answer), 422,
                     "out_of_range", "context");
        assert_non_null(strstr(answer, "not negative and sum to 1"));
    }
    decide(&s, path, "{\"context\":[0.25,0.75, 1,0]}", decision);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_error(observe(&s, decision, fmt(",\"reward\":1,\"next_context\":%s", wrong[i])), 422,
                     "out_of_range", "next_context");
    }
    assert_observed(&s, decision, ",\"reward\":1,\"next_context\":[0.1,0.9, 0.3,0.7]", "open");
    decide(&s, path, "{\"context\":[0.1,0.9, 0.3,0.7]}", decision);
    assert_observed(&s, decision, ",\"reward\":0,\"next_context\":[0,1, 1,0]", "finished");
    server_wait_users(&s, "steps", 1);
    assert_true(ledger(&s, "steps", "refused") == 0);
    assert_error(
        server_post(&s, "/v1/decide", "{\"learner\":\"two\",\"context\":[0.4,0.4]}", answer), 422,
        "out_of_range", "context");
    decide(&s, "/v1/decide", "{\"learner\":\"two\",\"context\":[0.3,0.4]}", decision);
    assert_error(observe(&s, decision, ",\"reward\":1.01"), 422, "out_of_range", "reward");
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "two", 1);
    assert_true(ledger(&s, "two", "refused") == 0);
}

/* --- Devices --------------------------------------------------------------------------------------- */

static tacit_status read_board(const char *text, tacit_client **out, tacit_error *err)
{
    const tacit_client_terms terms = {.epsilon = 2, .delta = 1e-3};
    *out = NULL;
    return tacit_client_create(text, strlen(text), &terms, out, err);
}

/* The billboard with a piece of it replaced is refused. */
static void assert_refused(const char *board, const char *piece, const char *by)
{
    static char text[SERVER_ANSWER + 200];
    tacit_client *client;
    tacit_error err = {0};
    const char *at = strstr(board, piece);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - board), board, by, at + strlen(piece));
    tacit_status status = read_board(text, &client, &err);
    tacit_client_destroy(client);
    if (status == TACIT_OK)
        fail_msg("taken with %s", by);
    assert_true(err.message[0] != '\0');
}

TEST(devices_get_it_and_check_it)
{
    static char got[SERVER_ANSWER];
    static char yaml[4096];
    SCOPED_BY(end) server s;
    put_learners(yaml, sizeof yaml, false);
    server_open(&s, TACIT_COMMAND, yaml);
    write_tables(&s);
    server_token(&s, "all", "admin", s.token);
    assert_true(server_start(&s, NULL));
    static const char *const names[] = {"two-local", "rooms-local"};
    for (size_t i = 0; i < N_OF(names); i++) {
        char key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
        tacit_client *client;
        tacit_error err = {0};
        const double features[4] = {0.6, -0.5}; /* two situations of the same */
        const uint32_t states[2] = {3, 3};
        const tacit_situation here = {.state = 3, .features = i == 0 ? features : NULL};
        uint32_t action;
        double probability, reward = 1;
        assert_int_equal(server_get(&s, fmt("/v1/billboard?learner=%s", names[i]), got), 200);
        const char *board = strstr(got, "\r\n\r\n") + 4;
        if (read_board(board, &client, &err) != TACIT_OK)
            fail_msg("%s: %s", names[i], err.message);
        assert_ok(tacit_client_act(client, &here, &action, &probability, &err));
        const tacit_trajectory episode = {STEPS_OF(i == 0 ? NULL : states, &action, &reward),
                                          .features = i == 0 ? features : NULL};
        assert_ok(tacit_client_report(client, &episode, &body, key, &err));
        int status = server_ask(&s, s.token, "POST", "/v1/reports",
                                fmt("Idempotency-Key: %s\r\n", key), body, answer);
        if (status != 202)
            fail_msg("%s: %d %s", names[i], status, answer);
        server_wait_users(&s, names[i], 1);
        free(body);
        tacit_client_destroy(client);
        if (i == 0) { /* a device that is told otherwise does not take the model for its own */
            assert_refused(board, "\"complementary\":true", "\"complementary\":1");
            assert_refused(board, ",\"complementary\":true", "");
            assert_refused(board, "\"shared\":false", "\"shared\":true");
            assert_refused(board, "\"complementary\":true",
                           "\"complementary\":true,\"parameter_norm\":-1");
            assert_refused(board, "\"complementary\":true",
                           "\"complementary\":true,\"weights\":true");
        } else {
            assert_refused(board, ",\"weights\":true", "");
            assert_refused(board, "\"weights\":\"", "\"lost\":\"");
            assert_refused(board, "\"parameter_norm\":0.375", "\"parameter_norm\":0");
            assert_refused(board, "\"parameter_norm\":0.375", "\"parameter_norm\":0.5");
            /* 0.25 is 00 .. 00 d0 3f: another number, and the weights sum to more than 1 */
            assert_refused(board, "\"weights\":\"AAAAAAAA0D8", "\"weights\":\"AAAAAAAA4D8");
        }
    }
}

/* --- Simulated users -------------------------------------------------------------------------------- */

static int simulate(server *s, const char *learner, const char *more)
{
    return server_tool(s,
                       fmt("simulate-users %s --token-file token --learner %s --users 40 --json %s",
                           s->url, learner, more),
                       answer, sizeof answer);
}

TEST(users_of_worlds_that_keep_it_may_come)
{
    static const char yaml[] = BEGIN
        "  - {name: two, space: {features: 2, actions: 2, shared: no, complementary: yes}, "
        "users: 500,\n"
        "     agent: {kind: lin-ucb, privacy: {model: local, epsilon: 1}}}\n"
        "  - {name: norm, space: {features: 2, actions: 2, parameter_norm: 0.3}, users: 500,\n"
        "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
        "  - {name: steps, space: {features: 3, actions: 2, horizon: 2, simplex: yes}, users: "
        "500,\n"
        "     agent: {kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}}\n";
    static const struct {
        const char *learner, *more, *complaint; /* NULL: it fits */
    } plays[] = {
        {"two",
         "--world logged-bandit --set file=people.csv --set 'answer=right {a | b}' --set "
         "'context=age 20..70'",
         NULL},
        {"two", "--world linear-bandit --set d=2 --set actions=2 --set arms=disjoint",
         "tacit: the world linear-bandit has 1000 states, 2 features of each user of norm at most "
         "1, 2 actions and horizon 1; the learner has 2 features of each user of norm at most 1, 2 "
         "actions whose rewards sum to 1 and horizon 1\n"},
        {"norm", "--world linear-bandit --set d=2 --set actions=2 --set contexts=0 --set noise=0.5",
         NULL},
        {"norm", "--world linear-bandit --set d=2 --set actions=2 --set contexts=0",
         "tacit: the world linear-bandit has 2 features of each action of norm at most 1, 2 "
         "actions "
         "and horizon 1, parameters of norm at most 0.5; the learner has 2 features of each action "
         "of norm at most 1, 2 actions and horizon 1, parameters of norm at most 0.3\n"},
        {"steps", "--world random-linear --set d=3 --set states=5 --set actions=2 --set horizon=2",
         NULL},
    };
    SERVER(s, yaml);
    write_tables(&s);
    FILE *token = open_file(&s, "token");
    (void)fprintf(token, "%s\n", s.token);
    assert_int_equal(fclose(token), 0);
    for (size_t i = 0; i < N_OF(plays); i++) {
        int code = simulate(&s, plays[i].learner, plays[i].more);
        const char *said = read_text(&s, "tool.err");
        if (code != (plays[i].complaint != NULL ? 2 : 0))
            fail_msg("%s: %d %s", plays[i].learner, code, said);
        if (plays[i].complaint != NULL) {
            assert_string_equal(said, plays[i].complaint);
            continue;
        }
        assert_true(json_number(answer, "known") == 40);
        server_wait_users(&s, plays[i].learner, 40);
        assert_true(ledger(&s, plays[i].learner, "refused") == 0);
    }
}
