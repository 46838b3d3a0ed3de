/* The sum over all learners and monitors of a service. See serve/people/person.h and docs/why/person.md.
 *
 * Everything that a person is in goes into one list of costs, and the accountant composes the list once, so
 * the result is as sharp as the accountant: squares of mu add for Gaussian noise, and privacy loss
 * distributions are convolved where there is other noise beside it. It is stated at the delta of the budget
 * or, without one, at the sum of the deltas that the parts declare. At the sum, epsilon is never more than
 * the sum of the epsilons, which is what basic composition gives at that delta.
 *
 * A report of a device is made once, whatever is done with it afterwards, so further lines of a store cost
 * nothing under local privacy. */
#include "serve/people/person.h"

#include <math.h>

#include "account/plan_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/json_text.h"

tacit_status tacit__share_create(const tacit_guarantee *learner, const tacit_plan *plan,
                                 const tacit_guarantee *monitor, const tacit_plan *monitor_plan,
                                 tacit__share *out, tacit_error *err)
{
    const bool monitored = monitor->model != TACIT_MODEL_NONE;
    *out = (tacit__share){.model = learner->model};
    if (learner->model == TACIT_MODEL_NONE) /* a private mean beside exact data promises nothing */
        return TACIT_OK;
    if (plan == NULL || (monitor_plan == NULL && monitored))
        return tacit__fail(err, TACIT_BAD_PLAN, "a guarantee is claimed, but nothing is declared");
    out->costs =
        tacit__alloc(tacit_plan_size(plan) + (monitored ? tacit_plan_size(monitor_plan) : 0),
                     sizeof *out->costs);
    if (out->costs == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    out->delta = tacit__short_real(learner->delta + (monitored ? monitor->delta : 0));
    out->epsilon = monitored ? (double)NAN : learner->epsilon;
    out->n_costs = tacit__plan_costs(plan, 1, out->costs);
    if (monitored)
        out->n_costs += tacit__plan_costs(monitor_plan, 1, out->costs + out->n_costs);
    return TACIT_OK;
}

void tacit__share_destroy(tacit__share *share)
{
    tacit__free(share->costs);
    *share = (tacit__share){0};
}

static bool counts(const tacit__share *s, bool only_local)
{
    return s->model == TACIT_MODEL_LOCAL || (s->model == TACIT_MODEL_JOINT && !only_local);
}

/* The delta of the sum if there is no budget. A composition can be stated at any delta, so this one need not
 * equal the sum exactly. */
static double declared_delta(const tacit__share *shares, size_t n, bool separate, bool only_local)
{
    double sum = 0, largest = 0;
    for (size_t i = 0; i < n; i++)
        if (counts(&shares[i], only_local)) {
            sum += shares[i].delta;
            largest = fmax(largest, shares[i].delta);
        }
    return tacit__short_real(separate ? largest : sum);
}

/* Computes the epsilon of all shares that count, for a person who is in all of them. */
static tacit_status compose(const tacit__share *shares, size_t n, bool only_local, uint64_t forks,
                            double delta, double *epsilon, tacit_error *err)
{
    size_t room = 1, n_costs = 0;
    for (size_t i = 0; i < n; i++)
        room += shares[i].n_costs;
    tacit_cost *costs = tacit__alloc(room, sizeof *costs);
    if (costs == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; counts(&shares[i], only_local) && j < shares[i].n_costs; j++) {
            costs[n_costs] = shares[i].costs[j];
            if (shares[i].model != TACIT_MODEL_LOCAL)
                costs[n_costs].count *= forks;
            n_costs++;
        }
    tacit_composition total = {.epsilon = {0, 0}};
    tacit_status status = TACIT_OK;
    if (n_costs > 0)
        status = tacit_compose_at_delta(costs, n_costs, delta, &total, err);
    tacit__free(costs);
    *epsilon = total.epsilon.high;
    return status;
}

/* Computes the largest epsilon, for a person who is in only one of them. */
static tacit_status find_largest(const tacit__share *shares, size_t n, bool only_local,
                                 uint64_t forks, double delta, double *epsilon, tacit_error *err)
{
    *epsilon = 0;
    for (size_t i = 0; i < n; i++) {
        double one;
        TRY(compose(&shares[i], 1, only_local, forks, delta, &one, err));
        *epsilon = fmax(*epsilon, one);
    }
    return TACIT_OK;
}

tacit_status tacit__share_account(const tacit__share *share, uint64_t forks, tacit_guarantee *out,
                                  tacit_error *err)
{
    TACIT__REQUIRE(forks > 0);
    *out = (tacit_guarantee){.model = share->model, .delta = share->delta};
    TRY(compose(share, 1, false, forks, out->delta, &out->epsilon, err));
    if (forks == 1) /* 1, and not 1 - 1e-13; a NaN is not more */
        out->epsilon = fmax(out->epsilon, share->epsilon);
    return TACIT_OK;
}

tacit_status tacit__person_account(const tacit__share *shares, size_t n, uint64_t forks,
                                   tacit_service_person *p, tacit_error *err)
{
    TACIT__REQUIRE(forks > 0);
    p->joint = p->local = p->exact = 0;
    for (size_t i = 0; i < n; i++)
        ++*(shares[i].model == TACIT_MODEL_JOINT   ? &p->joint
            : shares[i].model == TACIT_MODEL_LOCAL ? &p->local
                                                   : &p->exact);
    p->devices.model = p->local > 0 ? TACIT_MODEL_LOCAL : TACIT_MODEL_NONE;
    p->all.model = p->joint > 0 ? TACIT_MODEL_JOINT : p->devices.model;
    tacit_guarantee *const sums[] = {&p->all, &p->devices};
    for (size_t i = 0; i < 2; i++) {
        const bool only_local = sums[i] == &p->devices;
        sums[i]->delta = p->budget.model != TACIT_MODEL_NONE
                             ? p->budget.delta
                             : declared_delta(shares, n, p->separate, only_local);
        TRY((p->separate ? find_largest : compose)(shares, n, only_local, forks, sums[i]->delta,
                                                   &sums[i]->epsilon, err));
    }
    return TACIT_OK;
}

bool tacit__person_fits(const tacit_service_person *p)
{
    return p->budget.model == TACIT_MODEL_NONE ||
           (p->exact == 0 && p->all.epsilon <= p->budget.epsilon);
}
