/* The papers' tabular learners with little noise: what is left of it costs at most ten times what they lose without noise.
 * Without noise is epsilon 10^9, at which everything of a user counts and no count is off by one. RiverSwim with 6 states, 20
 * steps and 20,000 users; seeds are fixed, so that a failure is never chance. Some seeds have one bad run: docs/why/tabular.md
 * has the spread. */
#include <string.h>

#include <tacit/lab.h>

#include "support/check.h"

static void assert_within_ten_times(const char *kind, const char *model)
{
    const char *text = fmt("world: {kind: riverswim, states: 6, horizon: 20}\n"
                           "episodes: 20000\nruns: 5\nseed: 5\nagents:\n"
                           "  - {kind: %s, privacy: {model: %s, epsilon: [1e9, 1000], "
                           "delta: 5e-6}}\n",
                           kind, model);
    SCOPED(tacit_experiment) *e = NULL;
    SCOPED(tacit_results) *results = NULL;
    tacit_error err = {0};
    assert_ok(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err));
    assert_ok(tacit_lab_run(e, NULL, &results, &err));
    const tacit_summary without = tacit_results_summary(results, 0, 0),
                        with = tacit_results_summary(results, 0, 1);
    assert_within(with.regret_mean / without.regret_mean, 1, 10);
    assert_within(with.regret_mean, 0, 3000);
    assert_true(with.late_mean < 0.1); /* of 3.4 */
}

TEST(little_joint_noise_costs_little)
{
    assert_within_ten_times("private-ucb-vi", "joint");
    assert_within_ten_times("private-ucb-po", "joint");
    assert_within_ten_times("pucb", "joint");
    assert_within_ten_times("dp-ucbvi", "joint");
}

TEST(little_local_noise_costs_little)
{
    assert_within_ten_times("private-ucb-vi", "local");
    assert_within_ten_times("private-ucb-po", "local");
    assert_within_ten_times("ldp-obi", "local");
}
