/* The worlds that forecasts play on: in each family, what makes it hard. */
#include <stdio.h>
#include <string.h>

#include <tacit/lab.h>

#include "support/check.h"

/* The best policy's value, that of the best constant action, and that of random actions. */
typedef struct values {
    double best, constant, uniform;
} values;

static values measure(const char *family, unsigned states, unsigned actions, unsigned horizon,
                      const char *rest)
{
    SCOPED(tacit_experiment) *e = NULL;
    SCOPED(tacit_results) *results = NULL;
    tacit_error err = {0};
    const char *text =
        fmt("world: {kind: reference, family: %s, states: %u, actions: %u, horizon: %u%s}\n"
            "episodes: 1\nagents: [{kind: constant}, {kind: uniform}]\n",
            family, states, actions, horizon, rest);
    assert_ok(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err));
    if (tacit_lab_run(e, NULL, &results, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    const tacit_world_facts *facts = tacit_results_world(results, 0);
    assert_int_equal(facts->n_states, states);
    assert_int_equal(facts->n_actions, actions);
    assert_int_equal(facts->horizon, horizon);
    values v = {.best = tacit_results_optimal_value(results, 0)};
    v.constant = v.best - tacit_results_summary(results, 0, 0).regret_mean;
    v.uniform = v.best - tacit_results_summary(results, 0, 1).regret_mean;
    return v;
}

TEST(no_constant_action_is_good)
{
    static const char *const families[] = {"contexts", "faint", "sparse", "dense",
                                           "chain",    "code",  "trap"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const values v = measure(families[i], 8, 4, 12, ", seed: 3");
        assert_true(v.best > v.constant && v.best > v.uniform);
        assert_true(v.best - v.constant > 0.1 * (v.best - v.uniform));
        const values other = measure(families[i], 8, 4, 12, ", seed: 4"),
                     moving = measure(families[i], 8, 4, 12, ", seed: 3, stationary: no");
        if (families[i][0] != 'c' || families[i][2] == 'n') /* chains and codes are all alike */
            assert_true(other.uniform != v.uniform || other.constant != v.constant);
        assert_true(moving.best >= moving.constant);
    }
}

TEST(a_code_is_hardly_ever_found_by_chance)
{
    /* 2^8 sequences of the right length; it pays at the eighth and the remaining 4 of 12 steps */
    const values v = measure("code", 20, 2, 12, "");
    assert_within(v.best, 5 - 1e-9, 5 + 1e-9);
    assert_true(v.uniform < 0.1);
    /* nor is it longer than there are steps, or states */
    assert_within(measure("code", 20, 2, 5, "").best, 1 - 1e-9, 1 + 1e-9);
    assert_within(measure("code", 3, 2, 12, "").best, 11 - 1e-9, 11 + 1e-9);
}

TEST(going_astray_ends_the_search_for_a_code)
{
    /* one attempt in an episode, however long: 2^-8 of the 13 rewards that are left then */
    assert_within(measure("code", 20, 2, 20, "").uniform, 12.99 / 256, 13.01 / 256);
    /* without states to go astray to there are many */
    assert_true(measure("code", 9, 2, 20, "").uniform > 14.0 / 256);
}

TEST(rewards_can_be_rare)
{
    static const char *const families[] = {"contexts", "faint", "sparse", "dense",
                                           "chain",    "code",  "trap"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const values v = measure(families[i], 8, 4, 12, ""),
                     rare = measure(families[i], 8, 4, 12, ", rewards: 0.005");
        assert_close(rare.best, 0.01 * v.best, 1e-9);
        assert_close(rare.constant, 0.01 * v.constant, 1e-6);
        assert_close(rare.uniform, 0.01 * v.uniform, 1e-6);
    }
}

TEST(a_trap_costs_the_rest_of_the_episode)
{
    const values v = measure("trap", 6, 3, 20, "");
    assert_true(v.best >= 0.3 * 20); /* the safe actions earn that */
    assert_true(v.uniform < 0.6 * v.best);
}

TEST(where_there_is_no_room_there_are_contexts)
{
    static const char *const families[] = {"contexts", "faint", "sparse", "dense",
                                           "chain",    "code",  "trap"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        assert_true(measure(families[i], 5, 3, 1, "").best > 0.4);
        assert_true(measure(families[i], 1, 3, 4, "").best > 0.4);
        (void)measure(families[i], 5, 1, 3, "");
    }
    const values faint = measure("faint", 5, 3, 1, "");
    assert_within(faint.best, 0.4, 0.6);
    assert_within(faint.uniform, 0.4, 0.6);
}

TEST(unknown_families_are_refused)
{
    static const tacit_setting setting = SET("family", "river");
    const tacit_world_request request = {.kind = "reference", SETTINGS_OF(&setting, 1)};
    tacit_world *world = NULL;
    tacit_error err = {0};
    assert_status(tacit_world_create(&request, &world, &err), TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "contexts, faint, sparse, dense, chain, code, trap"));
}
