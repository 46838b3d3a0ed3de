/* Tabular learners with rare releases: posterior-tabular, and explore-commit, the baseline that
 * every learner must beat. People add weighted counts (contribute/weighted.c) or answers
 * (contribute/table_answers.c), and the planner is that of tabular_planner.c, which for explore-commit makes
 * one greedy plan of one release.
 *
 * Neither has a regret theorem, and neither is a paper's: what they are worth is measured,
 * docs/why/posterior-tabular.md. */
#include <math.h>

#include "agents/scored.h"
#include "agents/tabular/posterior_curator.h"
#include "base/error.h"
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
    TACIT__COMMIT_PARAMETERS,
};

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)

static const tacit__agent_row kinds[] = {
    {.kind = {"posterior-tabular",
              "several plans drawn from each of few releases; tables, our own, no theorem",
              "ours: docs/why/posterior-tabular.md", ALL_MODELS, posterior_parameters,
              TACIT__COUNT(posterior_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const posterior_parts){.commits = false}},
    {.kind = {"explore-commit-tabular",
              "random actions, one release, then the best plan from it for all later users: a "
              "baseline",
              "folklore", ALL_MODELS, commit_parameters, TACIT__COUNT(commit_parameters)},
     .curator = &tacit__one_curator,
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
static tacit_status commit_after(const tacit__posterior_schedule *o, uint64_t *out)
{
    const tacit__space sp = o->counts.space;
    const double users = (double)o->counts.episodes,
                 pairs = (double)sp.tables * (double)sp.n_states * (double)sp.n_actions;
    uint64_t first = 0;
    tacit_status status = tacit__posterior_first(o, &first);
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

static tacit_status read_schedule(const tacit__reading *r, bool commits,
                                  tacit__posterior_schedule *out, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    bool pooled = false;
    TRY(read_pooled(r, &pooled, err));
    *out = (tacit__posterior_schedule){
        .counts = {.space = {q->n_states, q->n_actions, q->horizon, pooled ? 1 : q->horizon},
                   .episodes = q->episodes,
                   .visits = q->visits,
                   .apart = q->apart,
                   .guarantee = q->guarantee}};
    if (!commits) {
        const double growth = tacit__value_real(&r->values, "growth");
        TRY(tacit__reading_growth(r, LEAST_GROWTH, usual_growth(&q->guarantee), &out->growth, err));
        out->answers_growth = q->sums != NULL ? 0 : growth > 0 ? growth : GROWTH;
        return tacit__reading_mechanism(r, &out->counts.mechanism, err);
    }
    out->first = (uint64_t)tacit__value_of(&r->values, "explore")->integer;
    const tacit_status status = out->first == 0 ? commit_after(out, &out->first) : TACIT_OK;
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status,
                                   "a table of %zu states and %zu actions is too large for this "
                                   "guarantee; use fewer states, or a larger epsilon",
                                   q->n_states, q->n_actions);
    return tacit__reading_mechanism(r, &out->counts.mechanism, err);
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
static bool is_separate(const tacit_ledger *ledger)
{
    return ledger != NULL && tacit_plan_release(tacit_ledger_plan(ledger), 0)->column_l1 == 1;
}

/* How many releases are remembered: all, if their noise is that which combined_releases.c assumes. With
 * delta 0 it pays where there is a single state (docs/why/posterior-tabular.md#all-releases-together). */
static size_t remembered(const tacit__curator *made, const tacit__weighted_options *o)
{
    const size_t releases = tacit__curator_n_ends(made);
    const bool single = o->space.n_states == 1 && o->space.horizon > 1,
               known = o->guarantee.delta > 0
                           ? o->mechanism == TACIT_SUM_BLT
                           : single && !o->answers && is_separate(tacit__curator_ledger(made));
    return o->guarantee.model == TACIT_MODEL_JOINT && known && o->visits <= 1 &&
                   tacit__combined_releases_fits(o->space, releases)
               ? releases
               : 0;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    posterior_agent *agent = self;
    const tacit_agent_request *q = r->request;
    const bool commits = ((const posterior_parts *)agent->base.row->parts)->commits;
    tacit__posterior_schedule schedule = {0};
    tacit_error reason = {0};
    if (q->n_states == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   r->kind->name);
    TRY(read_schedule(r, commits, &schedule, err));
    tacit__curator *made = NULL;
    tacit_status status = tacit__posterior_curator(&schedule, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    const tacit__space space = schedule.counts.space;
    tacit__tabular_planner_options planner = {.episodes = q->episodes,
                                              .tie_seed = tacit__reading_tie_seed(noise),
                                              .plans = 1,
                                              .greedy = commits,
                                              .separate = q->guarantee.delta == 0,
                                              .user_visits = TACIT__WEIGHTED_VISITS};
    if (!commits) {
        status = tacit__posterior_scarcity(&schedule, &planner.scarcity);
        TACIT__REQUIRE(status == TACIT_OK); /* the curator has the noise */
        planner.plans = (size_t)tacit__value_of(&r->values, "plans")->integer;
        planner.exploring = exploring_plans(q, planner.scarcity);
        planner.releases = remembered(made, &schedule.counts);
        planner.user_norm = is_budgeted(q) ? sqrt((double)tacit__weighted_square(space)) : 0;
    }
    status = tacit__tabular_planner_create(space, &planner, &agent->planner);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

/* --- Users --------------------------------------------------------------------------------------- */

/* The users of a batch take the plans in turn, a part of the batch each: within a batch nothing is learned,
 * so that it does not matter who is first, and a plan that stays is evaluated once. How much they count
 * follows from the place in line and the releases alone, as the plan: it is public. */
static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    (void)err;
    posterior_agent *agent = self;
    const tacit__curator *c = agent->base.curator;
    const uint64_t first = tacit__curator_shown(c), users = tacit__curator_users(c),
                   last = tacit__curator_batch_end(c);
    const double *before = tacit__tabular_planner_weights(agent->planner);
    TACIT__REQUIRE(users >= first && users <= last);
    *out = tacit__tabular_planner_billboard(agent->planner, users - first, last - first);
    const double *weights = tacit__tabular_planner_weights(agent->planner);
    if (weights != before)
        tacit__weighted_set_weights(tacit__curator_form(c), weights);
    return TACIT_OK;
}

/* After each user: if a batch was over by that, the next one needs plans. */
static void learned(void *self)
{
    posterior_agent *agent = self;
    const tacit__curator *c = agent->base.curator;
    if (tacit__curator_shown(c) == tacit__tabular_planner_users(agent->planner))
        return;
    const tacit__weighted_counts counts = tacit__posterior_counts(c);
    tacit__tabular_planner_absorb(agent->planner, &counts);
    tacit__weighted_set_weights(tacit__curator_form(c),
                                tacit__tabular_planner_weights(agent->planner));
}

static void fields(void *self, tacit__saved *s)
{
    posterior_agent *agent = self;
    const tacit__curator *c = agent->base.curator;
    s->wrong = "the saved planner contradicts itself";
    const uint64_t planned = tacit__tabular_planner_fields(agent->planner, s),
                   released = tacit__curator_fields(agent->base.curator, s);
    tacit__saved_check(s, planned == (released > 0 ? tacit__curator_ends(c)[released - 1] : 0));
}

const tacit__family tacit__family_posterior = {
    .rows = &rows,
    .looks_ahead = true,
    .size = sizeof(posterior_agent),
    .check = tacit__check_tight,
    .build = build,
    .clear = clear,
    .plan = plan,
    .learned = learned,
    .fields = fields,
    .remark = tacit__scored_remark,
};
