/* What lies outside the declared domain is cut into it: which values come of it, that they lie in the domain, and who is told. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <tacit/agent.h>

#include "agents/agent_inside.h"
#include "agents/domain.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

TEST(numbers_beyond_the_last_are_the_last)
{
    const uint32_t cases[][2] = {{0, 0}, {4, 4}, {5, 4}, {6, 4}, {UINT32_MAX, 4}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint32_t x = cases[i][0];
        assert_true(tacit__domain_clip_index(&x, 5) == (cases[i][0] != cases[i][1]));
        assert_int_equal(x, cases[i][1]);
    }
}

TEST(rewards_are_clamped_and_no_number_says_nothing)
{
    const double cases[][2] = {
        {0, 0},        {1, 1},        {0.3, 0.3},         {-1e-300, 0},          {-HUGE_VAL, 0},
        {1 + 1e-9, 1}, {HUGE_VAL, 1}, {(double)NAN, 0.5}, {0x1p-1074, 0x1p-1074}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        double x = cases[i][0];
        assert_true(tacit__domain_clip_reward(&(tacit__domain){.reward_high = 1}, &x) ==
                    !(cases[i][0] == cases[i][1]));
        assert_true(x == cases[i][1]);
    }
}

enum { D = 4 };

static double length_of(const double *x)
{
    return hypot(hypot(x[0], x[1]), hypot(x[2], x[3]));
}

TEST(long_vectors_are_shortened_and_keep_their_direction)
{
    static const double bounds[] = {1, 1e-100, 1e100, 3};
    static const double lengths[] = {0, 0x1p-1000, 0.5, 1, 1 + 1e-10, 1 + 1e-9, 2, 1e10, 1e150};
    uint64_t seed = 1;
    for (size_t b = 0; b < N_OF(bounds); b++)
        for (size_t l = 0; l < N_OF(lengths); l++) {
            const tacit__domain d = {
                .dimension = D, .per_situation = 2 * D, .situations = 1, .bound = bounds[b]};
            double x[2 * D], y[2 * D];
            for (size_t i = 0; i < D; i++)
                x[i] = random_normal(&seed);
            const double unit = length_of(x);
            for (size_t i = 0; i < D; i++) {
                x[i] *= lengths[l] * bounds[b] / unit;
                x[D + i] = 0; /* the other action's */
            }
            memcpy(y, x, sizeof y);
            const bool cut = tacit__domain_clip_features(&d, y);
            assert_true(cut == (lengths[l] > 1 + 2.5e-10));
            assert_true(length_of(y) <= bounds[b] * (1 + 2.6e-10));
            for (size_t i = 0; i < D && cut; i++)
                assert_within(y[i] / bounds[b], x[i] / bounds[b] / lengths[l] - 1e-12,
                              x[i] / bounds[b] / lengths[l] + 1e-12);
            if (!cut)
                assert_memory_equal(x, y, sizeof x);
        }
    const tacit__domain d = {.dimension = D, .per_situation = D, .situations = 1, .bound = 2};
    double x[D] = {DBL_MAX, -DBL_MAX, 0, 0};
    assert_true(tacit__domain_clip_features(&d, x));
    assert_within(x[0], M_SQRT2 - 1e-12, M_SQRT2 + 1e-12);
    assert_within(x[1], -M_SQRT2 - 1e-12, -M_SQRT2 + 1e-12);
    const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < N_OF(bad); i++) {
        double y[D] = {0.5, bad[i], 0.1, 0};
        assert_true(tacit__domain_clip_features(&d, y));
        for (size_t j = 0; j < D; j++)
            assert_true(y[j] == 0);
    }
}

