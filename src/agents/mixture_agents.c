/* Learners for linear mixtures: one curator (curate/gram.c), one planner (plan/optimist.c), four ways to be sure. What they can be
 * told is in mixture_settings.c, how they travel in mixture_bytes.c. */
#include <math.h>
#include <stdio.h>

#include "agents/family.h"
#include "agents/mixture_agents.h"
#include "agents/printed.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/linopt.h"
#include "plan/ucrl_vtr.h"

static tacit__confidence_fn *const confidence_of[] = {
    [UCRL_VTR] = tacit__ucrl_vtr_confidence,
    [UCRL_VTR_PLUS] = tacit__ucrl_vtr_plus_confidence,
    [LINOPT_VI] = tacit__linopt_confidence,
    [LINOPT_PO] = tacit__linopt_confidence,
};

/* --- Parts ------------------------------------------------------------------------------------- */

static tacit_status make_planner(mixture_agent *agent, const tacit__reading *r, const signs *sign,
                                 tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    bool po = agent->kind == LINOPT_PO;
    tacit__optimist_options o = {
        .n_states = q->n_states,
        .n_actions = q->n_actions,
        .horizon = q->horizon,
        .form = agent->kind == UCRL_VTR        ? TACIT__PLAIN
                : agent->kind == UCRL_VTR_PLUS ? TACIT__VARIANCE
                                               : TACIT__REWARDS,
        .mixture = q->mixture,
        .linear = q->linear,
        .rewards = q->rewards,
        .stationary = q->stationary,
        .centred = sign->centred,
        .centred_rewards = sign->centred_rewards,
        .whole_range = tacit__mixture_is_printed(r),
        .soft = po,
        .step_size = po ? tacit__mixture_scale(r, OWN_2) *
                              tacit__linopt_step_size(q->n_actions, q->horizon, q->episodes)
                        : 0};
    return tacit__optimist_create(&o, &agent->planner, err);
}

/* What the papers print, for curator and radii. */
static void print_noise(mixture_agent *agent, const tacit__reading *r, tacit__gram_options *o)
{
    const tacit_agent_request *q = r->request;
    tacit__printed_case c = {.guarantee = q->guarantee,
                             .episodes = (double)q->episodes,
                             .horizon = (double)q->horizon,
                             .failure = r->values[FAILURE].real};
    tacit__printed_noise noise[2];
    for (size_t i = 0; i < o->n_streams; i++)
        c.dimension[i] = tacit__radius_dimension(&agent->radius, i);
    if (agent->kind == UCRL_VTR)
        tacit__printed_ucrl_vtr(&c, noise);
    else if (agent->kind == UCRL_VTR_PLUS)
        tacit__printed_ucrl_vtr_plus(&c, noise);
    else
        tacit__printed_linopt(&c, noise);
    for (size_t i = 0; i < o->n_streams; i++) {
        o->streams[i].printed_gram = noise[i].gram;
        o->streams[i].printed_response = noise[i].response;
        agent->radius.level[i] =
            (tacit__printed_level){noise[i].gram_level, noise[i].response_level};
    }
}

static tacit_status make_curator(mixture_agent *agent, const tacit__reading *r, const signs *sign,
                                 tacit_noise *noise, tacit_error *err)
{
    static const char *const names[][2] = {[UCRL_VTR] = {"transitions", ""},
                                           [UCRL_VTR_PLUS] = {"transitions", "squares"},
                                           [LINOPT_VI] = {"transitions", "rewards"},
                                           [LINOPT_PO] = {"transitions", "rewards"}};
    const tacit_agent_request *q = r->request;
    tacit__radius_options *radius = &agent->radius;
    bool rewards = agent->kind >= LINOPT_VI;
    double share = agent->kind == UCRL_VTR ? 1 : r->values[OWN].real;
    double events = agent->kind == UCRL_VTR ? 6 : agent->kind == UCRL_VTR_PLUS ? 24 : 4;
    tacit__gram_options o = {.n_states = q->n_states,
                             .n_actions = q->n_actions,
                             .horizon = q->horizon,
                             .episodes = q->episodes,
                             .guarantee = q->guarantee,
                             .failure = radius->failure /
                                        (events * (double)q->episodes * (double)q->horizon),
                             .n_streams = tacit__optimist_streams(agent->planner)};
    for (size_t i = 0; i < o.n_streams; i++) {
        bool of_rewards = rewards && i == TACIT__OTHER;
        radius->frame[i] = tacit__optimist_frame(agent->planner, i);
        radius->parameter_norm[i] = tacit__optimist_parameter_norm(agent->planner, i);
        radius->centred[i] = of_rewards ? sign->centred_rewards : sign->centred;
        o.streams[i] = (tacit__gram_stream){.name = names[agent->kind][i],
                                            .frame = radius->frame[i],
                                            .radius = tacit__optimist_radius(agent->planner, i),
                                            .centred = radius->centred[i],
                                            .nonnegative = of_rewards ? sign->nonnegative_rewards
                                                                      : sign->nonnegative,
                                            .weighted = agent->kind == UCRL_VTR_PLUS && i == 0,
                                            .parameter_norm = radius->parameter_norm[i],
                                            .share = i == 0 ? share : 1 - share};
    }
    for (size_t i = 0; i < o.n_streams && !radius->printed; i++)
        o.streams[i].table = tacit__optimist_table(agent->planner, i);
    if (radius->printed)
        print_noise(agent, r, &o);
    tacit_status status = tacit__reading_mechanism(r, &o.mechanism, err);
    return status == TACIT_OK ? tacit__gram_create(&o, noise, &agent->curator, err) : status;
}

