/* Names instead of numbers: columns of a context and actions, as a service file has them; what tells their meanings apart; and that
 * the encoding is that of the world logged-bandit. What requests and answers have is in tests/service/test_action_names.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/noise.h>
#include <tacit/world.h>

#include "base/memory.h"
#include "serve/config.h"
#include "serve/http/routes.h"
#include "serve/learner/action_names.h"
#include "serve/people/context.h"
#include "support/cases.h"
#include "support/check.h"

#define JOINT "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"
#define LOCAL "{kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}"
#define BEGIN "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
#define LIN "{kind: lin-ucb, privacy: {model: joint, epsilon: 1}}"
#define CLIP "{kind: lin-ucb, outside: clip, privacy: {model: joint, epsilon: 1}}"
#define DOSES "actions: [low, medium, high]"
#define COLUMNS                                                                                    \
    "'age 17..90, gain 0..1000 log, height 140..200 ?, country {DE | FR | IT}, city {Bonn | ...}'"

static const char people[] = BEGIN
    "  - {name: dose, space: {context: " COLUMNS ", " DOSES "}, users: 100, agent: " LIN "}\n"
    "  - {name: clip, space: {context: " COLUMNS ", " DOSES "}, users: 100, agent: " CLIP "}\n"
    "  - {name: free, space: {context: " COLUMNS ", " DOSES "}, users: 100,\n"
    "     agent: {kind: lin-ucb, privacy: {model: none}}}\n"
    "  - {name: walk, space: {states: 3, actions: [stay, 'go \"on\"'], horizon: 1, user: "
    "required},\n     users: 100, agent: " JOINT "}\n";

static void read_config(const char *text, tacit__service_config *c)
{
    tacit_error err = {0};
    if (tacit__service_config_parse(text, strlen(text), "dir/s.yaml", c, &err) != TACIT_OK ||
        tacit__service_config_open(c, &err) != TACIT_OK)
        fail_msg("%s", err.message);
}

static void refuse(char *space, char said[CASE_TEXT])
{
    static const char before[] = "dir/s.yaml:4: ";
    char text[600], *agent = case_rest(space);
    tacit__service_config c;
    tacit_error err = {0};
    (void)case_rest(agent);
    (void)snprintf(text, sizeof text, BEGIN "  - {name: a, users: 9, space: {%s}, agent: %s}\n",
                   space, agent);
    assert_true(tacit__service_config_parse(text, strlen(text), "dir/s.yaml", &c, &err) !=
                TACIT_OK);
    assert_memory_equal(err.message, before, strlen(before));
    (void)snprintf(said, CASE_TEXT, "%s", err.message + strlen(before));
}

TEST(names_are_read_or_refused_with_the_line)
{
    cases_run("service/cases/names",
              (const case_word[]){{"$DOSES", DOSES}, {"$LIN", LIN}, {"$LOCAL", LOCAL}, {0}},
              refuse);
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    read_config(people, &c);
    const tacit__learner_config *l = &c.learners[0];
    assert_true(l->known.features == 1 + 1 + 1 + 2 + 3 + 1 && l->per_user == l->known.features);
    assert_true(l->known.disjoint && l->known.bound == 1 && l->request.n_actions == 3);
    assert_string_equal(l->action_names[2], "high");
    assert_true(!l->user_required && c.learners[3].user_required && c.learners[3].per_user == 0);
    tacit__service_config_free(&c);
    assert_survives_no_memory(
        tacit__service_config_parse(people, sizeof people - 1, "dir/s.yaml", &c, NULL), (void)0);
}

/* A number of the context stays what it was: how many features of a table are the context's. */
TEST(a_number_of_context_features_is_no_declaration)
{
    static const char text[] = BEGIN "  - {name: a, users: 9, space: {states: 4, actions: 3, "
                                     "horizon: 1, features: f.csv, context: 1}, agent: " LIN "}\n";
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    assert_ok(tacit__service_config_parse(text, sizeof text - 1, "dir/s.yaml", &c, NULL));
    assert_true(c.learners[0].known.context == 1 && c.learners[0].context.columns == NULL);
}

