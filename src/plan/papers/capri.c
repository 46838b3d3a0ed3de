/* CAPRI [PSZ25, Alg. 1]. See capri.h; docs/why/bandits.md tells where it departs from the paper and why.
 *
 * In epoch r every user plays a uniformly drawn active action; afterwards mu(w) = v(w) . g
 * estimates the mean reward, and actions that are surely worse than another one of their context
 * are dropped. Widths (docs/why/kernel.md#widths), all from public numbers; b = 1/2, n_z = 1
 * (joint) or T_r (local), s = scale b length the noise in g:
 *
 *   pairwise   with d = v(w) - v(w'), e = u(w) - u(w'), q = |d|^2 - tau |e|^2, keep w iff for every w' of the context
 *              mu(w) >= mu(w') - { omega [ B (b1 + b2) + z b sqrt((1 + 1/copies) q) ] + zeta s sqrt(n_z) |d| },
 *              b1^2 = tau^2 |e|^2 + res(w - w'), b2^2 = q sum_R omega res(r)
 *   pointwise  width(w) = omega [ B (b1 + b2) + z sqrt(b^2 (1 + 1/copies) q + n_z s^2 |v|^2) ], intervals that overlap
 *   max4       4 omega (B sqrt(tau) + z b + z s sqrt(n_z)) sigma_max, for every pair
 *   theory     4 (beta sigma_max + beta_1 sigma_max^2) as printed
 *
 * b2 is bounded by Cauchy and Schwarz instead of a sum over all pairs. None of the rules can empty
 * a context: the one with the largest estimate stays, since widths are not negative.
 *
 * The last epoch releases nothing. Cost of an epoch: the estimator's, and n_c n_a^2 p for pairwise
 * widths. */
#include "plan/papers/capri.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/pivoted.h"
#include "linalg/symmetric.h"

#define BOUND 0.5      /* b: rewards are in [0, 1], centered */
#define MOST_DRAWN 1e7 /* covariance points: more of them are as good as their expectation */

struct tacit__capri {
    tacit__capri_options o;
    size_t n_pairs, n_epochs, epoch;
    uint64_t length[64], ends[64];
    tacit__estimator *estimator;
    size_t rank;
    double scale; /* of the noise in released sums of unit vectors; 0: none */
    bool *active, *keep;
    double *mixed, *mu, *of_active, *width;
    double *u, *vv, *uu, *pp; /* of one context: [actions][p], [actions][actions] */
};

size_t tacit__capri_schedule(uint64_t users, bool balanced, uint64_t *out)
{
    TACIT__REQUIRE(users > 0);
    double T = (double)users, first = ceil(sqrt(T));
    size_t n = 0;
    if (balanced) {
        double R = fmax(1, floor(log2(T / first + 1)));
        first = ceil(T / (pow(2, R) - 1));
    }
    for (uint64_t left = users, next = (uint64_t)first; left > 0; next *= 2) {
        uint64_t length = next < left ? next : left;
        if (out != NULL)
            out[n] = length;
        n++;
        left -= length;
    }
    return n;
}

size_t tacit__capri_explore(uint64_t users, uint64_t explore, uint64_t *out)
{
    TACIT__REQUIRE(explore > 0);
    const bool all = explore >= users;
    const uint64_t first = all ? 0 : explore / 3;
    const uint64_t lengths[] = {first, all ? 0 : explore - first, all ? users : users - explore};
    size_t n = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (lengths[i] == 0)
            continue;
        if (out != NULL)
            out[n] = lengths[i];
        n++;
    }
    return n;
}

/* --- The next epoch ----------------------------------------------------------------------------- */

static void set_policy(tacit__capri *p)
{
    const size_t A = p->o.pairs.n_actions;
    bool greedy = p->epoch + 1 == p->n_epochs && p->o.greedy && p->epoch > 0;
    for (size_t c = 0; c < p->o.pairs.n_contexts; c++) {
        size_t m = 0, best = c * A;
        for (size_t w = c * A; w < (c + 1) * A; w++) {
            m += p->active[w];
            if (p->active[w] && (!p->active[best] || p->mu[w] > p->mu[best]))
                best = w;
        }
        for (size_t w = c * A; w < (c + 1) * A; w++)
            p->mixed[w] = greedy ? w == best : p->active[w] ? 1 / (double)m : 0;
    }
}

