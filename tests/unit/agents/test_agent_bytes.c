/* Agents as bytes: reports that travel between machines, states that survive; and acting by a billboard. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/tabular/tabular_agents.h"
#include "base/memory.h"
#include "noise/stream.h"
#include "support/arena.h"
#include "support/kinds.h"

enum { EPISODES = 40, CHECKSUM = 32 };

typedef struct variant {
    const char *kind;
    tacit_guarantee guarantee;
    const char *key, *value, *key_2, *value_2;
    size_t states; /* of the world; 0: its default */
} variant;

/* Ways of counting that are no default. */
enum { SPARSE, JOINT, LOCAL, ONE_STEP, MIXED };
static const variant special[] = {
    [SPARSE] = {"ucbvi", {TACIT_MODEL_NONE, 0, 0}, "bonus", "certificate", NULL, NULL, 1500},
    [JOINT] = {"dp-ucbvi", {TACIT_MODEL_JOINT, 1, 0}, "pooled", "yes", NULL, NULL, 0},
    [LOCAL] = {"dp-ucbvi", {TACIT_MODEL_LOCAL, 1, 0}, "pooled", "yes", NULL, NULL, 0},
    [ONE_STEP] = {"dp-ucbvi", {TACIT_MODEL_LOCAL, 1, 0}, "pooled", "no", "report", "step", 0},
    [MIXED] = {"private-ucb-po", {TACIT_MODEL_JOINT, 1000, 0}, "step_size", "0.3", NULL, NULL, 0},
    {"private-ucb-po", {TACIT_MODEL_LOCAL, 1, 0}, "step_size", "0.3", NULL, NULL, 0},
    {"ucbvi", {TACIT_MODEL_NONE, 0, 0}, "monotone", "yes", "pooled", "no", 0},
    {"dp-ucbvi", {TACIT_MODEL_JOINT, 1, 1e-5}, "pooled", "no", "monotone", "yes", 0},
    {"posterior-tabular", {TACIT_MODEL_NONE, 0, 0}, "pooled", "yes", NULL, NULL, 0},
    {"posterior-tabular", {TACIT_MODEL_JOINT, 1, 1e-5}, "pooled", "yes", "growth", "1.5", 0},
    {"posterior-tabular", {TACIT_MODEL_JOINT, 1, 1e-5}, "pooled", "no", "plans", "3", 0},
    {"posterior-tabular", {TACIT_MODEL_JOINT, 1, 0}, "pooled", "yes", "growth", "1.5", 0},
    {"explore-commit-tabular", {TACIT_MODEL_NONE, 0, 0}, "pooled", "yes", NULL, NULL, 0},
    {"explore-commit-tabular", {TACIT_MODEL_JOINT, 1, 1e-5}, "pooled", "no", "explore", "25", 0},
};

/* Special ones, then every tabular learner in every model, half of them pooled; NULL: there are fewer. */
static const variant *variant_at(size_t i)
{
    static variant v;
    kind_in_model k;
    if (i < N_OF(special))
        return &special[i];
    if (!kind_in_model_at(&tacit__tabular_rows, i - N_OF(special), &k))
        return NULL;
    const tacit__agent_row *row = (const tacit__agent_row *)k.kind; /* its first member */
    const bool pooled = i % 2 == 0 || ((const tabular_parts *)row->parts)->pooled;
    v = (variant){.kind = k.kind->name,
                  .guarantee = guarantee_in(k.model, 1, 1e-5),
                  .key = "pooled",
                  .value = pooled ? "yes" : "no"};
    return &v;
}

static arena open_arena(const variant *v)
{
    const char *states = fmt("%zu", v->states > 0 ? v->states : 6);
    tacit_setting settings[] = {SET("states", states), SET("horizon", "8")};
    return arena_open("riverswim", settings, 2, 77);
}

