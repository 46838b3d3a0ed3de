/* Episodes that end before the horizon, told by `"done": true`: they finish at once, in any order of calls,
 * after a crash as before; what contradicts the end is refused; and rewards in a range that the space
 * declares. */
#include <string.h>

#include "serve/people/episode.h"
#include "service/plain.h"

#define HEAD "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
static const char walks[] = HEAD
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 4}, users: 100, log_decisions: yes,\n"
    "     monitor: {epsilon: 1}, agent: " JOINT "}\n"
    "  - {name: cost, space: {states: 5, actions: 2, horizon: 4, reward_low: -2, reward_high: 0},\n"
    "     users: 100, agent: {kind: ucbvi, privacy: {model: none}}}\n"
    "  - {name: gain, space: {states: 5, actions: 2, horizon: 4, reward_low: 1, reward_high: 2},\n"
    "     users: 100, agent: {kind: ucbvi, privacy: {model: none}}}\n"
    "  - {name: steps, space: {features: 2, actions: 2, horizon: 3}, users: 100,\n"
    "     agent: {kind: lsvi-ucb, privacy: {model: none}}}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 3, stationary: yes, reward_high: "
    "10},\n"
    "     users: 50, monitor: {epsilon: 1}, agent: " LOCAL "}\n";

/* The path of a new episode's decisions. */
static const char *open_path(const server *s, const char *body)
{
    static char path[600];
    char episode[512];
    open_episode(s, body, episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    return path;
}

TEST(an_episode_is_finished_when_it_is_done)
{
    char first[1024], second[1024];
    SERVER(s, walks);
    const char *path = open_path(&s, "{\"learner\":\"walk\"}");
    decide(&s, path, "{\"state\":0}", first);
    assert_observed(&s, first, ",\"reward\":1,\"next_state\":2", "open");
    decide(&s, path, "{\"state\":2}", second);
    assert_observed(&s, second, ",\"done\":true", "open"); /* where, and the reward, are missing */
    assert_observed(&s, second, ",\"next_state\":4", "open");
    kill_and_start(&s);
    assert_error(server_post(&s, path, "{\"state\":4}", answer), 409, "finished", "");
    assert_observed(&s, second, ",\"reward\":0.5", "finished");
    assert_observed(&s, second, ",\"reward\":0.5,\"next_state\":4,\"done\":true", "finished");
    assert_error(observe(&s, second, ",\"next_state\":3"), 409, "contradiction", "next_state");
    assert_error(observe(&s, first, ",\"reward\":1,\"done\":true"), 409, "contradiction", "done");
    server_wait_users(&s, "walk", 1);
    kill_and_start(&s);
    assert_observed(&s, second, ",\"done\":true", "finished");
    server_wait_users(&s, "walk", 1);
}

TEST(what_contradicts_an_end_is_refused)
{
    char decisions[3][1024];
    SERVER(s, walks);
    const char *path = open_path(&s, "{\"learner\":\"walk\"}");
    decide(&s, path, "{\"state\":0,\"step\":0}", decisions[0]);
    decide(&s, path, "{\"state\":1,\"step\":1}", decisions[1]);
    /* where step 1 leads: nothing but the end speaks against this step */
    decide(&s, path, "{\"state\":2,\"step\":2}", decisions[2]);
    assert_observed(&s, decisions[1], ",\"reward\":1,\"next_state\":2", "open");
    assert_error(observe(&s, decisions[0], ",\"done\":true"), 409, "contradiction", "done");
    assert_observed(&s, decisions[1], ",\"done\":true", "open");
    assert_error(observe(&s, decisions[2], ",\"reward\":1"), 409, "contradiction", "decision");
    assert_observed(&s, decisions[0], ",\"reward\":0", "finished");
    assert_error(observe(&s, decisions[2], ",\"reward\":1"), 409, "contradiction", "decision");
    assert_error(observe(&s, decisions[1], ",\"done\":1"), 422, "out_of_range", "done");
    assert_error(observe(&s, decisions[1], ",\"done\":\"yes\""), 422, "out_of_range", "done");
}

/* The record has the steps that were. */
TEST(the_record_ends_where_the_episode_did)
{
    static char text[1 << 14];
    char decision[1024];
    SERVER(s, walks);
    const char *path = open_path(&s, "{\"learner\":\"walk\"}");
    decide(&s, path, "{\"state\":3}", decision);
    assert_observed(&s, decision, ",\"reward\":1,\"next_state\":4,\"done\":true", "finished");
    assert_int_equal(server_tool(&s, "store export service.yaml --decisions", text, sizeof text),
                     0);
    assert_non_null(strstr(text, "\"step\":0"));
    assert_null(strstr(text, "\"step\":1"));
}

TEST(rewards_lie_in_the_range_of_the_space)
{
    char decision[1024];
    SERVER(s, walks);
    const char *path = open_path(&s, "{\"learner\":\"cost\"}");
    decide(&s, path, "{\"state\":3}", decision);
    assert_error(observe(&s, decision, ",\"reward\":0.5"), 422, "out_of_range", "reward");
    assert_non_null(strstr(answer, "a number from -2 to 0"));
    assert_observed(&s, decision, ",\"reward\":-1.5,\"next_state\":4,\"done\":true", "finished");
    server_wait_users(&s, "cost", 1);
    assert_int_equal(server_get(&s, "/v1/billboard?learner=cost", answer), 200);
    assert_true(json_number(answer, "reward_low") == -2 && json_number(answer, "reward_high") == 0);
    path = open_path(&s, "{\"learner\":\"gain\"}");
    decide(&s, path, "{\"state\":3}", decision);
    assert_error(observe(&s, decision, ",\"reward\":1,\"done\":true"), 422, "out_of_range", "done");
    assert_observed(&s, decision, ",\"reward\":1,\"next_state\":4", "open");
}

TEST(users_who_bring_features_end_in_features)
{
    char decision[1024];
    SERVER(s, walks);
    const char *path = open_path(&s, "{\"learner\":\"steps\"}");
    decide(&s, path, "{\"context\":[0.5,0.5,0,0.5]}", decision);
    assert_observed(&s, decision, ",\"reward\":1,\"next_context\":[0,0,0,0],\"done\":true",
                    "finished");
    server_wait_users(&s, "steps", 1);
}

/* Devices: a report of an episode of any length is accepted, and all have one size. */
TEST(devices_report_episodes_of_any_length)
{
    SERVER(s, walks);
    size_t size = 0;
    for (size_t length = 0; length <= 3; length++) {
        const uint32_t states[4] = {0, 1, 2, 2}, actions[3] = {0, 1, 0};
        const double rewards[3] = {2.5, 7.5, 10};
        char key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
        tacit_client *client = NULL;
        assert_int_equal(server_get(&s, "/v1/billboard?learner=ours", answer), 200);
        const char *board = strchr(answer, '{');
        const tacit_client_terms terms = {.epsilon = 2, .delta = 1};
        assert_ok(tacit_client_create(board, strlen(board), &terms, &client, NULL));
        const tacit_trajectory t = {STEPS_OF(states, actions, rewards), .length = length};
        assert_ok(tacit_client_report(client, &t, &body, key, NULL));
        assert_false(tacit_client_was_cut(client));
        tacit_client_destroy(client);
        const char *extra = fmt("Idempotency-Key: %s\r\n", key);
        if (server_ask(&s, s.token, "POST", "/v1/reports", extra, body, answer) != 202)
            fail_msg("%s", answer);
        assert_true(size == 0 || size == strlen(body));
        size = strlen(body);
        free(body);
    }
    server_wait_users(&s, "ours", 4);
}

/* The parts: in every order of calls the same episode, and what it says of its length. */
TEST(an_end_may_be_told_in_any_order)
{
    const tacit__learner_config c = {.request = {SPACE_OF(5, 3, 4)}};
    for (int order = 0; order < 2; order++) {
        double bytes[32] = {0};
        const char *field;
        assert_true(tacit__episode_size(&c) <= sizeof bytes);
        tacit__episode e = tacit__episode_view(&c, bytes);
        for (size_t i = 0; i < 2; i++) {
            const size_t h = order == 0 ? i : 1 - i;
            assert_false(tacit__episode_is_finished(&e));
            const tacit__observation told = {.step = h,
                                             .state = (uint32_t)h,
                                             .action = 1,
                                             .has_reward = true,
                                             .reward = 1,
                                             .has_next = h == 1,
                                             .next_state = 4,
                                             .done = h == 1};
            assert_true(tacit__episode_add(&e, &told, &field));
            assert_true(tacit__episode_add(&e, &told, &field));
        }
        assert_true(tacit__episode_is_finished(&e));
        assert_int_equal(tacit__episode_end(&e), 2);
        assert_int_equal(tacit__episode_length(&e), 4); /* no further steps */
        const tacit_trajectory t = tacit__episode_trajectory(&e, NULL);
        assert_int_equal(t.length, 2);
        assert_int_equal(t.states[2], 4);
        assert_true(tacit__episode_mean(&e) == 0.5); /* two of four */
    }
}
