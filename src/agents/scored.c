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
#include "base/memory.h"
#include "contribute/score_answers.h"
#include "contribute/user_check.h"
#include "release/curator.h"
#include "release/schedule.h"

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
    tacit__free(agent->ends);
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
    uint64_t last;         /* nothing is shown after so many users; 0: there is no limit */
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
                             const tacit__score_form *form, course *c)
{
    const tacit_agent_request *q = r->request;
    agent->reach = reach_of(agent, form, tacit__visits_within(q->visits, q->apart, last));
    tacit_status status = read_course(agent, r, c);
    c->last = last;
    return status;
}

/* The ends of all batches into `ends`, to be freed; returns how many there are, 0: no memory. */
static size_t find_batches(uint64_t users, const course *c, uint64_t **ends)
{
    const size_t n = tacit__schedule_batches(users, c->first, c->growth, c->last, NULL);
    *ends = tacit__alloc(n, sizeof **ends);
    return *ends != NULL ? tacit__schedule_batches(users, c->first, c->growth, c->last, *ends) : 0;
}

/* The loss if the batches are those of `c`, in users who know nothing; `wanted` is n1 for one visit. */
static tacit_status predict_loss(const tacit__scores_options *options, const course *c,
                                 double wanted, double *loss, tacit_error *err)
{
    tacit__scores_options o = *options;
    uint64_t *ends = NULL;
    const size_t n = find_batches(o.episodes, c, &ends);
    if (n == 0)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    o.ends = ends;
    o.batches = n - 1;
    const tacit__stream_spec stream = tacit__scores_stream(&o);
    tacit_release line = {0};
    const tacit_status status = tacit__curator_predict(&stream, ends, n - 1, &line, err);
    const double column = tacit__scores_are_pure(o.guarantee) ? line.column_l1 : line.column_l2;
    *loss = tacit__schedule_loss((double)o.episodes, n > 1 ? (double)ends[n - 2] : 0,
                                 TACIT__SCHEDULE_KNOWN * wanted * column);
    tacit__free(ends);
    return status;
}

/* When to stop; see the head. */
static tacit_status find_last(tacit__scored *agent, const tacit__reading *r,
                              const tacit__scores_options *o, course *c, tacit_error *err)
{
    uint64_t wanted = 0, best = 0;
    double least = HUGE_VAL;
    const course before = *c;
    agent->reach = reach_of(agent, &o->form, 1);
    TRY(find_quota(agent, MOST_COMMITTED, &wanted));
    for (int i = 0; i < TACIT__SCHEDULE_LASTS; i++) {
        double loss = HUGE_VAL;
        const uint64_t last = tacit__schedule_last(o->episodes, i);
        TRY(try_last(agent, r, last, &o->form, c));
        if (c->first >= last)
            break;
        TRY(predict_loss(o, c, (double)wanted, &loss, err));
        if (loss < least) {
            least = loss;
            best = last;
        }
    }
    c->last = before.last;
    return least < HUGE_VAL ? try_last(agent, r, best, &o->form, c) : TACIT_OK;
}

