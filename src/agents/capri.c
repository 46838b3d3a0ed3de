/* capri: sums in epochs (curate/epochs.c), and elimination on them (plan/capri.c).
 *
 * Presets [kernel.md 5.5]; every setting can be given by itself as well.
 *
 *     preset       width     omega  zeta  tau   copies  points S  tol   schedule  last epoch
 *     recommended  pairwise  0.1    1     auto  8       all       1e-4  balanced  greedy
 *     cautious     pairwise  0.3    2     auto  8       all       1e-4  balanced  greedy
 *     faithful     max4      0.1    -     1     1       drawn     1e-8  paper     uniform
 *     published    theory    1      -     1     1       drawn     1e-8  paper     uniform
 *
 * Published calibration: sigma_0 = sigma_max (4 B ln T / epsilon) sqrt(ln(1.25 ln T / delta)) on every coordinate of the
 * sum of y v; vectors divided by B sigma_max instead of their length have the constant (4 ln T / epsilon) sqrt(...). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/family.h"
#include "agents/forecast.h"
#include "agents/pairs.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "curate/epochs.h"
#include "noise/stream.h"
#include "plan/capri.h"

enum {
    PRESET,
    KERNEL,
    NORM,
    BONUS_SCALE,
    NOISE_SCALE,
    FAILURE,
    WIDTH,
    TAU,
    COPIES,
    POINTS,
    TOL,
    RANK,
    SCHEDULE,
    LAST,
    N_PARAMETERS
};

static const tacit_parameter parameters[N_PARAMETERS] = {
    [PRESET] = {"preset", TACIT_PARAMETER_TEXT, "", 0, 0,
                "recommended (the default), cautious, faithful or published (the default with that "
                "calibration)"},
    [KERNEL] = {"kernel", TACIT_PARAMETER_TEXT, "", 0, 0,
                "se(0.2), matern-2.5(0.2 0.5), linear, poly-2(1), or two with * or +; default: the "
                "world's"},
    [NORM] = {"norm", TACIT_PARAMETER_REAL, "", 1e-9, 1e9,
              "of the mean reward minus 1/2, in the kernel's space; default: the world's, or 1/2"},
    [BONUS_SCALE] = {"bonus_scale", TACIT_PARAMETER_REAL, "", 0, 1e6,
                     "omega: multiplies the statistical width and the bias; 1 is near the bound"},
    [NOISE_SCALE] = {"noise_scale", TACIT_PARAMETER_REAL, "", 0, 1e6,
                     "zeta: standard deviations of privacy noise in a pairwise width"},
    [FAILURE] = {"failure", TACIT_PARAMETER_REAL, "0.05", 1e-12, 0.5,
                 "probability that the bounds fail"},
    [WIDTH] = {"width", TACIT_PARAMETER_TEXT, "", 0, 0, "pairwise, pointwise, max4 or theory"},
    [TAU] = {"tau", TACIT_PARAMETER_REAL, "", 0, 1e9, "regularizer; 0: chosen in every epoch"},
    [COPIES] = {"copies", TACIT_PARAMETER_REAL, "", 0, 1000,
                "covariance points drawn for each user; 0: their exact expectation"},
    [POINTS] = {"points", TACIT_PARAMETER_TEXT, "", 0, 0,
                "projection on all active pairs, or on drawn ones"},
    [TOL] = {"tol", TACIT_PARAMETER_REAL, "", 1e-14, 1, "residual at which the projection stops"},
    [RANK] = {"rank", TACIT_PARAMETER_INTEGER, "2000", 1, 100000, "largest rank of the projection"},
    [SCHEDULE] = {"schedule", TACIT_PARAMETER_TEXT, "", 0, 0,
                  "paper: epochs double from sqrt(T); balanced: the last one is half of all"},
    [LAST] = {"last", TACIT_PARAMETER_TEXT, "", 0, 0, "last epoch: greedy or uniform"},
};

static const tacit_agent_kind kinds[] = {
    {"capri", "elimination in epochs on private kernel estimates",
     "Pavlovic, Salgia, Zhao 2025: Differential Privacy in Kernelized Contextual Bandits via "
     "Random "
     "Projections",
     TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters, N_PARAMETERS},
};

static const struct {
    tacit__capri_width width;
    double omega, zeta, tau, copies, tol;
    bool sampled, balanced, greedy;
} presets[] = {
    {TACIT__WIDTH_PAIRWISE, 0.1, 1, 0, 8, 1e-4, false, true, true},
    {TACIT__WIDTH_PAIRWISE, 0.3, 2, 0, 8, 1e-4, false, true, true},
    {TACIT__WIDTH_MAX4, 0.1, 1, 1, 1, 1e-8, true, false, false},
    {TACIT__WIDTH_THEORY, 1, 1, 1, 1, 1e-8, true, false, false},
};
enum { RECOMMENDED, CAUTIOUS, FAITHFUL, PUBLISHED };

typedef struct capri_agent {
    tacit__pairs pairs;
    tacit__epochs *curator;
    tacit__capri *planner;
    tacit__site chance; /* public: S and R */
    uint64_t users, n_users, in_epoch;
    size_t rank, n_shown; /* epochs shown so far */
    double *shown;        /* [epochs - 1][rank]: public, so that a planner can be made again */
    uint8_t request[TACIT__KEY_BYTES]; /* fingerprint */
    const char *remark;
    tacit_guarantee guarantee;
    double published, norm; /* scale of the published calibration, or 0; of the mean reward */
} capri_agent;

