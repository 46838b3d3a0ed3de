/* Tabular learners: what the theorems say, and what a user expects of every kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/papers/ucbvi.h"
#include "support/arena.h"
#include "support/tabular_curator.h"

static tacit_agent *hire(const arena *a, const char *kind, tacit_guarantee g, uint64_t episodes,
                         const tacit_setting *settings, size_t n)
{
    tacit_agent_request request = request_in(a->world, kind, g, episodes);
    request.settings = settings;
    request.n_settings = n;
    return agent_of(&request, 9);
}

/* Regret of an agent with deterministic policies; over the first and the last tenth as well. */
static double regret(arena *a, tacit_agent *agent, uint64_t episodes, double *first, double *last)
{
    tacit_error err;
    double total = 0, value = 0;
    uint64_t version = 0;
    *first = *last = 0;
    for (uint64_t k = 0; k < episodes; k++) {
        tacit_billboard board;
        assert_ok(tacit_agent_plan(agent, &board, &err));
        if (board.version != version) {
            assert_ok(tacit_world_evaluate(a->world, board.policy, a->scratch, &value));
            version = board.version;
        }
        double loss = a->facts->optimal_value - value;
        assert_within(loss, -1e-9, a->facts->optimal_value + 1e-9);
        total += loss;
        *first += k < episodes / 10 ? loss : 0;
        *last += k >= episodes - episodes / 10 ? loss : 0;
        tacit_trajectory t = arena_play(a, k, &board);
        assert_ok(tacit_agent_learn(agent, &t, &err));
    }
    return total;
}

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0};

/* The policies of ucbvi and of another agent on the same users stay the same; each has settings beside `pooled`. */
static void assert_decides_like_ucbvi(const char *other, tacit_guarantee g, const char *pooled,
                                      tacit_setting plain, tacit_setting more)
{
    enum { EPISODES = 400 };
    SCOPED_BY(arena_close) arena a = arena_open("riverswim", NULL, 0, 4);
    /* by default ucbvi explores a little more, and private counts are released rarely */
    const tacit_setting bonus = SET("bonus", "bernstein"), every = SET("schedule", "every");
    tacit_setting mine[] = {SET("pooled", pooled), bonus, every, plain},
                  others[] = {SET("pooled", pooled), bonus, every, more};
    SCOPED(tacit_agent) *x = hire(&a, "ucbvi", none, EPISODES, mine, plain.key != NULL ? 4 : 3);
    SCOPED(tacit_agent) *y = hire(&a, other, g, EPISODES, others, more.key != NULL ? 4 : 3);
    tacit_error err;
    for (uint64_t k = 0; k < EPISODES; k++) {
        tacit_billboard first, second;
        assert_ok(tacit_agent_plan(x, &first, &err));
        assert_ok(tacit_agent_plan(y, &second, &err));
        assert_memory_equal(first.policy, second.policy,
                            a.facts->horizon * a.facts->n_states * sizeof *first.policy);
        (void)arena_play(&a, k, &first);
        tacit_trajectory t = {STEPS_OF(a.states, a.actions, a.rewards)};
        assert_ok(tacit_agent_learn(x, &t, &err));
        assert_ok(tacit_agent_learn(y, &t, &err));
    }
}

static const tacit_setting nothing = {.key = NULL};

TEST(dp_ucbvi_without_privacy_is_ucbvi)
{
    assert_decides_like_ucbvi("dp-ucbvi", none, "yes", nothing, nothing);
    assert_decides_like_ucbvi("dp-ucbvi", none, "no", nothing, nothing);
}

TEST(dp_ucbvi_becomes_ucbvi_as_the_noise_vanishes)
{
    const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1e30, 0},
                          local = {TACIT_MODEL_LOCAL, 1e30, 0};
    /* two streams need all moves; and so must the other have them, since sums round as they are added up */
    const tacit_setting all_moves = SET("drop_last", "no"), two_streams = SET("streams", "2");
    assert_decides_like_ucbvi("dp-ucbvi", joint, "yes", nothing, nothing);
    assert_decides_like_ucbvi("dp-ucbvi", joint, "no", nothing, nothing);
    assert_decides_like_ucbvi("dp-ucbvi", local, "no", nothing, nothing);
    assert_decides_like_ucbvi("dp-ucbvi", joint, "no", all_moves, all_moves);
    assert_decides_like_ucbvi("dp-ucbvi", joint, "yes", nothing, two_streams);
    assert_decides_like_ucbvi("dp-ucbvi", joint, "no", all_moves, two_streams);
    assert_decides_like_ucbvi("dp-ucbvi", local, "no", all_moves, two_streams);
}

