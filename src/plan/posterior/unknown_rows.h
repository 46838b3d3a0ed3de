/* Plans toward the rows that a noisy release says too little about. See
 * docs/why/posterior-tabular.md#unknown-rows. */
#ifndef TACIT_PLAN_POSTERIOR_UNKNOWN_ROWS_H
#define TACIT_PLAN_POSTERIOR_UNKNOWN_ROWS_H

#include "plan/posterior/tabular_belief.h"

/* Whether a row has not risen above the noise. */
bool tacit__row_is_unknown(const tacit__tabular_belief *model, size_t row);

/* The best plan, [horizon][states], if a step that leaves for an unknown row pays 1 and so does every step
 * after it (`hopes`), or if such a step pays nothing (not `hopes`); ties are public chance. Scratch: q
 * [pairs], values [2 states]. Returns what the plan is then worth to a user in the model. */
double tacit__unknown_rows_plan(const tacit__tabular_belief *model, bool hopes, double *q,
                                double *values, uint64_t *chance, uint32_t *policy);

#endif
