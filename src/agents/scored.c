/* See scored.h.
 *
 * The first batch has as many users as halve the prior variance (n1, by a public rule), and as many users of
 * each batch act by bold plans. Local noise does not care how users are cut into batches, so there the
 * first one is a tenth of that; and where there is no noise, the rules of a family may have it smaller still.
 * Nothing of this depends on data.
 *
 * Sums of some families fade under joint privacy: each has a share of the one before it. Noise is then less
 * where many sums are used together, and more in the first of them, so batches begin with half as many
 * users. People who come back would be in too many sums; theirs do not fade.
 *
 * People who come back are in more than one batch, and often in the long ones at the end, so noise falls if
 * releases stop earlier. Under joint privacy they stop where the least loss is predicted
 * (tacit__schedule_loss), with a = KNOWN n1 g: n1 for one visit, and g how far one person moves all sums. */
#include "agents/scored.h"

#include <math.h>

#include "base/error.h"
#include "curate/schedule.h"
#include "curate/score_answers.h"

enum { LOCAL_PARTS = 10 };  /* of the quota that the first batch is under local privacy */
enum { FADING_PARTS = 2 };  /* of n1, where sums fade: docs/why/posterior-linear.md#fading-sums */
#define LEAST_GROWTH 1.1    /* more releases than some hundred are not worth their plans */
#define MOST_COMMITTED 1e15 /* users: no quota is larger */

static const tacit__scored_parts *parts_of(const tacit__scored *agent)
{
    return agent->base.row->parts;
}

static bool is_local(const tacit__scored *agent)
{
    return agent->guarantee.model == TACIT_MODEL_LOCAL;
}

void tacit__scored_clear(void *self)
{
    tacit__scored *agent = self;
    tacit__score_planner_destroy(agent->planner);
    parts_of(agent)->rules->destroy_model(agent->model);
}

static bool is_open(const tacit__scored *agent)
{
    return agent->guarantee.model == TACIT_MODEL_NONE;
}

/* --- What is asked for --------------------------------------------------------------------------- */

static double usual_growth(const tacit__scored *agent)
{
    const tacit__scored_rules *rules = parts_of(agent)->rules;
    return is_local(agent)  ? rules->local_growth
           : is_open(agent) ? rules->open_growth
                            : rules->growth;
}

/* How far one person moves all sums with this many visits in different batches. */
static double reach_of(const tacit__scored *agent, const tacit__score_form *f, double visits)
{
    return tacit__scores_are_pure(agent->guarantee) ? f->l1 * visits : f->l2 * sqrt(visits);
}

/* The noise with the present reach. */
static tacit_status find_noise(const tacit__scored *agent, tacit__score_noise *out)
{
    double mu = HUGE_VAL; /* reach / mu is the noise's standard deviation */
    *out = agent->answers;
    if (agent->answers.each > 0)
        return TACIT_OK;
    if (tacit__scores_are_pure(agent->guarantee))
        mu = agent->guarantee.epsilon / M_SQRT2;
    else if (!is_open(agent))
        TRY(tacit_gdp_mu(agent->guarantee.epsilon, agent->guarantee.delta, &mu));
    *(is_local(agent) ? &out->user : &out->sum) = agent->reach / mu * (agent->reach / mu);
    return TACIT_OK;
}

/* n1; at most `most`. */
static tacit_status find_quota(const tacit__scored *agent, double most, uint64_t *out)
{
    tacit__score_noise noise;
    TRY(find_noise(agent, &noise));
    *out = parts_of(agent)->rules->users(agent->model, &noise, agent->alike, most);
    return TACIT_OK;
}

/* Under local privacy users add numbers with noise, or answer about one or more steps: whichever needs fewer
 * users. */
static tacit_status choose_report(tacit__scored *agent, const tacit__score_form *form,
                                  double visits)
{
    const tacit__scored_rules *rules = parts_of(agent)->rules;
    tacit__score_noise noise, best = {0};
    if (!is_local(agent) || form->table == NULL || rules->wanted == NULL)
        return TACIT_OK;
    TRY(find_noise(agent, &noise));
    double least = rules->wanted(agent->model, &noise, agent->alike);
    const size_t steps = tacit__score_table_asked(form->table);
    for (size_t each = 1; each <= steps; each++) {
        if (!tacit__score_answers_find(form->table, agent->guarantee.epsilon, visits, each, &noise))
            break;
        const double wanted = rules->wanted(agent->model, &noise, agent->alike);
        if (wanted < least) {
            least = wanted;
            best = noise;
        }
    }
    agent->answers = best;
    return TACIT_OK;
}