static void *make_ucbvi(tacit__space space, const tacit__planner_options *options,
                        tacit__ucbvi_bonus bonus, bool monotone)
{
    const tacit_parameter own[] = {
        {"bonus", TACIT_PARAMETER_TEXT, tacit__ucbvi_bonuses[bonus], 0, 0, ""},
        {"monotone", TACIT_PARAMETER_TEXT, monotone ? "yes" : "no", 0, 0, ""}};
    void *out;
    tacit__values values;
    tacit_error err;
    assert_ok(tacit__values_read(own, 2, NULL, 0, &(tacit__origin){.kind = "test"}, &values, &err));
    values.at[0].given = true;
    assert_ok(tacit__ucbvi.create(space, options, &values, &out, &err));
    return out;
}

/* Lists of next states and tables of counts are the same information: the same policies come of them, for every
 * bonus. */
TEST(sparse_counts_give_the_decisions_of_dense_ones)
{
    enum { EPISODES = 300 };
    for (int bonus = TACIT__BONUS_BERNSTEIN; bonus <= TACIT__BONUS_AZAR_BERNSTEIN; bonus++) {
        SCOPED_BY(arena_close) arena a = arena_open("riverswim", NULL, 0, 12);
        size_t n = a.facts->n_states, pairs = n * a.facts->n_actions;
        tacit__space space = {n, a.facts->n_actions, a.facts->horizon, 1};
        double *visits = calloc(pairs, sizeof *visits), *rewards = calloc(pairs, sizeof *rewards);
        SCOPED_FREE double *moves = calloc(pairs * n, sizeof *moves);
        SCOPED_FREE tacit__sparse_row *rows = calloc(pairs, sizeof *rows);
        tacit__planner_options o = {.bonus_scale = bonus >= TACIT__BONUS_PRINTED ? 1e-3 : 0.1,
                                    .failure = 0.1,
                                    .episodes = EPISODES,
                                    .tie_seed = 3};
        void *dense = make_ucbvi(space, &o, (tacit__ucbvi_bonus)bonus, false);
        o.sparse = true;
        void *sparse = make_ucbvi(space, &o, (tacit__ucbvi_bonus)bonus, false);
        for (size_t i = 0; i < pairs; i++)
            rows[i] = (tacit__sparse_row){calloc(n, sizeof *rows->next),
                                          calloc(n, sizeof *rows->count), 0, 6};
        for (uint64_t k = 0; k < EPISODES; k++) {
            tacit__counts c = {.users = k, .visits = visits, .moves = moves, .rewards = rewards};
            tacit_billboard x = tacit__ucbvi.plan(dense, &c);
            c.moves = NULL;
            c.rows = rows;
            tacit_billboard y = tacit__ucbvi.plan(sparse, &c);
            const double *qx = tacit__ucbvi_get(dense).q, *qy = tacit__ucbvi_get(sparse).q;
            for (size_t i = 0; i < a.facts->horizon * pairs; i++)
                assert_within(qy[i], qx[i] - 1e-6, qx[i] + 1e-6); /* roots of rounded variances */
            assert_non_null(y.policy);
            (void)arena_play(&a, k, &(tacit_billboard){.policy = x.policy});
            for (size_t h = 0; h < a.facts->horizon; h++) {
                size_t row = a.states[h] * a.facts->n_actions + a.actions[h];
                uint32_t i = 0, next = a.states[h + 1];
                while (i < rows[row].length && rows[row].next[i] != next)
                    i++;
                rows[row].next[i] = next;
                rows[row].length = i == rows[row].length ? i + 1 : rows[row].length;
                rows[row].count[i] += 1;
                visits[row] += 1;
                moves[row * n + next] += 1;
                rewards[row] += a.rewards[h];
            }
        }
        tacit__ucbvi.destroy(dense);
        tacit__ucbvi.destroy(sparse);
        for (size_t i = 0; i < pairs; i++) {
            free(rows[i].next);
            free(rows[i].count);
        }
        free(visits);
        free(rewards);
    }
}

