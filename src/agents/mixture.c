/* Learners for linear mixtures: one curator (curate/gram.c), one planner (plan/optimist.c), four ways to be sure.
 *
 * Defaults. `bonus_scale` and `shift_scale` below 1 void the regret theorem, never the privacy: scales of noise do not depend
 * on them. At the theorem's values every learner here saturates its clips and plays nearly blindly for less than 10^5 users;
 * the defaults are what learns within some ten thousand (docs/why/linear.md). bonus_scale: 1 switches the others to the
 * theorem as well, unless they are set too. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/family.h"
#include "agents/mixture_inside.h"
#include "agents/printed.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/linopt.h"
#include "plan/ucrl_vtr.h"

/* Parameters that all kinds share come first, in this order. */
enum { BONUS_SCALE, SHIFT_SCALE, LAMBDA, FAILURE, CENTER, NONNEG, REPLAN, OWN, OWN_2 };

#define SHARED(bonus, shift)                                                                       \
    {                                                                                              \
        "bonus_scale", TACIT_PARAMETER_REAL,                                                       \
        bonus,         0,                                                                          \
        1e6,           "multiplies the bonus; 1 is the theorem"},                                  \
        {"shift_scale",                                                                            \
         TACIT_PARAMETER_REAL,                                                                     \
         shift,                                                                                    \
         0,                                                                                        \
         1e6,                                                                                      \
         "multiplies what is added to noisy Gram matrices; 1 is the theorem, and the default if "  \
         "bonus_scale is 1"},                                                                      \
        {"lambda", TACIT_PARAMETER_REAL,                                                           \
         "0",      0,                                                                              \
         1e12,     "ridge, where features are at most 1 long; 0: the algorithm's own"},            \
        {"failure", TACIT_PARAMETER_REAL, "0.05", 1e-12, 0.5, "probability that the bounds fail"}, \
        {"center", TACIT_PARAMETER_TEXT,                                                           \
         "auto",   0,                                                                              \
         0,        "measure values from the middle of their range: yes, no, or auto"},             \
        {"nonneg", TACIT_PARAMETER_TEXT,                                                           \
         "auto",   0,                                                                              \
         0,        "use that no feature is negative, when not centred: yes, no, or auto"},         \
    {                                                                                              \
        "replan", TACIT_PARAMETER_TEXT, "every", 0, 0,                                             \
            "a new plan after every user, after each doubling, or after so many users"             \
    }

static const tacit_parameter ucrl_vtr_parameters[] = {SHARED("0.05", "1")};
static const tacit_parameter ucrl_vtr_plus_parameters[] = {
    SHARED("0.003", "1"),
    {"first_share", TACIT_PARAMETER_REAL, "0.75", 0.01, 0.99,
     "of the privacy budget, for the regression of values; the rest is for their squares"},
};
static const tacit_parameter linopt_vi_parameters[] = {
    SHARED("0.1", "0.2"),
    {"transition_share", TACIT_PARAMETER_REAL, "0.7", 0.01, 0.99,
     "of the privacy budget, for the transitions; the rest is for the rewards"},
};
static const tacit_parameter linopt_po_parameters[] = {
    SHARED("0.05", "0.05"),
    {"transition_share", TACIT_PARAMETER_REAL, "0.7", 0.01, 0.99,
     "of the privacy budget, for the transitions; the rest is for the rewards"},
    {"step_scale", TACIT_PARAMETER_REAL, "20", 0, 1e6,
     "multiplies the step of the policy; 1 is the theorem, and the default if bonus_scale is 1"},
};

enum { UCRL_VTR, UCRL_VTR_PLUS, LINOPT_VI, LINOPT_PO };

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define APPROXIMATE (TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL)
#define PURE (TACIT_AGENT_JOINT_PURE | TACIT_AGENT_LOCAL_PURE)

