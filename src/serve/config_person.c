/* See serve/config_person.h. The plans are those of the agents that the service would make, so agents are
 * made, asked, and destroyed, one after the other. */
#include "serve/config_person.h"

#include <math.h>
#include <stdio.h>

#include "account/plan_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "release/monitor.h"
#include "text/json_text.h"

typedef tacit__service_config config;

void tacit__shares_destroy(tacit__share *shares, size_t n)
{
    for (size_t i = 0; shares != NULL && i < n; i++)
        tacit__share_destroy(&shares[i]);
    tacit__free(shares);
}

tacit_status tacit__monitor_plan(const tacit__learner_config *c, tacit_noise *noise,
                                 tacit_plan **out, tacit_error *err)
{
    tacit__monitor *monitor = NULL;
    *out = NULL;
    if (c->monitor.model == TACIT_MODEL_NONE)
        return TACIT_OK;
    const tacit__monitored whom = {c->request.episodes, c->request.visits, c->request.apart};
    TRY(tacit__monitor_create(c->monitor, &whom, noise, &monitor, err));
    tacit_status status = tacit__plan_copy(tacit_ledger_plan(tacit__monitor_ledger(monitor)), out);
    tacit__monitor_destroy(monitor);
    return status == TACIT_OK ? TACIT_OK : tacit__fail_plain(err, status);
}

/* Makes the share of a learner with both epsilons multiplied by `factor`. */
static tacit_status make_share(const tacit__learner_config *c, double factor, tacit_noise *noise,
                               tacit__share *out, tacit_error *err)
{
    tacit__learner_config part = *c;
    tacit_agent *agent = NULL;
    tacit_plan *plan = NULL;
    part.request.guarantee.epsilon *= factor;
    part.monitor.epsilon *= factor;
    TRY(tacit_agent_create(&part.request, noise, &agent, err));
    tacit_status status = tacit__monitor_plan(&part, noise, &plan, err);
    if (status == TACIT_OK)
        status = tacit__share_create(&part.request.guarantee, tacit_agent_release_plan(agent),
                                     &part.monitor, plan, out, err);
    tacit_plan_destroy(plan);
    tacit_agent_destroy(agent);
    return status;
}

/* Makes the shares of all learners with every epsilon multiplied by `factor`. */
static tacit_status make_shares(const config *c, double factor, tacit__share **out,
                                tacit_error *err)
{
    tacit_noise *noise = NULL;
    tacit__share *shares = tacit__alloc(c->n_learners, sizeof *shares);
    tacit_status status = TACIT_NO_MEMORY;
    if (shares == NULL || (status = tacit_noise_create_from_os(&noise)) != TACIT_OK) {
        tacit__free(shares);
        return tacit__fail_plain(err, status);
    }
    for (size_t i = 0; status == TACIT_OK && i < c->n_learners; i++)
        status = make_share(&c->learners[i], factor, noise, &shares[i], err);
    tacit_noise_destroy(noise);
    if (status == TACIT_OK)
        *out = shares;
    else
        tacit__shares_destroy(shares, c->n_learners);
    return status;
}

/* --- Budgets --------------------------------------------------------------------------------------- */

static bool fits(const config *c, double factor)
{
    tacit__share *shares = NULL;
    tacit_service_person person = c->person;
    const bool good = make_shares(c, factor, &shares, NULL) == TACIT_OK &&
                      tacit__person_account(shares, c->n_learners, 1, &person, NULL) == TACIT_OK &&
                      tacit__person_fits(&person);
    tacit__shares_destroy(shares, c->n_learners);
    return good;
}

/* Finds the largest number of thousandths of every epsilon with which the file fits its budget; 0 if there is
 * none. */
static unsigned find_thousandths(const config *c)
{
    unsigned low = 0, high = 1000;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (fits(c, middle / 1000.0))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static tacit_status refuse_exact(const config *c, tacit_error *err)
{
    size_t i = 0;
    while (c->learners[i].request.guarantee.model != TACIT_MODEL_NONE)
        i++;
    return tacit__yaml_fail(c->yaml, c->budget_line, err, TACIT_BAD_PLAN,
                            "learner '%s' has model none, which promises nothing, so no budget "
                            "covers it: give it a guarantee, leave budget out, or serve it from "
                            "another file",
                            c->learners[i].name);
}

static tacit_status check_budget(const config *c, tacit_error *err)
{
    const tacit_guarantee *most = &c->person.budget;
    const double epsilon = c->person.all.epsilon;
    char fit[200] = "no epsilon fits; lower the deltas of the learners, or raise the budget";
    char pays[40] = "no finite epsilon";
    if (tacit__person_fits(&c->person))
        return TACIT_OK;
    if (c->person.exact > 0)
        return refuse_exact(c, err);
    const unsigned part = isfinite(epsilon) ? find_thousandths(c) : 0;
    if (isfinite(epsilon))
        (void)snprintf(pays, sizeof pays, "epsilon %s", tacit__round_up((char[32]){0}, 4, epsilon));
    else if (most->delta == 0)
        (void)snprintf(fit, sizeof fit,
                       "Gaussian noise has none at delta 0: write delta: 0 for every learner and "
                       "monitor, or a budget with a delta above 0");
    if (part > 0)
        (void)snprintf(fit, sizeof fit,
                       "it fits if every epsilon of learners and monitors is multiplied by %g, as "
                       "in epsilon: %g for %.64s",
                       part / 1000.0, c->learners[0].request.guarantee.epsilon * part / 1000.0,
                       c->learners[0].name);
    return tacit__yaml_fail(
        c->yaml, c->budget_line, err, TACIT_BAD_PLAN,
        "budget is epsilon %g, delta %g, but one person in %s pays %s at that "
        "delta; %s",
        most->epsilon, most->delta,
        c->person.separate ? "one of these learners" : "all learners and monitors", pays, fit);
}

tacit_status tacit__config_person_open(tacit__service_config *c, tacit_error *err)
{
    TACIT__REQUIRE(c->shares == NULL);
    TRY(make_shares(c, 1, &c->shares, err));
    for (size_t i = 0; i < c->n_learners; i++)
        TRY(tacit__share_account(&c->shares[i], 1, &c->learners[i].together, err));
    TRY(tacit__person_account(c->shares, c->n_learners, 1, &c->person, err));
    return check_budget(c, err);
}
