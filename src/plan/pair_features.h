/* Features of all pairs (state, action): what a function of the next state looks like to a mixture
 * of known parts, and features of rewards. Checked once against what was declared of them; then
 * multiplied out for all pairs at a time. */
#ifndef TACIT_PLAN_PAIR_FEATURES_H
#define TACIT_PLAN_PAIR_FEATURES_H

#include <tacit/features.h>
#include <tacit/status.h>

#include "board/gram_sums.h"

/* Layout of what is written: [width][pair], or with many blocks [width], the same for every pair in
 * its own block. */
typedef struct tacit__pair_features {
    tacit__frame frame; /* steps is 0 */
    size_t n_states;
    double parameter_norm; /* |theta| of a block, for features of norm 1 */
    double *parts;         /* [next state][width][pair] divided by the bound; NULL: one-hot */
} tacit__pair_features;

/* NULL: the one-hot embedding of tables, one feature for each (state, action, next state), times 1
 * / sqrt(S). Features that are not finite or break their declared bound or sign: OUT_OF_BOUND, with
 * the state and action. */
TACIT_MUST_USE tacit_status tacit__pair_features_create(const tacit_mixture *mixture,
                                                        size_t n_states, size_t n_actions,
                                                        tacit__pair_features *out,
                                                        tacit_error *err);
void tacit__pair_features_destroy(tacit__pair_features *m);

/* out = sum_s' phi(s' | s, a) u(s') / bound for all pairs; |out| <= 1 for each if u is in [0, 1],
 * and for mixtures of kernels if it is in [-1, 1]. */
void tacit__pair_features_apply(const tacit__pair_features *m, const double *u, double *out);

/* Features of rewards, divided by their bound, into *out, [width][pair] or [width]. NULL: one for
 * each pair. The parameter is taken to be at most sqrt(width) long for features of norm 1. */
TACIT_MUST_USE tacit_status tacit__reward_features(const tacit_linear *linear, size_t n_states,
                                                   size_t n_actions, tacit__frame *frame,
                                                   double **out, tacit_error *err);

#endif
