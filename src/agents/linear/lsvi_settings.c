/* The settings of lsvi-ucb, which requests make no sense, and what settings and theory make of the others.
 *
 * Where the world says nothing about features, each state and action is a feature of its own.
 *
 * Defaults. bonus_scale below 1 voids the regret theorem, never the privacy. bonus_scale: 1
 * switches the others to the theorems as well (shift, caps, factors), unless they are set too. The
 * defaults were found in simulation; docs/why/lsvi.md has the figures. */
#include <math.h>

#include "agents/linear/lsvi_agent.h"
#include "base/error.h"
#include "base/memory.h"

static const tacit_parameter parameters[] = {
    TACIT__TEXT(
        "schedule", "auto",
        "when the policy changes: every episode, batched, doubling (of determinants), growth "
        "(of batches), rayleigh (growth in some direction), or auto (growth with privacy, unless "
        "bonus_scale is 1; else doubling)"),
    TACIT__TEXT("pooled", "auto",
                "one regression for all steps: yes, no, or auto (as the world says, if states are "
                "numbered, unless delta is 0 or bonus_scale 1)"),
    TACIT__REAL(
        "bonus_scale", "", 0, 1e6,
        "multiplies the theorem's bonus; 1 is the theorem; default 0.02 / sqrt(d), or 0.003 "
        "with privacy; calibration published: 1"),
    TACIT__REAL("failure", "0.05", 1e-12, 0.5, "probability that the bounds fail"),
    TACIT__TEXT(
        "center", "auto",
        "regress on targets minus half their range: yes, no, or auto (if features sum to 1)"),
    TACIT__TEXT("targets", "auto",
                "what responses are measured in: range (of all values), span (of the values at "
                "hand), or auto (span with privacy and numbered states, unless bonus_scale is 1)"),
    TACIT__REAL(
        "shift", "2", 0, 1e6,
        "added to noisy Gram matrices, in units of their noise's expected largest eigenvalue"),
    TACIT__REAL("lambda", "1", 1e-6, 1e9, "ridge of the regression"),
    TACIT__INTEGER("batches", "0", 0, 1e9,
                   "batched: how many; 0: those with the least predicted error"),
    TACIT__INTEGER(
        "switches", "0", 0, 1e9,
        "doubling, rayleigh: the most of them; growth: how many; 0: those with the least "
        "predicted error"),
    TACIT__REAL("switch_factor", "0", 0, 1e300,
                "doubling, rayleigh: growth of a determinant, or of a direction, that asks for a "
                "switch; 0: decide"),
    TACIT__INTEGER("test_every", "0", 0, 1e9,
                   "doubling, rayleigh: users between two looks at Gram matrices; 0: decide"),
    TACIT__TEXT("gram", "auto",
                "Gram matrices by running sums, by direct releases, or auto (the less noisy)"),
    TACIT__REAL("gram_share", "0", 0, 0.999,
                "share of the privacy budget for Gram matrices; 0: decide (targets: span, and not "
                "doubling or rayleigh: 0.3)"),
    TACIT__INTEGER("archive_mb", "4096", 1, 1e9,
                   "states not numbered: most memory for users' features"),
    TACIT__TEXT("storage", "float32",
                "states not numbered: float32 or float64; same results, memory against time"),
};

static const tacit__agent_row rows[] = {
    {.kind = {"lsvi-ucb",
              "least-squares value iteration for linear MDPs; schedule: every, batched, doubling, "
              "growth, rayleigh",
              "Jin et al. 2020; Luyo et al. 2021; Ngo, Vietri, Wu 2022",
              TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT, parameters,
              TACIT__COUNT(parameters)},
     .print = {.joint = "batched: [LGLP21, appendix E.1]; doubling: [NVW22, Alg. 1, eq. 6 and 7, "
                        "line 11]"},
     .curator = &tacit__archive_curator}};

const tacit__agent_rows tacit__lsvi_rows = {rows, TACIT__COUNT(rows)};

/* Found in simulation: what learns within tens of thousands of users. */
#define PRACTICAL_BONUS 0.02 /* by sqrt(d): a bound for one value function has sqrt(d), not d */
#define PRACTICAL_PRIVATE_BONUS 0.003
#define PRACTICAL_SHARE 0.3 /* of Gram matrices, where responses are in units of a span */

/* --- Features ----------------------------------------------------------------------------------- */

static double read_bonus_scale(const tacit__reading *r, size_t dimension)
{
    const bool private = r->request->guarantee.model != TACIT_MODEL_NONE;
    return tacit__value_or(&r->values, "bonus_scale",
                           tacit__is_published(r->request) ? 1
                           : private                       ? PRACTICAL_PRIVATE_BONUS
                                     : PRACTICAL_BONUS / sqrt((double)dimension));
}

