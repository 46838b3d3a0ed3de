/* What Gram matrices are made of, whatever the lens says; and the room for their lattice. */
#include "contribute/gram.h"

#include <math.h>
#include <string.h>

#include "contribute/levels.h"
#include "linalg/symmetric.h"
#include "sums/lattice.h"
#include "sums/sum_inside.h"
#include "support/check.h"
#include "support/grams.h"

SCOPED_TYPE(tacit__curator, tacit__curator_destroy)

enum {
    STATES = 3,
    ACTIONS = 2,
    PAIRS = STATES * ACTIONS,
    HORIZON = 3,
    STEPS = HORIZON - 1,
    WIDTH = 2
};
#define FAILURE 1e-6
enum { PACKED = WIDTH * (WIDTH + 1) / 2, CELL = PACKED + WIDTH };

static const uint32_t states[] = {2, 1, 0, 0}, actions[] = {1, 0, 1};
static const double rewards[] = {0, 1, 0};
static const tacit_trajectory user = {STEPS_OF(states, actions, rewards)};

/* Kernels over sqrt(2): part 0 stays, part 1 goes on. */
static double table[STATES * WIDTH * PAIRS];

static void fill_table(void)
{
    for (size_t p = 0; p < PAIRS; p++) {
        size_t s = p / ACTIONS;
        table[(s * WIDTH + 0) * PAIRS + p] = M_SQRT1_2;
        table[((s + 1) % STATES * WIDTH + 1) * PAIRS + p] = M_SQRT1_2;
    }
}

static tacit__gram_options options_of(uint64_t episodes, tacit_guarantee g, const double *parts,
                                      bool centered)
{
    return (tacit__gram_options){SPACE_OF(STATES, ACTIONS, HORIZON),
                                 .episodes = episodes,
                                 .guarantee = g,
                                 .mechanism = tacit_sum_default_mechanism(g),
                                 .failure = FAILURE,
                                 .n_streams = 1,
                                 .streams = {{.name = "transitions",
                                              .frame = {STEPS, 1, WIDTH, PAIRS},
                                              .centered = centered,
                                              .table = parts,
                                              .parameter_norm = 1,
                                              .share = 1}}};
}

static tacit__curator *start_rare(uint64_t episodes, tacit_guarantee g, const double *parts,
                                  bool centered, double growth)
{
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    return grams_create(options_of(episodes, g, parts, centered), growth, noise);
}

static tacit__curator *start(uint64_t episodes, tacit_guarantee g, const double *parts,
                             bool centered)
{
    return start_rare(episodes, g, parts, centered, 0);
}

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6};

static const tacit__gram_form *form_of(const tacit__curator *c)
{
    return tacit__gram_form_of(tacit__curator_form(c), 0);
}

/* The user's contribution in units of the data, off by at most `tol`. */
typedef struct contribution {
    double x[STEPS * CELL], tol;
} contribution;

static contribution contribute(tacit__curator *c, const tacit__lens *lens)
{
    const tacit__gram_form *f = form_of(c);
    double x[STEPS * CELL] = {0}, step[WIDTH];
    int64_t placed[STEPS * CELL];
    contribution out = {.tol = ldexp(1, -f->lattice.bits)};
    assert_true(tacit__frame_size(&f->o.frame) == STEPS * CELL && out.tol < 1e-6);
    assert_ok(tacit__gram_contribute(f, &user, lens, x, step, placed, NULL));
    for (size_t i = 0; i < STEPS * CELL; i++) {
        out.x[i] = out.tol * (double)placed[i];
        assert_true(x[i] == 0);
    }
    return out;
}

/* The squared length of the features that went into a step: the trace of its Gram matrix. */
static double trace(const contribution *made, size_t h)
{
    double sum = 0;
    for (size_t j = 0; j < WIDTH; j++)
        sum += made->x[h * CELL + tacit__packed_size(j + 1) - 1];
    return sum;
}

/* A lens that says anything: its features are not looked at, its values are cut to their range. */
TEST(with_a_table_features_are_the_tables)
{
    static const double lies[STEPS * WIDTH * PAIRS] = {
        [0] = 1e9, [5] = (double)NAN, [11] = -HUGE_VAL};
    static const double values[STEPS * STATES] = {9, -0.5, (double)NAN, -HUGE_VAL, 0.25, HUGE_VAL};
    static const double cut[STEPS * STATES] = {1, -0.5, -1, -1, 0.25, 1};
    const tacit__lens lens = {.features = lies, .stride = WIDTH * PAIRS, .targets = values};
    fill_table();
    SCOPED(tacit__curator) *c = start(1000, joint, table, true);
    const double ratio = form_of(c)->ratio;
    const contribution made = contribute(c, &lens);
    for (size_t h = 0; h < STEPS; h++) {
        const double *v = cut + h * STATES, *at = made.x + h * CELL;
        double x[] = {M_SQRT1_2 * v[states[h]], M_SQRT1_2 * v[(states[h] + 1) % STATES]};
        double y = v[states[h + 1]];
        assert_true(fabs(at[0] - x[0] * x[0]) <= made.tol);
        assert_true(fabs(at[1] - M_SQRT2 * x[0] * x[1]) <= made.tol);
        assert_true(fabs(at[2] - x[1] * x[1]) <= made.tol);
        assert_true(fabs(at[3] - ratio * x[0] * y) <= made.tol);
        assert_true(fabs(at[4] - ratio * x[1] * y) <= made.tol);
    }
}

