/* Planners on counts: the options that all of them have, and the table that makes an algorithm one.
 *
 * To add one: a file here that defines a tacit__planner, and a row in agents/tabular/tabular_learners.c
 * that names it. A planner whose Q is found by backward induction begins with a tacit__induction
 * (plan/induct.h), which has most of what follows. */
#ifndef TACIT_PLAN_PLANNER_H
#define TACIT_PLAN_PLANNER_H

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/counts.h"
#include "board/plays.h"
#include "text/values.h"

typedef struct tacit__planner_options {
    double bonus_scale; /* multiplies what statistics need; 1: the theorem */
    double error_scale; /* multiplies the error levels of the noise; 1: the theorem */
    double failure;     /* probability that the bounds fail: the papers' beta */
    /* The Laplace scale that the paper has on every number of one user, or 0: the curator's error
     * levels are to be used. */
    double printed_scale;
    bool published;  /* the paper's own noise was asked for */
    bool reproduces; /* it, or that of a figure, was: nothing of ours is mixed in */
    bool whole;      /* the paper's whole algorithm was: bonus, minimum and clips as printed */
    bool joint;      /* noise of running sums; else it is that of local reports, or there is none */
    bool fresh; /* all counts change with every release: nothing of the last one is worth keeping */
    bool sparse; /* moves come as lists (tacit__counts.rows), not as a table */
    uint64_t episodes, tie_seed;
} tacit__planner_options;

typedef struct tacit__planner {
    bool reads_lists; /* it can plan from lists of moves, which large spaces have */
    /* `own` has the learner's settings, by name. */
    tacit_status (*create)(tacit__space space, const tacit__planner_options *options,
                           const tacit__values *own, void **out, tacit_error *err);
    void (*destroy)(void *planner); /* accepts NULL */
    /* The policy for the next user, from a release. */
    tacit_billboard (*plan)(void *planner, const tacit__counts *counts);
    /* Saves or loads what the next plan depends on beside the release, as part of a saved state
     * (base/bytes.h). */
    void (*fields)(void *planner, tacit__saved *s);
    /* Why the paper's theorem does not hold although every scale is 1; "": it does. NULL: always. */
    const char *(*remark)(const void *planner);
    /* The constants of its plans, the last one's where they change, beside the paper's. `last` has the last
     * release's levels, and no counts. NULL: no paper was read that prints them. */
    void (*plays)(const void *planner, const tacit__counts *last, tacit__plays *out);
} tacit__planner;

#endif
