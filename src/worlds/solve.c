/* Exact values of a finite process: backward induction, and evaluation of a given policy.
 *
 * One formula, at every row:  q = r + ((p0 v0 + p1 v1) + (p2 v2 + p3 v3)), rows longer than four adding every
 * fourth product to the same of the four sums. All functions here share it, so that the value of the greedy
 * policy, evaluated, is the optimal value to the last bit. Short rows are kept at equal width (mdp.c), and
 * the width is a constant in the code that runs through them: with products by padding zeros nothing
 * branches, and the bits are those of the general code.
 *
 * Cost: 2 horizon n flops for n outcomes per step, those of the chosen actions or of all. */
#include "base/error.h"
#include "worlds/mdp.h"

#include <string.h>

/* Expected reward and next value of a row; width 0 is the general code. */
TACIT__INLINE double row_value(const tacit__mdp *mdp, size_t row, const double *v, size_t width)
{
    double part[TACIT__NARROW] = {0};
    if (width > 0) {
        const uint32_t *next = mdp->narrow_next + row * width;
        const double *prob = mdp->narrow_prob + row * width;
        part[0] = prob[0] * v[next[0]]; /* written out: at -O2 the loop would stay one */
        part[1] = width > 1 ? prob[1] * v[next[1]] : 0;
        part[2] = width > 2 ? prob[2] * v[next[2]] : 0;
        part[3] = width > 3 ? prob[3] * v[next[3]] : 0;
    } else {
        size_t i = mdp->start[row], end = mdp->start[row + 1];
        for (; i + TACIT__NARROW <= end; i += TACIT__NARROW)
            for (size_t j = 0; j < TACIT__NARROW; j++)
                part[j] += mdp->prob[i + j] * v[mdp->next[i + j]];
        for (size_t j = 0; i < end; i++, j++)
            part[j] += mdp->prob[i] * v[mdp->next[i]];
    }
    return mdp->reward[row] + ((part[0] + part[1]) + (part[2] + part[3]));
}

TACIT__INLINE size_t first_row(const tacit__mdp *mdp, size_t h)
{
    return mdp->n_layers == 1 ? 0 : h * mdp->n_states * mdp->n_actions;
}

/* Value at the initial distribution. */
static double start_value(const tacit__mdp *mdp, const double *v)
{
    TACIT__REQUIRE(mdp->n_initial > 0);
    double value = 0;
    for (size_t i = 0; i < mdp->n_initial; i++)
        value += mdp->initial_prob[i] * v[mdp->initial[i]];
    return value;
}

/* v = max over actions, from the values of the next step. */
TACIT__INLINE void best_step(const tacit__mdp *mdp, size_t h, const double *next_v, double *v,
                             uint32_t *policy, size_t width)
{
    size_t row = first_row(mdp, h);
    for (size_t s = 0; s < mdp->n_states; s++) {
        double best = row_value(mdp, row++, next_v, width);
        uint32_t best_action = 0;
        for (uint32_t a = 1; a < mdp->n_actions; a++) {
            double q = row_value(mdp, row++, next_v, width);
            best_action = q > best ? a : best_action;
            best = q > best ? q : best;
        }
        v[s] = best;
        if (policy != NULL)
            policy[s] = best_action;
    }
}

TACIT__INLINE void fixed_step(const tacit__mdp *mdp, size_t h, const double *next_v, double *v,
                              const uint32_t *policy, size_t width)
{
    size_t first = first_row(mdp, h);
    for (size_t s = 0; s < mdp->n_states; s++)
        v[s] = row_value(mdp, first + s * mdp->n_actions + policy[s], next_v, width);
}

TACIT__INLINE void mixed_step(const tacit__mdp *mdp, size_t h, const double *next_v, double *v,
                              const double *mixed, size_t width)
{
    size_t row = first_row(mdp, h);
    for (size_t s = 0; s < mdp->n_states; s++) {
        double value = 0;
        for (size_t a = 0; a < mdp->n_actions; a++, row++, mixed++)
            if (*mixed != 0) /* policies of learners are often nearly pure */
                value += *mixed * row_value(mdp, row, next_v, width);
        v[s] = value;
    }
}

/* Runs STATEMENT with `width` a constant of the code. */
#define WITH_WIDTH(mdp, STATEMENT)                                                                 \
    switch ((mdp)->width) {                                                                        \
    case 1: {                                                                                      \
        enum { width = 1 };                                                                        \
        STATEMENT;                                                                                 \
        break;                                                                                     \
    }                                                                                              \
    case 2: {                                                                                      \
        enum { width = 2 };                                                                        \
        STATEMENT;                                                                                 \
        break;                                                                                     \
    }                                                                                              \
    case 3: {                                                                                      \
        enum { width = 3 };                                                                        \
        STATEMENT;                                                                                 \
        break;                                                                                     \
    }                                                                                              \
    case 4: {                                                                                      \
        enum { width = 4 };                                                                        \
        STATEMENT;                                                                                 \
        break;                                                                                     \
    }                                                                                              \
    default: {                                                                                     \
        enum { width = 0 };                                                                        \
        STATEMENT;                                                                                 \
        break;                                                                                     \
    }                                                                                              \
    }

double tacit__mdp_solve(const tacit__mdp *mdp, uint32_t *policy, double *values, double *scratch)
{
    TACIT__REQUIRE(values != NULL || scratch != NULL);
    size_t S = mdp->n_states, H = mdp->horizon;
    double *next_v = values != NULL ? values + H * S : scratch, *v = scratch;
    memset(next_v, 0, S * sizeof *next_v);
    for (size_t h = H; h-- > 0;) {
        if (values != NULL)
            v = values + h * S;
        else
            v = next_v == scratch ? scratch + S : scratch;
        uint32_t *step_policy = policy != NULL ? policy + h * S : NULL;
        WITH_WIDTH(mdp, best_step(mdp, h, next_v, v, step_policy, width));
        next_v = v;
    }
    return start_value(mdp, next_v);
}

double tacit__mdp_evaluate(const tacit__mdp *mdp, const uint32_t *policy, double *scratch)
{
    TACIT__REQUIRE(policy != NULL && scratch != NULL);
    size_t S = mdp->n_states, H = mdp->horizon;
    double *v = scratch, *next_v = scratch + S;
    memset(next_v, 0, S * sizeof *next_v);
    WITH_WIDTH(
        mdp, for (size_t h = H; h-- > 0;) {
            fixed_step(mdp, h, next_v, v, policy + h * S, width);
            double *swap = v;
            v = next_v;
            next_v = swap;
        });
    return start_value(mdp, next_v);
}

double tacit__mdp_evaluate_mixed(const tacit__mdp *mdp, const double *mixed, double *scratch)
{
    TACIT__REQUIRE(mixed != NULL && scratch != NULL);
    size_t S = mdp->n_states, H = mdp->horizon;
    double *v = scratch, *next_v = scratch + S;
    memset(next_v, 0, S * sizeof *next_v);
    WITH_WIDTH(
        mdp, for (size_t h = H; h-- > 0;) {
            mixed_step(mdp, h, next_v, v, mixed + h * S * mdp->n_actions, width);
            double *swap = v;
            v = next_v;
            next_v = swap;
        });
    return start_value(mdp, next_v);
}
