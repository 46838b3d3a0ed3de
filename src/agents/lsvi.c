/* lsvi-ucb: least-squares value iteration for linear MDPs, in all its schedules.
 *
 * One curator (curate/lsvi.c), one planner (plan/lsvi.c). A switch goes backwards through the steps: the planner says
 * V_{h+1}, the curator shows the response to it. Where the world says nothing about features, each state and action is a
 * feature of its own.
 *
 * Defaults. bonus_scale below 1 voids the regret theorem, never the privacy. bonus_scale: 1 switches the others to the
 * theorems as well (shift, caps, factors), unless they are set too. The defaults were found in simulation; docs/why/lsvi.md has
 * the figures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/family.h"
#include "agents/lsvi_printed.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "curate/lsvi.h"
#include "noise/stream.h"
#include "plan/lsvi.h"

enum {
    SCHEDULE,
    BONUS_SCALE,
    FAILURE,
    CENTER,
    SHIFT,
    LAMBDA,
    BATCHES,
    SWITCHES,
    SWITCH_FACTOR,
    TEST_EVERY,
    GRAM,
    GRAM_SHARE,
    ARCHIVE_MB,
    STORAGE,
    N_PARAMETERS
};

static const tacit_parameter parameters[N_PARAMETERS] = {
    [SCHEDULE] = {"schedule", TACIT_PARAMETER_TEXT, "doubling", 0, 0,
                  "when the policy changes: every episode, batched, or doubling (of determinants)"},
    [BONUS_SCALE] = {"bonus_scale", TACIT_PARAMETER_REAL, "", 0, 1e6,
                     "multiplies the theorem's bonus; 1 is the theorem; default 0.01, or 0.003 "
                     "with privacy"},
    [FAILURE] = {"failure", TACIT_PARAMETER_REAL, "0.05", 1e-12, 0.5,
                 "probability that the bounds fail"},
    [CENTER] =
        {"center", TACIT_PARAMETER_TEXT, "auto", 0, 0,
         "regress on targets minus half their range: yes, no, or auto (if features sum to 1)"},
    [SHIFT] =
        {"shift", TACIT_PARAMETER_REAL, "2", 0, 1e6,
         "added to noisy Gram matrices, in units of their noise's expected largest eigenvalue"},
    [LAMBDA] = {"lambda", TACIT_PARAMETER_REAL, "1", 1e-6, 1e9, "ridge of the regression"},
    [BATCHES] = {"batches", TACIT_PARAMETER_INTEGER, "0", 0, 1e9,
                 "batched: how many; 0: those with the least predicted error"},
    [SWITCHES] = {"switches", TACIT_PARAMETER_INTEGER, "0", 0, 1e9,
                  "doubling: at most so many; 0: those with the least predicted error"},
    [SWITCH_FACTOR] = {"switch_factor", TACIT_PARAMETER_REAL, "0", 0, 1e300,
                       "doubling: growth of a determinant that asks for a switch; 0: decide"},
    [TEST_EVERY] = {"test_every", TACIT_PARAMETER_INTEGER, "0", 0, 1e9,
                    "doubling: look at determinants after every so many users; 0: decide"},
    [GRAM] = {"gram", TACIT_PARAMETER_TEXT, "auto", 0, 0,
              "Gram matrices by running sums, by direct releases, or auto (the less noisy)"},
    [GRAM_SHARE] = {"gram_share", TACIT_PARAMETER_REAL, "0", 0, 0.999,
                    "share of the privacy budget for Gram matrices; 0: decide"},
    [ARCHIVE_MB] = {"archive_mb", TACIT_PARAMETER_INTEGER, "4096", 1, 1e9,
                    "states not numbered: most memory for users' features"},
    [STORAGE] = {"storage", TACIT_PARAMETER_TEXT, "float32", 0, 0,
                 "states not numbered: float32 or float64; same results, memory against time"},
};

static const tacit_agent_kind kinds[] = {
    {"lsvi-ucb",
     "least-squares value iteration for linear MDPs; schedule: every, batched, doubling",
     "Jin et al. 2020; Luyo et al. 2021; Ngo, Vietri, Wu 2022",
     TACIT_AGENT_NONE | TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT, parameters, N_PARAMETERS},
};

typedef struct lsvi_agent {
    tacit__linear_space space;
    double *table;    /* of features, in lattice steps */
    double *response; /* [d] */
    tacit__lsvi_data *curator;
    tacit__lsvi *planner;
    uint8_t fingerprint[TACIT__KEY_BYTES];
    char remark[480];
} lsvi_agent;

