/* The service from the outside: the real program, spoken to over HTTP, and what it does for those who ask as they should. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "service/plain.h"

TEST(episodes_are_opened_decided_observed_and_learned)
{
    char episode[512], decision[3][1024], path[700];
    SERVER(s, plain);
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":2}", decision[0]);
    assert_true(json_number(answer, "step") == 0 && json_number(answer, "probability") == 1);
    assert_true(json_number(answer, "action") < 2 && json_number(answer, "version") >= 1);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/observe", episode);
    assert_int_equal(
        server_post(&s, path, fmt("{\"decision\":\"%s\",\"next_state\":3}", decision[0]), answer),
        200); /* the reward comes later */
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":3}", decision[1]);
    assert_true(json_number(answer, "step") == 1);
    assert_observed(&s, decision[1], ",\"reward\":0.5,\"next_state\":4", "open");
    decide(&s, path, "{\"state\":4}", decision[2]);
    assert_true(json_number(answer, "step") == 2);
    assert_observed(&s, decision[2], ",\"reward\":1,\"next_state\":0", "open");
    assert_error(server_post(&s, path, "{\"state\":4}", answer), 409, "finished", "");
    assert_true(ledger(&s, "walk", "accepted") == 0);
    assert_observed(&s, decision[0], ",\"reward\":0.25", "finished"); /* days later */
    server_wait_users(&s, "walk", 1);
    assert_true(ledger(&s, "walk", "passed") == 1); /* of the first release */
    assert_observed(&s, decision[0], ",\"reward\":0.25",
                    "finished"); /* said again: nothing happens */
    assert_true(ledger(&s, "walk", "accepted") == 1);
    assert_error(server_post(&s, path, "{\"state\":4}", answer), 409, "finished", "");
}

TEST(contradictions_are_refused_and_repetitions_are_not)
{
    char episode[512], first[1024], second[1024], path[700];
    SERVER(s, plain);
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":2,\"step\":0}", first);
    assert_observed(&s, first, ",\"reward\":0.5,\"next_state\":3", "open");
    assert_observed(&s, first, ",\"reward\":0.5,\"next_state\":3", "open");
    assert_error(observe(&s, first, ",\"reward\":0.75"), 409, "contradiction", "reward");
    assert_error(observe(&s, first, ",\"next_state\":1"), 409, "contradiction", "next_state");
    decide(&s, path, "{\"state\":1,\"step\":0}", second); /* the same step from elsewhere */
    assert_error(observe(&s, second, ",\"reward\":0.5"), 409, "contradiction", "decision");
    decide(&s, path, "{\"state\":1,\"step\":1}", second); /* but it led to 3 */
    assert_error(observe(&s, second, ",\"reward\":0.5"), 409, "contradiction", "decision");
    decide(&s, path, "{\"state\":3,\"step\":1}", second);
    assert_observed(&s, second, ",\"reward\":0.5", "open");
    /* a decision belongs to its episode */
    char other[512];
    open_episode(&s, "{\"learner\":\"walk\"}", other);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/observe", other);
    assert_error(server_post(&s, path, fmt("{\"decision\":\"%s\",\"reward\":0.5}", second), answer),
                 422, "out_of_range", "decision");
}

TEST(a_user_takes_part_once)
{
    char decision[1024], again[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann@example.org\"}",
           decision);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann@example.org\"}",
           again);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_observed(&s, again, ",\"reward\":1", "taken_part");
    assert_non_null(strstr(answer, "\"learned\":false"));
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann@example.org\"}",
           again);
    assert_non_null(strstr(answer, "\"learned\":false"));
    /* in another learner she is somebody else, and so is everybody else in this one */
    decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0,\"user\":\"ann@example.org\"}",
           decision);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"bob@example.org\"}",
           decision);
    assert_true(ledger(&s, "arms", "accepted") == 1);
}