/* The papers, and the theorems, have a regression for each step. With delta 0 a user's H steps in H
 * responses cost as much as they bring, and it was not better in all worlds [docs/why/lsvi.md]. */
static tacit_status read_pooled(const tacit__reading *r, const tacit__linear_space *sp,
                                bool *pooled, tacit_error *err)
{
    const int choice = tacit__value_choose(&r->values, "pooled", tacit__auto_yes_no, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    const tacit_guarantee *g = &r->request->guarantee;
    const bool numbered = sp->form != TACIT__CARRIED,
               may = numbered && r->request->stationary && !tacit__is_noise_printed(r->request),
               pays = (g->model == TACIT_MODEL_NONE || g->delta > 0) &&
                      read_bonus_scale(r, sp->dimension) < 1;
    *pooled = may && (choice == TACIT__YES || (choice == TACIT__AUTO && pays));
    if (choice == TACIT__YES && !may)
        return tacit__value_fail(
            &r->values, "pooled", err, TACIT_UNSUPPORTED,
            !r->request->stationary
                ? "pooled: yes needs a world whose steps are all alike; this one's are not"
            : !numbered ? "pooled: yes needs numbered states"
                        : "pooled: yes needs calibration tight: the papers have a regression for "
                          "each step");
    return TACIT_OK;
}

/* Returns the most bits with which sums over all users stay exact; if they are pooled, over all steps
 * of all users. */
static int feature_bits(const tacit_agent_request *q, bool pooled)
{
    uint64_t terms;
    return __builtin_mul_overflow(q->episodes, pooled ? (uint64_t)q->horizon : 1, &terms)
               ? 0
               : tacit__lsvi_feature_bits(terms);
}

tacit_status tacit__lsvi_read_space(const tacit__reading *r, tacit__linear_space *out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(r != NULL && out != NULL);
    const tacit_agent_request *q = r->request;
    const tacit_linear *f = q->linear;
    tacit__linear_space sp = {.form = TACIT__ONE_HOT,
                              .n_states = q->n_states,
                              .n_actions = q->n_actions,
                              .horizon = q->horizon,
                              .bound = 1,
                              .simplex = true};
    if (f != NULL) {
        sp.form = f->row != NULL ? TACIT__TABLE : TACIT__CARRIED;
        sp.dimension = f->dimension;
        sp.bound = f->simplex ? 1 : f->bound;
        sp.simplex = f->simplex;
        if (sp.form == TACIT__CARRIED)
            sp.n_states = 0;
    } else if (__builtin_mul_overflow(q->n_states, q->n_actions, &sp.dimension)) {
        return tacit__reading_fail(r, err, TACIT_TOO_LARGE,
                                   "there are too many states and actions");
    }
    if (f == NULL && q->n_states == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "%s needs numbered states, or features at two steps or more; "
                                   "lin-ucb learns from features at one",
                                   r->kind->name);
    if (sp.dimension == 0 || !(sp.bound > 0 && isfinite(sp.bound)))
        return tacit__reading_fail(
            r, err, TACIT_BAD_ARGUMENT,
            "features need a dimension of at least 1 and a finite bound > 0");
    TRY(read_pooled(r, &sp, &sp.pooled, err));
    sp.feature_bits = feature_bits(q, sp.pooled);
    if (sp.feature_bits < 8)
        return tacit__reading_fail(r, err, TACIT_NO_ROOM, "there are too many episodes");
    *out = sp;
    return TACIT_OK;
}

tacit_status tacit__lsvi_read_table(lsvi_agent *agent, const tacit__reading *r, tacit_error *err)
{
    TACIT__REQUIRE(agent->table == NULL);
    const tacit_linear *f = r->request->linear;
    tacit__linear_space *sp = &agent->space;
    if (sp->form != TACIT__TABLE)
        return TACIT_OK;
    size_t d = sp->dimension, pairs;
    double *phi = tacit__alloc(d, sizeof *phi);
    if (!__builtin_mul_overflow(sp->n_states, sp->n_actions, &pairs))
        agent->table = tacit__alloc(pairs, d * sizeof *agent->table);
    tacit_status status = TACIT_OK;
    if (phi == NULL || agent->table == NULL)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; status == TACIT_OK && i < pairs; i++) {
        uint32_t s = (uint32_t)(i / sp->n_actions), a = (uint32_t)(i % sp->n_actions);
        f->row(f->context, s, a, phi);
        if (!tacit__lsvi_place(sp, phi, agent->table + i * d))
            status = tacit__reading_fail(r, err, TACIT_OUT_OF_BOUND,
                                         "the features of state %lu, action %lu are not what was "
                                         "declared: of length at most %g%s",
                                         (unsigned long)s, (unsigned long)a, sp->bound,
                                         sp->simplex ? ", not negative, of sum 1" : "");
    }
    tacit__free(phi);
    sp->table = agent->table;
    return status;
}

