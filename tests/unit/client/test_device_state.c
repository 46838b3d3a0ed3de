/* A device whose person comes back: it counts its reports, in a state that is saved before each of them leaves, and
 * makes no more than were agreed; each has the noise for all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>

#include "agents/agent_inside.h"
#include "noise/seal.h"
#include "release/monitor.h"
#include "support/check.h"

SCOPED_TYPE(tacit__monitor, tacit__monitor_destroy)

enum { VISITS = 3, ROOM = 8192 };

/* %s: name; %g, %g: epsilon and delta; %s: visits */
static const char form[] =
    "{\"learner\":\"%s\",\"version\":3,\"users\":7,\"model\":\"local\",\"guarantee\":{\"epsilon\":%"
    "g,"
    "\"delta\":%g},\"agent\":{\"kind\":\"dp-ucbvi\",\"sums\":null,\"settings\":[]},"
    "\"space\":{\"states\":2,\"actions\":3,\"horizon\":2,\"stationary\":true},\"episodes\":50%s,"
    "\"monitor\":{\"epsilon\":0.5,\"delta\":0},\"policy\":[[0,2],[1,1]]}";
static const char three[] = ",\"visits\":3,\"apart\":2";

/* A device's disk. */
typedef struct disk {
    uint8_t state[ROOM];
    size_t size;
    int saves;
    tacit_status answer;     /* of the next save */
    const char *const *body; /* where the report will be: not there yet when it is saved */
} disk;

static tacit_status save(void *context, const void *state, size_t size)
{
    disk *d = context;
    assert_true(size <= ROOM && (d->body == NULL || *d->body == NULL));
    d->saves++;
    if (d->answer != TACIT_OK)
        return d->answer;
    memcpy(d->state, state, size);
    d->size = size;
    return TACIT_OK;
}

static tacit_status open_with(const char *text, disk *d, tacit_client **out, tacit_error *err)
{
    const tacit_client_terms terms = {.epsilon = 2,
                                      .delta = 0.01,
                                      .save = save,
                                      .save_context = d,
                                      .state = d->size > 0 ? d->state : NULL,
                                      .state_size = d->size};
    *out = NULL;
    return tacit_client_create(text, strlen(text), &terms, out, err);
}

static const char *board(const char *name, double epsilon, double delta, const char *visits)
{
    static char text[1024];
    (void)snprintf(text, sizeof text, form, name, epsilon, delta, visits);
    return text;
}

