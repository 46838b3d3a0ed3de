/* Names that stand for other kinds: what they stand for, what they refuse, and that nothing later
 * knows of them. */
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/lab.h>
#include <tacit/noise.h>

#include "support/check.h"

enum { USERS = 300 };

static const tacit_guarantee none = {.model = TACIT_MODEL_NONE},
                             joint = {TACIT_MODEL_JOINT, 1, 1e-5}, pure = {TACIT_MODEL_JOINT, 1, 0},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-5};

static void fill_row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    (void)state;
    (void)action;
    out[0] = 1;
}

static const tacit_mixture kernels = {.dimension = 2, .bound = 1, .kernels = true, .row = fill_row},
                           parts = {.dimension = 2, .bound = 1, .row = fill_row};
static const tacit_linear features = {.dimension = 2, .bound = 1, .row = fill_row},
                          brought = {.dimension = 2, .bound = 1};
static const tacit_bandit plain = {.dimension = 2, .bound = 1},
                          straight = {.dimension = 2, .bound = 1, .kernel = "linear"},
                          smooth = {.dimension = 2, .bound = 1, .kernel = "se(0.2)"};
static const double rewards[8] = {0};

static tacit_agent_request request(const char *kind, tacit_guarantee guarantee)
{
    return (tacit_agent_request){SPACE_OF(2, 2, 2), .kind = kind, .guarantee = guarantee,
                                 .stationary = true, .episodes = USERS};
}

/* The first of these kinds that the library has: preferences may name kinds that it lacks. */
static const char *first_of(const char *one, const char *other)
{
    return tacit_agent_kind_find(one) != NULL ? one : other;
}

