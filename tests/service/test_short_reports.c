/* Devices whose episodes end before the horizon: a report of an episode of any length is accepted, and all have one size. The episodes
 * of a service that end early are in test_done.py. */
#include <string.h>

#include "service/plain.h"

static const char yaml[] =
    "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 3, stationary: yes, reward_high: "
    "10},\n"
    "     users: 50, monitor: {epsilon: 1}, agent: " LOCAL "}\n";

TEST(devices_report_episodes_of_any_length)
{
    SERVER(s, yaml);
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
