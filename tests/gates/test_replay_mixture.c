/* explore */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/neighbors.h"

enum { STATES = 3, ACTIONS = 4, USERS = 8, PARTS = 2 };

typedef enum features {
    TABLE,   /* one-hot */
    KERNELS, /* part j answers action j, as in a lock */
    SIGNED /* the action turns the feature vector by quarters of a circle: users as far apart as any */
} features;

typedef struct setup {
    const char *kind;
    features features;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    const char *sums, *center, *replan;
    double least[TAPE_LINES];
} setup;

static void kernels(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t j = 0; j < PARTS; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] =
                (next == (state + (action == j)) % STATES ? 0.8 : 0.1) / sqrt(PARTS);
}

static void turned(void *context, uint32_t state, uint32_t action, double *out)
{
    static const double corners[ACTIONS][PARTS] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    (void)context, (void)state;
    for (uint32_t j = 0; j < PARTS; j++)
        for (uint32_t next = 0; next < STATES; next++)
            out[j * STATES + next] = corners[action][j] / STATES;
}

static const size_t horizons[] = {4, 11, 20};

static void check(const setup *s)
{
    static crowd c;
    static const char *const names[] = {"table", "kernels", "signed"};
    static const double ones[STATES * ACTIONS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tacit_setting settings[] = {{.key = "center", .value = s->center},
                                {.key = "replan", .value = s->replan},
                                {.key = "bonus_scale", .value = "1"}};
    tacit_mixture mixture = {.dimension = PARTS,
                             .bound = 1,
                             .parameter_norm = 1.5,
                             .kernels = s->features == KERNELS,
                             .nonnegative = s->features == KERNELS,
                             .row = s->features == KERNELS ? kernels : turned};
    for (size_t i = 0; i < 3; i++) {
        c = (crowd){.request = {.kind = s->kind,
                                .settings = settings,
                                .n_settings = 3,
                                .guarantee = s->guarantee,
                                .calibration = s->calibration,
                                .sums = s->sums,
                                .n_states = STATES,
                                .n_actions = ACTIONS,
                                .horizon = horizons[i],
                                .stationary = true,
                                .episodes = USERS,
                                .mixture = s->features == TABLE ? NULL : &mixture,
                                .rewards = ones}};
        crowd_fill(&c, USERS, 1);
        neighbors_wish wish = {.note = names[s->features], .restarts = 3, .moves = 100};
        neighbors_assert(&c, &wish);
        if (s->guarantee.model == TACIT_MODEL_LOCAL && i == 0) {
            c.devices = true;
            neighbors_assert(&c, &wish);
        }
    }
}

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             joint_pure = {TACIT_MODEL_JOINT, 1, 0},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-6},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

static void each_model(const char *kind, bool pure)
{
    for (int f = TABLE; f <= SIGNED; f++)
        for (int centred = 0; centred < (f == SIGNED ? 1 : 2); centred++) {
            const char *center = centred ? "yes" : "no";
            setup s = {kind, (enum features)f, joint,   TACIT_CALIBRATION_TIGHT,
                       NULL, center,           "every", {0}};
            check(&s);
            s.guarantee = local;
            check(&s);
            for (int i = 0; i < 2 && pure; i++) {
                s.guarantee = i == 0 ? joint_pure : local_pure;
                check(&s);
            }
        }
}

static void tryall(void **state)
{
    (void)state;
    each_model("ucrl-vtr", true);
    each_model("ucrl-vtr-plus", true);
    each_model("linopt-vi", false);
    each_model("linopt-po", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tryall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