static tacit_client *open_device(disk *d)
{
    tacit_client *client;
    tacit_error err = {0};
    if (open_with(board("ours", 1, 0, three), d, &client, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return client;
}

static tacit_status report(tacit_client *client, char **body, char key[TACIT_CLIENT_KEY_SIZE],
                           tacit_error *err)
{
    static const uint32_t states[] = {0, 1, 1}, actions[] = {0, 1};
    static const double rewards[] = {0.5, 1};
    const tacit_trajectory episode = {STEPS_OF(states, actions, rewards)};
    return tacit_client_report(client, &episode, body, key, err);
}

TEST(a_device_makes_as_many_reports_as_were_agreed)
{
    disk d = {0};
    char *bodies[VISITS] = {0}, keys[VISITS][TACIT_CLIENT_KEY_SIZE];
    for (int i = 0; i < VISITS; i++) { /* each visit is another run of the program */
        tacit_client *client = open_device(&d);
        const tacit_client_facts *facts = tacit_client_describe(client);
        assert_true(facts->visits == VISITS && facts->apart == 2 && facts->made == (uint64_t)i);
        d.body = (const char *const *)&bodies[i];
        assert_ok(report(client, &bodies[i], keys[i], NULL));
        assert_true(facts->made == (uint64_t)i + 1 && d.saves == i + 1);
        char *second = NULL, key[TACIT_CLIENT_KEY_SIZE];
        assert_status(report(client, &second, key, NULL), TACIT_EXHAUSTED); /* one for each visit */
        assert_null(second);
        tacit_client_destroy(client);
        for (int j = 0; j < i; j++)
            assert_true(strcmp(bodies[i], bodies[j]) != 0 && strcmp(keys[i], keys[j]) != 0);
    }
    d.body = NULL;
    for (int i = 0; i < 2; i++) {
        SCOPED(tacit_client) *client = open_device(&d); /* it still acts */
        uint32_t action;
        double p;
        char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
        tacit_error err = {0};
        assert_ok(tacit_client_act(client, &(tacit_situation){.state = 1}, &action, &p, NULL));
        assert_status(report(client, &body, key, &err), TACIT_EXHAUSTED);
        assert_non_null(strstr(err.message, "all 3 reports"));
        assert_non_null(strstr(err.message, "visits_used"));
        assert_true(body == NULL && d.saves == VISITS);
    }
    for (int i = 0; i < VISITS; i++)
        free(bodies[i]);
}

/* Whose answer was lost sends the same bytes, also after the device was restarted. */
TEST(the_last_report_can_be_sent_again)
{
    disk d = {0};
    char *body = NULL, *again = NULL, key[TACIT_CLIENT_KEY_SIZE], key_again[TACIT_CLIENT_KEY_SIZE];
    SCOPED(tacit_client) *client = open_device(&d);
    assert_status(tacit_client_report_again(client, &again, key_again, NULL), TACIT_BAD_ARGUMENT);
    assert_ok(report(client, &body, key, NULL));
    for (int i = 0; i < 3; i++) {
        assert_ok(tacit_client_report_again(client, &again, key_again, NULL));
        assert_string_equal(again, body);
        assert_string_equal(key_again, key);
        free(again);
        again = NULL;
        tacit_client_destroy(client);
        client = open_device(&d);
    }
    assert_true(d.saves == 1 && tacit_client_describe(client)->made == 1);
    free(body);
}

TEST(what_cannot_be_saved_does_not_leave)
{
    disk d = {.answer = TACIT_SYSTEM};
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    tacit_error err = {0};
    SCOPED(tacit_client) *client = open_device(&d);
    for (int i = 0; i < 2; i++) {
        assert_status(report(client, &body, key, &err), TACIT_SYSTEM);
        assert_non_null(strstr(err.message, "nothing has left the device"));
        assert_true(body == NULL && tacit_client_describe(client)->made == 0);
        assert_status(tacit_client_report_again(client, &body, key, NULL), TACIT_BAD_ARGUMENT);
    }
    d.answer = TACIT_OK;
    assert_ok(report(client, &body, key, NULL));
    assert_true(tacit_client_describe(client)->made == 1);
    free(body);
}

TEST(a_device_must_keep_a_state_where_people_come_back)
{
    const tacit_client_terms forgetful = {.epsilon = 2, .delta = 0.01};
    const char *text = board("ours", 1, 0, three);
    SCOPED(tacit_client) *client = NULL;
    tacit_error err = {0};
    assert_status(tacit_client_create(text, strlen(text), &forgetful, &client, &err),
                  TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "may report 3 times"));
    assert_non_null(strstr(err.message, "`save`"));
    text = board("ours", 1, 0, ""); /* once: the client itself is enough */
    assert_ok(tacit_client_create(text, strlen(text), &forgetful, &client, &err));
    assert_true(tacit_client_describe(client)->visits == 1);
}

TEST(a_damaged_state_is_noticed)
{
    disk d = {0}, bad;
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    tacit_client *client = open_device(&d);
    assert_ok(report(client, &body, key, NULL));
    free(body);
    tacit_client_destroy(client);
    for (size_t i = 0; i < d.size; i++) {
        bad = d;
        bad.state[i] ^= 1;
        assert_status(open_with(board("ours", 1, 0, three), &bad, &client, NULL), TACIT_CORRUPT);
        bad = d;
        bad.size = i > 0 ? i : 1;
        assert_status(open_with(board("ours", 1, 0, three), &bad, &client, NULL), TACIT_CORRUPT);
    }
}

/* What was agreed at the first report holds for all: a server that changes it gets none. */
TEST(other_terms_are_refused_once_a_report_was_made)
{
    static const struct {
        const char *name, *visits;
        double epsilon, delta;
    } cases[] = {{"ours", three, 0.9, 0},
                 {"ours", three, 1, 1e-6},
                 {"ours", ",\"visits\":4,\"apart\":2", 1, 0},
                 {"ours", ",\"visits\":3,\"apart\":1", 1, 0},
                 {"ours", "", 1, 0},
                 {"theirs", three, 1, 0}};
    disk d = {0};
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    tacit_client *client = open_device(&d);
    assert_ok(report(client, &body, key, NULL));
    free(body);
    tacit_client_destroy(client);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_error err = {0};
        disk fresh = {0};
        const char *text = board(cases[i].name, cases[i].epsilon, cases[i].delta, cases[i].visits);
        assert_status(open_with(text, &d, &client, &err), TACIT_WRONG_PLAN);
        assert_non_null(strstr(err.message, "terms"));
        assert_ok(open_with(text, &fresh, &client, &err)); /* it is the state that refuses */
        tacit_client_destroy(client);
    }
}

