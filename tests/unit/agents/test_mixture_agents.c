/* Learners for linear mixtures: what a user expects of every kind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/arena.h"

static tacit_agent_request request_of(const arena *a, const char *kind, tacit_guarantee g,
                                      uint64_t episodes, const tacit_setting *settings, size_t n)
{
    tacit_agent_request request = request_in(a->world, kind, g, episodes);
    request.settings = settings;
    request.n_settings = n;
    request.file = "f.yaml";
    request.line = 3;
    return request;
}

static void tell(arena *a, tacit_agent *agent)
{
    tacit_error err = {0};
    tacit_trajectory t = {STEPS_OF(a->states, a->actions, a->rewards)};
    if (tacit_agent_learn(agent, &t, &err) != TACIT_OK)
        fail_msg("%s", err.message);
}

static double value_of(const arena *a, const tacit_billboard *board)
{
    double value;
    assert_ok(board->policy != NULL
                  ? tacit_world_evaluate(a->world, board->policy, a->scratch, &value)
                  : tacit_world_evaluate_mixed(a->world, board->mixed, a->scratch, &value));
    return value;
}

static double regret(arena *a, tacit_agent *agent, uint64_t episodes)
{
    tacit_error err;
    double total = 0, value = 0;
    uint64_t version = 0;
    for (uint64_t k = 0; k < episodes; k++) {
        tacit_billboard board;
        assert_ok(tacit_agent_plan(agent, &board, &err));
        if (k == 0 || board.version != version)
            value = value_of(a, &board);
        version = board.version;
        total += a->facts->optimal_value - value;
        (void)arena_play(a, k, &board);
        tell(a, agent);
    }
    return total;
}

static const char *const kinds[] = {"ucrl-vtr", "ucrl-vtr-plus", "linopt-vi", "linopt-po"};
static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0};

/* With the users of one agent, another one makes the same plans. */
static void assert_same_plans(arena *a, const tacit_agent_request *one,
                              const tacit_agent_request *two, uint64_t episodes, double tol)
{
    SCOPED(tacit_agent) *x = agent_of(one, 9), *y = agent_of(two, 9);
    size_t cells = a->facts->horizon * a->facts->n_states;
    tacit_error err;
    for (uint64_t k = 0; k < episodes; k++) {
        tacit_billboard first, second;
        assert_ok(tacit_agent_plan(x, &first, &err));
        assert_ok(tacit_agent_plan(y, &second, &err));
        if (first.policy != NULL)
            assert_memory_equal(first.policy, second.policy, cells * sizeof *first.policy);
        for (size_t i = 0; i < cells * a->facts->n_actions && first.mixed != NULL; i++)
            assert_within(first.mixed[i] - second.mixed[i], -tol, tol);
        (void)arena_play(a, k, &first);
        tell(a, x);
        tell(a, y);
    }
}

/* Users try everything; once every pair has been seen nothing is a tie, and the plans are worth the same: those of epsilon
 * 1e100 (noise of 1e-50 is rounded away) and those without privacy. */
TEST(private_learners_become_the_plain_ones_as_the_noise_vanishes)
{
    enum { EPISODES = 1000, SEEN = 900 };
    for (size_t i = 0; i < 4; i++)
        for (int model = TACIT_MODEL_JOINT; model <= TACIT_MODEL_LOCAL; model++) {
            SCOPED_BY(arena_close) arena a = arena_open("random-mixture", NULL, 0, 4);
            size_t n = a.facts->horizon * a.facts->n_states * a.facts->n_actions;
            tacit_guarantee g = {(tacit_model)model, 1e100, i < 2 ? 0 : 0.1};
            tacit_agent_request one = request_of(&a, kinds[i], none, EPISODES, NULL, 0);
            tacit_setting every = SET("schedule", "every");
            tacit_agent_request two = request_of(&a, kinds[i], g, EPISODES, &every, 1);
            SCOPED(tacit_agent) *plain = agent_of(&one, 9), *private = agent_of(&two, 9);
            SCOPED_FREE double *uniform = calloc(n, sizeof *uniform);
            for (size_t j = 0; j < n; j++)
                uniform[j] = 1 / (double)a.facts->n_actions;
            for (uint64_t k = 0; k < EPISODES; k++) {
                tacit_billboard first, second, any = {.mixed = uniform};
                tacit_error err;
                assert_ok(tacit_agent_plan(plain, &first, &err));
                assert_ok(tacit_agent_plan(private, &second, &err));
                if (k >= SEEN)
                    assert_close(value_of(&a, &second), value_of(&a, &first), 1e-6);
                (void)arena_play(&a, k, &any);
                tell(&a, plain);
                tell(&a, private);
            }
        }
}

