/* Gate 1 for posterior-linear and explore-commit-linear: one user is replaced, with the releases frozen. Then everything that others meet is the same, and the
 * loss is at most what the plan declares; the worst pair of users is found by hill climbing, and comes near it, whatever the signs of
 * the features.
 *
 * And once more from the noise that was drawn, not from what is declared of it: how far the worst pair moves what passes the door, in
 * units of the standard deviation of released minus exact, is no more than the guarantee's mu. */
#include <math.h>

#include "support/drawn.h"

enum { STATES = 3, ACTIONS = 3, D = 2, USERS = 24 };

static const char *const kinds[] = {"posterior-linear", "explore-commit-linear"};
static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-6};

/* The same in all states, so that the worst steps follow each other: two corners, and the middle. */
static void corners(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    (void)state;
    out[0] = action == 0 ? 1 : action == 1 ? 0 : 0.5;
    out[1] = 1 - out[0];
}

/* Two that are opposite, and a short one: then the worst pair has the same next states and rewards. */
static void opposites(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    (void)state;
    out[0] = action == 0 ? 1.2 : action == 1 ? -1.2 : 0.1;
    out[1] = action == 0 ? 1.6 : action == 1 ? -1.6 : 0;
}

/* At acute angles, of several lengths; one pair of states is farther apart than any other. */
static void mixed(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    out[0] = 0.3 + 0.2 * state;
    out[1] = 0.2 * action - 0.1 * state;
}

static const tacit_linear tables[] = {
    {.dimension = D, .bound = 1, .simplex = true, .row = corners},
    {.dimension = D, .bound = 2, .row = opposites},
    {.dimension = D, .bound = 2, .row = mixed},
};

static crowd crowd_of(const char *kind, const tacit_linear *linear, tacit_guarantee guarantee,
                      const tacit_setting *settings, size_t n, size_t horizon)
{
    return (crowd){.request = {SPACE_OF(STATES, ACTIONS, horizon), SETTINGS_OF(settings, n),
                               .kind = kind, .guarantee = guarantee, .stationary = horizon % 2 == 0,
                               .episodes = USERS, .linear = linear}};
}

/* What the search must reach: opposite features climb from the second best, same features and other states; and where features depend
 * on the state, the worst steps cannot follow each other. */
static double least_of(const tacit_linear *linear)
{
    return linear->row == corners ? 0.98 : linear->row == opposites ? 0.85 : 0.65;
}

/* In the first so many tables. */
static void check(size_t n_tables, const char *kind, tacit_guarantee guarantee,
                  const tacit_setting *settings, size_t n, bool devices)
{
    static const size_t horizons[] = {1, 2, 5, 11};
    static crowd c;
    for (size_t i = 0; i < N_OF(horizons) * n_tables; i++) {
        const tacit_linear *linear = &tables[i / N_OF(horizons)];
        c = crowd_of(kind, linear, guarantee, settings, n, horizons[i % N_OF(horizons)]);
        c.devices = devices;
        crowd_fill(&c, 1);
        const double least = (devices ? 0.8 : 1) * least_of(linear); /* devices are slow */
        neighbors_assert(
            &c,
            &(neighbors_wish){.restarts = 4, .moves = 120, .least = {least}, .least_whole = least});
    }
}

TEST(posterior_linear_moves_by_what_it_declares)
{
    const tacit_setting early[] = {{.key = "first", .value = "2"},
                                   {.key = "growth", .value = "1.3"}};
    const tacit_setting one[] = {{.key = "first", .value = "12"}, {.key = "growth", .value = "9"}};
    check(N_OF(tables), "posterior-linear", joint, NULL, 0, false);
    check(1, "posterior-linear", joint, early, 2, false);
    check(1, "posterior-linear", joint, one, 2, false);
}

/* Random actions, one release, and nothing of those who come later. */
TEST(explore_commit_linear_moves_by_what_it_declares)
{
    const tacit_setting some = {.key = "explore", .value = "7"};
    check(1, "explore-commit-linear", joint, NULL, 0, false);
    check(1, "explore-commit-linear", joint, &some, 1, false);
    check(1, "explore-commit-linear", local, NULL, 0, false);
}

TEST(local_posterior_linear_moves_by_what_it_declares)
{
    check(2, "posterior-linear", local, NULL, 0, false);
    check(1, "posterior-linear", local, NULL, 0, true);
}

/* All visits of one person are replaced, from every user on: in different batches, or several in one. */
TEST(people_who_come_back_to_posterior_linear_move_it_no_further_than_declared)
{
    static const struct {
        uint64_t visits, apart;
    } cases[] = {{2, 9}, {4, 4}, {5, 1}};
    const tacit_setting early[] = {{.key = "first", .value = "2"},
                                   {.key = "growth", .value = "1.3"}};
    static crowd c;
    for (size_t i = 0; i < 6 * N_OF(cases); i++) {
        const size_t kind = i / (3 * N_OF(cases)), model = i / N_OF(cases) % 3;
        c = crowd_of(kinds[kind], &tables[0], model == 0 ? joint : local, kind == 0 ? early : NULL,
                     kind == 0 ? 2 : 0, 4);
        c.devices = model == 2;
        c.request.visits = cases[i % N_OF(cases)].visits;
        c.request.apart = cases[i % N_OF(cases)].apart;
        crowd_fill(&c, 1);
        neighbors_assert(&c, &(neighbors_wish){.restarts = 4, .moves = 60, .least = {0.45}});
    }
}

/* Late users act by an older plan: they add by the same table, in the batch of their place. */
TEST(late_users_count_by_their_place)
{
    static crowd c;
    for (size_t i = 0; i < 6 * N_OF(kinds); i++) {
        c = crowd_of(kinds[i / 6], &tables[i % N_OF(tables)], i % 6 < 2 ? joint : local, NULL, 0,
                     4);
        c.request.outside = i % 2 == 0 ? TACIT_OUTSIDE_REFUSE : TACIT_OUTSIDE_CLIP;
        c.devices = i % 6 >= 4;
        crowd_fill(&c, 2);
        for (size_t k = 0; k < c.n; k++)
            c.people[k].late = k % 3 == 0 ? 0 : (5 * k) % 10;
        neighbors_assert(
            &c, &(neighbors_wish){.note = "late", .restarts = 3, .moves = 80, .least = {0.65}});
    }
}

/* --- From the noise that was drawn -------------------------------------------------------------------- */

/* Two users who use the same corner throughout, are never in the same state, and have opposite rewards: 2 + 4 for each step before the
 * last, 4 for the last, and the first states. With opposite features, and everything else the same: 8 in place of 6. Sums are shown
 * after 2, 4, 8 and 16 users, each with half of the one before: the first users are in them with 1, 1/2, 1/4 and 1/8. */
static void check_drawn(const tacit_linear *linear, double step)
{
    enum { HORIZON = 5, AGENTS = 1200 };
    const tacit_setting twice[] = {{.key = "first", .value = "2"}, {.key = "growth", .value = "2"}};
    static crowd c;
    c = crowd_of("posterior-linear", linear, joint, twice, 2, HORIZON);
    crowd_fill(&c, 3);
    const double square = (HORIZON - 1) * step + 4, sums = 1 + 1.0 / 4 + 1.0 / 16 + 1.0 / 64;
    drawn_assert(&c, AGENTS, /* first states, posterior-mixture.md */
                 sqrt(sums * (square + 2 * square / 32)));
}

TEST(the_guarantee_holds_with_the_noise_that_was_drawn)
{
    check_drawn(&tables[0], 6);
    check_drawn(&tables[1], 8);
}
