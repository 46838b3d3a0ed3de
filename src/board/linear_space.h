/* What the rooms of an LSVI learner agree on. Plain data; S states (0: not numbered), A actions, H
 * steps, features of dimension d. Inside, features are divided by their bound and lie on a lattice:
 * integers times 2^-feature_bits, of length at most 1. */
#ifndef TACIT_BOARD_LINEAR_SPACE_H
#define TACIT_BOARD_LINEAR_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tacit__feature_form {
    TACIT__ONE_HOT, /* d = S A, phi(s, a) is a unit vector: Gram matrices are diagonal by public knowledge */
    TACIT__TABLE,  /* a public table of features */
    TACIT__CARRIED /* states are not numbered: features come with each user */
} tacit__feature_form;

typedef struct tacit__linear_space {
    tacit__feature_form form;
    size_t n_states, n_actions, horizon, dimension;
    double bound;        /* of the features as users know them */
    bool simplex;        /* no feature is negative and they sum to 1 (before rounding) */
    int feature_bits;    /* lattice step 2^-feature_bits */
    const double *table; /* TABLE: [S A][d], in lattice steps */
    /* All steps are alike: one Gram matrix for all of them, and every regression takes all of a user's steps.
     * States are numbered then. */
    bool pooled;
} tacit__linear_space;

typedef enum tacit__lsvi_schedule {
    TACIT__EVERY,    /* a new policy for each user */
    TACIT__BATCHED,  /* after each of B equal batches */
    TACIT__DOUBLING, /* when the determinant of a Gram matrix has grown by a factor */
    TACIT__GROWTH,   /* after batches that grow */
    TACIT__RAYLEIGH  /* when a Gram matrix has grown by a factor in some direction */
} tacit__lsvi_schedule;

/* Whether released Gram matrices decide when the policy changes, so that they are looked at all the time. */
static inline bool tacit__lsvi_watches(tacit__lsvi_schedule schedule)
{
    return schedule == TACIT__DOUBLING || schedule == TACIT__RAYLEIGH;
}

/* The unit of a response: it is the sum of phi ((r + V - low) / range - center). */
typedef struct tacit__target_unit {
    double low, range;
} tacit__target_unit;

/* Numbers in the release of one step's Gram matrix: its packed triangle (linalg/symmetric.h), or
 * its diagonal. */
static inline size_t tacit__gram_size(const tacit__linear_space *space)
{
    size_t d = space->dimension;
    return space->form == TACIT__ONE_HOT ? d : d * (d + 1) / 2;
}

/* How many Gram matrices are released together, and how many of a user's steps are in each. */
static inline size_t tacit__gram_count(const tacit__linear_space *space)
{
    return space->pooled ? 1 : space->horizon;
}

static inline size_t tacit__gram_steps(const tacit__linear_space *space)
{
    return space->pooled ? space->horizon : 1;
}

#endif
