/* Tabular agents: one curator (curate/tabular.c) and one of five planners.
 *
 * Defaults. `bonus_scale` and `error_scale` below 1 void the regret theorem, never the privacy: scales of noise do
 * not depend on them. The defaults are what learns within tens of thousands of users; setting bonus_scale: 1 switches the
 * others to the theorem as well (error_scale 1, no clipping of users' norms, the running minimum on, a proven
 * bonus), unless they are set too.
 *
 * Published calibrations [QW23, CZ22, VBKW20]: Laplace noise of scale 3 H log2(K) / epsilon on every node of a binary tree,
 * or 3 H / epsilon on every report, raw rewards, three streams; [GPPP21]: 6 H / epsilon. What they give is computed, not
 * believed. */
#include <math.h>
#include <string.h>

#include "agents/family.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "curate/tabular.h"
#include "plan/ldp_obi.h"
#include "plan/private_ucb.h"
#include "plan/pucb.h"
#include "plan/ucbvi.h"

/* Parameters that all kinds share come first, in this order. */
enum { POOLED, BONUS_SCALE, ERROR_SCALE, FAILURE, USER_NORM, OWN, OWN_2, OWN_3 };

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
    {                                                                                              \
        "user_norm", TACIT_PARAMETER_REAL, "", 0.001, 1,                                           \
            "pooled: clip a user's counts to this share of the horizon in L2 norm; 1 keeps all"    \
    }

