/* The parts of a kind of world. To add one, write a file with a tacit__kind, and its line in world.c. */
#ifndef TACIT_WORLDS_KIND_H
#define TACIT_WORLDS_KIND_H

#include <tacit/world.h>

#include "text/values.h"
#include "worlds/bandit.h"
#include "worlds/mdp.h"

/* A kind makes this: the process, and what is publicly known about its structure. */
typedef struct tacit__model {
    tacit__mdp *mdp;
    tacit_mixture mixture; /* dimension 0: none */
    tacit_linear linear;
    bool hides_rewards;    /* learners are not told the expected rewards */
    void *features;        /* what the callbacks read; freed with the world */
    tacit__bandit *bandit; /* instead of all that, for bandit worlds */
} tacit__model;

typedef struct tacit__kind {
    tacit_world_kind face;
    tacit_world_family family;
    /* NULL: the program's own, see custom_worlds.h. */
    tacit_status (*create)(const tacit__values *values, tacit__model *out, tacit_error *err);
} tacit__kind;

extern const tacit__kind tacit__kind_riverswim, tacit__kind_random_tabular, tacit__kind_grid,
    tacit__kind_deep_sea, tacit__kind_table, tacit__kind_random_linear, tacit__kind_random_mixture,
    tacit__kind_lock, tacit__kind_kernel_bandit, tacit__kind_linear_bandit,
    tacit__kind_logged_bandit, tacit__kind_reference;

/* The rows every finite kind declares alike. */
#define TACIT__HORIZON_PARAMETER(fallback)                                                         \
    {                                                                                              \
        "horizon", TACIT_PARAMETER_INTEGER, fallback, 1, TACIT__MAX_HORIZON, "steps in an episode" \
    }
#define TACIT__SEED_PARAMETER(help)                                                                \
    {                                                                                              \
        "seed", TACIT_PARAMETER_INTEGER, "1", 0, 9007199254740992, help                            \
    }

/* The parameter of worlds in which learners may have to find out about rewards. */
#define TACIT__REWARDS_PARAMETER                                                                   \
    {                                                                                              \
        "rewards", TACIT_PARAMETER_TEXT, "known", 0, 0,                                            \
            "known: the same each time, and learners are told; hidden: 1 or 0 with that mean, "    \
            "and "                                                                                 \
            "nobody is told"                                                                       \
    }
TACIT_MUST_USE tacit_status tacit__read_rewards(const tacit__values *values, bool *hidden,
                                                tacit_error *err);

/* n outcomes become those of rewards 1 or 0 with the same means: at most 2 n, for which there is room. */
size_t tacit__flip_rewards(tacit_outcome *outcomes, size_t n);

/* The process of a world; NULL if its family has none. */
const tacit__mdp *tacit__world_mdp(const tacit_world *world);
const tacit__bandit *tacit__world_bandit(const tacit_world *world);

#endif