/* The second line of defense: a table that breaks its bound is cut to the radius. */
TEST(features_of_a_table_that_is_too_long_are_cut)
{
    static const double values[STEPS * STATES] = {1, 1, 1, 1, 1, 1};
    double longer[STATES * WIDTH * PAIRS];
    const tacit__lens lens = {.targets = values};
    fill_table();
    for (size_t i = 0; i < STATES * WIDTH * PAIRS; i++)
        longer[i] = 1.21 * table[i];
    SCOPED(tacit__curator) *c = start(1000, joint, longer, true);
    const contribution made = contribute(c, &lens);
    for (size_t h = 0; h < STEPS; h++)
        assert_within(trace(&made, h), 1 - WIDTH * made.tol, 1 + WIDTH * made.tol);
}

TEST(without_a_table_features_targets_and_weights_are_cut)
{
    double features[STEPS * WIDTH * PAIRS], values[STEPS * STATES], weights[STEPS * PAIRS];
    for (size_t i = 0; i < STEPS * WIDTH * PAIRS; i++)
        features[i] = i % 2 == 0 ? 3 : -4;
    for (size_t i = 0; i < STEPS * STATES; i++)
        values[i] = i % 2 == 0 ? 7 : -7;
    for (size_t i = 0; i < STEPS * PAIRS; i++)
        weights[i] = 5;
    const tacit__lens lens = {
        .features = features, .stride = WIDTH * PAIRS, .targets = values, .weights = weights};
    SCOPED(tacit__curator) *c = start(1000, joint, NULL, true);
    const double ratio = form_of(c)->ratio;
    const contribution made = contribute(c, &lens);
    const double tol = WIDTH * made.tol;
    for (size_t h = 0; h < STEPS; h++) {
        const double *at = made.x + h * CELL;
        assert_within(trace(&made, h), 1 - tol, 1 + tol);
        assert_within(hypot(at[PACKED], at[PACKED + 1]) / ratio, 1 - tol / ratio, 1 + tol / ratio);
    }
}

/* Two users differ by half a step each, in every coordinate in which they can: the declared movement covers it for the
 * lattice that is really chosen, however many users there are. */
TEST(the_declared_movement_has_room_for_the_lattice)
{
    static const uint64_t users[] = {2, 1000, 100000000};
    fill_table();
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        for (int how = 0; how < 3; how++) {
            tacit_guarantee g = {how == 1 ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, 1,
                                 how == 2 ? 0 : 1e-6};
            /* blt walks through all of its users when it is made */
            const tacit__gram_options o =
                options_of(how == 0 && i == 2 ? 1000000 : users[i], g, NULL, true);
            tacit__curator_spec spec;
            assert_ok(tacit__gram_describe(&o, &spec, NULL));
            const tacit__gram_form f = *tacit__gram_form_of(spec.form, 0);
            const tacit_sum_spec *s = &spec.streams[0].sum;
            tacit__lattice lattice;
            assert_ok(tacit__lattice_choose(s, s->dimension, &lattice, NULL));
            double step = ldexp(1, -lattice.bits), n = (double)s->dimension;
            assert_true(s->sensitivity_l2 >= sqrt(STEPS * f.reach) + sqrt(n) * step);
            assert_true(s->bound.l2 >= sqrt(STEPS * (1 + f.ratio * f.ratio)) + sqrt(n) * step / 2);
            assert_true(s->sensitivity_l2 <= sqrt(STEPS * f.reach) * (1 + 1e-3));
            spec.statistic->destroy(spec.form);
        }
}

static double scale_of(const tacit__curator *c)
{
    return tacit__stream_scale(tacit__curator_stream(c, 0));
}