static void draw_words(void *context, uint64_t stream, uint64_t first, size_t n, uint64_t *out)
{
    tacit__site_words(context, stream, first, n, out);
}

/* --- Settings ---------------------------------------------------------------------------------- */

static double given_or(const tacit__reading *r, size_t parameter, double otherwise)
{
    return r->values[parameter].given ? r->values[parameter].real : otherwise;
}

/* A choice if given; otherwise the index of the default. */
static int choice_or(const tacit__reading *r, size_t parameter, const char *const *names,
                     int otherwise, tacit_error *err)
{
    return r->values[parameter].given ? tacit__reading_choose(r, parameter, names, err) : otherwise;
}

static bool is_published(const tacit_agent_request *q)
{
    return q->calibration == TACIT_CALIBRATION_PUBLISHED && q->guarantee.model != TACIT_MODEL_NONE;
}

static double published_scale(const tacit_agent_request *q)
{
    double log_T = fmax(1, log((double)q->episodes));
    return 4 * log_T / q->guarantee.epsilon * sqrt(log(1.25 * log_T / q->guarantee.delta));
}

static tacit_status read_options(const tacit__reading *r, tacit__capri_options *out,
                                 tacit_error *err)
{
    static const char *const preset_names[] = {"recommended", "cautious", "faithful", "published",
                                               NULL};
    static const char *const widths[] = {"pairwise", "pointwise", "max4", "theory", NULL};
    static const char *const points[] = {"all", "drawn", NULL};
    static const char *const schedules[] = {"paper", "balanced", NULL};
    static const char *const lasts[] = {"uniform", "greedy", NULL};
    const tacit_agent_request *q = r->request;
    int preset =
        choice_or(r, PRESET, preset_names,
                  q->calibration == TACIT_CALIBRATION_PUBLISHED ? PUBLISHED : RECOMMENDED, err);
    if (preset < 0)
        return TACIT_BAD_ARGUMENT;
    int width = choice_or(r, WIDTH, widths, (int)presets[preset].width, err);
    int point = width < 0 ? -1 : choice_or(r, POINTS, points, presets[preset].sampled, err);
    int schedule =
        point < 0 ? -1 : choice_or(r, SCHEDULE, schedules, presets[preset].balanced, err);
    int last = schedule < 0 ? -1 : choice_or(r, LAST, lasts, presets[preset].greedy, err);
    if (last < 0)
        return TACIT_BAD_ARGUMENT;
    *out = (tacit__capri_options){
        .users = q->episodes,
        .width = (tacit__capri_width)width,
        .bonus_scale = given_or(r, BONUS_SCALE, presets[preset].omega),
        .noise_scale = given_or(r, NOISE_SCALE, presets[preset].zeta),
        .failure = r->values[FAILURE].real,
        .norm = tacit__pairs_norm(r, NORM),
        .tau = given_or(r, TAU, presets[preset].tau),
        .copies = given_or(r, COPIES, presets[preset].copies),
        .sampled = point == 1,
        .tol = given_or(r, TOL, presets[preset].tol),
        .rank = (size_t)r->values[RANK].integer,
        .balanced = schedule == 1,
        .greedy = last == 1,
        .by_sigma_max = is_published(q),
        .local = q->guarantee.model == TACIT_MODEL_LOCAL,
        .epsilon = q->guarantee.epsilon,
        .delta = q->guarantee.delta,
    };
    return TACIT_OK;
}

