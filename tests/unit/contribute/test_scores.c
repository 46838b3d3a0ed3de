/* Scores under the one curator: batches, sums, and what is refused. */
#include "contribute/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/door.h"
#include "base/memory.h"
#include "support/score_tables.h"

static tacit__scores_options options_for(tacit_guarantee guarantee, uint64_t users)
{
    return (tacit__scores_options){.form = draw_form(1, tacit__scores_are_pure(guarantee)),
                                   .episodes = users,
                                   .guarantee = guarantee};
}

static tacit__curator *hire_for(tacit_guarantee guarantee, uint64_t users, uint64_t first,
                                double growth)
{
    tacit__curator *c = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    assert_ok(hire_batches(options_for(guarantee, users), first, growth, 0, noise, &c));
    return c;
}

static tacit__curator *hire(tacit_model model, uint64_t users, uint64_t first, double growth)
{
    const bool none = model == TACIT_MODEL_NONE;
    return hire_for((tacit_guarantee){model, none ? 0 : 1, none ? 0 : 1e-5}, users, first, growth);
}

/* --- Batches and sums ------------------------------------------------------------------------------ */

TEST(batches_grow_and_a_short_rest_is_joined)
{
    static const struct {
        uint64_t users, first;
        double growth;
        size_t n;
        uint64_t ends[8];
    } cases[] = {{100, 10, 1.5, 7, {10, 15, 23, 35, 53, 80, 100}},
                 {88, 10, 1.5, 6, {10, 15, 23, 35, 53, 88}}, /* 8 is less than 0.3 of 27 */
                 {100, 10, 3, 3, {10, 30, 100}},
                 {100, 90, 1.5, 1, {100}},
                 {100, 200, 1.5, 1, {100}},
                 {7, 1, 1.1, 7, {1, 2, 3, 4, 5, 6, 7}},
                 {1, 1, 1.5, 1, {1}}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint64_t ends[8];
        const size_t n =
            tacit__schedule_batches(cases[i].users, cases[i].first, cases[i].growth, 0, NULL);
        assert_int_equal(n, cases[i].n);
        (void)tacit__schedule_batches(cases[i].users, cases[i].first, cases[i].growth, 0, ends);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(ends[k], cases[i].ends[k]);
    }
}

/* The variance of a number's noise in a sum, or in a user's report. */
static double variance_of(const tacit__curator *c)
{
    const double stddev = tacit__stream_stddev(tacit__curator_stream(c, 0), 1);
    return stddev * stddev;
}

/* The sums of a batch are those of its users' rows: exact without privacy, within ten standard deviations with it. */
static void check_sums(tacit_guarantee g, bool devices)
{
    enum { USERS = 60 };
    SCOPED(tacit__curator) *c = hire_for(g, USERS, 7, 2);
    const bool local = g.model == TACIT_MODEL_LOCAL;
    const double variance = g.model != TACIT_MODEL_NONE ? variance_of(c) : 0;
    uint64_t seed = 9;
    double exact[DIMENSION] = {0};
    size_t shown = 0;
    uint64_t begun = 0;
    for (uint64_t k = 0; k < USERS; k++) {
        user u;
        int64_t x[DIMENSION];
        const tacit_trajectory t = draw_user(&seed, &u);
        const tacit__score_form form = draw_form(1, tacit__scores_are_pure(g));
        tacit__scores_contribute(&form, &t, x);
        for (size_t h = 0; h < STEPS; h++) /* by hand */
            for (size_t i = 0; i < WIDTH; i++)
                exact[h * WIDTH + i] += ldexp(
                    scores[((u.states[h] * ACTIONS + u.actions[h]) * STATES + u.states[h + 1]) *
                               WIDTH +
                           i],
                    -BITS);
        exact[STEPS * WIDTH + u.states[0]] += ldexp((double)form.start, -BITS);
        if (devices) {
            uint8_t report[8 * DIMENSION];
            size_t size = 0;
            assert_ok(tacit__curator_report(c, NULL, NULL, &size, NULL));
            assert_int_equal(size, sizeof report);
            assert_ok(make_report(c, &t, report, &size));
            assert_ok(tacit__curator_check_report(c, report, sizeof report, NULL));
            assert_ok(tacit__curator_absorb(c, report, sizeof report, NULL));
        } else {
            assert_ok(add_user(c, &t));
        }
        assert_int_equal(tacit__curator_users(c), k + 1);
        if (tacit__curator_released(c) == shown)
            continue;
        const tacit__score_sums s = last_release(c, STEPS * WIDTH);
        const double n = (double)s.users, stddev = sqrt(variance * (local ? n : 1));
        assert_int_equal(tacit__curator_ends(c)[shown++], k + 1);
        assert_int_equal(s.users, k + 1 - begun);
        begun = k + 1;
        for (size_t i = 0; i < DIMENSION; i++) {
            const double got = i < STEPS * WIDTH ? s.sums[i] : s.starts[i - STEPS * WIDTH];
            assert_within(got - exact[i], -10 * stddev - 1e-9, 10 * stddev + 1e-9);
            exact[i] = 0;
        }
    }
    assert_int_equal(shown, tacit__curator_n_ends(c));
    assert_true(shown >= 2);
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    assert_status(add_user(c, &t), TACIT_EXHAUSTED);
}