/* Q >= Q* everywhere and always, Nt between N and N + 4 e_N, Pt a distribution: on the good event, whose
 * complement has probability at most `failure` = 0.1; the seed is fixed. */
static void check_theory(tacit__ucbvi_bonus bonus, tacit_guarantee g, size_t tables, bool drop_last,
                         bool two_streams)
{
    enum { EPISODES = 600 };
    tacit_setting settings[] = {SET("states", "4"), SET("horizon", "5")};
    SCOPED_BY(arena_close) arena a = arena_open("riverswim", settings, 2, 6);
    size_t s = a.facts->n_states, h = a.facts->horizon, n_actions = a.facts->n_actions,
           pairs = s * n_actions;
    tacit__space space = {s, n_actions, h, tables == 0 ? h : 1};
    double *values = calloc((h + 1) * s, sizeof *values),
           *visits = calloc(space.tables * pairs, sizeof *visits);
    SCOPED_FREE uint32_t *best = calloc(h * s, sizeof *best);
    tacit_error err;
    assert_ok(tacit_world_solve(a.world, best, values, &err));
    tacit__tabular_options co = {.space = space,
                                 .episodes = EPISODES,
                                 .guarantee = g,
                                 .mechanism = tacit_sum_default_mechanism(g),
                                 .centered = true,
                                 .drop_last = drop_last,
                                 .visits_from_moves = two_streams,
                                 .user_norm = 1,
                                 .failure = 0.1,
                                 .weight_visits = 17,
                                 .weight_moves = 20,
                                 .weight_rewards = 1};
    tacit__planner_options po = {
        .bonus_scale = 1, .error_scale = 1, .failure = 0.1, .episodes = EPISODES, .tie_seed = 1};
    SCOPED(tacit__curator) *curator = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(8);
    assert_ok(tabular_create(&co, noise, &curator, &err));
    void *planner = make_ucbvi(space, &po, bonus, true);
    for (uint64_t k = 0; k < EPISODES; k++) {
        tacit__counts counts;
        counts = tabular_counts(curator);
        tacit_billboard board = tacit__ucbvi.plan(planner, &counts);
        tacit__ucbvi_view view = tacit__ucbvi_get(planner);
        for (size_t i = 0; i < (h + 1) * s; i++)
            assert_true(view.values[i] >= values[i] - 1e-9);
        for (size_t row = 0; row < space.tables * pairs; row++) {
            double total = 0;
            assert_within(view.visits[row], visits[row] - 1e-6,
                          visits[row] + 4 * counts.visits_error + 1e-6);
            if (drop_last && row >= (h - 1) * pairs)
                continue; /* nothing follows, nothing is estimated */
            for (size_t next = 0; next < s; next++) {
                double p = tacit__ucbvi_transition(planner, row, next);
                assert_within(p, 0, 1);
                total += p;
            }
            assert_within(total, 1 - 1e-12, 1 + 1e-12);
        }
        (void)arena_play(&a, k, &(tacit_billboard){.policy = board.policy});
        for (size_t step = 0; step < h; step++)
            visits[((space.tables == 1 ? 0 : step) * s + a.states[step]) * n_actions +
                   a.actions[step]]++;
        tacit_trajectory t = {STEPS_OF(a.states, a.actions, a.rewards)};
        assert_ok(tabular_add(curator, &t));
    }
    tacit__ucbvi.destroy(planner);
    free(values);
    free(visits);
}

TEST(at_bonus_scale_one_values_are_never_underestimated)
{
    static const tacit__ucbvi_bonus proven[] = {TACIT__BONUS_HOEFFDING, TACIT__BONUS_CERTIFICATE,
                                                TACIT__BONUS_PRINTED};
    const tacit_guarantee models[] = {none,
                                      {TACIT_MODEL_JOINT, 50, 1e-6},
                                      {TACIT_MODEL_JOINT, 50, 0},
                                      {TACIT_MODEL_LOCAL, 50, 1e-6},
                                      {TACIT_MODEL_LOCAL, 50, 0}};
    for (size_t i = 0; i < sizeof proven / sizeof *proven; i++)
        for (size_t j = 0; j < sizeof models / sizeof *models; j++) {
            check_theory(proven[i], models[j], 0, false, false);
            check_theory(proven[i], models[j], 0, true, false);
            check_theory(proven[i], models[j], 1, false, false);
            if (models[j].model != TACIT_MODEL_NONE) {
                check_theory(proven[i], models[j], 0, false, true);
                check_theory(proven[i], models[j], 1, false, true);
            }
        }
}

