/* Names instead of numbers: columns of a context and actions, as requests and answers have them; that users
 * must say who they are; what is refused at start. The encoding is that of the world logged-bandit, and is
 * compared with it. */
#include <math.h>
#include <string.h>

#include <tacit/client.h>
#include <tacit/noise.h>
#include <tacit/world.h>

#include "base/memory.h"
#include "serve/config.h"
#include "serve/http/routes.h"
#include "serve/learner/action_names.h"
#include "serve/people/context.h"
#include "service/plain.h"
#include "support/cases.h"

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

/* --- Files ---------------------------------------------------------------------------------------- */

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

/* What the server has said so far. */
static const char *log_of(const server *s)
{
    static char text[8192];
    server_read(s, "err", text, sizeof text);
    return text;
}

/* --- Requests ------------------------------------------------------------------------------------- */

/* Decides for a context, and returns the action's number; the answer is in `answer`. */
static int decide_for(const server *s, const char *learner, const char *context)
{
    return server_post(s, "/v1/decide",
                       fmt("{\"learner\":\"%s\",\"context\":%s}", learner, context), answer);
}

TEST(a_request_has_names_and_so_has_its_answer)
{
    char word[64], decision[1024];
    SERVER(s, people);
    assert_int_equal(decide_for(&s, "dose",
                                "{\"age\":41,\"gain\":10,\"height\":170,\"country\":\"DE\","
                                "\"city\":\"Bonn\"}"),
                     200);
    assert_true(json_field(answer, "action", word, sizeof word));
    assert_true(strcmp(word, "low") == 0 || strcmp(word, "medium") == 0 ||
                strcmp(word, "high") == 0);
    assert_null(strstr(answer, "outside"));
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "dose", 1);
    /* what may be missing is null, or left out if it is declared with a question mark; other cities are one
     */
    assert_int_equal(
        decide_for(&s, "dose", "{\"age\":41,\"gain\":10,\"country\":null,\"city\":null}"), 200);
    assert_null(strstr(answer, "outside"));
    assert_int_equal(decide_for(&s, "dose",
                                "{\"age\":9e1,\"gain\":0,\"height\":null,\"country\":null,"
                                "\"city\":\"K\\u00f6ln\"}"),
                     200);
    assert_null(strstr(answer, "outside"));
    /* who encodes may send the features */
    assert_int_equal(decide_for(&s, "dose", "[1,0,0,0,0,0,0,0,0]"), 200);
    assert_int_equal(decide_for(&s, "dose", "[1,1,0,0,0,0,0,0,0]"), 422);
    assert_int_equal(decide_for(&s, "dose", "[1,0,0]"), 422);
}

/* Quotes, other alphabets, spaces, categories and actions that look like something else: all are text,
 * compared byte by byte. */
