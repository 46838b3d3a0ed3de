/* Learners of linear MDPs with rare releases: posterior-linear, and explore-commit-linear, the baseline.
 * Both have the curator of scores over batches (contribute/scores.c) with features for scores
 * (contribute/feature_reach.c), and plans by the posterior of measures and rewards
 * (plan/posterior/linear_planner.c).
 *
 * There is no regret theorem, and no paper: what it is worth is measured, docs/why/posterior-linear.md. */
#include "agents/scored.h"
#include "base/error.h"
#include "contribute/feature_reach.h"
#include "plan/posterior/linear_planner.h"

/* --- What is asked for --------------------------------------------------------------------------- */

/* Features, chances and sums, and plans of a dozen batches. */
static tacit_status check_memory(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const double S = (double)q->n_states, pairs = S * (double)q->n_actions, H = (double)q->horizon,
                 d = (double)q->linear->dimension, tables = q->stationary ? 1 : H;
    const double bytes =
        8 * (pairs * (3 * d + tables * (S + 3) + 2 * H) + tables * (3 * S * d + 4 * d * d) +
             H * (S * d + 4 * d * d) + 20 * H * S * (d + 32));
    return tacit__reading_check_memory(r, bytes, "features and sums",
                                       "use fewer states, or lsvi-ucb", err);
}

static tacit_status check_request(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
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

/* --- What it is made of -------------------------------------------------------------------------- */

static tacit_status create_model(tacit__scored *agent, const tacit_agent_request *q,
                                 tacit__score_form *form, tacit_error *reason)
{
    tacit__linear_model *model = NULL;
    TRY(tacit__linear_model_create(q->linear, q->n_states, q->n_actions, q->horizon, q->episodes,
                                   &model, reason));
    agent->model = model;
    agent->alike = q->stationary ? q->horizon : 1;
    *form = tacit__score_form_of_features(&model->scores);
    return TACIT_OK;
}

static tacit_status create_planner(const void *model, const tacit_agent_request *q,
                                   const tacit__batch_plans_options *batches,
                                   tacit__score_planner **out)
{
    return tacit__linear_planner_create(model, q->stationary, batches, out);
}

/* --- The family ---------------------------------------------------------------------------------- */

/* Chosen on the worlds of docs/why/posterior-linear.md#what-it-is-worth. */
static const tacit__scored_rules rules = {.growth = 1.3,
                                          .local_growth = 1.5,
                                          .open_growth = 1.3,
                                          .fade = 1,
                                          .most = 8,
                                          .steady = 16,
                                          .steady_boldness = 0.5,
                                          .commit_roots = 0.4,
                                          .users = tacit__linear_model_users,
                                          .check = check_request,
                                          .create_model = create_model,
                                          .destroy_model = tacit__linear_model_destroy,
                                          .create_planner = create_planner};

static const tacit_parameter parameters[] = {
    TACIT__SCORED_PARAMETERS("1.3, under local privacy 1.5", "16", "1")};

static const tacit_parameter commit_parameters[] = {TACIT__COMMIT_PARAMETERS};

static const tacit__agent_row kinds[] = {
    {.kind =
         {"posterior-linear",
          "bold and calm plans from few releases of features; linear MDPs with numbered states, "
          "our own, no theorem",
          "ours: docs/why/posterior-linear.md",
          TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters,
          TACIT__COUNT(parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules}},
    {.kind = {"explore-commit-linear",
              "random actions, one release of features, then the best plan from it for all later "
              "users: a baseline",
              "folklore", TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL,
              commit_parameters, TACIT__COUNT(commit_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules, .commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

const tacit__family tacit__family_posterior_linear = {
    .rows = &rows,
    .size = sizeof(tacit__scored),
    .by_billboard = true,
    .no_pure = "its noise is Gaussian; lsvi-ucb has delta 0 under joint privacy",
    TACIT__SCORED_FAMILY};
