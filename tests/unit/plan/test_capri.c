/* CAPRI: schedule, elimination, limits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "agents/agent_inside.h"
#include "plan/papers/capri.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

SCOPED_TYPE(tacit__capri, tacit__capri_destroy)

TEST(epochs_double_and_end_with_the_users)
{
    static const uint64_t paper[] = {90, 180, 360, 720, 1440, 2880, 2330};
    uint64_t length[64];
    assert_int_equal(tacit__capri_schedule(8000, false, length), 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(length[i], paper[i]);
    for (uint64_t T = 1; T < 3000000; T = T * 3 / 2 + 1)
        for (int balanced = 0; balanced < 2; balanced++) {
            size_t n = tacit__capri_schedule(T, balanced != 0, length);
            uint64_t sum = 0;
            for (size_t i = 0; i < n; i++) {
                assert_true(length[i] > 0);
                sum += length[i];
            }
            assert_int_equal(sum, T);
            assert_true(n >= 1 && n < 64);
            if (balanced && T > 100)
                assert_within((double)length[n - 1] / (double)T, 0.4, 0.6);
        }
}

/* A third of those who explore, the others, and everybody who is left. */
TEST(who_explores_comes_in_two_epochs)
{
    uint64_t length[64];
    assert_int_equal(tacit__capri_explore(1000, 300, length), 3);
    assert_true(length[0] == 100 && length[1] == 200 && length[2] == 700);
    for (uint64_t T = 1; T < 40; T++)
        for (uint64_t n = 1; n < 50; n++) {
            uint64_t sum = 0;
            const size_t epochs = tacit__capri_explore(T, n, length);
            assert_int_equal(tacit__capri_explore(T, n, NULL), epochs);
            for (size_t i = 0; i < epochs; i++) {
                assert_true(length[i] > 0);
                sum += length[i];
            }
            assert_int_equal(sum, T);
        }
}

static void words(void *context, uint64_t stream, uint64_t first, size_t n, uint64_t *out)
{
    uint64_t seed = 7919 * stream + first + *(const uint64_t *)context;
    for (size_t i = 0; i < n; i++)
        out[i] = random_word(&seed);
}

enum { CONTEXTS = 6, ACTIONS = 9, PAIRS = CONTEXTS * ACTIONS };

static double points[PAIRS * 2];
static uint64_t seed_of_words = 3;

static tacit__capri_options options_of(tacit__capri_width width)
{
    tacit__capri_options o = {.users = 2000,
                              .width = width,
                              .bonus_scale = 0.1,
                              .noise_scale = 1,
                              .failure = 0.05,
                              .norm = 0.4,
                              .copies = 4,
                              .tol = 1e-6,
                              .rank = PAIRS,
                              .balanced = true,
                              .greedy = true,
                              .epsilon = 1,
                              .delta = 1e-5,
                              .words = words,
                              .context = &seed_of_words};
    for (size_t w = 0; w < PAIRS; w++) {
        points[2 * w] = (double)(w / ACTIONS) / (CONTEXTS - 1);
        points[2 * w + 1] = (double)(w % ACTIONS) / (ACTIONS - 1);
    }
    o.pairs = (tacit__pairs){.n_contexts = CONTEXTS, .n_actions = ACTIONS, .points = points};
    assert_ok(tacit__kernel_read("se(0.3)", 2, 1, &o.pairs.kernel, NULL));
    return o;
}

