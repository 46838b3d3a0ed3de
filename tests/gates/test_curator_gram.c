/* The curator of learners by regression, seen through hostile lenses: features, targets and weights that are far too long, or
 * no numbers. A lens is public and made by the planner, whose bounds a table of features can break; what the curator does with
 * it is the only line of defense. The search is over lenses and over both worlds' users: nothing moves the sum by more than is
 * declared, and the worst lens moves it by all of that. */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/climb.h"
#include "support/grams.h"
#include "support/random.h"
#include "support/replay.h"

SCOPED_TYPE(tacit__curator, tacit__curator_destroy)

enum { STATES = 2, ACTIONS = 2, PAIRS = 4, HORIZON = 2, WIDTH = 2, USERS = 4 };

typedef struct walk {
    uint32_t states[HORIZON + 1], actions[HORIZON];
    double rewards[HORIZON];
} walk;

/* What the search changes: the lens and the first user in both worlds. */
typedef struct point {
    double features[HORIZON][WIDTH][PAIRS], targets[HORIZON][STATES], weights[HORIZON][PAIRS];
    walk here, there;
} point;

typedef struct setup {
    tacit_guarantee guarantee;
    bool blocks, centered, nonnegative;
    double radius[HORIZON];
    double least; /* share of the declared loss that must be reached */
} setup;

/* --- Both worlds --------------------------------------------------------------------------------- */

static tacit__curator *start(const setup *s)
{
    const tacit__gram_options o = {
        SPACE_OF(STATES, ACTIONS, HORIZON),
        .episodes = USERS,
        .guarantee = s->guarantee,
        .mechanism = s->guarantee.model == TACIT_MODEL_LOCAL ? TACIT_SUM_LOCAL : TACIT_SUM_TREE,
        .failure = 0.1,
        .n_streams = 1,
        .streams = {{.name = "transitions",
                     .frame = {HORIZON, s->blocks ? PAIRS : 1, WIDTH, PAIRS},
                     .radius = s->radius,
                     .centered = s->centered,
                     .nonnegative = s->nonnegative,
                     .parameter_norm = 1,
                     .share = 1}}};
    SCOPED(tacit_noise) *noise = simulated_noise(3);
    return grams_create(o, 0, noise);
}

static void play(const setup *s, tacit__curator *curator, const point *p, const walk *first)
{
    static const walk other = {{0, 1, 0}, {1, 0}, {0.5, 1}};
    const tacit__lens lens = {.features = &p->features[0][0][0],
                              .stride = s->blocks ? WIDTH : WIDTH * PAIRS,
                              .targets = &p->targets[0][0],
                              .weights = &p->weights[0][0]};
    for (size_t k = 0; k < USERS; k++) {
        const walk *w = k == 0 ? first : &other;
        const tacit_trajectory t = {STEPS_OF(w->states, w->actions, w->rewards)};
        grams_add(curator, &t, &lens);
        (void)grams_view(curator, 0);
    }
}

static double share(void *context, const void *at)
{
    const setup *s = context;
    const point *p = at;
    tape *t = tape_create();
    SCOPED(tacit__curator) *a = start(s), *b = start(s);
    tape_record(t, tacit__curator_ledger(a));
    play(s, a, p, &p->here);
    tape_replay(t, tacit__curator_ledger(b));
    tape_lines lines = tape_lines_of(tacit_ledger_plan(tacit__curator_ledger(b)));
    tape_watch(t, &lines);
    play(s, b, p, &p->there);
    assert_true(tape_compare(t).same_calls);
    tape_destroy(t);
    return lines.measured[0] / lines.declared[0];
}

/* --- The search ---------------------------------------------------------------------------------- */

/* Mostly too long, now and then within bounds, seldom no number at all. */
static double draw(uint64_t *seed)
{
    static const double strange[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e200, 1e-200};
    uint64_t kind = random_below(seed, 20);
    return kind == 0   ? strange[random_below(seed, 5)]
           : kind < 10 ? random_between(seed, -1, 1)
                       : random_between(seed, -8, 8);
}

static void draw_walk(uint64_t *seed, walk *w)
{
    for (size_t h = 0; h <= HORIZON; h++)
        w->states[h] = (uint32_t)random_below(seed, STATES);
    for (size_t h = 0; h < HORIZON; h++) {
        w->actions[h] = (uint32_t)random_below(seed, ACTIONS);
        w->rewards[h] = random_unit(seed);
    }
}

static void move(void *context, uint64_t *seed, void *at)
{
    point *p = at;
    const size_t h = random_below(seed, HORIZON);
    (void)context;
    switch (random_below(seed, 5)) {
    case 0:
        p->features[h][random_below(seed, WIDTH)][random_below(seed, PAIRS)] = draw(seed);
        break;
    case 1: /* a step of the search in place of a jump */
        p->features[h][random_below(seed, WIDTH)][random_below(seed, PAIRS)] *=
            random_between(seed, 0.8, 1.25);
        break;
    case 2:
        p->targets[h][random_below(seed, STATES)] = draw(seed);
        break;
    case 3:
        p->weights[h][random_below(seed, PAIRS)] = draw(seed);
        break;
    default:
        draw_walk(seed, random_below(seed, 2) == 0 ? &p->here : &p->there);
        break;
    }
}

static void begin(void *context, size_t restart, uint64_t *seed, void *at)
{
    (void)restart;
    memset(at, 0, sizeof(point));
    for (size_t i = 0; i < 100; i++)
        move(context, seed, at);
}

static void check(setup s)
{
    point worst;
    const climb_problem problem = {
        .context = &s, .size = sizeof worst, .begin = begin, .move = move, .value = share};
    const climb_effort effort = {.restarts = 3, .moves = 500, .enough = 1 + 1e-9, .seed = 5};
    assert_within(climb(&problem, &effort, &worst), climb_patience() < 1 ? 0 : s.least, 1 + 1e-9);
}

static const tacit_guarantee promises[] = {{TACIT_MODEL_JOINT, 1, 1e-6},
                                           {TACIT_MODEL_JOINT, 1, 0},
                                           {TACIT_MODEL_LOCAL, 1, 1e-6},
                                           {TACIT_MODEL_LOCAL, 1, 0}};

/* In L1 twice the largest norm is declared; two Gram matrices in one block have no negative diagonal and cannot be that far
 * apart. In two blocks, or in L2, what is declared is reached. */
TEST(a_shared_block_moves_by_what_is_declared)
{
    for (size_t i = 0; i < 4; i++) {
        const double least = promises[i].delta > 0 ? 0.95 : 0.55;
        check((setup){.guarantee = promises[i], .radius = {1, 1}, .least = least});
        check((setup){
            .guarantee = promises[i], .centered = true, .radius = {1, 0.5}, .least = least});
        check((setup){
            .guarantee = promises[i], .nonnegative = true, .radius = {0.5, 1}, .least = least});
    }
}

TEST(a_block_for_each_pair_moves_by_what_is_declared)
{
    for (size_t i = 0; i < 4; i++) {
        check((setup){.guarantee = promises[i], .blocks = true, .radius = {1, 1}, .least = 0.95});
        check((setup){.guarantee = promises[i],
                      .blocks = true,
                      .nonnegative = true,
                      .radius = {1, 0.5},
                      .least = 0.95});
    }
}
