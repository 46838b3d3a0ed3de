/* People who come back to a service: every visit gets an action, and those that count are at most `visits`
 * of a person, at least `apart` users from each other. The rule is the store's, so a crash changes no
 * answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/plain.h"

#define RETURNING(k, b)                                                                            \
    "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, visits: " #k ", apart: " #b "}}"

#define THREE RETURNING(3, 4)
#define TWO RETURNING(2, 2)
#define TWO_NEAR RETURNING(2, 1)

static const char returning[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 40,\n"
    "     agent: " THREE ", monitor: {epsilon: 1}}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 2}, users: 30, agent: " TWO "}\n"
    "  - {name: few, space: {states: 1, actions: 2, horizon: 1}, users: 4, agent: " TWO_NEAR "}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 2, stationary: yes}, users: 50,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, visits: 2, apart: 2}}}\n";

/* The last answer says that nothing is learned, and why; or ("") that it is. */
static void assert_reason(const char *wanted)
{
    char reason[32] = "";
    (void)json_field(answer, "reason", reason, sizeof reason);
    assert_string_equal(reason, wanted);
    if (wanted[0] != '\0')
        assert_non_null(strstr(answer, "\"learned\":false"));
    else
        assert_null(strstr(answer, "\"learned\":false"));
}

static void ask_for(const server *s, const char *learner, const char *user, char decision[1024])
{
    decide(s, "/v1/decide", fmt("{\"learner\":\"%s\",\"state\":0,\"user\":\"%s\"}", learner, user),
           decision);
}

/* A whole visit; the answer is this word, and, if nothing is learned, the reason. */
static void visit(const server *s, const char *learner, const char *user, const char *wanted)
{
    char decision[1024];
    ask_for(s, learner, user, decision);
    assert_observed(s, decision, ",\"reward\":0.5", wanted);
    assert_reason(strcmp(wanted, "finished") == 0 ? "" : wanted);
    assert_non_null(
        strstr(answer, strcmp(wanted, "finished") == 0 ? "\"learned\":true" : "\"learned\":false"));
}

/* So many others, each for the first time. */
static void others(const server *s, const char *learner, int n)
{
    static int others_so_far;
    for (int i = 0; i < n; i++) {
        visit(s, learner, fmt("other-%d", others_so_far++), "finished");
    }
}

static void assert_sound(server *s)
{
    char out[512];
    if (server_tool(s, "store check service.yaml", out, sizeof out) != 0)
        fail_msg("%s", out);
}

TEST(visits_count_until_they_are_used_and_only_if_far_enough_apart)
{
    char early[1024], late[1024];
    SERVER(s, returning);
    visit(&s, "arms", "ann", "finished"); /* place 1 */
    ask_for(&s, "arms", "ann", early);
    assert_reason(""); /* it may be far enough when it is told */
    others(&s, "arms", 2);
    assert_observed(&s, early, ",\"reward\":1", "too_soon"); /* would be place 4, 3 from 1 */
    assert_reason("too_soon");
    others(&s, "arms", 1);
    for (int life = 0; life < 2; life++) { /* what it was told stays its answer */
        assert_observed(&s, early, ",\"reward\":0", "too_soon");
        kill_and_start(&s);
    }
    visit(&s, "arms", "ann", "finished"); /* place 5 */
    visit(&s, "arms", "ann", "too_soon");
    kill_and_start(&s);
    visit(&s, "arms", "ann", "too_soon");
    ask_for(&s, "arms", "ann", late);
    others(&s, "arms", 3);
    visit(&s, "arms", "ann", "finished"); /* place 9, the last */
    others(&s, "arms", 8);
    kill_and_start(&s);
    assert_observed(&s, late, ",\"reward\":1", "visits_used"); /* was asked for before */
    assert_reason("visits_used");
    ask_for(&s, "arms", "ann", late);
    assert_reason("visits_used");
    assert_true(json_number(answer, "action") < 4);
    for (int i = 0; i < 2; i++)
        assert_observed(&s, late, ",\"reward\":1", "visits_used");
    assert_true(ledger(&s, "arms", "accepted") == 17);
    assert_sound(&s);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(number_in_store(&s, "SELECT max(visits) FROM person"), 3);
    assert_int_equal(number_in_store(&s, "SELECT last_place FROM person WHERE visits=3"), 9);
    assert_int_equal(number_in_store(&s, "SELECT sum(visits) FROM person"), 17);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM open"), 0);
}

