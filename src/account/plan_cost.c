/* What the releases of a plan cost together: see include/tacit/plan.h. Apart from plan.c because devices
 * declare and calibrate, but do not account: the accountant (compose.c) is large. */
#include <tacit/plan.h>

#include "account/plan_inside.h"
#include "base/error.h"
#include "base/memory.h"

tacit_status tacit_plan_account(const tacit_plan *plan, double delta, tacit_composition *out,
                                tacit_error *err)
{
    return tacit_plan_account_lives(plan, 1, delta, out, err);
}

tacit_status tacit_plan_account_lives(const tacit_plan *plan, uint64_t lives, double delta,
                                      tacit_composition *out, tacit_error *err)
{
    if (plan == NULL || out == NULL || lives == 0)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_law law = tacit_plan_law(plan);
    if (!tacit__plan_is_calibrated(plan) || law == TACIT_LAW_NONE)
        return tacit__fail(err, TACIT_BAD_PLAN, "the plan has no noise to account for");
    size_t n = tacit_plan_size(plan);
    tacit_cost *costs = tacit__alloc(n, sizeof *costs);
    if (costs == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        costs[i] = (tacit_cost){.kind = law == TACIT_LAW_GAUSSIAN ? TACIT_COST_GAUSSIAN
                                                                  : TACIT_COST_LAPLACE,
                                .sensitivity = tacit__plan_reach(tacit_plan_release(plan, i), law),
                                .scale = tacit_plan_scale(plan, i),
                                .count = lives};
    tacit_status status = tacit_compose_at_delta(costs, n, delta, out, err);
    tacit__free(costs);
    return status;
}
