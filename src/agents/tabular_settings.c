/* What tabular learners can be told, which requests make no sense, and the planner that is made of them.
 *
 * Defaults. `bonus_scale` and `error_scale` below 1 void the regret theorem, never the privacy: scales of noise do
 * not depend on them. The defaults are what learns within tens of thousands of users; setting bonus_scale: 1 switches the
 * others to the theorem as well (error_scale 1, all of a user counts, the running minimum on, a proven
 * bonus), unless they are set too.
 *
 * Published calibrations [QW23, CZ22, VBKW20]: Laplace noise of scale 3 H log2(K) / epsilon on every node of a binary tree,
 * or 3 H / epsilon on every report, raw rewards, three streams; [GPPP21]: 6 H / epsilon. What they give is computed, not
 * believed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agents/tabular_agents.h"
#include "base/error.h"

/* Parameters that all kinds share come first, in this order. */
enum {
    POOLED,
    BONUS_SCALE,
    ERROR_SCALE,
    FAILURE,
    USER_VISITS,
    USER_NORM,
    OWN,
    OWN_2,
    OWN_3,
    OWN_4,
    OWN_5
};

#define SHARED(scale, error)                                                                       \
    {"pooled", TACIT_PARAMETER_TEXT,                                                               \
     "auto",   0,                                                                                  \
     0,        "one model for all steps: yes, no, or auto (as the world says)"},                   \
        {"bonus_scale", TACIT_PARAMETER_REAL,                                                      \
         scale,         0,                                                                         \
         1e6,           "multiplies the statistical bonus; 1 is the theorem"},                     \
        {"error_scale",                                                                            \
         TACIT_PARAMETER_REAL,                                                                     \
         error,                                                                                    \
         0,                                                                                        \
         1e6,                                                                                      \
         "multiplies the error levels of the noise; 1 is the theorem, and the default if "         \
         "bonus_scale is 1"},                                                                      \
        {"failure", TACIT_PARAMETER_REAL, "0.1", 1e-12, 0.5, "probability that the bounds fail"},  \
        {"user_visits",                                                                            \
         TACIT_PARAMETER_INTEGER,                                                                  \
         "",                                                                                       \
         0,                                                                                        \
         1e6,                                                                                      \
         "pooled, delta > 0: count a user's first so many visits of a state and action; 0 counts " \
         "all, and is the default if bonus_scale or user_norm is 1; else 4"},                      \
    {                                                                                              \
        "user_norm", TACIT_PARAMETER_REAL, "", 0.001, 1,                                           \
            "pooled, delta > 0: clip a user's counts to this share of the horizon in L2 norm; 1 "  \
            "keeps all, and is the default if bonus_scale is 1; else 1 / sqrt(horizon)"            \
    }

static const tacit_parameter ucbvi_parameters[] = {
    SHARED("0.1", "0.001"),
    {"bonus", TACIT_PARAMETER_TEXT, "", 0, 0,
     "bernstein, hoeffding, certificate, printed, azar-hoeffding or azar-bernstein; default "
     "bernstein, if bonus_scale is 1 hoeffding (calibration published: printed)"},
    {"monotone", TACIT_PARAMETER_TEXT, "auto", 0, 0,
     "Q never rises again: yes, no, or auto (yes if bonus_scale is 1)"},
    {"report", TACIT_PARAMETER_TEXT, "all", 0, 0,
     "local: a user reports all steps, or one step drawn by public chance"},
    {"drop_last", TACIT_PARAMETER_TEXT, "auto", 0, 0,
     "pooled: no; leave out the last step's moves, which no value follows: yes, no, or auto (yes "
     "with calibration tight, reports of all steps and three streams)"},
    {"streams", TACIT_PARAMETER_INTEGER, "3", 2, 3,
     "noisy counts: 3, visits, moves and rewards; or 2, with visits as sums of noisy moves"},
};
static const tacit_parameter private_ucb_vi_parameters[] = {SHARED("0.01", "0.0001")};
static const tacit_parameter private_ucb_po_parameters[] = {
    SHARED("0.01", "0.0001"),
    {"step_size", TACIT_PARAMETER_REAL, "0", 0, 1e6,
     "eta; 0 is the theorem's sqrt(2 ln A / (H^2 K))"},
};
static const tacit_parameter pucb_parameters[] = {SHARED("0.01", "0.0001")};
static const tacit_parameter ldp_obi_parameters[] = {
    SHARED("0.01", "0.0001"),
    {"alpha", TACIT_PARAMETER_REAL, "2", 1.000001, 1e6,
     "how much of the noise is added to the visits"},
};

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)
#define COUNT(array) (sizeof(array) / sizeof *(array))