TEST(without_privacy_regret_flattens_on_three_worlds)
{
    enum { EPISODES = 6000 };
    static const char *const worlds[] = {"riverswim", "deep-sea", "random-tabular"};
    for (size_t i = 0; i < 3; i++) {
        double first, last;
        SCOPED_BY(arena_close) arena a = arena_open(worlds[i], NULL, 0, 5);
        SCOPED(tacit_agent) *agent = hire(&a, "ucbvi", none, EPISODES, NULL, 0);
        double total = regret(&a, agent, EPISODES, &first, &last);
        assert_true(total > 0);
        assert_true(last < first / 5);
    }
}

/* 1,500 states: 4.5 million cells, which are kept as lists when they are exact, and refused where a table for each
 * step would not fit. */
TEST(large_spaces_are_counted_sparsely)
{
    enum { EPISODES = 25 };
    tacit_setting settings[] = {SET("states", "1500"), SET("actions", "2"), SET("horizon", "5"),
                                SET("branching", "3")};
    SCOPED_BY(arena_close) arena a = arena_open("random-tabular", settings, 4, 3);
    double first, last;
    tacit_agent *agent = hire(&a, "ucbvi", none, EPISODES, NULL, 0);
    assert_true(regret(&a, agent, EPISODES, &first, &last) > 0);
    tacit_agent_destroy(agent);
    tacit_agent_request request = {SPACE_OF(1500, 2, 5), .kind = "private-ucb-po",
                                   .stationary = true, .episodes = 10};
    tacit_error err;
    assert_status(tacit_agent_create(&request, NULL, &agent, &err), TACIT_TOO_LARGE);
}

TEST(a_private_learner_converges_on_riverswim_either_way_round)
{
    enum { EPISODES = 20000 };
    double totals[2];
    for (int mirror = 0; mirror < 2; mirror++) {
        double first, last;
        tacit_setting settings[] = {SET("mirror", mirror ? "yes" : "no")};
        SCOPED_BY(arena_close) arena a = arena_open("riverswim", settings, 1, 5);
        const tacit_guarantee g = {TACIT_MODEL_JOINT, 10, 5e-6};
        SCOPED(tacit_agent) *agent = hire(&a, "dp-ucbvi", g, EPISODES, NULL, 0);
        totals[mirror] = regret(&a, agent, EPISODES, &first, &last);
        assert_true(last < first / 10);
    }
    assert_within(totals[0] / totals[1], 0.5, 2); /* ties do not favor either action */
}

TEST(what_a_kind_does_not_have_is_refused)
{
    tacit_agent_request request = {SPACE_OF(6, 2, 20), .kind = "ucbvi",
                                   .guarantee = {TACIT_MODEL_JOINT, 1, 0}, .stationary = true,
                                   .episodes = 10};
    tacit_agent *agent = NULL;
    tacit_error err;
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "it has: none"));
    request.kind = "pucb";
    request.guarantee = (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 0};
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_UNSUPPORTED);
    request.kind = "dp-ucbvi";
    request.guarantee.epsilon = -1;
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_BAD_EPSILON);
    request.guarantee.epsilon = 1;
    request.guarantee.delta = 1;
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_BAD_DELTA);
    request.guarantee.delta = 0;
    request.episodes = 0;
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_BAD_COUNT);
    request.episodes = 10;
    request.horizon = 0;
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_BAD_COUNT);
    request.horizon = 20;
    request.stationary = false;
    tacit_setting pooled = {.key = "pooled", .value = "yes", .line = 7};
    request.settings = &pooled;
    request.n_settings = 1;
    request.file = "some.yaml";
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "some.yaml:7: "));
    pooled.value = "perhaps";
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_BAD_ARGUMENT);
    pooled.key = "pool";
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_BAD_ARGUMENT);
    request.n_settings = 0;
    request.n_states = 100000; /* 4e11 cells */
    assert_status(tacit_agent_create(&request, noise, &agent, &err), TACIT_TOO_LARGE);
    assert_non_null(strstr(err.message, "GB"));
    assert_null(agent);
}

