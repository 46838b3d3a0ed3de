/* Forecasts from a release plan alone: they agree with what was seen, and go the right way. */
#include "support/arena.h"

#include <math.h>
#include <string.h>

static tacit_forecast forecast(const char *kind, tacit_guarantee guarantee, uint64_t users)
{
    tacit_forecast f;
    const tacit_agent_request request = {.kind = kind,
                                         .guarantee = guarantee,
                                         .n_states = 6,
                                         .n_actions = 2,
                                         .horizon = 20,
                                         .stationary = true,
                                         .episodes = users};
    tacit_agent *agent = agent_of(&request, 1);
    tacit_agent_forecast(agent, &f);
    tacit_agent_destroy(agent);
    return f;
}

/* RiverSwim, 50,000 users: regrets of 1,022, 8,836, 146,662 out of 167,674 (README.md). */
TEST(what_was_seen_is_foreseen)
{
    tacit_forecast f = forecast("dp-ucbvi", (tacit_guarantee){TACIT_MODEL_JOINT, 10, 2e-6}, 50000);
    assert_int_equal(f.outlook, TACIT_OUTLOOK_ENOUGH);
    f = forecast("dp-ucbvi", (tacit_guarantee){TACIT_MODEL_JOINT, 1, 2e-6}, 50000);
    assert_int_equal(f.outlook, TACIT_OUTLOOK_ENOUGH);
    assert_within(f.users_needed, 1000, 20000);
    f = forecast("dp-ucbvi", (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 2e-6}, 50000);
    assert_int_equal(f.outlook, TACIT_OUTLOOK_NOT_ENOUGH);
    assert_within(f.users_needed, 5e5, 1e7);
    assert_within(f.epsilon_needed, 4, 20);
    assert_non_null(strstr(f.words, "NOT ENOUGH DATA for epsilon 1: 50000 users"));
}

/* With as many users, or as large an epsilon, as was asked for, the forecast of a fresh agent is better. */
TEST(what_is_asked_for_is_enough)
{
    static const tacit_guarantee g[] = {{TACIT_MODEL_JOINT, 0.1, 1e-6},
                                        {TACIT_MODEL_LOCAL, 1, 1e-6},
                                        {TACIT_MODEL_JOINT, 0.2, 0},
                                        {TACIT_MODEL_LOCAL, 2, 0}};
    for (size_t i = 0; i < sizeof g / sizeof *g; i++) {
        tacit_forecast f = forecast("dp-ucbvi", g[i], 5000);
        assert_int_equal(f.outlook, TACIT_OUTLOOK_NOT_ENOUGH);
        assert_true(f.users_needed > 5000 && f.epsilon_needed > g[i].epsilon);
        /* the extrapolation is rough: a quarter more leaves room for it */
        tacit_forecast more = forecast("dp-ucbvi", g[i], (uint64_t)(1.25 * f.users_needed));
        assert_true(more.outlook != TACIT_OUTLOOK_NOT_ENOUGH);
        tacit_guarantee louder = g[i];
        louder.epsilon = 1.25 * f.epsilon_needed;
        tacit_forecast loud = forecast("dp-ucbvi", louder, 5000);
        assert_true(loud.outlook != TACIT_OUTLOOK_NOT_ENOUGH);
    }
}

TEST(nothing_is_foreseen_without_noise)
{
    tacit_forecast f = forecast("ucbvi", (tacit_guarantee){TACIT_MODEL_NONE, 0, 0}, 1000);
    assert_int_equal(f.outlook, TACIT_OUTLOOK_UNKNOWN);
    assert_true(isnan(f.users_needed) && f.words[0] == '\0');
}
