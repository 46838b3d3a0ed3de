/* A lock: no policy that ignores the data can be good, so the world separates agents that learn from those
 * that do not.
 *
 * States neutral (the start), good and bad pay 0.2, 1 and 0 (`rewards: hidden`: on average). There are d
 * known kernels and d actions; kernel j answers action j kindly and every other one badly. At each step
 * the truth is a mixture in which one hidden kernel has the weight 0.9 and the others share 0.1, so a
 * policy without the combination, (2, 1, 3, 2, 1) repeated, is sent to the bad state nearly always; and
 * kernels and actions are exchangeable, so only data reveal the combination.
 *
 * Features of the mixture: P_j / sqrt(d), parameter sqrt(d) w; |sum_s' phi v| <= 1 for |v| <= 1 since
 * every component is a mean of v over sqrt(d), and |w|_2 <= |w|_1 = 1. */
#include <math.h>

#include "base/error.h"
#include "base/workspace.h"
#include "worlds/kind.h"

enum { NEUTRAL, GOOD, BAD, STATES };

static const tacit_parameter parameters[] = {
    {"d", TACIT_PARAMETER_INTEGER, "4", 2, 1000, "base kernels, and actions"},
    TACIT__HORIZON_PARAMETER("5"),
    TACIT__REWARDS_PARAMETER,
};

/* The callbacks read this. */
typedef struct lock {
    size_t d;
    bool hidden; /* rewards are 0 or 1 */
} lock;

static const double reward_of[STATES] = {[NEUTRAL] = 0.2, [GOOD] = 1, [BAD] = 0};

/* The chances of the next state, from each state: by the right action, whose number is the kernel's
 * own, and by any other. */
static const double right_action[STATES][STATES] = {
    [NEUTRAL] = {.10, .85, .05}, [GOOD] = {.10, .85, .05}, [BAD] = {.25, .65, .10}};
static const double wrong_action[STATES][STATES] = {
    [NEUTRAL] = {.10, .05, .85}, [GOOD] = {.30, .05, .65}, [BAD] = {.10, .05, .85}};

static const size_t combination[] = {2, 1, 3, 2, 1};
enum { LENGTH = sizeof combination / sizeof *combination };

#define HIDDEN_WEIGHT 0.9 /* of the hidden kernel, see above */

static const double *kernel(size_t j, uint32_t state, uint32_t action)
{
    return action == j ? right_action[state] : wrong_action[state];
}

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    TACIT__REQUIRE(s < STATES);
    const lock *l = context;
    size_t d = l->d, hidden = combination[layer % LENGTH] % d;
    double other = (1 - HIDDEN_WEIGHT) / (double)(d - 1);
    for (uint32_t next = 0; next < STATES; next++) {
        double prob = 0;
        for (size_t j = 0; j < d; j++)
            prob += (j == hidden ? HIDDEN_WEIGHT : other) * kernel(j, s, action)[next];
        out[next] = (tacit_outcome){next, prob, reward_of[s]};
    }
    return l->hidden ? tacit__flip_rewards(out, STATES) : STATES;
}

static void features(void *context, uint32_t state, uint32_t action, double *out)
{
    size_t d = ((const lock *)context)->d;
    double scale = 1 / sqrt((double)d);
    for (size_t j = 0; j < d; j++)
        for (size_t next = 0; next < STATES; next++)
            out[j * STATES + next] = scale * kernel(j, state, action)[next];
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    TRY(tacit__read_rewards(values, &out->hides_rewards, err));
    const lock made = {.d = (size_t)tacit__value_of(values, "d")->integer,
                       .hidden = out->hides_rewards};
    lock *l = tacit__workspace_create(&made, sizeof made, NULL, 0);
    if (l == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    out->features = l;
    out->mixture = (tacit_mixture){.dimension = l->d,
                                   .bound = 1,
                                   .parameter_norm = sqrt((double)l->d),
                                   .kernels = true,
                                   .nonnegative = true,
                                   .row = features,
                                   .context = l};
    const tacit__mdp_spec spec = {.n_states = STATES,
                                  .n_actions = l->d,
                                  .horizon = (size_t)tacit__value_of(values, "horizon")->integer,
                                  .reward_high = 1,
                                  .row_max = 2 * STATES,
                                  .row = row,
                                  .context = l};
    return tacit__mdp_create(&spec, &out->mdp, err);
}

const tacit__kind tacit__kind_lock = {
    .face = {"lock",
             "a combination to be found: one of d known kernels rules each step, and only "
             "data tell which",
             "a linear mixture in which kernels and actions are exchangeable", parameters,
             TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};
