/* When weighted counts are released for the last time: before the visits of one person crowd, and never earlier for people who come
 * once. */
#include "support/check.h"

#include <tacit/agent.h>

#include "curate/weighted_curator_inside.h"
#include "sums/returning.h"

static tacit__weighted_options options_of(uint64_t visits, uint64_t apart)
{
    return (tacit__weighted_options){.space = {6, 2, 20, 1},
                                     .episodes = 50000,
                                     VISITS_OF(visits, apart),
                                     .guarantee = {TACIT_MODEL_JOINT, 1, 2e-6},
                                     .mechanism = TACIT_SUM_BLT,
                                     .growth = 1.2};
}

static tacit__weighted_options timed_of(const tacit__weighted_options *o)
{
    tacit__weighted_options timed;
    tacit_error err = {.message = ""};
    assert_ok(tacit__weighted_time(o, &timed, &err));
    return timed;
}

static double gain_of(const tacit__weighted_options *o)
{
    static uint64_t at[200];
    double gain = 0;
    const uint64_t n = tacit__weighted_moments(o, at);
    assert_ok(tacit__weighted_gain(o, at, n, &gain, NULL));
    return gain;
}

TEST(people_who_come_once_are_learned_from_to_the_end)
{
    const tacit__weighted_options once = options_of(1, 1), timed = timed_of(&once);
    assert_int_equal(timed.last, 50000);
    tacit__weighted_options exact = options_of(5, 10000);
    exact.guarantee = (tacit_guarantee){TACIT_MODEL_NONE, 0, 0};
    assert_int_equal(timed_of(&exact).last, 50000);
}

/* Fewer visits before the last release, and fewer that meet in one batch: at most half of the noise, in these cases. */
TEST(releases_stop_before_visits_crowd)
{
    static const tacit__returning cases[] = {{5, 10000}, {10, 5000}, {30, 1000}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit__weighted_options o = options_of(cases[i].most, cases[i].apart),
                                      timed = timed_of(&o);
        tacit__weighted_options all = timed;
        all.last = o.episodes;
        assert_true(timed.last < o.episodes / 2 && timed.first < timed.last);
        assert_true(gain_of(&timed) < 0.6 * gain_of(&all));
        assert_int_equal(timed.visits, o.visits); /* what is declared stays */
        assert_int_equal(timed.apart, o.apart);
    }
}

/* What is given stays. */
TEST(given_moments_are_kept)
{
    tacit__weighted_options o = options_of(5, 10000);
    o.last = 40000;
    assert_int_equal(timed_of(&o).last, 40000);
    o.last = 0;
    o.first = 77;
    assert_int_equal(timed_of(&o).first, 77);
    assert_int_equal(timed_of(&o).last, 50000);
}

/* The declared column is that of visits up to the last release; the plan says how many there are all the same. */
TEST(only_visits_before_the_last_release_are_paid_for)
{
    const tacit_setting none[1] = {{.key = NULL}};
    const tacit_agent_request q = {SPACE_OF(6, 2, 20), .kind = "posterior-tabular",
                                   .settings = none,   .guarantee = {TACIT_MODEL_JOINT, 1, 2e-6},
                                   .stationary = true, .episodes = 50000,
                                   VISITS_OF(5, 10000)};
    SCOPED(tacit_agent) *agent = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    assert_ok(tacit_agent_create(&q, noise, &agent, NULL));
    const tacit_release *line = tacit_plan_release(tacit_agent_release_plan(agent), 0);
    assert_int_equal(line->visits, 5);
    assert_int_equal(line->apart, 10000);
    assert_true(line->column_l2 < 3); /* 2.2 for one visit, some 5 for five */
}
