/* Gate 1 for the learners of linear mixtures: every kind, every model that it has, both calibrations, every sum, tables and
 * features of a user's own, centered or not, at horizons of 4, 11 and 20.
 *
 * One user is replaced, with the releases frozen. Then everything that others meet is the same, and the loss is at most what
 * the plan declares, line by line; the worst pair of users is found by hill climbing. What a line declares is for any features
 * in the unit ball; how near a public table comes is said beside each case, and test_curator_gram.c, which has no table, reaches
 * all of it. */
#include <math.h>

#include "support/check.h"
#include "support/neighbors.h"

enum { STATES = 3, ACTIONS = 4, USERS = 8, PARTS = 2 };

typedef enum features {
    TABLE,   /* one-hot */
    KERNELS, /* part j answers action j, as in a lock */
    SIGNED /* the action turns the feature vector by quarters of a circle: users as far apart as any */
} features;

/* Shares of the declared loss that must be reached: of transitions, and of squares or rewards. */
typedef struct least {
    double first, second;
} least;

typedef struct setup {
    const char *kind;
    features features;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums, *center, *replan;
    const char *schedule; /* NULL: every */
    uint64_t visits, apart;
    least least;
} setup;

static void kernels(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t j = 0; j < PARTS; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] = (next == (state + (action >> j)) % STATES) / sqrt(PARTS);
}

static void turned(void *context, uint32_t state, uint32_t action, double *out)
{
    static const double corners[ACTIONS][PARTS] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    (void)context, (void)state;
    for (uint32_t j = 0; j < PARTS; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] = corners[action][j] / STATES;
}

/* Wide bonuses and full rewards put values at their upper clip: features of tables are then as long as they may be, and those of
 * different pairs orthogonal, with turned ones even opposite. Features of kernels are then all the same; narrow bonuses and
 * rewards of some states keep them apart. */
static void check_at(const setup *s, size_t horizon, bool devices)
{
    static const char *const names[] = {"table", "kernels", "signed"};
    static const double ones[STATES * ACTIONS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                      some[STATES * ACTIONS] = {1, 1, 1, 1};
    static crowd c;
    const bool kernel = s->features == KERNELS;
    const tacit_setting settings[] = {SET("center", s->center), SET("replan", s->replan),
                                      SET("schedule", s->schedule != NULL ? s->schedule : "every"),
                                      SET("bonus_scale", kernel ? "1e-6" : "1")};
    const tacit_mixture mixture = {.dimension = PARTS,
                                   .bound = 1,
                                   .parameter_norm = 1.5,
                                   .kernels = kernel,
                                   .nonnegative = kernel,
                                   .row = kernel ? kernels : turned};
    c = (crowd){.request = {SPACE_OF(STATES, ACTIONS, horizon), SETTINGS_OF(settings, 4),
                            .kind = s->kind, .guarantee = s->guarantee,
                            VISITS_OF(s->visits, s->apart), .calibration = s->calibration,
                            .sums = s->sums, .stationary = true, .episodes = USERS,
                            .mixture = s->features == TABLE ? NULL : &mixture,
                            .rewards = kernel ? some : ones},
                .devices = devices};
    crowd_fill(&c, 1);
    neighbors_assert(&c, &(neighbors_wish){.note = names[s->features],
                                           .restarts = 3,
                                           .moves = 20,
                                           .least = {s->least.first, s->least.second}});
}

static void check(const setup *s)
{
    static const size_t horizons[] = {4, 11, 20};
    for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++)
        check_at(s, horizons[i], false);
    if (s->guarantee.model == TACIT_MODEL_LOCAL)
        check_at(s, horizons[0], true);
}

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             joint_pure = {TACIT_MODEL_JOINT, 1, 0},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-6},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

static void each_model(const char *kind, bool pure, const least tight[3], const least tight_pure[3])
{
    for (int f = TABLE; f <= SIGNED; f++)
        for (int centered = 0; centered < (f == SIGNED ? 1 : 2); centered++) {
            setup s = {.kind = kind,
                       .features = (features)f,
                       .guarantee = joint,
                       .center = centered ? "yes" : "no",
                       .replan = "every",
                       .least = tight[f]};
            check(&s);
            s.guarantee = local;
            check(&s);
            s.least = tight_pure[f];
            for (int i = 0; i < 2 && pure; i++) {
                s.guarantee = i == 0 ? joint_pure : local_pure;
                check(&s);
            }
        }
}

/* Table, kernels, signed. Features of kernels are nonnegative and their squares sum to far less than 1 for values between the
 * clips: no two users of such a table are far apart. In L1 no vector of the signed table is the longest. */
TEST(ucrl_vtr_moves_by_what_it_declares)
{
    each_model("ucrl-vtr", true, (least[]){{0.98, 0}, {0.02, 0}, {0.98, 0}},
               (least[]){{0.99, 0}, {0.03, 0}, {0.6, 0}});
}

