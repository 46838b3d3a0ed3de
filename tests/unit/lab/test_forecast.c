/* Forecasts by play: which reference worlds are played for which request, what is counted, what is searched for.
 * Whether forecasts are true is tested in tests/stat/test_forecast_truth.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>

#include "support/check.h"

static void fill_row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    (void)state;
    (void)action;
    out[0] = 1;
}

static const tacit_mixture mixture = {.dimension = 3, .bound = 1, .kernels = true, .row = fill_row};
static const tacit_linear features = {.dimension = 4, .bound = 1, .row = fill_row};
static const tacit_bandit plain = {.dimension = 7, .bound = 1, .disjoint = true},
                          smooth = {.dimension = 3,
                                    .bound = 1,
                                    .context_dimension = 1,
                                    .kernel = "se(0.5) * se(0.3)"};
static const double rewards[24] = {0};

static tacit_agent_request request(const char *kind, double epsilon, uint64_t users)
{
    return (tacit_agent_request){SPACE_OF(4, 3, 6), .kind = kind,
                                 .guarantee = {TACIT_MODEL_JOINT, epsilon, 1e-5},
                                 .stationary = true, .episodes = users};
}

static void assert_played(tacit_agent_request q, const char *const *expected)
{
    tacit_error err = {0};
    SCOPED(tacit_experiment) *e = NULL;
    SCOPED_FREE char *text = tacit_forecast_experiment(&q, NULL, &err);
    assert_non_null(text);
    for (; *expected != NULL; expected++)
        if (strstr(text, *expected) == NULL)
            fail_msg("no '%s' in\n%s", *expected, text);
    if (tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err) != TACIT_OK)
        fail_msg("%s\n%s", err.message, text);
    const tacit_experiment_facts *facts = tacit_experiment_describe(e);
    assert_int_equal(facts->n_agents, 3);
    assert_int_equal(facts->episodes, q.episodes);
    assert_true(facts->agents[0].guarantee.epsilon == q.guarantee.epsilon &&
                facts->agents[0].guarantee.delta == q.guarantee.delta);
    for (size_t w = 0; w < facts->n_worlds; w++) { /* the learner fits into every one of them */
        SCOPED(tacit_world) *world = NULL;
        SCOPED(tacit_agent) *agent = NULL;
        if (tacit_experiment_world(e, w, &world, &err) != TACIT_OK ||
            tacit_experiment_agent(e, w, world, 0, 0, &agent, &err) != TACIT_OK)
            fail_msg("%s", err.message);
    }
}

TEST(worlds_have_the_declared_shape)
{
    tacit_agent_request q = request("auto", 1, 500);
    assert_played(q,
                  (const char *const[]){"kind: posterior-tabular",
                                        "family: chain, rewards: 0.5, states: 4, "
                                        "actions: 3, horizon: 6, stationary: yes",
                                        "family: contexts", "family: code", "family: trap",
                                        "family: faint", "family: sparse", "family: dense", NULL});
    q.horizon = 1;
    assert_played(q,
                  (const char *const[]){"family: contexts", "family: faint", "horizon: 1", NULL});
    q.n_states = 1;
    assert_played(q, (const char *const[]){"states: 1", NULL});
    q = request("auto", 1, 500);
    q.mixture = &mixture;
    q.rewards = rewards;
    assert_played(q, (const char *const[]){"kind: posterior-mixture",
                                           "kind: random-mixture, d: 3, states: 4, actions: 3",
                                           "kind: lock, d: 3, horizon: 6", NULL});
    q = request("lsvi-ucb", 1, 500);
    q.linear = &features;
    assert_played(q, (const char *const[]){"kind: random-linear, d: 4, states: 4", NULL});
    q = request("lin-ucb", 1, 500);
    q.horizon = 1;
    q.n_states = 0;
    q.bandit = &plain;
    assert_played(q, (const char *const[]){"d: 7, actions: 3, arms: disjoint, contexts: 0", NULL});
    q.n_states = 4;
    q.bandit = &smooth;
    q.kind = "capri";
    assert_played(q, (const char *const[]){"kernel: \"se(0.5) * se(0.3)\"",
                                           "contexts: 4, actions: 3, context_d: 1, action_d: 2",
                                           NULL});
}

TEST(settings_and_privacy_are_those_of_the_request)
{
    static const tacit_setting growth = SET("growth", "1.5");
    tacit_agent_request q = request("posterior-tabular", 0.25, 700);
    q.settings = &growth;
    q.n_settings = 1;
    q.sums = "tree";
    assert_played(q, (const char *const[]){"growth: \"1.5\"", "sums: tree", NULL});
    q.guarantee = (tacit_guarantee){.model = TACIT_MODEL_NONE, .epsilon = (double)INFINITY};
    q.n_settings = 0;
    SCOPED_FREE char *text = tacit_forecast_experiment(&q, NULL, NULL);
    assert_non_null(strstr(text, "privacy: {model: none}"));
}

