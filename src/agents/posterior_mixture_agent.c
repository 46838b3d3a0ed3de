/* Learners of mixtures with rare releases: posterior-mixture, and explore-commit-mixture, the yardstick.
 * Both have the curator of public scores over batches (curate/score_curator.c), and plans by the
 * posterior of the mixture's weights (plan/posterior_mixture.c); the yardstick has one batch of users
 * who act at random, and one greedy plan after it.
 *
 * The first batch has as many users as halve the prior variance of the weights (n1, by a public rule),
 * and so many users of each batch act by bold plans. Local noise does not care how users are cut into
 * batches, so there the first one is a tenth of that. Nothing of this depends on data.
 *
 * There is no regret theorem, and no paper: what it is worth is measured, docs/why/posterior-mixture.md. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "agents/curated.h"
#include "agents/reading.h"
#include "base/error.h"
#include "curate/curator.h"
#include "curate/score_curator.h"
#include "plan/posterior_mixture.h"

/* What such a learner is made of. */
typedef struct mixture_parts {
    bool commits; /* explore-commit-mixture */
} mixture_parts;

static const tacit_parameter parameters[] = {
    TACIT__REAL("growth", "0", 0, 100,
                "of the users from release to release, from 1.1; 0: 1.3, under local privacy 1.5"),
    TACIT__INTEGER("plans", "16", 1, 1024, "bold plans that are drawn from each release"),
    TACIT__REAL("boldness", "2", 0, 100,
                "how many standard deviations of the posterior a bold plan hopes for, on a "
                "half-normal scale"),
    TACIT__INTEGER("first", "0", 0, 1e15, "users before the first release; 0: by a public rule"),
};

static const tacit_parameter commit_parameters[] = {
    TACIT__INTEGER("explore", "0", 0, 1e15,
                   "users who act at random before the release; 0: by a public rule"),
};

