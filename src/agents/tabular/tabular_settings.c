/* This file turns the settings of tabular learners into plans, and refuses requests that make no sense.
 * The settings are in tabular_learners.c.
 *
 * Published calibrations [QW23, CZ22, VBKW20]: Laplace noise of scale 3 H log2(K) / epsilon on
 * every node of a binary tree, or 3 H / epsilon on every report, raw rewards, three streams;
 * [GPPP21]: 6 H / epsilon. What they give is computed, not believed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agents/tabular/tabular_agents.h"
#include "base/error.h"

#define GROWTH 1.02 /* of users from release to release; docs/why/tabular.md#when-to-release */
#define VISITS_OF_PAIR 2.0 /* m: of a user, that count */

static double bonus_scale(const tacit__reading *r)
{
    return tacit__reading_real(r, "bonus_scale", 1);
}

/* bonus_scale: 1 */
static bool is_theory(const tacit__reading *r)
{
    return bonus_scale(r) >= 1;
}

static tacit_status read_pooled(const tacit__reading *r, const tabular_parts *parts, bool *pooled,
                                tacit_error *err)
{
    int choice = tacit__value_choose(&r->values, "pooled", tacit__auto_yes_no, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    *pooled = choice == TACIT__YES ||
              (choice == TACIT__AUTO && r->request->stationary && !tacit__is_published(r->request));
    if (parts->pooled && !*pooled)
        return tacit__value_fail(&r->values, "pooled", err, TACIT_UNSUPPORTED,
                                 "%s knows one model for all steps: it needs pooled: yes",
                                 r->kind->name);
    if (*pooled && !r->request->stationary)
        return tacit__value_fail(
            &r->values, "pooled", err, TACIT_UNSUPPORTED,
            "pooled: yes needs a world whose steps are all alike; this one's are not");
    return TACIT_OK;
}

static bool is_tight(const tacit__reading *r)
{
    return r->request->calibration == TACIT_CALIBRATION_TIGHT;
}

/* Reads error_scale. A bonus in levels, which all but `practical` are, has a default of its own,
 * because the parameter's default counts in standard deviations. */
static double error_scale(const tacit__reading *r)
{
    const double of_levels = 0.001;
    const tacit__value *scale = tacit__value_of(&r->values, "error_scale"),
                       *bonus = tacit__value_find(&r->values, "bonus");
    const bool levels =
        bonus != NULL && (bonus->given ? strcmp(bonus->text, "practical") != 0 : !is_tight(r));
    if ((is_theory(r) || tacit__is_published(r->request)) && !scale->given)
        return 1;
    return levels && !scale->given ? of_levels : scale->real;
}

/* Releases for each user, or few: these have less noise, and are the default where noise is not
 * printed and no theorem asks for the others. */
static tacit_status read_schedule(const tacit__reading *r, const tacit__tabular_options *o,
                                  double *growth, tacit_error *err)
{
    const bool joint = o->guarantee.model == TACIT_MODEL_JOINT;
    const bool rare = joint && is_tight(r) && !is_theory(r);
    TRY(tacit__reading_schedule(r, GROWTH, rare ? GROWTH : 0, growth, err));
    if (o->guarantee.model == TACIT_MODEL_NONE)
        *growth = 0; /* exact counts are always at hand */
    if (*growth == 0 || (joint && is_tight(r)))
        return TACIT_OK;
    return tacit__value_fail(&r->values, "schedule", err, TACIT_UNSUPPORTED,
                             "rare releases lower the noise under joint privacy with calibration "
                             "tight; elsewhere it is schedule: every");
}

/* The budget B of a user, the largest length of the visits that count. At least sqrt(min(H, m^2 S A))
 * with m = 2 visits of a pair, which a user who goes about does not exceed: what is left out is what users
 * tell again and again. More, up to H, which is everything, where noise is so low that nothing is saved by
 * leaving visits out: as much as keeps the noise of the last release, about sqrt(2) B c / mu, below one
 * visit. c is that of the best running sums, 1 + ln(R) / pi over R releases [FHU23], or of the
 * sum of all reports, sqrt(K). All of it is public. */
static double budget_of(const tacit__tabular_options *o, double growth)
{
    const double h = (double)o->space.horizon, k = (double)o->episodes,
                 pairs = (double)o->space.n_states * (double)o->space.n_actions;
    const double releases = growth > 1 ? log(k) / log(growth) : k;
    const double c =
        o->guarantee.model == TACIT_MODEL_JOINT ? 1 + log(fmax(1, releases)) / M_PI : sqrt(k);
    double mu = 0;
    if (tacit_gdp_mu(o->guarantee.epsilon, o->guarantee.delta, &mu) != TACIT_OK)
        mu = 0; /* no noise keeps such a guarantee, which the plan will say */
    return fmin(h,
                fmax(sqrt(fmin(h, VISITS_OF_PAIR * VISITS_OF_PAIR * pairs)), mu / (M_SQRT2 * c)));
}

/* Decides how much of a user counts. Less than everything only where that lowers noise: in L1 every
 * trajectory has the same norm, tables for each step never repeat a cell, and printed scales are
 * fixed. As many visits of a pair as fit the budget: m H visits' squares are at most m H. */
static tacit_status read_user(const tacit__reading *r, double growth, tacit__tabular_options *o,
                              tacit_error *err)
{
    const bool useful = o->space.tables == 1 && is_tight(r) &&
                        o->guarantee.model != TACIT_MODEL_NONE && o->guarantee.delta > 0;
    const double h = (double)o->space.horizon;
    const tacit__value *visits = tacit__value_of(&r->values, "user_visits");
    o->user_norm = tacit__value_or(&r->values, "user_norm",
                                   is_theory(r) || !useful ? 1 : budget_of(o, growth) / h);
    o->user_visits = 0;
    if (!is_theory(r) && o->user_norm < 1)
        o->user_visits =
            (uint64_t)ceil(VISITS_OF_PAIR * fmax(1, o->user_norm * o->user_norm * h) * (1 - 1e-9));
    if (visits->given)
        o->user_visits = (uint64_t)visits->integer;
    if (useful || (o->user_norm >= 1 && o->user_visits == 0))
        return TACIT_OK;
    const bool norm = o->user_norm < 1;
    const char *odd = norm ? "user_norm" : "user_visits";
    return tacit__value_fail(&r->values, odd, err, TACIT_UNSUPPORTED,
                             "%s is %g, but there is noise that it would lower only under privacy "
                             "with delta > 0, calibration tight and pooled: yes; leave it out here",
                             odd, norm ? o->user_norm : (double)o->user_visits);
}

/* The moves of the last step are left out wherever there is a table for them to leave out, and
 * noise that is not printed. */
static tacit_status read_drop_last(const tacit__reading *r, tacit__tabular_options *o,
                                   tacit_error *err)
{
    const bool useful =
        o->space.tables > 1 && !o->one_step && !o->visits_from_moves &&
        (o->calibration == TACIT_CALIBRATION_TIGHT || o->guarantee.model == TACIT_MODEL_NONE);
    int choice = TACIT__AUTO;
    if (tacit__value_find(&r->values, "drop_last") != NULL)
        choice = tacit__value_choose(&r->values, "drop_last", tacit__auto_yes_no, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    o->drop_last = choice == TACIT__YES || (choice == TACIT__AUTO && useful);
    if (useful || !o->drop_last)
        return TACIT_OK;
    return tacit__value_fail(
        &r->values, "drop_last", err, TACIT_UNSUPPORTED,
        "drop_last: yes needs a table for each step (pooled: no), calibration tight, three streams "
        "and reports of all steps; one table for all steps needs the moves of the last step too");
}

static tacit_status read_streams(const tacit__reading *r, tacit__tabular_options *o,
                                 tacit_error *err)
{
    const tacit__value *streams = tacit__value_find(&r->values, "streams");
    o->visits_from_moves = streams != NULL && streams->integer == 2;
    if (!o->visits_from_moves ||
        (o->calibration == TACIT_CALIBRATION_TIGHT && o->guarantee.model != TACIT_MODEL_NONE))
        return TACIT_OK;
    return tacit__value_fail(&r->values, "streams", err, TACIT_UNSUPPORTED,
                             "streams: 2 is for noisy counts with calibration tight; without noise "
                             "visits are sums of moves anyway, and the papers print three streams");
}

static tacit_status read_report(const tacit__reading *r, tacit__tabular_options *o,
                                tacit_error *err)
{
    static const char *const reports[] = {"all", "step", NULL};
    if (tacit__value_find(&r->values, "report") == NULL)
        return TACIT_OK;
    int report = tacit__value_choose(&r->values, "report", reports, err);
    o->one_step = report == 1;
    return report < 0 ? TACIT_BAD_ARGUMENT : TACIT_OK;
}

/* The paper's Laplace scale on every node or report. */
static double published_scale(const tacit_agent_request *q, const tabular_parts *parts)
{
    TACIT__REQUIRE(parts->laplace > 0);
    double levels = q->guarantee.model == TACIT_MODEL_JOINT ? log2((double)q->episodes) : 1;
    return parts->laplace * (double)q->horizon * fmax(1, levels) / q->guarantee.epsilon;
}

tacit_status tacit__tabular_read(const tacit__reading *r, const tabular_parts *parts,
                                 tacit__tabular_options *out, double *growth, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    bool pooled, tight = q->calibration == TACIT_CALIBRATION_TIGHT;
    TRY(read_pooled(r, parts, &pooled, err));
    double h = (double)q->horizon, s = (double)q->n_states;
    tacit__tabular_options o = {
        .space = {q->n_states, q->n_actions, q->horizon, pooled ? 1 : q->horizon},
        .episodes = q->episodes,
        .visits = q->visits,
        .apart = q->apart,
        .guarantee = q->guarantee,
        .calibration = q->calibration,
        .centered = tight,
        .failure = tacit__value_real(&r->values, "failure"),
        .published_scale = published_scale(q, parts),
        /* the proven bonus charges H (S e_P + 3 e_N) + e_R + 2 e_N; where it does not count for
         * much, estimates do, and a reward that is off is off at each of H steps */
        .weight_visits = 3 * h + 2,
        .weight_moves = s * h,
        .weight_rewards = is_theory(r) ? 1 : h,
    };
    tacit_status status = read_schedule(r, &o, growth, err);
    if (status == TACIT_OK)
        status = read_user(r, *growth, &o, err);
    if (status == TACIT_OK)
        status = tacit__reading_mechanism(r, &o.mechanism, err);
    if (status == TACIT_OK)
        status = read_report(r, &o, err);
    if (status == TACIT_OK)
        status = read_streams(r, &o, err);
    if (status == TACIT_OK)
        status = read_drop_last(r, &o, err);
    TACIT__REQUIRE(status != TACIT_OK || (o.user_norm > 0 && o.user_norm <= 1));
    *out = o;
    return status;
}

tacit__planner_options tacit__tabular_planning(const tacit__reading *r, const tabular_parts *parts)
{
    TACIT__REQUIRE(parts != NULL);
    const tacit_agent_request *q = r->request;
    const bool noisy = q->guarantee.model != TACIT_MODEL_NONE;
    const bool published = tacit__is_noise_printed(q) && q->calibration != TACIT_CALIBRATION_FIGURE;
    return (tacit__planner_options){
        .bonus_scale = bonus_scale(r),
        .error_scale = error_scale(r),
        .failure = tacit__value_real(&r->values, "failure"),
        .printed_scale = published ? parts->laplace * (double)q->horizon / q->guarantee.epsilon : 0,
        .published = published,
        .reproduces = tacit__is_noise_printed(q),
        .whole = tacit__is_published(q),
        .joint = q->guarantee.model == TACIT_MODEL_JOINT,
        .fresh = noisy,
        .episodes = q->episodes};
}

/* --- What is played ----------------------------------------------------------------------------- */

void tacit__tabular_fill_plays(tacit__agent_base *agent, const tacit__reading *r,
                               const tacit__tabular_options *counts, double growth)
{
    const tacit_agent_request *q = r->request;
    const tacit__print *print = &agent->row->print;
    const bool local = q->guarantee.model == TACIT_MODEL_LOCAL,
               known = !print->recalled && (local ? print->local : print->joint) != NULL,
               noisy = q->guarantee.model != TACIT_MODEL_NONE;
    const tacit_plan *plan = noisy ? tacit_ledger_plan(tacit__base_ledger(agent)) : NULL;
    char name[TACIT__PLAYS_WORDS], releases[TACIT__PLAYS_WORDS] = "every user";
    for (size_t i = 0; plan != NULL && i < tacit_plan_size(plan); i++) {
        (void)snprintf(name, sizeof name, "noise of %s", tacit_plan_release(plan, i)->name);
        tacit__plays_number(&agent->plays, name,
                            known && q->guarantee.epsilon > 0 && q->guarantee.delta == 0
                                ? counts->published_scale
                                : (double)NAN,
                            tacit_plan_scale(plan, i), "%s",
                            print->recalled && q->calibration == TACIT_CALIBRATION_RECALLED
                                ? "recalled, not read in the paper"
                                : "");
    }
    if (growth > 0)
        (void)snprintf(releases, sizeof releases, "growth(%g)", growth);
    tacit__plays_words(&agent->plays, "tables", known ? "one for each step" : "",
                       counts->space.tables == 1 ? "one for all steps" : "one for each step", "%s",
                       "");
    tacit__plays_words(&agent->plays, "releases", known ? "every user" : "", releases, "%s", "");
    if (counts->user_norm < 1 || counts->user_visits > 0)
        tacit__plays_words(&agent->plays, "visits of a user that count", known ? "all" : "",
                           "a budget", "user_norm %g, user_visits %llu", counts->user_norm,
                           (unsigned long long)counts->user_visits);
}

/* --- Remarks ----------------------------------------------------------------------------------- */

typedef struct notes {
    char *text;
    size_t size;
} notes;

__attribute__((format(printf, 2, 3))) static void note(const notes *n, const char *format, ...)
{
    size_t used = strlen(n->text);
    if (used > 0)
        used += (size_t)snprintf(n->text + used, n->size - used, "; ");
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(n->text + used, n->size - used, format, arguments);
    va_end(arguments);
}

/* Constants that are taken from a paper or a figure give what they give: they are Laplace scales,
 * whose costs add. */
static void note_claim(const notes *n, const tacit_agent_request *q, tacit_ledger *ledger)
{
    if (q->guarantee.model == TACIT_MODEL_NONE || q->calibration == TACIT_CALIBRATION_TIGHT)
        return;
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    double real = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        real += line->l1 * line->column_l1 / tacit_plan_scale(plan, i);
    }
    if (real > q->guarantee.epsilon * (1 + 1e-9))
        note(n, "NOT PRIVATE at epsilon %g: calibration %s gives epsilon %.4g",
             q->guarantee.epsilon, tacit_calibration_name(q->calibration), real);
}

void tacit__tabular_remark(const tacit__reading *r, const tacit__tabular_options *counts,
                           tacit_ledger *ledger, const char *planner, char *out, size_t size)
{
    TACIT__REQUIRE(size > 0);
    const notes n = {out, size};
    out[0] = '\0';
    note_claim(&n, r->request, ledger);
    if (!is_theory(r)) {
        note(&n, "bonus_scale below 1: the regret theorem does not apply; privacy does not depend "
                 "on it");
        return;
    }
    if (r->request->guarantee.model != TACIT_MODEL_NONE && error_scale(r) < 1)
        note(&n, "error_scale below 1: the regret theorem does not apply");
    if (counts->user_norm < 1 || counts->user_visits > 0)
        note(&n, "user_visits and user_norm leave out visits that the regret theorem counts: it is "
                 "optimistic, at another rate");
    if (counts->one_step)
        note(&n, "report: step adds a chance that no bonus here pays for: the regret theorem does "
                 "not apply");
    if (planner[0] != '\0')
        note(&n, "%s", planner);
}