TEST(a_trajectory_that_does_not_fit_changes_nothing)
{
    SCOPED_BY(arena_close) arena a = arena_open("riverswim", NULL, 0, 2);
    const tacit_guarantee g = {TACIT_MODEL_JOINT, 1, 1e-6};
    SCOPED(tacit_agent) *x = hire(&a, "dp-ucbvi", g, 3, NULL, 0),
                        *y = hire(&a, "dp-ucbvi", g, 3, NULL, 0);
    tacit_billboard bx, by;
    tacit_error err;
    assert_ok(tacit_agent_plan(x, &bx, &err));
    assert_ok(tacit_agent_plan(y, &by, &err));
    (void)arena_play(&a, 0, &bx);
    tacit_trajectory t = {STEPS_OF(a.states, a.actions, a.rewards)};
    a.states[3] += 6;
    assert_status(tacit_agent_learn(x, &t, &err), TACIT_OUT_OF_BOUND);
    a.states[3] -= 6;
    a.rewards[0] = (double)NAN;
    assert_status(tacit_agent_learn(x, &t, &err), TACIT_OUT_OF_BOUND);
    a.rewards[0] = 1.5;
    assert_status(tacit_agent_learn(x, &t, &err), TACIT_OUT_OF_BOUND);
    a.rewards[0] = 0;
    for (int k = 0; k < 3; k++) {
        assert_ok(tacit_agent_learn(x, &t, &err));
        assert_ok(tacit_agent_learn(y, &t, &err));
        assert_ok(tacit_agent_plan(x, &bx, &err));
        assert_ok(tacit_agent_plan(y, &by, &err));
        assert_memory_equal(bx.policy, by.policy, 120 * sizeof *bx.policy);
    }
    assert_status(tacit_agent_learn(x, &t, &err), TACIT_EXHAUSTED);
}

/* What a learner declares of its moves, and the size of a local report, for the river: 20 steps, 12 pairs, 6 states. */
TEST(what_can_be_left_out_is_left_out_where_that_is_sound)
{
    const struct {
        const char *kind, *key, *value;
        bool stationary;
        tacit_calibration calibration;
        double l1, l2;  /* 0: refused */
        size_t numbers; /* in a report */
    } cases[] = {
        {"dp-ucbvi", NULL, NULL, false, TACIT_CALIBRATION_TIGHT, 38, sqrt(38), 1848},
        {"dp-ucbvi", "drop_last", "yes", false, TACIT_CALIBRATION_TIGHT, 38, sqrt(38), 1848},
        {"dp-ucbvi", "drop_last", "no", false, TACIT_CALIBRATION_TIGHT, 40, sqrt(40), 1920},
        {"dp-ucbvi", NULL, NULL, true, TACIT_CALIBRATION_TIGHT, 40, sqrt(800), 96},
        {"dp-ucbvi", "drop_last", "yes", true, TACIT_CALIBRATION_TIGHT, 0, 0, 0},
        {"dp-ucbvi", "report", "step", false, TACIT_CALIBRATION_TIGHT, 2, M_SQRT2, 96},
        {"dp-ucbvi", NULL, NULL, false, TACIT_CALIBRATION_PUBLISHED, 40, sqrt(40), 1920},
        {"dp-ucbvi", "drop_last", "yes", false, TACIT_CALIBRATION_PUBLISHED, 0, 0, 0},
        {"dp-ucbvi", NULL, NULL, false, TACIT_CALIBRATION_FIGURE, 40, sqrt(40), 1920},
        {"dp-ucbvi", "streams", "2", false, TACIT_CALIBRATION_TIGHT, 40, sqrt(40), 1680},
        {"dp-ucbvi", "streams", "2", true, TACIT_CALIBRATION_TIGHT, 40, sqrt(800), 84},
        {"dp-ucbvi", "streams", "3", true, TACIT_CALIBRATION_TIGHT, 40, sqrt(800), 96},
        {"dp-ucbvi", "streams", "2", false, TACIT_CALIBRATION_PUBLISHED, 0, 0, 0},
        {"private-ucb-vi", NULL, NULL, false, TACIT_CALIBRATION_TIGHT, 38, sqrt(38), 1848},
        {"private-ucb-po", NULL, NULL, false, TACIT_CALIBRATION_TIGHT, 38, sqrt(38), 1848},
        {"private-ucb-vi", NULL, NULL, false, TACIT_CALIBRATION_RECALLED, 40, sqrt(40), 1920},
        {"ldp-obi", NULL, NULL, true, TACIT_CALIBRATION_TIGHT, 40, sqrt(800), 96},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tacit_setting setting = {.key = cases[i].key, .value = cases[i].value, .line = 5};
        tacit_agent_request request = {SPACE_OF(6, 2, 20),
                                       SETTINGS_OF(&setting, cases[i].key != NULL),
                                       .kind = cases[i].kind,
                                       .guarantee = {TACIT_MODEL_LOCAL, 1, 0},
                                       .calibration = cases[i].calibration,
                                       .stationary = cases[i].stationary,
                                       .episodes = 100,
                                       .file = "some.yaml"};
        SCOPED(tacit_agent) *agent = NULL;
        tacit_error err;
        size_t size;
        tacit_status status = agent_try(&request, 1, &agent, &err);
        if (cases[i].numbers == 0) {
            assert_status(status, TACIT_UNSUPPORTED);
            assert_non_null(strstr(err.message, "some.yaml:5: "));
            continue;
        }
        assert_ok(status);
        const tacit_plan *plan = tacit_agent_release_plan(agent);
        const tacit_release *moves = tacit_plan_release(plan, tacit_plan_index(plan, "moves"));
        assert_close(moves->l1, cases[i].l1, 1e-12);
        assert_close(moves->l2, cases[i].l2, 1e-12);
        assert_ok(tacit_agent_report(agent, NULL, NULL, &size, &err));
        assert_int_equal(size, 8 * (4 + cases[i].numbers)); /* and the agent's head */
    }
}