/* Sums of any size and direction, also absurd ones: every context keeps an action, and the best estimate stays. */
TEST(no_width_empties_a_context)
{
    static const tacit__capri_width widths[] = {TACIT__WIDTH_PAIRWISE, TACIT__WIDTH_POINTWISE,
                                                TACIT__WIDTH_MAX4, TACIT__WIDTH_THEORY};
    uint64_t seed = 11;
    for (size_t k = 0; k < 4; k++)
        for (int trial = 0; trial < 20; trial++) {
            tacit__capri_options o = options_of(widths[k]);
            SCOPED(tacit__capri) *p = NULL;
            o.bonus_scale = trial % 3 == 0 ? 0 : 0.1;
            o.noise_scale = trial % 2;
            o.local = trial % 5 == 0;
            assert_ok(tacit__capri_create(&o, &p));
            tacit__capri_start(p, trial % 4 == 0 ? 0 : 7);
            while (!tacit__capri_get_epoch(p).last) {
                bool before[PAIRS];
                double sum[PAIRS], size = pow(10, (double)random_below(&seed, 7) - 2);
                memcpy(before, tacit__capri_active(p), sizeof before);
                for (size_t j = 0; j < tacit__capri_get_epoch(p).estimator->p; j++)
                    sum[j] = size * random_normal(&seed);
                tacit__capri_close(p, sum);
                const bool *active = tacit__capri_active(p);
                const double *mu = tacit__capri_estimates(p);
                for (size_t c = 0; c < CONTEXTS; c++) {
                    size_t best = PAIRS, left = 0;
                    double mass = 0;
                    for (size_t w = c * ACTIONS; w < (c + 1) * ACTIONS; w++) {
                        assert_true(!active[w] || before[w]); /* nothing comes back */
                        if (before[w] && (best == PAIRS || mu[w] > mu[best]))
                            best = w;
                        left += active[w];
                        mass += tacit__capri_get_epoch(p).mixed[w];
                        assert_true(tacit__capri_get_epoch(p).mixed[w] == 0 || active[w]);
                    }
                    assert_true(left > 0 && active[best]);
                    assert_close(mass, 1, 1e-12);
                }
                if (widths[k] == TACIT__WIDTH_THEORY && size <= 1)
                    for (size_t w = 0; w < PAIRS; w++)
                        assert_true(active[w] == before[w]); /* the printed width drops nothing */
            }
        }
}

/* --- Agents in a world ---------------------------------------------------------------------------- */

typedef struct outcome {
    double regret;
    uint64_t version;
    double last[PAIRS];
} outcome;

static tacit_agent *hire(const tacit_world *world, const char *kind, tacit_guarantee g,
                         const tacit_setting *settings, size_t n, uint64_t users, uint64_t seed)
{
    tacit_agent_request request = request_in(world, kind, g, users);
    request.settings = settings;
    request.n_settings = n;
    return agent_of(&request, seed);
}

static outcome play(const tacit_world *world, tacit_agent *agent, uint64_t first, uint64_t last)
{
    outcome o = {0};
    tacit_billboard board;
    o.regret = bandit_play(world, agent, first, last, &board, o.last, PAIRS);
    o.version = board.version;
    return o;
}

static tacit_world *small_world(void)
{
    static const tacit_setting settings[] = {SET("contexts", "6"), SET("actions", "9"),
                                             SET("kernel", "se(0.3)"), SET("seed", "4")};
    return world_of("kernel-bandit", settings, N_OF(settings));
}

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0};

/* delta(epsilon) of a huge epsilon leaves noise of no consequence: the private learner is the other one. The tau that is
 * chosen, and public chance, are the same too. */
TEST(without_noise_the_private_learner_is_the_other_one)
{
    SCOPED(tacit_world) *world = small_world();
    const tacit_model models[] = {TACIT_MODEL_JOINT, TACIT_MODEL_LOCAL};
    tacit_agent *a = hire(world, "capri", none, NULL, 0, 3000, 8);
    outcome wanted = play(world, a, 0, 3000);
    tacit_agent_destroy(a);
    for (size_t m = 0; m < 2; m++) {
        tacit_guarantee g = {models[m], models[m] == TACIT_MODEL_JOINT ? 4e5 : 4e7, 0.4};
        a = hire(world, "capri", g, NULL, 0, 3000, 8);
        outcome got = play(world, a, 0, 3000);
        assert_memory_equal(got.last, wanted.last, sizeof got.last);
        assert_true(got.regret == wanted.regret && got.version == wanted.version);
        tacit_agent_destroy(a);
    }
}

/* Sums over epochs as the paper orders them: less privacy, less regret; averages over worlds would take longer. */
TEST(privacy_costs_regret)
{
    double regret[3] = {0};
    const tacit_guarantee g[] = {none, {TACIT_MODEL_JOINT, 1, 1e-5}, {TACIT_MODEL_LOCAL, 1, 1e-5}};
    for (int w = 0; w < 6; w++) {
        char seed[4] = {(char)('1' + w)};
        const tacit_setting settings[] = {SET("contexts", "6"), SET("actions", "9"),
                                          SET("kernel", "se(0.3)"), SET("seed", seed)};
        SCOPED(tacit_world) *world = world_of("kernel-bandit", settings, N_OF(settings));
        for (size_t m = 0; m < 3; m++) {
            SCOPED(tacit_agent) *a = hire(world, "capri", g[m], NULL, 0, 20000, 2);
            regret[m] += play(world, a, 0, 20000).regret;
        }
    }
    assert_true(regret[0] < regret[1] && regret[1] < regret[2]);
}

