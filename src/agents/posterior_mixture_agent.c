/* Learners of mixtures with rare releases: posterior-mixture, and explore-commit-mixture, the yardstick.
 * Both have the curator of public scores over batches (curate/score_curator.c), and plans by the
 * posterior of the mixture's weights (plan/posterior_mixture.c).
 *
 * There is no regret theorem, and no paper: what it is worth is measured, docs/why/posterior-mixture.md. */
#include <stdio.h>

#include "agents/scored.h"
#include "base/error.h"
#include "base/host.h"
#include "curate/curator.h"
#include "plan/posterior_mixture.h"

/* Growth was chosen on the worlds of docs/why/posterior-mixture.md#what-it-is-worth. */
static const tacit__scored_rules rules = {.growth = 1.3,
                                          .local_growth = 1.5,
                                          .most = 16,
                                          .calm = 1,
                                          .calmness = 0,
                                          .commit_quotas = 2,
                                          .users = tacit__mixture_model_users,
                                          .absorb = tacit__posterior_mixture_absorb,
                                          .fields = tacit__posterior_mixture_fields,
                                          .destroy_planner = tacit__posterior_mixture_destroy,
                                          .destroy_model = tacit__mixture_model_destroy};

static const tacit_parameter parameters[] = {
    TACIT__SCORED_PARAMETERS("1.3, under local privacy 1.5", "2")};
static const tacit_parameter commit_parameters[] = {TACIT__COMMIT_PARAMETERS};

static const tacit__agent_row kinds[] = {
    {.kind = {"posterior-mixture",
              "bold and greedy plans from few releases of scores; rewards are known, our own, no "
              "theorem",
              "ours: docs/why/posterior-mixture.md",
              TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters,
              TACIT__COUNT(parameters)},
     .curator = &tacit__score_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules}},
    {.kind =
         {"explore-commit-mixture",
          "random actions, one release of scores, and the best plan by it for everybody after: a "
          "yardstick",
          "folklore", TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, commit_parameters,
          TACIT__COUNT(commit_parameters)},
     .curator = &tacit__score_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules, .commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

typedef struct posterior_mixture_agent {
    tacit__scored base;       /* its model is a tacit__mixture_model */
    tacit__score_table table; /* lies in the model */
} posterior_mixture_agent;

/* Tables of triples and of pairs. In doubles, before anything is multiplied in integers. */
static tacit_status check_memory(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const double S = (double)q->n_states, pairs = S * (double)q->n_actions,
                 d = (double)q->mixture->dimension, tables = q->stationary ? 1 : (double)q->horizon;
    const double bytes =
        pairs * (S * (12 * d + 8 * tables) + 8 * d * d * (1 + tables) + 24 * (double)q->horizon);
    const double memory = tacit__machine_memory();
    if (bytes <= memory / 2)
        return TACIT_OK;
    return tacit__reading_fail(r, err, TACIT_TOO_LARGE,
                               "kernels and scores would need about %.3g GB; use fewer states, or "
                               "a mixture with fewer parts",
                               bytes / 1e9);
}

static tacit_status check_request(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const char *kind = r->kind->name;
    TRY(tacit__scored_check(r, err));
    if (q->horizon < 2)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s learns transitions between steps, so it needs a horizon of "
                                   "at least 2",
                                   kind);
    if (q->n_states == 0 || q->mixture == NULL || !q->mixture->kernels)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs numbered states and a mixture of known probability "
                                   "kernels, as in lock (in a service, space: {states: 6, mixture: "
                                   "FILE}); dp-ucbvi learns tables",
                                   kind);
    if (q->rewards == NULL)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs to know the rewards; linopt-vi learns them, and a "
                                   "service may declare them, space: {rewards: FILE}",
                                   kind);
    return check_memory(r, err);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    posterior_mixture_agent *agent = self;
    const tacit_agent_request *q = r->request;
    tacit_error reason = {0};
    tacit__mixture_model *model = NULL;
    tacit__posterior_mixture *planner = NULL;
    TRY(check_request(r, err));
    tacit_status status = tacit__mixture_model_create(q->mixture, q->n_states, q->n_actions,
                                                      q->episodes, &model, &reason);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    agent->base.model = model;
    agent->table = tacit__mixture_model_table(model, q->horizon - 1);
    const tacit__score_form form = tacit__score_form_of_table(&agent->table);
    tacit__mixture_plans o = {.model = model, .stationary = q->stationary, .rewards = q->rewards};
    TRY(tacit__scored_create_curator(&agent->base, r, &form, q->stationary ? agent->table.steps : 1,
                                     noise, &o.batches, err));
    status = tacit__posterior_mixture_create(&o, &planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    agent->base.planner = planner;
    agent->base.batches = tacit__posterior_mixture_batches(planner);
    return TACIT_OK;
}

const tacit__family tacit__family_posterior_mixture = {
    .rows = &rows,
    .looks_ahead = true,
    .no_pure = "its noise is Gaussian; ucrl-vtr has delta 0",
    .create = tacit__curated_create,
    .destroy = tacit__curated_destroy,
    .size = sizeof(posterior_mixture_agent),
    .build = build,
    .clear = tacit__scored_clear,
    .plan = tacit__scored_plan,
    .learn = tacit__scored_learn,
    .report = tacit__curated_report,
    .check_report = tacit__curated_check_report,
    .absorb = tacit__scored_absorb,
    .fields = tacit__scored_fields,
    .ledger = tacit__curated_ledger,
    .remark = tacit__scored_remark,
};
