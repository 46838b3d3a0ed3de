/* Gate 1 for posterior-mixture and explore-commit-mixture: one user is replaced, with the releases frozen. Then everything that others meet is the same, and the
 * loss is at most what the plan declares; the worst pair of users is found by hill climbing, and comes near it.
 *
 * And once more from the noise that was drawn, not from what is declared of it: how far the worst pair moves what passes the door, in
 * units of the standard deviation of released minus exact, is no more than the guarantee's mu. With delta 0 distances are in L1, and the
 * scale is the mean size of released minus exact. */
#include <math.h>

#include "agents/agent_inside.h"
#include "support/drawn.h"

enum { STATES = 3, ACTIONS = 4, PARTS = 2, USERS = 24 };

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-6},
                             joint_pure = {TACIT_MODEL_JOINT, 1, 0},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

/* Part j goes where action >> j says. A step is at (1, 0), (0, 1), (1, 1) or (0, 0): the first two are as far apart as any. */
static void kernels(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t j = 0; j < PARTS; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] = (next == (state + (action >> j)) % STATES) / sqrt(PARTS);
}

static const tacit_mixture mixture = {.dimension = PARTS,
                                      .bound = 1,
                                      .parameter_norm = 1.5,
                                      .kernels = true,
                                      .nonnegative = true,
                                      .row = kernels};
static const double rewards[STATES * ACTIONS] = {1, 0, 0.5};

static crowd crowd_of(tacit_guarantee guarantee, const tacit_setting *settings, size_t n,
                      size_t horizon)
{
    return (crowd){.request = {SPACE_OF(STATES, ACTIONS, horizon), SETTINGS_OF(settings, n),
                               .kind = "posterior-mixture", .guarantee = guarantee,
                               .stationary = true, .episodes = USERS, .mixture = &mixture,
                               .rewards = rewards}};
}

static void check(tacit_guarantee guarantee, const tacit_setting *settings, size_t n, bool devices)
{
    static const size_t horizons[] = {2, 4, 11, 20};
    static crowd c;
    for (size_t i = 0; i < N_OF(horizons); i++) {
        c = crowd_of(guarantee, settings, n, horizons[i]);
        c.devices = devices;
        crowd_fill(&c, 1);
        const double least =
            horizons[i] < 20 ? 0.99 : 0.95; /* long trajectories are found slowly */
        neighbors_assert(
            &c,
            &(neighbors_wish){.restarts = 4, .moves = 100, .least = {least}, .least_whole = least});
    }
}

TEST(posterior_mixture_moves_by_what_it_declares)
{
    const tacit_setting early[] = {{.key = "first", .value = "2"},
                                   {.key = "growth", .value = "1.3"}};
    const tacit_setting one[] = {{.key = "first", .value = "12"}, {.key = "growth", .value = "9"}};
    check(joint, NULL, 0, false);
    check(joint, early, 2, false);
    check(joint, one, 2, false);
    check(joint_pure, NULL, 0, false);
    check(joint_pure, early, 2, false);
    check(joint_pure, one, 2, false);
}

/* Rewards that nobody has declared are added too, in the cell of what was done. The worst step of two users needs the same pair and
 * other next states, after which they are in different pairs: they cannot do that at every step, and the bound knows. */
TEST(learned_rewards_move_by_what_is_declared)
{
    static const size_t horizons[] = {2, 4, 11};
    static crowd c;
    for (size_t i = 0; i < 10 * N_OF(horizons); i++) {
        const size_t part = i / N_OF(horizons) % 5;
        const bool pure = i >= 5 * N_OF(horizons);
        c = crowd_of(part < 2 ? (pure ? joint_pure : joint) : (pure ? local_pure : local), NULL, 0,
                     horizons[i % N_OF(horizons)]);
        c.request.rewards = NULL;
        c.request.stationary = part != 1;
        c.request.kind = part == 2 ? "explore-commit-mixture" : "posterior-mixture";
        c.devices = part == 4;
        crowd_fill(&c, 1);
        /* Two ways must change together, which is found slowly: once with patience. */
        const bool patient = i == 1;
        const double least = patient ? 0.99 : c.request.horizon == 2 ? 0.9 : 0.75;
        neighbors_assert(&c, &(neighbors_wish){.restarts = patient ? 8 : 4,
                                               .moves = patient ? 600 : 120,
                                               .least = {least},
                                               .least_whole = least});
    }
}

/* All visits of one person are replaced: from the first user on they are in different batches, later in the same one. */
TEST(people_who_come_back_move_batches_by_what_is_declared)
{
    const tacit_setting early[] = {{.key = "first", .value = "2"},
                                   {.key = "growth", .value = "1.3"}};
    static const struct {
        uint64_t visits, apart;
    } cases[] = {{2, 9}, {4, 4}, {5, 1}};
    static crowd c;
    for (size_t i = 0; i < 6 * N_OF(cases); i++) {
        static const tacit_guarantee *const models[] = {&joint,      &local,      &local,
                                                        &joint_pure, &local_pure, &local_pure};
        c = crowd_of(*models[i / N_OF(cases)], early, 2, 4);
        c.devices = i / N_OF(cases) % 3 == 2;
        c.request.visits = cases[i % N_OF(cases)].visits;
        c.request.apart = cases[i % N_OF(cases)].apart;
        crowd_fill(&c, 1);
        neighbors_assert(&c, &(neighbors_wish){.restarts = 4, .moves = 100, .least = {0.5}});
    }
}

