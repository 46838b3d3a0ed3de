/* The learner lin-ucb as an agent: what privacy costs, saved states, reports, refusals. */
#include <stdlib.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "support/arena.h"
#include "support/random.h"

static tacit_agent *hire(const tacit_world *world, tacit_guarantee g, tacit_calibration calibration,
                         const tacit_setting *settings, size_t n, uint64_t users)
{
    tacit_agent_request request = request_in(world, "lin-ucb", g, users);
    request.settings = settings;
    request.n_settings = n;
    request.calibration = calibration;
    return agent_of(&request, 7);
}

static double play(const tacit_world *world, tacit_agent *agent, uint64_t first, uint64_t last)
{
    return bandit_play(world, agent, first, last, NULL, NULL, 0);
}

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-6};

TEST(privacy_costs_regret_with_shared_and_disjoint_actions_and_adversarial_contexts)
{
    static const tacit_setting kinds[][3] = {
        {SET("arms", "shared"), SET("actions", "6"), SET("contexts", "0")},
        {SET("arms", "disjoint"), SET("actions", "3"), SET("contexts", "50")},
        {SET("arms", "shared"), SET("actions", "6"), SET("phases", "500")}};
    for (size_t k = 0; k < N_OF(kinds); k++) {
        SCOPED(tacit_world) *world = world_of("linear-bandit", kinds[k], 3);
        const tacit_guarantee g[] = {none, {TACIT_MODEL_JOINT, 20, 1e-6}, joint, local};
        double regret[4], uniform = 0;
        for (size_t m = 0; m < 4; m++) {
            SCOPED(tacit_agent) *a = hire(world, g[m], TACIT_CALIBRATION_TIGHT, NULL, 0, 20000);
            regret[m] = play(world, a, 0, 20000);
        }
        SCOPED(tacit_agent) *recalled =
            hire(world, joint, TACIT_CALIBRATION_RECALLED, NULL, 0, 20000);
        uniform = play(world, recalled, 0, 20000);
        assert_true(regret[0] < regret[2] && regret[1] < regret[2] && regret[2] < regret[3]);
        assert_true(regret[2] < uniform); /* the recalled constants cost more than tight ones */
    }
}

TEST(a_saved_learner_goes_on)
{
    const tacit_guarantee models[] = {none, joint, local};
    static const tacit_setting settings[] = {SET("arms", "disjoint"), SET("actions", "3"),
                                             SET("d", "4")};
    SCOPED(tacit_world) *world = world_of("linear-bandit", settings, 3);
    for (size_t m = 0; m < 3; m++) {
        tacit_error err = {0};
        size_t size = 0;
        SCOPED(tacit_agent) *calm = hire(world, models[m], TACIT_CALIBRATION_TIGHT, NULL, 0, 2000);
        (void)play(world, calm, 0, 900);
        double wanted = play(world, calm, 900, 2000);
        SCOPED(tacit_agent) *first = hire(world, models[m], TACIT_CALIBRATION_TIGHT, NULL, 0, 2000);
        SCOPED(tacit_agent) *second =
            hire(world, models[m], TACIT_CALIBRATION_TIGHT, NULL, 0, 2000);
        SCOPED(tacit_agent) *other = hire(world, models[m], TACIT_CALIBRATION_TIGHT, NULL, 0, 2001);
        (void)play(world, first, 0, 900);
        assert_ok(tacit_agent_save(first, NULL, &size, &err));
        SCOPED_FREE uint8_t *bytes = calloc(size, 1);
        assert_ok(tacit_agent_save(first, bytes, &size, &err));
        assert_status(tacit_agent_load(other, bytes, size, &err), TACIT_WRONG_PLAN);
        bytes[100] ^= 4;
        assert_status(tacit_agent_load(second, bytes, size, &err), TACIT_CORRUPT);
        bytes[100] ^= 4;
        assert_ok(tacit_agent_load(second, bytes, size, &err));
        double got = play(world, second, 900, 2000);
        assert_true(got == wanted);
    }
}