/* Parts that go anywhere half of the time are more alike. */
TEST(a_public_table_needs_less_noise)
{
    double alike[STATES * WIDTH * PAIRS];
    fill_table();
    for (size_t i = 0; i < STATES * WIDTH * PAIRS; i++)
        alike[i] = table[i] / 2 + M_SQRT1_2 / (2 * STATES);
    SCOPED(tacit__curator) *ball = start(1000, joint, NULL, true),
                           *known = start(1000, joint, alike, true);
    const double less = form_of(known)->reach / form_of(ball)->reach;
    const tacit_plan *plan = tacit_ledger_plan(tacit__curator_ledger(known));
    assert_true(less <= 0.7);
    assert_close(scale_of(known) / scale_of(ball), sqrt(less), 1e-6);
    assert_non_null(strstr(tacit_plan_release(plan, 0)->reason, "public table"));
}

/* A copy of the curator's state in a fresh one. */
static tacit__curator *copy(tacit__curator *from, tacit__curator *to)
{
    static uint8_t bytes[1 << 16];
    size_t length = sizeof bytes;
    tacit_error err;
    tacit__saved s = tacit__saved_save(bytes, &length, &err);
    while (tacit__saved_next(&s))
        (void)tacit__curator_fields(from, &s);
    assert_ok(s.status);
    s = tacit__saved_load(bytes, length, &err);
    while (tacit__saved_next(&s))
        (void)tacit__curator_fields(to, &s);
    assert_ok(s.status);
    tacit__curator_destroy(from);
    return to;
}

/* Rare releases: sums are those of the users at the last moment, the plan declares as many releases as there are moments, and a
 * state that was saved between two of them goes on alike. Every user is the same, so sums are multiples of one user. */
TEST(rare_releases_show_the_users_of_their_moments)
{
    enum { USERS = 40 };
    static const tacit_guarantee loud = {TACIT_MODEL_JOINT, 1e12, 1e-6};
    static const double values[STEPS * STATES] = {1, -0.5, 0.25, -1, 0.25, 1};
    const tacit__lens lens = {.targets = values};
    uint64_t due = 1, moments = 0, at = 0;
    fill_table();
    SCOPED(tacit__curator) *c = start_rare(USERS, loud, table, true, 1.3);
    const double ratio = form_of(c)->ratio;
    const contribution one = contribute(c, &lens);
    for (uint64_t k = 1; k <= USERS; k++) {
        grams_add(c, &user, &lens);
        if (k == due && k < USERS) {
            at = due;
            moments++;
            due = (uint64_t)fmax((double)due + 1, floor(1.3 * (double)due));
        }
        const tacit__gram_sums sums = grams_view(c, 0);
        assert_int_equal(sums.users, at);
        assert_int_equal(tacit__curator_shown(c), at);
        for (size_t i = 0; i < STEPS * CELL; i++) {
            const double times = i % CELL < PACKED ? 1 : 1 / ratio;
            assert_true(fabs(sums.sums[i] - times * (double)at * one.x[i]) <= 1e-2);
        }
        if (k == USERS / 2)
            c = copy(c, start_rare(USERS, loud, table, true, 1.3));
    }
    const tacit_plan *plan = tacit_ledger_plan(tacit__curator_ledger(c));
    assert_int_equal(tacit_plan_release(plan, 0)->steps, moments);
    assert_int_equal(tacit_ledger_passed(tacit__curator_ledger(c), 0), moments);
}

/* Fewer releases need less noise, and their levels are lower. */
TEST(rare_releases_have_less_noise)
{
    fill_table();
    SCOPED(tacit__curator) *every = start(20000, joint, table, true),
                           *rare = start_rare(20000, joint, table, true, 1.2);
    assert_true(scale_of(rare) < 0.8 * scale_of(every));
    assert_true(tacit_sum_worst_stddev(tacit__stream_sum(tacit__curator_stream(rare, 0))) <
                0.65 * tacit_sum_worst_stddev(tacit__stream_sum(tacit__curator_stream(every, 0))));
}

/* A level holds for all releases so far, and the last of them need not be the noisiest: columns of equal length make the last
 * rows of a sum of few releases shorter. */
TEST(levels_hold_at_the_noisiest_release_so_far)
{
    enum { EPISODES = 1027 };
    const tacit__lens lens = {.targets = (const double[STEPS * STATES]){1, 0, 0, 1, 0, 0}};
    fill_table();
    SCOPED(tacit__curator) *c = start(EPISODES, joint, table, true);
    const double scale = scale_of(c);
    for (uint64_t k = 1; k < EPISODES; k++) {
        grams_add(c, &user, &lens);
        const tacit__gram_sums sums = grams_view(c, 0);
        const double stddev = tacit__stream_stddev(tacit__curator_stream(c, 0), k);
        const double draws = pow(stddev / scale, 2);
        assert_true(sums.gram_level >=
                    (1 - 1e-12) * scale * tacit__level_matrix(draws, WIDTH, FAILURE, false));
        assert_true(sums.response_level >= (1 - 1e-12) * scale / form_of(c)->ratio *
                                               tacit__level_vector(draws, WIDTH, FAILURE, false));
    }
}