TEST(names_may_be_odd)
{
    static const char odd[] = BEGIN
        "  - name: odd\n"
        "    space:\n"
        "      context: 'größe 140..200 ?, \"x y, z\" {1 | 2.5 | null | 日本 | a, b}, n {\"c\" | "
        "d\\e | ...}'\n"
        "      actions: [\"lo\\\"w\", 日本語, '<b>', 0, \"null\", ' 0']\n"
        "    users: 100\n"
        "    agent: " LIN "\n";
    static const struct {
        const char *context, *code, *field; /* NULL: taken */
    } cases[] = {
        {"{\"größe\":170,\"x y, z\":\"1\",\"n\":\"\\\"c\\\"\"}", NULL, NULL},
        {"{\"gr\\u00f6\\u00dfe\":170,\"x y, z\":\"\\u65e5本\",\"n\":\"d\\\\e\"}", NULL, NULL},
        {"{\"x y, z\":\"null\",\"n\":null}", NULL, NULL},
        {"{\"x y, z\":\"a, b\",\"n\":null}", NULL, NULL},
        {"{\"x y, z\":null,\"n\":\" \\\"c\\\"\"}", NULL, NULL}, /* one of the others */
        {"{\"x y, z\":null,\"n\":\"a\\u0000b\"}", NULL, NULL},
        {"{\"x y, z\":\"1\"}", "missing", "context.n"},
        {"{\"n\":\"d\\\\e\"}", "missing", "context.x y, z"},
        {"{\"x y, z\":\"2.50\"}", "out_of_range", "context.x y, z"},
        {"{\"x y, z\":\"1\\u0000\"}", "out_of_range", "context.x y, z"},
        {"{\"x y, z\":\" 1\"}", "out_of_range", "context.x y, z"},
        {"{\"x y, z\":\"a\"}", "out_of_range", "context.x y, z"},
        {"{\"x y, z\":1}", "out_of_range", "context.x y, z"},
        {"{\"größe\":500}", "out_of_range", "context.größe"},
        {"{\"gro\\u0308ße\":170}", "unknown_field", "context"},
        {"{\"\\\"x y, z\\\"\":\"1\"}", "unknown_field", "context"},
        {"{\"\":1}", "unknown_field", "context"},
    };
    static const char *const actions[] = {"lo\\\"w", "日本語", "<b>", "0", "null", " 0"};
    SERVER(s, odd);
    for (size_t i = 0; i < N_OF(cases); i++) {
        const int status = decide_for(&s, "odd", cases[i].context);
        if (cases[i].code != NULL) {
            assert_error(status, 422, cases[i].code, cases[i].field);
            continue;
        }
        assert_int_equal(status, 200);
        size_t found = 0;
        for (size_t j = 0; j < N_OF(actions); j++) {
            found += strstr(answer, fmt("{\"action\":\"%s\",", actions[j])) != NULL;
        }
        assert_int_equal(found, 1);
    }
}

TEST(what_lies_outside_is_refused_or_clipped)
{
    static const struct {
        const char *context, *code, *field; /* of a refusal */
        bool clipped;                       /* taken with outside: clip */
    } cases[] = {
        {"{\"age\":12,\"gain\":0}", "out_of_range", "context.age", true},
        {"{\"age\":90.5,\"gain\":0}", "out_of_range", "context.age", true},
        {"{\"age\":41,\"gain\":-1e300}", "out_of_range", "context.gain", true},
        {"{\"age\":41,\"gain\":0,\"country\":\"secret\"}", "out_of_range", "context.country", true},
        {"{\"age\":41,\"gain\":0,\"country\":\"\"}", "out_of_range", "context.country", true},
        {"{\"gain\":0}", "missing", "context.age", true},
        {"{\"age\":null,\"gain\":0}", "missing", "context.age", true},
        {"{\"age\":\"41\",\"gain\":0}", "out_of_range", "context.age", false},
        {"{\"age\":41,\"gain\":0,\"country\":1}", "out_of_range", "context.country", false},
        {"{\"age\":41,\"gain\":0,\"contry\":\"secret\"}", "unknown_field", "context", false},
        {"{\"age\":41,\"\\u0061ge\":41,\"gain\":0}", "unknown_field", "context", false},
        {"\"secret\"", "out_of_range", "context", false},
        {"7", "out_of_range", "context", false},
    };
    SERVER(s, people);
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_error(decide_for(&s, "dose", cases[i].context), 422, cases[i].code, cases[i].field);
        assert_null(strstr(answer, "secret"));
        const int status = decide_for(&s, "clip", cases[i].context);
        if (cases[i].clipped)
            assert_true(status == 200 && strstr(answer, "\"outside\":true") != NULL);
        else
            assert_error(status, 422, cases[i].code, cases[i].field);
    }
    /* a category that was left out is a mistake, unless all are taken as they come */
    assert_error(decide_for(&s, "dose", "{\"age\":41,\"gain\":0,\"city\":null}"), 422, "missing",
                 "context.country");
    assert_int_equal(decide_for(&s, "clip", "{\"age\":41,\"gain\":0}"), 200);
    assert_null(strstr(answer, "outside"));
    /* a missing place is no place of a learner */
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"dose\"}", answer), 422, "missing",
                 "context");
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"dose\",\"state\":1}", answer), 422,
                 "out_of_range", "state");
}

