/* Tabular learners with rare releases: posterior-tabular, and explore-commit, the yardstick that
 * every learner must beat. Both have the curator of weighted counts (curate/weighted_curator.c) and
 * the planner of tabular_planner.c, which for explore-commit makes one greedy plan of one
 * release.
 *
 * Neither has a regret theorem, and neither is a paper's: what they are worth is measured,
 * docs/why/posterior-tabular.md. */
#include <math.h>

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "base/error.h"
#include "curate/curators.h"
#include "curate/weighted_curator.h"
#include "plan/posterior/combined_releases.h"
#include "plan/posterior/tabular_planner.h"

/* What such a learner is made of. */
typedef struct posterior_parts {
    bool commits; /* explore-commit */
} posterior_parts;

/* Growth of the users from release to release: chosen on the worlds of docs/why/posterior-tabular.md. Laplace
 * noise grows faster with the number of releases. */
#define LEAST_GROWTH 1.01
#define GROWTH 1.12
#define PURE_GROWTH 1.4
#define LEAST_EXPLORING 4  /* plans; without a budget, */
#define EXPLORING_STEPS 16 /* of at least so many steps in all */

#define POOLED                                                                                     \
    TACIT__TEXT("pooled", "auto", "one model for all steps: yes, no, or auto (as the world says)")

static const tacit_parameter posterior_parameters[] = {
    POOLED,
    TACIT__REAL("growth", "0", 0, 100,
                "of the users from release to release, from 1.01; 0: 1.12, with delta 0 1.4"),
    TACIT__INTEGER("plans", "16", 1, 1024,
                   "plans that are drawn from each release and share the users until the next"),
};

static const tacit_parameter commit_parameters[] = {
    POOLED,
    TACIT__INTEGER("explore", "0", 0, 1e15,
                   "users who act at random before the release; 0: by a public rule"),
};

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)