/* Found in simulation: what learns within tens of thousands of users. */
#define PRACTICAL_BONUS 0.01
#define PRACTICAL_PRIVATE_BONUS 0.003

/* What the settings and the theory make of a request. */
typedef struct design {
    const tacit__reading *r;
    bool private, printed, theorem, wide;
    tacit__lsvi_wish wish;
    tacit__lsvi_scheme scheme;
    double *range, *cap; /* [H] */
    double bonus_scale, ridge, bonus;
    tacit__lsvi_printed constants;
} design;

/* --- Features ----------------------------------------------------------------------------------- */

static tacit_status read_space(const tacit__reading *r, tacit__linear_space *out, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const tacit_linear *f = q->linear;
    tacit__linear_space sp = {.form = TACIT__ONE_HOT,
                              .n_states = q->n_states,
                              .n_actions = q->n_actions,
                              .horizon = q->horizon,
                              .bound = 1,
                              .simplex = true,
                              .feature_bits = tacit__lsvi_feature_bits(q->episodes)};
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
    if (sp.feature_bits < 8)
        return tacit__reading_fail(r, err, TACIT_NO_ROOM, "there are too many episodes");
    *out = sp;
    return TACIT_OK;
}

/* The public table of features, on the lattice. */
static tacit_status read_table(lsvi_agent *agent, const tacit__reading *r, tacit_error *err)
{
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
        bool fits = tacit__lsvi_place(d, sp->bound, sp->feature_bits, phi, agent->table + i * d);
        for (size_t j = 0; j < d && sp->simplex; j++)
            fits = fits && phi[j] >= 0;
        if (!fits)
            status = tacit__reading_fail(r, err, TACIT_OUT_OF_BOUND,
                                         "the features of state %lu, action %lu are not what was "
                                         "declared: of length at most %g%s",
                                         (unsigned long)s, (unsigned long)a, sp->bound,
                                         sp->simplex ? ", not negative" : "");
    }
    tacit__free(phi);
    sp->table = agent->table;
    return status;
}

/* --- Design --------------------------------------------------------------------------------------- */

static tacit_status read_choices(design *g, const tacit__linear_space *sp, tacit_error *err)
{
    static const char *const schedules[] = {"every", "batched", "doubling", NULL};
    static const char *const centers[] = {"auto", "yes", "no", NULL};
    static const char *const grams[] = {"auto", "sums", "direct", NULL};
    static const char *const storages[] = {"float32", "float64", NULL};
    const tacit__reading *r = g->r;
    int schedule = tacit__reading_choose(r, SCHEDULE, schedules, err),
        center = tacit__reading_choose(r, CENTER, centers, schedule < 0 ? NULL : err),
        gram = tacit__reading_choose(r, GRAM, grams, center < 0 ? NULL : err),
        storage = tacit__reading_choose(r, STORAGE, storages, gram < 0 ? NULL : err);
    if (schedule < 0 || center < 0 || gram < 0 || storage < 0)
        return TACIT_BAD_ARGUMENT;
    bool sums_to_one = sp->simplex;
    if (center == 1 && (!sums_to_one || g->printed))
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED, "center: yes needs %s",
                                   g->printed ? "calibration tight: the papers do not centre"
                                              : "features that are known to sum to 1 (simplex)");
    if (schedule == TACIT__DOUBLING && g->private && r->request->guarantee.delta == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "schedule doubling is for delta > 0; with delta 0 there are "
                                   "batched and every");
    if (schedule == TACIT__DOUBLING && gram == TACIT__GRAM_DIRECT)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "schedule doubling looks at Gram matrices all the time: "
                                   "gram: direct is for batched and every");
    double factor = r->values[SWITCH_FACTOR].real;
    if (factor != 0 && !(factor > 1))
        return tacit__reading_fail(r, err, TACIT_BAD_ARGUMENT,
                                   "switch_factor is %g, expected more than 1", factor);
    g->wide = storage == 1;
    g->wish.schedule = (tacit__lsvi_schedule)schedule;
    g->wish.centred = center == 1 || (center == 0 && sums_to_one && !g->printed);
    g->wish.gram = (tacit__lsvi_gram)gram;
    return TACIT_OK;
}

