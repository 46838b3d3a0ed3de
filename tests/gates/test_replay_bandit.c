/* Gate 1 for bandit learners: every private kind, every model that it has, both calibrations, every layout of actions.
 *
 * One user is replaced, by another context, another action, another reward, with the releases frozen. Then everything that
 * others see is the same, and the loss of all passages together is at most what the plan declares; the worst replacement is
 * found by hill climbing. */

#include <tacit/world.h>

#include "support/check.h"
#include "support/neighbors.h"
#include "support/world.h"

enum { USERS = 24 };

typedef struct setup {
    const char *kind, *world;
    tacit_setting world_settings[3];
    size_t n_world_settings;
    tacit_setting settings[2];
    size_t n_settings;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums;
    double reached; /* at least this share of the declared loss is found */
    bool devices;   /* local: devices follow a server's model, and the server takes their reports */
    uint64_t visits, apart;
} setup;

static void check(const setup *s)
{
    static crowd c;
    SCOPED(tacit_world) *world = world_of(s->world, s->world_settings, s->n_world_settings);
    const tacit_world_facts *f = tacit_world_describe(world);
    c = (crowd){.request = {SPACE_OF(f->n_states, f->n_actions, 1),
                            SETTINGS_OF(s->settings, s->n_settings), .kind = s->kind,
                            .guarantee = s->guarantee, .calibration = s->calibration,
                            .sums = s->sums, VISITS_OF(s->visits, s->apart), .stationary = true,
                            .episodes = USERS, .bandit = f->bandit},
                .features = f->bandit->points != NULL ? CROWD_NUMBERED : CROWD_BALL,
                .rows = f->bandit->disjoint ? 1 : f->n_actions,
                .dimension = f->bandit->dimension,
                .bound = f->bandit->bound,
                .devices = s->devices};
    crowd_fill(&c, 1);
    neighbors_assert(&c, &(neighbors_wish){.note = s->world,
                                           .restarts = 4,
                                           .moves = 300,
                                           .least = {s->reached},
                                           .least_whole = s->reached});
}

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-6};

#define SHARED_WORLD                                                                               \
    .world = "linear-bandit",                                                                      \
    .world_settings = {SET("d", "4"), SET("actions", "3"), SET("contexts", "0")},                  \
    .n_world_settings = 3
#define DISJOINT_WORLD                                                                             \
    .world = "linear-bandit",                                                                      \
    .world_settings = {SET("d", "4"), SET("arms", "disjoint"), SET("contexts", "0")},              \
    .n_world_settings = 3
#define OPPOSITE_WORLD                                                                             \
    .world = "logged-bandit",                                                                      \
    .world_settings = {SET("file", TACIT_TESTS_DIR "/cli/data/people.csv"),                        \
                       SET("answer", "income {low | high}"),                                       \
                       SET("context", "age 18..70 ?, sex {Male | ...}")},                          \
    .n_world_settings = 3
#define KERNEL_WORLD                                                                               \
    .world = "kernel-bandit",                                                                      \
    .world_settings = {SET("contexts", "3"), SET("actions", "4"),                                  \
                       SET("kernel", "matern-1.5(0.4)")},                                          \
    .n_world_settings = 3

/* A row of a table: what all of them have, and then what is special. */
#define ROW(kind_, world_, guarantee_, reached_, ...)                                              \
    {                                                                                              \
        .kind = kind_, world_, .guarantee = guarantee_, .reached = reached_, __VA_ARGS__           \
    }
#define WITH(key_, value_) .settings = {SET(key_, value_)}, .n_settings = 1
#define VISITS(visits_, apart_) .visits = visits_, .apart = apart_
#define PUBLISHED .calibration = TACIT_CALIBRATION_PUBLISHED
#define NOISE .calibration = TACIT_CALIBRATION_NOISE
#define RECALLED .calibration = TACIT_CALIBRATION_RECALLED
#define CHECK_ALL(setups)                                                                          \
    for (size_t i_ = 0; i_ < N_OF(setups); i_++)                                                   \
    check(&(setups)[i_])

TEST(lin_ucb_moves_no_further_than_declared)
{
    const setup setups[] = {
        ROW("lin-ucb", SHARED_WORLD, joint, 0.9, .devices = false),
        ROW("lin-ucb", SHARED_WORLD, joint, 0.9, .sums = "tree"),
        ROW("lin-ucb", SHARED_WORLD, local, 0.9, .devices = false),
        ROW("lin-ucb", DISJOINT_WORLD, joint, 0.9, .devices = false),
        ROW("lin-ucb", DISJOINT_WORLD, local, 0.9, .devices = false),
        ROW("lin-ucb", OPPOSITE_WORLD, joint, 0.9, .devices = false),
        ROW("lin-ucb", OPPOSITE_WORLD, local, 0.9, .devices = false),
        ROW("lin-ucb", SHARED_WORLD, joint, 0.8,
            .settings = {SET("growth", "1"), SET("response_weight", "0.7")}, .n_settings = 2),
        /* the printed tree: a user is in all its levels only in the middle; triangles are shorter than matrices */
        ROW("lin-ucb", SHARED_WORLD, joint, 0.5, RECALLED),
        ROW("lin-ucb", SHARED_WORLD, local, 0.5, RECALLED),
    };
    CHECK_ALL(setups);
}

