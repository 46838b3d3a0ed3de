/* Memory that runs out on a device: every allocation from the billboard to the report fails once, in every family with a local
 * model. The call says NO_MEMORY, leaves nothing behind (for a sanitizer to tell), and works when there is memory again. Built
 * against libtacit and, as device.alloc, against libtacit_client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "support/check.h"

enum { STATES = 4, ACTIONS = 3, HORIZON = 3, D = 20, USERS = 50 };

typedef struct family {
    const char *kind;
    double delta;
    bool bandit;
} family;

/* What the service shows of an agent that has had a few users. */
static void write_board(const family *f, char *text, size_t room)
{
    const tacit_bandit bandit = {.dimension = D, .bound = 1};
    const tacit_agent_request request = {
        SPACE_OF(f->bandit ? 0 : STATES, ACTIONS, f->bandit ? 1 : HORIZON), .kind = f->kind,
        .guarantee = {TACIT_MODEL_LOCAL, 1, f->delta}, .episodes = USERS,
        .bandit = f->bandit ? &bandit : NULL};
    tacit_noise *noise;
    SCOPED(tacit_agent) *agent = NULL;
    tacit_billboard look;
    assert_ok(tacit_noise_create_simulated(1, &noise));
    assert_ok(tacit_agent_create(&request, noise, &agent, NULL));
    tacit_noise_destroy(noise);
    static const uint32_t states[HORIZON + 1] = {0, 1, 2, 3}, actions[HORIZON] = {0, 1, 2};
    static const double rewards[HORIZON] = {0, 1, 0.5}, features[2 * ACTIONS * D] = {0.5, 0.25};
    const tacit_trajectory user = {STEPS_OF(f->bandit ? NULL : states, actions, rewards),
                                   .features = f->bandit ? features : NULL};
    for (int k = 0; k < 5; k++) {
        assert_ok(tacit_agent_plan(agent, &look, NULL));
        assert_ok(tacit_agent_learn(agent, &user, NULL));
    }
    assert_ok(tacit_agent_plan(agent, &look, NULL));
    size_t n = (size_t)snprintf(
        text, room,
        "{\"learner\":\"l\",\"version\":%llu,\"users\":5,\"model\":\"local\",\"guarantee\":"
        "{\"epsilon\":1,\"delta\":%g},\"agent\":{\"kind\":\"%s\",\"sums\":null,\"settings\":[]},"
        "\"space\":{\"states\":%zu,\"actions\":%d,\"horizon\":%zu,\"stationary\":false%s},"
        "\"episodes\":%d",
        (unsigned long long)look.version, f->delta, f->kind, request.n_states, ACTIONS,
        request.horizon, f->bandit ? ",\"features\":20,\"shared\":true,\"bound\":1" : "", USERS);
    static uint8_t model[1 << 17];
    size_t size = sizeof model;
    if (tacit_agent_publish(agent, model, &size, NULL) == TACIT_OK) {
        assert_true(n + 20 + TACIT__BASE64_SIZE(size) < room);
        n += (size_t)snprintf(text + n, room - n, ",\"model_bytes\":\"");
        tacit__base64_write(model, size, text + n);
        n += strlen(text + n);
        n += (size_t)snprintf(text + n, room - n, "\"");
    }
    for (int h = 0; look.policy != NULL && h < HORIZON; h++) {
        n += (size_t)snprintf(text + n, room - n, "%s[", h == 0 ? ",\"policy\":[" : ",");
        for (int s = 0; s < STATES; s++)
            n += (size_t)snprintf(text + n, room - n, "%s%u", s > 0 ? "," : "",
                                  (unsigned)look.policy[h * STATES + s]);
        n += (size_t)snprintf(text + n, room - n, h == HORIZON - 1 ? "]]" : "]");
    }
    for (int h = 0; look.mixed != NULL && h < HORIZON; h++)
        for (int s = 0; s < STATES; s++)
            for (int a = 0; a < ACTIONS; a++)
                n += (size_t)snprintf(text + n, room - n, "%s%.17g%s",
                                      a > 0   ? ","
                                      : s > 0 ? ",["
                                      : h > 0 ? ",[["
                                              : ",\"mixed\":[[[",
                                      look.mixed[(h * STATES + s) * ACTIONS + a],
                                      a < ACTIONS - 1   ? ""
                                      : s < STATES - 1  ? "]"
                                      : h < HORIZON - 1 ? "]]"
                                                        : "]]]");
    (void)snprintf(text + n, room - n, "}");
}