static tacit_status read_printed(design *g, tacit_error *err)
{
    const tacit_agent_request *q = g->r->request;
    tacit__lsvi_wish *w = &g->wish;
    if (q->guarantee.delta == 0)
        return tacit__reading_fail(g->r, err, TACIT_UNSUPPORTED,
                                   "the papers print no constants for delta 0; use calibration "
                                   "tight, or a delta > 0");
    const tacit__lsvi_case c = {(double)q->episodes, (double)w->space.dimension,
                                (double)q->horizon,  q->guarantee.epsilon,
                                q->guarantee.delta,  w->failure};
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

/* beta in units of the range, and the ridge. With noise: Q is off by at most ((lambda + hi) 2 W + C) / sqrt(lambda + lo) more
 * than without, where noise and shift together have eigenvalues in [lo, hi], |responses' noise| <= C, |w| <= W = sqrt(d).
 * At the theorem these are bounds, else what is expected. */
static void set_bonus(design *g, tacit__linear_space *sp)
{
    const tacit__lsvi_wish *w = &g->wish;
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
        if (g->theorem && !g->r->values[SHIFT].given)
            s->shift = 2 * matrix;
        double low = fmax(s->shift - matrix, 0), high = s->shift + matrix;
        bonus += (2 * (w->lambda + high) * size + vector) / sqrt(w->lambda + low) -
                 2 * sqrt(w->lambda) * size;
        g->ridge += s->shift;
    }
    g->bonus = g->bonus_scale * bonus;
}

static tacit_status make_design(design *g, const lsvi_agent *agent, tacit_error *err)
{
    const tacit__reading *r = g->r;
    const tacit_agent_request *q = r->request;
    g->private = q->guarantee.model != TACIT_MODEL_NONE;
    g->printed = g->private && q->calibration == TACIT_CALIBRATION_PUBLISHED;
    g->bonus_scale = r->values[BONUS_SCALE].given ? r->values[BONUS_SCALE].real
                     : g->private                 ? PRACTICAL_PRIVATE_BONUS
                                                  : PRACTICAL_BONUS;
    g->theorem = g->bonus_scale >= 1;
    if (g->private && q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "calibration figure is for the tabular learners; lsvi-ucb has "
                                   "tight and published");
    g->wish = (tacit__lsvi_wish){.space = agent->space,
                                 .episodes = q->episodes,
                                 .guarantee = q->guarantee,
                                 .theorem = g->theorem,
                                 .lambda = r->values[LAMBDA].real,
                                 .shift = r->values[SHIFT].real,
                                 .failure = r->values[FAILURE].real,
                                 .batches = (uint64_t)r->values[BATCHES].integer,
                                 .switches = (uint64_t)r->values[SWITCHES].integer,
                                 .test_every = (uint64_t)r->values[TEST_EVERY].integer,
                                 .switch_factor = r->values[SWITCH_FACTOR].real,
                                 .gram_share = r->values[GRAM_SHARE].real};
    tacit_status status = read_choices(g, &agent->space, err);
    if (status == TACIT_OK)
        status = tacit__reading_mechanism(r, &g->wish.mechanism, err);
    if (status == TACIT_OK && g->printed)
        status = read_printed(g, err);
    if (status == TACIT_OK) {
        tacit_error reason = {0};
        status = tacit__lsvi_decide(&g->wish, &g->scheme, &reason);
        if (status != TACIT_OK)
            status = tacit__reading_fail(r, err, status, "%s", reason.message);
    }
    if (status != TACIT_OK)
        return status;
    set_bonus(g, &g->wish.space);
    double H = (double)q->horizon;
    for (size_t h = 0; h < q->horizon; h++) {
        g->range[h] = g->printed ? H + 1 : H - (double)h;
        g->cap[h] = g->printed ? H : H - (double)h;
    }
    return TACIT_OK;
}

