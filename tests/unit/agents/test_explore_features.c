/* explore-commit-features: random actions, one release at the user that was announced, and the same greedy policy for ever after;
 * data of users who come later leave no trace. */
#include <math.h>
#include <stdlib.h>

#include "agents/agent_inside.h"
#include "agents/bandit/lin_ucb_agent.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

enum { USERS = 400, EXPLORE = 150, ACTIONS = 3, D = 4 };

static const tacit_guarantee guarantees[] = {
    {TACIT_MODEL_NONE, 0, 0}, {TACIT_MODEL_JOINT, 20, 1e-3}, {TACIT_MODEL_LOCAL, 50, 1e-3}};

static tacit_agent *hire(tacit_guarantee g, uint64_t users, const char *explore, uint64_t seed)
{
    static const tacit_bandit bandit = {.dimension = D, .bound = 1};
    const tacit_setting setting = SET("explore", explore);
    tacit_agent_request request = {SETTINGS_OF(&setting, 1),
                                   .kind = "explore-commit-features",
                                   .guarantee = g,
                                   .n_actions = ACTIONS,
                                   .horizon = 1,
                                   .stationary = true,
                                   .episodes = users,
                                   .bandit = &bandit};
    return agent_of(&request, seed);
}

typedef struct visitor {
    double features[ACTIONS * D];
} visitor;

static visitor draw_visitor(uint64_t *seed)
{
    visitor v;
    for (size_t i = 0; i < ACTIONS * D; i++)
        v.features[i] = (2 * random_unit(seed) - 1) / 2;
    return v;
}

static uint32_t act(tacit_agent *agent, const visitor *v, double chance, double *probability)
{
    uint32_t action = 0;
    tacit_billboard board;
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    assert_ok(tacit_agent_act(agent, &(tacit_situation){.features = v->features}, chance, &action,
                              probability, NULL));
    return action;
}

static void learn(tacit_agent *agent, const visitor *v, uint32_t action, double reward)
{
    const tacit_trajectory user = {.actions = &action, .rewards = &reward, .features = v->features};
    assert_ok(tacit_agent_learn(agent, &user, NULL));
}

/* The first feature is what pays. */
static double reward_of(const visitor *v, uint32_t action)
{
    return 0.5 + 0.9 * v->features[action * D];
}

TEST(it_explores_and_commits)
{
    for (size_t g = 0; g < N_OF(guarantees); g++) {
        SCOPED(tacit_agent) *agent = hire(guarantees[g], USERS, "150", 3);
        uint64_t seed = 5, right = 0, versions = 0, version = 0;
        for (size_t k = 0; k < USERS; k++) {
            const visitor v = draw_visitor(&seed);
            double probability;
            tacit_billboard board;
            const uint32_t action = act(agent, &v, random_unit(&seed), &probability);
            uint32_t best = 0;
            for (uint32_t a = 1; a < ACTIONS; a++)
                best = reward_of(&v, a) > reward_of(&v, best) ? a : best;
            assert_close(probability, k < EXPLORE ? 1.0 / ACTIONS : 1, 1e-12);
            right += k >= EXPLORE && action == best;
            assert_ok(tacit_agent_plan(agent, &board, NULL));
            versions += board.version != version;
            version = board.version;
            learn(agent, &v, action, reward_of(&v, action));
        }
        assert_true(10 * right > 8 * (USERS - EXPLORE));
        assert_int_equal(versions, 2);
        if (g == 1)
            assert_int_equal(tacit_ledger_passed(tacit__agent_ledger(agent), 0), 1);
        const visitor v = draw_visitor(&seed);
        const double reward = 1;
        const uint32_t action = 0;
        const tacit_trajectory user = {
            .actions = &action, .rewards = &reward, .features = v.features};
        assert_status(tacit_agent_learn(agent, &user, NULL), TACIT_EXHAUSTED);
    }
}

/* Two crowds that differ only after the release: everybody meets the same actions, and the sums are the same. */
TEST(who_comes_after_leaves_no_trace)
{
    for (size_t g = 0; g < N_OF(guarantees); g++) {
        SCOPED(tacit_agent) *one = hire(guarantees[g], USERS, "150", 3),
                            *other = hire(guarantees[g], USERS, "150", 3);
        uint64_t seed = 6;
        size_t m = 0, n = 0;
        for (size_t k = 0; k < USERS; k++) {
            const visitor v = draw_visitor(&seed);
            const double chance = random_unit(&seed);
            double p;
            const uint32_t action = act(one, &v, chance, &p);
            assert_int_equal(act(other, &v, chance, &p), action);
            learn(one, &v, action, 1);
            learn(other, &v, action, k < EXPLORE ? 1 : 0);
        }
        assert_ok(tacit_agent_save(one, NULL, &m, NULL));
        assert_ok(tacit_agent_save(other, NULL, &n, NULL));
        assert_int_equal(m, n);
    }
}

