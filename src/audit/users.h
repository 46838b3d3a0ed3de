/* Users that an auditor makes up: as far apart as can be, ordinary, and outside of the domain.
 *
 * They come from public facts alone: numbers of states and actions, the horizon, the bound of features
 * where those come with the states. No family of agents is named here. */
#ifndef TACIT_AUDIT_USERS_H
#define TACIT_AUDIT_USERS_H

#include <tacit/agent.h>

#include "noise/stream.h"

/* The sizes and bounds of a trajectory. */
typedef struct tacit__form {
    size_t n_states, n_actions, horizon;
    size_t features; /* in a vector, where features come with the states; 0: states are numbered */
    size_t vectors;  /* of features at a step: one for each action, or one for all */
    double bound;    /* of a feature vector's norm */
    bool simplex;    /* features are not negative and sum to 1 */
} tacit__form;

tacit__form tacit__form_of(const tacit_agent_request *q);

typedef struct tacit__user {
    uint32_t *states, *actions;
    double *rewards, *features; /* features NULL where states are numbered */
} tacit__user;

/* n users in one piece of memory, freed by tacit__workspace_destroy. NULL: no memory. */
tacit__user *tacit__users_create(const tacit__form *form, size_t n);
void tacit__user_copy(const tacit__form *form, tacit__user *to, const tacit__user *from);
tacit_trajectory tacit__user_trajectory(const tacit__user *user);
/* The user's situation at step h. */
tacit_situation tacit__user_situation(const tacit__form *form, const tacit__user *user, size_t h);

/* Random numbers for the auditor's own choices, which are not private. */
typedef struct tacit__generator {
    tacit__site site;
    uint64_t step, left;
    uint64_t words[TACIT__WORDS_PER_BLOCK];
} tacit__generator;

TACIT_MUST_USE tacit_status tacit__generator_open(tacit__generator *generator, uint64_t seed,
                                                  const char *what);
uint64_t tacit__generator_below(tacit__generator *generator, uint64_t n);
double tacit__generator_unit(tacit__generator *generator); /* in [0, 1) */

/* A random user, who stays, wanders or jumps, with rewards inside the bounds, often at their ends. */
void tacit__user_random(const tacit__form *form, tacit__generator *generator, tacit__user *out);

/* A user with the same state, action and reward throughout, the state and the action counted from the
 * end if `last`; features are the bound times +-e_0 or +-e_last. */
void tacit__user_extreme(const tacit__form *form, bool last, double reward, tacit__user *out);

/* Changes a user a little, or much, perhaps toward or away from another. */
void tacit__user_mutate(const tacit__form *form, tacit__generator *generator, tacit__user *user,
                        const tacit__user *other);

/* Returns whether a user is within what was declared: states, actions, rewards, lengths of features. */
bool tacit__user_fits(const tacit__form *form, const tacit__user *user);

/* Ways to leave the domain, one at a time, so that a check that is missing cannot hide behind another. */
typedef enum tacit__violation {
    TACIT__REWARD_HIGH,
    TACIT__REWARD_LOW,
    TACIT__REWARD_FAR, /* 1000 times as large as allowed */
    TACIT__REWARD_NAN,
    TACIT__FEATURE_LONG,
    TACIT__FEATURE_BACK, /* as long, the other way */
    TACIT__FEATURE_FAR,  /* what a server gets that declares a bound 1000 times too small */
    TACIT__FEATURE_NAN,
    TACIT__VIOLATIONS
} tacit__violation;

/* Moves a user of the domain out of it; false: this form does not allow such a violation. */
bool tacit__user_violate(const tacit__form *form, tacit__violation violation, tacit__user *user);

#endif