TEST(after_the_last_user_it_decides_and_learns_no_more)
{
    char decision[1024];
    SERVER(s, plain);
    for (int i = 0; i < 4; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0}", decision);
        assert_observed(&s, decision, ",\"reward\":0.5", "finished");
    }
    server_wait_users(&s, "few", 4);
    double version = ledger(&s, "few", "version");
    for (int i = 0; i < 3; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0}", decision);
        assert_true(json_number(answer, "version") == version);
        assert_observed(&s, decision, ",\"reward\":0.5", "full");
    }
    for (int i = 0; i < 2;
         i++) { /* who was not learned from has not taken part, and is decided for again */
        decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0,\"user\":\"late\"}", decision);
        assert_observed(&s, decision, ",\"reward\":0.5", "full");
    }
    assert_true(ledger(&s, "few", "accepted") == 4 && ledger(&s, "few", "left") == 0);
    assert_non_null(strstr(answer, "\"learning\":false"));
    assert_non_null(strstr(answer, "the budget is spent"));
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_users_left{learner=\"few\"} 0\n"));
    assert_non_null(strstr(answer, "tacit_learning{learner=\"few\"} 0\n"));
    assert_non_null(strstr(answer, "tacit_learning{learner=\"arms\"} 1\n"));
}

/* What somebody told who will not be learned from is not kept: it cannot even be contradicted. How far they are is known. */
TEST(after_the_last_user_nothing_raw_is_held)
{
    char late[2][1024], episode[512], decision[1024];
    SERVER(s, "listen: 127.0.0.1:0\n"
              "store: service.db\n"
              "learners:\n"
              "  - {name: one, space: {states: 3, actions: 2, horizon: 2}, users: 1, agent: " JOINT
              "}\n");
    open_episode(&s, "{\"user\":\"late\"}", episode);
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":1}", late[0]);
    assert_observed(&s, late[0], ",\"reward\":0.5,\"next_state\":2", "open");
    assert_error(observe(&s, late[0], ",\"reward\":0.75"), 409, "contradiction", "reward");
    char other[512]; /* is the first and the last */
    open_episode(&s, "{}", other);
    const char *other_path = fmt("/v1/episodes/%s/decide", other);
    for (int h = 0; h < 2; h++) {
        decide(&s, other_path, "{\"state\":0}", decision);
        assert_observed(&s, decision, ",\"reward\":1,\"next_state\":0",
                        h == 0 ? "open" : "finished");
    }
    assert_observed(&s, late[0], ",\"reward\":0.75", "open");
    decide(&s, path, "{\"state\":2}", late[1]);
    assert_true(json_number(answer, "step") == 1);
    assert_observed(&s, late[1], ",\"reward\":0.5,\"next_state\":2", "full");
    assert_true(ledger(&s, "one", "accepted") == 1);
    open_episode(&s, "{\"user\":\"late\"}", episode); /* may come again */
}

TEST(episodes_that_never_finish_expire_without_harm)
{
    char decision[1024], episode[512];
    SERVER(s, plain); /* where she has a week */
    open_episode(&s, "{\"learner\":\"walk\",\"user\":\"eve\"}", episode);
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    decide(&s, path, "{\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":0.5,\"next_state\":1", "open");
    assert_int_equal(
        server_post(&s, "/v1/episodes", "{\"learner\":\"walk\",\"user\":\"eve\"}", answer), 201);
    assert_non_null(strstr(answer, "\"learned\":false")); /* she is taking part */
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_episodes_open 1\n"));
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, fmt("expire: 1\n%s", plain));
    assert_true(server_start(&s, NULL));
    wait_until(server_get(&s, "/metrics", answer) != 200 ||
               strstr(answer, "tacit_episodes_expired_total 1\n") != NULL);
    assert_non_null(strstr(answer, "tacit_episodes_expired_total 1\n"));
    assert_non_null(strstr(answer, "tacit_episodes_open 0\n"));
    assert_error(observe(&s, decision, ",\"reward\":0.5"), 410, "expired", "");
    assert_error(server_post(&s, path, "{\"state\":1}", answer), 410, "expired", "");
    open_episode(&s, "{\"learner\":\"walk\",\"user\":\"eve\"}", episode);
    assert_null(strstr(answer, "learned")); /* nothing came of it: she may come */
    assert_true(ledger(&s, "walk", "accepted") == 0);
    char out[512];
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    assert_non_null(strstr(out, " 0 episodes open"));
}

