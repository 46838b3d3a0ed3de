/* Backward induction, the skeleton that all tabular planners share.
 *
 * A planner keeps a model (transition estimates, one table or one for each step) and, for all
 * (state, action) pairs of a table at once, the parts of Q that do not depend on values;
 * transitions of the last step are not needed, since nothing follows it. The rest is here: the cap
 * H - h + 1 (or H, where a paper is played as printed), the running minimum, the greedy choice with
 * ties broken by public chance, the billboard. Arrays over pairs are contiguous. Transitions lie in
 * blocks of eight pairs of a table, next state first: sums over next states then run in vectors of
 * pairs and read memory in order. */
#ifndef TACIT_PLAN_INDUCT_H
#define TACIT_PLAN_INDUCT_H

#include "base/workspace.h"
#include "plan/planner.h"

/* Mean and variance of `values` after every pair at step h, for a planner whose model is no dense table. */
typedef void tacit__moments_fn(void *planner, size_t h, const double *values, double *mean,
                               double *variance);

/* Brings the transitions, `fixed` and `slope` of step h up to date, just before the pass needs them. */
typedef void tacit__model_fn(void *planner, size_t h);

enum { TACIT__BLOCK = 8 };

typedef struct tacit__induction {
    tacit__space space;
    tacit__planner_options options;
    size_t pairs;  /* S * A */
    size_t blocks; /* of pairs; the last may have idle ones */
    /* tables of transitions: all, or one, which `model` fills for each step; 0: see moments */
    size_t kept;
    double *transitions;   /* [kept][block][next state][8]: the planner fills it */
    double *fixed, *slope; /* [table][pair]: Q is at least  fixed + (H - h) slope + E V */
    double *q;             /* [H][pair], the last Q of each pair */
    double *values;        /* [H + 1][S] */
    double *mean, *square; /* [block][8] scratch */
    double *trial;         /* [pair] scratch: the new Q */
    uint32_t *policy;      /* [H][S] */
    uint64_t version;
    tacit__moments_fn *moments; /* set by a planner without `transitions` */
    tacit__model_fn *model; /* set by a planner that has not filled everything before; or NULL */
    bool monotone;          /* Q never rises again [QW23, line 9] */
    uint64_t tie_words;     /* state of the public chance that breaks ties */
} tacit__induction;

/* The numbers of an induction without its arrays; `kept` is 0, 1 or the number of tables. */
tacit__induction tacit__induction_begin(tacit__space space, const tacit__planner_options *options,
                                        size_t kept, bool monotone);

/* A planner on the caller's stack, which begins with such an induction, and its arrays, those of
 * the induction and `own`, into one workspace (base/workspace.h). */
enum { TACIT__MOST_OWN_PIECES = 12 };
TACIT_MUST_USE tacit_status tacit__induction_allocate(void *planner, size_t size,
                                                      const tacit__piece *own, size_t n,
                                                      void **out);

/* `create` of a planner that is nothing but its induction. */
tacit_status tacit__induction_create(tacit__space space, const tacit__planner_options *options,
                                     const tacit__values *own, void **out, tacit_error *err);

/* The estimates of a block of a table; and of a row, table * pairs + pair, with next states
 * TACIT__BLOCK apart. */
static inline double *tacit__induction_block(const tacit__induction *in, size_t table, size_t block)
{
    size_t place = in->kept == 1 ? 0 : table;
    return in->transitions + (place * in->blocks + block) * in->space.n_states * TACIT__BLOCK;
}
static inline double *tacit__induction_row(const tacit__induction *in, size_t row)
{
    size_t pair = row % in->pairs;
    return tacit__induction_block(in, row / in->pairs, pair / TACIT__BLOCK) + pair % TACIT__BLOCK;
}

/* out = sum over next states of P g, for the pairs of a table; `out` has whole blocks. */
void tacit__induction_expect(const tacit__induction *induction, size_t table, const double *g,
                             double *out);

/* Saves or loads what the next pass depends on: version, ties, policy and, if it is monotone, Q; see
 * tacit__planner. `planner` is whatever begins with an induction. */
void tacit__induction_fields(void *planner, tacit__saved *s);

/* Adds to q what a planner's Q has beyond  fixed + (H - h) slope + E V  for every pair at step h
 * (0-based), given mean and variance of V_{h+1} under the model. */
typedef void tacit__q_fn(void *planner, size_t h, const double *mean, const double *variance,
                         double *q);

/* One pass from the last step to the first: a new policy, and a new version if it changed. `more`
 * may be NULL. */
tacit_billboard tacit__induction_run(tacit__induction *induction, tacit__q_fn *more, void *planner);

/* The same pass again, for a release that has not changed: Q is what it was, ties are broken anew. */
tacit_billboard tacit__induction_repeat(tacit__induction *induction);

/* Q of step h into induction->trial, from values[h + 1]: the part of the pass that needs no greedy
 * policy. */
void tacit__induction_step(tacit__induction *induction, size_t h, tacit__q_fn *more, void *planner);

#endif
