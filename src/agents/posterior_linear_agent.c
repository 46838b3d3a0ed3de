/* Learners of linear MDPs with rare releases: posterior-linear, and explore-commit-linear, the yardstick.
 * Both have the curator of scores over batches (curate/score_curator.c) with features for scores
 * (curate/feature_reach.c), and plans by the posterior of measures and rewards (plan/posterior_linear.c).
 *
 * There is no regret theorem, and no paper: what it is worth is measured, docs/why/posterior-linear.md. */
#include <stdio.h>

#include "agents/scored.h"
#include "base/error.h"
#include "base/host.h"
#include "curate/curator.h"
#include "curate/feature_reach.h"
#include "plan/posterior_linear.h"

/* Chosen on the worlds of docs/why/posterior-linear.md#what-it-is-worth. */
static const tacit__scored_rules rules = {.growth = 1.3,
                                          .local_growth = 1.5,
                                          .most = 8,
                                          .calm = 16,
                                          .calmness = 0.5,
                                          .commit_roots = 0.4,
                                          .users = tacit__linear_model_users,
                                          .absorb = tacit__posterior_linear_absorb,
                                          .fields = tacit__posterior_linear_fields,
                                          .destroy_planner = tacit__posterior_linear_destroy,
                                          .destroy_model = tacit__linear_model_destroy};

static const tacit_parameter parameters[] = {
    TACIT__SCORED_PARAMETERS("1.3, under local privacy 1.5", "1")};

static const tacit_parameter commit_parameters[] = {TACIT__COMMIT_PARAMETERS};

static const tacit__agent_row kinds[] = {
    {.kind =
         {"posterior-linear",
          "bold and calm plans from few releases of features; linear MDPs with numbered states, "
          "our own, no theorem",
          "ours: docs/why/posterior-linear.md",
          TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters,
          TACIT__COUNT(parameters)},
     .curator = &tacit__score_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules}},
    {.kind =
         {"explore-commit-linear",
          "random actions, one release of features, and the best plan by it for everybody after: "
          "a yardstick",
          "folklore", TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, commit_parameters,
          TACIT__COUNT(commit_parameters)},
     .curator = &tacit__score_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules, .commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

typedef struct posterior_linear_agent {
    tacit__scored base; /* its model is a tacit__linear_model */
} posterior_linear_agent;

/* --- What is asked for --------------------------------------------------------------------------- */

/* Features, chances and sums, and plans of a dozen batches. In doubles, before anything is multiplied in
 * integers. */
static tacit_status check_memory(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const double S = (double)q->n_states, pairs = S * (double)q->n_actions, H = (double)q->horizon,
                 d = (double)q->linear->dimension, tables = q->stationary ? 1 : H;
    const double bytes = 8 * (pairs * (3 * d + tables * (S + 3) + 2 * H) +
                              tables * (3 * S * d + 4 * d * d) + 20 * H * S * (d + 32));
    const double memory = tacit__machine_memory();
    if (bytes <= memory / 2)
        return TACIT_OK;
    return tacit__reading_fail(r, err, TACIT_TOO_LARGE,
                               "features and sums would need about %.3g GB; use fewer states, or "
                               "lsvi-ucb",
                               bytes / 1e9);
}

static tacit_status check_request(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    TRY(tacit__scored_check(r, err));
    if (q->linear == NULL)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs numbered states and features of their actions, as in "
                                   "random-linear (in a service, space: {states: 6, features: "
                                   "FILE}); posterior-tabular learns tables",
                                   r->kind->name);
    if (q->linear->row == NULL || q->n_states == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s counts next states, so they must be numbered; lsvi-ucb "
                                   "learns from features that users bring",
                                   r->kind->name);
    return check_memory(r, err);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    posterior_linear_agent *agent = self;
    const tacit_agent_request *q = r->request;
    tacit_error reason = {0};
    tacit__linear_model *model = NULL;
    tacit__posterior_linear *planner = NULL;
    TRY(check_request(r, err));
    tacit_status status = tacit__linear_model_create(q->linear, q->n_states, q->n_actions,
                                                     q->horizon, q->episodes, &model, &reason);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    agent->base.model = model;
    const tacit__score_form form = tacit__score_form_of_features(&model->scores);
    tacit__linear_plans o = {.model = model, .stationary = q->stationary};
    TRY(tacit__scored_create_curator(&agent->base, r, &form, q->stationary ? q->horizon : 1, noise,
                                     &o.batches, err));
    status = tacit__posterior_linear_create(&o, &planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    agent->base.planner = planner;
    agent->base.batches = tacit__posterior_linear_batches(planner);
    return TACIT_OK;
}

const tacit__family tacit__family_posterior_linear = {
    .rows = &rows,
    .looks_ahead = true,
    .no_pure = "its noise is Gaussian; lsvi-ucb has delta 0",
    .create = tacit__curated_create,
    .destroy = tacit__curated_destroy,
    .size = sizeof(posterior_linear_agent),
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