/* Settings go into `settings`, which must outlive the request. */
static tacit_agent_request request_of(const arena *a, const variant *v, uint64_t episodes,
                                      tacit_setting settings[2])
{
    tacit_agent_request q = request_in(a->world, v->kind, v->guarantee, episodes);
    settings[0] = (tacit_setting)SET(v->key, v->value);
    settings[1] = (tacit_setting)SET(v->key_2, v->value_2);
    q.settings = settings;
    q.n_settings = v->key_2 != NULL ? 2 : 1;
    return q;
}

static tacit_agent *hire_seeded(const arena *a, const variant *v, uint64_t episodes, uint64_t seed)
{
    tacit_setting settings[2];
    const tacit_agent_request q = request_of(a, v, episodes, settings);
    return agent_of(&q, seed);
}

static tacit_agent *hire(const arena *a, const variant *v)
{
    return hire_seeded(a, v, EPISODES, 9);
}

/* --- States ------------------------------------------------------------------------------------ */

TEST(saved_in_the_middle_and_continued_is_as_if_never_stopped)
{
    const uint64_t stops[] = {7, 0, 1, EPISODES - 1, EPISODES};
    const variant *v;
    for (size_t i = 0; (v = variant_at(i)) != NULL; i++) {
        for (size_t j = 0; j < (v->states > 0 ? 1 : N_OF(stops)); j++) /* large spaces: one */
            for (int planned = 0; planned < 2; planned++) {
                SCOPED_BY(arena_close) arena a = open_arena(v);
                tacit_setting settings[2];
                const tacit_agent_request q = request_of(&a, v, EPISODES, settings);
                arena_assert_continued(&a, &q, stops[j], planned != 0);
            }
    }
}

/* A refused state leaves the agent as if it had never seen it. */
static void refuse(arena *a, const variant *v, agent_bytes b, size_t size, tacit_status wanted)
{
    SCOPED(tacit_agent) *agent = hire(a, v), *fresh = hire(a, v);
    tacit_error err = {0};
    tacit_status status = tacit_agent_load(agent, b.data, size, &err);
    if (wanted == TACIT_OK) /* anything, as long as it is a decision */
        wanted = status;
    assert_status(status, wanted);
    if (status != TACIT_OK) {
        assert_true(err.status == status && err.message[0] != '\0');
        for (uint64_t k = 0; k < 3; k++) {
            tacit_billboard x, y;
            assert_ok(tacit_agent_plan(agent, &x, NULL));
            assert_ok(tacit_agent_plan(fresh, &y, NULL));
            arena_assert_same_board(a, &x, &y);
            tacit_trajectory t = arena_play(a, k, &x);
            assert_ok(tacit_agent_learn(agent, &t, NULL));
            assert_ok(tacit_agent_learn(fresh, &t, NULL));
        }
    }
}

TEST(damaged_states_are_refused_and_change_nothing)
{
    const variant *v;
    for (size_t i = 0; (v = variant_at(i)) != NULL; i++) {
        if (v->states > 0)
            continue; /* the next test */
        SCOPED_BY(arena_close) arena a = open_arena(v);
        SCOPED(tacit_agent) *agent = hire(&a, v);
        (void)arena_learn(&a, agent, 0, 5);
        agent_bytes b = agent_saved(agent);
        for (size_t at = 0; at < b.size; at += 1 + b.size / 9) {
            b.data[at] ^= 0x40;
            tacit_status wanted = at < 8    ? TACIT_CORRUPT
                                  : at < 12 ? TACIT_WRONG_VERSION
                                            : TACIT_CORRUPT;
            refuse(&a, v, b, b.size, wanted);
            b.data[at] ^= 0x40;
        }
        refuse(&a, v, b, 0, TACIT_CORRUPT);
        refuse(&a, v, b, b.size - 1, TACIT_CORRUPT);
        free(b.data);
    }
}

