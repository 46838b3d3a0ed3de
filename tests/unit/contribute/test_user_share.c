/* What of a user counts: the budget holds in integers, the rule is the one that is written down, and nothing about whether a visit
 * counts depends on what came of it. Trajectories and weights are random, so short that rows repeat. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contribute/user_share.h"
#include "support/check.h"
#include "support/random.h"

enum { S = 3, A = 2, H = 12, ROWS = S * A, BITS = 20, USERS = 3000 };

typedef struct user {
    uint32_t states[H + 1], actions[H];
    double rewards[H];
} user;

static user random_user(uint64_t *seed)
{
    user u;
    const size_t width = 1 + random_below(seed, S); /* some stay in one state */
    for (size_t h = 0; h <= H; h++)
        u.states[h] = (uint32_t)random_below(seed, width);
    for (size_t h = 0; h < H; h++) {
        u.actions[h] = (uint32_t)random_below(seed, A);
        u.rewards[h] =
            random_below(seed, 3) == 0 ? (double)random_below(seed, 2) : random_unit(seed);
    }
    return u;
}

static size_t share(const tacit__share_rule *rule, const user *u, tacit__counted_step *out)
{
    const tacit_trajectory t = {STEPS_OF(u->states, u->actions, u->rewards)};
    return tacit__user_share(rule, &t, out);
}

/* A rule with weights from 2^-6 to 2^3. */
static tacit__share_rule random_rule(uint64_t *seed, int64_t *weights)
{
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = (int64_t)(exp2(BITS - 6 + 9 * random_unit(seed)));
    return (tacit__share_rule){.space = {S, A, H, 1},
                               .weights = weights,
                               .user_visits = 1 + random_below(seed, 3),
                               .square = (1 + random_below(seed, H)) << (2 * BITS)};
}

TEST(the_budget_holds_in_integers)
{
    uint64_t seed = 1;
    double most = 0;
    for (int k = 0; k < USERS; k++) {
        int64_t weights[ROWS], visits[ROWS] = {0}, rewards[ROWS] = {0}, moves[ROWS][S] = {{0}};
        uint64_t times[ROWS] = {0};
        const tacit__share_rule rule = random_rule(&seed, weights);
        tacit__counted_step steps[H];
        const user u = random_user(&seed);
        const size_t n = share(&rule, &u, steps);
        uint64_t square = 0, square_of_moves = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(steps[i].weight >= 0 && steps[i].weight <= weights[steps[i].row]);
            visits[steps[i].row] += steps[i].weight;
            rewards[steps[i].row] += steps[i].reward;
            moves[steps[i].row][steps[i].next] += steps[i].weight;
            times[steps[i].row]++;
        }
        for (size_t x = 0; x < ROWS; x++) {
            square += (uint64_t)(visits[x] * visits[x]);
            for (size_t s = 0; s < S; s++)
                square_of_moves += (uint64_t)(moves[x][s] * moves[x][s]);
            assert_true(2 * llabs(rewards[x]) <= visits[x]);
            assert_true(times[x] <= rule.user_visits);
        }
        assert_true(square <= rule.square && square_of_moves <= square);
        most = fmax(most, (double)square / (double)rule.square);
    }
    assert_within(most, 0.99, 1); /* and it can be used up */
}

/* The rule in real numbers, to a step of the lattice at each visit. */
TEST(a_visit_spends_at_most_half_of_what_is_left)
{
    uint64_t seed = 2;
    for (int k = 0; k < USERS; k++) {
        int64_t weights[ROWS];
        const tacit__share_rule rule = random_rule(&seed, weights);
        tacit__counted_step steps[H];
        const user u = random_user(&seed);
        const size_t n = share(&rule, &u, steps);
        long double a[ROWS] = {0}, used = 0;
        uint64_t times[ROWS] = {0};
        size_t i = 0;
        for (size_t h = 0; h < H; h++) {
            const size_t x = u.states[h] * A + u.actions[h];
            if (times[x]++ >= rule.user_visits)
                continue;
            const long double half =
                -a[x] + sqrtl(a[x] * a[x] + ((long double)rule.square - used) / 2);
            const long double w = fminl((long double)weights[x], half);
            assert_true(i < n && steps[i].row == x && steps[i].next == u.states[h + 1]);
            assert_true((long double)steps[i].weight <= w && (long double)steps[i].weight > w - 2);
            used += (2 * a[x] + steps[i].weight) * steps[i].weight; /* from what was counted */
            a[x] += steps[i].weight;
            i++;
        }
        assert_int_equal(i, n);
    }
}

/* Nothing comes after a single step, so all of the budget is its own. */
TEST(a_single_step_may_spend_all)
{
    uint64_t seed = 7;
    for (int k = 0; k < USERS; k++) {
        int64_t weights[ROWS];
        tacit__share_rule rule = random_rule(&seed, weights);
        tacit__counted_step steps[H];
        rule.space.horizon = 1;
        const user u = random_user(&seed);
        const int64_t most = weights[u.states[0] * A + u.actions[0]];
        const double root = sqrt((double)rule.square);
        assert_int_equal(share(&rule, &u, steps), 1);
        assert_true(steps[0].weight * steps[0].weight <= (int64_t)rule.square);
        assert_true(steps[0].weight == most || (double)steps[0].weight > root - 2);
    }
}

/* Two users who did the same up to a step count the same up to it, whatever came of that step. */
TEST(whether_a_visit_counts_is_known_before_its_outcome)
{
    uint64_t seed = 3;
    for (int k = 0; k < USERS; k++) {
        int64_t weights[ROWS];
        const tacit__share_rule rule = random_rule(&seed, weights);
        tacit__counted_step one[H], other[H];
        const user u = random_user(&seed);
        user v = random_user(&seed);
        const size_t same = 1 + random_below(&seed, H);
        memcpy(v.states, u.states, same * sizeof *v.states);
        memcpy(v.actions, u.actions, same * sizeof *v.actions);
        const size_t n = share(&rule, &u, one), m = share(&rule, &v, other);
        size_t counted = 0;
        uint64_t times[ROWS] = {0};
        for (size_t h = 0; h < same; h++)
            counted += times[u.states[h] * A + u.actions[h]]++ < rule.user_visits;
        assert_true(counted <= n && counted <= m);
        for (size_t i = 0; i < counted; i++)
            assert_true(one[i].row == other[i].row && one[i].weight == other[i].weight);
    }
}

TEST(without_a_budget_everything_counts)
{
    uint64_t seed = 4;
    int64_t weights[ROWS];
    tacit__share_rule rule = random_rule(&seed, weights);
    rule.square = rule.user_visits = 0;
    tacit__counted_step steps[H];
    const user u = random_user(&seed);
    assert_int_equal(share(&rule, &u, steps), H);
    for (size_t h = 0; h < H; h++)
        assert_int_equal(steps[h].weight, weights[u.states[h] * A + u.actions[h]]);
}
