/* What a kind of world is made of. Adding one: a file with a tacit__kind, and its line in world.c. */
#ifndef TACIT_WORLDS_KIND_H
#define TACIT_WORLDS_KIND_H

#include <tacit/world.h>

#include "base/settings.h"
#include "worlds/mdp.h"

/* A finite world needs the process and nothing else; other families will add their model here. */
typedef struct tacit__kind {
    tacit_world_kind face;
    tacit_world_family family;
    /* values[i] is the value of face.parameters[i]. */
    tacit_status (*create)(const tacit__value *values, const tacit__origin *origin,
                           tacit__mdp **out, tacit_error *err);
} tacit__kind;

extern const tacit__kind tacit__kind_riverswim, tacit__kind_random_tabular, tacit__kind_grid,
    tacit__kind_deep_sea, tacit__kind_table;

/* The rows every finite kind declares alike. */
#define TACIT__HORIZON_PARAMETER(fallback)                                                         \
    {                                                                                              \
        "horizon", TACIT_PARAMETER_INTEGER, fallback, 1, TACIT__MAX_HORIZON, "steps in an episode" \
    }
#define TACIT__SEED_PARAMETER(help)                                                                \
    {                                                                                              \
        "seed", TACIT_PARAMETER_INTEGER, "1", 0, 9007199254740992, help                            \
    }

/* The process of a world; NULL if its family has none. */
const tacit__mdp *tacit__world_mdp(const tacit_world *world);

#endif
