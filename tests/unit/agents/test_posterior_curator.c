/* When weighted counts are released for the last time: before the visits of one person crowd, and never earlier for people who come
 * once. */
#include <math.h>

#include "contribute/table_answers.h"
#include "support/weighted.h"

static tacit__posterior_schedule options_of(uint64_t visits, uint64_t apart)
{
    return (tacit__posterior_schedule){.counts = {.space = {6, 2, 20, 1},
                                                  .episodes = 50000,
                                                  VISITS_OF(visits, apart),
                                                  .guarantee = {TACIT_MODEL_JOINT, 1, 2e-6},
                                                  .mechanism = TACIT_SUM_BLT},
                                       .growth = 1.2};
}

static tacit__posterior_schedule timed_of(const tacit__posterior_schedule *o)
{
    tacit__posterior_schedule timed;
    tacit_error err = {.message = ""};
    assert_ok(tacit__posterior_decide(o, &timed, &err));
    return timed;
}

/* Of a number of the last release. */
static double stddev_of(const tacit__posterior_schedule *o)
{
    SCOPED(tacit__curator) *c = weighted_create(o, 1);
    return tacit__stream_stddev(tacit__curator_stream(c, 0), tacit__curator_n_ends(c));
}

TEST(people_who_come_once_are_learned_from_to_the_end)
{
    const tacit__posterior_schedule once = options_of(1, 1), timed = timed_of(&once);
    assert_int_equal(timed.last, 50000);
    tacit__posterior_schedule exact = options_of(5, 10000);
    exact.counts.guarantee = (tacit_guarantee){TACIT_MODEL_NONE, 0, 0};
    assert_int_equal(timed_of(&exact).last, 50000);
}

/* Fewer visits before the last release, and fewer that meet in one batch: at most half of the noise, in these cases. */
TEST(releases_stop_before_visits_crowd)
{
    static const tacit__returning cases[] = {{5, 10000}, {10, 5000}, {30, 1000}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit__posterior_schedule o = options_of(cases[i].most, cases[i].apart),
                                        timed = timed_of(&o);
        tacit__posterior_schedule all = timed;
        all.last = o.counts.episodes;
        assert_true(timed.last < o.counts.episodes / 2 && timed.first < timed.last);
        assert_true(stddev_of(&timed) < 0.6 * stddev_of(&all));
        assert_int_equal(timed.counts.visits, o.counts.visits); /* what is declared stays */
        assert_int_equal(timed.counts.apart, o.counts.apart);
    }
}

