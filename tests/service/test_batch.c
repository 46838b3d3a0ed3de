/* Many at once: arrays of decisions and observations, each element with a status of its own. */
#include <stdlib.h>
#include <string.h>

#include "service/plain.h"

static char body[1 << 20];

/* The i-th element of the last answer, from its status on. */
static const char *element(int i)
{
    static const char mark[] = "{\"status\":";
    const char *at = strstr(answer, "\r\n\r\n[") + 4;
    for (int n = 0;; n++) { /* observations have a status inside as well, which is a string */
        at = strstr(at + 1, mark);
        while (at != NULL && at[sizeof mark - 1] == '"')
            at = strstr(at + 1, mark);
        assert_non_null(at);
        if (n == i)
            return at;
    }
}

static int status_of(int i)
{
    return (int)json_number(element(i), "status");
}

static void assert_code(int i, int status, const char *code)
{
    char text[64] = "";
    assert_int_equal(status_of(i), status);
    assert_true(json_field(element(i), "code", text, sizeof text));
    assert_string_equal(text, code);
}

/* Such an array is read without a node for each number. */
TEST(numbers_are_no_decisions)
{
    SERVER(s, plain);
    assert_int_equal(server_post(&s, "/v1/decide", "[1,2.5,-3]", answer), 200);
    for (int i = 0; i < 3; i++)
        assert_code(i, 400, "not_an_object");
}

TEST(decisions_and_observations_come_in_arrays)
{
    char decisions[4][1024];
    SERVER(s, plain);
    assert_int_equal(server_post(&s, "/v1/decide",
                                 " [{\"learner\":\"arms\",\"state\":0},{\"learner\":\"arms\","
                                 "\"state\":9},{\"learner\":\"few\",\"state\":0},17,{\"learner\":"
                                 "\"walk\",\"state\":1},{\"learner\":\"arms\",\"state\":1,\"user\":"
                                 "\"ann\"},{\"learner\":\"none\"},{\"what\":1}]",
                                 answer),
                     200);
    assert_int_equal(status_of(0), 200);
    assert_code(1, 422, "out_of_range");
    assert_int_equal(status_of(2), 200);
    assert_code(3, 400, "not_an_object");
    assert_code(4, 409, "episodes");
    assert_int_equal(status_of(5), 200);
    assert_code(6, 404, "no_learner");
    assert_code(7, 422, "unknown_field");
    const int good[] = {0, 2, 5};
    for (int i = 0; i < 3; i++)
        assert_true(json_field(element(good[i]), "decision", decisions[i], 1024));
    (void)snprintf(body, sizeof body,
                   "[{\"decision\":\"%.1023s\",\"reward\":1},{\"decision\":\"x\",\"reward\":1},"
                   "{\"decision\":\"%.1023s\",\"reward\":0.5},{\"decision\":\"%.1023s\",\"reward\":"
                   "0},{\"decision\":\"%.1023s\",\"reward\":0.25}]",
                   decisions[0], decisions[1], decisions[2], decisions[0]);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(server_post(&s, "/v1/observe", body, answer), 200);
        const int taken[] = {0, 2, 3};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(status_of(taken[i]), 200);
            assert_non_null(strstr(element(taken[i]), "{\"status\":\"finished\""));
        }
        assert_code(1, 422, "out_of_range");
        assert_code(4, 409, "contradiction"); /* in the order of the array */
    }
    assert_true(ledger(&s, "arms", "accepted") == 2 && ledger(&s, "few", "accepted") == 1);
}