const tacit_agent_kind tacit__tabular_kinds[TABULAR_KINDS] = {
    [UCBVI] = {"ucbvi", "optimistic value iteration, without privacy", "Azar, Osband, Munos 2017",
               TACIT_AGENT_NONE, ucbvi_parameters, COUNT(ucbvi_parameters)},
    [DP_UCBVI] = {"dp-ucbvi", "UCBVI on noisy counts made valid again; with model none it is ucbvi",
                  "Qiao, Wang 2023", ALL_MODELS, ucbvi_parameters, COUNT(ucbvi_parameters)},
    [PRIVATE_UCB_VI] = {"private-ucb-vi", "value iteration on plain noisy ratios",
                        "Chowdhury, Zhou 2022", ALL_MODELS & ~(unsigned)TACIT_AGENT_NONE,
                        private_ucb_vi_parameters, COUNT(private_ucb_vi_parameters)},
    [PRIVATE_UCB_PO] = {"private-ucb-po", "policy optimisation on plain noisy ratios",
                        "Chowdhury, Zhou 2022", ALL_MODELS, private_ucb_po_parameters,
                        COUNT(private_ucb_po_parameters)},
    [PUCB] = {"pucb", "optimism above a threshold on noisy visits",
              "Vietri, Balle, Krishnamurthy, Wu 2020", TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT,
              pucb_parameters, COUNT(pucb_parameters)},
    [LDP_OBI] = {"ldp-obi", "optimistic backward induction on local reports",
                 "Garcelon, Perchet, Pike-Burke, Pirotta 2021",
                 TACIT_AGENT_LOCAL_PURE | TACIT_AGENT_LOCAL, ldp_obi_parameters,
                 COUNT(ldp_obi_parameters)},
};

/* --- Settings ---------------------------------------------------------------------------------- */

/* bonus_scale: 1 */
static bool is_theory(const tacit__reading *r)
{
    return r->values[BONUS_SCALE].real >= 1;
}

static const char *const yes_no_auto[] = {"auto", "yes", "no", NULL};

static tacit_status read_pooled(const tacit__reading *r, size_t kind, bool *pooled,
                                tacit_error *err)
{
    int choice = tacit__reading_choose(r, POOLED, yes_no_auto, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    *pooled = choice == 1 || (choice == 0 && r->request->stationary);
    if (kind == LDP_OBI && !*pooled)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->request->file,
                              (size_t)r->values[POOLED].line,
                              "ldp-obi knows one model for all steps: it needs pooled: yes");
    if (*pooled && !r->request->stationary)
        return tacit__fail_at(
            err, TACIT_UNSUPPORTED, r->request->file, (size_t)r->values[POOLED].line,
            "pooled: yes needs a world whose steps are all alike; this one's are not");
    return TACIT_OK;
}

static double error_scale(const tacit__reading *r)
{
    return is_theory(r) && !r->values[ERROR_SCALE].given ? 1 : r->values[ERROR_SCALE].real;
}

/* How much of a user counts: by default the first four visits of each state and action, clipped to the length of a
 * trajectory that never repeats itself. Only where it lowers noise: in L1 every trajectory has the same norm, tables for each
 * step never repeat a cell, and printed scales are fixed. */
