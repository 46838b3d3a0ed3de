/* The curator of LSVI learners, asked about values that are far too large, negative, or no numbers. Values are public and made
 * by the planner; that they are cut where they meet people's data is the only line of defense. The search is over the
 * values and over both worlds' users: nothing moves the releases by more than is declared, and the worst values move them by
 * nearly all of that. */
#include <math.h>
#include <string.h>

#include "release/archive/archive.h"
#include "release/archive/archive_inside.h"
#include "sums/sum_inside.h"
#include "support/check.h"
#include "support/climb.h"
#include "support/random.h"
#include "support/replay.h"

SCOPED_TYPE(tacit__archive, tacit__archive_destroy)

enum { STATES = 2, ACTIONS = 2, HORIZON = 3, D = 2, USERS = 4 };

typedef struct walk {
    uint32_t states[HORIZON + 1], actions[HORIZON];
    double rewards[HORIZON], features[HORIZON + 1][ACTIONS][D];
} walk;

/* What the search changes: the values after each step and the first user in both worlds. */
typedef struct point {
    double values[HORIZON][STATES];
    walk here, there;
} point;

typedef struct setup {
    tacit__feature_form form;
    tacit_guarantee guarantee;
    bool centered;
    bool spans;
    double least;       /* share of the declared loss that must be reached */
    double ratio_share; /* of the largest ratio of noises that the scheme allows; 0: all of it */
    double move;        /* blt sums, and what a user moves a Gram matrix; 0: a tree, as it is */
    bool pooled;
    bool sums; /* Gram matrices by running sums, though direct releases are less noisy */
} setup;

static tacit_status create(const setup *s, tacit__archive **out)
{
    static const double range[HORIZON] = {3, 2, 1};
    const bool carried = s->form == TACIT__CARRIED;
    tacit__lsvi_scheme_options wish = {
        .space = {SPACE_OF(carried ? 0 : STATES, ACTIONS, HORIZON), .form = s->form,
                  .dimension = carried ? D : STATES * ACTIONS, .bound = 1, .simplex = true,
                  .feature_bits = tacit__lsvi_feature_bits(USERS), .pooled = s->pooled},
        .schedule = TACIT__EVERY,
        .episodes = USERS,
        .guarantee = s->guarantee,
        .mechanism = s->move > 0 ? TACIT_SUM_BLT : TACIT_SUM_TREE,
        .gram = s->move > 0 || s->sums ? TACIT__GRAM_SUMS : TACIT__GRAM_AUTO,
        .centered = s->centered,
        .lambda = 1,
        .shift = 1,
        .failure = 0.1};
    tacit__archive_options o = {.space = wish.space,
                                .episodes = USERS,
                                .guarantee = s->guarantee,
                                .centered = s->centered,
                                .spans = s->spans,
                                .range = range,
                                .archive_bytes = 1e9};
    assert_ok(tacit__lsvi_decide(&wish, &o.scheme, NULL));
    o.scheme.ratio *= s->ratio_share > 0 ? s->ratio_share : 1;
    if (s->move > 0) {
        o.scheme.gram_l2 = s->move;
        o.scheme.leaf = 20000; /* the bound is then far above the sensitivity, which chooses */
        o.scheme.ratio = HUGE_VAL;
    }
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    tacit_status status = tacit__archive_create(&o, noise, out, NULL);
    return status;
}

/* --- Both worlds --------------------------------------------------------------------------------- */

/* The values after step h, as a table or as a function of features: without a bonus, and with no caps of its own. */
static void ask(const setup *s, tacit__archive *curator, const point *p, size_t h)
{
    static const double identity[D * D] = {1, 0, 0, 1};
    double response[STATES * ACTIONS];
    tacit__target_unit unit;
    const tacit__optimism function = {.dimension = D,
                                      .inverse = identity,
                                      .slope = p->values[h],
                                      .unit = ldexp(1, -tacit__lsvi_feature_bits(USERS)),
                                      .scale = 1,
                                      .low = -HUGE_VAL,
                                      .high = HUGE_VAL};
    const bool last = h + 1 == HORIZON, carried = s->form == TACIT__CARRIED;
    assert_ok(tacit__archive_respond(curator, h, last || carried ? NULL : p->values[h],
                                     last || !carried ? NULL : &function, response, &unit, NULL));
}

