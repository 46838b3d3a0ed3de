/* Gate 1 for bandit learners: every private kind, every model that it has, both calibrations, every layout of actions.
 *
 * One user is replaced, by another context, another action, another reward, with the releases frozen. Then everything that
 * others see is the same, and the loss of all passages together is at most what the plan declares; the worst replacement is
 * found by hill climbing. */
#include <string.h>

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
    c = (crowd){.request = {.kind = s->kind,
                            .settings = s->settings,
                            .n_settings = s->n_settings,
                            .guarantee = s->guarantee,
                            .calibration = s->calibration,
                            .sums = s->sums,
                            .visits = s->visits,
                            .apart = s->apart,
                            .n_states = f->n_states,
                            .n_actions = f->n_actions,
                            .horizon = 1,
                            .stationary = true,
                            .episodes = USERS,
                            .bandit = f->bandit},
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
    .world_settings = {{.key = "d", .value = "4"},                                                 \
                       {.key = "actions", .value = "3"},                                           \
                       {.key = "contexts", .value = "0"}},                                         \
    .n_world_settings = 3
#define DISJOINT_WORLD                                                                             \
    .world = "linear-bandit",                                                                      \
    .world_settings = {{.key = "d", .value = "4"},                                                 \
                       {.key = "arms", .value = "disjoint"},                                       \
                       {.key = "contexts", .value = "0"}},                                         \
    .n_world_settings = 3
#define OPPOSITE_WORLD                                                                             \
    .world = "logged-bandit",                                                                      \
    .world_settings = {{.key = "file", .value = TACIT_TESTS_DIR "/cli/data/people.csv"},           \
                       {.key = "answer", .value = "income {low | high}"},                          \
                       {.key = "context", .value = "age 18..70 ?, sex {Male | ...}"}},             \
    .n_world_settings = 3
#define KERNEL_WORLD                                                                               \
    .world = "kernel-bandit",                                                                      \
    .world_settings = {{.key = "contexts", .value = "3"},                                          \
                       {.key = "actions", .value = "9"},                                           \
                       {.key = "kernel", .value = "matern-1.5(0.4)"}},                             \
    .n_world_settings = 3

TEST(lin_ucb_moves_no_further_than_declared)
{
    const setup setups[] = {
        {.kind = "lin-ucb", SHARED_WORLD, .guarantee = joint, .reached = 0.9},
        {.kind = "lin-ucb", SHARED_WORLD, .guarantee = joint, .sums = "tree", .reached = 0.9},
        {.kind = "lin-ucb", SHARED_WORLD, .guarantee = local, .reached = 0.9},
        {.kind = "lin-ucb", DISJOINT_WORLD, .guarantee = joint, .reached = 0.9},
        {.kind = "lin-ucb", DISJOINT_WORLD, .guarantee = local, .reached = 0.9},
        {.kind = "lin-ucb", OPPOSITE_WORLD, .guarantee = joint, .reached = 0.9},
        {.kind = "lin-ucb", OPPOSITE_WORLD, .guarantee = local, .reached = 0.9},
        {.kind = "lin-ucb",
         SHARED_WORLD,
         .settings = {{.key = "growth", .value = "1"}, {.key = "response_weight", .value = "0.7"}},
         .n_settings = 2,
         .guarantee = joint,
         .reached = 0.8},
        /* the printed tree: a user is in all its levels only in the middle; triangles are shorter than matrices */
        {.kind = "lin-ucb",
         SHARED_WORLD,
         .guarantee = joint,
         .calibration = TACIT_CALIBRATION_PUBLISHED,
         .reached = 0.5},
        {.kind = "lin-ucb",
         SHARED_WORLD,
         .guarantee = local,
         .calibration = TACIT_CALIBRATION_PUBLISHED,
         .reached = 0.5},
    };
    for (size_t i = 0; i < N_OF(setups); i++)
        check(&setups[i]);
}

/* All visits of one person are replaced; the worst pattern may begin elsewhere than where the search begins. */
TEST(people_who_come_back_to_lin_ucb_move_it_no_further_than_declared)
{
#define EACH .settings = {{.key = "growth", .value = "1"}}, .n_settings = 1
    const setup setups[] = {
        {.kind = "lin-ucb",
         SHARED_WORLD,
         EACH,
         .guarantee = joint,
         .reached = 0.9,
         .visits = 3,
         .apart = 7},
        {.kind = "lin-ucb",
         SHARED_WORLD,
         .guarantee = joint,
         .reached = 0.4,
         .visits = 3,
         .apart = 7},
        {.kind = "lin-ucb",
         DISJOINT_WORLD,
         .guarantee = joint,
         .reached = 0.4,
         .visits = 5,
         .apart = 1},
        {.kind = "lin-ucb",
         SHARED_WORLD,
         .guarantee = local,
         .reached = 0.9,
         .visits = 4,
         .apart = 2},
    };
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        check(&setups[i]);
}

/* One release: only those who explore move anything. */
TEST(explore_commit_features_moves_no_further_than_declared)
{
#define FIRST .settings = {{.key = "explore", .value = "15"}}, .n_settings = 1
    const setup setups[] = {
        {.kind = "explore-commit-features",
         SHARED_WORLD,
         FIRST,
         .guarantee = joint,
         .reached = 0.9},
        {.kind = "explore-commit-features",
         SHARED_WORLD,
         FIRST,
         .guarantee = local,
         .reached = 0.9},
        {.kind = "explore-commit-features",
         DISJOINT_WORLD,
         FIRST,
         .guarantee = joint,
         .reached = 0.9},
        {.kind = "explore-commit-features",
         SHARED_WORLD,
         FIRST,
         .guarantee = local,
         .reached = 0.9,
         .devices = true},
    };
    for (size_t i = 0; i < N_OF(setups); i++)
        check(&setups[i]);
}

TEST(capri_moves_no_further_than_declared)
{
    const setup setups[] = {
        {.kind = "capri", KERNEL_WORLD, .guarantee = joint, .reached = 0.9},
        {.kind = "capri", KERNEL_WORLD, .guarantee = local, .reached = 0.9},
        {.kind = "capri", KERNEL_WORLD, .guarantee = local, .reached = 0.9, .devices = true},
        {.kind = "capri",
         KERNEL_WORLD,
         .settings = {{.key = "preset", .value = "faithful"}},
         .n_settings = 1,
         .guarantee = local,
         .reached = 0.9,
         .devices = true},
        {.kind = "capri",
         KERNEL_WORLD,
         .settings = {{.key = "preset", .value = "faithful"}},
         .n_settings = 1,
         .guarantee = joint,
         .reached = 0.9},
        {.kind = "capri",
         KERNEL_WORLD,
         .settings = {{.key = "rank", .value = "4"}, {.key = "width", .value = "pointwise"}},
         .n_settings = 2,
         .guarantee = local,
         .reached = 0.9},
        {.kind = "capri",
         KERNEL_WORLD,
         .guarantee = joint,
         .calibration = TACIT_CALIBRATION_PUBLISHED,
         .reached = 0.2},
        {.kind = "capri",
         KERNEL_WORLD,
         .guarantee = local,
         .calibration = TACIT_CALIBRATION_PUBLISHED,
         .reached = 0.2},
    };
    for (size_t i = 0; i < N_OF(setups); i++)
        check(&setups[i]);
}

/* Several visits in one epoch, and visits in several: the pattern that is declared is found. */
TEST(people_who_come_back_to_learners_in_epochs_move_them_no_further_than_declared)
{
#define PAPER .settings = {{.key = "schedule", .value = "paper"}}, .n_settings = 1
#define THREE .reached = 0.9, .visits = 3, .apart = 7
#define FOUR .reached = 0.9, .visits = 4, .apart = 2
    const setup setups[] = {
        {.kind = "capri", KERNEL_WORLD, .guarantee = joint, THREE},
        {.kind = "capri", KERNEL_WORLD, PAPER, .guarantee = joint, FOUR},
        /* the last epoch has no reports, so that only two of three visits report here */
        {.kind = "capri",
         KERNEL_WORLD,
         .guarantee = local,
         .reached = 0.6,
         .visits = 3,
         .apart = 7},
        {.kind = "capri", KERNEL_WORLD, .guarantee = local, FOUR, .devices = true},
        {.kind = "posterior-kernel", KERNEL_WORLD, .guarantee = joint, THREE},
        {.kind = "posterior-kernel", KERNEL_WORLD, .guarantee = joint, FOUR},
        {.kind = "posterior-kernel",
         KERNEL_WORLD,
         .settings = {{.key = "contexts", .value = "learned"}},
         .n_settings = 1,
         .guarantee = joint,
         FOUR},
        {.kind = "posterior-kernel", KERNEL_WORLD, .guarantee = local, FOUR},
        {.kind = "explore-commit-kernel", KERNEL_WORLD, .guarantee = joint, FOUR},
        {.kind = "explore-commit-kernel", KERNEL_WORLD, .guarantee = local, FOUR},
    };
    for (size_t i = 0; i < N_OF(setups); i++)
        check(&setups[i]);
}

/* Contexts of unknown law: what a user adds for the context moves too, a little less than a reward of the same length would. */
TEST(posterior_kernel_moves_no_further_than_declared)
{
#define LEARNED .settings = {{.key = "contexts", .value = "learned"}}, .n_settings = 1
    const setup setups[] = {
        {.kind = "posterior-kernel", KERNEL_WORLD, .guarantee = joint, .reached = 0.9},
        {.kind = "posterior-kernel", KERNEL_WORLD, LEARNED, .guarantee = joint, .reached = 0.9},
        {.kind = "posterior-kernel", KERNEL_WORLD, .guarantee = local, .reached = 0.9},
        {.kind = "posterior-kernel",
         KERNEL_WORLD,
         .guarantee = local,
         .reached = 0.9,
         .devices = true},
        {.kind = "posterior-kernel",
         KERNEL_WORLD,
         LEARNED,
         .guarantee = local,
         .reached = 0.9,
         .devices = true},
        {.kind = "explore-commit-kernel", KERNEL_WORLD, .guarantee = joint, .reached = 0.9},
        {.kind = "explore-commit-kernel",
         KERNEL_WORLD,
         LEARNED,
         .guarantee = joint,
         .reached = 0.9},
        {.kind = "explore-commit-kernel", KERNEL_WORLD, .guarantee = local, .reached = 0.9},
    };
    for (size_t i = 0; i < N_OF(setups); i++)
        check(&setups[i]);
}
