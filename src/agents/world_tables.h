/* Public knowledge about a world, as tables that come from files (a service) or from a billboard (a device)
 * and not from a world of the library. A request passes it to an agent by its pointers. */
#ifndef TACIT_AGENTS_WORLD_TABLES_H
#define TACIT_AGENTS_WORLD_TABLES_H

#include <tacit/agent.h>

/* S states, A actions, H steps:
 *   rewards   [H, or 1 if steps are alike][S][A], expected, in [0, 1]
 *   mixture   [S][A][parts][S], each row a distribution: transitions are an unknown mixture of them
 *   features  [S][A][features], or [S][features] if they are the context's alone
 *   weights   [S], how likely each context is; horizon 1 and a table of features */
typedef enum tacit__table_name {
    TACIT__TABLE_REWARDS,
    TACIT__TABLE_MIXTURE,
    TACIT__TABLE_FEATURES,
    TACIT__TABLE_WEIGHTS,
    TACIT__N_TABLES
} tacit__table_name;
extern const char *const tacit__table_names[TACIT__N_TABLES];

/* Requests and agents point into it: it must not move, and must outlive them. */
typedef struct tacit__world_tables {
    double *table[TACIT__N_TABLES]; /* owned; NULL: not known */
    size_t parts;                   /* of the mixture */
    size_t features; /* of an action; 0: none. Without a table they come with users */
    size_t context;  /* this many features, the first ones, are the context's; 0: not known */
    double bound;    /* no vector of features is longer; 0: that of the table's longest */
    bool disjoint;   /* features are the context's alone; horizon 1 */
    /* Declared, as in tacit/features.h. */
    bool simplex;          /* of features that come with users; a table's are looked at */
    bool complementary;    /* two actions, features that are the context's alone */
    double parameter_norm; /* horizon 1; 0: not known */
    const char *kernel;    /* NULL: none. By reference */
    /* what requests point to */
    size_t n_states, n_actions;
    tacit_mixture mixture;
    tacit_linear linear;
    tacit_bandit bandit;
} tacit__world_tables;

void tacit__world_tables_destroy(tacit__world_tables *known);

/* Numbers in a table of such a space; 0: more than can be kept (2^27, a stated choice: 1 GB). */
size_t tacit__world_tables_size(const tacit__world_tables *known, const tacit_agent_request *q,
                                tacit__table_name table);

/* Every table that is there is what was declared: rewards in [0, 1], rows that sum to 1, no vector
 * longer than the bound. */
bool tacit__world_tables_is_valid(const tacit__world_tables *known,
                                  const tacit_agent_request *space);

/* Returns whether features that a user brings, of all actions or of the context alone, are what was
 * declared: no vector longer than the bound, up to rounding, and on the simplex if that was said. */
bool tacit__world_tables_accepts(const tacit__world_tables *known, const tacit_agent_request *space,
                                 const double *features);

/* Lets a request with a space point to it. */
void tacit__world_tables_set_request(tacit__world_tables *known, tacit_agent_request *q);

/* Features of one situation that users bring; 0: states are numbered. */
size_t tacit__world_tables_per_user(const tacit__world_tables *known, const tacit_agent_request *q);

/* The amount by which probabilities of a row may be from 1 together, and a vector beyond its bound, by
 * rounding. */
#define TACIT__TABLES_TOL 1e-9

#endif
