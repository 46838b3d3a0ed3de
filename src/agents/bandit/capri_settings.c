/* The settings of capri.
 *
 * Presets (docs/why/kernel.md#widths); every setting can be given by itself as well.
 *
 *     preset       width     omega  zeta  tau   copies  points S  tol   schedule  last epoch
 *     recommended  pairwise  0.1    1     auto  8       all       1e-4  sized     greedy
 *     cautious     pairwise  0.3    2     auto  8       all       1e-4  balanced  greedy
 *     faithful     max4      0.1    -     1     1       drawn     1e-8  paper     uniform
 *     published    theory    1      -     1     1       drawn     1e-8  paper     uniform
 *
 * Published calibration: sigma_0 = sigma_max (4 B ln T / epsilon) sqrt(ln(1.25 ln T / delta)) on
 * every coordinate of the sum of y v; vectors divided by B sigma_max instead of their length have
 * the constant (4 ln T / epsilon) sqrt(...). */
#include <math.h>
#include <stdio.h>

#include "agents/bandit/capri_agent.h"
#include "base/error.h"
#include "plan/posterior/kernel_features.h"

#define EXPLORING 2       /* chosen on kernel-bandit, seeds 101 to 104 */
enum { RULE_RANK = 300 }; /* features that the rule looks at: more than noise leaves */

static const tacit_parameter parameters[] = {
    TACIT__TEXT("preset", "",
                "recommended (the default), cautious, faithful or published (the default with that "
                "calibration)"),
    TACIT__PAIRS_PARAMETERS,
    TACIT__REAL("bonus_scale", "", 0, 1e6,
                "omega: multiplies the statistical width and the bias; 1 is near the bound"),
    TACIT__REAL("noise_scale", "", 0, 1e6,
                "zeta: standard deviations of privacy noise in a pairwise width"),
    TACIT__REAL("failure", "0.05", 1e-12, 0.5, "probability that the bounds fail"),
    TACIT__TEXT("width", "", "pairwise, pointwise, max4 or theory"),
    TACIT__REAL("tau", "", 0, 1e9, "regularizer; 0: chosen in every epoch"),
    TACIT__REAL("copies", "", 0, 1000,
                "covariance points drawn for each user; 0: their exact expectation"),
    TACIT__TEXT("points", "", "projection on all active pairs, or on drawn ones"),
    TACIT__REAL("tol", "", 1e-14, 1, "residual at which the projection stops"),
    TACIT__INTEGER("rank", "500", 1, 100000, "largest rank of the projection"),
    TACIT__TEXT(
        "schedule", "",
        "paper: epochs double from sqrt(T); balanced: the last one is half of all; sized: it "
        "is all that a public rule leaves of them"),
    TACIT__TEXT("last", "", "last epoch: greedy or uniform"),
    TACIT__INTEGER(
        "public_seed", "1", 0, 1e15,
        "what is drawn in public, points and covariance points, comes from it; no secret"),
};

static const tacit__agent_row rows[] = {
    {.kind = {"capri", "elimination in epochs on private kernel estimates",
              "Pavlovic, Salgia, Zhao 2025: Differential Privacy in Kernelized Contextual Bandits "
              "via Random Projections",
              TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, parameters,
              TACIT__COUNT(parameters)},
     .print = {.joint = "[PSZ25, eq. 5]: sigma_max (4 B log T / epsilon) sqrt(log(1.25 log T / "
                        "delta)), each epoch",
               .local = "[PSZ25, eq. 5, Alg. 1 line 14]: the same on every report"},
     .curator = &tacit__one_curator}};

const tacit__agent_rows tacit__capri_rows = {rows, TACIT__COUNT(rows)};

enum { PAPER, BALANCED, SIZED }; /* schedules */

static const struct {
    tacit__capri_width width;
    double omega, zeta, tau, copies, tol;
    bool sampled;
    int schedule;
    bool greedy;
} presets[] = {
    {TACIT__WIDTH_PAIRWISE, 0.1, 1, 0, 8, 1e-4, false, SIZED, true},
    {TACIT__WIDTH_PAIRWISE, 0.3, 2, 0, 8, 1e-4, false, BALANCED, true},
    {TACIT__WIDTH_MAX4, 0.1, 1, 1, 1, 1e-8, true, PAPER, false},
    {TACIT__WIDTH_THEORY, 1, 1, 1, 1, 1e-8, true, PAPER, false},
};
enum { RECOMMENDED, CAUTIOUS, FAITHFUL, PUBLISHED };

/* A choice if given; otherwise the index of the default. */
static int choice_or(const tacit__reading *r, const char *parameter, const char *const *names,
                     int otherwise, tacit_error *err)
{
    return tacit__value_of(&r->values, parameter)->given
               ? tacit__value_choose(&r->values, parameter, names, err)
               : otherwise;
}

double tacit__capri_printed(const tacit_agent_request *q)
{
    TACIT__REQUIRE(q->episodes > 0);
    double log_T = fmax(1, log((double)q->episodes));
    return 4 * log_T / q->guarantee.epsilon * sqrt(log(1.25 * log_T / q->guarantee.delta));
}

double tacit__capri_published(const tacit_agent_request *q)
{
    return tacit__is_noise_printed(q) ? tacit__capri_printed(q) : 0;
}

