/* A learner of bandits without contexts with rare releases: posterior-bandit. It has the curator of scores
 * over batches (contribute/scores.c) with rewards for scores (contribute/arm_rewards.c), and plans by the
 * posterior of mean rewards (plan/posterior/bandit_planner.c).
 *
 * There is no regret theorem, and no paper: what it is worth is measured, docs/why/posterior-bandit.md. */
#include "agents/scored.h"
#include "base/error.h"
#include "contribute/arm_rewards.h"
#include "plan/posterior/bandit_planner.h"

typedef struct posterior_bandit_agent {
    tacit__scored base;
    tacit__score_table arms; /* its model */
} posterior_bandit_agent;

/* --- What is asked for --------------------------------------------------------------------------- */

static tacit_status check_request(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    if (q->n_states != 1 || q->horizon != 1 || q->bandit != NULL)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs a single state and a horizon of 1 (in a service, "
                                   "space: {states: 1, actions: 5, horizon: 1}); posterior-tabular "
                                   "learns tables",
                                   r->kind->name);
    return TACIT_OK;
}

/* --- What it is made of -------------------------------------------------------------------------- */

static tacit_status create_model(tacit__scored *base, const tacit_agent_request *q,
                                 tacit__score_form *form, tacit_error *reason)
{
    posterior_bandit_agent *agent = (posterior_bandit_agent *)base;
    (void)reason;
    agent->arms = (tacit__score_table){
        .n_states = 1, .n_actions = q->n_actions, .bits = TACIT__REWARD_BITS + 1, .reward = 1};
    base->model = &agent->arms;
    base->alike = 1;
    *form = tacit__score_form_of_arms(&agent->arms);
    return TACIT_OK;
}

static void destroy_model(void *model)
{
    (void)model; /* it lies in the agent */
}

static tacit_status create_planner(const void *model, const tacit_agent_request *q,
                                   const tacit__batch_plans_options *batches,
                                   tacit__score_planner **out)
{
    (void)model;
    return tacit__bandit_planner_create(q->n_actions, batches, out);
}

/* --- The family ---------------------------------------------------------------------------------- */

/* Growth, plans and boldness were chosen on the worlds of docs/why/posterior-bandit.md#what-it-is-worth. */
static const tacit__scored_rules rules = {.growth = 1.3,
                                          .local_growth = 1.2,
                                          .open_growth = 1.2,
                                          .most = 8,
                                          .steady = 1,
                                          .users = tacit__bandit_users,
                                          .wanted = tacit__bandit_wanted,
                                          .check = check_request,
                                          .create_model = create_model,
                                          .destroy_model = destroy_model,
                                          .create_planner = create_planner};

static const tacit_parameter parameters[] = {
    TACIT__SCORED_PARAMETERS("1.3, under local privacy and without privacy 1.2", "64", "1.25")};

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)

static const tacit__agent_row kinds[] = {
    {.kind = {"posterior-bandit",
              "bold and greedy plans from few releases of rewards alone; bandits without contexts, "
              "our own, no theorem",
              "ours: docs/why/posterior-bandit.md", ALL_MODELS, parameters,
              TACIT__COUNT(parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const tacit__scored_parts){.rules = &rules}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

const tacit__family tacit__family_posterior_bandit = {.rows = &rows,
                                                      .by_billboard = true,
                                                      .size = sizeof(posterior_bandit_agent),
                                                      TACIT__SCORED_FAMILY};