/* Everything that gives numbers another meaning is another digest; how it is written is not. */
TEST(a_digest_tells_meanings_apart)
{
    static const char *const spaces[] = {
        "context: 'age 17..90, sex {a | b}', actions: [x, y]",
        "context: '  age 17..90 ,sex  { a|b }', actions: [x, y]",
        "context: 'age 17..91, sex {a | b}', actions: [x, y]",
        "context: 'age 17..90 log, sex {a | b}', actions: [x, y]",
        "context: 'age 17..90 ?, sex {a}', actions: [x, y]",
        "context: 'age 17..90, sex {b | a}', actions: [x, y]",
        "context: 'age 17..90, sex {a | b | ...}', actions: [x, y]",
        "context: 'sex {a | b}, age 17..90', actions: [x, y]",
        "context: 'years 17..90, sex {a | b}', actions: [x, y]",
        "context: 'age 17..90, sex {a | b}', actions: [y, x]",
        "context: 'age 17..90, sex {a | b}', actions: 2",
        "context: 'age 17..90, sex {a | b}', actions: [x, y], unit: no",
    };
    uint8_t digests[N_OF(spaces)][TACIT__KEY_BYTES];
    for (size_t i = 0; i < N_OF(spaces); i++) {
        tacit__service_config c;
        read_config(fmt(BEGIN "  - {name: a, users: 9, space: {%s}, agent: " LIN "}\n", spaces[i]),
                    &c);
        assert_int_equal(tacit__action_names_digest(&c.learners[0], digests[i]), TACIT__KEY_BYTES);
        tacit__service_config_free(&c);
        for (size_t j = 0; j < i; j++)
            assert_true((memcmp(digests[i], digests[j], TACIT__KEY_BYTES) == 0) == (i == 1));
    }
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    read_config(BEGIN "  - {name: a, users: 9, space: {features: 3, actions: 2}, agent: " LIN "}\n",
                &c);
    assert_int_equal(tacit__action_names_digest(&c.learners[0], digests[0]), 0);
}

/* The features of people of a file, and of requests that say the same: equal to the last bit. */
TEST(the_encoding_is_that_of_logged_bandit)
{
    static const char *const lines[][2] = {
        {"17,0,140,DE,Bonn,low",
         "{\"age\":17,\"gain\":0,\"height\":140,\"country\":\"DE\",\"city\":\"Bonn\"}"},
        {"90,1000,?,FR,Berlin,high",
         "{\"age\":90,\"gain\":1000,\"country\":\"FR\",\"city\":\"B\"}"},
        {"41.7,17,170.3,IT,?,medium",
         "{\"age\":41.7,\"gain\":17,\"height\":170.3,\"country\":\"IT\"}"},
        {"33,3,199.5,?,Bonn,low", "{\"age\":33,\"gain\":3,\"height\":199.5,\"city\":\"Bonn\"}"},
        {"-5,1e6,300,DE,?,low", /* outside: as far as the range goes */
         "{\"age\":12,\"gain\":2000,\"height\":200.5,\"country\":\"DE\"}"}};
    const tacit__route *route = tacit__route_find("POST", "/v1/decide", &(const char *){NULL},
                                                  &(size_t){0}, &(const char *){NULL});
    char directory[] = "/tmp/tacit-names-XXXXXX";
    assert_non_null(mkdtemp(directory));
    const char *path = fmt("%s/people.csv", directory);
    const char *columns = fmt("%.*s", (int)sizeof COLUMNS - 3, &COLUMNS[1]);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("age,gain,height,country,city,dose\n", file);
    for (size_t i = 0; i < N_OF(lines); i++)
        (void)fprintf(file, "%s\n", lines[i][0]);
    assert_int_equal(fclose(file), 0);
    for (int unit = 0; unit < 2; unit++) {
        const tacit_setting settings[] = {{"file", path, 0},
                                          {"context", columns, 0},
                                          {"answer", "dose {low | medium | high}", 0},
                                          {"order", "file", 0},
                                          {"unit", unit == 1 ? "yes" : "no", 0}};
        const tacit_world_request request = {SETTINGS_OF(settings, N_OF(settings)),
                                             .kind = "logged-bandit"};
        SCOPED_BY(tacit__service_config_free) tacit__service_config c;
        SCOPED(tacit_world) *world = NULL;
        SCOPED(tacit_rounds) *rounds = NULL;
        tacit_error err = {0};
        if (tacit_world_create(&request, &world, &err) != TACIT_OK)
            fail_msg("%s", err.message);
        tacit_noise *root;
        assert_ok(tacit_noise_create_simulated(1, &root));
        assert_ok(tacit_rounds_create(world, root, &rounds, &err));
        tacit_noise_destroy(root);
        read_config(people, &c);
        tacit__learner_config *l = &c.learners[1];
        l->context.unit = unit == 1;
        assert_int_equal(l->per_user, tacit_world_describe(world)->bandit->dimension);
        for (size_t i = 0; i < N_OF(lines); i++) {
            tacit_visitor visitor;
            char text[400];
            double features[16];
            bool has;
            const int n = snprintf(text, sizeof text, "{\"context\":%s}", lines[i][1]);
            tacit__request r = {.route = route, .body = text, .body_size = (size_t)n};
            tacit__body b;
            assert_ok(tacit_rounds_begin(rounds, i, &visitor));
            assert_true(tacit__body_open(&r, &b));
            assert_true(tacit__context_read(&b, l, "context", &has, features) && has);
            assert_true(r.outside == (i + 1 == N_OF(lines)));
            assert_memory_equal(features, visitor.features, l->per_user * sizeof *features);
            tacit__text_destroy(&r.answer);
        }
    }
    assert_shell("rm -r '%s'", directory);
}
