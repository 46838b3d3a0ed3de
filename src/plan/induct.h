/* Backward induction, the skeleton that all tabular planners share.
 *
 * A planner keeps a model (transition estimates, one table or one for each step) and, for all (state, action) pairs
 * of a table at once, the parts of Q that do not depend on values. The rest is here: the cap H - h + 1, the running
 * minimum, the greedy choice with ties broken by public chance, the billboard. Arrays over pairs are contiguous, transitions are stored with the next state first, so that the
 * inner loops run over pairs. */
#ifndef TACIT_PLAN_INDUCT_H
#define TACIT_PLAN_INDUCT_H

#include "base/tabular.h"
#include "tacit/status.h"

/* Mean and variance of `values` after every pair at step h, for a planner whose model is no dense table. */
typedef void tacit__moments_fn(void *planner, size_t h, const double *values, double *mean,
                               double *variance);

typedef struct tacit__induction {
    tacit__space space;
    size_t pairs;          /* S * A */
    double *transitions;   /* [table][next state][pair]: the planner fills it; NULL: see moments */
    double *fixed, *slope; /* [table][pair]: Q is at least  fixed + (H - h) slope + E V */
    double *q;             /* [H][pair], the last Q of each pair */
    double *values;        /* [H + 1][S] */
    double *mean, *square; /* [pair] scratch */
    double *trial;         /* [pair] scratch: the new Q */
    uint32_t *policy;      /* [H][S] */
    uint64_t version;
    tacit__moments_fn *moments; /* set by a planner without `transitions` */
    bool monotone;              /* Q never rises again [QW23, line 9] */
    uint64_t tie_words;         /* state of the public chance that breaks ties */
} tacit__induction;

/* `dense`: with `transitions`. */
TACIT_MUST_USE tacit_status tacit__induction_create(tacit__space space, bool dense, bool monotone,
                                                    uint64_t tie_seed, tacit__induction *out);
void tacit__induction_destroy(tacit__induction *induction);

/* Adds to q what a planner's Q has beyond  fixed + (H - h) slope + E V  for every pair at step h (0-based), given
 * mean and variance of V_{h+1} under the model. */
typedef void tacit__q_fn(void *planner, size_t h, const double *mean, const double *variance,
                         double *q);

/* One pass from the last step to the first: a new policy, and a new version if it changed. `more` may be
 * NULL. */
void tacit__induction_run(tacit__induction *induction, tacit__q_fn *more, void *planner);

/* Q of step h into induction->trial, from values[h + 1]: the part of the pass that needs no greedy policy. */
void tacit__induction_step(tacit__induction *induction, size_t h, tacit__q_fn *more, void *planner);

#endif