/* What was decided, in a line. */
static void write_remark(lsvi_agent *agent, const design *g)
{
    const tacit__lsvi_scheme *s = &g->scheme;
    bool doubling = g->wish.schedule == TACIT__DOUBLING;
    bool given = g->r->values[doubling ? SWITCHES : BATCHES].given;
    const char *by = g->printed                ? "as printed"
                     : given                   ? "given"
                     : g->theorem              ? "by the theorem"
                     : doubling && !g->private ? "the theorem's cap"
                     : g->private              ? "the least predicted loss"
                                               : "as many as cost nothing in order";
    char how[200] = "a switch after every user", cap[60] = "";
    if (doubling && g->private && !g->printed && s->theorem_switches != s->switches)
        (void)snprintf(cap, sizeof cap, "; the theorem would reserve %llu",
                       (unsigned long long)s->theorem_switches);
    if (doubling)
        (void)snprintf(how, sizeof how,
                       "at most %llu switches (%s%s), when a determinant has grown %.3g-fold, "
                       "looked at after every %llu users",
                       (unsigned long long)s->switches, by, cap, s->switch_factor,
                       (unsigned long long)s->leaf);
    else if (g->wish.schedule == TACIT__BATCHED)
        (void)snprintf(how, sizeof how, "%llu batches of %llu users (%s)",
                       (unsigned long long)s->leaves + 1, (unsigned long long)s->leaf, by);
    (void)snprintf(agent->remark, sizeof agent->remark, "%s%s%s%s", how,
                   !g->private ? ""
                   : s->direct ? "; Gram matrices by direct releases"
                               : "; Gram matrices by running sums",
                   g->printed && doubling ? "; UNSOUND: the printed constants do not give the "
                                            "printed guarantee, see the accountant"
                                          : "",
                   g->theorem ? ""
                              : "; bonus_scale below 1: the regret theorem does not apply, privacy "
                                "does not depend on it");
}

/* --- The agent ------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    lsvi_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__lsvi_data_destroy(agent->curator);
    tacit__lsvi_destroy(agent->planner);
    tacit__free(agent->table);
    tacit__free(agent->response);
    tacit__free(agent);
}

/* Everything that a saved state must agree with. */
static void make_fingerprint(lsvi_agent *agent, const design *g)
{
    const tacit__linear_space *sp = &agent->space;
    const tacit__lsvi_scheme *s = &g->scheme;
    const uint64_t sizes[] = {sp->form,
                              sp->n_states,
                              sp->n_actions,
                              sp->horizon,
                              sp->dimension,
                              (uint64_t)(int64_t)sp->feature_bits,
                              g->wish.episodes,
                              s->leaf,
                              s->leaves,
                              s->switches,
                              (uint64_t)s->direct,
                              (uint64_t)s->mechanism,
                              (uint64_t)g->wish.schedule,
                              (uint64_t)g->wish.centred,
                              (uint64_t)g->wide,
                              (uint64_t)g->wish.guarantee.model};
    const double numbers[] = {sp->bound,      s->switch_factor, s->gram_scale,  s->response_scale,
                              g->ridge,       g->bonus,         g->wish.lambda, s->gram_l2,
                              s->response_l2, g->range[0],      g->cap[0]};
    const tacit__bytes parts[] = {
        {"lsvi-ucb", sizeof "lsvi-ucb"},
        {sizes, sizeof sizes},
        {numbers, sizeof numbers},
        {agent->table, agent->table != NULL
                           ? sp->n_states * sp->n_actions * sp->dimension * sizeof *agent->table
                           : 0}};
    tacit__digest(parts, sizeof parts / sizeof *parts, agent->fingerprint);
}