static void play(const setup *s, tacit__archive *curator, const point *p, const walk *first)
{
    static const walk other = {
        .states = {0, 1, 0, 1},
        .actions = {1, 0, 1},
        .rewards = {0.5, 1, 0},
        .features = {{{1, 0}, {0, 1}}, {{0.5, 0.5}, {0, 1}}, {{1, 0}, {0, 1}}, {{0, 1}, {1, 0}}}};
    for (size_t k = 0; k < USERS; k++) {
        const walk *w = k == 0 ? first : &other;
        const bool carried = s->form == TACIT__CARRIED;
        const tacit_trajectory u = {STEPS_OF(carried ? NULL : w->states, w->actions, w->rewards),
                                    .features = carried ? &w->features[0][0][0] : NULL};
        const double *gram;
        assert_ok(tacit__archive_add(curator, &u, NULL));
        if (!tacit__archive_ready(curator))
            continue;
        assert_ok(tacit__archive_gram(curator, &gram, NULL));
        for (size_t h = HORIZON; h-- > 0;)
            ask(s, curator, p, h);
    }
}

/* Both lines together: with Gaussian noise neither bound holds alone. */
static double share(void *context, const void *at)
{
    const setup *s = context;
    const point *p = at;
    tape *t = tape_create();
    SCOPED(tacit__archive) *a = NULL, *b = NULL;
    assert_ok(create(s, &a));
    assert_ok(create(s, &b));
    tape_record(t, tacit__archive_ledger(a));
    play(s, a, p, &p->here);
    tape_replay(t, tacit__archive_ledger(b));
    tape_lines lines = tape_lines_of(tacit_ledger_plan(tacit__archive_ledger(b)));
    tape_watch(t, &lines);
    play(s, b, p, &p->there);
    assert_true(tape_compare(t).same_calls);
    tape_destroy(t);
    return (lines.measured[0] + lines.measured[1]) / (lines.declared[0] + lines.declared[1]);
}

/* --- The search ---------------------------------------------------------------------------------- */

static double draw_value(uint64_t *seed)
{
    static const double strange[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e200, -1e200};
    return random_below(seed, 4) == 0 ? strange[random_below(seed, 5)]
                                      : random_between(seed, -20, 20);
}

static void draw_step(uint64_t *seed, walk *w, size_t h)
{
    w->states[h] = (uint32_t)random_below(seed, STATES);
    for (size_t a = 0; a < ACTIONS; a++) {
        double x = random_below(seed, 2) == 0 ? (double)random_below(seed, 2) : random_unit(seed);
        w->features[h][a][0] = x;
        w->features[h][a][1] = 1 - x;
    }
    if (h < HORIZON) {
        w->actions[h] = (uint32_t)random_below(seed, ACTIONS);
        w->rewards[h] = (double)random_below(seed, 2);
    }
}

static void move(void *context, uint64_t *seed, void *at)
{
    point *p = at;
    (void)context;
    if (random_below(seed, 3) == 0)
        p->values[random_below(seed, HORIZON)][random_below(seed, STATES)] = draw_value(seed);
    else
        draw_step(seed, random_below(seed, 2) == 0 ? &p->here : &p->there,
                  random_below(seed, HORIZON + 1));
}

/* Anywhere; or users with the same features and opposite targets, who are far apart if targets are centered. */
static void begin(void *context, size_t restart, uint64_t *seed, void *at)
{
    point *p = at;
    memset(p, 0, sizeof *p);
    for (size_t h = 0; h <= HORIZON; h++) {
        draw_step(seed, &p->here, h);
        draw_step(seed, &p->there, h);
    }
    for (size_t i = 0; i < 50; i++)
        move(context, seed, at);
    if (restart % 2 == 0)
        return;
    p->there = p->here;
    for (size_t h = 0; h < HORIZON; h++) {
        p->values[h][0] = 20;
        p->values[h][1] = -20;
        p->here.rewards[h] = 1;
        p->there.rewards[h] = 0;
        p->here.states[h + 1] = 0;
        p->there.states[h + 1] = (uint32_t)(h % 2 == 0);
    }
}