static tacit_status read_user(const tacit__reading *r, tacit__tabular_options *o, tacit_error *err)
{
    const bool useful = o->space.tables == 1 && o->calibration == TACIT_CALIBRATION_TIGHT &&
                        o->guarantee.model != TACIT_MODEL_NONE && o->guarantee.delta > 0;
    const double h = (double)o->space.horizon;
    o->user_norm = is_theory(r) || !useful ? 1 : 1 / sqrt(h);
    if (r->values[USER_NORM].given)
        o->user_norm = r->values[USER_NORM].real;
    o->user_visits = is_theory(r) || o->user_norm >= 1 ? 0 : 4;
    if (r->values[USER_VISITS].given)
        o->user_visits = (uint64_t)r->values[USER_VISITS].integer;
    const int odd = o->user_norm < 1 ? USER_NORM : USER_VISITS;
    if (useful || (o->user_norm >= 1 && o->user_visits == 0))
        return TACIT_OK;
    return tacit__fail_at(err, TACIT_UNSUPPORTED, r->request->file, (size_t)r->values[odd].line,
                          "%s is %g, but there is noise that it would lower only under privacy "
                          "with delta > 0, calibration tight and pooled: yes; leave it out here",
                          r->kind->parameters[odd].name,
                          odd == USER_NORM ? o->user_norm : (double)o->user_visits);
}

/* The moves of the last step are left out wherever there is a table for them to leave out, and noise that is not printed. */
static tacit_status read_drop_last(const tacit__reading *r, size_t kind, tacit__tabular_options *o,
                                   tacit_error *err)
{
    const bool useful =
        o->space.tables > 1 && !o->one_step && !o->visits_from_moves &&
        (o->calibration == TACIT_CALIBRATION_TIGHT || o->guarantee.model == TACIT_MODEL_NONE);
    int choice = kind <= DP_UCBVI ? tacit__reading_choose(r, OWN_4, yes_no_auto, err) : 0;
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    o->drop_last = choice == 1 || (choice == 0 && useful);
    if (useful || !o->drop_last)
        return TACIT_OK;
    return tacit__fail_at(
        err, TACIT_UNSUPPORTED, r->request->file, (size_t)r->values[OWN_4].line,
        "drop_last: yes needs a table for each step (pooled: no), calibration tight, three streams "
        "and reports of all steps; one table for all steps needs the moves of the last step too");
}

static tacit_status read_streams(const tacit__reading *r, size_t kind, tacit__tabular_options *o,
                                 tacit_error *err)
{
    o->visits_from_moves = kind <= DP_UCBVI && r->values[OWN_5].integer == 2;
    if (!o->visits_from_moves ||
        (o->calibration == TACIT_CALIBRATION_TIGHT && o->guarantee.model != TACIT_MODEL_NONE))
        return TACIT_OK;
    return tacit__fail_at(err, TACIT_UNSUPPORTED, r->request->file, (size_t)r->values[OWN_5].line,
                          "streams: 2 is for noisy counts with calibration tight; without noise "
                          "visits are sums of moves anyway, and the papers print three streams");
}

static double published_scale(const tacit_agent_request *q, size_t kind)
{
    double h = (double)q->horizon;
    if (kind == LDP_OBI)
        return 6 * h / q->guarantee.epsilon;
    double levels = q->guarantee.model == TACIT_MODEL_JOINT ? log2((double)q->episodes) : 1;
    return 3 * h * fmax(1, levels) / q->guarantee.epsilon;
}

