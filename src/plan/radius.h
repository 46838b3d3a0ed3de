/* These functions bound how far an estimate from noisy sums can be from the truth: the parts that all
 * optimistic learners by regression share.
 *
 * Units in which features and targets are at most 1. M = G + N + (lambda + shift) I,
 * w = M^-1 (u + g), |N|_op <= U, |g| <= C, truth theta of norm at most W. With
 * B = N + (lambda + shift) I positive definite, B <= (lambda + hi) I and B >= (lambda + lo) I, where
 * hi = shift + U and lo = shift - U,
 *
 *     |w - theta|_M <= |sum x eta|_{M^-1} + |B theta|_{M^-1} + |g|_{M^-1}
 *                   <= |sum x eta|_{(G + lambda I)^-1} + sqrt(lambda + hi) W + C / sqrt(lambda + lo)
 *
 * since G + B >= B gives |B theta|_{M^-1} <= |B theta|_{B^-1} = |theta|_B. (The papers have (lambda
 * + hi) W / sqrt(lambda + lo) in the middle, sqrt(3) times as much at shift = 2 U.) Every block is
 * a regression of its own. */
#ifndef TACIT_PLAN_RADIUS_H
#define TACIT_PLAN_RADIUS_H

#include "board/gram_sums.h"
#include "plan/optimist.h"

/* Levels that a paper prints, where they are to be used instead of what the curator says: U and C. */
typedef struct tacit__printed_level {
    double gram, response;
} tacit__printed_level;

typedef struct tacit__radius_options {
    size_t horizon;
    uint64_t episodes;
    double failure;                    /* the papers' p or alpha */
    double bonus_scale;                /* 1: the theorem */
    double shift_scale;                /* of the shift 2 U; 1: the theorem */
    double lambda;                     /* ridge; 0: the algorithm's own */
    bool centered[TACIT__REGRESSIONS]; /* targets in [-1, 1] */
    bool printed;                      /* the papers' formulas, with these levels */
    tacit__printed_level level[TACIT__REGRESSIONS];
    tacit__frame frame[TACIT__REGRESSIONS];
    double parameter_norm[TACIT__REGRESSIONS]; /* W */
} tacit__radius_options;

/* The noise of a release, for all of its streams. */
typedef void tacit__confidence_fn(const tacit__radius_options *options,
                                  const tacit__gram_sums *moments, tacit__confidence *out);

/* `add` and `floor` of regression i. */
void tacit__radius_ridge(const tacit__radius_options *options, const tacit__gram_sums *moments,
                         size_t i, double lambda, tacit__confidence *out);

/* sqrt(lambda + hi) W + C / sqrt(lambda + lo); shifts below the theorem's count as the theorem's,
 * so that bonus_scale and shift_scale do not act on each other. */
double tacit__radius_noise(const tacit__radius_options *options, const tacit__gram_sums *moments,
                           size_t i, double lambda);

/* |sum x eta|_{(G + lambda I)^-1} for eta of sub-Gaussian width sigma, all steps, blocks and episodes
 * together: sigma sqrt(2 log(3 H blocks / p) + d log(1 + K / (d lambda))). */
double tacit__radius_hoeffding(const tacit__radius_options *options, size_t i, double lambda,
                               double sigma);

/* Features of a block times blocks: the papers' d. */
double tacit__radius_dimension(const tacit__radius_options *options, size_t i);

/* --- The noise that papers print --------------------------------------------------------------------
 *
 * Scales, and the levels that follow from them. What they really give is computed elsewhere;
 * algorithms only write them down. */

typedef struct tacit__printed_case {
    bool local; /* else joint; delta > 0 */
    double epsilon, delta;
    double episodes, horizon, failure;
    double dimension[2]; /* of the regressions */
} tacit__printed_case;

/* In units in which features and targets of every step are at most 1 (or (H - h) / H where the
 * paper's range is H). */
typedef struct tacit__printed_noise {
    double gram,
        response; /* of a node of the tree, or of a report: of packed coordinates, and of responses */
    double gram_level, response_level; /* Upsilon (or Sigma), and C (or what nu is made of) */
} tacit__printed_noise;

/* Of all streams of an algorithm. */
typedef void tacit__printed_fn(const tacit__printed_case *c, tacit__printed_noise *out);

#endif
