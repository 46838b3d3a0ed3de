/* What is publicly known of a linear MDP with numbered states, ready to be learned from sums of features: the
 * features on a lattice. See docs/why/posterior-linear.md. */
#ifndef TACIT_PLAN_POSTERIOR_LINEAR_MODEL_H
#define TACIT_PLAN_POSTERIOR_LINEAR_MODEL_H

#include <tacit/features.h>
#include <tacit/status.h>

#include "board/feature_scores.h"
#include "board/score_sums.h"

typedef struct tacit__linear_model {
    size_t n_states, n_actions, pairs, horizon;
    size_t dimension; /* d */
    tacit__feature_scores scores;
    int32_t *table;   /* [pair][d]: what `scores` has, */
    double *features; /* and the same as numbers; the longest vector has length 1 */
} tacit__linear_model;

/* Vectors that are longer than the declared bound, off the declared simplex, or not finite: refused. `users`
 * may come; sums of what they add have room in 2^60. */
TACIT_MUST_USE tacit_status tacit__linear_model_create(const tacit_linear *linear, size_t n_states,
                                                       size_t n_actions, size_t horizon,
                                                       uint64_t users, tacit__linear_model **out,
                                                       tacit_error *err);
void tacit__linear_model_destroy(void *model);

/* The precision of each number of the measures before all data: 2 S, the spread of about 1/S that chances of
 * S states have. */
static inline double tacit__linear_model_prior(const tacit__linear_model *model)
{
    return 2 * (double)model->n_states;
}

/* n1: how many users halve the prior variance of the measures, if they are spread evenly over all states and
 * actions, with such noise (there are no answers); `steps` steps tell of the same measures. At least 4, at
 * most `most` (which wins). */
uint64_t tacit__linear_model_users(const void *model, const tacit__score_noise *noise, size_t steps,
                                   double most);

#endif
