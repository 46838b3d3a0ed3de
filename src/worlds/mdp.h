/* A finite Markov decision process: sparse transitions, exact values, tables for sampling.
 *
 * Row (layer * n_states + s) * n_actions + a lists the outcomes of action a in state s; a stationary process
 * has one layer, another one a layer for each step. Immutable after creation. */
#ifndef TACIT_WORLDS_MDP_H
#define TACIT_WORLDS_MDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>
#include <tacit/world.h>

#include "worlds/alias.h"

enum {
    TACIT__MAX_STATES = 10000000, /* stated choices: what fits into a large machine's memory, */
    TACIT__MAX_ACTIONS = 1000000, /* and keeps every index in 32 bits */
    TACIT__MAX_HORIZON = 1000000,
    TACIT__MAX_OUTCOMES = 1 << 27, /* about 5 GB */
    TACIT__MAX_POLICY = 1 << 28,   /* horizon * states; a policy is a table of 1 GB then */
    TACIT__NARROW = 4 /* rows of at most this many outcomes are also stored at equal width */
};

#define TACIT__MAX_SOLVING 0x1p34 /* additions in building or solving a process: some 20 seconds */
#define TACIT__SUM_TOLERANCE                                                                       \
    1e-5 /* of probabilities in files: twenty numbers of six printed digits */

/* The description of a process before it exists. `row` writes the outcomes of a row, at most row_max,
 * and says how many; it is called once for each row, in order. Outcomes may come in any order; those of
 * probability 0 are dropped, and those of the same next state and reward are added up. */
typedef struct tacit__mdp_spec {
    size_t n_states, n_actions, horizon;
    bool stationary;
    double reward_low, reward_high;
    size_t row_max, total_max; /* outcomes in a row, and in all rows together (0: rows * row_max) */
    size_t (*row)(void *context, size_t layer, uint32_t state, uint32_t action, tacit_outcome *out);
    void *context;
    const tacit_outcome *initial; /* next and prob; rewards are ignored. NULL: state 0 */
    size_t n_initial;
} tacit__mdp_spec;

typedef struct tacit__mdp {
    size_t n_states, n_actions, horizon;
    size_t n_layers; /* 1: stationary */
    size_t n_rows, n_outcomes;
    double reward_low, reward_high;
    uint32_t *start; /* [n_rows + 1], into the outcomes */
    uint32_t *next;  /* [n_outcomes], ascending within a row */
    double *prob;
    double *reward;         /* [n_rows], expected, in [0, 1] */
    double *outcome_reward; /* [n_outcomes], in [0, 1]; NULL if rewards depend on (s, a) only */
    tacit__bucket *bucket;  /* [n_outcomes], for sampling; values are next states */
    uint32_t *other; /* [n_outcomes], see tacit__alias_build; NULL if there is no outcome_reward */
    size_t width;    /* of narrow rows; 0: some row is longer than NARROW */
    uint32_t *narrow_next; /* [n_rows][width], padded with probability 0 */
    double *narrow_prob;
    size_t n_initial;
    uint32_t *initial;
    double *initial_prob;
    tacit__bucket *initial_bucket;
    size_t n_unreachable;
    uint32_t *unreachable;
} tacit__mdp;

/* Checks that a process of such sizes can be built and solved, where an outcome takes `effort`
 * additions to make: what costs time to draw is checked before it is drawn. `create` checks the sizes
 * again. */
TACIT_MUST_USE tacit_status tacit__mdp_check_size(const tacit__mdp_spec *spec, size_t effort,
                                                  tacit_error *err);

TACIT_MUST_USE tacit_status tacit__mdp_create(const tacit__mdp_spec *spec, tacit__mdp **out,
                                              tacit_error *err);
void tacit__mdp_destroy(tacit__mdp *mdp);

/* Sum of the probabilities, compensated, so that a long row is judged by its numbers and not by
 * rounding. */
double tacit__outcomes_sum(const tacit_outcome *outcomes, size_t n);

/* Optimal values by backward induction into values[horizon + 1][n_states] and the greedy policy, ties
 * to the smallest action, into policy[horizon][n_states]; either may be NULL. Without `values` it needs
 * scratch, 2 n_states long. Returns the value of the initial distribution. */
double tacit__mdp_solve(const tacit__mdp *mdp, uint32_t *policy, double *values, double *scratch);

/* Exact value of policy[horizon][n_states], whose actions must be in range, and of
 * mixed[horizon][n_states][n_actions]; scratch is 2 n_states long. */
double tacit__mdp_evaluate(const tacit__mdp *mdp, const uint32_t *policy, double *scratch);
double tacit__mdp_evaluate_mixed(const tacit__mdp *mdp, const double *mixed, double *scratch);

#endif