static void check(tacit_agent_request q, const char *expected)
{
    const char *kind = NULL;
    tacit_error err = {0};
    if (tacit_agent_choose(&q, &kind, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    assert_string_equal(kind, expected);
}

TEST(auto_follows_the_structure_and_the_guarantee)
{
    tacit_agent_request q = request("auto", joint);
    check(q, "posterior-tabular");
    check(request("auto", none), "posterior-tabular");
    check(request("auto", pure), "posterior-tabular");
    check(request("explore-commit", pure), "explore-commit-tabular");
    check(request("auto", local), "posterior-tabular");
    check(request("explore-commit", local), "explore-commit-tabular");
    for (size_t steps = 1; steps <= 2; steps++) {
        tacit_agent_request arms = request("auto", pure);
        arms.n_states = 1;
        arms.horizon = steps;
        check(arms, steps == 1 ? "posterior-bandit" : "posterior-tabular");
        arms.guarantee.epsilon = 3;
        check(arms, "posterior-tabular");
        arms.guarantee = joint;
        check(arms, "posterior-tabular");
        arms.kind = "explore-commit";
        check(arms, "explore-commit-tabular");
    }
    q.rewards = rewards;
    check(q, "posterior-tabular"); /* rewards alone are no structure */
    q.mixture = &kernels;
    check(q, "posterior-mixture");
    q.guarantee = local;
    check(q, "posterior-mixture");
    q.guarantee = pure;
    check(q, "posterior-mixture");
    q.guarantee = (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 0};
    check(q, "posterior-mixture");
    q.guarantee = joint;
    q.mixture = &parts;
    check(q, "ucrl-vtr");
    q.rewards = NULL; /* learners of such mixtures must know them */
    check(q, "posterior-tabular");
    q.mixture = &kernels; /* those of kernels learn them */
    check(q, "posterior-mixture");
    q.guarantee = pure;
    check(q, "posterior-mixture");
    q.guarantee = joint;
    q.mixture = NULL;
    q.linear = &features;
    check(q, first_of("posterior-linear", "lsvi-ucb"));
    q.guarantee = pure;
    check(q, "posterior-tabular");
    q.guarantee = joint;
    q.linear = &brought;
    q.n_states = 0;
    check(q, "lsvi-ucb");
    q.linear = NULL;
    q.horizon = 1;
    q.bandit = &plain;
    check(q, "lin-ucb");
    q.bandit = &straight;
    check(q, "lin-ucb");
    q.bandit = &smooth;
    check(q, first_of("posterior-kernel", "capri"));
}

/* With privacy, and where few contexts come as often as is declared. */
TEST(auto_takes_a_linear_kernel_over_few_contexts_for_a_kernel)
{
    const double points[8] = {0}, weights[2] = {0.5, 0.5};
    tacit_bandit b = straight;
    tacit_agent_request q = request("auto", joint);
    q.horizon = 1;
    q.bandit = &b;
    b.points = points;
    check(q, "lin-ucb");
    b.weights = weights;
    check(q, first_of("posterior-kernel", "capri"));
    q.guarantee = local;
    check(q, first_of("posterior-kernel", "capri"));
    q.kind = "explore-commit";
    check(q, first_of("explore-commit-kernel", "explore-commit-features"));
    q.kind = "auto";
    q.guarantee = none;
    check(q, "lin-ucb");
    q.guarantee = joint;
    q.n_states = 100;
    check(q, first_of("posterior-kernel", "capri"));
    q.n_states = 101;
    check(q, "lin-ucb");
    q.n_states = 2;
    b.kernel = NULL; /* features alone */
    check(q, "lin-ucb");
}

/* Whether its users answer or add numbers with noise, it decides itself. */
TEST(auto_learns_mixtures_by_their_kernels_whatever_epsilon_is)
{
    tacit_agent_request q = request("auto", local);
    q.mixture = &kernels;
    for (int i = 0; i < 8; i++) {
        q.guarantee.epsilon = i % 2 == 0 ? 0.1 : 10;
        q.guarantee.delta = i / 2 % 2 == 0 ? 0 : 1e-5;
        q.rewards = i < 4 ? NULL : rewards;
        q.kind = "auto";
        check(q, "posterior-mixture");
        q.kind = "explore-commit";
        check(q, "explore-commit-mixture");
    }
}

TEST(other_names_stand_for_themselves)
{
    check(request("explore-commit", joint), "explore-commit-tabular");
    check(request("dp-ucbvi", joint), "dp-ucbvi");
    check(request("no such kind", joint), "no such kind");
    assert_null(tacit_agent_kind_find("auto"));
    assert_null(tacit_agent_kind_find("explore-commit"));
    assert_non_null(tacit_agent_alias_find("auto"));
    assert_null(tacit_agent_alias_find("dp-ucbvi"));
    for (size_t i = 0; i < tacit_agent_alias_count(); i++)
        assert_null(tacit_agent_kind_find(tacit_agent_alias_at(i)->name));
    assert_null(tacit_agent_alias_at(tacit_agent_alias_count()));
}

TEST(parameters_are_refused_with_the_kind_to_write_instead)
{
    const tacit_setting setting = {.key = "growth", .value = "1.5", .line = 7};
    tacit_agent_request q = request("auto", joint);
    tacit_error err = {0};
    tacit_agent *agent = NULL;
    const char *kind = NULL;
    q.settings = &setting;
    q.n_settings = 1;
    q.file = "f.yaml";
    assert_status(tacit_agent_choose(&q, &kind, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "f.yaml:7: "));
    assert_non_null(strstr(err.message, "'growth'"));
    assert_non_null(strstr(err.message, "kind: posterior-tabular"));
    assert_null(kind);
    assert_status(tacit_agent_create(&q, NULL, &agent, &err), TACIT_UNSUPPORTED);
    assert_null(agent);
}

TEST(what_nothing_fits_is_refused)
{
    tacit_error err = {0};
    const char *kind = NULL;
    tacit_agent_request q = request("auto", pure);
    q.n_states = 0;
    q.horizon = 1;
    q.bandit = &plain;
    assert_status(tacit_agent_choose(&q, &kind, &err), TACIT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'joint with delta 0'"));
    q = request("explore-commit", (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 0});
    q.n_states = 0;
    q.horizon = 1;
    q.bandit = &plain;
    assert_status(tacit_agent_choose(&q, &kind, &err), TACIT_UNSUPPORTED);
    assert_null(kind);
}

/* States of one load into the other, and the noise is the same. */
TEST(an_agent_is_of_the_chosen_kind)
{
    const char *const names[] = {"auto", "posterior-tabular"};
    tacit_agent *agents[2] = {NULL, NULL};
    uint8_t *states[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    tacit_error err;
    for (size_t i = 0; i < 2; i++) {
        const tacit_agent_request q = request(names[i], joint);
        tacit_noise *noise = NULL;
        assert_ok(tacit_noise_create_simulated(5, &noise));
        assert_ok(tacit_agent_create(&q, noise, &agents[i], &err));
        tacit_noise_destroy(noise);
        assert_string_equal(tacit_agent_kind_of(agents[i])->name, "posterior-tabular");
        assert_ok(tacit_agent_save(agents[i], NULL, &sizes[i], &err));
        states[i] = malloc(sizes[i]);
        assert_ok(tacit_agent_save(agents[i], states[i], &sizes[i], &err));
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(states[0], states[1], sizes[0]);
    for (size_t i = 0; i < 2; i++) {
        free(states[i]);
        tacit_agent_destroy(agents[i]);
    }
    assert_null(tacit_agent_kind_of(NULL));
}

TEST(results_say_what_played)
{
    static const char text[] = "worlds: [{kind: riverswim, states: 3, horizon: 4}, {kind: lock}]\n"
                               "episodes: 20\nruns: 1\nagents:\n"
                               "  - {kind: auto, privacy: {model: joint, epsilon: 1}}\n"
                               "  - {kind: uniform}\n";
    SCOPED(tacit_experiment) *e = NULL;
    SCOPED(tacit_results) *results = NULL;
    tacit_error err = {0};
    assert_ok(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, NULL, &results, &err));
    assert_string_equal(tacit_results_summary(results, 0, 0).kind, "posterior-tabular");
    assert_string_equal(tacit_results_summary(results, 1, 0).kind, "posterior-mixture");
    assert_string_equal(tacit_results_summary(results, 0, 1).kind, "uniform");
}
