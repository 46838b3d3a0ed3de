/* Learners for linear mixtures: one statistic (contribute/gram.c), one planner (plan/optimist.c), and
 * what mixture_learners.c says of each. How they travel is in mixture_bytes.c. */
#include <math.h>
#include <stdio.h>

#include "agents/mixture/mixture_agents.h"
#include "base/error.h"
#include "base/memory.h"
#include "release/schedule.h"

/* --- Parts ------------------------------------------------------------------------------------- */

static tacit_status make_planner(mixture_agent *agent, const tacit__reading *r, const signs *sign,
                                 tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const mixture_parts *parts = agent->parts;
    tacit__optimist_options o = {.n_states = q->n_states,
                                 .n_actions = q->n_actions,
                                 .horizon = q->horizon,
                                 .form = parts->form,
                                 .mixture = q->mixture,
                                 .linear = q->linear,
                                 .rewards = q->rewards,
                                 .stationary = q->stationary,
                                 .centered = sign->centered,
                                 .centered_rewards = sign->centered_rewards,
                                 .whole_range = tacit__mixture_is_printed(r),
                                 .clip = !tacit__is_published(q) ? TACIT__CLIP_PARTS : parts->clip,
                                 .soft = parts->soft};
    if (parts->soft != NULL)
        o.step_size = tacit__mixture_scale(r, "step_scale") *
                      parts->soft->step_size(q->n_actions, q->horizon, q->episodes);
    return tacit__optimist_create(&o, &agent->planner, err);
}

tacit__printed_case tacit__mixture_printed_case(const mixture_agent *agent, const tacit__reading *r)
{
    const tacit_agent_request *q = r->request;
    tacit__printed_case c = {.local = q->guarantee.model == TACIT_MODEL_LOCAL,
                             .epsilon = q->guarantee.epsilon,
                             .delta = q->guarantee.delta,
                             .episodes = (double)q->episodes,
                             .horizon = (double)q->horizon,
                             .failure = agent->radius.failure};
    for (size_t i = 0; i < TACIT__REGRESSIONS; i++)
        c.dimension[i] = tacit__radius_dimension(&agent->radius, i);
    return c;
}

/* Computes what the papers print, for curator and radii. */
static void print_noise(mixture_agent *agent, const tacit__reading *r, tacit__gram_options *o)
{
    const tacit__printed_case c = tacit__mixture_printed_case(agent, r);
    tacit__printed_noise noise[TACIT__REGRESSIONS];
    agent->parts->print(&c, noise);
    for (size_t i = 0; i < o->n_streams; i++) {
        o->streams[i].printed_gram = noise[i].gram;
        o->streams[i].printed_response = noise[i].response;
        agent->radius.level[i] =
            (tacit__printed_level){noise[i].gram_level, noise[i].response_level};
    }
}