/* When the batches end, and who is bold. */
typedef struct course {
    uint64_t first, quota; /* users of the first batch; users of a batch who act by bold plans */
    double growth;
} course;

/* Users who explore, where that is not set: at most half of all. On the worlds that the numbers were chosen
 * on fewer lead to wrong plans, and more cost more than they tell
 * (docs/why/posterior-mixture.md#explore-commit-mixture,
 * docs/why/posterior-linear.md#explore-commit-linear). */
static tacit_status read_commit(const tacit__scored *agent, const tacit__reading *r, course *out)
{
    const tacit__scored_rules *rules = parts_of(agent)->rules;
    const double users = (double)r->request->episodes;
    uint64_t quota = 0;
    *out = (course){.first = (uint64_t)tacit__value_of(&r->values, "explore")->integer,
                    .growth = HUGE_VAL};
    if (out->first > 0)
        return TACIT_OK;
    tacit_status status = find_quota(agent, MOST_COMMITTED, &quota);
    const double wanted = fmax(rules->commit_quotas * (double)quota,
                               rules->commit_roots * sqrt((double)quota * users));
    out->first = (uint64_t)fmax(1, fmin(ceil(wanted), floor(users / 2)));
    return status;
}

static tacit_status read_course(const tacit__scored *agent, const tacit__reading *r, course *out)
{
    const uint64_t parts = is_local(agent) ? LOCAL_PARTS : 1;
    out->first = (uint64_t)tacit__value_of(&r->values, "first")->integer;
    out->quota = out->first * parts;
    if (out->first > 0)
        return TACIT_OK;
    tacit_status status =
        find_quota(agent, (double)r->request->episodes / parts_of(agent)->rules->most, &out->quota);
    const uint64_t open_first = is_open(agent) ? parts_of(agent)->rules->open_first : 0;
    if (agent->fade > 0)
        out->quota = (out->quota + FADING_PARTS - 1) / FADING_PARTS;
    out->first = open_first > 0 ? open_first : (out->quota + parts - 1) / parts;
    return status;
}

/* Batches up to a release at `last`, at most. */
static tacit_status try_last(tacit__scored *agent, const tacit__reading *r, uint64_t last,
                             tacit__scores_options *o, course *c)
{
    const tacit_agent_request *q = r->request;
    agent->reach = reach_of(agent, &o->form, tacit__schedule_visits(q->visits, q->apart, last));
    tacit_status status = read_course(agent, r, c);
    o->first = c->first;
    o->last = last;
    return status;
}

/* When to stop; see the head. */
static tacit_status find_last(tacit__scored *agent, const tacit__reading *r,
                              tacit__scores_options *o, course *c, tacit_error *err)
{
    uint64_t wanted = 0;
    double least = HUGE_VAL;
    tacit__scores_options best = *o;
    agent->reach = reach_of(agent, &o->form, 1);
    TRY(find_quota(agent, MOST_COMMITTED, &wanted));
    for (int i = 0; i < TACIT__SCHEDULE_LASTS; i++) {
        tacit__scores_options t = *o;
        tacit__scores_prediction of = {0};
        const uint64_t last = tacit__schedule_last(o->episodes, i);
        TRY(try_last(agent, r, last, &t, c));
        if (t.first >= last)
            break;
        TRY(tacit__scores_predict(&t, &of, err));
        const double loss =
            tacit__schedule_loss((double)o->episodes, (double)of.shown,
                                 TACIT__SCHEDULE_KNOWN * (double)wanted * of.column);
        if (loss < least) {
            least = loss;
            best = t;
        }
    }
    if (least < HUGE_VAL)
        TRY(try_last(agent, r, best.last, o, c));
    return TACIT_OK;
}