/* What is given stays. */
TEST(given_moments_are_kept)
{
    tacit__posterior_schedule o = options_of(5, 10000);
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

/* Batches follow each other without a gap, grow as declared, and end with the last user. */
TEST(releases_come_when_the_schedule_says)
{
    enum { USERS = 300, STATES = 3, STEPS = 9 };
    static const tacit_guarantee promises[] = {{TACIT_MODEL_NONE, 0, 0},
                                               {TACIT_MODEL_JOINT, 1, 1e-6}};
    static const uint32_t states[STEPS + 1], actions[STEPS];
    static const double rewards[STEPS];
    const tacit_trajectory user = {STEPS_OF(states, actions, rewards)};
    for (size_t g = 0; g < 2; g++) {
        const tacit__posterior_schedule o = {
            .counts = {.space = {STATES, 2, STEPS, 1},
                       .episodes = USERS,
                       .guarantee = promises[g],
                       .mechanism = tacit_sum_default_mechanism(promises[g])},
            .growth = 1.3};
        SCOPED(tacit__curator) *c = weighted_create(&o, 5);
        uint64_t last = 0, first;
        assert_ok(tacit__posterior_first(&o, &first));
        for (uint64_t k = 0; k < USERS; k++) {
            const uint64_t shown = tacit__curator_shown(c), end = tacit__curator_batch_end(c);
            assert_true(shown <= k && k < end);
            if (end != last) { /* a new batch */
                const double grown = fmax((double)shown + 1, 1.3 * (double)shown);
                assert_true(shown == k && shown == last);
                assert_true(end == (shown == 0 ? first : (uint64_t)fmin(USERS, grown)));
                last = end;
            }
            assert_ok(weighted_add(c, &user));
        }
        assert_int_equal(last, USERS);
        assert_status(weighted_add(c, &user), TACIT_EXHAUSTED);
    }
}

/* --- Answers -------------------------------------------------------------------------------------- */

static tacit__posterior_schedule answering(tacit_model model, tacit__space space, double epsilon)
{
    return (tacit__posterior_schedule){.counts = {.space = space,
                                                  .episodes = 30000,
                                                  .guarantee = {model, epsilon, 0},
                                                  .mechanism = TACIT_SUM_SMOOTH},
                                       .growth = 1.4,
                                       .answers_growth = 1.12};
}

/* Counts where epsilon is small, where more than one answer of eight does not depend on the truth: 2 S A S / (e^epsilon + 2 S A
 * S), and where answers would miss steps of a single state. */
TEST(answers_are_given_where_nearly_all_are_true)
{
    static const struct {
        tacit__space space;
        double epsilon;
        bool answers;
    } cases[] = {{{10, 4, 20, 1}, 10, true}, {{10, 4, 20, 1}, 7, false},
                 {{8, 4, 6, 6}, 10, true},   {{20, 4, 20, 1}, 10, false},
                 {{20, 4, 5, 5}, 10, false}, {{20, 4, 5, 5}, 15, true},
                 {{1, 5, 1, 1}, 10, true},   {{1, 5, 10, 1}, 10, false},
                 {{1, 5, 10, 1}, 20, false}, {{2, 5, 10, 1}, 10, true}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        tacit__posterior_schedule o =
            answering(TACIT_MODEL_JOINT, cases[i].space, cases[i].epsilon);
        const tacit__posterior_schedule timed = timed_of(&o);
        assert_int_equal(timed.counts.answers, cases[i].answers);
        assert_true(timed.growth == (cases[i].answers ? 1.12 : 1.4));
        o.answers_growth = 0; /* counts were asked for */
        assert_false(timed_of(&o).counts.answers);
    }
}

/* max(c^2 q min(1, q / 4), 4) answers about each row, c = min(8, H), with q the noise's variance in units of that of chance; at
 * most K / 8 users. A row's visits are L S cells; with two questions they are told by S moves, of half of the answers, and by
 * 2 cells, of the other half; of a single step they are L cells. */
TEST(answers_wait_for_each_other_only_where_noise_dominates)
{
    static const struct {
        tacit__space space;
        double epsilon;
    } cases[] = {{{10, 4, 20, 1}, 5}, {{10, 4, 20, 1}, 7}, {{5, 2, 20, 1}, 5},
                 {{5, 2, 20, 1}, 3},  {{8, 4, 6, 6}, 10},  {{40, 4, 20, 1}, 10},
                 {{3, 2, 4, 1}, 3},   {{6, 2, 20, 1}, 40}, {{8, 4, 1, 1}, 3}};
    size_t dominated = 0, few = 0, cut = 0, apart = 0;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit__posterior_schedule o =
            answering(TACIT_MODEL_LOCAL, cases[i].space, cases[i].epsilon);
        tacit__table_answers_shape shape;
        assert_true(tacit__table_answers_find(&o.counts, &shape));
        const tacit__space sp = o.counts.space;
        const double rows = (double)(sp.tables * sp.n_states * sp.n_actions),
                     states = (double)sp.n_states, levels = (double)shape.levels,
                     cells = sp.horizon == 1 ? levels
                             : shape.apart   ? 1 / (1 / (2 * states) + 1 / 4.0)
                                             : levels * states,
                     q = rows * cells * shape.variance, c = fmin(8, (double)sp.horizon),
                     wanted = fmax(c * c * q * fmin(1, q / 4), 4) * rows / (double)shape.each;
        assert_int_equal(timed_of(&o).first, fmin(fmax(10, ceil(wanted)), 30000 / 8));
        apart += shape.apart;
        dominated += q >= 4 && wanted < 30000 / 8;
        few += q < 4 && c * c * q * q > 16 && wanted < 30000 / 8;
        cut += wanted > 30000 / 8;
    }
    assert_true(dominated > 0 && few > 0 && cut > 0 && apart > 0);
}