tacit_status tacit__tabular_read(const tacit__reading *r, size_t kind, tacit__tabular_options *out,
                                 tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    bool pooled, tight = q->calibration == TACIT_CALIBRATION_TIGHT;
    tacit_status status = read_pooled(r, kind, &pooled, err);
    if (status != TACIT_OK)
        return status;
    double h = (double)q->horizon, s = (double)q->n_states;
    tacit__tabular_options o = {
        .space = {q->n_states, q->n_actions, q->horizon, pooled ? 1 : q->horizon},
        .episodes = q->episodes,
        .guarantee = q->guarantee,
        .calibration = q->calibration,
        .centred = tight,
        .failure = r->values[FAILURE].real,
        .published_scale = published_scale(q, kind),
        /* the proven bonus charges H (S e_P + 3 e_N) + e_R + 2 e_N; where it does not count for much, estimates do,
         * and a reward that is off is off at each of H steps */
        .weight_visits = 3 * h + 2,
        .weight_moves = s * h,
        .weight_rewards = is_theory(r) ? 1 : h,
    };
    status = read_user(r, &o, err);
    if (status == TACIT_OK)
        status = tacit__reading_mechanism(r, &o.mechanism, err);
    if (status == TACIT_OK && kind <= DP_UCBVI) {
        static const char *const reports[] = {"all", "step", NULL};
        int report = tacit__reading_choose(r, OWN_3, reports, err);
        if (report < 0)
            return TACIT_BAD_ARGUMENT;
        o.one_step = report == 1;
    }
    if (status == TACIT_OK)
        status = read_streams(r, kind, &o, err);
    if (status == TACIT_OK)
        status = read_drop_last(r, kind, &o, err);
    *out = o;
    return status;
}

/* --- Planners ---------------------------------------------------------------------------------- */

static bool is_sparse(const tabular_agent *agent)
{
    tacit__counts counts;
    return tacit__tabular_release(agent->curator, &counts, NULL) == TACIT_OK &&
           counts.moves == NULL;
}

/* The bonus of the UCBVI kinds; -1 with an error. */
static int read_bonus(const tacit__reading *r, tacit_error *err)
{
    static const char *const names[] = {"bernstein", "hoeffding",      "certificate",
                                        "printed",   "azar-hoeffding", "azar-bernstein",
                                        NULL};
    if (r->values[OWN].given)
        return tacit__reading_choose(r, OWN, names, err);
    return !is_theory(r)                                            ? TACIT__BONUS_BERNSTEIN
           : r->request->calibration == TACIT_CALIBRATION_PUBLISHED ? TACIT__BONUS_PRINTED
                                                                    : TACIT__BONUS_HOEFFDING;
}

static tacit_status make_ucbvi(tabular_agent *agent, const tacit__reading *r, tacit__space space,
                               uint64_t tie_seed, tacit_error *err)
{
    int bonus = read_bonus(r, err);
    if (bonus < 0)
        return TACIT_BAD_ARGUMENT;
    int monotone = tacit__reading_choose(r, OWN_2, yes_no_auto, err);
    if (monotone < 0)
        return TACIT_BAD_ARGUMENT;
    tacit__ucbvi_options o = {.bonus = (tacit__ucbvi_bonus)bonus,
                              .bonus_scale = r->values[BONUS_SCALE].real,
                              .error_scale = error_scale(r),
                              .failure = r->values[FAILURE].real,
                              .episodes = r->request->episodes,
                              .sparse = is_sparse(agent),
                              .fresh = r->request->guarantee.model != TACIT_MODEL_NONE,
                              .monotone = monotone == 1 || (monotone == 0 && is_theory(r)),
                              .tie_seed = tie_seed};
    return tacit__ucbvi_create(space, &o, &agent->ucbvi);
}