/* --- The agent --------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    mixture_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__gram_destroy(agent->curator);
    tacit__optimist_destroy(agent->planner);
    tacit__free(agent);
}

static tacit_status build(mixture_agent *agent, const tacit__reading *r, tacit_noise *noise,
                          tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    signs sign = {0};
    tacit_status status = tacit__mixture_read_signs(r, &sign, err);
    if (status == TACIT_OK)
        status = tacit__mixture_read_replan(r, &agent->interval, err);
    if (status != TACIT_OK)
        return status;
    agent->theory = tacit__mixture_is_theory(r);
    agent->radius = (tacit__radius_options){.horizon = q->horizon,
                                            .episodes = q->episodes,
                                            .failure = r->values[FAILURE].real,
                                            .bonus_scale = r->values[BONUS_SCALE].real,
                                            .shift_scale = tacit__mixture_scale(r, SHIFT_SCALE),
                                            .lambda = r->values[LAMBDA].real,
                                            .printed = tacit__mixture_is_printed(r)};
    tacit_error reason = {0};
    status = make_planner(agent, r, &sign, &reason);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    status = make_curator(agent, r, &sign, noise, err);
    return status == TACIT_NO_MEMORY ? tacit__fail_plain(err, status) : status;
}

static tacit_status create(size_t kind, const tacit_agent_request *request, tacit_noise *noise,
                           void **out, tacit_error *err)
{
    tacit__reading r;
    tacit_status status = tacit__reading_open(request, &tacit__mixture_kinds[kind], &r, err);
    if (status == TACIT_OK)
        status = tacit__mixture_check(kind, &r, err);
    if (status != TACIT_OK)
        return status;
    mixture_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    agent->kind = kind;
    status = build(agent, &r, noise, err);
    if (status != TACIT_OK) {
        destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
}

/* Whether users that came since the last plan ask for a new one. */
static bool is_due(const mixture_agent *agent)
{
    uint64_t users = tacit__gram_users(agent->curator), last = agent->planned_users;
    if (!agent->planned)
        return true;
    return agent->interval > 0 ? users - last >= agent->interval
                               : users > last && (last == 0 || users - last >= last);
}

void tacit__mixture_show(mixture_agent *agent)
{
    agent->board = tacit__optimist_induct(agent->planner);
    agent->planned = true;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    mixture_agent *agent = self;
    if (is_due(agent)) {
        tacit__gram_sums moments[TACIT__MAX_GRAM_STREAMS];
        tacit__confidence confidence[TACIT__REGRESSIONS];
        tacit_status status = tacit__gram_release(agent->curator, moments, err);
        if (status != TACIT_OK)
            return status;
        confidence_of[agent->kind](&agent->radius, moments, confidence);
        tacit__optimist_fit(agent->planner, moments, confidence);
        tacit__mixture_show(agent);
        agent->planned_users = moments[0].users;
    }
    *out = agent->board;
    return TACIT_OK;
}

tacit_status tacit__mixture_check_planned(const mixture_agent *agent, tacit_error *err)
{
    if (agent->planned)
        return TACIT_OK;
    return tacit__fail(err, TACIT_BAD_ARGUMENT,
                       "a user acts by a plan: ask for one before the first user is told of");
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    mixture_agent *agent = self;
    tacit__lens lenses[TACIT__REGRESSIONS];
    tacit_status status = tacit__mixture_check_planned(agent, err);
    if (status != TACIT_OK)
        return status;
    tacit__optimist_lenses(agent->planner, lenses);
    return tacit__gram_add(agent->curator, user, lenses, err);
}

static bool is_tie(const void *self, size_t one, size_t other)
{
    const double tol = 1e-9; /* relative: some 10^6 roundings */
    const double *q = tacit__optimist_look(((const mixture_agent *)self)->planner).q;
    return fabs(q[one] - q[other]) <= tol * (1 + fabs(q[one]));
}

static tacit_ledger *ledger(const void *self)
{
    return tacit__gram_ledger(((const mixture_agent *)self)->curator);
}

static const char *remark(const void *self)
{
    mixture_agent *agent = (mixture_agent *)(uintptr_t)self;
    tacit__repairs repairs = tacit__optimist_repairs(agent->planner);
    char *text = agent->remark;
    size_t size = sizeof agent->remark, used = 0;
    bool private = tacit__gram_ledger(agent->curator) != NULL;
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
    .kinds = tacit__mixture_kinds,
    .n_kinds = MIXTURE_KINDS,
    .looks_ahead = true,
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .report = tacit__mixture_report,
    .check_report = tacit__mixture_check_report,
    .absorb = tacit__mixture_absorb,
    .publish = tacit__mixture_publish,
    .follow = tacit__mixture_follow,
    .is_tie = is_tie,
    .save = tacit__mixture_save,
    .load = tacit__mixture_load,
    .ledger = ledger,
    .remark = remark,
};