/* Calls again what ran out of memory. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        tacit_error err = {0};                                                                     \
        tacit_status status = (call);                                                              \
        if (status == TACIT_NO_MEMORY) {                                                           \
            assert_true(tacit__alloc_has_failed() && err.message[0] != '\0');                      \
            status = (call);                                                                       \
        }                                                                                          \
        if (status != TACIT_OK)                                                                    \
            fail_msg("%s", err.message);                                                           \
    } while (0)

/* The device's disk. */
static uint8_t kept[1 << 16];
static size_t kept_size;

static tacit_status save(void *context, const void *state, size_t size)
{
    (void)context;
    assert_true(size <= sizeof kept);
    memcpy(kept, state, size);
    kept_size = size;
    return TACIT_OK;
}

/* After a restart: the report is the same, and there is no other. */
static void restart(const char *text, const char *report)
{
    const tacit_client_terms terms = {
        .epsilon = 1, .delta = 1e-3, .save = save, .state = kept, .state_size = kept_size};
    SCOPED(tacit_client) *client = NULL;
    char *again = NULL, key[TACIT_CLIENT_KEY_SIZE];
    TRY(tacit_client_create(text, strlen(text), &terms, &client, &err));
    TRY(tacit_client_report_again(client, &again, key, &err));
    assert_string_equal(again, report);
    free(again);
    assert_true(tacit_client_describe(client)->made == 1);
}

/* One episode, and the actions taken. */
static void live(const char *text, bool bandit, uint32_t actions[HORIZON])
{
    const tacit_client_terms terms = {.epsilon = 1, .delta = 1e-3, .save = save};
    SCOPED(tacit_client) *client = NULL;
    TRY(tacit_client_create(text, strlen(text), &terms, &client, &err));
    size_t horizon = tacit_client_describe(client)->horizon;
    uint32_t states[HORIZON + 1] = {0};
    static const double rewards[HORIZON] = {0, 1, 0.5}, features[2 * ACTIONS * D] = {0.5, 0.25};
    for (size_t h = 0; h < horizon; h++) {
        const tacit_situation here = {
            .step = h, .state = states[h], .features = bandit ? features : NULL};
        double p;
        TRY(tacit_client_act(client, &here, &actions[h], &p, &err));
        states[h + 1] = (states[h] + 1) % STATES;
    }
    const tacit_trajectory user = {STEPS_OF(bandit ? NULL : states, actions, rewards),
                                   .features = bandit ? features : NULL};
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    TRY(tacit_client_report(client, &user, &body, key, &err));
    assert_true(strncmp(body, "{\"learner\":\"l\",\"report\":\"", 25) == 0);
    restart(text, body);
    free(body);
}

TEST(every_allocation_of_a_device_may_fail)
{
    static const family families[] = {{"dp-ucbvi", 0, false},       {"dp-ucbvi", 1e-6, false},
                                      {"private-ucb-po", 0, false}, {"linopt-vi", 1e-6, false},
                                      {"linopt-po", 1e-6, false},   {"lin-ucb", 1e-6, true}};
    static char text[1 << 18];
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        write_board(&families[i], text, sizeof text);
        uint32_t actions[HORIZON], wanted[HORIZON];
        live(text, families[i].bandit, wanted);
        uint64_t n = 1;
        for (bool failed = true; failed; n++) {
            tacit__alloc_fail_at(n);
            live(text, families[i].bandit, actions);
            failed = tacit__alloc_has_failed();
            tacit__alloc_fail_at(0);
            if (strcmp(families[i].kind, "dp-ucbvi") == 0) /* nothing random about its plan */
                assert_memory_equal(actions, wanted, sizeof wanted);
        }
        assert_true(n > 10);
    }
}
