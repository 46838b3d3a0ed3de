/* Learners of mixtures with rare releases: posterior-mixture, and explore-commit-mixture, the baseline.
 * Both have the curator of public scores over batches (contribute/scores.c), and plans by the
 * posterior of the mixture's weights (plan/posterior/mixture_planner.c).
 *
 * There is no regret theorem, and no paper: what it is worth is measured, docs/why/posterior-mixture.md. */
#include "agents/scored.h"
#include "base/error.h"
#include "plan/posterior/mixture_planner.h"

typedef struct posterior_mixture_agent {
    tacit__scored base;       /* its model is a tacit__mixture_model */
    tacit__score_table table; /* lies in the model */
} posterior_mixture_agent;

/* --- What is asked for --------------------------------------------------------------------------- */

/* Tables of triples and of pairs. */
static tacit_status check_memory(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const double S = (double)q->n_states, pairs = S * (double)q->n_actions,
                 d = (double)q->mixture->dimension, tables = q->stationary ? 1 : (double)q->horizon;
    const double bytes =
        pairs * (S * (12 * d + 8 * tables) + 8 * d * d * (1 + tables) + 24 * (double)q->horizon);
    return tacit__reading_check_memory(r, bytes, "kernels and scores",
                                       "use fewer states, or a mixture with fewer parts", err);
}

static tacit_status check_request(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const char *kind = r->kind->name;
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
    return check_memory(r, err);
}

/* --- What it is made of -------------------------------------------------------------------------- */

static tacit_status create_model(tacit__scored *base, const tacit_agent_request *q,
                                 tacit__score_form *form, tacit_error *reason)
{
    posterior_mixture_agent *agent = (posterior_mixture_agent *)base;
    tacit__mixture_model *model = NULL;
    TRY(tacit__mixture_model_create(q->mixture, q->n_states, q->n_actions, q->episodes,
                                    q->rewards == NULL, &model, reason));
    base->model = model;
    agent->table = tacit__mixture_model_table(model, q->horizon - 1);
    base->alike = q->stationary ? agent->table.steps : 1;
    const tacit_status status =
        tacit__score_form_of_table(&agent->table, tacit__scores_are_pure(q->guarantee), form);
    return status == TACIT_OK ? status : tacit__fail_plain(reason, status);
}

static tacit_status create_planner(const void *model, const tacit_agent_request *q,
                                   const tacit__batch_plans_options *batches,
                                   tacit__score_planner **out)
{
    return tacit__mixture_planner_create(model, q->stationary, q->rewards, batches, out);
}

/* --- The family ---------------------------------------------------------------------------------- */

/* Growth was chosen on the worlds of docs/why/posterior-mixture.md#what-it-is-worth. */
static const tacit__scored_rules rules = {.growth = 1.3,
                                          .local_growth = 1.5,
                                          .open_growth = 1.15,
                                          .open_first = 1,
                                          .most = 16,
                                          .steady = 1,
                                          .steady_boldness = 0,
                                          .commit_quotas = 2,
                                          .users = tacit__mixture_model_users,
                                          .wanted = tacit__mixture_model_wanted,
                                          .check = check_request,
                                          .create_model = create_model,
                                          .destroy_model = tacit__mixture_model_destroy,
                                          .create_planner = create_planner};

static const tacit_parameter parameters[] = {
    TACIT__SCORED_PARAMETERS("1.3, under local privacy 1.5, without privacy 1.15", "16", "2")};
static const tacit_parameter commit_parameters[] = {TACIT__COMMIT_PARAMETERS};

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)

static const tacit__agent_row kinds[] = {
    {.kind =
         {"posterior-mixture",
          "bold and greedy plans from few releases of scores; rewards are known or learned, our "
          "own, no theorem",
          "ours: docs/why/posterior-mixture.md", ALL_MODELS, parameters, TACIT__COUNT(parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules}},
    {.kind = {"explore-commit-mixture",
              "random actions, one release of scores, then the best plan from it for all later "
              "users: a baseline",
              "folklore", ALL_MODELS, commit_parameters, TACIT__COUNT(commit_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules, .commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

const tacit__family tacit__family_posterior_mixture = {.rows = &rows,
                                                       .by_billboard = true,
                                                       .size = sizeof(posterior_mixture_agent),
                                                       TACIT__SCORED_FAMILY};