/* All visits of one person are replaced; the worst pattern may begin elsewhere than where the search begins. */
TEST(people_who_come_back_to_lin_ucb_move_it_no_further_than_declared)
{
    const setup setups[] = {
        ROW("lin-ucb", SHARED_WORLD, joint, 0.9, WITH("growth", "1"), VISITS(3, 7)),
        ROW("lin-ucb", SHARED_WORLD, joint, 0.4, VISITS(3, 7)),
        ROW("lin-ucb", DISJOINT_WORLD, joint, 0.4, VISITS(5, 1)),
        ROW("lin-ucb", SHARED_WORLD, local, 0.9, VISITS(4, 2)),
    };
    CHECK_ALL(setups);
}

/* One release: only those who explore move anything. */
TEST(explore_commit_features_moves_no_further_than_declared)
{
    const setup setups[] = {
        ROW("explore-commit-features", SHARED_WORLD, joint, 0.9, WITH("explore", "15")),
        ROW("explore-commit-features", SHARED_WORLD, local, 0.9, WITH("explore", "15")),
        ROW("explore-commit-features", DISJOINT_WORLD, joint, 0.9, WITH("explore", "15")),
        ROW("explore-commit-features", SHARED_WORLD, local, 0.9, WITH("explore", "15"),
            .devices = true),
    };
    CHECK_ALL(setups);
}

TEST(capri_moves_no_further_than_declared)
{
    const setup setups[] = {
        ROW("capri", KERNEL_WORLD, joint, 0.9, .devices = false),
        ROW("capri", KERNEL_WORLD, local, 0.9, .devices = false),
        ROW("capri", KERNEL_WORLD, local, 0.9, .devices = true),
        ROW("capri", KERNEL_WORLD, local, 0.9, WITH("preset", "faithful"), .devices = true),
        ROW("capri", KERNEL_WORLD, joint, 0.9, WITH("preset", "faithful")),
        ROW("capri", KERNEL_WORLD, local, 0.9,
            .settings = {SET("rank", "4"), SET("width", "pointwise")}, .n_settings = 2),
        ROW("capri", KERNEL_WORLD, joint, 0.2, PUBLISHED),
        ROW("capri", KERNEL_WORLD, local, 0.2, PUBLISHED),
    };
    CHECK_ALL(setups);
}

/* Several visits in one epoch, and visits in several: the pattern that is declared is found. */
TEST(people_who_come_back_to_learners_in_epochs_move_them_no_further_than_declared)
{
    const setup setups[] = {
        ROW("capri", KERNEL_WORLD, joint, 0.9, VISITS(3, 7)),
        ROW("capri", KERNEL_WORLD, joint, 0.9, WITH("schedule", "paper"), VISITS(4, 2)),
        /* the last epoch has no reports, so that only two of three visits report here */
        ROW("capri", KERNEL_WORLD, local, 0.6, VISITS(3, 7)),
        ROW("capri", KERNEL_WORLD, local, 0.9, VISITS(4, 2), .devices = true),
        ROW("posterior-kernel", KERNEL_WORLD, joint, 0.9, VISITS(3, 7)),
        ROW("posterior-kernel", KERNEL_WORLD, joint, 0.9, VISITS(4, 2)),
        ROW("posterior-kernel", KERNEL_WORLD, joint, 0.9, WITH("contexts", "learned"),
            VISITS(4, 2)),
        ROW("posterior-kernel", KERNEL_WORLD, local, 0.9, VISITS(4, 2)),
        ROW("explore-commit-kernel", KERNEL_WORLD, joint, 0.9, VISITS(4, 2)),
        ROW("explore-commit-kernel", KERNEL_WORLD, local, 0.9, VISITS(4, 2)),
    };
    CHECK_ALL(setups);
}

/* Contexts of unknown law: what a user adds for the context moves too, a little less than a reward of the same length would. */
TEST(posterior_kernel_moves_no_further_than_declared)
{
    const setup setups[] = {
        ROW("posterior-kernel", KERNEL_WORLD, joint, 0.9, .devices = false),
        ROW("posterior-kernel", KERNEL_WORLD, joint, 0.9, WITH("contexts", "learned")),
        ROW("posterior-kernel", KERNEL_WORLD, local, 0.9, .devices = false),
        ROW("posterior-kernel", KERNEL_WORLD, local, 0.9, .devices = true),
        ROW("posterior-kernel", KERNEL_WORLD, local, 0.9, WITH("contexts", "learned"),
            .devices = true),
        ROW("explore-commit-kernel", KERNEL_WORLD, joint, 0.9, .devices = false),
        ROW("explore-commit-kernel", KERNEL_WORLD, joint, 0.9, WITH("contexts", "learned")),
        ROW("explore-commit-kernel", KERNEL_WORLD, local, 0.9, .devices = false),
    };
    CHECK_ALL(setups);
}
