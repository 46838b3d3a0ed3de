/* The condition on the scales of a tabular curator. The bound on centered rewards holds beside that of visits (with two streams:
 * of moves) only if their noise is at least half as large. A split of the budget that misses this is refused; one that just
 * keeps it moves by what it declares, and by all of it for users who share their cells as for users who share none. */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/replay.h"
#include "support/tabular_curator.h"

enum { STATES = 3, ACTIONS = 2, HORIZON = 4, USERS = 4 };

typedef struct walk {
    uint32_t states[HORIZON + 1], actions[HORIZON];
    double rewards[HORIZON];
} walk;

/* Scales are as the cube roots of D^2 / weight, and D^2 of rewards is a quarter of that of visits: their ratio is
 * (weight of visits / (4 weight of rewards))^(1/3), which is 1/2 where rewards weigh twice as much. */
static tacit_status create(bool two_streams, double weight_rewards, tacit__curator **out)
{
    const tacit__tabular_options o = {.space = {STATES, ACTIONS, HORIZON, HORIZON},
                                      .episodes = USERS,
                                      .guarantee = {TACIT_MODEL_JOINT, 1, 1e-6},
                                      .mechanism = TACIT_SUM_TREE,
                                      .centered = true,
                                      .visits_from_moves = two_streams,
                                      .user_norm = 1,
                                      .failure = 0.1,
                                      .weight_visits = 1,
                                      .weight_moves = 1,
                                      .weight_rewards = weight_rewards};
    tacit_noise *noise;
    tacit_error err = {.message = ""};
    assert_ok(tacit_noise_create_simulated(3, &noise));
    tacit_status status = tabular_create(&o, noise, out, &err);
    tacit_noise_destroy(noise);
    if (status == TACIT_BAD_PLAN)
        assert_non_null(strstr(err.message, two_streams ? "less than half of the moves'"
                                                        : "less than half of the visits'"));
    return status;
}

static void play(tacit__curator *curator, const walk *first)
{
    static const walk other = {{0, 1, 2, 1, 0}, {1, 0, 1, 0}, {0.5, 1, 0, 1}};
    for (size_t k = 0; k < USERS; k++) {
        const walk *w = k == 0 ? first : &other;
        const tacit_trajectory t = {STEPS_OF(w->states, w->actions, w->rewards)};
        assert_ok(tabular_add(curator, &t));
        (void)tabular_counts(curator);
    }
}

/* The loss of both lines, the rewards' and the one that they are bounded beside, as a share of what both declare. */
static double share(bool two_streams, double weight, const walk *here, const walk *there)
{
    tape *t = tape_create();
    tacit__curator *a, *b;
    assert_ok(create(two_streams, weight, &a));
    assert_ok(create(two_streams, weight, &b));
    const tacit_plan *plan = tacit_ledger_plan(tacit__curator_ledger(b));
    const size_t rewards = tacit_plan_index(plan, "rewards"),
                 beside = tacit_plan_index(plan, two_streams ? "moves" : "visits");
    tape_record(t, tacit__curator_ledger(a));
    play(a, here);
    tape_replay(t, tacit__curator_ledger(b));
    tape_lines lines = tape_lines_of(plan);
    tape_watch(t, &lines);
    play(b, there);
    assert_true(tape_compare(t).same_calls);
    tacit__curator_destroy(a);
    tacit__curator_destroy(b);
    tape_destroy(t);
    return (lines.measured[rewards] + lines.measured[beside]) /
           (lines.declared[rewards] + lines.declared[beside]);
}

static const walk here = {{0, 0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1}},
                  opposite = {{0, 0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
                  elsewhere = {{0, 0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}};

/* A little noise more than half: users in the same cells and users in others lose nearly the same. */
TEST(rewards_with_just_enough_noise_move_by_what_is_declared)
{
    assert_within(share(false, 1.99, &here, &opposite), 0.99, 1 + 1e-9);
    assert_within(share(false, 1.99, &here, &elsewhere), 0.99, 1 + 1e-9);
}

TEST(rewards_with_too_little_noise_beside_visits_are_refused)
{
    tacit__curator *curator = NULL;
    assert_status(create(false, 2.01, &curator), TACIT_BAD_PLAN);
    assert_null(curator);
}

/* Moves weigh 1 + sqrt(3) here, as visits are made of them, and rewards move by sqrt(3) where moves move by sqrt(8). */
TEST(rewards_with_too_little_noise_beside_moves_are_refused)
{
    const double border = 8 * (3.0 / 8) * (1 + sqrt(3));
    tacit__curator *curator = NULL;
    assert_status(create(true, 1.01 * border, &curator), TACIT_BAD_PLAN);
    assert_null(curator);
    assert_true(share(true, 0.99 * border, &here, &opposite) <= 1 + 1e-9);
}