static const tacit__agent_row kinds[] = {
    {.kind = {"posterior-tabular",
              "several plans drawn from each of few releases; tables, our own, no theorem",
              "ours: docs/why/posterior-tabular.md", ALL_MODELS, posterior_parameters,
              TACIT__COUNT(posterior_parameters)},
     .curator = &tacit__weighted_curator,
     .parts = &(const posterior_parts){.commits = false}},
    {.kind = {"explore-commit-tabular",
              "random actions, one release, then the best plan from it for all later users: a "
              "yardstick",
              "folklore", ALL_MODELS, commit_parameters, TACIT__COUNT(commit_parameters)},
     .curator = &tacit__weighted_curator,
     .parts = &(const posterior_parts){.commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

typedef struct posterior_agent {
    tacit__agent_base base;
    tacit__tabular_planner *planner;
} posterior_agent;

static void clear(void *self)
{
    tacit__tabular_planner_destroy(((posterior_agent *)self)->planner);
}

/* --- Settings ------------------------------------------------------------------------------------ */

static tacit_status read_pooled(const tacit__reading *r, bool *pooled, tacit_error *err)
{
    const int choice = tacit__value_choose(&r->values, "pooled", tacit__auto_yes_no, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    *pooled = choice == TACIT__YES || (choice == TACIT__AUTO && r->request->stationary);
    if (*pooled && !r->request->stationary)
        return tacit__value_fail(
            &r->values, "pooled", err, TACIT_UNSUPPORTED,
            "pooled: yes needs a world whose steps are all alike; this one's are not");
    return TACIT_OK;
}

/* Users who explore, where that is not set. They lose a constant each, and what n of them tell is
 * off by about sqrt(S A / n) from chance and by n_0 / n from noise, with n_0 the users before the
 * first release of posterior-tabular. Balanced over K users that is proportional to (S A)^(1/3)
 * K^(2/3) and to sqrt(n_0 K): the larger one, half of all users at most. The factors were chosen on
 * the worlds of docs/why/posterior-tabular.md. */
static tacit_status commit_after(const tacit__weighted_options *o, uint64_t *out)
{
    const double users = (double)o->episodes, pairs = (double)o->space.tables *
                                                      (double)o->space.n_states *
                                                      (double)o->space.n_actions;
    uint64_t first = 0;
    tacit_status status = tacit__weighted_first(o, &first);
    const double chance = 0.25 * cbrt(pairs * users * users),
                 noise = 0.5 * sqrt((double)first * users);
    *out = (uint64_t)fmax(1, fmin(ceil(fmax(chance, noise)), floor(users / 2)));
    return status;
}

/* Whether a user's weights share a budget: the others count in full, or answer, and a single step has all of
 * it. */
static bool is_budgeted(const tacit_agent_request *q)
{
    return q->guarantee.model == TACIT_MODEL_JOINT && q->guarantee.delta > 0 && q->horizon > 1;
}

/* Where it is not set. */
static double usual_growth(const tacit_guarantee *g)
{
    return g->model == TACIT_MODEL_JOINT && g->delta == 0 ? PURE_GROWTH : GROWTH;
}

static tacit_status read_curator(const tacit__reading *r, bool commits,
                                 tacit__weighted_options *out, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    bool pooled = false;
    tacit_status status = read_pooled(r, &pooled, err);
    if (status != TACIT_OK)
        return status;
    *out = (tacit__weighted_options){
        .space = {q->n_states, q->n_actions, q->horizon, pooled ? 1 : q->horizon},
        .episodes = q->episodes,
        .visits = q->visits,
        .apart = q->apart,
        .guarantee = q->guarantee};
    if (!commits)
        TRY(tacit__reading_growth(r, LEAST_GROWTH, usual_growth(&q->guarantee), &out->growth, err));
    const double growth = commits ? 0 : tacit__value_real(&r->values, "growth");
    if (!commits && q->sums == NULL)
        out->answers_growth = growth > 0 ? growth : GROWTH;
    if (!commits)
        return tacit__reading_mechanism(r, &out->mechanism, err);
    if ((out->first = (uint64_t)tacit__value_of(&r->values, "explore")->integer) == 0)
        status = commit_after(out, &out->first);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status,
                                   "a table of %zu states and %zu actions is too large for this "
                                   "guarantee; use fewer states, or a larger epsilon",
                                   q->n_states, q->n_actions);
    return tacit__reading_mechanism(r, &out->mechanism, err);
}

/* For each release, unless users are scarce: without a budget they are for few users, one each, of at least
 * so many steps in all; with one they show the way to a number that follows from the noise. */
static size_t exploring_plans(const tacit_agent_request *q, double scarcity)
{
    const size_t plans = EXPLORING_STEPS / q->horizon;
    if (q->guarantee.model != TACIT_MODEL_NONE && scarcity > 1)
        return 0;
    return plans > LEAST_EXPLORING && (!is_budgeted(q) || q->n_states == 1) ? plans
                                                                            : LEAST_EXPLORING;
}

/* Whether every step of the sums has noise of its own: then a user is in one number of each. */
static bool is_separate(const tacit__weighted *made)
{
    const tacit_ledger *ledger = tacit__weighted_ledger(made);
    return ledger != NULL && tacit_plan_release(tacit_ledger_plan(ledger), 0)->column_l1 == 1;
}

/* How many releases are remembered: all, if their noise is that which combined_releases.c assumes. With
 * delta 0 it pays where there is a single state (docs/why/posterior-tabular.md#all-releases-together). */
static size_t remembered(const tacit__weighted *made, bool commits)
{
    const tacit__weighted_options *o = tacit__weighted_timed(made);
    const size_t releases = (size_t)tacit__weighted_moments(o, NULL);
    const bool single = o->space.n_states == 1 && o->space.horizon > 1,
               known = o->guarantee.delta > 0 ? o->mechanism == TACIT_SUM_BLT
                                              : single && !o->answers && is_separate(made);
    return o->guarantee.model == TACIT_MODEL_JOINT && known && o->visits <= 1 && !commits &&
                   tacit__combined_releases_fits(o->space, releases)
               ? releases
               : 0;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    posterior_agent *agent = self;
    const tacit_agent_request *q = r->request;
    const bool commits = ((const posterior_parts *)agent->base.row->parts)->commits;
    tacit__weighted_options curator = {0};
    tacit_error reason = {0};
    if (q->n_states == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   r->kind->name);
    TRY(read_curator(r, commits, &curator, err));
    tacit__weighted *made = NULL;
    tacit_status status = tacit__weighted_create(&curator, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    double scarcity = 0;
    status = tacit__weighted_scarcity(tacit__weighted_timed(made), &scarcity);
    TACIT__REQUIRE(status == TACIT_OK); /* the curator has the noise */
    const size_t plans = commits ? 1 : (size_t)tacit__value_of(&r->values, "plans")->integer;
    const tacit__tabular_planner_options planner = {
        .episodes = q->episodes,
        .tie_seed = tacit__reading_tie_seed(noise),
        .plans = plans,
        .exploring = commits ? 0 : exploring_plans(q, scarcity),
        .greedy = commits,
        .releases = remembered(made, commits),
        .separate = q->guarantee.delta == 0,
        .scarcity = commits ? 0 : scarcity,
        .user_visits = TACIT__WEIGHTED_VISITS,
        .user_norm =
            is_budgeted(q) && !commits ? sqrt((double)tacit__weighted_square(curator.space)) : 0};
    status = tacit__tabular_planner_create(curator.space, &planner, &agent->planner);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

/* --- Users --------------------------------------------------------------------------------------- */

/* The users of a batch take the plans in turn, a part of the batch each: within a batch nothing is learned,
 * so that it does not matter who is first, and a plan that stays is evaluated once. */
static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    (void)err;
    posterior_agent *agent = self;
    tacit__weighted *curator = agent->base.curator;
    const tacit__user_batch batch = tacit__weighted_batch(curator);
    const tacit__weighted_counts counts = tacit__weighted_release(curator);
    const bool released = counts.users != tacit__tabular_planner_users(agent->planner);
    const double *before = tacit__tabular_planner_weights(agent->planner);
    if (released)
        tacit__tabular_planner_absorb(agent->planner, &counts);
    const uint64_t users = tacit__weighted_users(curator);
    TACIT__REQUIRE(users >= batch.first && users <= batch.last);
    *out = tacit__tabular_planner_billboard(agent->planner, users - batch.first,
                                            batch.last - batch.first);
    /* by the place in line and the releases alone, as the plan: public */
    const double *weights = tacit__tabular_planner_weights(agent->planner);
    if (released || weights != before)
        tacit__weighted_set_weights(curator, weights);
    return TACIT_OK;
}

static void fields(void *self, tacit__saved *s)
{
    posterior_agent *agent = self;
    s->wrong = "the saved planner contradicts itself";
    const uint64_t planned = tacit__tabular_planner_fields(agent->planner, s);
    tacit__weighted_fields(agent->base.curator, planned, s);
}

static const char *remark(const void *self)
{
    (void)self;
    return "there is no regret theorem; privacy does not depend on one";
}

const tacit__family tacit__family_posterior = {
    .rows = &rows,
    .looks_ahead = true,
    .size = sizeof(posterior_agent),
    .check = tacit__check_tight,
    .build = build,
    .clear = clear,
    .plan = plan,
    .fields = fields,
    .remark = remark,
};