static tacit_status read_options(const tacit__reading *r, tacit__capri_options *out,
                                 tacit_error *err)
{
    static const char *const preset_names[] = {"recommended", "cautious", "faithful", "published",
                                               NULL};
    static const char *const widths[] = {"pairwise", "pointwise", "max4", "theory", NULL};
    static const char *const points[] = {"all", "drawn", NULL};
    static const char *const schedules[] = {"paper", "balanced", "sized", NULL};
    static const char *const lasts[] = {"uniform", "greedy", NULL};
    const tacit_agent_request *q = r->request;
    int preset =
        choice_or(r, "preset", preset_names, tacit__is_published(q) ? PUBLISHED : RECOMMENDED, err);
    if (preset < 0)
        return TACIT_BAD_ARGUMENT;
    int width = choice_or(r, "width", widths, (int)presets[preset].width, err);
    int point = width < 0 ? -1 : choice_or(r, "points", points, presets[preset].sampled, err);
    int schedule =
        point < 0 ? -1 : choice_or(r, "schedule", schedules, presets[preset].schedule, err);
    int last = schedule < 0 ? -1 : choice_or(r, "last", lasts, presets[preset].greedy, err);
    if (last < 0)
        return TACIT_BAD_ARGUMENT;
    *out = (tacit__capri_options){
        .users = q->episodes,
        .width = (tacit__capri_width)width,
        .bonus_scale = tacit__value_or(&r->values, "bonus_scale", presets[preset].omega),
        .noise_scale = tacit__value_or(&r->values, "noise_scale", presets[preset].zeta),
        .failure = tacit__value_real(&r->values, "failure"),
        .norm = tacit__pairs_norm(r),
        .tau = tacit__value_or(&r->values, "tau", presets[preset].tau),
        .copies = tacit__value_or(&r->values, "copies", presets[preset].copies),
        .sampled = point == 1,
        .tol = tacit__value_or(&r->values, "tol", presets[preset].tol),
        .rank = (size_t)tacit__value_of(&r->values, "rank")->integer,
        .balanced = schedule == BALANCED,
        .explore = schedule == SIZED, /* one: by the rule, below */
        .greedy = last == 1,
        .by_sigma_max = tacit__is_noise_printed(q),
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

/* What all visits of one person move, in units of one, if this many users explore. */
static tacit_status column_of(const tacit_agent_request *q, uint64_t explore, double *out,
                              tacit_error *err)
{
    uint64_t ends[3] = {0};
    const size_t n = tacit__capri_explore(q->episodes, explore, ends);
    for (size_t i = 1; i < n; i++)
        ends[i] += ends[i - 1];
    return tacit__epoch_column(q, n - 1, ends, out, err);
}

/* What explore-commit-kernel would explore with, times EXPLORING: estimates are of one epoch's users only,
 * the first third of those who explore is not in the last of them, and bad actions are dropped before it. */
static tacit_status size_epochs(const tacit__reading *r, tacit__capri_options *o, tacit_error *err)
{
    const tacit_guarantee *g = &r->request->guarantee;
    const size_t rank = o->rank < RULE_RANK ? o->rank : RULE_RANK;
    tacit__kernel_features *features = NULL;
    tacit__kernel_noise noise = {.scale = tacit__capri_published(r->request), .local = o->local};
    double mu;
    if (g->model != TACIT_MODEL_NONE && noise.scale <= 0) {
        if (tacit_gdp_mu(g->epsilon, g->delta, &mu) != TACIT_OK)
            return tacit__reading_fail(r, err, TACIT_BAD_ARGUMENT,
                                       "no noise keeps such a guarantee");
        noise.scale = 2 / mu;
    }
    tacit_status status = tacit__kernel_features_create(&o->pairs, rank, o->norm, &features);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    /* The noise of people who come back follows from the epochs, and these from the noise. Begins with visits
     * in different epochs, and goes on while the epochs need more. Published scales stay. */
    enum { ROUNDS = 3 };
    const bool come_back =
        r->request->visits > 1 && noise.scale > 0 && !tacit__is_noise_printed(r->request);
    const double users = (double)o->users, one = noise.scale;
    double column = 0, needed = come_back ? sqrt((double)r->request->visits) : 1;
    for (int round = 0; round < ROUNDS && needed > column && status == TACIT_OK; round++) {
        column = needed;
        noise.scale = one * column;
        const double n =
            EXPLORING * (double)tacit__kernel_features_explore(features, &noise, users);
        o->explore = (uint64_t)fmax(1, fmin(n, floor(users / 2)));
        if (come_back)
            status = column_of(r->request, o->explore, &needed, err);
    }
    tacit__kernel_features_destroy(features);
    return status;
}

tacit_status tacit__capri_read(const tacit__reading *r, tacit__capri_options *out, tacit_error *err)
{
    TACIT__REQUIRE(r != NULL && out != NULL);
    tacit__pairs pairs;
    TRY(tacit__pairs_read(r, &pairs, err));
    TRY(read_options(r, out, err));
    out->pairs = pairs;
    TRY(check_size(r, out, err));
    return out->explore > 0 ? size_epochs(r, out, err) : TACIT_OK;
}

void tacit__capri_write_remark(capri_agent *agent, const tacit__reading *r)
{
    const tacit__capri_options *o = &agent->options;
    const char *warning = tacit__epoch_warn_public(r);
    const char *learning =
        o->width == TACIT__WIDTH_THEORY
            ? "the printed width drops nothing before some 1e11 users: uniform play"
        : o->bonus_scale < 1 ? "bonus_scale below 1: good actions may be dropped, the regret "
                               "theorem does not apply; privacy does not depend on it"
                             : "";
    (void)snprintf(agent->base.remark, sizeof agent->base.remark, "%s%s%s", learning,
                   warning[0] != '\0' && learning[0] != '\0' ? "; " : "", warning);
}
