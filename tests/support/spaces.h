/* Spaces of every shape that learners learn in, each with the request that describes it. */
#ifndef TACIT_TESTS_SPACES_H
#define TACIT_TESTS_SPACES_H

#include <math.h>
#include <string.h>

#include "support/arena.h"
#include "support/check.h"

typedef struct space {
    const char *name;
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

/* Two that are opposite, and shorter ones. */
static inline void far_opposites(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context, (void)state;
    out[0] = action == 0 ? 1.2 : action == 1 ? -1.2 : 0.1;
    out[1] = action == 0 ? 1.6 : action == 1 ? -1.6 : 0;
}

/* At acute angles, of several lengths; one pair of states is farther apart than any other. */
static inline void far_angles(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    out[0] = 0.3 + 0.2 * state;
    out[1] = 0.2 * action - 0.1 * state;
}

/* Corners and inner points of a simplex. */
static inline void far_simplex(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t j = 0; j < 3; j++)
        out[j] = action == 0 ? (double)(j == state) : (1 + (double)(j == state)) / 4;
}

/* The actions of a state are opposite. */
static inline void far_signs(void *context, uint32_t state, uint32_t action, double *out)
{
    static const double directions[FAR_STATES][3] = {
        {0.6, 0.8, 0}, {0.48, -0.36, 0.8}, {-2.0 / 3, 1.0 / 3, 2.0 / 3}};
    (void)context;
    for (uint32_t j = 0; j < 3; j++)
        out[j] = (action == 0 ? 1 : -1) * directions[state][j];
}

static const double far_rewards[FAR_STATES * FAR_ACTIONS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                             some_rewards[FAR_STATES * FAR_ACTIONS] = {1, 1, 1, 1};

#define FAR_MIXTURE(row_, kernels_)                                                                \
    {                                                                                              \
        .dimension = FAR_D, .bound = 1, .parameter_norm = 1.5, .kernels = (kernels_),              \
        .nonnegative = (kernels_), .row = (row_)                                                   \
    }
#define FAR_SPACE(steps) .n_states = FAR_STATES, .n_actions = FAR_ACTIONS, .horizon = (steps)

/* Every shape that a learner may ask for: tests of all learners go through them. */
static const space spaces[] = {
    {.name = "river",
     .world = "riverswim",
     .settings = {SET("states", "3"), SET("horizon", "4")},
     .n_settings = 2},
    {.name = "drawn-mixture",
     .world = "random-mixture",
     .settings = {SET("states", "3"), SET("horizon", "3"), SET("actions", "2"), SET("d", "2")},
     .n_settings = 4},
    {.name = "drawn-linear",
     .world = "random-linear",
     .settings = {SET("states", "4"), SET("horizon", "3"), SET("actions", "2"), SET("d", "3")},
     .n_settings = 4},
    {.name = "points",
     .world = "kernel-bandit",
     .settings = {SET("contexts", "4"), SET("actions", "5"), SET("kernel", "matern-1.5(0.4)")},
     .n_settings = 3},
    {.name = "contexts",
     .world = "linear-bandit",
     .settings = {SET("d", "3"), SET("actions", "3"), SET("contexts", "5")},
     .n_settings = 3},
    {.name = "kernels-learned", FAR_SPACE(4), .mixture = FAR_MIXTURE(far_kernels, true)},
    {.name = "kernels-ones",
     FAR_SPACE(11), /* so long that users answer about one step */
     .rewards = far_rewards,
     .mixture = FAR_MIXTURE(far_kernels, true)},
    {.name = "vectors",
     FAR_SPACE(4),
     .rewards = far_rewards,
     .mixture = FAR_MIXTURE(far_vectors, false)},
    {.name = "corners",
     FAR_SPACE(4),
     .linear = {.dimension = FAR_D, .bound = 1, .simplex = true, .row = far_features}},
    {.name = "shared", .n_actions = 3, .horizon = 1, .bandit = {.dimension = 3, .bound = 2}},
    {.name = "disjoint",
     .n_actions = 2,
     .horizon = 1,
     .bandit = {.dimension = 3, .bound = 1e-3, .disjoint = true}},
    {.name = "carried-ball",
     .n_actions = 2,
     .horizon = 3,
     .linear = {.dimension = 3, .bound = 1.5}},
    {.name = "carried-simplex",
     .n_actions = 2,
     .horizon = 3,
     .linear = {.dimension = 3, .bound = 1, .simplex = true}},
    {.name = "arms", .n_states = 1, .n_actions = 3, .horizon = 1},
};

/* What searches for the worst neighbors need beside these (gates/replay.table). */
static const space more_spaces[] = {
    {.name = "table", .n_states = FAR_STATES, .n_actions = 2, .horizon = 4},
    {.name = "table-ones", FAR_SPACE(4), .rewards = far_rewards},
    {.name = "kernels",
     FAR_SPACE(4),
     .rewards = some_rewards,
     .mixture = FAR_MIXTURE(far_kernels, true)},
    {.name = "opposites",
     FAR_SPACE(4),
     .linear = {.dimension = FAR_D, .bound = 2, .row = far_opposites}},
    {.name = "angles", FAR_SPACE(4), .linear = {.dimension = FAR_D, .bound = 2, .row = far_angles}},
    {.name = "simplex",
     .n_states = FAR_STATES,
     .n_actions = 2,
     .horizon = 4,
     .linear = {.dimension = 3, .bound = 1, .simplex = true, .row = far_simplex}},
    {.name = "signs",
     .n_states = FAR_STATES,
     .n_actions = 2,
     .horizon = 4,
     .linear = {.dimension = 3, .bound = 1, .row = far_signs}},
    {.name = "opposite-arms",
     .world = "logged-bandit",
     .settings = {SET("file", TACIT_TESTS_DIR "/cli/data/people.csv"),
                  SET("answer", "income {low | high}"),
                  SET("context", "age 18..70 ?, sex {Male | ...}")},
     .n_settings = 3},
};

/* NULL: there is none of this name. */
static inline const space *space_find(const char *name)
{
    for (size_t i = 0; i < N_OF(spaces) + N_OF(more_spaces); i++) {
        const space *s = i < N_OF(spaces) ? &spaces[i] : &more_spaces[i - N_OF(spaces)];
        if (strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

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