TEST(local_reports_are_counted_once)
{
    SERVER(s, plain);
    assert_int_equal(server_ask(&s, "", "GET", "/v1/billboard?learner=ours", NULL, NULL, answer),
                     200); /* public */
    char out[1024];
    const char *at = strstr(answer, "ETag: ");
    assert_non_null(at);
    const char *etag = fmt("%.*s", (int)strcspn(at + 6, "\r"), at + 6);
    static const struct {
        const char *before, *after;
        int status;
    } matches[] = {{"", "", 304},
                   {"W/", "", 304},
                   {"\"other\", ", "", 304},
                   {"", " , \"other\"", 304},
                   {"*", NULL, 304},
                   {"\"other\"", NULL, 200},
                   {"\"", NULL, 200},
                   {"", "\"other", 200},
                   {",,", ",", 304}};
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        bool has = matches[i].after != NULL;
        assert_int_equal(server_ask(&s, "", "GET", "/v1/billboard?learner=ours",
                                    fmt("If-None-Match: %s%s%s\r\n", matches[i].before,
                                        has ? etag : "", has ? matches[i].after : ""),
                                    NULL, answer),
                         matches[i].status);
        assert_non_null(strstr(answer, etag));
        assert_non_null(strstr(answer, "Cache-Control: public, max-age=5\r\n"));
    }
    /* what a link can fetch is not taken for anything else, and kept only where it says so; so are errors */
    static const char sniff[] = "X-Content-Type-Options: nosniff\r\n",
                      unkept[] = "Cache-Control: no-store\r\n";
    assert_non_null(strstr(answer, sniff));
    assert_int_equal(server_ask(&s, s.token, "GET", "/v1/learners", NULL, NULL, answer), 200);
    assert_true(strstr(answer, sniff) != NULL && strstr(answer, unkept) != NULL);
    assert_int_equal(server_ask(&s, "", "POST", "/v1/decide", NULL, "{}", answer), 401);
    assert_true(strstr(answer, sniff) != NULL && strstr(answer, unkept) != NULL);
    /* the same version of another learner is something else */
    assert_int_equal(server_ask(&s, "", "GET", "/v1/billboard?learner=arms", NULL, NULL, answer),
                     200);
    assert_null(strstr(answer, etag));
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", NULL,
                            "{\"learner\":\"ours\",\"report\":\"AAAA\"}", answer),
                 422, "missing", "Idempotency-Key");
    const char *key = "Idempotency-Key: 0123456789abcdef\r\n";
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", key,
                            "{\"learner\":\"ours\",\"report\":\"AAAA\"}", answer),
                 422, "out_of_range", "report");
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", key,
                            "{\"learner\":\"ours\",\"report\":\"not base64!\"}", answer),
                 422, "out_of_range", "report");
    assert_error(server_ask(&s, s.token, "POST", "/v1/reports", key,
                            "{\"learner\":\"arms\",\"report\":\"AAAA\"}", answer),
                 409, "not_local", "learner");
    assert_error(server_post(&s, "/v1/episodes", "{\"learner\":\"ours\"}", answer), 409, "local",
                 "learner");
    /* real reports, by the client's library */
    const char *arguments =
        fmt("simulate-users %s --token-file token --learner ours --world riverswim "
            "--set states=3 --set horizon=2 --users 40 --json",
            s.url);
    server_write(&s, "token", fmt("%s\n", s.token));
    assert_int_equal(server_tool(&s, arguments, out, sizeof out), 0);
    assert_true(json_number(out, "users") == 40 && json_number(out, "failures") == 0);
    server_wait_users(&s, "ours", 40);
    assert_true(ledger(&s, "ours", "refused") == 0);
    /* a release of every device, 50 of which were declared */
    assert_true(json_number(answer, "declared") == 50 && json_number(answer, "passed") == 40);
}