static tacit__estimator_design design_of(const tacit__capri *p)
{
    double users = (double)p->length[p->epoch];
    return (tacit__estimator_design){
        .active = p->active,
        .users = users,
        .copies = p->o.copies * users <= MOST_DRAWN ? p->o.copies : 0,
        .sampled = p->o.sampled,
        .tol = p->o.tol,
        .tau = p->o.tau,
        .bound = BOUND,
        .norm = p->o.norm,
        .noise = p->scale * p->scale * (p->o.local ? users : 1),
        .words = p->o.words,
        .context = p->o.context,
        .stream = p->epoch,
    };
}

static void prepare(tacit__capri *p)
{
    set_policy(p);
    if (p->epoch + 1 == p->n_epochs)
        return;
    tacit__estimator_design design = design_of(p);
    tacit__estimator_build(p->estimator, &design, p->rank);
    if (p->o.by_sigma_max)
        tacit__estimator_divide(p->estimator, p->estimator->sigma_max);
}

tacit_status tacit__capri_create(const tacit__capri_options *options, tacit__capri **out)
{
    const size_t A = options->pairs.n_actions, n = options->pairs.n_contexts * A;
    const size_t rank = options->rank < n ? options->rank : n, row = A * sizeof(double);
    TACIT__REQUIRE(n > 0 && options->users > 0);
    tacit__capri w = {.o = *options, .n_pairs = n, .rank = rank};
    w.n_epochs = options->explore > 0
                     ? tacit__capri_explore(options->users, options->explore, w.length)
                     : tacit__capri_schedule(options->users, options->balanced, w.length);
    for (size_t i = 0; i < w.n_epochs; i++)
        w.ends[i] = w.length[i] + (i > 0 ? w.ends[i - 1] : 0);
    TRY(tacit__estimator_create(&w.o.pairs, rank, &w.estimator));
    tacit__capri *p = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.active, n), TACIT__PIECE(w.keep, n), TACIT__PIECE(w.mixed, n),
        TACIT__PIECE(w.mu, n), TACIT__PIECE(w.of_active, n), TACIT__PIECE(w.width, n),
        {&w.u, rank, row}, {&w.vv, A, row}, {&w.uu, A, row}, {&w.pp, A, row});
    if (p == NULL) {
        tacit__estimator_destroy(w.estimator);
        return TACIT_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++)
        p->active[i] = true;
    if (p->n_epochs >
        1) { /* the rank is needed before the noise is known, and the noise for the rest */
        tacit__estimator_design design = design_of(p);
        tacit__estimator_project(p->estimator, &design, p->rank);
        p->rank = p->estimator->p;
        p->estimator->rank = p->rank;
    }
    *out = p;
    return TACIT_OK;
}

void tacit__capri_destroy(tacit__capri *p)
{
    if (p != NULL)
        tacit__estimator_destroy(p->estimator);
    tacit__workspace_destroy(p);
}

tacit__capri_epoch tacit__capri_get_epoch(const tacit__capri *p)
{
    return (tacit__capri_epoch){.number = p->epoch,
                                .n_epochs = p->n_epochs,
                                .users = p->length[p->epoch],
                                .ends = p->ends,
                                .last = p->epoch + 1 == p->n_epochs,
                                .estimator = p->estimator,
                                .mixed = p->mixed};
}

void tacit__capri_start(tacit__capri *p, double scale)
{
    TACIT__REQUIRE(scale >= 0 && p->epoch == 0);
    p->scale = scale;
    prepare(p);
}

/* --- Elimination -------------------------------------------------------------------------------- */

/* Pairs of actions that are compared. */
static double n_comparisons(const tacit__estimator *e)
{
    double n = 0;
    for (size_t c = 0; c < e->pairs.n_contexts; c++) {
        double m = (double)(e->start[c + 1] - e->start[c]);
        n += m * (m - 1) / 2;
    }
    return fmax(1, n);
}

static double quantile(const tacit__capri *p, double events)
{
    return sqrt(2 * log(2 * events * (double)p->n_epochs / p->o.failure));
}

/* Standard deviation of the noise in g = sum y v, v as long as they are. */
static double noise_in_sum(const tacit__capri *p)
{
    const tacit__estimator *e = p->estimator;
    double users = p->o.local ? (double)p->length[p->epoch] : 1;
    return p->scale * BOUND * e->length * sqrt(users);
}

