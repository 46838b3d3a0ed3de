/* Batches of users who acted by public plans: where they were, and where they began. Who was where need not
 * be released: it follows from the plans, from how many users acted by each, and from present estimates.
 * See docs/why/posterior-mixture.md#the-posterior. */
#ifndef TACIT_PLAN_POSTERIOR_PLAYED_BATCH_H
#define TACIT_PLAN_POSTERIOR_PLAYED_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "board/score_sums.h"

/* What was shown of a batch, and by which public plans its users acted. */
typedef struct tacit__played_batch {
    tacit__score_sums shown;
    size_t n_plans;
    const uint32_t *plans;   /* [plan][horizon][state]; NULL: one plan, every action alike */
    const uint64_t *players; /* [plan]: users who acted by it */
    double variance;         /* of the noise of each number that was shown */
    double fade;          /* this share of the last batch's noise is in these numbers, subtracted */
    double start;         /* what a user adds for the first state */
    double truth, spread; /* of answers (board/score_sums.h); 1 and 0 if users do not answer */
} tacit__played_batch;

/* How many of the batch the sums of step h are of. */
static inline double tacit__played_asked(const tacit__played_batch *b, size_t h)
{
    return b->shown.asked != NULL ? b->shown.asked[h] : (double)b->shown.users;
}

/* The variance of the noise in a number of step h, which has the variance `even` if every answer is as
 * likely. */
static inline double tacit__played_noise(const tacit__played_batch *b, size_t h, double even)
{
    return b->variance + tacit__played_asked(b, h) * b->spread * even;
}

/* The chances by which users move, and room to follow them. */
typedef struct tacit__walk {
    size_t n_states, n_actions, horizon;
    size_t steps, tables;  /* steps that are followed; tables: as many, or 1 if they are alike */
    const double *chances; /* [table][state][action][next] */
    const double *start;   /* [state]: chances of the first state */
    double *here, *after;  /* [state] scratch */
} tacit__walk;

/* visits[step][state][action]: the expected number of users of the batch. */
void tacit__walk_visits(const tacit__walk *walk, const tacit__played_batch *batch, double *visits);

/* start[state]: chances of first states by least squares over n batches, with a prior that is even and as
 * strong as one batch in which the states were exact once; projected. `sorted` is scratch [states]. */
void tacit__played_start(const tacit__played_batch *batches, size_t n, size_t n_states,
                         double *start, double *sorted);

/* The nearest point of the simplex in the place of x[n]; `sorted` is scratch of n. */
void tacit__simplex_project(size_t n, double *x, double *sorted);

#endif