/* The estimator's tables, in bytes. */
static tacit_status check_size(const tacit__reading *r, const tacit__capri_options *o,
                               tacit_error *err)
{
    double n = (double)o->pairs.n_contexts * (double)o->pairs.n_actions;
    double rank = fmin(n, (double)o->rank), bytes = 8 * (2 * n * rank + 4 * rank * rank);
    if (bytes <= 0x1p33)
        return TACIT_OK;
    return tacit__reading_fail(
        r, err, TACIT_TOO_LARGE,
        "%.0f pairs of contexts and actions at rank %.0f would take %.1f GB; "
        "set a smaller rank",
        n, rank, bytes / 1e9);
}

/* --- The agent --------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    capri_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__epochs_destroy(agent->curator);
    tacit__capri_destroy(agent->planner);
    tacit__site_wipe(&agent->chance);
    tacit__free(agent->shown);
    tacit__free(agent);
}

static tacit_status make_curator(capri_agent *agent, const tacit__reading *r, tacit_noise *noise,
                                 tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    tacit__capri_epoch now = tacit__capri_look(agent->planner);
    tacit_error reason = {0};
    const tacit__epochs_options o = {
        .dimension = agent->rank,
        .n_epochs = now.n_epochs - 1,
        .users = now.n_feeding,
        .guarantee = q->guarantee,
        .published_scale = is_published(q) ? published_scale(q) : 0,
    };
    agent->guarantee = q->guarantee;
    agent->published = o.published_scale;
    agent->norm = tacit__pairs_norm(r, NORM);
    tacit_status status = tacit__epochs_create(&o, noise, &agent->curator, &reason);
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    tacit__capri_start(agent->planner, tacit__epochs_scale(agent->curator));
    agent->shown = tacit__alloc((now.n_epochs - 1) * agent->rank, sizeof *agent->shown);
    return agent->shown != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

static void set_fingerprint(capri_agent *agent, const tacit__reading *r,
                            const tacit__capri_options *o)
{
    const double numbers[] = {o->bonus_scale, o->noise_scale, o->failure, o->norm, o->tau,
                              o->copies,      o->tol,         o->epsilon, o->delta};
    const uint64_t sizes[] = {o->users,
                              (uint64_t)o->width,
                              o->sampled,
                              o->rank,
                              o->balanced,
                              o->greedy,
                              o->local,
                              agent->rank,
                              (uint64_t)r->request->guarantee.model,
                              (uint64_t)r->request->calibration};
    const tacit__bytes parts[] = {
        {numbers, sizeof numbers},
        {sizes, sizeof sizes},
        {r->values[KERNEL].text, strlen(r->values[KERNEL].text) + 1},
        {agent->pairs.points, agent->pairs.n_contexts * agent->pairs.n_actions *
                                  agent->pairs.kernel.dimension * sizeof(double)}};
    tacit__digest(parts, sizeof parts / sizeof *parts, agent->request);
}

static tacit_status build(capri_agent *agent, const tacit__reading *r, tacit_noise *noise,
                          tacit_error *err)
{
    tacit__capri_options o;
    tacit_status status = tacit__pairs_read(r, KERNEL, &agent->pairs, err);
    if (status == TACIT_OK)
        status = read_options(r, &o, err);
    if (status != TACIT_OK)
        return status;
    o.pairs = agent->pairs;
    o.words = draw_words;
    o.context = &agent->chance;
    agent->n_users = o.users;
    status = check_size(r, &o, err);
    if (status != TACIT_OK)
        return status;
    tacit_noise *fixed = NULL; /* public chance needs no secret, but a source */
    if (noise == NULL && (status = tacit_noise_create_simulated(1, &fixed)) != TACIT_OK)
        return tacit__fail_plain(err, status);
    tacit__site_open(&agent->chance, noise != NULL ? noise : fixed, "public: points of epochs");
    tacit_noise_destroy(fixed);
    status = tacit__capri_create(&o, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    agent->rank = tacit__capri_rank(agent->planner);
    set_fingerprint(agent, r, &o);
    agent->remark = o.width == TACIT__WIDTH_THEORY
                        ? "the printed width drops nothing before some 1e11 users: uniform play"
                    : o.bonus_scale < 1
                        ? "bonus_scale below 1: good actions may be dropped, the regret theorem "
                          "does not apply; privacy does not depend on it"
                        : "";
    return make_curator(agent, r, noise, err);
}