TEST(what_should_be_a_distribution_becomes_one)
{
    static const double bounds[] = {1, 0.6, 0.5};
    static const struct {
        double x[D], y[D];
    } cases[] = {{{0.25, 0.25, 0.25, 0.25}, {0.25, 0.25, 0.25, 0.25}},
                 {{1, 1, 2, 0}, {0.25, 0.25, 0.5, 0}},
                 {{3, -1, 1, 0}, {0.75, 0, 0.25, 0}},
                 {{-1, -2, -3, 0}, {0.25, 0.25, 0.25, 0.25}},
                 {{(double)NAN, 1, 0, 0}, {0.25, 0.25, 0.25, 0.25}},
                 {{HUGE_VAL, 1, 0, 0}, {0.25, 0.25, 0.25, 0.25}},
                 {{DBL_MAX, DBL_MAX, 0, 0}, {0.5, 0.5, 0, 0}},
                 {{0x1p-1074, 0, 0, 0}, {1, 0, 0, 0}},
                 {{1, 0, 0, 0}, {1, 0, 0, 0}}};
    for (size_t b = 0; b < N_OF(bounds); b++)
        for (size_t i = 0; i < N_OF(cases); i++) {
            const tacit__domain d = {.dimension = D,
                                     .per_situation = D,
                                     .situations = 1,
                                     .bound = bounds[b],
                                     .simplex = true};
            double x[D], sum = 0;
            memcpy(x, cases[i].x, sizeof x);
            (void)tacit__domain_clip_features(&d, x);
            for (size_t j = 0; j < D; j++) {
                assert_true(x[j] >= 0);
                sum += x[j];
                if (b == 0)
                    assert_within(x[j], cases[i].y[j] - 1e-15, cases[i].y[j] + 1e-15);
            }
            assert_within(sum, 1 - 1e-14, 1 + 1e-14);
            assert_true(length_of(x) <= bounds[b] * (1 + 1e-9));
            assert_false(tacit__domain_clip_features(&d, x)); /* it is in the domain now */
        }
}

/* --- Agents ----------------------------------------------------------------------------------------- */

static tacit_agent *hire(tacit_outside outside, const tacit_bandit *bandit)
{
    const tacit_agent_request request = {
        SPACE_OF(bandit != NULL ? 0 : 3, 2, bandit != NULL ? 1 : 2),
        .kind = bandit != NULL ? "lin-ucb" : "dp-ucbvi",
        .guarantee = {TACIT_MODEL_JOINT, 1, 1e-3},
        .episodes = 10,
        .bandit = bandit,
        .outside = outside};
    tacit_agent *agent = agent_of(&request, 1);
    (void)agent_board(agent);
    return agent;
}

static bool same_state(const tacit_agent *a, const tacit_agent *b)
{
    static uint8_t x[1 << 16], y[1 << 16];
    size_t m = sizeof x, n = sizeof y;
    assert_ok(tacit_agent_save(a, x, &m, NULL));
    assert_ok(tacit_agent_save(b, y, &n, NULL));
    return m == n && memcmp(x, y, m) == 0;
}

/* A user who was cut is the user of the domain that they were cut to; the caller is told, and their data stay as they were. */
TEST(a_cut_user_is_learned_like_the_one_in_the_domain)
{
    SCOPED(tacit_agent) *a = hire(TACIT_OUTSIDE_CLIP, NULL), *b = hire(TACIT_OUTSIDE_REFUSE, NULL);
    const uint32_t states[] = {7, 1, 3}, actions[] = {5, 0}, in_states[] = {2, 1, 2},
                   in_actions[] = {1, 0};
    const double rewards[] = {-4, 2}, in_rewards[] = {0, 1};
    const tacit_trajectory outside = {STEPS_OF(states, actions, rewards)};
    const tacit_trajectory inside = {STEPS_OF(in_states, in_actions, in_rewards)};
    assert_status(tacit_agent_learn(b, &outside, NULL), TACIT_OUT_OF_BOUND);
    assert_false(tacit_agent_was_cut(b));
    assert_ok(tacit_agent_learn(a, &outside, NULL));
    assert_true(tacit_agent_was_cut(a));
    assert_true(states[0] == 7 && actions[0] == 5 && rewards[0] == -4);
    assert_ok(tacit_agent_learn(b, &inside, NULL));
    assert_true(same_state(a, b)); /* `outside` is no part of it */
    assert_ok(tacit_agent_learn(a, &inside, NULL));
    assert_false(tacit_agent_was_cut(a));
    uint32_t action, other;
    double p;
    assert_status(tacit_agent_act(b, &(tacit_situation){.state = 3}, 0, &action, &p, NULL),
                  TACIT_OUT_OF_BOUND);
    assert_ok(tacit_agent_act(a, &(tacit_situation){.state = 300}, 0, &action, &p, NULL));
    assert_true(tacit_agent_was_cut(a));
    assert_ok(tacit_agent_act(a, &(tacit_situation){.state = 2}, 0, &other, &p, NULL));
    assert_true(!tacit_agent_was_cut(a) && action == other);
}