/* The curator of an agent whose model is made, and what is known of the batches of its planner. */
static tacit_status create_curator(tacit__scored *agent, const tacit__reading *r,
                                   const tacit__score_form *form, tacit_noise *noise,
                                   tacit__bold_options *out, tacit_error *err)
{
    TACIT__REQUIRE(agent->model != NULL && form->numbers > 0 && agent->alike > 0);
    const tacit__scored_rules *rules = parts_of(agent)->rules;
    const bool commits = parts_of(agent)->commits;
    tacit_error reason = {0};
    tacit__scores *made = NULL;
    course c = {0};
    agent->guarantee = r->request->guarantee;
    agent->reach = reach_of(agent, form, fmax(1, (double)r->request->visits));
    if (!commits)
        TRY(tacit__reading_growth(r, LEAST_GROWTH, usual_growth(agent), &c.growth, err));
    if (!commits && agent->guarantee.model == TACIT_MODEL_JOINT && r->request->visits <= 1)
        agent->fade = (uint32_t)(TACIT__SCORES_WHOLE * rules->fade / c.growth);
    tacit_status status = choose_report(
        agent, form,
        tacit__schedule_visits(r->request->visits, r->request->apart, r->request->episodes));
    if (status == TACIT_OK)
        status = commits ? read_commit(agent, r, &c) : read_course(agent, r, &c);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "no noise keeps such a guarantee");
    tacit__scores_options o = {.form = *form,
                               .episodes = r->request->episodes,
                               .visits = r->request->visits,
                               .apart = r->request->apart,
                               .first = c.first,
                               .growth = c.growth,
                               .fade = agent->fade,
                               .guarantee = agent->guarantee,
                               .each = agent->answers.each};
    if (!commits && r->request->visits > 1 && agent->guarantee.model == TACIT_MODEL_JOINT &&
        tacit__value_of(&r->values, "first")->integer == 0)
        status = find_last(agent, r, &o, &c, &reason);
    if (status == TACIT_OK)
        status = tacit__scores_create(&o, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    *out = (tacit__bold_options){
        .horizon = r->request->horizon,
        .batches = tacit__scores_batches(made),
        .ends = tacit__scores_ends(made),
        .noise = tacit__scores_noise(made),
        .explores = commits,
        .quota = c.quota,
        .bold = commits ? 0 : (size_t)tacit__value_of(&r->values, "plans")->integer,
        .calm = commits ? 1 : rules->calm,
        .boldness = commits ? 0 : tacit__value_real(&r->values, "boldness"),
        .calmness = commits ? 0 : rules->calmness,
        .tie_seed = tacit__reading_tie_seed(noise)};
    return TACIT_OK;
}

tacit_status tacit__scored_build(void *self, const tacit__reading *r, tacit_noise *noise,
                                 tacit_error *err)
{
    tacit__scored *agent = self;
    TACIT__REQUIRE(parts_of(agent)->rules != NULL);
    const tacit__scored_rules *rules = parts_of(agent)->rules;
    tacit_error reason = {0};
    tacit__score_form form = {0};
    tacit__bold_options batches = {0};
    TRY(rules->check(r, err));
    tacit_status status = rules->create_model(agent, r->request, &form, &reason);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    TRY(create_curator(agent, r, &form, noise, &batches, err));
    status = rules->create_planner(agent->model, r->request, &batches, &agent->planner);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

/* --- Users --------------------------------------------------------------------------------------- */

/* The batch's first user is the one after the batch before. A device needs nothing but the billboard and the
 * public table, so no model is published. */
static uint64_t place_of(const tacit__scored *agent)
{
    const size_t shown = tacit__scores_shown(agent->base.curator);
    return tacit__scores_users(agent->base.curator) -
           (shown > 0 ? tacit__scores_ends(agent->base.curator)[shown - 1] : 0);
}

tacit_status tacit__scored_plan(void *self, tacit_billboard *out, tacit_error *err)
{
    TACIT__REQUIRE(((tacit__scored *)self)->planner != NULL);
    tacit__scored *agent = self;
    (void)err;
    *out = tacit__bold_batches_billboard(tacit__score_planner_batches(agent->planner),
                                         place_of(agent));
    return TACIT_OK;
}

/* After each user: if a batch was over by that, the next one needs plans. */
static void replan_if_due(tacit__scored *agent)
{
    TACIT__REQUIRE(agent->planner != NULL);
    size_t over;
    (void)tacit__bold_batches_finished(tacit__score_planner_batches(agent->planner), &over);
    if (tacit__scores_shown(agent->base.curator) == over)
        return;
    const tacit__score_sums shown = tacit__scores_release(agent->base.curator);
    tacit__score_planner_absorb(agent->planner, &shown);
}

tacit_status tacit__scored_learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    tacit_status status = tacit__curated_learn(self, user, err);
    replan_if_due(self);
    return status;
}

tacit_status tacit__scored_absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tacit_status status = tacit__curated_absorb(self, bytes, size, err);
    replan_if_due(self);
    return status;
}

void tacit__scored_fields(void *self, tacit__saved *s)
{
    tacit__scored *agent = self;
    TACIT__REQUIRE(agent->planner != NULL);
    s->wrong = "the saved learner contradicts itself";
    const size_t planned = tacit__score_planner_fields(agent->planner, s);
    tacit__saved_check(s, tacit__scores_fields(agent->base.curator, s) == planned);
}

const char *tacit__scored_remark(const void *self)
{
    (void)self;
    return "there is no regret theorem; privacy does not depend on one";
}