static double figure(const server *s, const char *name)
{
    assert_int_equal(server_get(s, "/metrics", answer), 200);
    const char *at = strstr(answer, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

TEST(a_batch_of_the_largest_size_is_taken_and_none_beyond)
{
    enum { MOST = 1000, TICKET = 400 };
    SCOPED_BY(end) server s;
    begin(
        &s,
        "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
        "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100000, agent: " JOINT
        "}\n");
    for (int n = MOST; n <= MOST + 1; n++) {
        size_t used = 1;
        body[0] = '[';
        for (int i = 0; i < n; i++)
            used += (size_t)snprintf(body + used, sizeof body - used, "%s{\"state\":%d}",
                                     i > 0 ? "," : "", i % 3);
        (void)snprintf(body + used, sizeof body - used, "]");
        int status = server_post(&s, "/v1/decide", body, answer);
        if (n == MOST)
            assert_int_equal(status, 200); /* longer than what is heard here */
        else
            assert_error(status, 413, "too_large", "");
    }
    assert_int_equal(server_post(&s, "/v1/decide", "[]", answer), 200);
    assert_non_null(strstr(answer, "\r\n\r\n[]"));
    /* many observations are one transaction, or few */
    enum { MANY = 100 };
    static char decisions[MANY][TICKET];
    size_t used = 1;
    body[0] = '[';
    for (int i = 0; i < MANY; i++)
        used +=
            (size_t)snprintf(body + used, sizeof body - used, "%s{\"state\":0}", i > 0 ? "," : "");
    (void)snprintf(body + used, sizeof body - used, "]");
    assert_int_equal(server_post(&s, "/v1/decide", body, answer), 200);
    for (int i = 0; i < MANY; i++)
        assert_true(json_field(element(i), "decision", decisions[i], TICKET));
    used = 1;
    for (int i = 0; i < MANY; i++)
        used += (size_t)snprintf(body + used, sizeof body - used,
                                 "%s{\"decision\":\"%.399s\",\"reward\":0.5}", i > 0 ? "," : "",
                                 decisions[i]);
    (void)snprintf(body + used, sizeof body - used, "]");
    assert_int_equal(server_post(&s, "/v1/observe", body, answer), 200);
    for (int i = 0; i < MANY; i++)
        assert_non_null(strstr(element(i), "{\"status\":\"finished\""));
    server_wait_users(&s, "arms", MANY);
    assert_true(ledger(&s, "arms", "accepted") == MANY);
    assert_true(figure(&s, "\ntacit_store_commits_total ") < MANY);
}

TEST(a_batch_with_a_key_is_answered_the_same_again)
{
    static const char key[] = "Idempotency-Key: key-0123456789-a\r\n",
                      one[] =
                          "[{\"learner\":\"arms\",\"state\":0},{\"learner\":\"arms\",\"state\":0}"
                          ",{\"learner\":\"arms\",\"state\":7}]",
                      other[] =
                          "[{\"learner\":\"arms\",\"state\":0},{\"learner\":\"arms\",\"state\":"
                          "1}]";
    static char first[SERVER_ANSWER];
    char a[1024], b[1024];
    SERVER(s, plain);
    assert_int_equal(server_ask(&s, s.token, "POST", "/v1/decide", key, one, answer), 200);
    assert_true(json_field(element(0), "decision", a, sizeof a) &&
                json_field(element(1), "decision", b, sizeof b));
    assert_string_not_equal(a, b); /* equal elements are two users */
    assert_code(2, 422, "out_of_range");
    (void)snprintf(first, sizeof first, "%s", strstr(answer, "\r\n\r\n["));
    for (int life = 0; life < 2; life++) {
        assert_int_equal(server_ask(&s, s.token, "POST", "/v1/decide", key, one, answer), 200);
        assert_string_equal(strstr(answer, "\r\n\r\n["), first);
        if (cluster_of_tests() != NULL)
            continue; /* there a front end knows what it decided until it ends */
        kill_and_start(&s);
    }
    assert_int_equal(server_ask(&s, s.token, "POST", "/v1/decide", key, other, answer), 200);
    assert_int_equal(status_of(0), 200); /* the same at the same place */
    assert_code(1, 422, "key_reused");
}

/* What a token may ask in a second is counted by elements. */
TEST(a_batch_counts_for_as_many_as_it_has)
{
    SCOPED_BY(end) server s;
    begin(
        &s,
        "listen: 127.0.0.1:0\nstore: service.db\nlimits: {rate: 10}\nlearners:\n"
        "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100000, agent: " JOINT
        "}\n");
    size_t used = 1;
    body[0] = '[';
    for (int i = 0; i < 1000; i++) /* enough for 99 seconds, however slow this machine is */
        used +=
            (size_t)snprintf(body + used, sizeof body - used, "%s{\"state\":0}", i > 0 ? "," : "");
    (void)snprintf(body + used, sizeof body - used, "]");
    assert_int_equal(server_post(&s, "/v1/decide", body, answer), 200);
    assert_error(server_post(&s, "/v1/decide", "{\"state\":0}", answer), 429, "rate", "");
    const char *wait = strstr(answer, "\r\nRetry-After: ");
    assert_non_null(wait);
    assert_within(strtod(wait + 15, NULL), 2,
                  100); /* until the batch is paid for, and not a second */
}
