/* What a user of a bandit without contexts adds, and how far apart two of them are declared to be: against a plain version, and against
 * all pairs of actions and rewards. */
#include "contribute/arm_rewards.h"

#include <math.h>

#include "support/check.h"
#include "support/random.h"

enum { ACTIONS = 3, NUMBERS = ACTIONS + 1, GRID = 16 };

static const tacit__score_table arms = {
    .n_states = 1, .n_actions = ACTIONS, .bits = TACIT__REWARD_BITS + 1, .reward = 1};

static void contribute(uint32_t action, double reward, int64_t *out)
{
    static const uint32_t states[2] = {0, 0};
    const tacit_trajectory t = {STEPS_OF(states, &action, &reward)};
    const tacit__score_form form = tacit__score_form_of_arms(&arms);
    tacit__scores_contribute(&form, &t, out);
}

/* The reward is rounded to 2^-10, and nothing is added beside it: no first state either. */
TEST(a_user_adds_the_reward_of_the_action_from_its_middle)
{
    const tacit__score_form form = tacit__score_form_of_arms(&arms);
    uint64_t seed = 3;
    assert_int_equal(form.numbers, ACTIONS);
    for (int trial = 0; trial < 100; trial++) {
        const uint32_t action = (uint32_t)random_below(&seed, ACTIONS);
        const double reward = trial < 20 ? (double)random_below(&seed, 2) : random_unit(&seed);
        int64_t got[NUMBERS];
        contribute(action, reward, got);
        for (uint32_t a = 0; a < NUMBERS; a++) {
            const double wanted = a == action ? rint(reward * 1024) / 1024 - 0.5 : 0;
            assert_true(ldexp((double)got[a], -form.bits) == wanted);
            assert_true(fabs((double)got[a]) <= form.largest);
        }
    }
}

/* Some pair is as far apart as is declared, and none is farther; rewards are on a grid with both ends. */
TEST(no_two_users_are_farther_apart_than_declared)
{
    const tacit__score_form form = tacit__score_form_of_arms(&arms);
    double l1 = 0, l2 = 0;
    for (uint32_t i = 0; i < ACTIONS * (GRID + 1) * ACTIONS * (GRID + 1); i++) {
        const uint32_t one = i / (ACTIONS * (GRID + 1)), other = i % (ACTIONS * (GRID + 1));
        int64_t x[NUMBERS], y[NUMBERS];
        double sum = 0, square = 0;
        contribute(one % ACTIONS, (double)(one / ACTIONS) / GRID, x);
        contribute(other % ACTIONS, (double)(other / ACTIONS) / GRID, y);
        for (size_t a = 0; a < NUMBERS; a++) {
            const double moved = ldexp((double)(x[a] - y[a]), -form.bits);
            sum += fabs(moved);
            square += moved * moved;
        }
        l1 = fmax(l1, sum);
        l2 = fmax(l2, sqrt(square));
    }
    assert_true(l1 == form.l1);
    assert_true(l2 == form.l2);
}
