/* The posterior of a linear MDP's measures and rewards, given sums of features over batches of users:
 * Gaussian, in information form, with the noise of the sums in it. See docs/why/posterior-linear.md. */
#ifndef TACIT_PLAN_POSTERIOR_LINEAR_BELIEF_H
#define TACIT_PLAN_POSTERIOR_LINEAR_BELIEF_H

#include <stdbool.h>

#include "plan/posterior/linear_model.h"
#include "plan/posterior/played_batch.h"

/* What a batch tells of the noise that the next one shares with it, if it does: `share` is common C^-1, C the
 * covariance of its columns of sums given earlier batches and `common` that of its noise with the next one's;
 * `gram` and `columns` are that times J and times the columns, both given earlier batches. */
typedef struct tacit__passed_noise {
    double *share, *gram; /* [d][d] */
    double *columns;      /* [columns][d] */
} tacit__passed_noise;

typedef struct tacit__linear_belief {
    const tacit__linear_model *model;
    size_t tables;         /* the horizon, or 1 if all steps are alike */
    double *measures;      /* [table][next][d]: the mean, less that of even chances */
    double *rewards;       /* [table][d]: the mean of r; a reward is (1 + phi . r) / 2 */
    double *start;         /* [state]: chances of the first state */
    double *chances;       /* [table][pair][next], of the means: on the simplex */
    double *expected;      /* [table][pair]: rewards of the means, in [0, 1] */
    double *spread;        /* [table][pair]: |phi| by the precision of the measures, */
    double *reward_spread; /* and of the rewards: standard deviations */
    /* scratch */
    double *factor, *reward_factor;   /* [table][d][d]: precision, then its factor */
    double *targets, *reward_targets; /* [table][next][d] and [table][d]: precision times mean */
    double *visits;                   /* [step][pair]: expected, of a batch */
    double *here, *after, *sorted;    /* [state] */
    double *gram, *cover;             /* [d][d]: J, and the covariance of a step's sum */
    double *gain, *columns, *work;    /* [d][d], [next][d], [pair][d] */
    tacit__passed_noise *passed, *reward_passed; /* [step] */
    double *passed_numbers;                      /* their arrays */
} tacit__linear_belief;

/* The prior. `model` must outlive it. `same`: all steps are alike. */
TACIT_MUST_USE tacit_status tacit__linear_belief_create(const tacit__linear_model *model, bool same,
                                                        tacit__linear_belief **out);
void tacit__linear_belief_destroy(tacit__linear_belief *posterior);

/* The posterior given these batches, n of them; estimates of where users were begin with the last mean. */
void tacit__linear_belief_fit(tacit__linear_belief *posterior, const tacit__played_batch *batches,
                              size_t n);

/* Chances and expected rewards by the means: after means were loaded. */
void tacit__linear_belief_predict(tacit__linear_belief *posterior);

#endif