enum { AUTO_SCHEDULE = TACIT__RAYLEIGH + 1 }; /* the last of the names below */

/* --- Design --------------------------------------------------------------------------------------- */

static tacit_status read_choices(lsvi_design *g, const tacit__linear_space *sp, tacit_error *err)
{
    static const char *const schedules[] = {"every",    "batched", "doubling", "growth",
                                            "rayleigh", "auto",    NULL};
    static const char *const grams[] = {"auto", "sums", "direct", NULL};
    static const char *const storages[] = {"float32", "float64", NULL};
    static const char *const units[] = {"auto", "span", "range", NULL};
    const tacit__reading *r = g->r;
    int schedule = tacit__value_choose(&r->values, "schedule", schedules, err),
        center = tacit__value_choose(&r->values, "center", tacit__auto_yes_no,
                                     schedule < 0 ? NULL : err),
        gram = tacit__value_choose(&r->values, "gram", grams, center < 0 ? NULL : err),
        storage = tacit__value_choose(&r->values, "storage", storages, gram < 0 ? NULL : err),
        unit = tacit__value_choose(&r->values, "targets", units, storage < 0 ? NULL : err);
    if (schedule < 0 || center < 0 || gram < 0 || storage < 0 || unit < 0)
        return TACIT_BAD_ARGUMENT;
    const bool numbered = sp->form != TACIT__CARRIED;
    if (unit == 1 && (g->printed || !numbered))
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED, "targets: span needs %s",
                                   numbered ? "calibration tight: the papers use the whole range"
                                            : "numbered states");
    g->spans = unit == 1 || (unit == 0 && g->private && !g->printed && !g->theorem && numbered);
    if (schedule == AUTO_SCHEDULE)
        schedule =
            g->private && !g->printed && !g->theorem ? (int)TACIT__GROWTH : (int)TACIT__DOUBLING;
    if ((schedule == TACIT__GROWTH || schedule == TACIT__RAYLEIGH) && g->printed)
        return tacit__reading_fail(
            r, err, TACIT_UNSUPPORTED,
            "schedule %s needs calibration tight: the papers have every, batched and doubling",
            schedules[schedule]);
    bool sums_to_one = sp->simplex;
    if (center == TACIT__YES && (!sums_to_one || g->printed))
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED, "center: yes needs %s",
                                   g->printed ? "calibration tight: the papers do not center"
                                              : "features that are known to sum to 1 (simplex)");
    const bool watches = tacit__lsvi_watches((tacit__lsvi_schedule)schedule);
    if (watches && g->private && r->request->guarantee.delta == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "schedule %s is for delta > 0; with delta 0 there are growth, "
                                   "batched and every",
                                   schedules[schedule]);
    if (watches && gram == TACIT__GRAM_DIRECT)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "schedule %s looks at Gram matrices all the time: gram: direct "
                                   "is for growth, batched and every",
                                   schedules[schedule]);
    double factor = tacit__value_real(&r->values, "switch_factor");
    if (factor != 0 && !(factor > 1))
        return tacit__reading_fail(r, err, TACIT_BAD_ARGUMENT,
                                   "switch_factor is %g, expected more than 1", factor);
    g->wide = storage == 1;
    g->options.schedule = (tacit__lsvi_schedule)schedule;
    g->options.centered =
        center == TACIT__YES || (center == TACIT__AUTO && sums_to_one && !g->printed);
    g->options.gram = (tacit__lsvi_gram)gram;
    if (g->spans && !watches && g->options.gram_share == 0)
        g->options.gram_share = PRACTICAL_SHARE;
    return TACIT_OK;
}

tacit__lsvi_case tacit__lsvi_case_of(const lsvi_design *g)
{
    const tacit__lsvi_scheme_options *w = &g->options;
    return (tacit__lsvi_case){(double)w->episodes,      (double)w->space.dimension,
                              (double)w->space.horizon, w->guarantee.epsilon,
                              w->guarantee.delta,       w->failure};
}

static tacit_status read_printed(lsvi_design *g, tacit_error *err)
{
    const tacit_agent_request *q = g->r->request;
    tacit__lsvi_scheme_options *w = &g->options;
    if (q->guarantee.delta == 0)
        return tacit__reading_fail(g->r, err, TACIT_UNSUPPORTED,
                                   "the papers print no constants for delta 0; use calibration "
                                   "tight, or a delta > 0");
    const tacit__lsvi_case c = tacit__lsvi_case_of(g);
    double B = w->schedule == TACIT__EVERY ? c.K : (double)w->batches;
    g->constants = w->schedule == TACIT__DOUBLING ? tacit__lsvi_print_doubling(&c)
                                                  : tacit__lsvi_print_batched(&c, B);
    w->batches = w->switches = (uint64_t)g->constants.releases;
    w->switch_factor = w->switch_factor > 0 ? w->switch_factor : 2;
    w->test_every = w->test_every > 0 ? w->test_every : 1;
    w->printed_gram = g->constants.gram;
    w->printed_response = g->constants.response / (c.H + 1); /* in units of the range */
    w->gram = TACIT__GRAM_SUMS;
    return TACIT_OK;
}