static void check(setup s)
{
    point worst;
    const climb_problem problem = {
        .context = &s, .size = sizeof worst, .begin = begin, .move = move, .value = share};
    const climb_effort effort = {.restarts = 4, .moves = 400, .enough = 1 + 1e-9, .seed = 5};
    assert_within(climb(&problem, &effort, &worst), climb_patience() < 1 ? 0 : s.least, 1 + 1e-9);
}

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6}, pure = {TACIT_MODEL_JOINT, 1, 0};

/* Centered targets are farthest apart in the same cell, with other states next, so that the next cells differ: users of tables can
 * do that at every other step only, and 0.92 of the declared loss is as far as they get. */
TEST(values_of_states_are_cut)
{
    for (int i = 0; i < 4; i++) {
        check((setup){TACIT__ONE_HOT, joint, i % 2 == 1, i >= 2, 0.9, 0, 0, false, false});
        check((setup){TACIT__ONE_HOT, pure, i % 2 == 1, i >= 2, 0.95, 0, 0, false, false});
    }
}

/* All steps of a user are in one Gram matrix and in every response. Users who stay in one cell reach the declared loss; centered
 * targets that are opposite at every step would have to leave it and stay. */
TEST(pooled_steps_move_by_what_they_declare)
{
    for (int i = 0; i < 4; i++) {
        const double least = i % 2 == 0 ? 0.99 : 0.5;
        check((setup){TACIT__ONE_HOT, joint, i % 2 == 1, i >= 2, least, 0, 0, true, i >= 2});
        check((setup){TACIT__ONE_HOT, pure, i % 2 == 1, i >= 2, least, 0, 0, true, i >= 2});
    }
}

TEST(values_of_features_are_cut)
{
    for (int centered = 0; centered < 2; centered++) {
        check((setup){TACIT__CARRIED, joint, centered == 1, false, 0.9, 0, 0, false, false});
        check((setup){TACIT__CARRIED, pure, centered == 1, false, 0.95, 0, 0, false, false});
    }
}

/* The two bounds hold together only while responses have enough noise beside Gram matrices. */
TEST(a_split_that_misses_its_condition_is_refused)
{
    for (int pooled = 0; pooled < 2; pooled++) {
        SCOPED(tacit__archive) *curator = NULL;
        const setup wrong = {TACIT__ONE_HOT, joint, true, false, 0, 0.5, 0, pooled == 1, false},
                    right = {TACIT__ONE_HOT, joint, true, false, 0, 1, 0, pooled == 1, false};
        assert_status(create(&wrong, &curator), TACIT_BAD_PLAN);
        assert_null(curator);
        assert_ok(create(&right, &curator));
    }
}

/* The lattice of the sum when a user moves a Gram matrix by so much; it is the one that leaves are put on. */
static int bits_of(double move)
{
    const setup s = {.form = TACIT__CARRIED, .guarantee = joint, .move = move};
    SCOPED(tacit__archive) *c = NULL;
    assert_ok(create(&s, &c));
    int bits = c->sum->lattice.bits;
    assert_int_equal(bits, c->gram_bits);
    return bits;
}

/* The lattice is chosen by the sensitivity, and the sensitivity has room for the lattice's rounding: where the one steps to the next
 * power of two, found by bisection, a leaf is still on the lattice of its sum, and is not rounded once more. */
TEST(leaves_are_on_the_lattice_of_their_sum)
{
    double low = 0.6, high = 1.4;
    const int fine = bits_of(low);
    assert_true(bits_of(high) < fine);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (bits_of(middle) == fine)
            low = middle;
        else
            high = middle;
    }
}