/* Who reads an error knows what to change. */
TEST(errors_name_the_column_and_what_it_may_have)
{
    static const struct {
        const char *context, *words;
    } cases[] = {
        {"{\"age\":41,\"gain\":0,\"contry\":\"DE\"}",
         "context has a column that is not declared (did you mean 'country'?); the columns are: "
         "age, gain, height, country, city"},
        {"{\"age\":41,\"gain\":0,\"secret\":\"DE\"}",
         "context has a column that is not declared; the columns are: age, gain"},
        {"{\"age\":41,\"\\u0061ge\":41,\"gain\":0}", "context has the column age twice"},
        {"{\"age\":41,\"gain\":0,\"country\":\"ES\"}",
         "context.country must be one of: DE, FR, IT"},
        {"{\"age\":\"41\",\"gain\":0}", "context.age must be a number from 17 to 90, not text"},
        {"{\"age\":41,\"gain\":0,\"country\":1}", "context.country must be text, not a number"},
        {"{\"age\":41,\"gain\":0,\"city\":\"Bonn\"}",
         "context.country is missing; send null if it is not known"},
        {"[]", "context must be an array of 9 numbers"},
    };
    SERVER(s, people);
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(decide_for(&s, "dose", cases[i].context), 422);
        if (strstr(answer, cases[i].words) == NULL)
            fail_msg("'%s' is not in %s", cases[i].words, answer);
        assert_null(strstr(answer, "secret"));
        assert_null(strstr(answer, "contry"));
    }
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
    SCOPED_BY(end) server s;
    server_open(&s, TACIT_COMMAND, people);
    const char *path = fmt("%s/people.csv", s.directory);
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
}

TEST(names_are_told_to_whoever_asks)
{
    static const char *const routes[] = {"guarantee", "billboard", "ledger"};
    SERVER(s, people);
    for (size_t i = 0; i < N_OF(routes); i++) {
        assert_int_equal(server_get(&s, fmt("/v1/%s?learner=dose", routes[i]), answer), 200);
        assert_non_null(strstr(answer, "\"actions\":3,"));
        assert_non_null(strstr(answer, "\"action_names\":[\"low\",\"medium\",\"high\"]"));
        assert_non_null(strstr(
            answer,
            "\"columns\":[{\"name\":\"age\",\"low\":17,\"high\":90},{\"name\":\"gain\",\"low\":0,"
            "\"high\":1000,\"log\":true},{\"name\":\"height\",\"low\":140,\"high\":200,"
            "\"missing\":true},{\"name\":\"country\",\"categories\":[\"DE\",\"FR\",\"IT\"]},"
            "{\"name\":\"city\",\"categories\":[\"Bonn\"],\"others\":true}],\"intercept\":true,"
            "\"unit\":true"));
        assert_int_equal(server_get(&s, fmt("/v1/%s?learner=walk", routes[i]), answer), 200);
        assert_non_null(strstr(answer, "\"action_names\":[\"stay\",\"go \\\"on\\\"\"]"));
        assert_non_null(strstr(answer, "\"user\":\"required\""));
    }
}

TEST(who_must_say_who_they_are_is_refused_without)
{
    char decision[1024], word[64];
    SERVER(s, people);
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"walk\",\"state\":1}", answer), 422,
                 "missing", "user");
    assert_error(
        server_post(&s, "/v1/decide", "{\"learner\":\"walk\",\"state\":1,\"user\":null}", answer),
        422, "missing", "user");
    assert_error(server_post(&s, "/v1/episodes", "{\"learner\":\"walk\"}", answer), 422, "missing",
                 "user");
    decide(&s, "/v1/decide", "{\"learner\":\"walk\",\"state\":1,\"user\":\"ada\"}", decision);
    assert_true(json_field(answer, "action", word, sizeof word));
    assert_true(strcmp(word, "stay") == 0 || strncmp(word, "go ", 3) == 0);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    /* ids are taken as they are: another writing is another user */
    decide(&s, "/v1/decide", "{\"learner\":\"walk\",\"state\":1,\"user\":\"Ada\"}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "walk", 2);
}