static tacit_status create(size_t kind, const tacit_agent_request *request, tacit_noise *noise,
                           void **out, tacit_error *err)
{
    tacit__reading r;
    if (request->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, request->file, (size_t)request->line,
                              "capri has the calibrations tight and published");
    tacit_status status = tacit__reading_open(request, &kinds[kind], &r, err);
    if (status != TACIT_OK)
        return status;
    capri_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    status = build(agent, &r, noise, err);
    if (status != TACIT_OK) {
        destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    capri_agent *agent = self;
    tacit__capri_epoch now = tacit__capri_look(agent->planner);
    (void)err;
    *out = (tacit_billboard){.version = now.number + 1, .mixed = now.mixed};
    return TACIT_OK;
}

/* The epoch is over: show its sum, go on to the next. */
static tacit_status close_epoch(capri_agent *agent, size_t size, tacit_error *err)
{
    double *sum = agent->shown + agent->n_shown * agent->rank;
    tacit_status status = tacit__epochs_show(agent->curator, size, sum, err);
    if (status != TACIT_OK)
        return status;
    tacit__capri_close(agent->planner, sum);
    agent->n_shown++;
    agent->in_epoch = 0;
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    capri_agent *agent = self;
    tacit__capri_epoch now = tacit__capri_look(agent->planner);
    size_t pair;
    tacit_status status = tacit__pairs_find(&agent->pairs, user, &pair, err);
    if (status != TACIT_OK)
        return status;
    if (agent->users == agent->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)agent->n_users);
    if (!now.last) {
        const tacit__estimator *e = now.estimator;
        if (e->place[pair] == SIZE_MAX)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "the action is not on the billboard for this context");
        status = tacit__epochs_add(agent->curator, e->p, e->v + e->place[pair] * e->p,
                                   2 * user->rewards[0] - 1, err);
        if (status != TACIT_OK)
            return status;
    }
    agent->users++;
    if (++agent->in_epoch == now.users && !now.last)
        return close_epoch(agent, now.estimator->p, err);
    return TACIT_OK;
}

/* --- Saving: header, public sums, the curator's state, checksum ---------------------------------- */

#define MAGIC 0x7461636974636170U /* "tacitcap" */

typedef struct header {
    uint64_t magic, size, users, in_epoch, n_shown;
    uint8_t request[TACIT__KEY_BYTES], chance[TACIT__KEY_BYTES];
} header;

static size_t sums_size(const capri_agent *agent)
{
    return (tacit__capri_look(agent->planner).n_epochs - 1) * agent->rank * sizeof *agent->shown;
}

static size_t saved_size(const capri_agent *agent)
{
    return sizeof(header) + sums_size(agent) + tacit__epochs_saved_size(agent->curator) +
           TACIT__KEY_BYTES;
}

static tacit_status save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const capri_agent *agent = self;
    size_t needed = saved_size(agent);
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    header h = {.magic = MAGIC,
                .size = needed,
                .users = agent->users,
                .in_epoch = agent->in_epoch,
                .n_shown = agent->n_shown};
    memcpy(h.request, agent->request, sizeof h.request);
    memcpy(h.chance, agent->chance.key, sizeof h.chance);
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, agent->shown, sums_size(agent));
    tacit__epochs_save(agent->curator, at + sizeof h + sums_size(agent));
    tacit__digest(&(tacit__bytes){bytes, needed - TACIT__KEY_BYTES}, 1,
                  at + needed - TACIT__KEY_BYTES);
    *size = needed;
    return TACIT_OK;
}