static tacit_status make_rooms(lsvi_agent *agent, const design *g, tacit_noise *noise,
                               tacit_error *err)
{
    const tacit_agent_request *q = g->r->request;
    const tacit__lsvi_data_options curator = {.space = agent->space,
                                              .scheme = g->scheme,
                                              .episodes = q->episodes,
                                              .guarantee = q->guarantee,
                                              .printed = g->printed,
                                              .centred = g->wish.centred,
                                              .range = g->range,
                                              .wide = g->wide,
                                              .archive_bytes =
                                                  1e6 * (double)g->r->values[ARCHIVE_MB].integer};
    const tacit__lsvi_options planner = {.space = agent->space,
                                         .schedule = g->wish.schedule,
                                         .switches = g->scheme.switches,
                                         .switch_factor = g->scheme.switch_factor,
                                         .ridge = g->ridge,
                                         .floor = g->private ? fmin(g->wish.lambda, g->ridge) : 0,
                                         .bonus = g->bonus,
                                         .range = g->range,
                                         .cap = g->cap,
                                         .centre = g->wish.centred ? 0.5 : 0};
    tacit_error reason = {0};
    agent->response = tacit__alloc(agent->space.dimension, sizeof *agent->response);
    tacit_status status = agent->response != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    if (status == TACIT_OK)
        status = tacit__lsvi_create(&planner, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit__lsvi_data_create(&curator, noise, &agent->curator, &reason);
    return status == TACIT_OK ? TACIT_OK
                              : tacit__reading_fail(g->r, err, status, "%s", reason.message);
}

static tacit_status create(size_t kind, const tacit_agent_request *request, tacit_noise *noise,
                           void **out, tacit_error *err)
{
    tacit__reading r;
    tacit__linear_space space;
    tacit_status status = tacit__reading_open(request, &kinds[kind], &r, err);
    if (status == TACIT_OK)
        status = read_space(&r, &space, err);
    if (status != TACIT_OK)
        return status;
    lsvi_agent *agent = tacit__alloc(1, sizeof *agent);
    design g = {.r = &r,
                .range = tacit__alloc(request->horizon, sizeof *g.range),
                .cap = tacit__alloc(request->horizon, sizeof *g.cap)};
    if (agent == NULL || g.range == NULL || g.cap == NULL) {
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    } else {
        agent->space = space;
        status = read_table(agent, &r, err);
        if (status == TACIT_OK)
            status = make_design(&g, agent, err);
        if (status == TACIT_OK)
            status = make_rooms(agent, &g, noise, err);
    }
    if (status == TACIT_OK) {
        make_fingerprint(agent, &g);
        write_remark(agent, &g);
        *out = agent;
    } else {
        destroy(agent);
    }
    tacit__free(g.range);
    tacit__free(g.cap);
    return status;
}

/* A new policy, backwards through the steps. */
static tacit_status switch_policy(lsvi_agent *agent, const double *gram, tacit_error *err)
{
    tacit__lsvi_begin(agent->planner, gram);
    for (size_t h = agent->space.horizon; h-- > 0;) {
        tacit__lsvi_values next = tacit__lsvi_next(agent->planner, h);
        tacit_status status = tacit__lsvi_data_respond(agent->curator, h, next.table, next.function,
                                                       agent->response, err);
        if (status != TACIT_OK)
            return status;
        tacit__lsvi_take(agent->planner, h, agent->response);
    }
    tacit__lsvi_end(agent->planner);
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    lsvi_agent *agent = self;
    if (tacit__lsvi_data_ready(agent->curator)) {
        const double *gram;
        tacit_status status = tacit__lsvi_data_gram(agent->curator, &gram, err);
        if (status == TACIT_OK && tacit__lsvi_due(agent->planner, gram))
            status = switch_policy(agent, gram, err);
        if (status != TACIT_OK)
            return status;
        if (tacit__lsvi_is_done(agent->planner))
            tacit__lsvi_data_close(agent->curator);
    }
    tacit__billboard board = tacit__lsvi_board(agent->planner);
    *out =
        (tacit_billboard){.version = board.version, .policy = board.policy, .mixed = board.mixed};
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    lsvi_agent *agent = self;
    const tacit__lsvi_user u = {.states = user->states,
                                .actions = user->actions,
                                .rewards = user->rewards,
                                .features = user->features};
    return tacit__lsvi_data_add(agent->curator, &u, err);
}

static tacit_status act(void *self, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err)
{
    lsvi_agent *agent = self;
    const tacit__linear_space *sp = &agent->space;
    if (sp->form != TACIT__CARRIED)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "there is no plan to act by yet");
    if (situation->features == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "states are not numbered: a situation has features of each action");
    for (size_t i = 0; i < sp->n_actions * sp->dimension; i++)
        if (!isfinite(situation->features[i]))
            return tacit__fail(err, TACIT_NOT_FINITE, "feature %zu is not a finite number", i);
    tacit__lsvi_act(agent->planner, situation->step, situation->features, chance, action,
                    probability);
    return TACIT_OK;
}

