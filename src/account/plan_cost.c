/* What the releases of a plan cost together, all of them or those that have passed: see include/tacit/plan.h
 * and include/tacit/ledger.h. Apart from plan.c because devices declare and calibrate, but do not account:
 * the accountant (compose.c) is large. */
#include <math.h>
#include <string.h>

#include <tacit/ledger.h>
#include <tacit/plan.h>

#include "account/plan_inside.h"
#include "base/error.h"
#include "base/memory.h"

/* A release that one person moves by `reach`. */
static tacit_cost cost_of(const tacit_plan *plan, size_t index, double reach, uint64_t count)
{
    const tacit_law law = tacit_plan_law(plan);
    if (law == TACIT_LAW_RESPONSE) /* the worst of all that cost so much */
        return (tacit_cost){.kind = TACIT_COST_BLACK_BOX,
                            .epsilon = reach / tacit_plan_scale(plan, index),
                            .count = count};
    return (tacit_cost){.kind =
                            law == TACIT_LAW_GAUSSIAN ? TACIT_COST_GAUSSIAN : TACIT_COST_LAPLACE,
                        .sensitivity = reach,
                        .scale = tacit_plan_scale(plan, index),
                        .count = count};
}

tacit_status tacit_plan_account(const tacit_plan *plan, double delta, tacit_composition *out,
                                tacit_error *err)
{
    return tacit_plan_account_lives(plan, 1, delta, out, err);
}

/* How far one person moves the first `passed` > 0 steps of a release together. Fresh steps: each of the v
 * visits moves one step by at most l (tacit/plan.h), so p steps move by at most l v p in L1 and l v sqrt(p)
 * in L2, and by no more than all steps do. The steps of a running sum share their noise, so the first is
 * charged as all. */
static double reach_so_far(const tacit_release *r, tacit_law law, uint64_t passed)
{
    const double all = tacit__plan_reach(r, law), steps = (double)passed;
    const double visits = r->visits > 1 ? (double)r->visits : 1;
    if (r->mechanism == NULL || strcmp(r->mechanism, "fresh") != 0)
        return all;
    return fmin(all, visits * (law == TACIT_LAW_GAUSSIAN ? r->l2 * sqrt(steps) : r->l1 * steps));
}

tacit_status tacit_ledger_spent(const tacit_ledger *ledger, double delta, tacit_composition *out,
                                tacit_error *err)
{
    if (ledger == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    const tacit_law law = tacit_plan_law(plan);
    if (!(delta >= 0 && delta < 1))
        return tacit__fail(err, TACIT_BAD_DELTA, "delta is %g, expected a number in [0, 1)", delta);
    if (law == TACIT_LAW_NONE)
        return tacit__fail(err, TACIT_BAD_PLAN, "the plan has no noise to account for");
    tacit_cost *costs = tacit__alloc(tacit_plan_size(plan), sizeof *costs);
    if (costs == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    size_t n = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const uint64_t passed = tacit_ledger_passed(ledger, i);
        if (passed > 0)
            costs[n++] =
                cost_of(plan, i, reach_so_far(tacit_plan_release(plan, i), law, passed), 1);
    }
    const tacit_interval given = {delta, delta}, nothing = {0, 0};
    tacit_status status = TACIT_OK;
    if (n == 0)
        *out = (tacit_composition){.epsilon = nothing, .delta = given, .method = "pure"};
    else
        status = tacit_compose_at_delta(costs, n, delta, out, err);
    tacit__free(costs);
    return status;
}

size_t tacit__plan_costs(const tacit_plan *plan, uint64_t lives, tacit_cost *out)
{
    TACIT__REQUIRE(lives > 0 && tacit__plan_is_calibrated(plan));
    const tacit_law law = tacit_plan_law(plan);
    const size_t n = law != TACIT_LAW_NONE ? tacit_plan_size(plan) : 0;
    for (size_t i = 0; i < n; i++)
        out[i] = cost_of(plan, i, tacit__plan_reach(tacit_plan_release(plan, i), law), lives);
    return n;
}

tacit_status tacit_plan_account_lives(const tacit_plan *plan, uint64_t lives, double delta,
                                      tacit_composition *out, tacit_error *err)
{
    if (plan == NULL || out == NULL || lives == 0)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (!tacit__plan_is_calibrated(plan) || tacit_plan_law(plan) == TACIT_LAW_NONE)
        return tacit__fail(err, TACIT_BAD_PLAN, "the plan has no noise to account for");
    tacit_cost *costs = tacit__alloc(tacit_plan_size(plan), sizeof *costs);
    if (costs == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    const size_t n = tacit__plan_costs(plan, lives, costs);
    tacit_status status = tacit_compose_at_delta(costs, n, delta, out, err);
    tacit__free(costs);
    return status;
}