/* Random actions, one release, and nothing of those who come later. */
TEST(explore_commit_mixture_moves_by_what_it_declares)
{
    static crowd c;
    const tacit_setting some = {.key = "explore", .value = "7"};
    for (size_t i = 0; i < 12; i++) {
        const bool pure = i >= 6;
        c = crowd_of(i % 6 < 2 ? (pure ? joint_pure : joint) : (pure ? local_pure : local), &some,
                     i % 2, 4);
        c.request.kind = "explore-commit-mixture";
        c.devices = i % 6 >= 4;
        crowd_fill(&c, 1);
        neighbors_assert(&c, &(neighbors_wish){.restarts = 4, .moves = 100, .least = {0.99}});
    }
}

TEST(local_posterior_mixture_moves_by_what_it_declares)
{
    static const tacit_guarantee faint = {TACIT_MODEL_LOCAL, 0.1, 1e-6},
                                 loud = {TACIT_MODEL_LOCAL, 12, 0};
    static const struct {
        const tacit_guarantee *guarantee;
        size_t dimension; /* of a report about 11 steps: one answer, or two, or 13 numbers */
    } cases[] = {{&local, 1}, {&local_pure, 1}, {&faint, 13}, {&loud, 2}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const crowd c = crowd_of(*cases[i].guarantee, NULL, 0, 11);
        SCOPED(tacit_agent) *agent = agent_of(&c.request, 1);
        const tacit_plan *plan = tacit_ledger_plan(tacit__agent_ledger(agent));
        assert_int_equal(tacit_plan_release(plan, 0)->dimension, cases[i].dimension);
        check(*cases[i].guarantee, NULL, 0, false);
        check(*cases[i].guarantee, NULL, 0, true);
    }
}

/* Late users act by an older plan: they add by the same table, in the batch of their place. */
TEST(late_users_count_by_their_place)
{
    static crowd c;
    for (int i = 0; i < 12; i++) {
        const bool pure = i >= 6;
        c = crowd_of(i % 6 < 2 ? (pure ? joint_pure : joint) : (pure ? local_pure : local), NULL, 0,
                     4);
        c.request.outside = i % 2 == 0 ? TACIT_OUTSIDE_REFUSE : TACIT_OUTSIDE_CLIP;
        c.devices = i % 6 >= 4;
        crowd_fill(&c, 2);
        for (size_t k = 0; k < c.n; k++)
            c.people[k].late = k % 3 == 0 ? 0 : (5 * k) % 10;
        neighbors_assert(
            &c, &(neighbors_wish){.note = "late", .restarts = 3, .moves = 80, .least = {0.99}});
    }
}

/* --- When something is released ---------------------------------------------------------------------- */

typedef struct moments {
    uint64_t user, at[USERS];
    size_t n;
} moments;

static void note_moment(void *context, const tacit__passage *p)
{
    moments *m = context;
    if (p->offset == 0)
        m->at[m->n++] = m->user;
}

static moments observe(const crowd *c, uint64_t seed)
{
    moments m = {.n = 0};
    SCOPED(tacit_agent) *agent = agent_of(&c->request, seed);
    tacit__ledger_set_recorder(tacit__agent_ledger(agent), note_moment, &m);
    for (size_t k = 0; k < c->n; k++) {
        const person *p = &c->people[k];
        const tacit_trajectory t = {
            .states = p->states, .actions = p->actions, .rewards = p->rewards};
        m.user = k + 1;
        (void)agent_board(agent);
        assert_ok(tacit_agent_learn(agent, &t, NULL));
    }
    return m;
}

/* 2, then half of those so far, rounded up; the rest of the last one is never shown. Whoever comes, and whatever the noise. */
TEST(releases_come_when_public_numbers_say)
{
    static const uint64_t wanted[] = {2, 3, 5, 8, 12, 18};
    const tacit_setting settings[] = {{.key = "first", .value = "2"},
                                      {.key = "growth", .value = "1.5"}};
    static crowd c;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        c = crowd_of(joint, settings, 2, 4);
        crowd_fill(&c, seed);
        const moments m = observe(&c, 10 + seed);
        assert_int_equal(m.n, N_OF(wanted));
        for (size_t i = 0; i < m.n; i++)
            assert_int_equal(m.at[i], wanted[i]);
    }
}

/* --- From the noise that was drawn -------------------------------------------------------------------- */

/* Two users whose steps are (1, 0) and (0, 1) throughout, and who begin apart. T is one of +-1/2 for width 1: D = 1. */
TEST(the_guarantee_holds_with_the_noise_that_was_drawn)
{
    enum { HORIZON = 5, AGENTS = 3000 };
    static crowd c;
    c = crowd_of(joint, NULL, 0, HORIZON);
    crowd_fill(&c, 3);
    const double start =
        sqrt((HORIZON - 1) / 32.0); /* docs/why/posterior-mixture.md#first-states */
    drawn_assert(&c, AGENTS, sqrt((HORIZON - 1) + 2 * start * start));
    c.request.guarantee = joint_pure;
    drawn_assert(&c, AGENTS, (HORIZON - 1) * (1 + 2 / 32.0));
}