static tacit_status check_saved(const capri_agent *agent, const void *bytes, size_t size, header *h,
                                tacit_error *err)
{
    uint8_t digest[TACIT__KEY_BYTES];
    if (size < sizeof *h + sizeof digest)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few for a saved learner", size);
    memcpy(h, bytes, sizeof *h);
    tacit__digest(&(tacit__bytes){bytes, size - sizeof digest}, 1, digest);
    if (h->magic != MAGIC || h->size != size ||
        memcmp(digest, (const uint8_t *)bytes + size - sizeof digest, sizeof digest) != 0)
        return tacit__fail(err, TACIT_CORRUPT,
                           "this is no saved learner, or a damaged one: its checksum does not "
                           "match");
    if (size != saved_size(agent) || memcmp(h->request, agent->request, sizeof h->request) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN, "the saved learner is another one");
    /* Points of epochs are drawn by public chance, which must be the same. */
    if (memcmp(h->chance, agent->chance.key, sizeof h->chance) != 0)
        return tacit__fail(err, TACIT_WRONG_PLAN,
                           "the saved learner drew its points from another source of chance");
    if (h->users > agent->n_users || h->n_shown >= tacit__capri_look(agent->planner).n_epochs)
        return tacit__fail(err, TACIT_CORRUPT, "the saved learner contradicts itself");
    if (agent->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a saved state is loaded into a fresh learner");
    return TACIT_OK;
}

static tacit_status load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    capri_agent *agent = self;
    header h;
    tacit_status status = check_saved(agent, bytes, size, &h, err);
    const uint8_t *at = (const uint8_t *)bytes + sizeof h;
    if (status == TACIT_OK)
        status = tacit__epochs_load(agent->curator, at + sums_size(agent), err);
    if (status != TACIT_OK)
        return status;
    memcpy(agent->shown, at, sums_size(agent));
    agent->users = h.users;
    agent->in_epoch = h.in_epoch;
    agent->n_shown = (size_t)h.n_shown;
    for (size_t i = 0; i < agent->n_shown; i++) /* the planner follows from what was shown */
        tacit__capri_close(agent->planner, agent->shown + i * agent->rank);
    return TACIT_OK;
}

static tacit_ledger *ledger(const void *self)
{
    return tacit__epochs_ledger(((const capri_agent *)self)->curator);
}

static const char *remark(const void *self)
{
    return ((const capri_agent *)self)->remark;
}

/* --- Forecast ------------------------------------------------------------------------------------ */

/* Estimates whose predicted error is a sixth of the mean reward's norm were seen to be enough, those with more than a
 * quarter of it not; in between it depends on the function. Squares, so that twice the bound is not quite a quarter. */
static double burden(const void *context, double users, double epsilon)
{
    const capri_agent *agent = context;
    double mu, scale = agent->published * agent->guarantee.epsilon / epsilon;
    if (agent->published <= 0) {
        if (tacit_gdp_mu(epsilon, agent->guarantee.delta, &mu) != TACIT_OK)
            return (double)NAN;
        scale = 2 / mu;
    }
    double error = tacit__capri_predict(agent->planner, users, scale) / agent->norm;
    return 36 * error * error;
}

static void forecast(const void *self, tacit_forecast *out)
{
    const capri_agent *agent = self;
    char what[80];
    (void)snprintf(what, sizeof what, "%zu contexts, %zu actions, rank %zu",
                   agent->pairs.n_contexts, agent->pairs.n_actions, agent->rank);
    tacit__forecast(burden, agent, agent->n_users, agent->guarantee, what,
                    "to beat the best constant action", out);
}

const tacit__family tacit__family_capri = {
    .kinds = kinds,
    .n_kinds = sizeof kinds / sizeof *kinds,
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .save = save,
    .load = load,
    .ledger = ledger,
    .remark = remark,
    .forecast = forecast,
};