/* Devices report whether their reports will be used or not: who explores is no business of theirs. */
TEST(reports_are_made_after_the_release_too)
{
    SCOPED(tacit_agent) *server = hire(guarantees[2], USERS, "150", 3),
                        *device = hire(guarantees[2], USERS, "150", 4);
    uint64_t seed = 9;
    for (size_t k = 0; k + 1 < USERS; k++) {
        static uint8_t bytes[1 << 14];
        size_t size = sizeof bytes;
        const visitor v = draw_visitor(&seed);
        double p;
        const uint32_t action = act(server, &v, random_unit(&seed), &p);
        const double reward = reward_of(&v, action);
        const tacit_trajectory user = {
            .actions = &action, .rewards = &reward, .features = v.features};
        assert_close(p, k < EXPLORE ? 1.0 / ACTIONS : 1, 1e-12);
        assert_ok(tacit_agent_report(device, &user, bytes, &size, NULL));
        assert_ok(tacit_agent_check_report(server, bytes, size, NULL));
        assert_ok(tacit_agent_absorb(server, bytes, size, NULL));
    }
}

TEST(a_saved_learner_goes_on)
{
    static const size_t stops[] = {70, EXPLORE, 200};
    for (size_t g = 0; g < N_OF(guarantees); g++)
        for (size_t i = 0; i < N_OF(stops); i++) {
            SCOPED(tacit_agent) *calm = hire(guarantees[g], USERS, "150", 3),
                                *restored = hire(guarantees[g], USERS, "150", 4),
                                *foreign = hire(guarantees[g], USERS, "151", 3);
            uint64_t seed = 8;
            for (size_t k = 0; k < USERS; k++) {
                const visitor v = draw_visitor(&seed);
                const double chance = random_unit(&seed);
                double p;
                if (k == stops[i]) {
                    size_t size = 0;
                    assert_ok(tacit_agent_save(calm, NULL, &size, NULL));
                    SCOPED_FREE uint8_t *bytes = calloc(size, 1);
                    assert_ok(tacit_agent_save(calm, bytes, &size, NULL));
                    assert_true(tacit_agent_load(foreign, bytes, size, NULL) != TACIT_OK);
                    assert_ok(tacit_agent_load(restored, bytes, size, NULL));
                }
                const uint32_t action = act(calm, &v, chance, &p);
                if (k >= stops[i]) {
                    assert_int_equal(act(restored, &v, chance, &p), action);
                    learn(restored, &v, action, reward_of(&v, action));
                }
                learn(calm, &v, action, reward_of(&v, action));
            }
        }
}

/* More noise, more users; never more than half. */
TEST(the_length_follows_a_public_rule)
{
    tacit__regression_options o = {.dimension = 5,
                                   .blocks = 1,
                                   .users = 20000,
                                   .response_weight = 1,
                                   .mechanism = TACIT_SUM_BLT,
                                   .guarantee = {TACIT_MODEL_NONE, 0, 0}};
    const uint64_t exact = tacit__lin_explore(&o);
    uint64_t before = exact;
    for (double epsilon = 100; epsilon > 0.01; epsilon /= 10) {
        o.guarantee = (tacit_guarantee){TACIT_MODEL_JOINT, epsilon, 1e-5};
        const uint64_t joint = tacit__lin_explore(&o);
        o.guarantee.model = TACIT_MODEL_LOCAL;
        assert_true(joint >= before && joint <= o.users / 2);
        assert_true(tacit__lin_explore(&o) <= o.users / 2);
        before = joint;
    }
    assert_true(exact > 20 && before > 2 * exact);
    SCOPED(tacit_agent) *agent = hire(guarantees[1], 3000, "0", 1);
    assert_int_equal(tacit_plan_release(tacit_agent_release_plan(agent), 0)->steps, 1);
    assert_within(tacit_plan_release(tacit_agent_release_plan(agent), 0)->column_l2, 1, 1 + 1e-9);
}