/* u of n columns from place `first` on, as long as they are. */
static void fill_u(tacit__capri *p, size_t first, size_t n)
{
    const tacit__estimator *e = p->estimator;
    for (size_t i = 0; i < n * e->p; i++)
        p->u[i] = e->length * e->v[first * e->p + i];
    tacit__solve_upper_many(e->p, n, e->factor, p->u);
}

static void pairwise(tacit__capri *p)
{
    const tacit__estimator *e = p->estimator;
    const double z = quantile(p, n_comparisons(e)), noise = p->o.noise_scale * noise_in_sum(p);
    const double more = e->copies > 0 ? 1 + 1 / e->copies : 1, tau = e->tau;
    for (size_t c = 0; c < e->pairs.n_contexts; c++) {
        size_t first = e->start[c], m = e->start[c + 1] - first;
        const double *v = e->v + first * e->p;
        fill_u(p, first, m);
        tacit__products(e->p, m, m, v, v, p->vv);
        tacit__products(e->p, m, m, p->u, p->u, p->uu);
        tacit__products(e->p, m, m, e->psi + first * e->p, e->psi + first * e->p, p->pp);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m && p->keep[first + i]; j++) {
                if (j == i || p->of_active[first + i] >= p->of_active[first + j])
                    continue;
                size_t ii = i * m + i, jj = j * m + j, ij = i * m + j;
                const double *x = e->pairs.points + e->which[first + i] * e->pairs.kernel.dimension;
                const double *y = e->pairs.points + e->which[first + j] * e->pairs.kernel.dimension;
                double d2 = e->length * e->length * fmax(0, p->vv[ii] + p->vv[jj] - 2 * p->vv[ij]);
                double e2 = fmax(0, p->uu[ii] + p->uu[jj] - 2 * p->uu[ij]);
                double q = fmax(0, d2 - tau * e2);
                double rest = tacit__kernel_value(&e->pairs.kernel, x, y) - p->pp[ij];
                double res = fmax(0, e->residual[first + i] + e->residual[first + j] - 2 * rest);
                double bias = p->o.norm * (sqrt(tau * tau * e2 + res) + sqrt(q * e->leak));
                double width =
                    p->o.bonus_scale * (bias + z * BOUND * sqrt(more * q)) + noise * sqrt(d2);
                p->keep[first + i] = p->of_active[first + i] >= p->of_active[first + j] - width;
            }
    }
}

static void pointwise(tacit__capri *p)
{
    const tacit__estimator *e = p->estimator;
    const double z = quantile(p, (double)e->n), noise = noise_in_sum(p), tau = e->tau;
    const double more = e->copies > 0 ? 1 + 1 / e->copies : 1;
    for (size_t c = 0; c < e->pairs.n_contexts; c++) {
        size_t first = e->start[c], m = e->start[c + 1] - first;
        double highest = -HUGE_VAL;
        fill_u(p, first, m);
        for (size_t i = 0; i < m; i++) {
            double u2 = 0, v2 = e->square[first + i];
            for (size_t j = 0; j < e->p; j++)
                u2 += p->u[i * e->p + j] * p->u[i * e->p + j];
            double q = fmax(0, v2 - tau * u2);
            double bias = sqrt(tau * tau * u2 + e->residual[first + i]) + sqrt(q * e->leak);
            p->width[i] =
                p->o.bonus_scale *
                (p->o.norm * bias + z * sqrt(BOUND * BOUND * more * q + noise * noise * v2));
            highest = fmax(highest, p->of_active[first + i] - p->width[i]);
        }
        for (size_t i = 0; i < m; i++)
            p->keep[first + i] = p->of_active[first + i] + p->width[i] >= highest;
    }
}

/* One threshold for all: keep what is within it of its context's best. */
static void threshold(tacit__capri *p, double width)
{
    const tacit__estimator *e = p->estimator;
    for (size_t c = 0; c < e->pairs.n_contexts; c++) {
        double highest = -HUGE_VAL;
        for (size_t i = e->start[c]; i < e->start[c + 1]; i++)
            highest = fmax(highest, p->of_active[i]);
        for (size_t i = e->start[c]; i < e->start[c + 1]; i++)
            p->keep[i] = p->of_active[i] >= highest - width;
    }
}

