/* What the tabular curator shows: how far off it may be, and what single-step reports add up to. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contribute/levels.h"
#include "release/schedule.h"
#include "support/check.h"
#include "support/random.h"
#include "support/tabular_curator.h"

enum { S = 3, A = 2, H = 4, ROWS = H * S * A, USERS = 300 };

TEST(levels_are_quantiles_of_sums_of_draws)
{
    static const double etas[] = {0.2, 1e-3, 1e-8, 1e-14};
    for (size_t i = 0; i < sizeof etas / sizeof *etas; i++) {
        const double eta = etas[i];
        for (double m = 1; m < 1e6; m *= 7)
            assert_close(erfc(tacit__level_gaussian(m, eta) / sqrt(2 * m)), eta, 1e-6);
        /* P(sum > y) <= exp(-u y) / (1 - u^2)^m for every u in (0, 1); the best one gives both sides eta */
        for (double m = 1; m < 1e6; m *= 7) {
            double y = tacit__level_laplace(m, eta), best = HUGE_VAL;
            for (double u = 0; u < 1; u += 1e-4)
                best = fmin(best, 2 * exp(-u * y - m * log1p(-u * u)));
            assert_close(best, eta, m < 1e4 ? 1e-3 : 0.2); /* as fine as the steps of u */
        }
        /* one draw: P(|X| > y) = exp(-y); two: exp(-y) (1 + y / 2). By Chernoff's bound, so less than eta */
        const double one = tacit__level_laplace(1, eta), two = tacit__level_laplace(2, eta);
        assert_within(exp(-one) / eta, 1e-3, 1);
        assert_within(exp(-two) * (1 + two / 2) / eta, 1e-3, 1);
        /* many: nearly normal with variance 2 m */
        const double many = tacit__level_laplace(1e8, eta);
        assert_within(erfc(many / sqrt(4e8)) / eta, 1e-2, 1);
    }
}

typedef struct counted {
    double visits[ROWS], moves[ROWS * S], rewards[ROWS];
} counted;

static void walk(uint64_t *seed, uint32_t *states, uint32_t *actions, double *rewards)
{
    for (size_t h = 0; h <= H; h++)
        states[h] = (uint32_t)random_below(seed, S);
    for (size_t h = 0; h < H; h++) {
        actions[h] = (uint32_t)random_below(seed, A);
        rewards[h] = random_unit(seed);
    }
}

static void count(size_t tables, const uint32_t *states, const uint32_t *actions,
                  const double *rewards, counted *c)
{
    for (size_t h = 0; h < H; h++) {
        size_t row = ((tables == 1 ? 0 : h) * S + states[h]) * A + actions[h];
        c->visits[row] += 1;
        c->moves[row * S + states[h + 1]] += 1;
        c->rewards[row] += rewards[h] - 0.5;
    }
}

static tacit__curator *open_with(tacit__tabular_options o, uint64_t seed)
{
    tacit__curator *curator;
    tacit_error err;
    o.episodes = USERS + 1;
    o.mechanism = tacit_sum_default_mechanism(o.guarantee);
    o.centered = true;
    o.user_norm = 1;
    o.failure = 0.3;
    o.weight_visits = 14;
    o.weight_moves = 12;
    o.weight_rewards = 1;
    SCOPED(tacit_noise) *noise = simulated_noise(seed);
    assert_ok(tabular_create(&o, noise, &curator, &err));
    return curator;
}

static tacit__curator *open(tacit_guarantee g, size_t tables, bool one_step, uint64_t seed)
{
    return open_with(
        (tacit__tabular_options){.space = {S, A, H, tables}, .guarantee = g, .one_step = one_step},
        seed);
}

/* A curator with hardly any noise, which counts the first `visits` of a user's visits of a cell. */
static tacit__curator *open_few(tacit_model model, uint64_t visits)
{
    return open_with((tacit__tabular_options){.space = {S, A, H, 1},
                                              .guarantee = {model, 1e9, 1e-6},
                                              .user_visits = visits},
                     8);
}

/* The largest |shown - exact| as a share of the level. */
static double share(const double *shown, const double *exact, size_t n, double level)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(shown[i] - exact[i]) / level);
    return worst;
}

/* All cells and all releases together may exceed their levels with probability failure / 3 = 0.1; unions are generous, so it is
 * far less often, but the levels must not be larger than they need to be either. Twelve runs for each promise: more than 5
 * failures have a probability of at most 5e-4 each time, if the levels are right. Seeds are fixed. */
