/* What learners for linear mixtures can be told, and which requests make no sense.
 *
 * Defaults. `bonus_scale` and `shift_scale` below 1 void the regret theorem, never the privacy: scales of noise do not depend
 * on them. At the theorem's values every learner here saturates its clips and plays nearly blindly for less than 10^5 users;
 * the defaults are what learns within some ten thousand (docs/why/linear.md). bonus_scale: 1 switches the others to the
 * theorem as well, unless they are set too. */
#include <string.h>
#include <unistd.h>

#include "agents/mixture_agents.h"
#include "base/error.h"

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

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define APPROXIMATE (TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL)
#define PURE (TACIT_AGENT_JOINT_PURE | TACIT_AGENT_LOCAL_PURE)

const tacit_agent_kind tacit__mixture_kinds[MIXTURE_KINDS] = {
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

/* bonus_scale: 1 */
bool tacit__mixture_is_theory(const tacit__reading *r)
{
    return r->values[BONUS_SCALE].real >= 1;
}

double tacit__mixture_scale(const tacit__reading *r, size_t parameter)
{
    const tacit__value *v = &r->values[parameter];
    return tacit__mixture_is_theory(r) && !v->given ? 1 : v->real;
}

bool tacit__mixture_is_printed(const tacit__reading *r)
{
    return r->request->guarantee.model != TACIT_MODEL_NONE &&
           r->request->calibration != TACIT_CALIBRATION_TIGHT;
}

static const char *const yes_no_auto[] = {"auto", "yes", "no", NULL};

tacit_status tacit__mixture_read_signs(const tacit__reading *r, signs *out, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    int center = tacit__reading_choose(r, CENTER, yes_no_auto, err), nonneg;
    if (center < 0 || (nonneg = tacit__reading_choose(r, NONNEG, yes_no_auto, err)) < 0)
        return TACIT_BAD_ARGUMENT;
    bool kernels = q->mixture == NULL || q->mixture->kernels;
    bool positive = q->mixture == NULL || q->mixture->nonnegative;
    bool simplex = q->linear == NULL || q->linear->simplex;
    if (center == 1 && tacit__mixture_is_printed(r))
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
    bool centred =
        center == 1 || (center == 0 && nonneg != 1 && kernels && !tacit__mixture_is_printed(r));
    bool use = nonneg == 1 || (nonneg == 0 && !tacit__mixture_is_printed(r));
    *out = (signs){.centred = centred,
                   .centred_rewards = centred && simplex,
                   .nonnegative = !centred && use && positive,
                   .nonnegative_rewards = !(centred && simplex) && use && simplex};
    return TACIT_OK;
}

tacit_status tacit__mixture_read_replan(const tacit__reading *r, uint64_t *interval,
                                        tacit_error *err)
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
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs numbered states; in a service, space: {states: 6}",
                                   r->kind->name);
    if (kind <= UCRL_VTR_PLUS && q->rewards == NULL)
        return tacit__reading_fail(
            r, err, TACIT_UNSUPPORTED,
            "%s needs to know the rewards; linopt-vi learns them, and a service "
            "may declare them, space: {rewards: FILE}",
            r->kind->name);
    if (tacit__mixture_is_printed(r) && q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s has no calibration 'figure'; it has tight and published",
                                   r->kind->name);
    if (tacit__mixture_is_printed(r) && q->guarantee.delta == 0)
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

tacit_status tacit__mixture_check(size_t kind, const tacit__reading *r, tacit_error *err)
{
    tacit_status status = check_request(kind, r, err);
    return status == TACIT_OK ? check_memory(kind, r, err) : status;
}
