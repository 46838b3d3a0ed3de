/* Worlds and agents from text: the same as from the file or the structs, and refused with the same sentences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>

#include "base/memory.h"
#include "support/arena.h"
#include "support/cases.h"

static tacit_noise *simulated(uint64_t seed)
{
    tacit_noise *noise;
    assert_ok(tacit_noise_create_simulated(seed, &noise));
    return noise;
}

static tacit_agent *agent_from(const char *text, const tacit_world *place, uint64_t seed)
{
    tacit_noise *noise = simulated(seed);
    tacit_agent *agent = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    char *copy = strdup(text); /* nothing may refer to it afterwards */
    tacit_status status =
        tacit_agent_create_text(copy, strlen(copy), NULL, place, noise, &agent, &err);
    free(copy);
    tacit_noise_destroy(noise);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return agent;
}

TEST(a_world_from_text_is_the_world_of_the_file)
{
    static const char text[] = "{kind: riverswim, states: 5, horizon: 7}";
    const tacit_setting settings[] = {SET("states", "5"), SET("horizon", "7")};
    tacit_world *read, *made = world_of("riverswim", settings, 2);
    assert_ok(tacit_world_create_text(text, strlen(text), NULL, &read, NULL));
    const tacit_world_facts *a = tacit_world_describe(read), *b = tacit_world_describe(made);
    assert_int_equal(a->n_states, 5);
    assert_int_equal(a->horizon, 7);
    assert_true(a->optimal_value == b->optimal_value);
    tacit_world_destroy(read);
    tacit_world_destroy(made);
}