static tacit_ledger *ledger(const void *self)
{
    return tacit__lsvi_data_ledger(((const lsvi_agent *)self)->curator);
}

static const char *remark(const void *self)
{
    return ((const lsvi_agent *)self)->remark;
}

/* --- Saved states: header, the planner's pieces, the curator, checksum ------------------------------- */

#define MAGIC 0x746163697453564cU
enum { FORMAT_VERSION = 1 };

typedef struct header {
    uint64_t magic, version, size;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

static tacit_status save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const lsvi_agent *agent = self;
    tacit__lsvi_piece pieces[TACIT__LSVI_PIECES];
    tacit__lsvi_pieces(agent->planner, pieces);
    size_t data, needed = sizeof(header) + TACIT__KEY_BYTES;
    tacit_status status = tacit__lsvi_data_save(agent->curator, NULL, &data, err);
    if (status != TACIT_OK)
        return status;
    needed += data;
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++)
        needed += pieces[i].size;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    header h = {.magic = MAGIC, .version = FORMAT_VERSION, .size = needed};
    memcpy(h.fingerprint, agent->fingerprint, sizeof h.fingerprint);
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++) {
        if (pieces[i].size > 0)
            memcpy(at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    status = tacit__lsvi_data_save(agent->curator, at, &data, err);
    if (status != TACIT_OK)
        return status;
    at += data;
    tacit__digest(&(tacit__bytes){bytes, (size_t)(at - (uint8_t *)bytes)}, 1, at);
    *size = needed;
    return TACIT_OK;
}

static tacit_status check_saved(const lsvi_agent *agent, const void *bytes, size_t size,
                                size_t pieces, tacit_error *err)
{
    header h;
    uint8_t digest[TACIT__KEY_BYTES];
    if (size < sizeof h + pieces + sizeof digest)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few for a saved learner", size);
    memcpy(&h, bytes, sizeof h);
    if (h.magic != MAGIC || h.size != size)
        return tacit__fail(err, TACIT_CORRUPT,
                           "this is not a saved lsvi-ucb, or not the whole of one");
    if (h.version != FORMAT_VERSION)
        return tacit__fail(err, TACIT_WRONG_VERSION,
                           "the saved learner has format version %llu, expected %d",
                           (unsigned long long)h.version, FORMAT_VERSION);
    tacit__digest(&(tacit__bytes){bytes, size - sizeof digest}, 1, digest);
    if (memcmp(digest, (const uint8_t *)bytes + size - sizeof digest, sizeof digest) != 0)
        return tacit__fail(err, TACIT_CORRUPT,
                           "the saved learner is damaged: its checksum does not match");
    if (memcmp(h.fingerprint, agent->fingerprint, sizeof h.fingerprint) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN, "the saved learner is of another request");
    return TACIT_OK;
}

static tacit_status load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    lsvi_agent *agent = self;
    tacit__lsvi_piece pieces[TACIT__LSVI_PIECES];
    tacit__lsvi_pieces(agent->planner, pieces);
    size_t total = 0;
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++)
        total += pieces[i].size;
    tacit_status status = check_saved(agent, bytes, size, total, err);
    if (status != TACIT_OK)
        return status;
    const uint8_t *at = (const uint8_t *)bytes + sizeof(header);
    status = tacit__lsvi_data_load(agent->curator, at + total,
                                   size - sizeof(header) - total - TACIT__KEY_BYTES, err);
    if (status != TACIT_OK)
        return status;
    for (size_t i = 0; i < TACIT__LSVI_PIECES; i++) {
        if (pieces[i].size > 0)
            memcpy(pieces[i].data, at, pieces[i].size);
        at += pieces[i].size;
    }
    tacit__lsvi_restored(agent->planner);
    return TACIT_OK;
}

const tacit__family tacit__family_lsvi = {
    .kinds = kinds,
    .n_kinds = sizeof kinds / sizeof *kinds,
    .no_local = "value functions are no sums of users' reports, and the papers leave local privacy "
                "for this family open",
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .act = act,
    .save = save,
    .load = load,
    .ledger = ledger,
    .remark = remark,
};