TEST(a_saved_agent_goes_on_with_the_other_setting)
{
    static uint8_t bytes[1 << 16];
    const tacit_bandit bandit = {.dimension = 2, .bound = 1};
    SCOPED(tacit_agent) *a = hire(TACIT_OUTSIDE_REFUSE, &bandit);
    const double features[] = {3, 4, 0.1, 0.1}, reward = 0.5;
    const uint32_t action = 0;
    const tacit_trajectory user = {.actions = &action, .rewards = &reward, .features = features};
    assert_status(tacit_agent_learn(a, &user, NULL), TACIT_OUT_OF_BOUND);
    size_t size = sizeof bytes;
    assert_ok(tacit_agent_save(a, bytes, &size, NULL));
    const tacit_agent_request request = {.kind = "lin-ucb",
                                         .guarantee = {TACIT_MODEL_JOINT, 1, 1e-3},
                                         .n_actions = 2,
                                         .horizon = 1,
                                         .episodes = 10,
                                         .bandit = &bandit,
                                         .outside = TACIT_OUTSIDE_CLIP};
    SCOPED(tacit_agent) *b = agent_of(&request, 2);
    assert_ok(tacit_agent_load(b, bytes, size, NULL));
    assert_ok(tacit_agent_learn(b, &user, NULL));
    assert_true(tacit_agent_was_cut(b));
}

TEST(what_is_missing_is_the_callers_mistake)
{
    SCOPED(tacit_agent) *a = hire(TACIT_OUTSIDE_CLIP, NULL);
    const uint32_t numbers[] = {0, 0, 0};
    const double rewards[] = {0, 0};
    const tacit_trajectory cases[] = {{.states = numbers, .actions = numbers},
                                      {.states = numbers, .rewards = rewards},
                                      {.actions = numbers, .rewards = rewards}};
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_status(tacit_agent_learn(a, &cases[i], NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_learn(a, NULL, NULL), TACIT_BAD_ARGUMENT);
}

/* Bounds that arithmetic cannot keep would be broken by some people and not by others. */
TEST(impossible_declarations_are_refused)
{
    static const double bounds[] = {1e-101, 1e101, 0, -1, (double)NAN, HUGE_VAL, 0x1p-1074};
    for (size_t i = 0; i < N_OF(bounds); i++) {
        const tacit_bandit bandit = {.dimension = 2, .bound = bounds[i]};
        const tacit_linear linear = {.dimension = 2, .bound = bounds[i]};
        tacit_agent_request request = {
            .kind = "lin-ucb", .n_actions = 2, .horizon = 1, .episodes = 10, .bandit = &bandit};
        tacit_agent *agent = NULL;
        assert_status(tacit_agent_create(&request, NULL, &agent, NULL), TACIT_OUT_OF_BOUND);
        request.kind = "lsvi-ucb";
        request.bandit = NULL;
        request.linear = &linear;
        request.horizon = 2;
        assert_status(tacit_agent_create(&request, NULL, &agent, NULL), TACIT_OUT_OF_BOUND);
        request.linear = NULL;
        request.n_states = 2;
        request.outside = (tacit_outside)2;
        assert_status(tacit_agent_create(&request, NULL, &agent, NULL), TACIT_BAD_ARGUMENT);
    }
    const double points[] = {0.5, 0.5, 0,
                             1 + 9e-10}; /* contexts that users could only be refused in */
    const tacit_bandit bandit = {.dimension = 2, .bound = 1, .disjoint = true, .points = points};
    const tacit_agent_request request = {SPACE_OF(2, 2, 1), .kind = "lin-ucb", .episodes = 10,
                                         .bandit = &bandit};
    tacit_agent *agent = NULL;
    assert_status(tacit_agent_create(&request, NULL, &agent, NULL), TACIT_OUT_OF_BOUND);
}