/* Transitions are weighted by what is known of the variance, which is little at first: weights are far below 1. */
TEST(ucrl_vtr_plus_moves_by_what_it_declares)
{
    each_model("ucrl-vtr-plus", true, (least[]){{0.01, 0.98}, {0.02, 0.0005}, {0.05, 0.98}},
               (least[]){{0.1, 0.99}, {0.03, 0.005}, {0.1, 0.6}});
}

TEST(linopt_moves_by_what_it_declares)
{
    static const least gaussian[] = {{0.98, 0.97}, {0.0001, 0.97}, {0.98, 0.99}};
    each_model("linopt-vi", false, gaussian, gaussian);
    each_model("linopt-po", false, gaussian, gaussian);
}

static const char *const kinds[] = {"ucrl-vtr", "ucrl-vtr-plus", "linopt-vi", "linopt-po"};

/* One of them, with features of both signs. */
static setup plainly(size_t kind)
{
    return (setup){.kind = kinds[kind],
                   .features = SIGNED,
                   .guarantee = joint,
                   .center = "no",
                   .replan = "every",
                   .least = {kind == 1 ? 0.05 : 0.98, kind == 0 ? 0 : 0.98}};
}

/* Other sums and schedules change nothing; printed constants are for features and targets of any sign and scale. */
TEST(sums_schedules_and_printed_constants_move_by_what_is_declared)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool weighted = i == 1, alone = i == 0;
        setup s = plainly(i);
        s.sums = "tree";
        check_at(&s, 4, false);
        s.sums = NULL;
        s.replan = "doubling";
        check_at(&s, 11, false);
        s.guarantee = local;
        s.replan = "5";
        check_at(&s, 20, false);
        s.replan = "every";
        for (int whole = 0; whole < 2; whole++) {
            /* Q clipped as a whole: noise takes some values down to 0, and [LGLP21] bounds the last step,
             * which is worth 1, by H */
            s.least = whole ? (least){weighted ? 0.01 : 0.4, alone ? 0 : 0.4}
                            : (least){weighted ? 0.05 : 0.85, alone ? 0 : 0.7};
            s.calibration = whole ? TACIT_CALIBRATION_PUBLISHED : TACIT_CALIBRATION_NOISE;
            s.guarantee = local;
            check_at(&s, 4, false);
            s.guarantee = joint;
            check_at(&s, 4, false);
        }
    }
}

/* Users of a batch move one release, and there are four of them, or six. */
TEST(rare_releases_move_by_what_they_declare)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool weighted = i == 1, alone = i == 0;
        setup s = plainly(i);
        s.schedule = "growth(2)";
        check_at(&s, 4, false);
        s.schedule = "growth(1.5)";
        s.features = TABLE;
        s.center = "yes";
        s.least = (least){weighted ? 0.01 : 0.98, alone ? 0 : 0.97};
        check_at(&s, 11, false);
        s.guarantee = joint_pure;
        s.least = (least){0.1, alone ? 0 : 0.9};
        if (i < 2)
            check_at(&s, 4, false);
    }
}

/* Two visits of one person may meet in a batch, or not. */
TEST(people_who_come_back_move_rare_releases_by_what_is_declared)
{
    setup s = {.kind = "ucrl-vtr",
               .features = SIGNED,
               .guarantee = joint,
               .center = "no",
               .replan = "every",
               .schedule = "growth(2)",
               VISITS_OF(2, 1),
               .least = {0.5, 0}};
    check_at(&s, 4, false);
    s.apart = 4;
    check_at(&s, 4, false);
    s.kind = "linopt-vi";
    s.visits = 3;
    s.apart = 2;
    s.least = (least){0.3, 0.3};
    check_at(&s, 4, false);
}

/* All visits of one person are replaced, from every user on. */
TEST(people_who_come_back_to_mixtures_move_them_no_further_than_declared)
{
    static const char *const both[] = {"ucrl-vtr", "linopt-po"};
    static const tacit_guarantee promises[] = {
        {TACIT_MODEL_JOINT, 1, 1e-6}, {TACIT_MODEL_JOINT, 1, 0}, {TACIT_MODEL_LOCAL, 1, 1e-6}};
    for (size_t i = 0; i < N_OF(both) * N_OF(promises); i++) {
        const setup s = {.kind = both[i % N_OF(both)],
                         .features = SIGNED,
                         .guarantee = promises[i / N_OF(both)],
                         .center = "no",
                         .replan = "every",
                         .least = {0.4, 0.4},
                         VISITS_OF(3, 2)};
        if (s.guarantee.delta > 0 || i % N_OF(both) == 0) /* linopt-po has no Laplace noise */
            check_at(&s, 4, false);
    }
}