/* Nothing after `last` is shown, and what is predicted is what the curator then declares. */
static void check_last(double delta)
{
    tacit__scores_options o = options_for((tacit_guarantee){TACIT_MODEL_JOINT, 1, delta}, 1000);
    uint64_t ends[100];
    double columns[2];
    o.visits = 5;
    o.apart = 100;
    for (int i = 0; i < 2; i++) {
        tacit_release line;
        o.batches = tacit__schedule_batches(1000, 10, 1.5, i == 0 ? 0 : 300, ends) - 1;
        assert_true(i == 0 ? ends[o.batches - 1] > 600
                           : ends[o.batches - 1] <= 300 && ends[o.batches - 1] > 200);
        assert_int_equal(ends[o.batches], 1000);
        const tacit__stream_spec stream = tacit__scores_stream(&o);
        assert_ok(tacit__curator_predict(&stream, ends, o.batches, &line, NULL));
        columns[i] = delta == 0 ? line.column_l1 : line.column_l2;
    }
    assert_true(columns[1] < 0.8 * columns[0] && columns[1] >= 1);
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    SCOPED(tacit__curator) *c = NULL;
    assert_ok(hire_batches(o, 10, 1.5, 300, noise, &c));
    const tacit_release *line = tacit_plan_release(tacit_ledger_plan(tacit__curator_ledger(c)), 0);
    assert_close(delta == 0 ? line->column_l1 : line->column_l2, columns[1], 1e-12);
}

TEST(releases_stop_where_they_are_told_to)
{
    check_last(1e-5);
    check_last(0);
}

TEST(sums_are_those_of_the_batch)
{
    check_sums((tacit_guarantee){.model = TACIT_MODEL_NONE}, false);
    for (int i = 0; i < 2; i++) {
        const double delta = i == 0 ? 1e-5 : 0;
        check_sums((tacit_guarantee){TACIT_MODEL_JOINT, 1, delta}, false);
        check_sums((tacit_guarantee){TACIT_MODEL_LOCAL, 1, delta}, false);
        check_sums((tacit_guarantee){TACIT_MODEL_LOCAL, 1, delta}, true);
    }
}

/* What passes the door: every sum, exact and released. */
typedef struct passed {
    int64_t exact[16][DIMENSION];
    double released[16][DIMENSION];
} passed;

static void record(void *context, const tacit__passage *p)
{
    passed *to = context;
    assert_true(p->step < 16 && p->offset == 0 && p->n == DIMENSION);
    memcpy(to->exact[p->step], p->exact, sizeof to->exact[0]);
    for (size_t i = 0; i < DIMENSION; i++)
        to->released[p->step][i] = ldexp((double)p->released[i], -BITS);
}

