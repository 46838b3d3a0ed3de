/* Plans toward the rows that a noisy release says too little about. See
 * docs/why/posterior-tabular.md#bold-users-under-privacy. */
#ifndef TACIT_PLAN_FRONTIER_H
#define TACIT_PLAN_FRONTIER_H

#include "plan/row_model.h"

/* Whether a row has not risen above the noise. */
bool tacit__frontier_unknown(const tacit__row_model *model, size_t row);

/* The best plan, [horizon][states], if a step that leaves for an unknown row pays 1 and so does every step
 * after it (`hopes`), or if such a step pays nothing (not `hopes`); ties are public chance. Scratch: q
 * [pairs], values [2 states]. Returns what the plan is then worth to a user in the model. */
double tacit__frontier_plan(const tacit__row_model *model, bool hopes, double *q, double *values,
                            uint64_t *chance, uint32_t *policy);

#endif
