/* Weighted counts: whatever weights a planner asks for, what reaches the door keeps a user's budget; without privacy counts are
 * counts. */
#include <math.h>

#include "account/door.h"
#include "support/random.h"
#include "support/weighted.h"

enum { S = 3, A = 2, H = 9, ROWS = S * A };

static const tacit__space pooled = {S, A, H, 1};
static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6}, none = {TACIT_MODEL_NONE, 0, 0};

typedef struct user {
    uint32_t states[H + 1], actions[H];
    double rewards[H];
} user;

static user random_user(uint64_t *seed)
{
    user u;
    for (size_t h = 0; h <= H; h++)
        u.states[h] = (uint32_t)random_below(seed, S);
    for (size_t h = 0; h < H; h++) {
        u.actions[h] = (uint32_t)random_below(seed, A);
        u.rewards[h] = random_unit(seed);
    }
    return u;
}

static void add(tacit__curator *c, const user *u)
{
    const tacit_trajectory t = {STEPS_OF(u->states, u->actions, u->rewards)};
    assert_ok(weighted_add(c, &t));
}

/* One release, of the first users. */
static tacit__curator *make(tacit_guarantee guarantee, tacit__space space, uint64_t first)
{
    return weighted_create(
        &(tacit__posterior_schedule){
            .counts = {.space = space,
                       .episodes = first + 10,
                       .guarantee = guarantee,
                       .mechanism = tacit_sum_default_mechanism(guarantee)},
            .first = first},
        5);
}

/* The squared length of each stream before the noise. */
typedef struct lengths {
    const tacit_plan *plan;
    double square[4];
    size_t passages;
} lengths;

static void measure(void *context, const tacit__passage *p)
{
    lengths *l = context;
    const size_t line = tacit_plan_index(l->plan, p->release->name);
    for (size_t i = 0; i < p->n; i++)
        l->square[line] += pow((double)p->exact[i] * p->lattice, 2);
    l->passages++;
}

/* A batch of one user is that user's contribution. */
TEST(no_weights_exceed_the_budget)
{
    const double wild[] = {0, 1e-30, 0.3, 1, 7, 1e9, 1e300, HUGE_VAL, -1, -HUGE_VAL, (double)NAN};
    const double budget = (double)tacit__weighted_square(pooled);
    double most = 0;
    uint64_t seed = 1;
    assert_int_equal((int)budget, H);
    for (int k = 0; k < 300; k++) {
        SCOPED(tacit__curator) *c = make(joint, pooled, 1);
        double weights[ROWS];
        lengths l = {.plan = tacit_ledger_plan(tacit__curator_ledger(c))};
        for (size_t i = 0; i < ROWS; i++)
            weights[i] = wild[random_below(&seed, sizeof wild / sizeof *wild)];
        tacit__weighted_set_weights(tacit__curator_form(c), weights);
        tacit__ledger_set_recorder(tacit__curator_ledger(c), measure, &l);
        const user u = random_user(&seed);
        add(c, &u);
        assert_int_equal(l.passages, 4);
        assert_true(l.square[0] <= budget && l.square[1] <= l.square[0] &&
                    l.square[2] <= l.square[0] / 4 && l.square[3] == 1);
        most = fmax(most, l.square[0]);
    }
    assert_true(most > 0.9 * budget);
}

/* What has no share of the budget is not released: with delta 0 visits are sums of moves and nobody asks for first
 * states, nothing follows a single step, and a single state follows itself. */
TEST(streams_that_tell_little_are_not_released)
{
    static const struct {
        double delta;
        size_t horizon, states;
        const char *names[4];
    } cases[] = {{1e-6, H, S, {"visits", "moves", "rewards", "starts"}},
                 {1e-6, 1, S, {"visits", "rewards", "starts"}},
                 {0, H, S, {"moves", "rewards"}},
                 {0, H, 30, {"visits", "moves", "rewards"}},
                 {0, 1, S, {"visits", "rewards"}},
                 {1e-6, H, 1, {"visits", "rewards", "starts"}},
                 {0, H, 1, {"visits", "rewards"}}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit_guarantee guarantee = {TACIT_MODEL_JOINT, 1, cases[i].delta};
        SCOPED(tacit__curator) *c =
            make(guarantee, (tacit__space){cases[i].states, A, cases[i].horizon, 1}, 1);
        uint64_t seed = 6;
        size_t lines = 0;
        const tacit_plan *plan = tacit_ledger_plan(tacit__curator_ledger(c));
        for (; lines < 4 && cases[i].names[lines] != NULL; lines++)
            assert_string_equal(tacit_plan_release(plan, lines)->name, cases[i].names[lines]);
        assert_int_equal(tacit_plan_size(plan), lines);
        user u = random_user(&seed);
        for (size_t h = 0; h <= H && cases[i].states == 1; h++)
            u.states[h] = 0;
        add(c, &u);
        const tacit__weighted_counts n = tacit__posterior_counts(c);
        const bool single = cases[i].horizon == 1 || cases[i].states == 1;
        assert_int_equal(n.users, 1);
        assert_true(isinf(n.visits_stddev) == (lines == 2 && !single));
        assert_true(isinf(n.moves_stddev) == single);
        assert_true(isinf(n.starts_stddev) == (cases[i].delta == 0));
        assert_true(n.rewards_stddev > 0 && isfinite(n.rewards_stddev));
    }
}

TEST(without_privacy_counts_are_counts)
{
    enum { USERS = 40 };
    SCOPED(tacit__curator) *c = make(none, pooled, USERS);
    double visits[ROWS] = {0}, moves[ROWS * S] = {0}, rewards[ROWS] = {0}, starts[S] = {0};
    uint64_t seed = 2;
    for (int k = 0; k < USERS; k++) {
        const user u = random_user(&seed);
        add(c, &u);
        starts[u.states[0]]++;
        for (size_t h = 0; h < H; h++) {
            const size_t row = u.states[h] * A + u.actions[h];
            visits[row]++;
            moves[row * S + u.states[h + 1]]++;
            rewards[row] += u.rewards[h] - 0.5;
        }
    }
    const tacit__weighted_counts n = tacit__posterior_counts(c);
    assert_int_equal(n.users, USERS);
    assert_true(n.visits_stddev == 0 && n.moves_stddev == 0 && n.rewards_stddev == 0);
    assert_memory_equal(n.visits, visits, sizeof visits);
    assert_memory_equal(n.moves, moves, sizeof moves);
    assert_memory_equal(n.starts, starts, sizeof starts);
    for (size_t i = 0; i < ROWS; i++)
        assert_within(n.rewards[i] - rewards[i], -1e-4, 1e-4);
}
