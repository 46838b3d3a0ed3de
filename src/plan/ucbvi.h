/* Optimistic value iteration on counts: UCBVI, and DP-UCBVI when the counts are noisy. */
#ifndef TACIT_PLAN_UCBVI_H
#define TACIT_PLAN_UCBVI_H

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/counts.h"

typedef enum tacit__ucbvi_bonus {
    TACIT__BONUS_BERNSTEIN, /* terms 1 and 2 of the printed bonus, and the proven price of the noise */
    TACIT__BONUS_HOEFFDING,      /* proven, with small constants */
    TACIT__BONUS_CERTIFICATE,    /* proven, variance-aware, with a lower value function */
    TACIT__BONUS_PRINTED,        /* all four terms as printed in [QW23] */
    TACIT__BONUS_AZAR_HOEFFDING, /* [AOM17], bonus 1 */
    TACIT__BONUS_AZAR_BERNSTEIN  /* [AOM17], bonus 2 */
} tacit__ucbvi_bonus;

typedef struct tacit__ucbvi_options {
    tacit__ucbvi_bonus bonus;
    double bonus_scale; /* multiplies what statistics need: 1 is the theorem */
    double error_scale; /* multiplies the error levels of the noise: 1 is the theorem */
    double failure;     /* the papers' beta */
    uint64_t episodes;
    bool sparse; /* counts come as lists (rows), not as a table of moves */
    bool fresh; /* all counts change with every release: nothing of the last one is worth keeping */
    bool monotone;
    uint64_t tie_seed;
} tacit__ucbvi_options;

typedef struct tacit__ucbvi tacit__ucbvi;

TACIT_MUST_USE tacit_status tacit__ucbvi_create(tacit__space space,
                                                const tacit__ucbvi_options *options,
                                                tacit__ucbvi **out);
void tacit__ucbvi_destroy(tacit__ucbvi *planner);

/* The policy for the next user, from a release. */
tacit_billboard tacit__ucbvi_plan(tacit__ucbvi *planner, const tacit__counts *counts);

/* What the next plan depends on beside the release; see plan/induct.h. */
void tacit__ucbvi_save(const tacit__ucbvi *planner, tacit__writer *w);
bool tacit__ucbvi_load(tacit__ucbvi *planner, tacit__reader *r);

/* For tests: the last Q [H][S][A], upper values [H + 1][S], estimates of visits [tables][S][A]. */
typedef struct tacit__ucbvi_view {
    const double *q, *values, *visits;
} tacit__ucbvi_view;
tacit__ucbvi_view tacit__ucbvi_look(const tacit__ucbvi *planner);

/* For tests: the estimate of a move to `next` from row (table * S + state) * A + action. Not for sparse or fresh counts. */
double tacit__ucbvi_transition(const tacit__ucbvi *planner, size_t row, size_t next);

#endif