TEST(releases_keep_to_their_levels)
{
    const tacit_guarantee promises[] = {{TACIT_MODEL_JOINT, 1, 0},
                                        {TACIT_MODEL_JOINT, 1, 1e-6},
                                        {TACIT_MODEL_LOCAL, 1, 0},
                                        {TACIT_MODEL_LOCAL, 1, 1e-6}};
    uint64_t seed = 1;
    for (size_t p = 0; p < sizeof promises / sizeof *promises; p++)
        for (size_t tables = 1; tables <= H; tables += H - 1) {
            double worst[3] = {0};
            int failures = 0;
            for (uint64_t run = 0; run < 12; run++) {
                static counted exact;
                SCOPED(tacit__curator) *curator = open(promises[p], tables, false, 100 + run);
                bool failed = false;
                memset(&exact, 0, sizeof exact);
                for (int k = 0; k < USERS; k++) {
                    uint32_t states[H + 1], actions[H];
                    double rewards[H];
                    tacit__counts c;
                    walk(&seed, states, actions, rewards);
                    count(tables, states, actions, rewards, &exact);
                    tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
                    assert_ok(tabular_add(curator, &t));
                    c = tabular_counts(curator);
                    const size_t rows = tables * S * A;
                    const double now[] = {share(c.visits, exact.visits, rows, c.visits_error),
                                          share(c.moves, exact.moves, rows * S, c.moves_error),
                                          share(c.rewards, exact.rewards, rows, c.rewards_error)};
                    for (int i = 0; i < 3; i++) {
                        worst[i] = fmax(worst[i], now[i]);
                        failed = failed || now[i] > 1;
                    }
                }
                failures += failed;
            }
            assert_true(failures <= 5);
            for (int i = 0; i < 3; i++)
                assert_true(worst[i] >
                            0.4); /* a level of thrice the largest error would be waste */
        }
}

/* Without noise to speak of, a report about step h stands for H users at that step, and nothing else. */
TEST(single_step_reports_stand_for_all_steps)
{
    const tacit_guarantee hardly = {TACIT_MODEL_LOCAL, 1e12, 0};
    static counted exact;
    uint64_t seed = 2;
    SCOPED(tacit__curator) *curator = open(hardly, H, true, 7);
    tacit__counts c;
    memset(&exact, 0, sizeof exact);
    for (int k = 0; k < USERS; k++) {
        uint32_t states[H + 1], actions[H];
        double rewards[H], total = 0;
        walk(&seed, states, actions, rewards);
        count(H, states, actions, rewards, &exact);
        tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
        assert_ok(tabular_add(curator, &t));
        c = tabular_counts(curator);
        for (size_t row = 0; row < ROWS; row++)
            total += c.visits[row];
        assert_within(total, H * (k + 1) - 1e-3, H * (k + 1) + 1e-3);
    }
    for (size_t row = 0; row < ROWS; row++) {
        double moves = 0;
        for (size_t next = 0; next < S; next++)
            moves += c.moves[row * S + next];
        assert_within(moves, c.visits[row] - 1e-3, c.visits[row] + 1e-3);
        assert_true(fabs(c.rewards[row]) <= 0.5 * c.visits[row] + 1e-3);
        /* sampling: a visit is reported with probability 1 / H and then counts H, so the variance is (H - 1) N. Six
         * deviations on 24 cells: a false alarm once in 10^7 seeds */
        assert_true(fabs(c.visits[row] - exact.visits[row]) <=
                    6 * sqrt((H - 1) * exact.visits[row]));
    }
}

TEST(the_first_visits_of_a_user_count)
{
    for (uint64_t most = 1; most <= H; most++)
        for (int local = 0; local < 2; local++) {
            static counted exact;
            uint64_t seed = 3;
            SCOPED(tacit__curator) *curator =
                open_few(local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, most);
            tacit__counts c;
            memset(&exact, 0, sizeof exact);
            for (int k = 0; k < USERS; k++) {
                uint32_t states[H + 1], actions[H];
                double rewards[H];
                walk(&seed, states, actions, rewards);
                for (size_t h = 0; h < H; h++) {
                    uint64_t before = 0;
                    for (size_t i = 0; i < h; i++)
                        before += states[i] == states[h] && actions[i] == actions[h];
                    if (before >= most)
                        continue;
                    size_t row = states[h] * A + actions[h];
                    exact.visits[row] += 1;
                    exact.moves[row * S + states[h + 1]] += 1;
                    exact.rewards[row] += rewards[h] - 0.5;
                }
                tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
                assert_ok(tabular_add(curator, &t));
            }
            c = tabular_counts(curator);
            assert_true(share(c.visits, exact.visits, S * A, 1) < 0.02);
            assert_true(share(c.moves, exact.moves, S * A * S, 1) < 0.02);
            assert_true(share(c.rewards, exact.rewards, S * A, 1) < 0.02);
        }
}

