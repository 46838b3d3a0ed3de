/* Devices that have libtacit_client alone (examples/device.c) against a real server: billboards of every family with a local
 * model, one episode each, and reports that the server takes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/server.h"

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "limits: {body: 65536}\n"
    "learners:\n"
    "  - {name: counts, space: {states: 4, actions: 3, horizon: 5, stationary: yes}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}}}\n"
    "  - {name: gauss, space: {states: 4, actions: 3, horizon: 5}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: one-step, space: {states: 4, actions: 3, horizon: 5}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, report: step, privacy: {model: local, epsilon: 1, delta: 0}}}\n"
    "  - {name: answers, space: {states: 4, actions: 3, horizon: 5, stationary: yes}, users: 100,\n"
    "     agent: {kind: posterior-tabular, privacy: {model: local, epsilon: 1, delta: 0}}}\n"
    "  - {name: true-answers, space: {states: 2, actions: 2, horizon: 5, stationary: yes}, users: "
    "100,\n"
    "     agent: {kind: posterior-tabular, privacy: {model: local, epsilon: 1.9, delta: 0}}}\n"
    "  - {name: random, space: {states: 3, actions: 2, horizon: 4}, users: 100,\n"
    "     agent: {kind: private-ucb-po, privacy: {model: local, epsilon: 1, delta: 0}}}\n"
    "  - {name: obi, space: {states: 3, actions: 2, horizon: 4, stationary: yes}, users: 100,\n"
    "     agent: {kind: ldp-obi, privacy: {model: local, epsilon: 1, delta: 0}}}\n"
    "  - {name: mixture, space: {states: 3, actions: 2, horizon: 3}, users: 100,\n"
    "     agent: {kind: linopt-vi, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: policy, space: {states: 3, actions: 2, horizon: 3}, users: 100,\n"
    "     agent: {kind: linopt-po, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: vtr, space: {states: 3, actions: 2, horizon: 3, rewards: rewards.csv}, users: "
    "100,\n"
    "     agent: {kind: ucrl-vtr, privacy: {model: local, epsilon: 1, delta: 0}}}\n"
    "  - {name: vtr-plus, space: {states: 3, actions: 2, horizon: 3, rewards: rewards.csv}, users: "
    "100,\n"
    "     agent: {kind: ucrl-vtr-plus, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: kernel, space: {states: 4, actions: 3, horizon: 1, features: points.csv, kernel: "
    "se(0.4)},\n"
    "     users: 100, agent: {kind: capri, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: shared, space: {features: 20, actions: 3, bound: 2}, users: 100,\n"
    "     agent: {kind: lin-ucb, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: disjoint, space: {features: 3, actions: 3, shared: no}, users: 100,\n"
    "     agent: {kind: lin-ucb, privacy: {model: local, epsilon: 1, delta: 0.000001}}}\n"
    "  - {name: joint, space: {states: 3, actions: 2, horizon: 1}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: weak, space: {states: 3, actions: 2, horizon: 1}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 50}}}\n"
    "  - {name: back, space: {states: 4, actions: 3, horizon: 2}, users: 100,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0, visits: 2}}}\n";

static char answer[SERVER_ANSWER];

/* The server with all learners, and the tables that they name. */
static void begin(server *s)
{
    char rewards[1024] = "step,state,action,reward\n",
         points[1024] = "state,action,feature,value\n";
    size_t n = strlen(rewards), m = strlen(points);
    for (int h = 0; h < 3; h++)
        for (int i = 0; i < 3 * 2; i++)
            n += (size_t)snprintf(rewards + n, sizeof rewards - n, "%d,%d,%d,%g\n", h, i / 2, i % 2,
                                  0.1 * (i + h));
    for (int i = 0; i < 4 * 3; i++)
        m += (size_t)snprintf(points + m, sizeof points - m, "%d,%d,0,%g\n%d,%d,1,%g\n", i / 3,
                              i % 3, i / 3 * 0.2, i / 3, i % 3, i % 3 * 0.3);
    server_open(s, TACIT_COMMAND, yaml);
    server_write(s, "rewards.csv", rewards);
    server_write(s, "points.csv", points);
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
}

static void end(server *s)
{
    assert_int_equal(server_stop(s, SIGTERM), 0);
    server_close(s);
}

/* The device in the server's directory: from billboard.json to report.json, key and steps, and from this state to the next; its
 * exit status. */
static int run_device(const server *s, const char *learner, const char *state)
{
    assert_int_equal(
        server_ask(s, "", "GET", fmt("/v1/billboard?learner=%s", learner), NULL, NULL, answer),
        200);
    const char *body = strchr(answer, '{');
    assert_non_null(body);
    server_write(s, "billboard.json", body);
    return shell("cd '%s' && timeout 60 '%s' - key %s <billboard.json >report.json 2>steps",
                 s->directory, TACIT_DEVICE, state);
}