tacit_status tacit__tabular_plan_by(tabular_agent *agent, const tacit__reading *r,
                                    const tacit__tabular_options *curator, uint64_t tie_seed,
                                    tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const tacit__space space = curator->space;
    double scale = r->values[BONUS_SCALE].real, error = error_scale(r),
           failure = r->values[FAILURE].real;
    bool printed =
        q->calibration == TACIT_CALIBRATION_PUBLISHED && q->guarantee.model != TACIT_MODEL_NONE;
    /* what the printed error levels are multiples of; 0: the curator's levels */
    double printed_scale = printed ? 3 * (double)q->horizon / q->guarantee.epsilon : 0;
    if (agent->kind > DP_UCBVI && is_sparse(agent))
        return tacit__fail_at(err, TACIT_TOO_LARGE, q->file, (size_t)q->line,
                              "%s has no sparse counts, which so many states need; ucbvi has",
                              r->kind->name);
    switch (agent->kind) {
    case PRIVATE_UCB_VI:
    case PRIVATE_UCB_PO: {
        bool po = agent->kind == PRIVATE_UCB_PO, joint = q->guarantee.model == TACIT_MODEL_JOINT;
        double k = (double)q->episodes;
        tacit__private_ucb_options o = {.optimise = po,
                                        .bonus_scale = scale,
                                        .error_scale = error,
                                        .step_size = po ? r->values[OWN].real : 0,
                                        .printed_scale = printed_scale,
                                        .printed_terms = joint ? pow(log2(k), 3) : k,
                                        .failure = failure,
                                        .episodes = q->episodes,
                                        .tie_seed = tie_seed};
        return tacit__private_ucb_create(space, &o, &agent->private_ucb);
    }
    case PUCB: {
        tacit__pucb_options o = {.bonus_scale = scale,
                                 .error_scale = error,
                                 .printed_scale = printed_scale,
                                 .failure = failure,
                                 .episodes = q->episodes,
                                 .tie_seed = tie_seed};
        return tacit__pucb_create(space, &o, &agent->pucb);
    }
    case LDP_OBI: {
        tacit__ldp_obi_options o = {.alpha = r->values[OWN].real,
                                    .bonus_scale = scale,
                                    .error_scale = error,
                                    .printed_scale = printed ? published_scale(q, LDP_OBI) : 0,
                                    .failure = failure,
                                    .tie_seed = tie_seed};
        return tacit__ldp_obi_create(space, &o, &agent->ldp_obi);
    }
    default:
        return make_ucbvi(agent, r, space, tie_seed, err);
    }
}

/* --- Remarks ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void note(tabular_agent *agent, const char *format,
                                                       ...)
{
    size_t used = strlen(agent->remark), size = sizeof agent->remark;
    if (used > 0)
        used += (size_t)snprintf(agent->remark + used, size - used, "; ");
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(agent->remark + used, size - used, format, arguments);
    va_end(arguments);
}

/* Constants that are taken from a paper or a figure give what they give: they are Laplace scales, whose costs add. */
static void note_claim(tabular_agent *agent, const tacit_agent_request *q)
{
    if (q->guarantee.model == TACIT_MODEL_NONE || q->calibration == TACIT_CALIBRATION_TIGHT)
        return;
    const tacit_plan *plan = tacit_ledger_plan(tacit__tabular_ledger(agent->curator));
    double real = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        real += line->l1 * line->column_l1 / tacit_plan_scale(plan, i);
    }
    if (real > q->guarantee.epsilon * (1 + 1e-9))
        note(agent, "NOT PRIVATE at epsilon %g: calibration %s gives epsilon %.4g",
             q->guarantee.epsilon,
             q->calibration == TACIT_CALIBRATION_FIGURE ? "figure" : "published", real);
}

void tacit__tabular_remark(tabular_agent *agent, const tacit__reading *r,
                           const tacit__tabular_options *curator)
{
    const bool noisy = r->request->guarantee.model != TACIT_MODEL_NONE;
    note_claim(agent, r->request);
    if (!is_theory(r)) {
        note(agent,
             "bonus_scale below 1: the regret theorem does not apply; privacy does not depend on "
             "it");
        return;
    }
    int bonus = agent->ucbvi != NULL ? read_bonus(r, NULL) : -1;
    if (noisy && error_scale(r) < 1)
        note(agent, "error_scale below 1: the regret theorem does not apply");
    if (curator->user_norm < 1)
        note(agent, "user_norm below 1 biases the counts: the regret theorem does not apply");
    if (curator->user_visits > 0)
        note(agent,
             "user_visits leaves out visits that the regret theorem counts: it is optimistic, "
             "at another rate");
    if (curator->one_step)
        note(agent, "report: step adds a chance that no bonus here pays for: the regret theorem "
                    "does not apply");
    if (bonus == TACIT__BONUS_BERNSTEIN)
        note(agent, "bonus bernstein leaves out terms that the theorem needs; hoeffding and "
                    "certificate are proven");
    if (noisy && bonus >= TACIT__BONUS_AZAR_HOEFFDING)
        note(agent, "the bonuses of Azar et al. do not know of noise: no theorem applies; "
                    "hoeffding and certificate are proven");
}