TEST(what_is_told_twice_is_one_visit)
{
    char decision[1024], again[1024];
    SERVER(s, returning);
    ask_for(&s, "arms", "ann", decision);
    for (int life = 0; life < 3; life++) {
        assert_observed(&s, decision, ",\"reward\":0.5", "finished");
        assert_reason("");
        kill_and_start(&s);
    }
    /* an idempotency key: the same episode */
    static const char key[] = "Idempotency-Key: bob-comes-and-asks\r\n",
                      bob[] = "{\"learner\":\"arms\",\"state\":0,\"user\":\"bob\"}";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(server_ask(&s, s.token, "POST", "/v1/decide", key, bob, answer), 200);
        assert_true(json_field(answer, "decision", i == 0 ? decision : again, sizeof decision));
    }
    assert_string_equal(decision, again);
    assert_observed(&s, decision, ",\"reward\":0.5", "finished");
    assert_observed(&s, again, ",\"reward\":0.5", "finished");
    /* two visits of one person in one batch */
    ask_for(&s, "arms", "carl", decision);
    ask_for(&s, "arms", "carl", again);
    const char *both = fmt(
        "[{\"decision\":\"%s\",\"reward\":1},{\"decision\":\"%s\",\"reward\":1}]", decision, again);
    assert_int_equal(server_post(&s, "/v1/observe", both, answer), 200);
    assert_non_null(strstr(answer, "\"status\":\"too_soon\",\"step\":0,\"learned\":false,"
                                   "\"reason\":\"too_soon\""));
    assert_non_null(strstr(answer, "\"status\":\"finished\",\"step\":0,\"learned\":true"));
    assert_true(ledger(&s, "arms", "accepted") == 3);
    assert_sound(&s);
}

static void step(const server *s, const char *path, int state, const char *wanted)
{
    char decision[1024];
    decide(s, path, fmt("{\"state\":%d}", state), decision);
    assert_observed(s, decision, ",\"reward\":0.5,\"next_state\":1", wanted);
}

/* Places are those of episodes that are finished; until then nobody has come. */
TEST(of_two_open_episodes_the_first_to_finish_counts)
{
    static const char ann[] = "{\"learner\":\"walk\",\"user\":\"ann\"}",
                      bob[] = "{\"learner\":\"walk\",\"user\":\"bob\"}";
    char episode[512], path[5][700];
    SERVER(s, returning);
    for (int i = 0; i < 5; i++) {
        open_episode(&s, i < 4 ? ann : bob, episode);
        assert_reason("");
        (void)snprintf(path[i], sizeof path[i], "/v1/episodes/%.511s/decide", episode);
        if (i != 3)
            step(&s, path[i], 0, "open");
        assert_reason("");
    }
    kill_and_start(&s);
    step(&s, path[1], 1, "finished");
    step(&s, path[0], 1, "too_soon"); /* although it was opened first */
    assert_reason("too_soon");
    for (int i = 0; i < 2; i++) { /* learned from or not, an episode has an end */
        assert_int_equal(server_post(&s, path[i], "{\"state\":1}", answer), 409);
        assert_non_null(strstr(answer, "\"finished\""));
    }
    step(&s, path[4], 1, "finished");
    step(&s, path[2], 1, "finished"); /* opened too soon, finished in time: place 3 */
    kill_and_start(&s);
    step(&s, path[3], 0, "visits_used"); /* not one step of it is kept */
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM person"), 2);
    step(&s, path[3], 1, "visits_used");
    assert_int_equal(server_post(&s, path[3], "{\"state\":1}", answer), 409);
    open_episode(&s, ann, episode);
    assert_reason("visits_used");
    assert_true(ledger(&s, "walk", "accepted") == 3);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_episodes_open 0\n"));
    assert_sound(&s);
}

TEST(after_the_last_user_nobody_counts)
{
    SERVER(s, returning);
    visit(&s, "few", "ann", "finished");
    visit(&s, "few", "ann", "finished");
    visit(&s, "few", "ann", "visits_used");
    visit(&s, "few", "bob", "finished");
    visit(&s, "few", "carl", "finished");
    for (int life = 0; life < 2; life++) {
        visit(&s, "few", "ann", "full");
        visit(&s, "few", "bob", "full");
        visit(&s, "few", "dora", "full");
        kill_and_start(&s);
    }
    assert_true(ledger(&s, "few", "accepted") == 4);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM person"), 3);
}

TEST(everybody_must_have_an_id)
{
    SERVER(s, returning);
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", answer), 422,
                 "missing", "user");
    assert_non_null(strstr(answer, "counts the visits of each person"));
    assert_error(server_post(&s, "/v1/episodes", "{\"learner\":\"walk\"}", answer), 422, "missing",
                 "user");
}