/* JSON is YAML: what other languages write without a library. */
TEST(a_world_may_be_written_as_json)
{
    static const char text[] = "{\"kind\": \"grid\", \"map\": \"SF/HG\", \"slip\": 0}";
    SCOPED(tacit_world) *world = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = tacit_world_create_text(text, strlen(text), NULL, &world, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
}

TEST(an_agent_from_text_learns_as_one_from_a_request)
{
    const tacit_setting settings[] = {SET("states", "4")};
    SCOPED_BY(arena_close) arena a = arena_open("riverswim", settings, 1, 3);
    const tacit_guarantee g = {TACIT_MODEL_JOINT, 1, 1e-6};
    const tacit_agent_request request = request_in(a.world, "dp-ucbvi", g, 40);
    SCOPED(tacit_agent) *asked = agent_of(&request, 5);
    SCOPED(tacit_agent) *read = agent_from(
        "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, delta: 1e-6}}\nepisodes: 40\n",
        a.world, 5);
    for (uint64_t user = 0; user < 40; user++) {
        tacit_billboard one = agent_board(asked), other = agent_board(read);
        arena_assert_same_board(&a, &one, &other);
        const tacit_trajectory t = arena_play(&a, user, &one);
        assert_ok(tacit_agent_learn(asked, &t, NULL));
        assert_ok(tacit_agent_learn(read, &t, NULL));
    }
    agent_bytes x = agent_saved(asked), y = agent_saved(read);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

/* The agent keeps what the text declared: kernels and features are asked for after its creation, too. */
TEST(an_agent_keeps_the_space_that_its_text_declared)
{
    SCOPED(tacit_agent) *agent = agent_from(
        "{\"agent\": {\"kind\": \"lin-ucb\", \"outside\": \"clip\", \"privacy\": {\"model\": "
        "\"joint\", \"epsilon\": 1}}, \"episodes\": 9, \"space\": {\"features\": 3, "
        "\"actions\": [\"low\", \"high\"], \"shared\": false}}",
        NULL, 1);
    const tacit_agent_facts *facts = tacit_agent_describe(agent);
    assert_string_equal(facts->kind->name, "lin-ucb");
    assert_int_equal(facts->n_actions, 2);
    assert_int_equal(facts->horizon, 1);
    assert_int_equal(facts->n_states, 0);
    assert_int_equal(facts->per_situation, 3);
    assert_int_equal(facts->episodes, 9);
    assert_int_equal(facts->outside, TACIT_OUTSIDE_CLIP);
    assert_true(facts->guarantee.epsilon == 1 && fabs(facts->guarantee.delta - 1.0 / 90) < 1e-12);
    for (int user = 0; user < 9; user++) {
        const double x[] = {0.5, -0.5, user / 10.0}, reward = user % 2;
        uint32_t action;
        double probability;
        (void)agent_board(agent);
        assert_ok(tacit_agent_act(agent, &(tacit_situation){.features = x}, 0.5, &action,
                                  &probability, NULL));
        assert_ok(tacit_agent_learn(
            agent, &(tacit_trajectory){.actions = &action, .rewards = &reward, .features = x},
            NULL));
    }
}

TEST(tables_of_a_text_are_looked_for_beside_its_name)
{
    char folder[] = "/tmp/tacit_text_XXXXXX", path[64], name[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/rewards.csv", folder);
    (void)snprintf(name, sizeof name, "%s/agent.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 5; i++)
        (void)fprintf(file, i == 0 ? "state,action,reward\n" : "%d,%d,0.5\n", (i - 1) / 2, i % 2);
    assert_int_equal(fclose(file), 0);
    static const char text[] = "agent: {kind: ucrl-vtr, privacy: {model: joint, epsilon: 1}}\n"
                               "episodes: 100\n"
                               "space: {states: 2, actions: 2, horizon: 3, rewards: rewards.csv}\n";
    tacit_noise *noise = simulated(1);
    tacit_agent *agent = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_agent_create_text(text, strlen(text), name, NULL, noise, &agent, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    (void)agent_board(agent);
    tacit_agent_destroy(agent);
    tacit_noise_destroy(noise);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0);
}

/* "world", or "agent", is the first line; the text follows. */
static void try_text(char *input, char answer[CASE_TEXT])
{
    char *text = case_rest(input);
    tacit_error err = TACIT_ERROR_INIT;
    SCOPED(tacit_world) *world = NULL;
    SCOPED(tacit_agent) *agent = NULL;
    SCOPED(tacit_noise) *noise = simulated(1);
    tacit_status status =
        strcmp(input, "world") == 0
            ? tacit_world_create_text(text, strlen(text), "f", &world, &err)
            : tacit_agent_create_text(text, strlen(text), "f", NULL, noise, &agent, &err);
    case_answer(answer, status, &err);
}

TEST(what_is_wrong_with_a_text_is_said_with_line_and_remedy)
{
    cases_run("unit/cases/from_text", NULL, try_text);
}

TEST(a_space_and_a_world_exclude_each_other)
{
    static const char text[] = "agent: {kind: ucbvi}\nepisodes: 9\nspace: {states: 1}\n";
    SCOPED(tacit_world) *world = world_of("riverswim", NULL, 0);
    tacit_agent *agent = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    assert_status(tacit_agent_create_text(text, strlen(text), NULL, world, NULL, &agent, &err),
                  TACIT_SYNTAX);
    assert_string_equal(err.message, "agent:3: the space is that of the world; remove 'space'");
    assert_null(agent);
}

TEST(an_agent_from_text_survives_failing_allocations)
{
    static const char text[] = "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n"
                               "episodes: 20\nspace: {states: 3, actions: 2, horizon: 2}\n";
    SCOPED(tacit_noise) *noise = simulated(1);
    tacit_agent *agent = NULL;
    SCOPED(tacit_world) *world = NULL;
    assert_survives_no_memory(
        tacit_agent_create_text(text, strlen(text), NULL, NULL, noise, &agent, NULL),
        assert_null(agent));
    tacit_agent_destroy(agent);
    assert_survives_no_memory(tacit_world_create_text("{kind: riverswim}", 17, NULL, &world, NULL),
                              assert_null(world));
}