static double width_max4(const tacit__capri *p)
{
    const tacit__estimator *e = p->estimator;
    double z = quantile(p, (double)e->n);
    return 4 * p->o.bonus_scale * (p->o.norm * sqrt(e->tau) + z * BOUND + z * noise_in_sum(p)) *
           e->sigma_max;
}

/* B is one constant for norm and rewards. */
tacit__capri_betas tacit__capri_theory(const tacit__capri_options *o, double tau, uint64_t users)
{
    const double n_pairs = (double)(o->pairs.n_contexts * o->pairs.n_actions);
    const double T = (double)o->users, B = fmax(o->norm, BOUND), log_T = fmax(1, log(T));
    const double d = o->failure / (n_pairs * T * log_T);
    tacit__capri_betas out = {.beta = 90 * B * sqrt(log(168 * T / d)) +
                                      52 * B * sqrt(log(168 * T / d) * log(12 / d)) / sqrt(tau) +
                                      3 * B * sqrt(2 * log(6 / d)) + sqrt(24 * tau)};
    if (o->delta > 0 && o->epsilon > 0)
        out.beta_1 = 8 * B * log_T / o->epsilon * log(3 / d) * sqrt(log(1.25 * log_T / o->delta)) *
                     (o->local ? sqrt((double)users) : 1);
    return out;
}

/* [PSZ25, eq. 7] */
static double width_theory(const tacit__capri *p)
{
    const tacit__estimator *e = p->estimator;
    const tacit__capri_betas b = tacit__capri_theory(&p->o, e->tau, p->length[p->epoch]);
    return 4 *
           (b.beta * e->sigma_max + (p->scale > 0 ? b.beta_1 : 0) * e->sigma_max * e->sigma_max);
}

void tacit__capri_close(tacit__capri *p, const double *sum)
{
    TACIT__REQUIRE(sum != NULL && p->epoch + 1 < p->n_epochs);
    const tacit__estimator *e = p->estimator;
    double unit = BOUND * e->length * e->length; /* mu = v . g, both as long as they are */
    tacit__inner_many(e->p, e->n, e->v, sum, p->of_active);
    for (size_t i = 0; i < e->n; i++) {
        p->of_active[i] *= unit;
        p->keep[i] = true;
    }
    if (p->o.width == TACIT__WIDTH_PAIRWISE)
        pairwise(p);
    else if (p->o.width == TACIT__WIDTH_POINTWISE)
        pointwise(p);
    else
        threshold(p, p->o.width == TACIT__WIDTH_MAX4 ? width_max4(p) : width_theory(p));
    for (size_t i = 0; i < e->n; i++) {
        p->mu[e->which[i]] = p->of_active[i] + 0.5;
        p->active[e->which[i]] = p->keep[i];
    }
    p->epoch++;
    prepare(p);
}

const double *tacit__capri_estimates(const tacit__capri *p)
{
    return p->mu;
}

const bool *tacit__capri_active(const tacit__capri *p)
{
    return p->active;
}

/* --- The table ----------------------------------------------------------------------------------- */

static tacit_status create_planner(const void *options, void **out)
{
    tacit__capri *made = NULL;
    tacit_status status = tacit__capri_create(options, &made);
    *out = made;
    return status;
}

static void destroy_planner(void *planner)
{
    tacit__capri_destroy(planner);
}

static void start_planner(void *planner, double scale)
{
    tacit__capri_start(planner, scale);
}

static tacit__epoch get_epoch(const void *planner)
{
    const tacit__capri *p = planner;
    const tacit__capri_epoch now = tacit__capri_get_epoch(p);
    return (tacit__epoch){.number = now.number,
                          .n_epochs = now.n_epochs,
                          .users = now.users,
                          .ends = now.ends,
                          .last = now.last,
                          .mixed = now.mixed,
                          .p = now.estimator->p,
                          .most = p->rank, /* of the first epoch: no later one has a larger one */
                          .v = now.estimator->v,
                          .place = now.estimator->place};
}

static void close_planner(void *planner, const double *sum)
{
    tacit__capri_close(planner, sum);
}

const tacit__epoch_planner tacit__capri_planner = {.create = create_planner,
                                                   .destroy = destroy_planner,
                                                   .start = start_planner,
                                                   .get = get_epoch,
                                                   .close = close_planner};