/* The curator of an agent whose model is made, and what is known of the batches of its planner. */
static tacit_status create_curator(tacit__scored *agent, const tacit__reading *r,
                                   const tacit__score_form *form, tacit_noise *noise,
                                   tacit__batch_plans_options *out, tacit_error *err)
{
    TACIT__REQUIRE(agent->model != NULL && form->numbers > 0 && agent->alike > 0);
    const tacit__scored_rules *rules = parts_of(agent)->rules;
    const bool commits = parts_of(agent)->commits;
    tacit_error reason = {0};
    tacit__curator *made = NULL;
    tacit__curator_spec spec;
    tacit__score_noise known = {0};
    course c = {0};
    agent->guarantee = r->request->guarantee;
    agent->numbers = form->numbers;
    agent->n_states = form->n_states;
    agent->reach = reach_of(agent, form, fmax(1, (double)r->request->visits));
    if (!commits)
        TRY(tacit__reading_growth(r, LEAST_GROWTH, usual_growth(agent), &c.growth, err));
    if (!commits && agent->guarantee.model == TACIT_MODEL_JOINT && r->request->visits <= 1)
        agent->fade = (uint32_t)(TACIT__FADE_WHOLE * rules->fade / c.growth);
    tacit_status status = choose_report(
        agent, form,
        tacit__visits_within(r->request->visits, r->request->apart, r->request->episodes));
    if (status == TACIT_OK)
        status = commits ? read_commit(agent, r, &c) : read_course(agent, r, &c);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "no noise keeps such a guarantee");
    tacit__scores_options o = {.form = *form,
                               .episodes = r->request->episodes,
                               .visits = r->request->visits,
                               .apart = r->request->apart,
                               .fade = agent->fade,
                               .guarantee = agent->guarantee,
                               .each = agent->answers.each};
    if (!commits && r->request->visits > 1 && agent->guarantee.model == TACIT_MODEL_JOINT &&
        tacit__value_of(&r->values, "first")->integer == 0)
        status = find_last(agent, r, &o, &c, &reason);
    if (status == TACIT_OK && (o.batches = find_batches(o.episodes, &c, &agent->ends)) == 0)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    o.batches--; /* the last one is not shown */
    o.ends = agent->ends;
    if (status == TACIT_OK)
        status = tacit__scores_noise(&o, &known, &reason);
    if (status == TACIT_OK)
        status = tacit__scores_describe(&o, &spec, &reason);
    if (status == TACIT_OK)
        status = tacit__curator_create(&spec, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    if (!is_open(agent) && o.each == 0) {
        const double stddev = tacit__stream_stddev(tacit__curator_stream(made, 0), 1);
        *(is_local(agent) ? &known.user : &known.sum) = stddev * stddev;
    }
    *out = (tacit__batch_plans_options){
        .horizon = r->request->horizon,
        .batches = o.batches,
        .ends = agent->ends,
        .noise = known,
        .uniform_start = commits,
        .quota = c.quota,
        .exploring = commits ? 0 : (size_t)tacit__value_of(&r->values, "plans")->integer,
        .steady = commits ? 1 : rules->steady,
        .boldness = commits ? 0 : tacit__value_real(&r->values, "boldness"),
        .steady_boldness = commits ? 0 : rules->steady_boldness,
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
    tacit__batch_plans_options batches = {0};
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
    return tacit__curator_users(agent->base.curator) - tacit__curator_shown(agent->base.curator);
}

tacit_status tacit__scored_plan(void *self, tacit_billboard *out, tacit_error *err)
{
    TACIT__REQUIRE(((tacit__scored *)self)->planner != NULL);
    tacit__scored *agent = self;
    (void)err;
    *out =
        tacit__batch_plans_billboard(tacit__score_planner_batches(agent->planner), place_of(agent));
    return TACIT_OK;
}

/* The last release; there is one. */
static tacit__score_sums view_release(const tacit__scored *agent)
{
    const tacit__curator *c = agent->base.curator;
    const size_t i = (size_t)tacit__curator_released(c) - 1;
    const tacit__score_answers *answers = tacit__curator_responder(c);
    const double *sums = answers != NULL ? tacit__score_answers_shown(answers)
                                         : tacit__curator_sums(c, 0),
                 *starts = sums + agent->numbers;
    return (tacit__score_sums){.users = agent->ends[i] - (i > 0 ? agent->ends[i - 1] : 0),
                               .sums = sums,
                               .starts = starts,
                               .asked = answers != NULL ? starts + agent->n_states : NULL};
}

/* After each user: if a batch was over by that, the next one needs plans. */
void tacit__scored_learned(void *self)
{
    tacit__scored *agent = self;
    TACIT__REQUIRE(agent->planner != NULL);
    size_t over;
    (void)tacit__batch_plans_finished(tacit__score_planner_batches(agent->planner), &over);
    if (tacit__curator_released(agent->base.curator) == over)
        return;
    const tacit__score_sums shown = view_release(agent);
    tacit__score_planner_absorb(agent->planner, &shown);
}

void tacit__scored_fields(void *self, tacit__saved *s)
{
    tacit__scored *agent = self;
    TACIT__REQUIRE(agent->planner != NULL);
    s->wrong = "the saved learner contradicts itself";
    const size_t planned = tacit__score_planner_fields(agent->planner, s);
    tacit__saved_check(s, tacit__curator_fields(agent->base.curator, s) == planned);
}

const char *tacit__scored_remark(const void *self)
{
    (void)self;
    return "there is no regret theorem; privacy does not depend on one";
}