static const tacit__agent_row kinds[] = {
    {.kind = {"posterior-mixture",
              "bold and greedy plans from few releases of scores; rewards are known, our own, no "
              "theorem",
              "ours: docs/why/posterior-mixture.md",
              TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters,
              TACIT__COUNT(parameters)},
     .curator = &tacit__score_curator,
     .parts = &(const mixture_parts){.commits = false}},
    {.kind =
         {"explore-commit-mixture",
          "random actions, one release of scores, and the best plan by it for everybody after: a "
          "yardstick",
          "folklore", TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, commit_parameters,
          TACIT__COUNT(commit_parameters)},
     .curator = &tacit__score_curator,
     .parts = &(const mixture_parts){.commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

enum { LOCAL_PARTS = 10 }; /* of the quota that the first batch is under local privacy */

/* Where they are not set: chosen on the worlds of docs/why/posterior-mixture.md#what-it-is-worth. */
#define GROWTH 1.3
#define LOCAL_GROWTH 1.5
#define LEAST_GROWTH 1.1 /* more releases than some hundred are not worth their plans */

typedef struct posterior_mixture_agent {
    tacit__curated base; /* its curator is a tacit__scores */
    tacit__mixture_model *model;
    tacit__score_table table; /* lies in the model */
    tacit__posterior_mixture *planner;
    /* what batches are sized by */
    tacit_guarantee guarantee;
    double l2;    /* of two users */
    size_t alike; /* steps that tell of the same weights */
} posterior_mixture_agent;

static void clear(void *self)
{
    posterior_mixture_agent *agent = self;
    tacit__posterior_mixture_destroy(agent->planner);
    tacit__mixture_model_destroy(agent->model);
}

/* --- What is asked for --------------------------------------------------------------------------- */

/* Tables of triples and of pairs. In doubles, before anything is multiplied in integers. */
static tacit_status check_memory(const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const double S = (double)q->n_states, pairs = S * (double)q->n_actions,
                 d = (double)q->mixture->dimension, tables = q->stationary ? 1 : (double)q->horizon;
    const double bytes =
        pairs * (S * (12 * d + 8 * tables) + 8 * d * d * (1 + tables) + 24 * (double)q->horizon);
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
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
    if (q->guarantee.model != TACIT_MODEL_NONE && q->calibration != TACIT_CALIBRATION_TIGHT)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "no paper prints the noise of %s: it has the calibration tight "
                                   "only",
                                   kind);
    if (q->sums != NULL)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s has no running sums: each batch of users is shown once",
                                   kind);
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

static bool is_commit(const posterior_mixture_agent *agent)
{
    return ((const mixture_parts *)agent->base.row->parts)->commits;
}

static bool is_local(const posterior_mixture_agent *agent)
{
    return agent->guarantee.model == TACIT_MODEL_LOCAL;
}

/* n1 with this epsilon; at most `most`. */
static tacit_status find_quota(const posterior_mixture_agent *agent, double epsilon, double most,
                               uint64_t *out)
{
    double mu = HUGE_VAL;
    if (agent->guarantee.model != TACIT_MODEL_NONE) {
        tacit_status status = tacit_gdp_mu(epsilon, agent->guarantee.delta, &mu);
        if (status != TACIT_OK)
            return status;
    }
    const double variance = agent->l2 / mu * (agent->l2 / mu);
    *out = tacit__mixture_model_users(agent->model, is_local(agent) ? 0 : variance,
                                      is_local(agent) ? variance : 0, agent->alike, most);
    return TACIT_OK;
}

static tacit_status read_growth(const tacit__reading *r, double *out, tacit_error *err)
{
    const bool local = r->request->guarantee.model == TACIT_MODEL_LOCAL;
    *out = tacit__value_real(&r->values, "growth");
    if (*out > 0 && *out < LEAST_GROWTH)
        return tacit__value_fail(&r->values, "growth", err, TACIT_BAD_ARGUMENT,
                                 "%s: growth is %g, expected 0 or at least %g", r->kind->name, *out,
                                 LEAST_GROWTH);
    if (*out == 0)
        *out = local ? LOCAL_GROWTH : GROWTH;
    return TACIT_OK;
}

/* Users who explore, where that is not set: 2 n1, at most half of all. On the worlds that it was chosen on
 * fewer lead to wrong plans on locks, and more cost more than they tell
 * (docs/why/posterior-mixture.md#explore-commit-mixture). */
static uint64_t commit_after(uint64_t quota, uint64_t users)
{
    return 2 * quota < users / 2 ? 2 * quota : users > 1 ? users / 2 : 1;
}

/* When the batches end, and who is bold. */
typedef struct course {
    uint64_t first, quota; /* users of the first batch; users of a batch who act by bold plans */
    double growth;
} course;

static tacit_status read_course(const posterior_mixture_agent *agent, const tacit__reading *r,
                                course *out, tacit_error *err)
{
    const double users = (double)r->request->episodes, epsilon = r->request->guarantee.epsilon;
    const bool commits = is_commit(agent);
    const uint64_t parts = is_local(agent) ? LOCAL_PARTS : 1;
    const uint64_t given =
        (uint64_t)tacit__value_of(&r->values, commits ? "explore" : "first")->integer;
    uint64_t quota = 0;
    *out = (course){.first = given, .quota = given * parts, .growth = HUGE_VAL};
    if (!commits)
        TRY(read_growth(r, &out->growth, err));
    else
        out->quota = 0;
    if (given > 0)
        return TACIT_OK;
    tacit_status status = find_quota(agent, epsilon, commits ? users : users / 16, &quota);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "no noise keeps such a guarantee");
    if (commits) {
        out->first = commit_after(quota, r->request->episodes);
    } else {
        out->first = (quota + parts - 1) / parts;
        out->quota = quota;
    }
    return TACIT_OK;
}

static tacit_status make_planner(posterior_mixture_agent *agent, const tacit__reading *r,
                                 uint64_t quota, tacit_noise *noise)
{
    const tacit_agent_request *q = r->request;
    const bool commits = is_commit(agent);
    const tacit__mixture_plans o = {
        .model = agent->model,
        .stationary = q->stationary,
        .rewards = q->rewards,
        .batches = {.horizon = q->horizon,
                    .batches = tacit__scores_batches(agent->base.curator),
                    .ends = tacit__scores_ends(agent->base.curator),
                    .noise = tacit__scores_noise(agent->base.curator),
                    .explores = commits,
                    .quota = quota,
                    .bold = commits ? 0 : (size_t)tacit__value_of(&r->values, "plans")->integer,
                    .calm = 1,
                    .boldness = commits ? 0 : tacit__value_real(&r->values, "boldness"),
                    .tie_seed = tacit__reading_tie_seed(noise)}};
    return tacit__posterior_mixture_create(&o, &agent->planner);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    posterior_mixture_agent *agent = self;
    const tacit_agent_request *q = r->request;
    tacit_error reason = {0};
    tacit__scores *made = NULL;
    course c = {0};
    TRY(check_request(r, err));
    tacit_status status = tacit__mixture_model_create(q->mixture, q->n_states, q->n_actions,
                                                      q->episodes, &agent->model, &reason);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    agent->table = tacit__mixture_model_table(agent->model, q->horizon - 1);
    const tacit__score_form form = tacit__score_form_of_table(&agent->table);
    agent->guarantee = q->guarantee;
    agent->l2 = form.l2;
    agent->alike = q->stationary ? agent->table.steps : 1;
    TRY(read_course(agent, r, &c, err));
    const tacit__scores_options o = {.form = form,
                                     .episodes = q->episodes,
                                     .first = c.first,
                                     .growth = c.growth,
                                     .guarantee = q->guarantee};
    status = tacit__scores_create(&o, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    status = make_planner(agent, r, c.quota, noise);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

/* --- Users --------------------------------------------------------------------------------------- */

/* The batch's first user is the one after the batch before. A device needs nothing but the billboard and the
 * public table, so no model is published. */
static uint64_t place_of(const posterior_mixture_agent *agent)
{
    const size_t shown = tacit__scores_shown(agent->base.curator);
    return tacit__scores_users(agent->base.curator) -
           (shown > 0 ? tacit__scores_ends(agent->base.curator)[shown - 1] : 0);
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    posterior_mixture_agent *agent = self;
    (void)err;
    *out =
        tacit__bold_batches_show(tacit__posterior_mixture_batches(agent->planner), place_of(agent));
    return TACIT_OK;
}

/* After each user: if a batch was over by that, the next one needs plans. */
static void settle(posterior_mixture_agent *agent)
{
    size_t over;
    (void)tacit__bold_batches_over(tacit__posterior_mixture_batches(agent->planner), &over);
    if (tacit__scores_shown(agent->base.curator) == over)
        return;
    const tacit__score_sums shown = tacit__scores_release(agent->base.curator);
    tacit__posterior_mixture_absorb(agent->planner, &shown);
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    tacit_status status = tacit__curated_learn(self, user, err);
    settle(self);
    return status;
}

static tacit_status absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tacit_status status = tacit__curated_absorb(self, bytes, size, err);
    settle(self);
    return status;
}

static void fields(void *self, tacit__saved *s)
{
    posterior_mixture_agent *agent = self;
    s->wrong = "the saved learner contradicts itself";
    const size_t planned = tacit__posterior_mixture_fields(agent->planner, s);
    tacit__saved_check(s, tacit__scores_fields(agent->base.curator, s) == planned);
}

static const char *remark(const void *self)
{
    (void)self;
    return "there is no regret theorem; privacy does not depend on one";
}

/* --- Forecast ------------------------------------------------------------------------------------ */

/* On locks, where nothing but data tells anything, it breaks even with the best constant action at 0.8 to
 * 1.7 times n1 users, under local privacy at a tenth of that (docs/why/posterior-mixture.md#how-many-users);
 * the line is drawn at 3 times, so that enough is enough. */
static double burden(const void *self, double users, double epsilon)
{
    const posterior_mixture_agent *agent = self;
    uint64_t quota = 0;
    if (is_commit(agent) || find_quota(agent, epsilon, 1e15, &quota) != TACIT_OK)
        return (double)NAN;
    return 3 * (double)quota / (is_local(agent) ? LOCAL_PARTS : 1) / users;
}

static void describe(const void *self, char *out, size_t size)
{
    const tacit__mixture_model *m = ((const posterior_mixture_agent *)self)->model;
    (void)snprintf(out, size, "%zu kernels, %zu states, %zu actions", m->parts, m->n_states,
                   m->n_actions);
}

static const tacit__criterion criterion = {burden, describe, "to beat the best constant action"};

const tacit__family tacit__family_posterior_mixture = {
    .rows = &rows,
    .looks_ahead = true,
    .no_pure = "its noise is Gaussian; ucrl-vtr has delta 0",
    .create = tacit__curated_create,
    .destroy = tacit__curated_destroy,
    .size = sizeof(posterior_mixture_agent),
    .build = build,
    .clear = clear,
    .plan = plan,
    .learn = learn,
    .report = tacit__curated_report,
    .check_report = tacit__curated_check_report,
    .absorb = absorb,
    .fields = fields,
    .ledger = tacit__curated_ledger,
    .remark = remark,
    .criterion = &criterion,
};