/* Without a bonus the blocks of a table and one dense matrix of the same features are the same learner. */
static size_t one_hot_states, one_hot_actions;
static void one_hot(void *context, uint32_t state, uint32_t action, double *out)
{
    size_t n = one_hot_states;
    (void)context;
    memset(out, 0, n * n * one_hot_actions * n * sizeof *out);
    for (size_t next = 0; next < n; next++)
        out[((state * one_hot_actions + action) * n + next) * n + next] = 1 / sqrt((double)n);
}

TEST(tables_are_learned_like_their_one_hot_embedding)
{
    const tacit_setting small[] = {SET("states", "4"), SET("actions", "2"), SET("horizon", "4")};
    const tacit_setting settings[] = {SET("bonus_scale", "0")};
    SCOPED_BY(arena_close) arena a = arena_open("random-tabular", small, 3, 6);
    one_hot_states = a.facts->n_states;
    one_hot_actions = a.facts->n_actions;
    tacit_mixture mixture = {.dimension = one_hot_states * one_hot_states * one_hot_actions,
                             .bound = 1,
                             .parameter_norm = 10,
                             .kernels = true,
                             .nonnegative = true,
                             .row = one_hot};
    for (size_t i = 0; i < 3; i += 2) {
        tacit_agent_request blocks = request_of(&a, kinds[i], none, 100, settings, 1);
        tacit_agent_request dense = blocks;
        assert_null(blocks.mixture);
        dense.mixture = &mixture;
        assert_same_plans(&a, &blocks, &dense, 100, 0);
    }
}

/* On the lock: without privacy < joint < joint with less epsilon < what the printed noise leaves < local at little
 * epsilon, which is about as good as chance. Seeds are fixed. */
TEST(privacy_costs_regret_in_order)
{
    enum { EPISODES = 5000 };
    const double uniform = 2.092 * EPISODES;
    for (size_t i = 0; i < 4; i++) {
        double got[4];
        const tacit_guarantee guarantees[] = {none,
                                              {TACIT_MODEL_JOINT, 100, 1e-5},
                                              {TACIT_MODEL_JOINT, 10, 1e-5},
                                              {TACIT_MODEL_LOCAL, 1, 1e-5}};
        for (size_t j = 0; j < 4; j++) {
            SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 1);
            tacit_agent_request request =
                request_of(&a, kinds[i], guarantees[j], EPISODES, NULL, 0);
            SCOPED(tacit_agent) *agent = agent_of(&request, 9);
            got[j] = regret(&a, agent, EPISODES);
        }
        assert_within(got[0], 0, 0.05 * uniform);
        assert_within(got[1], got[0], 0.3 * uniform);
        assert_within(got[2], got[1], 0.85 * uniform);
        assert_within(got[3], got[2], 1.3 * uniform);
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 1);
        tacit_agent_request printed = request_of(&a, kinds[i], guarantees[1], EPISODES, NULL, 0);
        printed.calibration = TACIT_CALIBRATION_PUBLISHED;
        SCOPED(tacit_agent) *agent = agent_of(&printed, 9);
        assert_within(regret(&a, agent, EPISODES), 1.5 * got[1], 1.4 * uniform);
    }
}

/* Plans change only when the schedule says so. */
TEST(plans_are_made_when_the_schedule_says)
{
    static const struct {
        const char *word;
        size_t plans; /* among 100 episodes, the first included */
    } schedules[] = {{"every", 100}, {"doubling", 8}, {"25", 4}, {"1", 100}, {"1000", 1}};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        tacit_setting replan = SET("replan", schedules[i].word);
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 2);
        tacit_agent_request request = request_of(&a, "linopt-po", none, 100, &replan, 1);
        SCOPED(tacit_agent) *agent = agent_of(&request, 9);
        uint64_t last = 0;
        size_t plans = 0;
        for (uint64_t k = 0; k < 100; k++) {
            tacit_billboard board, again;
            tacit_error err;
            assert_ok(tacit_agent_plan(agent, &board, &err));
            assert_ok(tacit_agent_plan(agent, &again, &err)); /* looking twice changes nothing */
            assert_true(board.version == again.version);
            plans += board.version != last;
            last = board.version;
            (void)arena_play(&a, k, &board);
            tell(&a, agent);
        }
        assert_int_equal(plans, schedules[i].plans);
    }
}

