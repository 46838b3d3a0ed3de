/* What capri can be told.
 *
 * Presets (docs/why/kernel.md#widths); every setting can be given by itself as well.
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

#include "agents/capri_agent.h"
#include "base/error.h"

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

const tacit_agent_kind tacit__capri_kind = {
    "capri",
    "elimination in epochs on private kernel estimates",
    "Pavlovic, Salgia, Zhao 2025: Differential Privacy in Kernelized Contextual Bandits via "
    "Random "
    "Projections",
    TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL,
    parameters,
    N_PARAMETERS};

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

double tacit__capri_published(const tacit_agent_request *q)
{
    double log_T = fmax(1, log((double)q->episodes));
    return is_published(q)
               ? 4 * log_T / q->guarantee.epsilon * sqrt(log(1.25 * log_T / q->guarantee.delta))
               : 0;
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

tacit_status tacit__capri_read(const tacit__reading *r, tacit__capri_options *out, tacit_error *err)
{
    tacit__pairs pairs;
    tacit_status status = tacit__pairs_read(r, KERNEL, &pairs, err);
    if (status == TACIT_OK)
        status = read_options(r, out, err);
    if (status != TACIT_OK)
        return status;
    out->pairs = pairs;
    return check_size(r, out, err);
}

/* Somebody chose how likely contexts are: they are not all alike. */
static bool has_chosen_weights(const tacit_agent_request *q)
{
    for (size_t i = 1; q->bandit->weights != NULL && i < q->n_states; i++)
        if (q->bandit->weights[i] != q->bandit->weights[0])
            return true;
    return false;
}

void tacit__capri_write_remark(capri_agent *agent, const tacit__reading *r)
{
    const tacit__capri_options *o = &agent->options;
    const bool chosen =
        r->request->guarantee.model != TACIT_MODEL_NONE &&
        (r->values[KERNEL].given || r->values[NORM].given || has_chosen_weights(r->request));
    const char *learning =
        o->width == TACIT__WIDTH_THEORY
            ? "the printed width drops nothing before some 1e11 users: uniform play"
        : o->bonus_scale < 1 ? "bonus_scale below 1: good actions may be dropped, the regret "
                               "theorem does not apply; privacy does not depend on it"
                             : "";
    (void)snprintf(agent->remark, sizeof agent->remark, "%s%s%s", learning,
                   chosen && learning[0] != '\0' ? "; " : "",
                   chosen ? "kernel, norm and weights count as public: if they were fitted on the "
                            "same people, they tell about them, and no noise covers that"
                          : "");
}

void tacit__capri_fingerprint(capri_agent *agent, const tacit__reading *r)
{
    const tacit__capri_options *o = &agent->options;
    const double numbers[] = {o->bonus_scale, o->noise_scale, o->failure, o->norm, o->tau,
                              o->copies,      o->tol,         o->epsilon, o->delta};
    const uint64_t sizes[] = {o->users,
                              (uint64_t)o->width,
                              o->sampled,
                              o->rank,
                              o->balanced,
                              o->greedy,
                              o->local,
                              agent->dimension,
                              (uint64_t)r->request->guarantee.model,
                              (uint64_t)r->request->calibration};
    const tacit__bytes parts[] = {
        {numbers, sizeof numbers},
        {sizes, sizeof sizes},
        {r->values[KERNEL].text, strlen(r->values[KERNEL].text) + 1},
        {o->pairs.points,
         o->pairs.n_contexts * o->pairs.n_actions * o->pairs.kernel.dimension * sizeof(double)}};
    tacit__digest(parts, sizeof parts / sizeof *parts, agent->request);
}