TEST(what_is_promised_is_said)
{
    SERVER(s, returning);
    visit(&s, "arms", "ann", "finished");
    visit(&s, "arms", "ann", "too_soon");
    visit(&s, "few", "bob", "finished");
    visit(&s, "few", "bob", "finished");
    visit(&s, "few", "bob", "visits_used");
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=arms", answer), 200);
    assert_non_null(strstr(answer, "\"visits\":3,\"apart\":4"));
    assert_non_null(strstr(answer, "at most 3 visits of a person, any two of them at least 4 users "
                                   "apart"));
    /* the learner's lines and the monitor's */
    const char *monitor = strstr(answer, "\"monitor\":{");
    assert_non_null(monitor);
    assert_non_null(strstr(monitor, "\"visits\":3,\"apart\":4"));
    assert_int_equal(server_get(&s, "/v1/ledger?learner=few", answer), 200);
    assert_non_null(strstr(answer, "\"visits\":2,\"apart\":1"));
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    static const char *const lines[] = {
        "tacit_visits_limit{learner=\"arms\"} 3\n",
        "tacit_visits_apart{learner=\"arms\"} 4\n",
        "tacit_people{learner=\"arms\"} 1\n",
        "tacit_people{learner=\"few\"} 1\n",
        "tacit_visits_too_soon_total{learner=\"arms\"} 1\n",
        "tacit_visits_used_total{learner=\"few\"} 1\n",
        "tacit_users_accepted_total{learner=\"few\"} 2\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strstr(answer, lines[i]) == NULL)
            fail_msg("no %s", lines[i]);
    kill_and_start(&s);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_people{learner=\"arms\"} 1\n"));
}

/* What was promised stays: another k or b is another learner. */
TEST(visits_and_distance_of_a_store_do_not_change)
{
    static const char *const changed[] = {RETURNING(4, 4), RETURNING(3, 5), JOINT};
    static const char *const said[] = {"visits is 4 and apart 4", "visits is 3 and apart 5",
                                       "visits is 1 and apart 1"};
    char yaml[2048], out[1024], *at;
    SERVER(s, returning);
    visit(&s, "arms", "ann", "finished");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(yaml, sizeof yaml, "%s", returning);
        at = strstr(yaml, THREE);
        (void)snprintf(at, sizeof yaml - (size_t)(at - yaml), "%s%s", changed[i],
                       fmt("%s", at + strlen(THREE)));
        server_rewrite(&s, yaml);
        assert_int_equal(server_tool(&s, "serve service.yaml", out, sizeof out), 2);
        const char *sentence = fmt("service.yaml:5: %s, but the store has a learner", said[i]);
        if (!file_has(s.directory, sentence) ||
            !file_has(s.directory, "with visits 3 and apart 4; its promise to its users stays in "
                                   "force: give the changed learner another name"))
            fail_msg("nothing says: %s", sentence);
    }
    server_rewrite(&s, returning);
    assert_true(server_start(&s, NULL));
    visit(&s, "arms", "ann", "too_soon");
}

