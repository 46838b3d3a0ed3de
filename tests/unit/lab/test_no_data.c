/* The baseline no-data, and the random mixtures in which it is no better than random actions. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>

#include "support/scoped.h"

static tacit_results *run(const char *world, const char *agents)
{
    const char *text = fmt("world: {kind: %s}\nepisodes: 3000\nruns: 2\nagents:\n"
                           "  - {kind: no-data}\n  - {kind: uniform}\n  - {kind: constant}\n%s",
                           world, agents);
    SCOPED(tacit_experiment) *e = NULL;
    tacit_results *results = NULL;
    tacit_error err = {0};
    assert_ok(tacit_experiment_parse(text, strlen(text), "mix.yaml", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, &(tacit_lab_options){.n_threads = 1}, &results, &err));
    return results;
}

static double regret(const tacit_results *results, size_t agent)
{
    return tacit_results_summary(results, 0, agent).regret_mean;
}

/* One kernel has all the weight; or all have the same. */
TEST(where_the_even_mixture_is_the_world_the_plan_without_data_is_the_best)
{
    static const char *const worlds[] = {
        "random-mixture, d: 1, balanced: no", "random-mixture, evenness: 1000000, balanced: no",
        "random-mixture, evenness: 1000000, stationary: yes, balanced: no"};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        SCOPED(tacit_results) *results = run(worlds[i], "");
        assert_true(regret(results, 0) < 0.01 * regret(results, 1));
    }
}

TEST(where_known_rewards_give_the_plan_away_a_learner_must_beat_that_plan)
{
    static const char learners[] =
        "  - {label: auto, kind: auto, privacy: {model: joint, epsilon: 1, delta: 1e-5}}\n"
        "  - {label: still, kind: ucrl-vtr, privacy: {model: joint, epsilon: 1, delta: 1e-5,"
        " calibration: published}}\n";
    SCOPED(tacit_results) *results = run("random-mixture, d: 3, seed: 11, balanced: no", learners);
    assert_true(regret(results, 0) < 0.01 * regret(results, 2));
    assert_string_equal(tacit_results_bar(results, 0).what, "what the plan without data loses");
    assert_int_equal(tacit_results_summary(results, 0, 3).runs_not_learned, 0);
    assert_int_equal(tacit_results_summary(results, 0, 4).runs_not_learned, 2);
}

TEST(in_balanced_mixtures_the_plan_without_data_is_random_actions)
{
    for (int seed = 1; seed <= 5; seed++) {
        SCOPED(tacit_results) *results = run(fmt("random-mixture, seed: %d", seed), "");
        assert_close(regret(results, 0), regret(results, 1), 1e-6 * regret(results, 1));
        assert_true(regret(results, 1) > 0.03 * 3000 * tacit_results_optimal_value(results, 0));
    }
    SCOPED(tacit_results) *lock = run("lock", "");
    assert_close(regret(lock, 0), regret(lock, 1), 1e-6 * regret(lock, 1));
}

/* The even mixture of the kernels, and the reward, are the same for all actions of a state. */
TEST(balanced_mixtures_tell_nothing_without_their_weights)
{
    enum { D = 4, S = 5, A = 4 };
    static const char *const texts[] = {"{kind: random-mixture, d: 4, states: 5}",
                                        "{kind: random-mixture, d: 4, states: 5, balanced: no}"};
    for (size_t w = 0; w < 2; w++) {
        SCOPED(tacit_world) *world = NULL;
        tacit_error err = {0};
        double apart = 0, first[D * S], row[D * S];
        assert_ok(tacit_world_create_text(texts[w], strlen(texts[w]), NULL, &world, &err));
        const tacit_world_facts *f = tacit_world_describe(world);
        for (uint32_t s = 0; s < S; s++)
            for (uint32_t a = 1; a < A; a++) {
                f->mixture->row(f->mixture->context, s, 0, first);
                f->mixture->row(f->mixture->context, s, a, row);
                for (size_t next = 0; next < S; next++) {
                    double sum = 0;
                    for (size_t j = 0; j < D; j++)
                        sum += row[j * S + next] - first[j * S + next];
                    apart = fmax(apart, fabs(sum));
                }
                apart = fmax(apart, fabs(f->rewards[s * A + a] - f->rewards[s * A]));
            }
        assert_true(w == 0 ? apart < 1e-12 : apart > 0.1);
    }
}

TEST(without_known_rewards_or_kernels_there_is_no_plan)
{
    static const char *const worlds[] = {"riverswim", "lock, rewards: hidden",
                                         "linear-bandit, d: 3"};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        const char *text =
            fmt("world: {kind: %s}\nepisodes: 10\nagents: [{kind: no-data}]\n", worlds[i]);
        SCOPED(tacit_experiment) *e = NULL;
        SCOPED(tacit_results) *results = NULL;
        tacit_error err = {0};
        assert_ok(tacit_experiment_parse(text, strlen(text), "mix.yaml", NULL, &e, &err));
        assert_status(tacit_lab_run(e, NULL, &results, &err), TACIT_UNSUPPORTED);
        assert_non_null(strstr(err.message, "mix.yaml:3: no-data plans with known kernels"));
    }
}