static const tacit_parameter ucbvi_parameters[] = {
    SHARED("0.1", "0.001"),
    {"bonus", TACIT_PARAMETER_TEXT, "", 0, 0,
     "bernstein, hoeffding, certificate, printed, azar-hoeffding or azar-bernstein"},
    {"monotone", TACIT_PARAMETER_TEXT, "auto", 0, 0, "Q never rises again: yes, no, or auto"},
    {"report", TACIT_PARAMETER_TEXT, "all", 0, 0,
     "local: a user reports all steps, or one step drawn by public chance"},
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

enum { UCBVI, DP_UCBVI, PRIVATE_UCB_VI, PRIVATE_UCB_PO, PUCB, LDP_OBI };

#define ALL_MODELS                                                                                 \
    (TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL_PURE |      \
     TACIT_AGENT_LOCAL)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const tacit_agent_kind kinds[] = {
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

typedef struct tabular_agent {
    size_t kind;
    tacit__tabular *curator;
    tacit__ucbvi *ucbvi;
    tacit__private_ucb *private_ucb;
    tacit__pucb *pucb;
    tacit__ldp_obi *ldp_obi;
    const char *remark;
} tabular_agent;

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

/* What a user's counts are clipped to: by default what lets a trajectory that seldom repeats itself through. */
static double user_norm(const tacit__reading *r, bool tight)
{
    if (r->values[USER_NORM].given)
        return r->values[USER_NORM].real;
    double least = 1 / sqrt((double)r->request->horizon);
    bool gaussian = r->request->guarantee.delta > 0; /* in L1 every trajectory has the same norm */
    return is_theory(r) || !tight || !gaussian ? 1 : fmin(1, fmax(least, 0.3));
}

static double published_scale(const tacit_agent_request *q, size_t kind)
{
    double h = (double)q->horizon;
    if (kind == LDP_OBI)
        return 6 * h / q->guarantee.epsilon;
    double levels = q->guarantee.model == TACIT_MODEL_JOINT ? log2((double)q->episodes) : 1;
    return 3 * h * fmax(1, levels) / q->guarantee.epsilon;
}

static tacit_status read_curator(const tacit__reading *r, size_t kind, tacit__tabular_options *out,
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
        .calibration = tight                                           ? TACIT__TIGHT
                       : q->calibration == TACIT_CALIBRATION_PUBLISHED ? TACIT__PUBLISHED
                                                                       : TACIT__FIGURE,
        .centred = tight,
        .user_norm = pooled ? user_norm(r, tight) : 1,
        .failure = r->values[FAILURE].real,
        .published_scale = published_scale(q, kind),
        .weight_visits = 3 * h + 2,
        .weight_moves = s * h,
        .weight_rewards = is_theory(r) ? 1 : h,
    };
    status = tacit__reading_mechanism(r, &o.mechanism, err);
    if (status == TACIT_OK && kind <= DP_UCBVI) {
        static const char *const reports[] = {"all", "step", NULL};
        int report = tacit__reading_choose(r, OWN_3, reports, err);
        if (report < 0)
            return TACIT_BAD_ARGUMENT;
        o.one_step = report == 1;
    }
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

static tacit_status make_ucbvi(tabular_agent *agent, const tacit__reading *r, tacit__space space,
                               uint64_t tie_seed, tacit_error *err)
{
    static const char *const names[] = {"bernstein", "hoeffding",      "certificate",
                                        "printed",   "azar-hoeffding", "azar-bernstein",
                                        NULL};
    int bonus = is_theory(r) ? TACIT__BONUS_HOEFFDING : TACIT__BONUS_BERNSTEIN;
    if (r->request->calibration == TACIT_CALIBRATION_PUBLISHED && is_theory(r))
        bonus = TACIT__BONUS_PRINTED;
    if (r->values[OWN].given && (bonus = tacit__reading_choose(r, OWN, names, err)) < 0)
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
    if (!is_theory(r))
        agent->remark =
            "bonus_scale below 1: the regret theorem does not apply; privacy does not depend on it";
    else if (bonus == TACIT__BONUS_BERNSTEIN)
        agent->remark = "bonus bernstein leaves out terms that the theorem needs; hoeffding and "
                        "certificate are proven";
    return tacit__ucbvi_create(space, &o, &agent->ucbvi);
}

static tacit_status make_planner(tabular_agent *agent, const tacit__reading *r, tacit__space space,
                                 uint64_t tie_seed, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
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
    if (!is_theory(r))
        agent->remark =
            "bonus_scale below 1: the regret theorem does not apply; privacy does not depend on it";
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

/* --- The agent --------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    tabular_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__tabular_destroy(agent->curator);
    tacit__ucbvi_destroy(agent->ucbvi);
    tacit__private_ucb_destroy(agent->private_ucb);
    tacit__pucb_destroy(agent->pucb);
    tacit__ldp_obi_destroy(agent->ldp_obi);
    tacit__free(agent);
}

static tacit_status create(size_t kind, const tacit_agent_request *request, tacit_noise *noise,
                           void **out, tacit_error *err)
{
    if (request->calibration != TACIT_CALIBRATION_TIGHT && request->guarantee.delta > 0 &&
        request->guarantee.model != TACIT_MODEL_NONE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, request->file, (size_t)request->line,
                              "the published calibrations use Laplace noise: set delta to 0");
    tacit__reading r;
    tacit_status status = tacit__reading_open(request, &kinds[kind], &r, err);
    if (status != TACIT_OK)
        return status;
    if (request->n_states == 0)
        return tacit__reading_fail(&r, err, TACIT_UNSUPPORTED,
                                   "%s counts states, so they must be numbered; in a service, "
                                   "space: {states: 6}",
                                   kinds[kind].name);
    tacit__tabular_options curator;
    status = read_curator(&r, kind, &curator, err);
    if (status != TACIT_OK)
        return status;
    tabular_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_error reason = {0};
    agent->kind = kind;
    agent->remark = "";
    status = tacit__tabular_create(&curator, noise, &agent->curator, &reason);
    if (status != TACIT_OK)
        (void)tacit__fail_at(err, status, request->file, (size_t)request->line, "%s",
                             reason.message);
    if (status == TACIT_OK) {
        status = make_planner(agent, &r, curator.space, tacit__reading_tie_seed(noise), err);
        if (status == TACIT_NO_MEMORY)
            (void)tacit__fail_plain(err, status);
    }
    if (status != TACIT_OK) {
        destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__counts counts;
    tacit_status status = tacit__tabular_release(agent->curator, &counts, err);
    if (status != TACIT_OK)
        return status;
    tacit__billboard board = agent->ucbvi != NULL ? tacit__ucbvi_plan(agent->ucbvi, &counts)
                             : agent->private_ucb != NULL
                                 ? tacit__private_ucb_plan(agent->private_ucb, &counts)
                             : agent->pucb != NULL ? tacit__pucb_plan(agent->pucb, &counts)
                                                   : tacit__ldp_obi_plan(agent->ldp_obi, &counts);
    *out =
        (tacit_billboard){.version = board.version, .policy = board.policy, .mixed = board.mixed};
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__trajectory t = {
        .states = user->states, .actions = user->actions, .rewards = user->rewards};
    return tacit__tabular_add(agent->curator, &t, err);
}

static tacit_status report(void *self, const tacit_trajectory *user, void *bytes, size_t *size,
                           tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__trajectory t = {
        .states = user->states, .actions = user->actions, .rewards = user->rewards};
    return tacit__tabular_report(agent->curator, &t, bytes, size, err);
}

static tacit_status absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__tabular_absorb(((tabular_agent *)self)->curator, bytes, size, err);
}

static tacit_status check_report(const void *self, const void *bytes, size_t size, tacit_error *err)
{
    return tacit__tabular_check_report(((const tabular_agent *)self)->curator, bytes, size, err);
}

static void save_planner(const tabular_agent *agent, tacit__writer *w)
{
    if (agent->ucbvi != NULL)
        tacit__ucbvi_save(agent->ucbvi, w);
    else if (agent->private_ucb != NULL)
        tacit__private_ucb_save(agent->private_ucb, w);
    else if (agent->pucb != NULL)
        tacit__pucb_save(agent->pucb, w);
    else
        tacit__ldp_obi_save(agent->ldp_obi, w);
}

static bool load_planner(tabular_agent *agent, tacit__reader *r)
{
    return agent->ucbvi != NULL         ? tacit__ucbvi_load(agent->ucbvi, r)
           : agent->private_ucb != NULL ? tacit__private_ucb_load(agent->private_ucb, r)
           : agent->pucb != NULL        ? tacit__pucb_load(agent->pucb, r)
                                        : tacit__ldp_obi_load(agent->ldp_obi, r);
}

static tacit_status save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const tabular_agent *agent = self;
    tacit__writer w = {.at = bytes};
    save_planner(agent, &w);
    tacit_status status = tacit__tabular_save(agent->curator, &w, err);
    if (status == TACIT_OK)
        *size = w.size;
    return status;
}

static tacit_status load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tabular_agent *agent = self;
    tacit__writer count = {0};
    save_planner(agent, &count);
    uint8_t *fresh = tacit__alloc(count.size, 1); /* what to go back to if the curator refuses */
    if (fresh == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    save_planner(agent, &(tacit__writer){.at = fresh});
    tacit__reader r = {.at = bytes, .left = size};
    tacit_status status = TACIT_OK;
    if (!load_planner(agent, &r))
        status = tacit__fail(err, TACIT_CORRUPT, "the saved planner contradicts itself");
    else
        status = tacit__tabular_load(agent->curator, &r, err);
    if (status != TACIT_OK)
        TACIT__REQUIRE(load_planner(agent, &(tacit__reader){.at = fresh, .left = count.size}));
    tacit__free(fresh);
    return status;
}

static tacit_ledger *ledger(const void *self)
{
    return tacit__tabular_ledger(((const tabular_agent *)self)->curator);
}

static const char *remark(const void *self)
{
    return ((const tabular_agent *)self)->remark;
}

const tacit__family tacit__family_tabular = {
    .kinds = kinds,
    .n_kinds = COUNT(kinds),
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .report = report,
    .absorb = absorb,
    .check_report = check_report,
    .save = save,
    .load = load,
    .ledger = ledger,
    .remark = remark,
};