/* A verdict is kept for as long as it could be asked for, and then no more. */
TEST(verdicts_are_forgotten_when_they_expire)
{
    SERVER(s, returning);
    visit(&s, "arms", "ann", "finished");
    visit(&s, "arms", "ann", "too_soon");
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM verdict"), 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, fmt("expire: 1\n%s", returning));
    assert_true(server_start(&s, NULL));
    wait_until(number_in_store(&s, "SELECT count(*) FROM verdict") == 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM verdict"), 0);
    assert_int_equal(number_in_store(&s, "SELECT visits FROM person"), 1); /* that stays */
}

/* --- Devices ----------------------------------------------------------------------------------------- */

typedef struct device {
    uint8_t state[8192];
    size_t size;
} device;

static tacit_status save(void *context, const void *state, size_t size)
{
    device *d = context;
    assert_true(size <= sizeof d->state);
    memcpy(d->state, state, size);
    d->size = size;
    return TACIT_OK;
}

/* A visit of this device's person; OK: body[SERVER_ANSWER] is its report, with the id of the person if there is one. */
static tacit_status live(const server *s, const char *learner, device *d, const char *user,
                         char *body, char key[TACIT_CLIENT_KEY_SIZE])
{
    const uint32_t states[3] = {0, 1, 2}, actions[2] = {0, 1};
    const double rewards[2] = {0.25, 0.75};
    const tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
    const tacit_client_terms terms = {.epsilon = 2,
                                      .delta = 1,
                                      .save = save,
                                      .save_context = d,
                                      .state = d->size > 0 ? d->state : NULL,
                                      .state_size = d->size};
    char *report = NULL;
    SCOPED(tacit_client) *client = NULL;
    tacit_error err = {0};
    assert_int_equal(server_get(s, fmt("/v1/billboard?learner=%s", learner), answer), 200);
    const char *board = strchr(answer, '{');
    if (tacit_client_create(board, strlen(board), &terms, &client, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    tacit_status status = tacit_client_report(client, &t, &report, key, &err);
    if (status == TACIT_OK && user == NULL)
        (void)snprintf(body, SERVER_ANSWER, "%s", report);
    else if (status == TACIT_OK)
        (void)snprintf(body, SERVER_ANSWER, "{\"user\":\"%s\",%s", user, report + 1);
    free(report);
    return status;
}

static void assert_sent(const server *s, const char *body, const char key[TACIT_CLIENT_KEY_SIZE],
                        const char *wanted)
{
    char word[32] = "";
    int status = server_ask(s, s->token, "POST", "/v1/reports", fmt("Idempotency-Key: %s\r\n", key),
                            body, answer);
    if (status != 202)
        fail_msg("status %d: %s", status, answer);
    assert_true(json_field(answer, "status", word, sizeof word));
    assert_string_equal(word, wanted);
}

/* The device counts, whatever the service does; the service counts those whose person it knows. */
TEST(reports_are_counted_on_the_device_and_by_the_service)
{
    static char body[SERVER_ANSWER], early[SERVER_ANSWER];
    char key[TACIT_CLIENT_KEY_SIZE], early_key[TACIT_CLIENT_KEY_SIZE];
    device mine = {0}, second = {0};
    SERVER(s, returning);
    assert_ok(live(&s, "ours", &mine, "ann", body, key));
    for (int life = 0; life < 2; life++) {
        assert_sent(&s, body, key, "taken"); /* the same again is the same */
        kill_and_start(&s);
    }
    assert_ok(live(&s, "ours", &second, "ann", early, early_key)); /* another device of hers */
    assert_sent(&s, early, early_key, "too_soon");
    assert_ok(live(&s, "ours", &(device){0}, NULL, body, key)); /* somebody who gives no id */
    assert_sent(&s, body, key, "taken");
    kill_and_start(&s);
    assert_sent(&s, early, early_key, "too_soon"); /* what it was told */
    assert_ok(live(&s, "ours", &mine, "ann", body, key));
    assert_sent(&s, body, key, "taken");
    assert_status(live(&s, "ours", &mine, "ann", body, key), TACIT_EXHAUSTED);
    assert_ok(live(&s, "ours", &second, "ann", body, key)); /* but the service knows her */
    assert_sent(&s, body, key, "visits_used");
    assert_sent(&s, body, key, "visits_used");
    assert_true(ledger(&s, "ours", "accepted") == 3);
    assert_non_null(strstr(answer, "in all reports of their own device together"));
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_people{learner=\"ours\"} 1\n"));
    assert_non_null(
        strstr(answer, "tacit_visits_used_total{learner=\"ours\"} 1\n")); /* told twice */
    assert_sound(&s);
}

/* examples/service/returning.yaml, at a port and a store of its own. */
TEST(the_example_serves_people_who_come_back)
{
    static char text[4096], body[SERVER_ANSWER];
    char key[TACIT_CLIENT_KEY_SIZE], out[512];
    device d = {0};
    FILE *file = fopen(TACIT_SOURCE "/examples/service/returning.yaml", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    char *port = strstr(text, ":8471"), *store = strstr(text, "returning.db");
    assert_true(port != NULL && store != NULL);
    memcpy(port, ":0   ", 5);
    memcpy(store, "service.db  ", 12);
    SERVER(s, text);
    visit(&s, "dose", "patient 1", "finished");
    visit(&s, "dose", "patient 2", "finished");
    kill_and_start(&s);
    visit(&s, "dose", "patient 1", "too_soon");
    for (int i = 0; i < 5; i++) {
        assert_ok(live(&s, "diary", &d, "patient 1", body, key));
        assert_sent(&s, body, key, "taken");
    }
    assert_status(live(&s, "diary", &d, "patient 1", body, key), TACIT_EXHAUSTED);
    assert_int_equal(server_tool(&s, "explain service.yaml --agent dose --json", body, sizeof body),
                     0);
    assert_non_null(strstr(body, "\"visits\": 5"));
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
}