/* Whether a visit counts is known before its next state is: over all trajectories of a chain, weighted by their probabilities,
 * moves are visits times transition probabilities, however few visits count. (The last visits would not do.) */
TEST(leaving_out_later_visits_biases_nothing)
{
    static const double p[2][2] = {{0.3, 0.7}, {0.9, 0.1}};
    for (uint64_t most = 1; most <= H; most++) {
        double visits[2] = {0}, moves[2][2] = {{0}};
        for (unsigned path = 0; path < 1U << H; path++) {
            uint32_t states[H + 1] = {0}, actions[H] = {0};
            double rewards[H] = {0}, weight = 1;
            for (size_t h = 0; h < H; h++) {
                states[h + 1] = path >> h & 1U;
                weight *= p[states[h]][states[h + 1]];
            }
            SCOPED(tacit__curator) *curator = open_few(TACIT_MODEL_JOINT, most);
            tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
            tacit__counts c;
            assert_ok(tabular_add(curator, &t));
            c = tabular_counts(curator);
            for (size_t s = 0; s < 2; s++) {
                visits[s] += weight * c.visits[s * A];
                for (size_t next = 0; next < 2; next++)
                    moves[s][next] += weight * c.moves[s * A * S + next];
            }
        }
        for (size_t s = 0; s < 2; s++)
            for (size_t next = 0; next < 2; next++)
                assert_within(moves[s][next] - visits[s] * p[s][next], -0.002, 0.002);
    }
}

/* Another curator in the same state, by its saved bytes; the first is gone. */
static tacit__curator *restore(tacit__curator *curator, const tacit__tabular_options *o,
                               tacit_noise *noise)
{
    static uint8_t bytes[1 << 20];
    size_t length = sizeof bytes;
    tacit__curator *other;
    tacit__saved s = tacit__saved_save(bytes, &length, NULL);
    while (tacit__saved_next(&s))
        (void)tacit__curator_fields(curator, &s);
    assert_ok(s.status);
    assert_ok(tabular_create(o, noise, &other, NULL));
    s = tacit__saved_load(bytes, length, NULL);
    while (tacit__saved_next(&s))
        (void)tacit__curator_fields(other, &s);
    assert_ok(s.status);
    tacit__curator_destroy(curator);
    return other;
}

/* What is counted, under a promise with hardly any noise (or none): released, reported, and saved halfway. */
static void check_counts(tacit__tabular_options o, size_t moves, size_t numbers)
{
    static counted exact;
    static uint8_t report[8 * (1 + 2 * ROWS + ROWS * S)];
    uint64_t seed = 3;
    const size_t rows = o.space.tables * S * A;
    SCOPED(tacit__curator) *curator = NULL;
    tacit__counts c;
    tacit_error err;
    SCOPED(tacit_noise) *noise = simulated_noise(5);
    assert_ok(tabular_create(&o, noise, &curator, &err));
    memset(&exact, 0, sizeof exact);
    for (int k = 0; k < USERS; k++) {
        uint32_t states[H + 1], actions[H];
        double rewards[H];
        walk(&seed, states, actions, rewards);
        count(o.space.tables, states, actions, rewards, &exact);
        tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
        if (o.guarantee.model == TACIT_MODEL_LOCAL) {
            size_t size = sizeof report;
            assert_ok(tacit__curator_report(curator, &(tacit__user_view){.trajectory = &t}, report,
                                            &size, &err));
            assert_int_equal(size, 8 * (1 + numbers));
            assert_status(tacit__curator_absorb(curator, report, size - 8, &err),
                          TACIT_OUT_OF_BOUND);
            assert_ok(tacit__curator_absorb(curator, report, size, &err));
        } else {
            assert_ok(tabular_add(curator, &t));
        }
        if (k % 3 == 0)
            c = tabular_counts(curator);
        if (k == USERS / 2)
            curator = restore(curator, &o, noise);
    }
    c = tabular_counts(curator);
    assert_int_equal(c.drop_last, o.drop_last);
    assert_true(share(c.visits, exact.visits, rows, 1e-2) <= 1);
    assert_true(share(c.moves, exact.moves, moves, 1e-2) <= 1);
    assert_true(share(c.rewards, exact.rewards, rows, 1e-2) <= 1);
}