TEST(agents_of_all_families_are_served)
{
    static const char families[] = "listen: 127.0.0.1:0\n"
                                   "store: service.db\n"
                                   "learners:\n"
                                   "  - {name: mixed, space: {states: 4, actions: 2, horizon: 3}, "
                                   "users: 100, agent: {kind: linopt-vi,\n"
                                   "     privacy: {model: local, epsilon: 1}}}\n"
                                   "  - {name: linear, space: {states: 4, actions: 2, horizon: 3}, "
                                   "users: 100, agent: {kind: lsvi-ucb,\n"
                                   "     privacy: {model: joint, epsilon: 1}}}\n"
                                   "  - {name: bandit, space: {features: 3, actions: 2, bound: 2}, "
                                   "users: 100, agent: {kind: lin-ucb,\n"
                                   "     privacy: {model: joint, epsilon: 1}}}\n"
                                   "  - {name: own, space: {features: 2, actions: 3, shared: no}, "
                                   "users: 100, agent: {kind: lin-ucb, privacy: {model: none}}}\n";
    char out[1024], decision[1024];
    SERVER(s, families);
    server_write(&s, "token", fmt("%s\n", s.token));
    static const char *const simulated[] = {"mixed", "linear"};
    for (int i = 0; i < 2; i++) {
        const char *arguments = fmt("simulate-users %s --token-file token --learner %s --set "
                                    "states=4 --set horizon=3 --users 30 --json",
                                    s.url, simulated[i]);
        assert_int_equal(server_tool(&s, arguments, out, sizeof out), 0);
        server_wait_users(&s, simulated[i], 30);
        assert_true(ledger(&s, simulated[i], "refused") == 0);
    }
    const char *here = "{\"learner\":\"bandit\",\"context\":[1,0,0,0,1.5,0.5]}";
    for (int i = 0; i < 10; i++) {
        decide(&s, "/v1/decide", here, decision);
        assert_true(json_number(answer, "action") < 2);
        assert_observed(&s, decision, ",\"reward\":1", "finished");
        decide(&s, "/v1/decide", "{\"learner\":\"own\",\"context\":[0.6,-0.8]}", decision);
        assert_true(json_number(answer, "action") < 3);
        assert_observed(&s, decision, ",\"reward\":0", "finished");
    }
    server_wait_users(&s, "bandit", 10);
    server_wait_users(&s, "own", 10);
    assert_error(
        server_post(&s, "/v1/decide", "{\"learner\":\"bandit\",\"context\":[1,0,0,0,1.5]}", answer),
        422, "out_of_range", "context");
    assert_error(server_post(&s, "/v1/decide",
                             "{\"learner\":\"bandit\",\"context\":[1,0,0,0,2,0.5]}", answer),
                 422, "out_of_range", "context"); /* longer than 2 */
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"bandit\",\"state\":0}", answer), 422,
                 "out_of_range", "state");
    /* killed and started again, all of them are where they were */
    double version[4];
    static const char *const names[] = {"mixed", "linear", "bandit", "own"};
    for (int i = 0; i < 4; i++)
        version[i] = ledger(&s, names[i], "version");
    kill_and_start(&s);
    for (int i = 0; i < 4; i++)
        assert_true(ledger(&s, names[i], "version") == version[i]);
    decide(&s, "/v1/decide", here, decision);
    assert_true(json_number(answer, "version") == version[2]);
}