/* A device that only reports and a server that only adds are together the learner of one process. */
TEST(a_learner_through_reports_is_the_direct_one)
{
    enum { USERS = 400 };
    static const tacit_setting settings[] = {SET("arms", "disjoint"), SET("actions", "3"),
                                             SET("d", "4")};
    SCOPED(tacit_world) *world = world_of("linear-bandit", settings, 3);
    SCOPED(tacit_agent) *direct = hire(world, local, TACIT_CALIBRATION_TIGHT, NULL, 0, USERS);
    SCOPED(tacit_agent) *device = hire(world, local, TACIT_CALIBRATION_TIGHT, NULL, 0, USERS);
    SCOPED(tacit_agent) *server = hire(world, local, TACIT_CALIBRATION_TIGHT, NULL, 0, USERS);
    tacit_error err = {0};
    size_t size = 0;
    uint64_t seed = 5;
    assert_ok(tacit_agent_report(device, &(tacit_trajectory){0}, NULL, &size, &err));
    assert_true(size >= 8 * 3 * (10 + 4));
    SCOPED_FREE uint8_t *bytes = malloc(size);
    for (uint64_t t = 0; t < USERS; t++) {
        tacit_billboard x, y;
        uint32_t where = (uint32_t)random_below(&seed, 1000), action[2];
        double probability, reward = random_unit(&seed);
        assert_ok(tacit_agent_plan(direct, &x, &err));
        assert_ok(tacit_agent_plan(server, &y, &err));
        assert_true(x.version == y.version);
        const tacit_situation here = {.state = where};
        assert_ok(tacit_agent_act(direct, &here, 0.3, &action[0], &probability, &err));
        assert_ok(tacit_agent_act(server, &here, 0.3, &action[1], &probability, &err));
        assert_int_equal(action[0], action[1]);
        const tacit_trajectory user = {STEPS_OF(&where, action, &reward)};
        assert_ok(tacit_agent_learn(direct, &user, &err));
        if (t + 1 < USERS) /* the last one's is not needed, and there is no noise left for it */
            assert_ok(tacit_agent_report(device, &user, bytes, &size, &err));
        assert_status(tacit_agent_check_report(server, bytes, size - 1, &err), TACIT_OUT_OF_BOUND);
        assert_status(tacit_agent_absorb(server, bytes, size - 1, &err), TACIT_OUT_OF_BOUND);
        if (t == 0) { /* a number that no noise explains */
            uint8_t kept = bytes[size - 1];
            bytes[size - 1] = 0x7f;
            assert_status(tacit_agent_check_report(server, bytes, size, &err), TACIT_OUT_OF_BOUND);
            assert_status(tacit_agent_absorb(server, bytes, size, &err), TACIT_OUT_OF_BOUND);
            bytes[size - 1] = kept;
        }
        assert_ok(tacit_agent_check_report(server, bytes, size, &err));
        assert_ok(tacit_agent_absorb(server, bytes, size, &err));
    }
    assert_status(tacit_agent_absorb(server, bytes, size, &err), TACIT_EXHAUSTED);
}

TEST(what_does_not_fit_is_refused)
{
    static const tacit_setting shared = SET("arms", "shared"), opposite = SET("arms", "opposite");
    static const tacit_setting disjoint_world = SET("arms", "disjoint");
    tacit_world *worlds[] = {world_of("linear-bandit", NULL, 0),
                             world_of("linear-bandit", &disjoint_world, 1)};
    tacit_error err = {0};
    for (size_t w = 0; w < 2; w++)
        for (int k = 0; k < 2; k++) {
            const tacit_world_facts *f = tacit_world_describe(worlds[w]);
            const tacit_agent_request request = {
                SPACE_OF(f->n_states, f->n_actions, 1), SETTINGS_OF(k ? &opposite : &shared, 1),
                .kind = "lin-ucb", .episodes = 10, .bandit = f->bandit};
            SCOPED(tacit_agent) *agent = NULL;
            bool fits = w == 0 && k == 0;
            assert_status(tacit_agent_create(&request, NULL, &agent, &err),
                          fits ? TACIT_OK : TACIT_UNSUPPORTED);
        }
    const tacit_agent_request tabular = {.kind = "lin-ucb", SPACE_OF(3, 2, 1), .episodes = 10};
    SCOPED(tacit_agent) *agent = NULL;
    assert_status(tacit_agent_create(&tabular, NULL, &agent, &err), TACIT_UNSUPPORTED);
    agent = hire(worlds[0], none, TACIT_CALIBRATION_TIGHT, NULL, 0, 10);
    tacit_trajectory user = {
        .states = (uint32_t[]){1000}, .actions = (uint32_t[]){0}, .rewards = (double[]){0.5}};
    assert_status(tacit_agent_learn(agent, &user, &err), TACIT_OUT_OF_BOUND);
    tacit_world_destroy(worlds[0]);
    tacit_world_destroy(worlds[1]);
}