static tacit_forecast forecast(tacit_agent_request q, bool search)
{
    const tacit_forecast_options options = {.n_worlds = 7, .search = search, .n_threads = 1};
    tacit_forecast f;
    tacit_error err = {0};
    if (tacit_forecast_make(&q, &options, &f, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return f;
}

TEST(more_users_and_larger_epsilons_are_better)
{
    const tacit_forecast few = forecast(request("auto", 0.1, 300), false),
                         many = forecast(request("auto", 10, 5000), false);
    assert_int_equal(few.outlook, TACIT_OUTLOOK_NOT_ENOUGH);
    assert_int_equal(many.outlook, TACIT_OUTLOOK_ENOUGH);
    assert_true(few.n_beaten < many.n_beaten && few.gain < many.gain);
    assert_true(many.n_worlds >= 4 && many.n_worlds <= 7);
    assert_string_equal(many.kind, "posterior-tabular");
    assert_true(isnan(few.users_needed) && isnan(few.epsilon_needed));
    assert_non_null(strstr(few.words, "NOT ENOUGH: 300 users at epsilon 0.1 beat "));
}

TEST(what_would_be_enough_is_enough)
{
    tacit_agent_request q = request("auto", 0.5, 300);
    const tacit_forecast f = forecast(q, true);
    assert_true(f.outlook == TACIT_OUTLOOK_NOT_ENOUGH || f.outlook == TACIT_OUTLOOK_DEPENDS);
    assert_true(f.users_needed > 300 && f.epsilon_needed > 0.5);
    q.episodes = (uint64_t)f.users_needed;
    assert_int_equal(forecast(q, false).outlook, TACIT_OUTLOOK_ENOUGH);
    q.guarantee.epsilon = f.epsilon_needed;
    q.episodes = 300;
    assert_int_equal(forecast(q, false).outlook, TACIT_OUTLOOK_ENOUGH);
    /* and on the way down */
    q = request("auto", 10, 4000);
    const tacit_forecast less = forecast(q, true);
    assert_true(less.users_needed < 4000 && less.epsilon_needed < 10);
    q.episodes = (uint64_t)less.users_needed;
    assert_int_equal(forecast(q, false).outlook, TACIT_OUTLOOK_ENOUGH);
}

TEST(rare_rewards_need_more_users)
{
    tacit_agent_request q = request("auto", 10, 5000);
    const tacit_forecast_options rare = {.n_worlds = 7, .n_threads = 1, .rewards = 0.001};
    tacit_forecast_options options = {.n_worlds = 7, .n_threads = 1, .search = true};
    tacit_forecast f;
    tacit_error err = {0};
    assert_ok(tacit_forecast_make(&q, &rare, &f, &err));
    assert_true(f.outlook != TACIT_OUTLOOK_ENOUGH && f.rewards == 0.001 && isnan(f.rewards_needed));
    assert_non_null(strstr(f.words, " with rewards of about 0.001 of their range; "));
    /* the smallest with which the answer is "enough" are, and half of them are not */
    assert_ok(tacit_forecast_make(&q, &options, &f, &err));
    assert_int_equal(f.outlook, TACIT_OUTLOOK_ENOUGH);
    assert_true(f.rewards == 0.5 && f.rewards_needed < 0.5 && f.rewards_needed > 0.001);
    assert_non_null(strstr(f.words, " would do, too; already "));
    options = rare;
    options.rewards = f.rewards_needed;
    assert_ok(tacit_forecast_make(&q, &options, &f, &err));
    assert_int_equal(f.outlook, TACIT_OUTLOOK_ENOUGH);
    options.rewards /= 2;
    assert_ok(tacit_forecast_make(&q, &options, &f, &err));
    assert_int_not_equal(f.outlook, TACIT_OUTLOOK_ENOUGH);
    /* they are between 0.0001 and 0.5, and tables have them */
    SCOPED_FREE char *text = tacit_forecast_experiment(&q, &rare, &err);
    assert_non_null(strstr(text, "rewards: 0.001,"));
    options.rewards = 0.6;
    assert_status(tacit_forecast_make(&q, &options, &f, &err), TACIT_BAD_ARGUMENT);
    options.rewards = -1;
    assert_status(tacit_forecast_make(&q, &options, &f, &err), TACIT_BAD_ARGUMENT);
    q = request("lsvi-ucb", 1, 500);
    q.linear = &features;
    assert_status(tacit_forecast_make(&q, &rare, &f, &err), TACIT_BAD_ARGUMENT);
    assert_null(tacit_forecast_experiment(&q, &rare, &err));
}

static bool stop(void *context, double share, uint64_t users, double epsilon)
{
    (void)context;
    assert_true(share >= 0 && share <= 1 && users == 2000000 && epsilon == 1);
    return false;
}

TEST(a_forecast_can_be_stopped_and_refused)
{
    tacit_agent_request q = request("auto", 1, 2000000);
    const tacit_forecast_options options = {.progress = stop};
    tacit_forecast f;
    tacit_error err = {0};
    assert_status(tacit_forecast_make(&q, &options, &f, &err), TACIT_EXHAUSTED);
    assert_status(tacit_forecast_make(NULL, &options, &f, &err), TACIT_BAD_ARGUMENT);
    q.kind = "ucbvi"; /* has no privacy */
    assert_status(tacit_forecast_make(&q, &options, &f, &err), TACIT_UNSUPPORTED);
    q.kind = "nobody";
    assert_int_not_equal(tacit_forecast_make(&q, &options, &f, &err), TACIT_OK);
    assert_null(tacit_forecast_experiment(NULL, NULL, &err));
}