static void refused(const tacit_agent_request *request, tacit_status status, const char *wanted)
{
    tacit_agent *agent;
    tacit_error err = {0};
    assert_status(agent_try(request, 9, &agent, &err), status);
    assert_null(agent);
    if (strstr(err.message, wanted) == NULL)
        fail_msg("'%s' is not in '%s'", wanted, err.message);
}

static void broken_features(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (size_t i = 0; i < 6; i++)
        out[i] = state == 2 && action == 1 ? 1 : 0.1;
}

TEST(impossible_requests_are_refused_with_a_remedy)
{
    const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-5}, pure = {TACIT_MODEL_JOINT, 1, 0};
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 2);
    tacit_agent_request r = request_of(&a, "ucrl-vtr", joint, 100, NULL, 0);
    r.rewards = NULL;
    refused(&r, TACIT_UNSUPPORTED,
            "f.yaml:3: ucrl-vtr needs to know the rewards; linopt-vi learns");
    r = request_of(&a, "linopt-vi", pure, 100, NULL, 0);
    refused(&r, TACIT_UNSUPPORTED, "linopt-vi has no model 'joint with delta 0'");
    r = request_of(&a, "ucrl-vtr", pure, 100, NULL, 0);
    r.calibration = TACIT_CALIBRATION_PUBLISHED;
    refused(&r, TACIT_UNSUPPORTED, "constants for delta > 0 only");
    r.guarantee = joint;
    r.calibration = TACIT_CALIBRATION_FIGURE;
    refused(&r, TACIT_UNSUPPORTED, "it has tight and published");
    r = request_of(&a, "ucrl-vtr", none, 100, NULL, 0);
    r.horizon = 1;
    refused(&r, TACIT_UNSUPPORTED, "a horizon of at least 2");
    r = request_of(&a, "linopt-po", joint, 100, NULL, 0);
    r.mixture = NULL;
    r.rewards = NULL;
    r.n_states = 1000000; /* 10^18 numbers: more than fit into 64 bits of bytes */
    refused(&r, TACIT_TOO_LARGE, "f.yaml:3: features and Gram matrices would need about");
    tacit_mixture broken = {
        .dimension = 2, .bound = 1, .parameter_norm = 1, .row = broken_features};
    r = request_of(&a, "ucrl-vtr", none, 100, NULL, 0);
    r.mixture = &broken;
    refused(&r, TACIT_OUT_OF_BOUND,
            "f.yaml:3: state 2, action 1: features of a value function can");

    static const struct {
        const char *key, *value, *wanted;
    } settings[] = {
        {"replan", "often", "replan is 'often', expected every, doubling, or a number"},
        {"replan", "0", "replan is '0'"},
        {"schedule", "growth(1)", "schedule is 'growth(1)', expected every, growth, or"},
        {"center", "maybe", "center is 'maybe', expected one of"},
        {"nonneg", "2", "nonneg is '2', expected one of"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        tacit_setting s = {.key = settings[i].key, .value = settings[i].value, .line = 7};
        r = request_of(&a, "ucrl-vtr", joint, 100, &s, 1);
        refused(&r, TACIT_BAD_ARGUMENT, settings[i].wanted);
    }
    tacit_setting rare = {.key = "schedule", .value = "growth(1.2)", .line = 7};
    r = request_of(&a, "ucrl-vtr", joint, 100, &rare, 1);
    r.guarantee.model = TACIT_MODEL_LOCAL;
    refused(&r, TACIT_UNSUPPORTED, "f.yaml:7: rare releases lower the noise under joint privacy");
    r.guarantee.model = TACIT_MODEL_JOINT;
    r.calibration = TACIT_CALIBRATION_PUBLISHED;
    refused(&r, TACIT_UNSUPPORTED, "f.yaml:7: rare releases lower the noise under joint privacy");
    tacit_setting both[] = {{.key = "center", .value = "yes", .line = 7},
                            {.key = "nonneg", .value = "yes", .line = 8}};
    r = request_of(&a, "ucrl-vtr", joint, 100, both, 2);
    refused(&r, TACIT_UNSUPPORTED, "f.yaml:8: centered features have both signs");
    r = request_of(&a, "ucrl-vtr", joint, 100, both, 1);
    r.calibration = TACIT_CALIBRATION_PUBLISHED;
    refused(&r, TACIT_UNSUPPORTED, "f.yaml:7: published calibrations are for values that are not");
    tacit_mixture other = *a.facts->mixture;
    other.kernels = other.nonnegative = false;
    r = request_of(&a, "ucrl-vtr", joint, 100, both, 1);
    r.mixture = &other;
    refused(&r, TACIT_UNSUPPORTED, "needs a mixture of probability kernels");
    r = request_of(&a, "ucrl-vtr", joint, 100, both + 1, 1);
    r.mixture = &other;
    refused(&r, TACIT_UNSUPPORTED, "declared not to be negative");
}