/* beta in units of the range, and the ridge. With noise: Q is off by at most ((lambda + hi) 2 W +
 * C) / sqrt(lambda + lo) more than without, where noise and shift together have eigenvalues in [lo,
 * hi], |responses' noise| <= C, |w| <= W = sqrt(d). At the theorem these are bounds, else what is
 * expected. */
static void set_bonus(lsvi_design *g, tacit__linear_space *sp)
{
    const tacit__lsvi_scheme_options *w = &g->options;
    TACIT__REQUIRE(w->lambda > 0 && w->failure > 0);
    tacit__lsvi_scheme *s = &g->scheme;
    double d = (double)sp->dimension, K = (double)w->episodes, H = (double)sp->horizon;
    double bonus = d * sqrt(log(2 * d * K * H / w->failure)), size = sqrt(d);
    g->ridge = w->lambda;
    if (g->printed) {
        g->ridge = g->constants.ridge;
        bonus = g->constants.beta / (H + 1);
    } else if (g->private) {
        double alpha = w->failure / (6 * K * H);
        double matrix = s->gram_stddev *
                        (g->theorem ? tacit__lsvi_matrix_level(sp, s->law, s->row * s->row, alpha)
                                    : tacit__lsvi_expected_norm(sp)),
               vector =
                   s->response_stddev *
                   (g->theorem ? tacit__lsvi_vector_level(sp->dimension, s->law, alpha) : sqrt(d));
        if (g->theorem && !tacit__value_of(&g->r->values, "shift")->given)
            s->shift = (w->schedule == TACIT__RAYLEIGH ? TACIT__RAYLEIGH_SHIFT : 2) * matrix;
        double low = fmax(s->shift - matrix, 0), high = s->shift + matrix;
        bonus += (2 * (w->lambda + high) * size + vector) / sqrt(w->lambda + low) -
                 2 * sqrt(w->lambda) * size;
        g->ridge += s->shift;
    }
    g->bonus = g->bonus_scale * bonus;
}

tacit_status tacit__lsvi_make_design(lsvi_design *g, const lsvi_agent *agent, tacit_error *err)
{
    TACIT__REQUIRE(g != NULL && g->r != NULL);
    const tacit__reading *r = g->r;
    const tacit_agent_request *q = r->request;
    g->private = q->guarantee.model != TACIT_MODEL_NONE;
    g->published = tacit__is_published(q);
    g->printed = tacit__is_noise_printed(q);
    g->bonus_scale = read_bonus_scale(r, agent->space.dimension);
    g->theorem = g->bonus_scale >= 1;
    if (g->private && q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "calibration figure is for the tabular learners; lsvi-ucb has "
                                   "tight and published");
    g->archive_bytes = 1e6 * (double)tacit__value_of(&r->values, "archive_mb")->integer;
    g->options = (tacit__lsvi_scheme_options){
        .space = agent->space,
        .episodes = q->episodes,
        .visits = q->visits,
        .apart = q->apart,
        .guarantee = q->guarantee,
        .theorem = g->theorem,
        .lambda = tacit__value_real(&r->values, "lambda"),
        .shift = tacit__value_real(&r->values, "shift"),
        .failure = tacit__value_real(&r->values, "failure"),
        .batches = (uint64_t)tacit__value_of(&r->values, "batches")->integer,
        .switches = (uint64_t)tacit__value_of(&r->values, "switches")->integer,
        .test_every = (uint64_t)tacit__value_of(&r->values, "test_every")->integer,
        .switch_factor = tacit__value_real(&r->values, "switch_factor"),
        .gram_share = tacit__value_real(&r->values, "gram_share")};
    TRY(read_choices(g, &agent->space, err));
    TRY(tacit__reading_mechanism(r, &g->options.mechanism, err));
    if (g->printed)
        TRY(read_printed(g, err));
    tacit_error reason = {0};
    tacit_status status = tacit__lsvi_decide(&g->options, &g->scheme, &reason);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "%s", reason.message);
    set_bonus(g, &g->options.space);
    double H = (double)q->horizon;
    for (size_t h = 0; h < q->horizon; h++) {
        g->range[h] = g->printed ? H + 1 : H - (double)h;
        g->cap[h] = g->printed ? H : H - (double)h;
    }
    return TACIT_OK;
}