static const tacit_agent_kind kinds[] = {
    [UCRL_VTR] = {"ucrl-vtr", "value-targeted regression of an unknown mixture; rewards are known",
                  "Luyo, Garcelon, Lazaric, Pirotta 2021, Alg. 1", APPROXIMATE | PURE,
                  ucrl_vtr_parameters, COUNT(ucrl_vtr_parameters)},
    [UCRL_VTR_PLUS] = {"ucrl-vtr-plus", "the same, weighted by estimated variances",
                       "Luyo, Garcelon, Lazaric, Pirotta 2021, Alg. 3", APPROXIMATE | PURE,
                       ucrl_vtr_plus_parameters, COUNT(ucrl_vtr_plus_parameters)},
    [LINOPT_VI] = {"linopt-vi", "value iteration for an unknown mixture with unknown rewards",
                   "Zhou 2022, Alg. 1", APPROXIMATE, linopt_vi_parameters,
                   COUNT(linopt_vi_parameters)},
    [LINOPT_PO] = {"linopt-po", "policy optimisation for an unknown mixture with unknown rewards",
                   "Zhou 2022, Alg. 2", APPROXIMATE, linopt_po_parameters,
                   COUNT(linopt_po_parameters)},
};

static tacit__confidence_fn *const confidence_of[] = {
    [UCRL_VTR] = tacit__ucrl_vtr_confidence,
    [UCRL_VTR_PLUS] = tacit__ucrl_vtr_plus_confidence,
    [LINOPT_VI] = tacit__linopt_confidence,
    [LINOPT_PO] = tacit__linopt_confidence,
};

/* --- Settings ---------------------------------------------------------------------------------- */

/* bonus_scale: 1 */
static bool is_theory(const tacit__reading *r)
{
    return r->values[BONUS_SCALE].real >= 1;
}

static double theory_or(const tacit__reading *r, size_t parameter)
{
    const tacit__value *v = &r->values[parameter];
    return is_theory(r) && !v->given ? 1 : v->real;
}

static bool is_printed(const tacit__reading *r)
{
    return r->request->guarantee.model != TACIT_MODEL_NONE &&
           r->request->calibration != TACIT_CALIBRATION_TIGHT;
}

static const char *const yes_no_auto[] = {"auto", "yes", "no", NULL};

typedef struct signs {
    bool centred, centred_rewards;
    bool nonnegative, nonnegative_rewards;
} signs;

static tacit_status read_signs(const tacit__reading *r, signs *out, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    int center = tacit__reading_choose(r, CENTER, yes_no_auto, err), nonneg;
    if (center < 0 || (nonneg = tacit__reading_choose(r, NONNEG, yes_no_auto, err)) < 0)
        return TACIT_BAD_ARGUMENT;
    bool kernels = q->mixture == NULL || q->mixture->kernels;
    bool positive = q->mixture == NULL || q->mixture->nonnegative;
    bool simplex = q->linear == NULL || q->linear->simplex;
    if (center == 1 && is_printed(r))
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)r->values[CENTER].line,
                              "published calibrations are for values that are not centred");
    if (center == 1 && !kernels)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)r->values[CENTER].line,
                              "center: yes needs a mixture of probability kernels");
    if (center == 1 && nonneg == 1)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)r->values[NONNEG].line,
                              "centred features have both signs: center and nonneg exclude each "
                              "other");
    if (nonneg == 1 && !positive)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)r->values[NONNEG].line,
                              "nonneg: yes needs features that are declared not to be negative");
    bool centred = center == 1 || (center == 0 && nonneg != 1 && kernels && !is_printed(r));
    bool use = nonneg == 1 || (nonneg == 0 && !is_printed(r));
    *out = (signs){.centred = centred,
                   .centred_rewards = centred && simplex,
                   .nonnegative = !centred && use && positive,
                   .nonnegative_rewards = !(centred && simplex) && use && simplex};
    return TACIT_OK;
}

static tacit_status read_replan(const tacit__reading *r, uint64_t *interval, tacit_error *err)
{
    const tacit__value *v = &r->values[REPLAN];
    int64_t users = 1;
    if (strcmp(v->text, "doubling") == 0)
        users = 0;
    else if (strcmp(v->text, "every") != 0 &&
             (!tacit__read_integer(v->text, strlen(v->text), &users) || users < 1))
        return tacit__fail_at(err, TACIT_BAD_ARGUMENT, r->request->file, (size_t)v->line,
                              "%s: replan is '%.40s', expected every, doubling, or a number of "
                              "users",
                              r->kind->name, v->text);
    *interval = (uint64_t)users;
    return TACIT_OK;
}