/* The users at each release, if those are rare; to be freed. */
static tacit_status find_ends(tacit__gram_options *o, double growth, uint64_t **ends,
                              tacit_error *err)
{
    const uint64_t users = o->episodes > 1 ? o->episodes - 1 : 1;
    if (!(growth > 1))
        return TACIT_OK;
    o->n_ends = (size_t)tacit__schedule_count(users, growth, NULL);
    o->ends = *ends = tacit__schedule_ends(users, growth, o->n_ends);
    return *ends != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

static tacit_status open_curator(mixture_agent *agent, tacit__gram_options *o, double growth,
                                 tacit_noise *noise, tacit_error *err)
{
    uint64_t *ends = NULL;
    tacit__curator *made = NULL;
    tacit__curator_spec spec;
    tacit_status status = find_ends(o, growth, &ends, err);
    if (status == TACIT_OK)
        status = tacit__gram_describe(o, &spec, err);
    if (status == TACIT_OK)
        status = tacit__curator_create(&spec, noise, &made, err);
    agent->base.curator = made;
    tacit__free(ends);
    return status;
}

static tacit_status make_curator(mixture_agent *agent, const tacit__reading *r, const signs *sign,
                                 tacit_noise *noise, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const mixture_parts *parts = agent->parts;
    tacit__radius_options *radius = &agent->radius;
    TACIT__REQUIRE(parts->confidence != NULL && parts->print != NULL && parts->events > 0);
    double share = parts->share != NULL ? tacit__value_real(&r->values, parts->share) : 1, growth;
    TRY(tacit__mixture_read_schedule(r, parts, &growth, err));
    tacit__gram_options o = {.n_states = q->n_states,
                             .n_actions = q->n_actions,
                             .horizon = q->horizon,
                             .episodes = q->episodes,
                             .visits = q->visits,
                             .apart = q->apart,
                             .guarantee = q->guarantee,
                             .failure = radius->failure /
                                        (parts->events * (double)q->episodes * (double)q->horizon),
                             .n_streams = tacit__optimist_streams(agent->planner)};
    for (size_t i = 0; i < o.n_streams; i++) {
        TACIT__REQUIRE(parts->streams[i] != NULL);
        bool of_rewards = parts->form == TACIT__REWARDS && i == TACIT__OTHER;
        radius->frame[i] = tacit__optimist_frame(agent->planner, i);
        radius->parameter_norm[i] = tacit__optimist_parameter_norm(agent->planner, i);
        radius->centered[i] = of_rewards ? sign->centered_rewards : sign->centered;
        o.streams[i] = (tacit__gram_stream){.name = parts->streams[i],
                                            .frame = radius->frame[i],
                                            .radius = tacit__optimist_radius(agent->planner, i),
                                            .centered = radius->centered[i],
                                            .nonnegative = of_rewards ? sign->nonnegative_rewards
                                                                      : sign->nonnegative,
                                            .weighted = parts->form == TACIT__VARIANCE && i == 0,
                                            .parameter_norm = radius->parameter_norm[i],
                                            .share = i == 0 ? share : 1 - share};
    }
    for (size_t i = 0; i < o.n_streams && !radius->printed; i++)
        o.streams[i].table = tacit__optimist_table(agent->planner, i);
    if (radius->printed)
        print_noise(agent, r, &o);
    TRY(tacit__reading_mechanism(r, &o.mechanism, err));
    TRY(open_curator(agent, &o, growth, noise, err));
    tacit__mixture_fill_plays(agent, r, sign, growth);
    return TACIT_OK;
}

/* --- The agent --------------------------------------------------------------------------------- */

static void clear(void *self)
{
    tacit__optimist_destroy(((mixture_agent *)self)->planner);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    mixture_agent *agent = self;
    const tacit_agent_request *q = r->request;
    signs sign = {0};
    agent->parts = agent->base.row->parts;
    TRY(tacit__mixture_check(agent->parts, r, err));
    TRY(tacit__mixture_read_signs(r, &sign, err));
    TRY(tacit__mixture_read_replan(r, &agent->interval, err));
    agent->theory = tacit__mixture_is_theory(r);
    agent->radius = (tacit__radius_options){.horizon = q->horizon,
                                            .episodes = q->episodes,
                                            .failure = tacit__value_real(&r->values, "failure"),
                                            .bonus_scale = tacit__mixture_scale(r, "bonus_scale"),
                                            .shift_scale = tacit__mixture_scale(r, "shift_scale"),
                                            .lambda = tacit__value_real(&r->values, "lambda"),
                                            .printed = tacit__mixture_is_printed(r)};
    tacit_error reason = {0};
    tacit_status status = make_planner(agent, r, &sign, &reason);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    status = make_curator(agent, r, &sign, noise, err);
    return status == TACIT_NO_MEMORY ? tacit__fail_plain(err, status) : status;
}

/* Returns whether users that came since the last plan ask for a new one. */
static bool is_due(const mixture_agent *agent)
{
    uint64_t users = tacit__curator_shown(agent->base.curator), last = agent->planned_users;
    if (!agent->planned)
        return true;
    return agent->interval > 0 ? users - last >= agent->interval
                               : users > last && (last == 0 || users - last >= last);
}

void tacit__mixture_make_plan(mixture_agent *agent)
{
    agent->board = tacit__optimist_induct(agent->planner);
    agent->planned = true;
}

/* The release for the next episode, of all streams. If releases are rare, it is the last one that was
 * due. */
static tacit_status view_release(const mixture_agent *agent,
                                 tacit__gram_sums out[TACIT__MAX_GRAM_STREAMS], tacit_error *err)
{
    tacit__curator *c = agent->base.curator;
    if (tacit__curator_ends(c) == NULL)
        TRY(tacit__curator_refresh(c, err));
    for (size_t i = 0; i < tacit__optimist_streams(agent->planner); i++)
        out[i] = tacit__gram_view(tacit__curator_form(c), i, tacit__curator_stream(c, i),
                                  tacit__curator_released(c), tacit__curator_shown(c));
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    mixture_agent *agent = self;
    if (is_due(agent)) {
        tacit__gram_sums moments[TACIT__MAX_GRAM_STREAMS];
        tacit__confidence confidence[TACIT__REGRESSIONS];
        TRY(view_release(agent, moments, err));
        agent->parts->confidence(&agent->radius, moments, confidence);
        tacit__optimist_fit(agent->planner, moments, confidence);
        tacit__mixture_make_plan(agent);
        agent->planned_users = moments[0].users;
    }
    *out = agent->board;
    return TACIT_OK;
}

/* Users act by plans: there must be one before there are users. */
static tacit_status view_user(void *self, const tacit_trajectory *user, tacit__user_view *out,
                              tacit_error *err)
{
    mixture_agent *agent = self;
    (void)user;
    if (!agent->planned)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a user acts by a plan: make one before the first user");
    tacit__optimist_lenses(agent->planner, agent->lenses);
    out->lenses = agent->lenses;
    return TACIT_OK;
}

static bool is_tie(const void *self, size_t one, size_t other)
{
    const double tol = 1e-9; /* relative: some 10^6 roundings */
    const double *q = tacit__optimist_get(((const mixture_agent *)self)->planner).q;
    return fabs(q[one] - q[other]) <= tol * (1 + fabs(q[one]));
}

static const char *remark(const void *self)
{
    mixture_agent *agent = (mixture_agent *)(uintptr_t)self;
    tacit__repairs repairs = tacit__optimist_repairs(agent->planner);
    char *text = agent->remark;
    size_t size = sizeof agent->remark, used = 0;
    bool private = tacit__curator_ledger(agent->base.curator) != NULL;
    text[0] = '\0';
    if (!agent->theory)
        used = (size_t)snprintf(text, size,
                                "bonus_scale below 1: the regret theorem does not apply; privacy "
                                "does not depend on it");
    if (repairs.repaired > 0)
        (void)snprintf(text + used, size - used,
                       "%s%.2g %% of the noisy Gram matrices had to be made definite",
                       used > 0 ? "; " : "",
                       100 * (double)repairs.repaired / (double)repairs.matrices);
    else if (private && agent->radius.shift_scale < 1)
        (void)snprintf(text + used, size - used,
                       "%sshift_scale below 1: noisy Gram matrices are made definite where need be",
                       used > 0 ? "; " : "");
    return text;
}

const tacit__family tacit__family_mixture = {
    .rows = &tacit__mixture_rows,
    .looks_ahead = true,
    .size = sizeof(mixture_agent),
    .build = build,
    .clear = clear,
    .plan = plan,
    .view_user = view_user,
    .publish = tacit__mixture_publish,
    .follow = tacit__mixture_follow,
    .is_tie = is_tie,
    .fields = tacit__mixture_fields,
    .remark = remark,
};