TEST(other_names_are_another_learner)
{
    static const char *const form =
        BEGIN "  - {name: dose, space: {context: '%s', actions: [%s]}, users: 9, agent: " LIN "}\n";
    static const char *const changes[][2] = {{"age 17..91", "low, high"},
                                             {"age 17..90", "high, low"}};
    SERVER(s, fmt(form, "age 17..90", "low, high"));
    for (size_t i = 0; i < N_OF(changes); i++) {
        assert_int_equal(server_stop(&s, SIGTERM), 0);
        server_rewrite(&s, fmt(form, changes[i][0], changes[i][1]));
        assert_no_start(&s, 2);
        assert_non_null(strstr(log_of(&s), "the store has a learner 'dose' with other settings"));
        server_rewrite(&s, fmt(form, "age   17..90", "low, high"));
        assert_true(server_start(&s, NULL));
    }
}

TEST(learners_that_the_file_has_not_are_told_of)
{
    static const char other[] = BEGIN "  - {name: dose, space: {context: " COLUMNS ", " DOSES
                                      "}, users: 100, agent: " LIN "}\n";
    char decision[1024];
    SERVER(s, people);
    assert_null(strstr(log_of(&s), "that is not in the service file"));
    decide(&s, "/v1/decide", "{\"learner\":\"walk\",\"state\":1,\"user\":\"ada\"}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "walk", 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, other);
    assert_true(server_start(&s, NULL));
    const char *text = log_of(&s);
    assert_null(strstr(text, "learner dose that is not in the service file"));
    for (const char *const *name = (const char *const[]){"clip", "free", "walk", NULL};
         *name != NULL; name++) {
        assert_non_null(strstr(text, fmt("the store has a learner %s that is not in the service "
                                         "file: it is not served, and 0 "
                                         "of its users wait in the store",
                                         *name)));
    }
}

/* A learner whose requests cannot be taken does not start, and one with the limit that it asks for takes
 * them, in full. */
TEST(learners_whose_requests_do_not_fit_are_refused_at_start)
{
    enum { NUMBERS = 16384 }; /* 128 features of 128 actions */
    static const char *const form = "listen: 127.0.0.1:0\nstore: service.db\nlimits: {body: "
                                    "%s}\nlearners:\n  - {name: %s, users: "
                                    "9, space: {%s},\n     agent: {kind: %s}}\n";
    static const struct {
        const char *body, *name, *space, *agent, *message;
    } cases[] = {
        {"262144", "wide", "features: 128, actions: 128", "lin-ucb, privacy: {model: none}",
         "tacit: service.yaml:6: requests to learner 'wide' may have 410112 bytes, but limits.body "
         "is 262144; write limits: {body: 410112}\n"},
        {"67108864", "vast", "features: 4096, actions: 100000", "lin-ucb, privacy: {model: none}",
         "tacit: service.yaml:6: requests to learner 'vast' may have 10240000512 bytes, more than "
         "any limits.body (67108864): it needs a smaller space\n"},
        {"64", "small", "states: 2, actions: 2, horizon: 1", "ucbvi, privacy: {model: none}", NULL},
        {"1024", "device", "states: 30, actions: 2, horizon: 1",
         "dp-ucbvi, privacy: {model: local, epsilon: 1}", NULL},
    };
    static char yaml[600], body[NUMBERS * 26 + 100];
    server s;
    for (size_t i = 0; i < N_OF(cases); i++) {
        int code = 0;
        (void)snprintf(yaml, sizeof yaml, form, cases[i].body, cases[i].name, cases[i].space,
                       cases[i].agent);
        server_open(&s, TACIT_COMMAND, yaml);
        assert_false(server_start(&s, &code));
        assert_true(code == 2 || code == 3);
        if (cases[i].message != NULL)
            assert_string_equal(log_of(&s), cases[i].message);
        const char *said = strstr(log_of(&s), "write limits: {body: ");
        if (said != NULL) { /* with what it asks for, it starts */
            (void)snprintf(yaml, sizeof yaml, form,
                           fmt("%.*s", (int)strspn(said + 21, "0123456789"), said + 21),
                           cases[i].name, cases[i].space, cases[i].agent);
            server_rewrite(&s, yaml);
            server_token(&s, "all", "admin", s.token);
            if (!server_start(&s, NULL))
                fail_msg("%s", log_of(&s));
        } else {
            assert_int_equal(i, 1);
        }
        if (i == 0) {
            size_t n = (size_t)snprintf(body, sizeof body, "{\"context\":[");
            for (size_t j = 0; j < NUMBERS; j++)
                n += (size_t)snprintf(body + n, sizeof body - n, "%s%.16e", j > 0 ? "," : "",
                                      -1e-3 - 1e-9 * (double)j);
            (void)snprintf(body + n, sizeof body - n, "]}");
            const int status = server_post(&s, "/v1/decide", body, answer);
            if (status != 200)
                fail_msg("status %d: %s", status, answer);
        }
        end(&s);
    }
}

/* Devices act by numbers, which are places in the billboard's list of names. */
TEST(devices_read_a_billboard_with_names)
{
    static const char yaml[] = BEGIN "  - {name: ours, space: {states: 2, actions: [stay, go], "
                                     "horizon: 1}, users: 50, agent: " LOCAL "}\n";
    SERVER(s, yaml);
    assert_int_equal(server_get(&s, "/v1/billboard", answer), 200);
    const char *body = strstr(answer, "\r\n\r\n");
    body = body != NULL ? body + 4 : answer;
    assert_non_null(strstr(body, "\"action_names\":[\"stay\",\"go\"]"));
    const tacit_client_terms terms = {.epsilon = 1, .delta = 1};
    SCOPED(tacit_client) *client = NULL;
    tacit_error err = {0};
    uint32_t action = 9;
    double probability = 0;
    if (tacit_client_create(body, strlen(body), &terms, &client, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tacit_client_describe(client)->n_actions, 2);
    assert_ok(
        tacit_client_act(client, &(tacit_situation){.state = 1}, &action, &probability, &err));
    assert_true(action < 2 && probability > 0);
}

/* The simulator plays people of a file against named columns, with the features that it has made itself. */
TEST(the_simulator_knows_names)
{
    SERVER(s, people);
    char command[600];
    FILE *file = fopen(fmt("%s/people.csv", s.directory), "w");
    assert_non_null(file);
    (void)fputs("age,gain,height,country,city,dose\n", file);
    for (int i = 0; i < 20; i++)
        (void)fprintf(file, "%d,%d,150,DE,Bonn,%s\n", 20 + i, i, i < 9 ? "low" : "high");
    assert_int_equal(fclose(file), 0);
    server_token(&s, "simulator", "decide,observe,read", command);
    server_write(&s, "token", command);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_true(server_start(&s, NULL)); /* it knows the token now */
    (void)snprintf(command, sizeof command,
                   "simulate-users %s --token-file token --learner free --users 20 --world "
                   "logged-bandit --set file=people.csv --set 'answer=dose {low | medium | high}' "
                   "--set \"context=%s\" --json",
                   s.url,
                   "age 17..90, gain 0..1000 log, height 140..200 ?, country {DE | FR | IT}, "
                   "city {Bonn | ...}");
    assert_int_equal(server_tool(&s, command, answer, sizeof answer), 0);
    server_wait_users(&s, "free", 20);
    (void)snprintf(command, sizeof command,
                   "simulate-users %s --token-file token --learner walk --users 5 --world "
                   "random-tabular --set states=3 --set actions=2 --set horizon=1",
                   s.url);
    assert_int_equal(server_tool(&s, command, answer, sizeof answer), 0);
    server_wait_users(&s, "walk", 5);
}