static tacit__tabular_options options_of(tacit_guarantee g, size_t tables)
{
    return (tacit__tabular_options){.space = {S, A, H, tables},
                                    .episodes = USERS + 1,
                                    .guarantee = g,
                                    .mechanism = tacit_sum_default_mechanism(g),
                                    .centered = true,
                                    .user_norm = 1,
                                    .failure = 0.3,
                                    .weight_visits = 14,
                                    .weight_moves = 12,
                                    .weight_rewards = 1};
}

static const tacit_guarantee exact_or_nearly[] = {{TACIT_MODEL_NONE, 0, 0},
                                                  {TACIT_MODEL_JOINT, 1e12, 0},
                                                  {TACIT_MODEL_JOINT, 1e12, 1e-6},
                                                  {TACIT_MODEL_LOCAL, 1e12, 0}};
enum { PROMISES = sizeof exact_or_nearly / sizeof *exact_or_nearly };

static void refused(const tacit__tabular_options *o)
{
    tacit__curator *curator;
    tacit_error err;
    SCOPED(tacit_noise) *noise = simulated_noise(5);
    assert_status(tabular_create(o, noise, &curator, &err), TACIT_UNSUPPORTED);
}

/* All steps but the last are counted as they were; of the last, visits and rewards. */
TEST(the_moves_of_the_last_step_are_not_counted)
{
    for (size_t p = 0; p < PROMISES; p++) {
        tacit__tabular_options o = options_of(exact_or_nearly[p], H);
        const size_t moves = (ROWS - S * A) * S;
        o.drop_last = true;
        check_counts(o, moves, 2 * ROWS + moves);
        o.space.tables = 1;
        refused(&o);
    }
}

TEST(visits_are_sums_of_moves_with_two_streams)
{
    for (size_t p = 0; p < PROMISES; p++)
        for (size_t tables = 1; tables <= H; tables += H - 1) {
            tacit__tabular_options o = options_of(exact_or_nearly[p], tables);
            const size_t rows = tables * S * A;
            o.visits_from_moves = true;
            if (o.guarantee.model == TACIT_MODEL_NONE) {
                refused(&o);
                continue;
            }
            check_counts(o, rows * S, rows * S + rows);
            o.drop_last = true;
            refused(&o);
        }
}

/* Their levels are those of sums of S times as many draws. Here too all cells and releases may fail with probability 0.1 at most,
 * and more than 5 failures of 12 have a probability of 5e-4. */
TEST(visits_that_are_sums_keep_to_their_levels)
{
    const tacit_guarantee promises[] = {{TACIT_MODEL_JOINT, 1, 0},
                                        {TACIT_MODEL_JOINT, 1, 1e-6},
                                        {TACIT_MODEL_LOCAL, 1, 0},
                                        {TACIT_MODEL_LOCAL, 1, 1e-6}};
    uint64_t seed = 4;
    for (size_t p = 0; p < sizeof promises / sizeof *promises; p++) {
        double worst = 0;
        int failures = 0;
        for (uint64_t run = 0; run < 12; run++) {
            static counted exact;
            tacit__tabular_options o = options_of(promises[p], H);
            bool failed = false;
            SCOPED(tacit__curator) *curator = NULL;
            tacit_error err;
            o.visits_from_moves = true;
            SCOPED(tacit_noise) *noise = simulated_noise(200 + run);
            assert_ok(tabular_create(&o, noise, &curator, &err));
            memset(&exact, 0, sizeof exact);
            for (int k = 0; k < USERS; k++) {
                uint32_t states[H + 1], actions[H];
                double rewards[H];
                tacit__counts c;
                walk(&seed, states, actions, rewards);
                count(H, states, actions, rewards, &exact);
                assert_ok(
                    tabular_add(curator, &(tacit_trajectory){STEPS_OF(states, actions, rewards)}));
                c = tabular_counts(curator);
                const double now = share(c.visits, exact.visits, ROWS, c.visits_error);
                worst = fmax(worst, now);
                failed = failed || now > 1 ||
                         share(c.moves, exact.moves, ROWS * S, c.moves_error) > 1 ||
                         share(c.rewards, exact.rewards, ROWS, c.rewards_error) > 1;
                for (size_t row = 0; row < ROWS; row++)
                    assert_within(c.moves[row * S] + c.moves[row * S + 1] + c.moves[row * S + 2],
                                  c.visits[row] - 1e-9, c.visits[row] + 1e-9);
            }
            failures += failed;
        }
        assert_true(failures <= 5);
        assert_true(worst > 0.4);
    }
}

