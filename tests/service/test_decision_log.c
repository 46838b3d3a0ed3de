/* The operator's record of decisions: what is in it, who is in it, and that turning it on and off loses
 * nobody. */
#include <string.h>

#include "serve/people/decision_log.h"
#include "serve/people/episode.h"
#include "service/plain.h"

#define HEAD "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"

/* Learners of all shapes; %s is `, log_decisions: yes` or nothing. */
static const char *const form = HEAD
    "  - {name: arms, space: {states: 3, actions: [left, right], horizon: 1}, users: 3, "
    "agent: " JOINT "%s}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 100, agent: " JOINT "%s}\n"
    "  - {name: lin, space: {features: 2, actions: 2}, users: 100,\n"
    "     agent: {kind: lin-ucb, privacy: {model: none}}%s}\n"
    "  - {name: dose, space: {context: 'age 20..40', actions: 2}, users: 100,\n"
    "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}%s}\n"
    "  - {name: steps, space: {features: 2, actions: 2, horizon: 2}, users: 100,\n"
    "     agent: {kind: lsvi-ucb, privacy: {model: none}}%s}\n";

static const char *write_yaml(bool logged)
{
    static char yaml[2048];
    const char *more = logged ? ", log_decisions: yes" : "";
    (void)snprintf(yaml, sizeof yaml, form, more, more, more, more, more);
    return yaml;
}

/* What `tacit store export --decisions` prints. */
static const char *record(server *s)
{
    static char text[1 << 16];
    assert_int_equal(server_tool(s, "store export service.yaml --decisions", text, sizeof text), 0);
    return text;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* Line i has all of these, in any order. */
static void assert_line(const char *text, size_t i, const char *const *parts)
{
    for (; i > 0; i--)
        text = strchr(text, '\n') + 1;
    const char *line = fmt("%.*s", (int)strcspn(text, "\n"), text);
    for (; *parts != NULL; parts++)
        if (strstr(line, *parts) == NULL)
            fail_msg("%s is not in %s", *parts, line);
}

#define LINE(text, i, ...) assert_line(text, i, (const char *const[]){__VA_ARGS__, NULL})

/* A whole episode of `walk`, told step by step; the rewards come after all decisions. */
static void walk(const server *s, const char *user, bool restart_between, server *again)
{
    char episode[512], decisions[3][1024];
    open_episode(s, fmt("{\"learner\":\"walk\",\"user\":\"%s\"}", user), episode);
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    for (int h = 0; h < 3; h++) {
        decide(s, path, fmt("{\"state\":%d}", h + 1), decisions[h]);
        assert_observed(s, decisions[h], fmt(",\"next_state\":%d", h + 2), "open");
    }
    if (restart_between) {
        assert_int_equal(server_stop(again, SIGTERM), 0);
        server_rewrite(again, write_yaml(true));
        assert_true(server_start(again, NULL));
    }
    for (int h = 2; h >= 0; h--) {
        assert_observed(s, decisions[h], fmt(",\"reward\":0.%d", h + 1),
                        h == 0 ? "finished" : "open");
    }
}

TEST(every_learned_user_is_recorded_once)
{
    char decision[1024];
    SERVER(s, write_yaml(true));
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":2}", decision);
    assert_string_equal(record(&s), ""); /* nothing has come of it */
    assert_observed(&s, decision, ",\"reward\":0.5", "finished");
    assert_observed(&s, decision, ",\"reward\":0.5", "finished"); /* told twice */
    const char *text = record(&s);
    assert_int_equal(count_lines(text), 1);
    LINE(text, 0, "{\"learner\":\"arms\",\"user\":1,\"step\":0,\"state\":2,\"action\":\"",
         "\"probability\":", "\"version\":", "\"reward\":0.5}");
    walk(&s, "ada", false, NULL);
    text = record(&s);
    assert_int_equal(count_lines(text), 4);
    LINE(text, 1,
         "\"learner\":\"walk\",\"user\":2,\"step\":0,\"state\":1,\"action\":", "\"reward\":0.1}");
    LINE(text, 3, "\"user\":2,\"step\":2,\"state\":3,", "\"reward\":0.3}");
    assert_null(strstr(text, "null"));
    /* all actions' features, in full, though the learner needs those of one */
    decide(&s, "/v1/decide", "{\"learner\":\"lin\",\"context\":[0.1,0.2,0.3,0.4]}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    decide(&s, "/v1/decide", "{\"learner\":\"dose\",\"context\":{\"age\":40}}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    text = record(&s);
    assert_int_equal(count_lines(text), 6);
    LINE(text, 4, "\"learner\":\"lin\"", "\"context\":[0.09", ",0.19", ",0.29", ",0.39",
         "\"reward\":1}");
    LINE(text, 5, "\"learner\":\"dose\"", "\"context\":[0.7071067", "\"reward\":1}");
    server_wait_users(&s, "lin", 1);
    server_wait_users(&s, "dose", 1);
    server_wait_users(&s, "walk", 1);
    /* nobody else: after the last user, and who comes back */
    for (int i = 0; i < 4; i++) {
        decide(&s, "/v1/decide", fmt("{\"learner\":\"arms\",\"state\":0,\"user\":\"u%d\"}", i % 3),
               decision);
        assert_int_equal(observe(&s, decision, ",\"reward\":1"), 200);
    }
    text = record(&s);
    assert_int_equal(count_lines(text), 8); /* users: 3, of whom one came before */
    assert_false(file_has(s.directory, "\"probability\""));
    assert_int_equal(server_tool(&s, "store check service.yaml", answer, sizeof answer), 0);
}

TEST(several_steps_have_all_features)
{
    char episode[512], decision[1024];
    SERVER(s, write_yaml(true));
    open_episode(&s, "{\"learner\":\"steps\"}", episode);
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"context\":[0.5,0,0,0.5]}", decision);
    assert_observed(&s, decision, ",\"reward\":0,\"next_context\":[0.25,0,0,0.25]", "open");
    decide(&s, path, "{\"context\":[0.25,0,0,0.25]}", decision);
    assert_observed(&s, decision, ",\"reward\":1,\"next_context\":[0,0,0,0]", "finished");
    const char *text = record(&s);
    assert_int_equal(count_lines(text), 2);
    LINE(text, 0, "\"step\":0,\"context\":[0.5,0,0,0.5],", "\"reward\":0}");
    LINE(text, 1, "\"step\":1,\"context\":[0.25,0,0,0.25],", "\"reward\":1}");
}

/* Decided without a record and told with one, and the other way round: nobody is lost, and what is not known
 * is null. */
TEST(a_record_may_begin_and_end)
{
    char early[2][1024], late[1024];
    SERVER(s, write_yaml(false));
    decide(&s, "/v1/decide", "{\"learner\":\"lin\",\"context\":[0.5,0,0,0.5]}", early[0]);
    decide(&s, "/v1/decide", "{\"learner\":\"dose\",\"context\":{\"age\":20}}", early[1]);
    walk(&s, "ada", true, &s); /* the record begins within this episode */
    assert_observed(&s, early[0], ",\"reward\":1", "finished");
    assert_observed(&s, early[1], ",\"reward\":1", "finished");
    const char *text = record(&s);
    assert_int_equal(count_lines(text), 5);
    LINE(text, 3, "\"learner\":\"lin\"", "null", "\"reward\":1}");
    LINE(text, 4, "\"learner\":\"dose\"", "\"context\":[0.7071067", ",-0.7071067");
    decide(&s, "/v1/decide", "{\"learner\":\"lin\",\"context\":[0.5,0,0,0.5]}", late);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, write_yaml(false));
    assert_true(server_start(&s, NULL));
    assert_observed(&s, late, ",\"reward\":1", "finished");
    walk(&s, "bob", false, NULL);
    server_wait_users(&s, "lin", 2);
    server_wait_users(&s, "walk", 2);
    assert_int_equal(count_lines(record(&s)), 5);
}

