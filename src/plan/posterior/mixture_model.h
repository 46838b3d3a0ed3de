/* What is publicly known of a mixture of probability kernels, ready to be learned from scores: the
 * kernels, directions in which weights can differ, and the table of scores. See
 * docs/why/posterior-mixture.md. */
#ifndef TACIT_PLAN_POSTERIOR_MIXTURE_MODEL_H
#define TACIT_PLAN_POSTERIOR_MIXTURE_MODEL_H

#include <stdbool.h>

#include <tacit/features.h>
#include <tacit/status.h>

#include "board/score_sums.h"

typedef struct tacit__mixture_model {
    size_t n_states, n_actions, pairs;
    size_t parts; /* d */
    size_t width; /* d - 1 */
    int bits;
    bool learns_rewards; /* users add them, W (y - 1/2) with W = 1 */
    double *kernels;     /* [pair][part][next]: rows that sum to 1 */
    double *basis;       /* [width][part]: B', orthonormal rows that sum to 0 */
    int32_t *scores;     /* [pair][next][width]: T on the lattice */
    double *gain;        /* [pair][width][width]: sum_s' T (B' phi)', by columns */
    double *base;        /* [pair][width]: sum_s' T mean_j phi_j */
    double *even;        /* [width][width]: the covariance of T over all rows alike */
} tacit__mixture_model;

/* Features that are no kernels up to a factor for each part, and mixtures of one part: refused. `users` may
 * come; sums of their scores have room in 2^60. */
TACIT_MUST_USE tacit_status tacit__mixture_model_create(const tacit_mixture *mixture,
                                                        size_t n_states, size_t n_actions,
                                                        uint64_t users, bool learns_rewards,
                                                        tacit__mixture_model **out,
                                                        tacit_error *err);
void tacit__mixture_model_destroy(void *model);

/* The table of scores for `steps` steps; it lies in the model. */
tacit__score_table tacit__mixture_model_table(const tacit__mixture_model *model, size_t steps);

/* How many users halve what is unsure, unbounded, to compare reports by: as below. */
double tacit__mixture_model_wanted(const void *model, const tacit__score_noise *noise,
                                   size_t steps);

/* n1: how many users halve the prior variance of the weights, and of rewards that are learned, if they are
 * spread evenly over all states and actions, with such noise; `steps` steps tell of the same weights. At
 * least 4, at most `most` (which wins); if rewards are learned and reports have no noise, up to five times
 * as many (docs/why/posterior-mixture.md#scarcity). */
uint64_t tacit__mixture_model_users(const void *model, const tacit__score_noise *noise,
                                    size_t steps, double most);

/* out[width] = B' x, for x[part]. */
void tacit__mixture_model_differences(const tacit__mixture_model *model, const double *x,
                                      double *out);

/* chances[pair][next] of the kernels mixed with these weights [part]. */
void tacit__mixture_model_mix(const tacit__mixture_model *model, const double *weights,
                              double *chances);

/* moments[pair][width][width] = sum_s' chances T T', by columns, lower triangles. */
void tacit__mixture_model_moments(const tacit__mixture_model *model, const double *chances,
                                  double *moments);

#endif
