/* posterior-kernel, and explore-commit-kernel, the baseline that it must beat: sums in growing batches
 * (agents/bandit/epoch_agent.c), and policies by the posterior of the mean reward (kernel_planner.c), which
 * for the second is one greedy policy after one release.
 *
 * How likely contexts are must be known, or learned: what a batch tells depends on who was in it. If it is
 * declared (weights), it is taken from there; else users add their context to what is released, with a
 * sixteenth of the squared length of a vector.
 *
 * There is no regret theorem, and no paper: what they are worth is measured, docs/why/posterior-kernel.md. */
#include <math.h>
#include <stdio.h>

#include "agents/bandit/epoch_agent.h"
#include "base/error.h"
#include "base/memory.h"
#include "contribute/user_check.h"
#include "plan/posterior/kernel_planner.h"
#include "release/schedule.h"

#define CELL 0.25        /* of a vector's length, for the context */
#define LEAST_GROWTH 1.1 /* more releases than some hundred are not worth their policies */

typedef struct posterior_parts {
    bool commits; /* explore-commit-kernel */
} posterior_parts;

#define SHARED                                                                                     \
    TACIT__PAIRS_PARAMETERS,                                                                       \
        TACIT__TEXT("contexts", "auto",                                                            \
                    "how likely they are: known (declared, or all alike), learned, or auto "       \
                    "(learned unless declared)"),                                                  \
        TACIT__INTEGER("rank", "500", 1, 100000, "features of the kernel, at most")

static const tacit_parameter posterior_parameters[] = {
    SHARED,
    TACIT__REAL("growth", "1.5", LEAST_GROWTH, 100, "of the users from release to release"),
    TACIT__REAL("boldness", "1", 0, 100,
                "how many standard deviations of the posterior bold users hope for, on a "
                "half-normal scale"),
    TACIT__REAL("mildness", "0.5", 0, 100, "the same of all users beyond the quota of bold ones"),
    TACIT__INTEGER("first", "0", 0, 1e15, "users before the first release; 0: by a public rule"),
};

static const tacit_parameter commit_parameters[] = {
    SHARED,
    TACIT__INTEGER("explore", "0", 0, 1e15,
                   "users who act at random before the release; 0: by a public rule"),
};