/* Behind the checksum: whatever is there, the answer is a status, and a refusal leaves no trace. */
TEST(states_with_a_forged_checksum_do_no_harm)
{
    const variant *v;
    for (size_t i = 0; (v = variant_at(i)) != NULL; i++) {
        SCOPED_BY(arena_close) arena a = open_arena(v);
        SCOPED(tacit_agent) *agent = hire(&a, v);
        (void)arena_learn(&a, agent, 0, 5);
        agent_bytes b = agent_saved(agent);
        size_t end = b.size - CHECKSUM, hop = v->states > 0 ? end / 3 : end / 13;
        for (size_t at = 0; at < end; at += 1 + hop) {
            uint8_t kept = b.data[at];
            b.data[at] ^= 0xff;
            tacit__digest(&(tacit__bytes){b.data, end}, 1, b.data + end);
            refuse(&a, v, b, b.size, TACIT_OK);
            b.data[at] = kept;
        }
        free(b.data);
    }
}

TEST(a_state_belongs_to_its_settings)
{
    const variant one = special[JOINT],
                  other_setting = {"dp-ucbvi", one.guarantee, "pooled", "no", NULL, NULL, 0};
    variant other_epsilon = one;
    other_epsilon.guarantee.epsilon = 2;
    SCOPED_BY(arena_close) arena a = open_arena(&one);
    SCOPED(tacit_agent) *agent = hire(&a, &one);
    (void)arena_learn(&a, agent, 0, 1);
    agent_bytes b = agent_saved(agent);
    refuse(&a, &other_setting, b, b.size, TACIT_WRONG_PLAN);
    refuse(&a, &other_epsilon, b, b.size, TACIT_WRONG_PLAN);
    SCOPED(tacit_agent) *longer = hire_seeded(&a, &one, EPISODES + 1, 9);
    assert_status(tacit_agent_load(longer, b.data, b.size, NULL), TACIT_WRONG_PLAN);
    assert_status(tacit_agent_load(agent, b.data, b.size, NULL), TACIT_BAD_ARGUMENT);
    size_t small = b.size - 1;
    assert_status(tacit_agent_save(agent, b.data, &small, NULL), TACIT_BAD_ARGUMENT);
    free(b.data);
}