static tacit__curator *hire_fading(uint32_t fade)
{
    tacit__scores_options o = options_for((tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-5}, 200);
    tacit__curator *c = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    o.fade = fade;
    assert_ok(hire_batches(o, 7, 1.5, 0, noise, &c));
    return c;
}

/* Each sum has a share of the one before, in whole lattice steps; what the planner sees is without it. Replace the first user by
 * hand: all sums together move by no more than is declared, with the rounding, and by nearly all of it without. */
TEST(sums_that_fade_have_shares_of_earlier_ones)
{
    enum { FADE = 45678 };
    const double fade = FADE / 65536.0;
    double square = 0, first = 0;
    SCOPED(tacit__curator) *c = hire_fading(FADE), *d = hire_fading(FADE);
    static passed here, there;
    int64_t wanted[DIMENSION] = {0};
    double before[DIMENSION] = {0};
    uint64_t seed = 21;
    tacit__ledger_set_recorder(tacit__curator_ledger(c), record, &here);
    tacit__ledger_set_recorder(tacit__curator_ledger(d), record, &there);
    const tacit_release *line = tacit_plan_release(tacit_ledger_plan(tacit__curator_ledger(c)), 0);
    const tacit__score_form form = draw_form(1, false);
    for (uint64_t k = 0; k < 200; k++) {
        user u, v;
        int64_t x[DIMENSION];
        const tacit_trajectory t = draw_user(&seed, &u), other = draw_user(&seed, &v);
        const size_t shown = tacit__curator_released(c);
        tacit__scores_contribute(&form, &t, x);
        for (size_t i = 0; i < DIMENSION; i++)
            wanted[i] += x[i];
        assert_ok(add_user(c, &t));
        assert_ok(add_user(d, k == 0 ? &other : &t));
        if (tacit__curator_released(c) == shown)
            continue;
        const tacit__score_sums s = last_release(c, STEPS * WIDTH);
        double moved = 0;
        for (size_t i = 0; i < DIMENSION; i++) {
            assert_int_equal(here.exact[shown][i], wanted[i]);
            assert_close(s.sums[i], here.released[shown][i] - fade * before[i], 1e-9);
            moved += pow(ldexp((double)(here.exact[shown][i] - there.exact[shown][i]), -BITS), 2);
            before[i] = here.released[shown][i];
            wanted[i] = (int64_t)trunc((double)wanted[i] * FADE / 65536);
        }
        square += moved;
        first = shown == 0 ? moved : first;
    }
    const double n = (double)tacit__curator_n_ends(c), step = ldexp(1, -BITS);
    assert_true(n == 8 && first > 0);
    assert_within(line->l2 - form.l2, sqrt(n * DIMENSION) * step / (1 - fade) * (1 - 1e-6),
                  sqrt(n * DIMENSION) * step / (1 - fade) * (1 + 1e-6));
    assert_close(line->column_l2, sqrt((1 - pow(fade, 2 * n)) / (1 - fade * fade)), 1e-9);
    const double column = line->column_l2;
    assert_within(sqrt(square), 0.999 * sqrt(first) * column,
                  sqrt(first) * column + sqrt(n * DIMENSION) * step / (1 - fade));
}

/* Nothing raw is left after the last sum: a saved state then has none. */
TEST(the_last_sum_leaves_nothing)
{
    SCOPED(tacit__curator) *c = hire_fading(45678);
    uint64_t seed = 22;
    const uint64_t last = tacit__curator_ends(c)[tacit__curator_n_ends(c) - 1];
    for (uint64_t k = 0; k < last; k++) {
        user u;
        const tacit_trajectory t = draw_user(&seed, &u);
        assert_ok(add_user(c, &t));
        uint8_t bytes[4096];
        size_t size = sizeof bytes;
        tacit__saved s = tacit__saved_save(bytes, &size, NULL);
        while (tacit__saved_next(&s))
            (void)tacit__curator_fields(c, &s);
        assert_ok(s.status);
        const int64_t none[DIMENSION] = {0};
        /* after the position: users, turns, and whether what is shown is fresh */
        assert_true((memcmp(bytes + 24, none, sizeof none) == 0) == (k + 1 == last));
    }
}