static const tacit__agent_row kinds[] = {
    {.kind = {"posterior-kernel",
              "bold and mild users by the posterior from few releases; kernel bandits, our own, no "
              "theorem",
              "ours: docs/why/posterior-kernel.md",
              TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL, posterior_parameters,
              TACIT__COUNT(posterior_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const posterior_parts){.commits = false}},
    {.kind = {"explore-commit-kernel",
              "random actions, one release, then the best actions from it for all later users: a "
              "baseline for kernel bandits",
              "folklore", TACIT_AGENT_NONE | TACIT_AGENT_JOINT | TACIT_AGENT_LOCAL,
              commit_parameters, TACIT__COUNT(commit_parameters)},
     .curator = &tacit__one_curator,
     .parts = &(const posterior_parts){.commits = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

typedef struct posterior_kernel_agent {
    tacit__epoch_agent base;
    tacit__kernel_planner_options options;
} posterior_kernel_agent;

/* --- Settings ------------------------------------------------------------------------------------ */

/* Tables of pairs and features, in doubles before anything is multiplied in integers. */
static tacit_status check_size(const tacit__reading *r, const tacit__kernel_planner_options *o,
                               tacit_error *err)
{
    const double n = (double)o->pairs.n_contexts * (double)o->pairs.n_actions,
                 rank = fmin(n, (double)o->rank), bytes = 8 * (5 * n * rank + 12 * rank * rank);
    if (bytes <= 0x1p33)
        return TACIT_OK;
    return tacit__reading_fail(
        r, err, TACIT_TOO_LARGE,
        "%.0f pairs of contexts and actions at rank %.0f would take %.1f GB; set a smaller rank", n,
        rank, bytes / 1e9);
}

static tacit_status read_cell(const tacit__reading *r, double *out, tacit_error *err)
{
    static const char *const choices[] = {"auto", "known", "learned", NULL};
    const int choice = tacit__value_choose(&r->values, "contexts", choices, err);
    if (choice < 0)
        return TACIT_BAD_ARGUMENT;
    const bool learned = choice == 2 || (choice == 0 && r->request->bandit->weights == NULL);
    *out = learned ? CELL : 0;
    return TACIT_OK;
}

/* Of sums of unit vectors, which move by at most 2. */
static tacit_status set_noise(const tacit_guarantee *g, double epsilon, tacit__kernel_noise *out)
{
    double mu;
    *out = (tacit__kernel_noise){.local = g->model == TACIT_MODEL_LOCAL};
    if (g->model == TACIT_MODEL_NONE)
        return TACIT_OK;
    tacit_status status = tacit_gdp_mu(epsilon, g->delta, &mu);
    out->scale = status == TACIT_OK ? 2 / mu : 0;
    return status;
}

/* What all visits of one person move in batches for this noise, in units of one, and the users of the first
 * of these. */
static tacit_status column_of(const tacit_agent_request *q, const tacit__kernel_planner_options *o,
                              double *out, uint64_t *first, tacit_error *err)
{
    void *planner = NULL;
    tacit_status status = tacit__kernel_planner.create(o, &planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    const tacit__epoch now = tacit__kernel_planner.get(planner);
    *first = now.ends[0];
    status = tacit__epoch_column(q, now.n_epochs - 1, now.ends, out, err);
    tacit__kernel_planner.destroy(planner);
    return status;
}

/* The loss that is predicted if the last release is at o->last, and its first one after this many users. */
static tacit_status predict(const tacit_agent_request *q, const tacit__kernel_planner_options *o,
                            uint64_t first, double wanted, double *loss, tacit_error *err)
{
    const size_t n = tacit__kernel_planner_schedule(o, first, NULL);
    uint64_t *ends = tacit__alloc(n, sizeof *ends);
    double column = 0;
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)tacit__kernel_planner_schedule(o, first, ends);
    const uint64_t shown = n > 1 ? ends[n - 2] : 0;
    tacit_status status = n > 1 ? tacit__epoch_column(q, n - 1, ends, &column, err) : TACIT_OK;
    *loss = n > 1 && status == TACIT_OK
                ? tacit__schedule_loss((double)o->users, (double)shown,
                                       TACIT__SCHEDULE_KNOWN * wanted * column)
                : HUGE_VAL;
    tacit__free(ends);
    return status;
}

/* When to stop, if people come back: where the least loss is predicted, from public numbers alone
 * (docs/why/returning.md#when-to-stop). The first batch grows with the noise of the visits before. */
static tacit_status find_last(const tacit_agent_request *q, tacit__kernel_planner_options *o,
                              tacit_error *err)
{
    uint64_t one = 0, best = 0;
    double least = HUGE_VAL, column = 0, loss = 0;
    TRY(column_of(q, o, &column, &one, err));
    for (int i = 0; i < TACIT__SCHEDULE_LASTS; i++) {
        o->last = tacit__schedule_last(o->users, i);
        const double visits = tacit__visits_within(q->visits, q->apart, o->last);
        const uint64_t first = (uint64_t)ceil((double)one * sqrt(visits));
        if (first >= o->last)
            break;
        TRY(predict(q, o, first, (double)one, &loss, err));
        if (loss < least) {
            least = loss;
            best = o->last;
        }
    }
    o->last = best;
    return TACIT_OK;
}

/* Batches follow from the noise, and the noise of people who come back from the batches. Begins
 * with visits in different batches, and goes on while the batches need more. All of it is public. */
static tacit_status add_visits(const tacit_agent_request *q, tacit__kernel_planner_options *o,
                               tacit_error *err)
{
    enum { ROUNDS = 3 };
    const double one = o->noise.scale;
    uint64_t first = 0;
    if (!o->commits && !o->noise.local && o->first == 0)
        TRY(find_last(q, o, err));
    const uint64_t fit = o->last > 0 && q->apart > 0 ? 1 + (o->last - 1) / q->apart : q->visits;
    double column = 0, needed = sqrt((double)(q->visits < fit ? q->visits : fit));
    for (int round = 0; round < ROUNDS && needed > column; round++) {
        column = needed;
        o->noise.scale = one * column;
        TRY(column_of(q, o, &needed, &first, err));
    }
    return TACIT_OK;
}

static tacit_status read_options(const tacit__reading *r, bool commits,
                                 tacit__kernel_planner_options *o, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    TRY(tacit__pairs_read(r, &o->pairs, err));
    o->users = q->episodes;
    o->rank = (size_t)tacit__value_of(&r->values, "rank")->integer;
    o->norm = tacit__pairs_norm(r);
    o->commits = commits;
    o->first = (uint64_t)tacit__value_of(&r->values, commits ? "explore" : "first")->integer;
    if (!commits) {
        o->growth = tacit__value_real(&r->values, "growth");
        o->boldness = tacit__value_real(&r->values, "boldness");
        o->rest = tacit__value_real(&r->values, "mildness");
    }
    TRY(read_cell(r, &o->cell, err));
    TRY(check_size(r, o, err));
    tacit_status status = set_noise(&q->guarantee, q->guarantee.epsilon, &o->noise);
    if (status != TACIT_OK)
        return tacit__reading_fail(r, err, status, "no noise keeps such a guarantee");
    return q->visits > 1 && q->guarantee.model != TACIT_MODEL_NONE ? add_visits(q, o, err)
                                                                   : TACIT_OK;
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    posterior_kernel_agent *agent = self;
    tacit__kernel_planner_options *o = &agent->options;
    tacit__epoch_agent *base = &agent->base;
    const char *warning;
    TRY(read_options(r, ((const posterior_parts *)base->base.row->parts)->commits, o, err));
    base->kind = &tacit__kernel_planner;
    base->options = o;
    base->pairs = o->pairs;
    base->cells = o->cell > 0 ? o->pairs.n_contexts : 0;
    base->cell = o->cell;
    warning = tacit__epoch_warn_public(r);
    (void)snprintf(base->remark, sizeof base->remark,
                   "there is no regret theorem; privacy does not depend on one%s%s",
                   warning[0] != '\0' ? "; " : "", warning);
    return tacit__epoch_build(base, r, noise, err);
}

const tacit__family tacit__family_posterior_kernel = {
    .rows = &rows,
    .by_billboard = true,
    .no_pure = "its noise is Gaussian",
    .size = sizeof(posterior_kernel_agent),
    .check = tacit__check_batches,
    .build = build,
    TACIT__EPOCH_FAMILY,
};