TEST(an_agent_that_is_not_there_is_refused)
{
    size_t size = 8;
    uint64_t word = 0;
    assert_status(tacit_agent_save(NULL, &word, &size, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_load(NULL, &word, size, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_report(NULL, NULL, NULL, &size, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_absorb(NULL, &word, size, NULL), TACIT_BAD_ARGUMENT);
}

TEST(loading_survives_every_failing_allocation)
{
    const variant *v = &special[SPARSE]; /* the one that allocates */
    SCOPED_BY(arena_close) arena a = open_arena(v);
    SCOPED(tacit_agent) *agent = hire(&a, v);
    (void)arena_learn(&a, agent, 0, 1);
    agent_bytes b = agent_saved(agent);
    SCOPED(tacit_agent) *other = hire(&a, v);
    assert_survives_no_memory(tacit_agent_load(other, b.data, b.size, NULL), (void)0);
    free(b.data);
}

/* --- Reports ----------------------------------------------------------------------------------- */

TEST(a_learner_through_bytes_is_the_direct_one)
{
    const variant *v;
    for (size_t i = 0; (v = variant_at(i)) != NULL; i++) {
        if (v->guarantee.model != TACIT_MODEL_LOCAL)
            continue;
        SCOPED_BY(arena_close) arena a = open_arena(v);
        SCOPED(tacit_agent) *direct = hire(&a, v), *users = hire(&a, v);
        SCOPED(tacit_agent) *server = hire_seeded(&a, v, EPISODES, 9);
        size_t size = 0;
        assert_ok(tacit_agent_report(users, NULL, NULL, &size, NULL));
        SCOPED_FREE uint8_t *report = malloc(size);
        for (uint64_t k = 0; k + 1 < EPISODES; k++) {
            tacit_billboard x, y;
            assert_ok(tacit_agent_plan(direct, &x, NULL));
            assert_ok(tacit_agent_plan(server, &y, NULL));
            arena_assert_same_board(&a, &x, &y);
            tacit_trajectory t = arena_play(&a, k, &x);
            assert_ok(tacit_agent_learn(direct, &t, NULL));
            size_t n = size;
            assert_ok(tacit_agent_report(users, &t, report, &n, NULL));
            assert_true(n == size);
            assert_ok(tacit_agent_absorb(server, report, n, NULL));
        }
        /* the last user's report is taken and not used, and then it is over */
        assert_ok(tacit_agent_absorb(server, report, size, NULL));
        assert_status(tacit_agent_absorb(server, report, size, NULL), TACIT_EXHAUSTED);
    }
}

TEST(a_device_that_was_saved_never_draws_the_same_noise_again)
{
    const variant *v = &special[LOCAL];
    SCOPED_BY(arena_close) arena a = open_arena(v);
    SCOPED(tacit_agent) *device = hire(&a, v), *restored = hire(&a, v);
    tacit_billboard board;
    size_t size = 0;
    assert_ok(tacit_agent_plan(device, &board, NULL));
    tacit_trajectory t = arena_play(&a, 0, &board);
    assert_ok(tacit_agent_report(device, &t, NULL, &size, NULL));
    uint8_t *first = malloc(size), *second = malloc(size), *third = malloc(size);
    size_t n = size;
    assert_ok(tacit_agent_report(device, &t, first, &n, NULL));
    agent_bytes b = agent_saved(device);
    assert_ok(tacit_agent_load(restored, b.data, b.size, NULL));
    assert_ok(tacit_agent_report(restored, &t, second, &n, NULL));
    assert_ok(tacit_agent_report(device, &t, third, &n, NULL));
    assert_memory_not_equal(first, second, size);
    assert_memory_equal(second, third, size);
    free(first);
    free(second);
    free(third);
    free(b.data);
}

TEST(bad_reports_are_refused_and_change_nothing)
{
    const size_t which[] = {LOCAL, ONE_STEP};
    for (size_t i = 0; i < N_OF(which); i++) {
        const variant *v = &special[which[i]];
        SCOPED_BY(arena_close) arena a = open_arena(v);
        SCOPED(tacit_agent) *users = hire(&a, v), *server = hire(&a, v);
        tacit_billboard board;
        size_t size = 0;
        assert_ok(tacit_agent_plan(server, &board, NULL));
        tacit_trajectory t = arena_play(&a, 0, &board);
        assert_ok(tacit_agent_report(users, &t, NULL, &size, NULL));
        SCOPED_FREE uint8_t *report = malloc(size + 1);
        size_t n = size;
        assert_ok(tacit_agent_report(users, &t, report, &n, NULL));
        agent_bytes before = agent_saved(server);
        struct {
            size_t at, size;
            uint8_t flip;
            tacit_status wanted;
        } const cases[] = {
            {0, size, 1, TACIT_SYNTAX},                 /* the mark */
            {9, size, 1, TACIT_WRONG_PLAN},             /* the fingerprint */
            {24 + 6, size, 0x10, TACIT_OUT_OF_BOUND},   /* the step */
            {32 + 7, size, 0x20, TACIT_OUT_OF_BOUND},   /* the first number: far too large */
            {size - 1, size, 0x20, TACIT_OUT_OF_BOUND}, /* the last one */
            {0, size - 8, 0, TACIT_OUT_OF_BOUND},
            {0, size + 1, 0, TACIT_OUT_OF_BOUND},
            {0, 23, 0, TACIT_SYNTAX},
            {0, 0, 0, TACIT_SYNTAX},
        };
        for (size_t j = 0; j < N_OF(cases); j++) {
            tacit_error err = {0};
            report[cases[j].at] ^= cases[j].flip;
            assert_status(tacit_agent_absorb(server, report, cases[j].size, &err), cases[j].wanted);
            assert_true(err.message[0] != '\0');
            report[cases[j].at] ^= cases[j].flip;
            agent_bytes after = agent_saved(server);
            assert_memory_equal(before.data, after.data, before.size);
            free(after.data);
        }
        assert_ok(tacit_agent_absorb(server, report, size, NULL));
        size_t small = size - 1;
        assert_status(tacit_agent_report(users, &t, report, &small, NULL), TACIT_BAD_ARGUMENT);
        free(before.data);
    }
}

TEST(reports_belong_to_the_local_model)
{
    const variant *v = &special[JOINT];
    SCOPED_BY(arena_close) arena a = open_arena(v);
    SCOPED(tacit_agent) *agent = hire(&a, v);
    tacit_billboard board;
    size_t size = 0;
    uint8_t byte = 0;
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    tacit_trajectory t = arena_play(&a, 0, &board);
    assert_status(tacit_agent_report(agent, &t, NULL, &size, NULL), TACIT_UNSUPPORTED);
    assert_status(tacit_agent_absorb(agent, &byte, 1, NULL), TACIT_UNSUPPORTED);
}

/* --- Acting ------------------------------------------------------------------------------------ */

TEST(acting_reads_the_policy)
{
    const variant *v = &special[JOINT];
    SCOPED_BY(arena_close) arena a = open_arena(v);
    SCOPED(tacit_agent) *agent = hire(&a, v);
    tacit_billboard board;
    uint32_t action;
    double p;
    tacit_situation here = {.step = 0, .state = 0};
    assert_status(tacit_agent_act(agent, &here, 0, &action, &p, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_billboard(agent, &board, NULL), TACIT_NOTHING_TO_RELEASE);
    (void)arena_learn(&a, agent, 0, 1);
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    for (size_t h = 0; h < a.facts->horizon; h++)
        for (uint32_t s = 0; s < a.facts->n_states; s++) {
            here = (tacit_situation){.step = h, .state = s};
            assert_ok(tacit_agent_act(agent, &here, 0.999, &action, &p, NULL));
            assert_int_equal(action, board.policy[h * a.facts->n_states + s]);
            assert_true(p == 1);
        }
    here = (tacit_situation){.step = a.facts->horizon, .state = 0};
    assert_status(tacit_agent_act(agent, &here, 0, &action, &p, NULL), TACIT_OUT_OF_BOUND);
    here = (tacit_situation){.step = 0, .state = (uint32_t)a.facts->n_states};
    assert_status(tacit_agent_act(agent, &here, 0, &action, &p, NULL), TACIT_OUT_OF_BOUND);
    here.state = 0;
    assert_status(tacit_agent_act(agent, &here, 1, &action, &p, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_act(agent, &here, -0.1, &action, &p, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_act(agent, &here, (double)NAN, &action, &p, NULL),
                  TACIT_BAD_ARGUMENT);
}

/* Over an even grid of chances every action comes as often as its probability says, to the width of the grid. */
TEST(acting_by_a_mixed_policy_has_its_probabilities)
{
    enum { GRID = 4096 };
    const variant *v = &special[MIXED];
    SCOPED_BY(arena_close) arena a = open_arena(v);
    SCOPED(tacit_agent) *agent = hire(&a, v);
    tacit_billboard board;
    (void)arena_learn(&a, agent, 0, 20);
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    bool mixed = false;
    for (size_t h = 0; h < a.facts->horizon; h++)
        for (uint32_t s = 0; s < a.facts->n_states; s++) {
            const double *pi = board.mixed + (h * a.facts->n_states + s) * a.facts->n_actions;
            tacit_situation here = {.step = h, .state = s};
            double seen[2] = {0};
            for (int i = 0; i < GRID; i++) {
                uint32_t action;
                double p;
                assert_ok(tacit_agent_act(agent, &here, (double)i / GRID, &action, &p, NULL));
                assert_true(p == pi[action]);
                seen[action] += 1.0 / GRID;
            }
            for (int i = 0; i < 2; i++)
                assert_within(seen[i], pi[i] - 1.0 / GRID - 1e-12, pi[i] + 1.0 / GRID + 1e-12);
            mixed |= fabs(pi[0] - pi[1]) > 0.01;
        }
    assert_true(mixed); /* it has learned something, so this is not only about one half */
}