static int send_report(const server *s)
{
    static char report[SERVER_ANSWER];
    char key[128];
    server_read(s, "report.json", report, sizeof report);
    server_read(s, "key", key, sizeof key);
    return server_ask(s, s->token, "POST", "/v1/reports",
                      fmt("Idempotency-Key: %.*s\r\n", (int)strcspn(key, "\n"), key), report,
                      answer);
}

static double ledger(const server *s, const char *learner, const char *field)
{
    assert_int_equal(server_get(s, fmt("/v1/ledger?learner=%s", learner), answer), 200);
    return json_number(answer, field);
}

TEST(devices_of_every_family_report_and_are_counted_once)
{
    static const char *const learners[] = {
        "counts", "gauss", "one-step",     "random",   "answers", "obi",    "mixture",
        "policy", "vtr",   "true-answers", "vtr-plus", "kernel",  "shared", "disjoint"};
    enum { USERS = 4 };
    SCOPED_BY(end) server s;
    begin(&s);
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        for (unsigned k = 1; k <= USERS; k++) {
            static char said[4096];
            if (run_device(&s, learners[i], "") != 0) {
                server_read(&s, "steps", said, sizeof said);
                fail_msg("%s: %s", learners[i], said);
            }
            int status = send_report(&s);
            if (status != 202 && status != 200)
                fail_msg("%s: %d %s", learners[i], status, answer);
            assert_true(send_report(&s) == status); /* the answer was lost; the same again */
            server_wait_users(&s, learners[i], k);  /* so that the next billboard is another */
        }
        assert_true(ledger(&s, learners[i], "accepted") == USERS);
        assert_true(ledger(&s, learners[i], "refused") == 0);
    }
}

TEST(a_device_reports_on_its_owners_terms_only)
{
    static const struct {
        const char *learner, *said;
    } cases[] = {{"joint", "UNSUPPORTED"}, {"weak", "BAD_EPSILON"}};
    SCOPED_BY(end) server s;
    char said[1024];
    begin(&s);
    for (size_t i = 0; i < 2; i++) {
        assert_true(run_device(&s, cases[i].learner, "") != 0);
        server_read(&s, "steps", said, sizeof said);
        assert_non_null(strstr(said, cases[i].said));
        server_read(&s, "report.json", said, sizeof said);
        assert_string_equal(said, "");
    }
}

/* The state counts the reports of a person; without one there are none, since nobody could count them. */
TEST(a_device_whose_person_comes_back_stops_after_the_last_report)
{
    static char said[4096];
    SCOPED_BY(end) server s;
    begin(&s);
    assert_true(run_device(&s, "back", "") != 0);
    server_read(&s, "steps", said, sizeof said);
    assert_non_null(strstr(said, "must keep how often it has"));
    for (unsigned k = 1; k <= 2; k++) {
        assert_int_equal(run_device(&s, "back", "ann"), 0);
        assert_int_equal(send_report(&s), 202);
        assert_int_equal(send_report(&s), 202); /* the answer was lost; the same again */
        server_wait_users(&s, "back", k);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(run_device(&s, "back", "ann") != 0);
        server_read(&s, "steps", said, sizeof said);
        assert_non_null(strstr(said, "EXHAUSTED: this person has made all 2 reports"));
    }
    server_write(&s, "torn", "half a sta");
    assert_true(run_device(&s, "back", "torn") != 0);
    server_read(&s, "steps", said, sizeof said);
    assert_non_null(strstr(said, "the device's state is damaged"));
    assert_true(ledger(&s, "back", "accepted") == 2);
}

/* Several processes with one person's state, as of an app that was started twice: whoever comes second reads what the first has
 * written. Each round is a person with two reports. */
TEST(processes_with_one_state_make_no_more_reports_than_one)
{
    static char said[64];
    SCOPED_BY(end) server s;
    begin(&s);
    assert_int_equal(run_device(&s, "back", "first"), 0);
    assert_shell("cd '%s' && for round in $(seq 20); do rm -f made.*; for i in 1 2 3 4 5 6; do"
                 " { timeout 60 '%s' billboard.json key.$i state.$round >/dev/null 2>&1 &&"
                 " : >made.$i; } & done; wait; ls made.* | wc -l; done | sort -u >counts",
                 s.directory, TACIT_DEVICE);
    server_read(&s, "counts", said, sizeof said);
    assert_string_equal(said, "2\n");
}