TEST(billboards_with_impossible_visits_are_refused)
{
    static const char *const visits[] = {
        ",\"visits\":0,\"apart\":1",  ",\"visits\":1,\"apart\":1",
        ",\"visits\":2,\"apart\":0",  ",\"visits\":2",
        ",\"visits\":-3,\"apart\":1", ",\"visits\":\"3\",\"apart\":1",
        ",\"visits\":3,\"apart\":17", ",\"visits\":18446744073709551615,\"apart\":9"};
    for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
        disk d = {0};
        tacit_client *client;
        tacit_status status = open_with(board("ours", 1, 0, visits[i]), &d, &client, NULL);
        if (status != TACIT_SYNTAX && status != TACIT_BAD_COUNT)
            fail_msg("%s: %s", visits[i], tacit_status_name(status));
    }
}

/* --- The noise of each report is that of all --------------------------------------------------------- */

static tacit_agent *open_agent(double delta, uint64_t visits)
{
    const tacit_agent_request request = {
        SPACE_OF(2, 3, 2),  .kind = "dp-ucbvi", .guarantee = {TACIT_MODEL_LOCAL, 1, delta},
        .stationary = true, .episodes = 50,     VISITS_OF(visits, visits > 1 ? 2 : 0)};
    SCOPED(tacit_noise) *noise = NULL;
    tacit_agent *agent = NULL;
    tacit_error err = {0};
    assert_ok(tacit_noise_create_from_os(&noise));
    if (tacit_agent_create(&request, noise, &agent, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return agent;
}

static tacit__monitor *open_monitor(double delta, uint64_t visits)
{
    SCOPED(tacit_noise) *noise = NULL;
    tacit__monitor *monitor = NULL;
    assert_ok(tacit_noise_create_from_os(&noise));
    assert_ok(tacit__monitor_create((tacit_guarantee){TACIT_MODEL_LOCAL, 1, delta},
                                    &(tacit__monitored){50, visits, visits > 1 ? 2 : 0}, noise,
                                    &monitor, NULL));
    return monitor;
}

/* Laplace: k reports of epsilon / k each. Gaussian: k reports that are mu / sqrt(k)-GDP each. Exact, since the losses of k
 * independent reports can all be as large as one's. */
TEST(the_noise_of_each_report_is_that_of_all)
{
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        const double delta = gaussian ? 1e-6 : 0, factor = gaussian ? sqrt(VISITS) : VISITS;
        SCOPED(tacit_agent) *one = open_agent(delta, 1), *many = open_agent(delta, VISITS);
        SCOPED(tacit__monitor) *alone = open_monitor(delta, 1),
                               *together = open_monitor(delta, VISITS);
        const tacit_plan *plans[][2] = {
            {tacit_agent_release_plan(one), tacit_agent_release_plan(many)},
            {tacit_ledger_plan(tacit__monitor_ledger(alone)),
             tacit_ledger_plan(tacit__monitor_ledger(together))}};
        for (int p = 0; p < 2; p++)
            for (size_t i = 0; i < tacit_plan_size(plans[p][0]); i++) {
                assert_within(tacit_plan_scale(plans[p][1], i) / tacit_plan_scale(plans[p][0], i),
                              factor * (1 - 1e-3), factor * (1 + 1e-3));
                assert_true(tacit_plan_release(plans[p][1], i)->visits == VISITS);
            }
    }
}

/* The service of the same terms takes the report; one of another number of visits does not. */
TEST(a_report_belongs_to_its_number_of_visits)
{
    disk d = {0};
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    tacit_client *client = open_device(&d);
    assert_ok(report(client, &body, key, NULL));
    tacit_client_destroy(client);
    uint8_t bytes[ROOM];
    size_t size = 0;
    const char *at = strstr(body, "\"report\":\"") + strlen("\"report\":\"");
    assert_true(tacit__base64_read(at, strcspn(at, "\""), bytes, sizeof bytes, &size));
    size -= TACIT__REPORT_NAME + TACIT__MONITOR_REPORT;
    SCOPED(tacit_agent) *same = open_agent(0, VISITS), *other = open_agent(0, 1);
    assert_ok(tacit_agent_check_report(same, bytes, size, NULL));
    assert_status(tacit_agent_check_report(other, bytes, size, NULL), TACIT_WRONG_PLAN);
    free(body);
}