static tacit_status check_request(size_t kind, const tacit__reading *r, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    if (q->horizon < 2)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s learns transitions between steps, so it needs a horizon of "
                                   "at least 2",
                                   r->kind->name);
    if (q->n_states == 0 || (q->linear != NULL && q->linear->row == NULL))
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED, "%s needs numbered states",
                                   r->kind->name);
    if (kind <= UCRL_VTR_PLUS && q->rewards == NULL)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs to know the rewards; linopt-vi learns them",
                                   r->kind->name);
    if (is_printed(r) && q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s has no calibration 'figure'; it has tight and published",
                                   r->kind->name);
    if (is_printed(r) && q->guarantee.delta == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s: the paper prints constants for delta > 0 only; use "
                                   "calibration tight for delta 0",
                                   r->kind->name);
    return TACIT_OK;
}

/* Sums with their state, releases, factors and scratch take about so many bytes for each number of a Gram matrix; the
 * parts of a mixture, and features of all pairs at every step, are kept as they are. In doubles, before anything is
 * multiplied in integers. */
static tacit_status check_memory(size_t kind, const tacit__reading *r, tacit_error *err)
{
    const double per_number = 200;
    const tacit_agent_request *q = r->request;
    double n_states = (double)q->n_states, pairs = n_states * (double)q->n_actions;
    double h = (double)q->horizon, dense = q->mixture != NULL, bytes;
    double width = q->mixture != NULL ? (double)q->mixture->dimension : n_states;
    double numbers = h * (dense > 0 ? 1 : pairs) * width * (width + 3) / 2;
    double streams = kind == UCRL_VTR_PLUS ? 2 : 1;
    bytes = streams * (per_number * numbers + 8 * dense * (n_states + h) * width * pairs);
    if (kind >= LINOPT_VI) {
        double features = q->linear != NULL ? (double)q->linear->dimension : 1;
        bytes += per_number * h * (q->linear != NULL ? 1 : pairs) * features * (features + 3) / 2;
    }
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (bytes <= memory / 2)
        return TACIT_OK;
    return tacit__reading_fail(r, err, TACIT_TOO_LARGE,
                               "features and Gram matrices would need about %.3g GB; use fewer "
                               "states, or a mixture with fewer parts",
                               bytes / 1e9);
}

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
        .whole_range = is_printed(r),
        .soft = po,
        .step_size = po ? theory_or(r, OWN_2) *
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
                                            .parameter_norm = radius->parameter_norm[i],
                                            .share = i == 0 ? share : 1 - share};
    }
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
    tacit_status status = read_signs(r, &sign, err);
    if (status == TACIT_OK)
        status = read_replan(r, &agent->interval, err);
    if (status != TACIT_OK)
        return status;
    agent->theory = is_theory(r);
    agent->radius = (tacit__radius_options){.horizon = q->horizon,
                                            .episodes = q->episodes,
                                            .failure = r->values[FAILURE].real,
                                            .bonus_scale = r->values[BONUS_SCALE].real,
                                            .shift_scale = theory_or(r, SHIFT_SCALE),
                                            .lambda = r->values[LAMBDA].real,
                                            .printed = is_printed(r)};
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
    tacit_status status = tacit__reading_open(request, &kinds[kind], &r, err);
    if (status == TACIT_OK)
        status = check_request(kind, &r, err);
    if (status == TACIT_OK)
        status = check_memory(kind, &r, err);
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
    tacit__billboard board = tacit__optimist_induct(agent->planner);
    agent->board = (tacit_billboard){board.version, board.policy, board.mixed};
    agent->planned = true;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    mixture_agent *agent = self;
    if (is_due(agent)) {
        tacit__moments moments[TACIT__MAX_GRAM_STREAMS];
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
    tacit__trajectory t = {
        .states = user->states, .actions = user->actions, .rewards = user->rewards};
    tacit__optimist_lenses(agent->planner, lenses);
    return tacit__gram_add(agent->curator, &t, lenses, err);
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
    .kinds = kinds,
    .n_kinds = COUNT(kinds),
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .report = tacit__mixture_report,
    .absorb = tacit__mixture_absorb,
    .publish = tacit__mixture_publish,
    .follow = tacit__mixture_follow,
    .save = tacit__mixture_save,
    .load = tacit__mixture_load,
    .ledger = ledger,
    .remark = remark,
};
