/* Spaces of every shape that learners learn in, each with the request that describes it. */
#ifndef TACIT_TESTS_SPACES_H
#define TACIT_TESTS_SPACES_H

#include "support/arena.h"

typedef struct space {
    const char *world; /* NULL: `linear` or `bandit` says it all */
    tacit_setting settings[4];
    size_t n_settings;
    size_t n_actions, horizon;
    tacit_linear linear;
    tacit_bandit bandit;
} space;

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
    return (tacit_agent_request){.n_actions = s->n_actions,
                                 .horizon = s->horizon,
                                 .stationary = true,
                                 .episodes = users,
                                 .linear = s->linear.dimension > 0 ? &s->linear : NULL,
                                 .bandit = s->bandit.dimension > 0 ? &s->bandit : NULL};
}

#endif