TEST(the_printed_width_is_uniform_play)
{
    static const tacit_setting settings[] = {SET("preset", "published")};
    SCOPED(tacit_world) *world = small_world();
    SCOPED(tacit_agent) *a = hire(world, "capri", none, settings, 1, 3000, 8);
    outcome o = play(world, a, 0, 3000);
    for (size_t w = 0; w < PAIRS; w++)
        assert_close(o.last[w], 1.0 / ACTIONS, 1e-12);
}

TEST(the_last_epoch_shows_nothing)
{
    SCOPED(tacit_world) *world = small_world();
    uint64_t length[64];
    size_t n = tacit__capri_schedule(3000, true, length);
    static const tacit_setting balanced = SET("schedule", "balanced");
    SCOPED(tacit_agent) *a =
        hire(world, "capri", (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-5}, &balanced, 1, 3000, 8);
    assert_int_equal(tacit_plan_release(tacit_agent_release_plan(a), 0)->steps, n - 1);
    assert_true(tacit_plan_release(tacit_agent_release_plan(a), 0)->column_l2 == 1);
    assert_close(tacit_plan_scale(tacit_agent_release_plan(a), 0), 2 / 0.268051123211, 1e-9);
    (void)play(world, a, 0, 3000 - length[n - 1]);
    assert_int_equal(tacit_ledger_passed(tacit__agent_ledger(a), 0), n - 1);
    (void)play(world, a, 3000 - length[n - 1], 3000);
    assert_int_equal(tacit_ledger_passed(tacit__agent_ledger(a), 0), n - 1);
    tacit_error err = {0};
    tacit_trajectory user = {
        .states = (uint32_t[]){0}, .actions = (uint32_t[]){0}, .rewards = (double[]){0}};
    assert_status(tacit_agent_learn(a, &user, &err), TACIT_EXHAUSTED);
}

/* One user, one epoch, and nothing to show: the promise has a plan all the same. */
TEST(a_learner_of_one_user_has_a_plan)
{
    static const char *const kinds[] = {"capri", "posterior-kernel", "explore-commit-kernel"};
    SCOPED(tacit_world) *world = small_world();
    for (size_t i = 0; i < 2 * N_OF(kinds); i++) {
        const tacit_guarantee g = {i % 2 == 0 ? TACIT_MODEL_JOINT : TACIT_MODEL_LOCAL, 1, 1e-5};
        SCOPED(tacit_agent) *a = hire(world, kinds[i / 2], g, NULL, 0, 1, 8);
        assert_non_null(tacit_agent_release_plan(a));
        assert_int_equal(tacit_plan_size(tacit_agent_release_plan(a)), 1);
        (void)play(world, a, 0, 1);
        assert_int_equal(tacit_ledger_passed(tacit__agent_ledger(a), 0), 0);
    }
}

/* How many explore by default follows from public numbers: more with more noise, at most half. */
TEST(the_exploring_share_follows_the_noise)
{
    SCOPED(tacit_world) *world = small_world();
    uint64_t before = 0;
    for (double epsilon = 1000; epsilon > 0.001; epsilon /= 10) {
        SCOPED(tacit_agent) *a = hire(
            world, "capri", (tacit_guarantee){TACIT_MODEL_JOINT, epsilon, 1e-5}, NULL, 0, 20000, 8);
        uint64_t explore = 0;
        tacit_billboard board;
        for (board.version = 1; board.version < 3 && explore < 20000;
             explore += board.version < 3) {
            (void)play(world, a, explore, explore + 1);
            assert_ok(tacit_agent_plan(a, &board, NULL));
        }
        explore++;
        assert_true(explore >= before && explore <= 10000);
        before = explore;
    }
    assert_true(before > 1000);
}

