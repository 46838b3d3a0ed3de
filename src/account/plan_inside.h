/* This is what the ledger and the accountant need of a plan beyond its public face. */
#ifndef TACIT_ACCOUNT_PLAN_INSIDE_H
#define TACIT_ACCOUNT_PLAN_INSIDE_H

#include <stdbool.h>
#include <tacit/plan.h>

bool tacit__plan_is_calibrated(const tacit_plan *plan);
TACIT_MUST_USE tacit_status tacit__plan_copy(const tacit_plan *plan, tacit_plan **out);

/* What the releases of a calibrated plan cost a person who is in `lives` continuations of it: one entry for
 * each, for tacit_compose_at_delta; `out` has room for all of them. How many there are: 0 without noise. */
size_t tacit__plan_costs(const tacit_plan *plan, uint64_t lives, tacit_cost *out);

/* Returns how far one user moves the whole release, in the norm of the law. */
static inline double tacit__plan_reach(const tacit_release *r, tacit_law law)
{
    return law == TACIT_LAW_GAUSSIAN ? r->l2 * r->column_l2 : r->l1 * r->column_l1;
}

#endif
