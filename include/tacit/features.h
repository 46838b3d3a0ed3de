/* Features: what is publicly known about the structure of a world, for learners that do not count states.
 *
 * When an agent is created, it calls the callbacks for every pair, in order, perhaps more than once; they
 * must always return the same. Everything that these structures point to must outlive the agent.
 *
 * All of this counts as public and is used without noise. Features, mixtures, kernels, norms and weights must
 * not be fitted on the people whose data the agent protects: features fitted on private data reveal them.
 * Choose them from public knowledge, or fit them on other people's data. */
#ifndef TACIT_FEATURES_H
#define TACIT_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Transitions are an unknown mixture of known parts: P_h(s' | s, a) = sum_j theta_hj phi_j(s' | s, a). */
typedef struct tacit_mixture {
    size_t dimension;      /* d: parts */
    double bound;          /* |sum_s' phi(s' | s, a) v(s')| <= bound for every v in [0, 1] */
    double parameter_norm; /* |theta_h| <= parameter_norm */
    /* The same bound holds for every v in [-1, 1], and shifting v by a constant c shifts the prediction by
     * c, whatever theta: true of mixtures of probability kernels. Allows centered targets. */
    bool kernels;
    bool nonnegative; /* no phi_j is negative */
    /* Writes out[dimension][n_states]. */
    void (*row)(void *context, uint32_t state, uint32_t action, double *out);
    void *context;
} tacit_mixture;

/* Transitions and rewards are linear in known features: E[r + v(s') | s, a] = phi(s, a) . w for some w
 * that depends on v and on the step. */
typedef struct tacit_linear {
    size_t dimension; /* d */
    double bound;     /* |phi(s, a)| <= bound */
    bool simplex;     /* no feature is negative and they sum to 1: allows centered targets */
    /* Writes out[dimension]. NULL: features come with the states (tacit_situation, tacit_trajectory). */
    void (*row)(void *context, uint32_t state, uint32_t action, double *out);
    void *context;
} tacit_linear;

/* One-step worlds: a user comes with a context, an action is chosen, a reward in [0, 1] follows. Each pair of
 * a context and an action has `dimension` features.
 *
 * Contexts are numbered (tacit_world_facts.n_states of them, with their features in `points`), or every
 * user brings features of their own (points NULL, n_states 0; tacit_situation.features,
 * tacit_trajectory.features). */
typedef struct tacit_bandit {
    size_t dimension;
    size_t context_dimension; /* how many of the first features are the context's; 0: unknown */
    double bound;             /* no vector of features is longer */
    /* The features are the context's alone, [dimension] instead of [actions][dimension]: learners give
     * every action parameters of its own. */
    bool disjoint;
    /* two actions whose rewards always sum to 1: one reward implies the other */
    bool complementary;
    /* |theta| <= parameter_norm in E[reward] - 1/2 = features . theta, or the RKHS norm of that
     * difference; 0: not known */
    double parameter_norm;
    const double *points;  /* [states][actions][dimension], or [states][dimension] if disjoint */
    const double *weights; /* the probability of each numbered context; NULL: unknown, or none */
    const char *kernel;    /* as text; the mean reward is known to be smooth in it; NULL: none */
} tacit_bandit;

#ifdef __cplusplus
}
#endif

#endif
