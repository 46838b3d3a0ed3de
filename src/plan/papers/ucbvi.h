/* Optimistic value iteration on counts: UCBVI, and DP-UCBVI when the counts are noisy. */
#ifndef TACIT_PLAN_PAPERS_UCBVI_H
#define TACIT_PLAN_PAPERS_UCBVI_H

#include "plan/planner.h"

typedef enum tacit__ucbvi_bonus {
    TACIT__BONUS_BERNSTEIN, /* terms 1 and 2 of the printed bonus, and the proven price of the noise */
    TACIT__BONUS_HOEFFDING,      /* proven, with small constants */
    TACIT__BONUS_CERTIFICATE,    /* proven, variance-aware, with a lower value function */
    TACIT__BONUS_PRINTED,        /* all four terms as printed in [QW23] */
    TACIT__BONUS_AZAR_HOEFFDING, /* [AOM17], bonus 1 */
    TACIT__BONUS_AZAR_BERNSTEIN, /* [AOM17], bonus 2 */
    TACIT__BONUS_PRACTICAL       /* as bernstein, with the noise in standard deviations */
} tacit__ucbvi_bonus;

extern const char *const tacit__ucbvi_bonuses[]; /* their names, in this order, then NULL */

/* Its own settings: bonus, one of these, or not given; monotone: yes, no or auto; threshold. */
extern const tacit__planner tacit__ucbvi;

/* Tests look at the last Q [H][S][A], upper values [H + 1][S], estimates of visits [tables][S][A]. */
typedef struct tacit__ucbvi_view {
    const double *q, *values, *visits;
} tacit__ucbvi_view;
tacit__ucbvi_view tacit__ucbvi_get(const void *planner);

/* Returns, for tests, the estimate of a move to `next` from row (table * S + state) * A + action, where
 * counts are neither sparse nor fresh. */
double tacit__ucbvi_transition(const void *planner, size_t row, size_t next);

#endif