/* Kinds with a kernel go on where they were saved, in the middle of an epoch, and refuse what is not theirs. */
TEST(a_saved_learner_goes_on)
{
    static const struct {
        const char *kind;
        tacit_guarantee g;
        const char *key, *value;
    } cases[] = {{"capri", {TACIT_MODEL_NONE, 0, 0}, NULL, NULL},
                 {"capri", {TACIT_MODEL_JOINT, 2, 1e-5}, NULL, NULL},
                 {"capri", {TACIT_MODEL_LOCAL, 5, 1e-5}, NULL, NULL},
                 {"capri", {TACIT_MODEL_JOINT, 2, 1e-5}, "preset", "faithful"},
                 {"posterior-kernel", {TACIT_MODEL_NONE, 0, 0}, NULL, NULL},
                 {"posterior-kernel", {TACIT_MODEL_JOINT, 2, 1e-5}, NULL, NULL},
                 {"posterior-kernel", {TACIT_MODEL_JOINT, 2, 1e-5}, "contexts", "learned"},
                 {"posterior-kernel", {TACIT_MODEL_LOCAL, 5, 1e-5}, NULL, NULL},
                 {"posterior-kernel", {TACIT_MODEL_LOCAL, 5, 1e-5}, "contexts", "learned"},
                 {"explore-commit-kernel", {TACIT_MODEL_JOINT, 2, 1e-5}, NULL, NULL},
                 {"gp-ucb", {TACIT_MODEL_NONE, 0, 0}, NULL, NULL},
                 {"kernel-elimination", {TACIT_MODEL_NONE, 0, 0}, NULL, NULL},
                 {"kernel-elimination", {TACIT_MODEL_NONE, 0, 0}, "sampling", "variance"}};
    SCOPED(tacit_world) *world = small_world();
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit_setting setting = SET(cases[i].key, cases[i].value);
        size_t n = cases[i].key != NULL, size = 0;
        tacit_error err = {0};
        SCOPED(tacit_agent) *calm = hire(world, cases[i].kind, cases[i].g, &setting, n, 1500, 8);
        (void)play(world, calm, 0, 700);
        outcome wanted = play(world, calm, 700, 1500);
        SCOPED(tacit_agent) *first = hire(world, cases[i].kind, cases[i].g, &setting, n, 1500, 8);
        (void)play(world, first, 0, 700);
        assert_ok(tacit_agent_save(first, NULL, &size, &err));
        SCOPED_FREE uint8_t *bytes = calloc(size, 1);
        assert_ok(tacit_agent_save(first, bytes, &size, &err));
        /* another key of the noise, which is forgotten */
        SCOPED(tacit_agent) *second = hire(world, cases[i].kind, cases[i].g, &setting, n, 1500, 9);
        bytes[size / 2] ^= 1;
        assert_status(tacit_agent_load(second, bytes, size, &err), TACIT_CORRUPT);
        bytes[size / 2] ^= 1;
        assert_status(tacit_agent_load(second, bytes, size - 1, &err), TACIT_CORRUPT);
        assert_ok(tacit_agent_load(second, bytes, size, &err));
        outcome got = play(world, second, 700, 1500);
        assert_true(got.regret == wanted.regret && got.version == wanted.version);
        assert_memory_equal(got.last, wanted.last, sizeof got.last);
        SCOPED(tacit_agent) *other = hire(world, cases[i].kind, cases[i].g, &setting, n, 1499, 8);
        assert_status(tacit_agent_load(other, bytes, size, &err), TACIT_WRONG_PLAN);
        assert_status(tacit_agent_load(first, bytes, size, &err), TACIT_BAD_ARGUMENT);
    }
}

/* Who gives a private learner a kernel, a norm or weights of contexts is told that these count as public. */
TEST(what_may_have_been_fitted_is_remarked_on)
{
    static const tacit_setting given[] = {SET("kernel", "se(0.2)"), SET("norm", "0.4")};
    const tacit_guarantee joint_1 = {TACIT_MODEL_JOINT, 1, 1e-6};
    SCOPED(tacit_world) *world = small_world();
    for (size_t i = 0; i < 4; i++) {
        SCOPED(tacit_agent) *a =
            hire(world, "capri", i < 3 ? joint_1 : none, given + (i == 1), i > 0, 100, 1);
        bool told = strstr(tacit_agent_remark(a), "fitted on the same people") != NULL;
        assert_int_equal(told, i == 1 || i == 2);
    }
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit_bandit bandit = *f->bandit;
    double weights[64] = {0};
    assert_true(f->n_states <= 64);
    weights[0] = 1;
    bandit.weights = weights;
    tacit_agent_request request = request_in(world, "capri", joint_1, 100);
    request.bandit = &bandit;
    SCOPED(tacit_agent) *agent = agent_of(&request, 1);
    assert_non_null(strstr(tacit_agent_remark(agent), "fitted on the same people"));
}