TEST(published_constants_give_what_the_errata_say)
{
    const double nodes = 2 * 16 / log2(50000);
    const struct {
        const char *kind;
        tacit_model model;
        tacit_calibration calibration;
        double real;
    } cases[] = {{"dp-ucbvi", TACIT_MODEL_LOCAL, TACIT_CALIBRATION_PUBLISHED, 2},
                 {"dp-ucbvi", TACIT_MODEL_JOINT, TACIT_CALIBRATION_PUBLISHED, nodes},
                 {"dp-ucbvi", TACIT_MODEL_JOINT, TACIT_CALIBRATION_FIGURE, 1920},
                 {"dp-ucbvi", TACIT_MODEL_LOCAL, TACIT_CALIBRATION_FIGURE, 120},
                 {"private-ucb-vi", TACIT_MODEL_LOCAL, TACIT_CALIBRATION_RECALLED, 2},
                 {"private-ucb-vi", TACIT_MODEL_JOINT, TACIT_CALIBRATION_RECALLED, nodes},
                 {"private-ucb-po", TACIT_MODEL_LOCAL, TACIT_CALIBRATION_RECALLED, 2},
                 {"private-ucb-po", TACIT_MODEL_JOINT, TACIT_CALIBRATION_RECALLED, nodes},
                 {"pucb", TACIT_MODEL_JOINT, TACIT_CALIBRATION_RECALLED, nodes},
                 {"ldp-obi", TACIT_MODEL_LOCAL, TACIT_CALIBRATION_RECALLED, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool pooled = strcmp(cases[i].kind, "ldp-obi") == 0; /* it has nothing else */
        tacit_agent_request request = {SPACE_OF(6, 2, 20),
                                       .kind = cases[i].kind,
                                       .guarantee = {cases[i].model, 1, 0},
                                       .calibration = cases[i].calibration,
                                       .stationary = pooled,
                                       .episodes = 50000};
        SCOPED(tacit_agent) *agent = agent_of(&request, 1);
        tacit_composition real;
        assert_ok(tacit_plan_account(tacit_agent_release_plan(agent), 0, &real, NULL));
        assert_close(real.epsilon.high, cases[i].real, 1e-9);
        bool stamped = strstr(tacit_agent_remark(agent), "NOT PRIVATE at epsilon 1: ") != NULL;
        assert_int_equal(stamped, cases[i].real > 1.001);
    }
}
