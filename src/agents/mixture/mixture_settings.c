/* This file turns the settings of learners for linear mixtures into plans, and refuses requests that
 * make no sense. The settings are in mixture_learners.c. */
#include <string.h>

#include "agents/mixture/mixture_agents.h"
#include "base/error.h"

#define GROWTH 1.02 /* of users from release to release; docs/why/linear.md#when-to-release */

/* bonus_scale: 1 */
bool tacit__mixture_is_theory(const tacit__reading *r)
{
    return tacit__reading_real(r, "bonus_scale", 1) >= 1;
}

double tacit__mixture_scale(const tacit__reading *r, const char *parameter)
{
    const tacit__value *v = tacit__value_of(&r->values, parameter);
    const bool paper = tacit__mixture_is_theory(r) || tacit__is_published(r->request);
    return paper && !v->given ? 1 : v->real;
}

bool tacit__mixture_is_printed(const tacit__reading *r)
{
    return tacit__is_noise_printed(r->request);
}

tacit_status tacit__mixture_read_signs(const tacit__reading *r, signs *out, tacit_error *err)
{
    TACIT__REQUIRE(r != NULL && out != NULL);
    const tacit_agent_request *q = r->request;
    int center = tacit__value_choose(&r->values, "center", tacit__auto_yes_no, err), nonneg;
    if (center < 0 ||
        (nonneg = tacit__value_choose(&r->values, "nonneg", tacit__auto_yes_no, err)) < 0)
        return TACIT_BAD_ARGUMENT;
    bool kernels = q->mixture == NULL || q->mixture->kernels;
    bool positive = q->mixture == NULL || q->mixture->nonnegative;
    bool simplex = q->linear == NULL || q->linear->simplex;
    if (center == TACIT__YES && tacit__mixture_is_printed(r))
        return tacit__value_fail(&r->values, "center", err, TACIT_UNSUPPORTED,
                                 "published calibrations are for values that are not centered");
    if (center == TACIT__YES && !kernels)
        return tacit__value_fail(&r->values, "center", err, TACIT_UNSUPPORTED,
                                 "center: yes needs a mixture of probability kernels");
    if (center == TACIT__YES && nonneg == TACIT__YES)
        return tacit__value_fail(
            &r->values, "nonneg", err, TACIT_UNSUPPORTED,
            "centered features have both signs: center and nonneg exclude each "
            "other");
    if (nonneg == TACIT__YES && !positive)
        return tacit__value_fail(&r->values, "nonneg", err, TACIT_UNSUPPORTED,
                                 "nonneg: yes needs features that are declared not to be negative");
    bool centered = center == TACIT__YES || (center == TACIT__AUTO && nonneg != TACIT__YES &&
                                             kernels && !tacit__mixture_is_printed(r));
    bool use = nonneg == TACIT__YES || (nonneg == TACIT__AUTO && !tacit__mixture_is_printed(r));
    *out = (signs){.centered = centered,
                   .centered_rewards = centered && simplex,
                   .nonnegative = !centered && use && positive,
                   .nonnegative_rewards = !(centered && simplex) && use && simplex};
    return TACIT_OK;
}

tacit_status tacit__mixture_read_replan(const tacit__reading *r, uint64_t *interval,
                                        tacit_error *err)
{
    TACIT__REQUIRE(interval != NULL);
    const tacit__value *v = tacit__value_of(&r->values, "replan");
    int64_t users = 1;
    if (strcmp(v->text, "doubling") == 0)
        users = 0;
    else if (strcmp(v->text, "every") != 0 &&
             (!tacit__read_integer(v->text, strlen(v->text), &users) || users < 1))
        return tacit__value_fail(&r->values, "replan", err, TACIT_BAD_ARGUMENT,
                                 "%s: replan is '%.40s', expected every, doubling, or a number of "
                                 "users",
                                 r->kind->name, v->text);
    *interval = (uint64_t)users;
    return TACIT_OK;
}

/* Releases for each user, or few: these have less noise, and are the default of most learners where
 * noise is not printed and no theorem asks for the others. */
tacit_status tacit__mixture_read_schedule(const tacit__reading *r, const mixture_parts *parts,
                                          double *growth, tacit_error *err)
{
    TACIT__REQUIRE(parts != NULL && growth != NULL);
    const tacit_model model = r->request->guarantee.model;
    const bool useful = model == TACIT_MODEL_JOINT && !tacit__mixture_is_printed(r);
    const bool rare = useful && parts->rare && !tacit__mixture_is_theory(r);
    TRY(tacit__reading_schedule(r, GROWTH, rare ? GROWTH : 0, growth, err));
    if (model == TACIT_MODEL_NONE)
        *growth = 0; /* exact sums are always at hand */
    if (*growth == 0 || useful)
        return TACIT_OK;
    return tacit__value_fail(&r->values, "schedule", err, TACIT_UNSUPPORTED,
                             "rare releases lower the noise under joint privacy with calibration "
                             "tight; elsewhere it is schedule: every");
}

static tacit_status check_request(const mixture_parts *parts, const tacit__reading *r,
                                  tacit_error *err)
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
    if (parts->form != TACIT__REWARDS && q->rewards == NULL)
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

/* Sums with their state, releases, factors and scratch take about this many bytes for each number of
 * a Gram matrix; the parts of a mixture, and features of all pairs at every step, are kept as they
 * are. */
static tacit_status check_memory(const mixture_parts *parts, const tacit__reading *r,
                                 tacit_error *err)
{
    const double per_number = 200;
    const tacit_agent_request *q = r->request;
    double n_states = (double)q->n_states, pairs = n_states * (double)q->n_actions;
    double h = (double)q->horizon, dense = q->mixture != NULL, bytes;
    double width = q->mixture != NULL ? (double)q->mixture->dimension : n_states;
    double numbers = h * (dense > 0 ? 1 : pairs) * width * (width + 3) / 2;
    double streams = parts->form == TACIT__VARIANCE ? 2 : 1;
    bytes = streams * (per_number * numbers + 8 * dense * (n_states + h) * width * pairs);
    if (parts->form == TACIT__REWARDS) {
        double features = q->linear != NULL ? (double)q->linear->dimension : 1;
        bytes += per_number * h * (q->linear != NULL ? 1 : pairs) * features * (features + 3) / 2;
    }
    return tacit__reading_check_memory(r, bytes, "features and Gram matrices",
                                       "use fewer states, or a mixture with fewer parts", err);
}

tacit_status tacit__mixture_check(const mixture_parts *parts, const tacit__reading *r,
                                  tacit_error *err)
{
    TRY(check_request(parts, r, err));
    return check_memory(parts, r, err);
}