TEST(what_does_not_fit_is_refused)
{
    static const tacit_setting shared = SET("contexts", "0");
    SCOPED(tacit_world) *world = world_of("linear-bandit", &shared, 1);
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit_agent_request request = {.kind = "capri",
                                   .n_actions = f->n_actions,
                                   .horizon = 1,
                                   .episodes = 100,
                                   .bandit = f->bandit};
    tacit_agent *agent = NULL;
    tacit_error err = {0};
    assert_status(tacit_agent_create(&request, NULL, &agent, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "numbered contexts"));
    request.kind = "gp-ucb";
    assert_status(tacit_agent_create(&request, NULL, &agent, &err), TACIT_UNSUPPORTED);
    const tacit_bandit zero = {.dimension = 1, .bound = 1, .points = (double[]){0, 0}};
    const tacit_setting linear = SET("kernel", "linear");
    request = (tacit_agent_request){.kind = "capri",
                                    SPACE_OF(1, 2, 1),
                                    SETTINGS_OF(&linear, 1),
                                    .episodes = 100,
                                    .bandit = &zero};
    assert_status(tacit_agent_create(&request, NULL, &agent, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "nothing to learn"));
    tacit_world_destroy(world);
    world = small_world();
    SCOPED(tacit_agent) *a = hire(world, "capri", none, NULL, 0, 100, 1);
    tacit_trajectory user = {
        .states = (uint32_t[]){6}, .actions = (uint32_t[]){0}, .rewards = (double[]){0.5}};
    assert_status(tacit_agent_learn(a, &user, &err), TACIT_OUT_OF_BOUND);
    user = (tacit_trajectory){
        .states = (uint32_t[]){0}, .actions = (uint32_t[]){0}, .rewards = (double[]){1.5}};
    assert_status(tacit_agent_learn(a, &user, &err), TACIT_OUT_OF_BOUND);
}

/* Somebody whose reward comes after their action was dropped takes their place in line, with the zero vector: of two learners that
 * differ in the rewards of such users only, every number is the same, and epochs begin at the same users. */
TEST(a_late_user_counts_and_adds_nothing)
{
    enum { USERS = 600 };
    SCOPED(tacit_world) *world = small_world();
    const tacit_guarantee promises[] = {none, {TACIT_MODEL_JOINT, 20, 1e-3}};
    for (size_t g = 0; g < 2; g++) {
        SCOPED(tacit_agent) *a = hire(world, "capri", promises[g], NULL, 0, USERS, 1);
        SCOPED(tacit_agent) *b = hire(world, "capri", promises[g], NULL, 0, USERS, 1);
        uint64_t random = 5, late = 0;
        for (uint64_t k = 0; k < USERS; k++) {
            tacit_billboard x, y;
            assert_ok(tacit_agent_plan(a, &x, NULL));
            assert_ok(tacit_agent_plan(b, &y, NULL));
            assert_true(x.version == y.version);
            assert_memory_equal(x.mixed, y.mixed, PAIRS * sizeof *x.mixed);
            uint32_t state_number = (uint32_t)random_below(&random, CONTEXTS), action = 0;
            double reward = random_unit(&random), other = reward, p;
            bool dropped = false;
            for (uint32_t i = 0; i < ACTIONS && k % 2 == 1; i++)
                if (x.mixed[state_number * ACTIONS + i] == 0) {
                    action = i;
                    dropped = true;
                }
            if (dropped)
                other = 1 - reward;
            else
                assert_ok(tacit_agent_act(a, &(tacit_situation){.state = state_number},
                                          random_unit(&random), &action, &p, NULL));
            late += dropped;
            if (!dropped)
                other = reward = action == 0 ? 0.95 : 0.05 * reward;
            assert_ok(tacit_agent_learn(
                a, &(tacit_trajectory){STEPS_OF(&state_number, &action, &reward)}, NULL));
            assert_ok(tacit_agent_learn(
                b, &(tacit_trajectory){STEPS_OF(&state_number, &action, &other)}, NULL));
        }
        assert_true(late > 20);
        tacit_trajectory user = {
            .states = (uint32_t[]){0}, .actions = (uint32_t[]){0}, .rewards = (double[]){0.5}};
        assert_status(tacit_agent_learn(a, &user, NULL), TACIT_EXHAUSTED);
    }
}