/* Rare releases: counts are those of the users at the last moment, the plan declares as many releases as there are moments, and a
 * state that was saved between two of them goes on alike. */
TEST(rare_releases_show_the_users_of_their_moments)
{
    static counted exact, at_moment;
    tacit__tabular_options o = options_of((tacit_guarantee){TACIT_MODEL_JOINT, 1e12, 1e-6}, 1);
    uint64_t seed = 6, due = 1, moments = 0;
    tacit_noise *noise;
    tacit__curator *curator;
    tacit__counts c;
    tacit_error err;
    o.n_ends = (size_t)tacit__schedule_count(USERS, 1.3, NULL);
    uint64_t *ends = tacit__schedule_ends(USERS, 1.3, o.n_ends);
    o.ends = ends;
    assert_ok(tacit_noise_create_simulated(5, &noise));
    assert_ok(tabular_create(&o, noise, &curator, &err));
    memset(&exact, 0, sizeof exact);
    memset(&at_moment, 0, sizeof at_moment);
    for (uint64_t k = 1; k <= USERS; k++) {
        uint32_t states[H + 1], actions[H];
        double rewards[H];
        walk(&seed, states, actions, rewards);
        count(1, states, actions, rewards, &exact);
        tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
        assert_ok(tabular_add(curator, &t));
        if (k == due) {
            at_moment = exact;
            moments++;
            due = (uint64_t)fmax((double)due + 1, floor(1.3 * (double)due));
        }
        c = tabular_counts(curator);
        assert_true(c.users <= k && c.users > 0);
        assert_true(share(c.visits, at_moment.visits, S * A, 1e-2) <= 1);
        assert_true(share(c.moves, at_moment.moves, S * A * S, 1e-2) <= 1);
        assert_true(share(c.rewards, at_moment.rewards, S * A, 1e-2) <= 1);
        if (k == USERS / 2)
            curator = restore(curator, &o, noise);
    }
    const tacit_plan *plan = tacit_ledger_plan(tacit__curator_ledger(curator));
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        assert_int_equal(tacit_plan_release(plan, i)->steps, moments);
        assert_int_equal(tacit_ledger_passed(tacit__curator_ledger(curator), i), moments);
    }
    tacit__curator_destroy(curator);
    tacit_noise_destroy(noise);
    o.guarantee = (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 1e-6};
    o.mechanism = TACIT_SUM_LOCAL;
    refused(&o);
    tacit__free(ends);
}

/* A total that nobody but the test keeps: the counts without noise. */
TEST(contributions_add_up_to_the_exact_counts)
{
    static counted exact;
    tacit__tabular_options o = options_of((tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6}, H);
    o.drop_last = true;
    SCOPED(tacit_noise) *noise = simulated_noise(5);
    SCOPED(tacit__curator) *curator = NULL;
    assert_ok(tabular_create(&o, noise, &curator, NULL));
    const tacit__tabular_rule *rule = tacit__tabular_rule_of(tacit__curator_form(curator));
    SCOPED(tacit__tabular_user) *made = tacit__tabular_user_create(&o);
    double sums[2][ROWS * S] = {{0}};
    uint64_t seed = 9;
    memset(&exact, 0, sizeof exact);
    assert_non_null(made);
    for (int k = 0; k < USERS; k++) {
        uint32_t states[H + 1], actions[H];
        double rewards[H];
        walk(&seed, states, actions, rewards);
        count(H, states, actions, rewards, &exact);
        const tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
        assert_ok(tacit__tabular_contribute(rule, &t, 0, H, made, NULL));
        for (int which = TACIT__VISITS; which <= TACIT__MOVES; which++)
            for (size_t i = 0; i < made->stream[which].n; i++)
                sums[which][made->stream[which].index[i]] +=
                    ldexp((double)made->stream[which].value[i], -rule->lattice[which].bits);
    }
    assert_memory_equal(sums[TACIT__VISITS], exact.visits, sizeof exact.visits);
    assert_memory_equal(sums[TACIT__MOVES], exact.moves, (ROWS - S * A) * S * sizeof *exact.moves);
}