TEST(the_record_is_told_of)
{
    SERVER(s, write_yaml(true));
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=arms", answer), 200);
    assert_non_null(strstr(answer, "\"log_decisions\":true"));
    assert_non_null(strstr(answer, "which this guarantee does not cover."));
    assert_null(strstr(answer, "only until they are learned"));
    assert_int_equal(server_tool(&s, "explain service.yaml", answer, sizeof answer), 0);
    assert_non_null(strstr(answer, "guarantee below does not cover this record"));
    assert_int_equal(server_tool(&s, "explain service.yaml --json", answer, sizeof answer), 0);
    assert_non_null(strstr(answer, "\"log_decisions\": true"));
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, write_yaml(false));
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=arms", answer), 200);
    assert_null(strstr(answer, "log_decisions"));
    assert_non_null(strstr(answer, "only until they are learned"));
}

/* What devices do is not the service's to record. */
TEST(local_learners_have_no_record)
{
    static const char text[] =
        HEAD "  - {name: a, users: 9, space: {states: 2, actions: 2, horizon: "
             "1}, agent: " LOCAL ", log_decisions: yes}\n";
    tacit__service_config c;
    tacit_error err = {0};
    assert_true(tacit__service_config_parse(text, sizeof text - 1, "dir/s.yaml", &c, &err) ==
                TACIT_UNSUPPORTED);
    assert_string_equal(err.message,
                        "dir/s.yaml:4: log_decisions is for models joint and none; the service "
                        "sees neither the decisions of a local learner nor their outcomes");
}

/* Bytes that are no record are refused, whatever they are. */
TEST(damaged_records_are_none)
{
    uint8_t bytes[3 * 8 + 7 * 8] = {1};
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    bytes[8] = 1;
    bytes[16] = 2;
    assert_true(tacit__decision_log_write(bytes, sizeof bytes, 1, "a", NULL, &out));
    for (size_t n = 0; n < sizeof bytes; n++)
        assert_false(tacit__decision_log_write(bytes, n, 1, "a", NULL, &out));
    for (size_t i = 0; i < 24; i++) {
        uint8_t other[sizeof bytes];
        memcpy(other, bytes, sizeof other);
        other[i] ^= 0x80;
        assert_false(tacit__decision_log_write(other, sizeof other, 1, "a", NULL, &out));
    }
}