TEST(users_outside_the_space_are_refused_and_change_nothing)
{
    SCOPED(tacit__curator) *c = hire(TACIT_MODEL_JOINT, 20, 5, 2);
    uint64_t seed = 1;
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    u.states[HORIZON] = STATES;
    assert_status(add_user(c, &t), TACIT_OUT_OF_BOUND);
    u.states[HORIZON] = 0;
    u.actions[HORIZON - 1] = ACTIONS;
    assert_status(add_user(c, &t), TACIT_OUT_OF_BOUND);
    u.actions[HORIZON - 1] = 0;
    u.rewards[1] = (double)NAN;
    assert_status(add_user(c, &t), TACIT_OUT_OF_BOUND);
    u.rewards[1] = 1;
    assert_int_equal(tacit__curator_users(c), 0);
    assert_ok(add_user(c, &t));
    assert_int_equal(tacit__curator_users(c), 1);
}

TEST(reports_that_no_device_makes_are_refused)
{
    SCOPED(tacit__curator) *c = hire(TACIT_MODEL_LOCAL, 20, 5, 2);
    uint64_t seed = 1;
    user u;
    const tacit_trajectory t = draw_user(&seed, &u);
    uint8_t report[8 * DIMENSION], bad[8 * DIMENSION];
    static const double wrong[] = {0.1 / (1 << BITS), 1e300, -HUGE_VAL, (double)NAN};
    size_t size = sizeof report;
    assert_ok(make_report(c, &t, report, &size));
    for (size_t i = 0; i < N_OF(wrong); i++) {
        memcpy(bad, report, sizeof bad);
        memcpy(bad + 8 * 4, &wrong[i], 8);
        assert_status(tacit__curator_absorb(c, bad, sizeof bad, NULL), TACIT_OUT_OF_BOUND);
    }
    assert_status(tacit__curator_absorb(c, report, sizeof report - 8, NULL), TACIT_OUT_OF_BOUND);
    assert_int_equal(tacit__curator_users(c), 0);
    assert_ok(tacit__curator_absorb(c, report, sizeof report, NULL));
}

/* Laplace noise of scale b has the variance 2 b^2, and epsilon is the reach divided by b. */
TEST(pure_privacy_has_laplace_noise_of_the_reach_in_l1)
{
    for (int i = 0; i < 2; i++) {
        const tacit_guarantee g = {i == 0 ? TACIT_MODEL_JOINT : TACIT_MODEL_LOCAL, 2, 0};
        SCOPED(tacit__curator) *c = hire_for(g, 20, 5, 2);
        const double scale = draw_form(1, true).l1 / 2;
        assert_true(tacit_plan_law(tacit_ledger_plan(tacit__curator_ledger(c))) ==
                    TACIT_LAW_LAPLACE);
        assert_close(variance_of(c), 2 * scale * scale, 1e-9);
    }
}

TEST(pure_privacy_needs_a_reach_in_l1)
{
    tacit__scores_options o = options_for((tacit_guarantee){TACIT_MODEL_JOINT, 1, 0}, 10);
    tacit__curator_spec spec;
    o.form = draw_form(1, false);
    assert_status(tacit__scores_describe(&o, &spec, NULL), TACIT_UNSUPPORTED);
}

TEST(no_memory_is_survived)
{
    const tacit__scores_options o = options_for((tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-5}, 10);
    SCOPED(tacit__curator) *c = NULL;
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    assert_survives_no_memory(hire_batches(o, 2, 2, 0, noise, &c), );
}
