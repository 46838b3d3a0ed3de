/* Spaces of every shape that learners learn in, each with the request that describes it. */
#ifndef TACIT_TESTS_SPACES_H
#define TACIT_TESTS_SPACES_H

#include <math.h>

#include "support/arena.h"

typedef struct space {
    const char *world; /* NULL: the rest says it all */
    tacit_setting settings[4];
    size_t n_settings;
    size_t n_states, n_actions, horizon;
    const double *rewards;
    tacit_mixture mixture;
    tacit_linear linear;
    tacit_bandit bandit;
} space;

/* Tables in which some users are as far apart as any: their steps differ in the action alone, so that they follow each other.
 * Part j of the kernels goes where action >> j says. */
enum { FAR_STATES = 3, FAR_ACTIONS = 4, FAR_D = 2 };

static inline void far_kernels(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t j = 0; j < FAR_D; j++)
        for (uint32_t next = 0; next < FAR_STATES; next++)
            out[j * FAR_STATES + next] = (next == (state + (action >> j)) % FAR_STATES) * M_SQRT1_2;
}

static inline void far_vectors(void *context, uint32_t state, uint32_t action, double *out)
{
    static const double corners[FAR_ACTIONS][FAR_D] = {{1, 0}, {0, 1}, {0, -1}, {-1, 0}};
    (void)context, (void)state;
    for (uint32_t j = 0; j < FAR_D; j++)
        for (uint32_t next = 0; next < FAR_STATES; next++)
            out[j * FAR_STATES + next] = corners[action][j] / FAR_STATES;
}

static inline void far_features(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context, (void)state;
    out[0] = action == 0;
    out[1] = action != 0;
}

static const double far_rewards[FAR_STATES * FAR_ACTIONS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

#define SPACE_SETTING(k, v)                                                                        \
    {                                                                                              \
        .key = k, .value = v                                                                       \
    }

static const space spaces[] = {
    {.world = "riverswim",
     .settings = {SPACE_SETTING("states", "3"), SPACE_SETTING("horizon", "4")},
     .n_settings = 2},
    {.world = "random-mixture",
     .settings = {SPACE_SETTING("states", "3"), SPACE_SETTING("horizon", "3"),
                  SPACE_SETTING("actions", "2"), SPACE_SETTING("d", "2")},
     .n_settings = 4},
    {.world = "random-linear",
     .settings = {SPACE_SETTING("states", "4"), SPACE_SETTING("horizon", "3"),
                  SPACE_SETTING("actions", "2"), SPACE_SETTING("d", "3")},
     .n_settings = 4},
    {.world = "kernel-bandit",
     .settings = {SPACE_SETTING("contexts", "4"), SPACE_SETTING("actions", "5"),
                  SPACE_SETTING("kernel", "matern-1.5(0.4)")},
     .n_settings = 3},
    {.world = "linear-bandit",
     .settings = {SPACE_SETTING("d", "3"), SPACE_SETTING("actions", "3"),
                  SPACE_SETTING("contexts", "5")},
     .n_settings = 3},
    {.n_states = FAR_STATES,
     .n_actions = FAR_ACTIONS,
     .horizon = 4,
     .mixture = {.dimension = FAR_D,
                 .bound = 1,
                 .parameter_norm = 1.5,
                 .kernels = true,
                 .nonnegative = true,
                 .row = far_kernels}},
    {.n_states = FAR_STATES,
     .n_actions = FAR_ACTIONS,
     .horizon = 11, /* so long that users answer about one step */
     .rewards = far_rewards,
     .mixture = {.dimension = FAR_D,
                 .bound = 1,
                 .parameter_norm = 1.5,
                 .kernels = true,
                 .nonnegative = true,
                 .row = far_kernels}},
    {.n_states = FAR_STATES,
     .n_actions = FAR_ACTIONS,
     .horizon = 4,
     .rewards = far_rewards,
     .mixture = {.dimension = FAR_D, .bound = 1, .parameter_norm = 1.5, .row = far_vectors}},
    {.n_states = FAR_STATES,
     .n_actions = FAR_ACTIONS,
     .horizon = 4,
     .linear = {.dimension = FAR_D, .bound = 1, .simplex = true, .row = far_features}},
    {.n_actions = 3, .horizon = 1, .bandit = {.dimension = 3, .bound = 2}},
    {.n_actions = 2, .horizon = 1, .bandit = {.dimension = 3, .bound = 1e-3, .disjoint = true}},
    {.n_actions = 2, .horizon = 3, .linear = {.dimension = 3, .bound = 1.5}},
    {.n_actions = 2, .horizon = 3, .linear = {.dimension = 3, .bound = 1, .simplex = true}},
};

/* The request of a space, without a kind, and the world that it points to, or NULL. */
static inline tacit_agent_request space_request(const space *s, uint64_t users, tacit_world **world)
{
    *world = s->world != NULL ? world_of(s->world, s->settings, s->n_settings) : NULL;
    if (*world != NULL)
        return request_in(*world, NULL, (tacit_guarantee){.model = TACIT_MODEL_NONE}, users);
    return (tacit_agent_request){.n_states = s->n_states,
                                 .n_actions = s->n_actions,
                                 .horizon = s->horizon,
                                 .stationary = true,
                                 .episodes = users,
                                 .rewards = s->rewards,
                                 .mixture = s->mixture.dimension > 0 ? &s->mixture : NULL,
                                 .linear = s->linear.dimension > 0 ? &s->linear : NULL,
                                 .bandit = s->bandit.dimension > 0 ? &s->bandit : NULL};
}

#endif