TEST(users_outside_the_space_are_refused_and_change_nothing)
{
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 2);
    tacit_agent_request r =
        request_of(&a, "linopt-vi", (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-5}, 3, NULL, 0);
    SCOPED(tacit_agent) *agent = agent_of(&r, 9);
    tacit_billboard board;
    tacit_error err;
    tacit_trajectory t = {STEPS_OF(a.states, a.actions, a.rewards)};
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_BAD_ARGUMENT); /* no plan yet */
    assert_ok(tacit_agent_plan(agent, &board, &err));
    a.states[5] = 3;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    a.states[5] = 2;
    a.rewards[1] = 1.5;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    a.rewards[1] = (double)NAN;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    a.rewards[1] = 1;
    for (int k = 0; k < 3; k++)
        assert_ok(tacit_agent_learn(agent, &t, &err));
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_EXHAUSTED);
    assert_ok(tacit_agent_plan(agent, &board, &err));
}

/* Little noise, no shift: matrices are repaired, and the remark says so. */
TEST(repairs_are_reported)
{
    const tacit_setting shift = SET("shift_scale", "0");
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 2);
    tacit_agent_request r =
        request_of(&a, "ucrl-vtr", (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-5}, 100, &shift, 1);
    SCOPED(tacit_agent) *agent = agent_of(&r, 9);
    assert_non_null(strstr(tacit_agent_remark(agent), "are made definite where need be"));
    (void)regret(&a, agent, 100);
    assert_non_null(strstr(tacit_agent_remark(agent), "bonus_scale below 1"));
    assert_non_null(
        strstr(tacit_agent_remark(agent), " % of the noisy Gram matrices had to be made definite"));
}

/* Creation that runs out of memory at any point says so and leaves nothing behind (for a sanitizer to tell). */
TEST(every_allocation_may_fail)
{
    const tacit_guarantee guarantees[] = {
        none, {TACIT_MODEL_JOINT, 1, 1e-5}, {TACIT_MODEL_LOCAL, 1, 1e-5}};
    for (size_t i = 0; i < 4; i++)
        for (size_t g = 0; g < 3; g++) {
            SCOPED_BY(arena_close) arena a = arena_open(g == 1 ? "riverswim" : "lock", NULL, 0, 2);
            tacit_agent_request r = request_of(&a, kinds[i], guarantees[g], 50, NULL, 0);
            SCOPED(tacit_noise) *noise = simulated_noise(9);
            tacit_status status = TACIT_NO_MEMORY;
            uint64_t n = 0;
            while (status != TACIT_OK) {
                SCOPED(tacit_agent) *agent = NULL;
                tacit_error err = {0};
                tacit__alloc_fail_at(++n);
                status = tacit_agent_create(&r, noise, &agent, &err);
                assert_int_equal(status, tacit__alloc_has_failed() ? TACIT_NO_MEMORY : TACIT_OK);
                assert_true(status == TACIT_OK || strlen(err.message) > 0);
                tacit__alloc_fail_at(0);
                if (status == TACIT_OK)
                    (void)regret(&a, agent, 3);
            }
            assert_true(n > 12);
        }
}
