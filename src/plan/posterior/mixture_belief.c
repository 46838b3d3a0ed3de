/* See mixture_belief.h and docs/why/posterior-mixture.md#the-posterior.
 *
 * The sum X of the scores of batch k at step h has, given who was where,
 *
 *     E X = J (1/d + B z),     J B = sum_{s,a} visits(s, a) gain(s, a),   J 1/d = sum visits base,
 *     cov X <= R = noise^2 I + sum_{s,a} visits(s, a) sum_s' P(s' | s, a) T T',
 *
 * and who was where is computed, not released: `visits` follows from the public plans, from the
 * start's estimate and from the present mean. The prior is z ~ N(0, I / (2d)), the spread of weights
 * that are uniform in the simplex, up to a factor near 1. So
 *
 *     precision = 2d I + sum_k (J B)' R^-1 (J B),    target = sum_k (J B)' R^-1 (X - J 1/d),
 *
 * and the mean is precision^-1 target, projected onto the simplex. Means and visits depend on each
 * other: ROUNDS passes, each over all batches. They begin with the last mean, and may end with a wrong
 * one that agrees with itself: whoever believes that a dose does not help expects people where it does
 * not help. Then the sums do not fit: their squared residuals, each over its deviation, are DOUBT
 * deviations above what they can be on average. So passes begin elsewhere too, and what fits best
 * stays. Where all steps have the same weights, the steps' sums are added like batches.
 *
 * Rewards that are learned have cells of their own: the sum Y of y - 1/2 in the cell of a pair that v
 * users are expected to have come to has the mean v r and a variance of at most noise^2 + v u, where u =
 * 1/4 - r^2 is the most that rewards between 0 and 1 with that mean can have; and r ~ N(0, 1/12):
 *
 *     precision = 12 + sum_k v^2 / (noise^2 + v u),    mean = sum_k v Y / (noise^2 + v u) / precision.
 *
 * r is not known, so there are two passes: the first one with u = 1/4, the second with its mean.
 *
 * First states are counted with noise as well (played_batch.h). */
#include "plan/posterior/mixture_belief.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"

enum { ROUNDS = 3 };          /* two are nearly as good */
#define DOUBT 4.0             /* deviations of the misfit, above which fits begin elsewhere, too */
#define PEAK 0.7              /* the weight on which such a fit begins, above the others */
#define REWARD_PRECISION 12.0 /* of r: rewards that are even in [0, 1] have the variance 1/12 */
#define REWARD_VARIANCE 0.25  /* of one reward, at most: if it is 0 or 1, and each is as likely */
#define LEAST_VARIANCE 0.01   /* the same where the mean seems to be 0 or 1 */

static double *table_of(const tacit__mixture_belief *p, double *tables, size_t step, size_t size)
{
    return tables + (p->tables == 1 ? 0 : step) * size;
}

static size_t reward_tables(const tacit__mixture_belief *p)
{
    return p->tables == 1 ? 1 : p->steps + 1;
}

/* Steps that users are followed through: the last one tells of rewards alone. */
static size_t followed(const tacit__mixture_belief *p)
{
    return p->steps + (p->model->learns_rewards ? 1 : 0);
}

/* The standard deviation of each weight: the length of L^-1 B' e_j, whose B' e_j is a column of the basis. */
static void measure_deviations(tacit__mixture_belief *p, size_t table)
{
    const tacit__mixture_model *m = p->model;
    const size_t w = m->width, d = m->parts;
    for (size_t j = 0; j < d; j++) {
        double square = 0;
        for (size_t i = 0; i < w; i++)
            p->rest[i] = m->basis[i * d + j];
        tacit__solve_lower(w, p->factor + table * w * w, p->rest);
        for (size_t i = 0; i < w; i++)
            square += p->rest[i] * p->rest[i];
        p->deviation[table * d + j] = sqrt(square);
    }
}

/* Weights 1/d, even starts, the prior's precision. */
static void forget(tacit__mixture_belief *p)
{
    const size_t w = p->model->width, d = p->model->parts;
    for (size_t i = 0; i < p->tables * d; i++)
        p->weights[i] = 1 / (double)d;
    for (size_t s = 0; s < p->model->n_states; s++)
        p->start[s] = 1 / (double)p->model->n_states;
    for (size_t i = 0; i < p->tables * w; i++)
        p->factor[i / w * w * w + i % w * (w + 1)] = sqrt(2 * (double)d);
    for (size_t t = 0; t < p->tables; t++)
        measure_deviations(p, t);
    for (size_t i = 0; p->rewards != NULL && i < reward_tables(p) * p->model->pairs; i++)
        p->spread[i] = 1 / sqrt(REWARD_PRECISION);
}

tacit_status tacit__mixture_belief_create(const tacit__mixture_model *m, size_t steps, bool same,
                                          tacit__mixture_belief **out)
{
    TACIT__REQUIRE(steps > 0);
    const size_t w = m->width, S = m->n_states, tables = same ? 1 : steps;
    tacit__mixture_belief x = {.model = m, .steps = steps, .tables = tables};
    const size_t cells = m->learns_rewards ? reward_tables(&x) * m->pairs : 0;
    tacit__mixture_belief *p = TACIT__WORKSPACE(
        x, TACIT__PIECE(x.weights, tables * m->parts), TACIT__PIECE(x.factor, tables * w * w),
        TACIT__PIECE(x.deviation, tables * m->parts), TACIT__PIECE(x.start, S),
        TACIT__PIECE(x.target, tables * w), TACIT__PIECE(x.best, tables * m->parts),
        TACIT__PIECE(x.chances, tables * m->pairs * S),
        TACIT__PIECE(x.moments, tables * m->pairs * w * w),
        TACIT__PIECE_IF(cells > 0, x.rewards, cells), TACIT__PIECE_IF(cells > 0, x.spread, cells),
        TACIT__PIECE_IF(cells > 0, x.unsure, cells),
        TACIT__PIECE(x.visits, followed(&x) * m->pairs), TACIT__PIECE(x.here, S),
        TACIT__PIECE(x.after, S), TACIT__PIECE(x.cover, w * w), TACIT__PIECE(x.gain, w * w),
        TACIT__PIECE(x.rest, w), TACIT__PIECE(x.sorted, S > m->parts ? S : m->parts));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    forget(p);
    *out = p;
    return TACIT_OK;
}

void tacit__mixture_belief_destroy(tacit__mixture_belief *p)
{
    tacit__workspace_destroy(p);
}

/* --- Where users were ------------------------------------------------------------------------------ */

static void mix(tacit__mixture_belief *p)
{
    const tacit__mixture_model *m = p->model;
    for (size_t t = 0; t < p->tables; t++)
        tacit__mixture_model_mix(m, p->weights + t * m->parts,
                                 p->chances + t * m->pairs * m->n_states);
}

/* `mix` has been called for the present means. */
static void count_visits(tacit__mixture_belief *p, const tacit__played_batch *b, double *visits)
{
    const tacit__walk walk = {.n_states = p->model->n_states,
                              .n_actions = p->model->n_actions,
                              .horizon = p->steps + 1,
                              .steps = followed(p),
                              .tables = p->tables,
                              .chances = p->chances,
                              .start = p->start,
                              .here = p->here,
                              .after = p->after};
    tacit__walk_visits(&walk, b, visits);
}

void tacit__mixture_belief_visits(tacit__mixture_belief *p, const tacit__played_batch *batch,
                                  double *visits)
{
    mix(p);
    count_visits(p, batch, visits);
}

/* --- Weights --------------------------------------------------------------------------------------- */

/* Step h of a batch, by where users are thought to have been: C with C C' = R, and C^-1 J B (by columns) and
 * C^-1 (X - J 1/d). */
static void weigh_step(tacit__mixture_belief *p, const tacit__played_batch *b, size_t h)
{
    const tacit__mixture_model *m = p->model;
    const size_t w = m->width, square = w * w;
    const double *visits = p->visits + h * m->pairs;
    const double asked = tacit__played_asked(b, h), share = asked / (double)b->shown.users;
    const double *moments = table_of(p, p->moments, h, m->pairs * square);
    memset(p->cover, 0, square * sizeof *p->cover);
    memset(p->gain, 0, square * sizeof *p->gain);
    memcpy(p->rest, b->shown.sums + h * w, w * sizeof *p->rest);
    for (size_t pair = 0; pair < m->pairs; pair++) {
        const double v = visits[pair] * share;
        if (!(v > 0))
            continue;
        for (size_t i = 0; i < square; i++) {
            p->gain[i] += v * m->gain[pair * square + i];
            p->cover[i] += v / b->truth * moments[pair * square + i];
        }
        for (size_t i = 0; i < w; i++)
            p->rest[i] -= v * m->base[pair * w + i];
    }
    for (size_t i = 0; i < square; i++)
        p->cover[i] += asked * b->spread * m->even[i];
    /* A millionth of a user keeps the matrix definite where there is no noise and a score is constant. */
    for (size_t i = 0; i < w; i++)
        p->cover[i * (w + 1)] += b->variance + 1e-6 * (double)b->shown.users;
    TACIT__REQUIRE(tacit__cholesky(w, p->cover));
    tacit__solve_lower_many(w, w, p->cover, p->gain);
    tacit__solve_lower(w, p->cover, p->rest);
}

/* What step h of a batch tells: adds to precision and target of its table. */
static void add_step(tacit__mixture_belief *p, const tacit__played_batch *b, size_t h)
{
    const size_t w = p->model->width;
    double *precision = table_of(p, p->factor, h, w * w), *target = table_of(p, p->target, h, w);
    weigh_step(p, b, h);
    for (size_t j = 0; j < w; j++)
        for (size_t k = 0; k < w; k++) {
            target[j] += p->gain[j * w + k] * p->rest[k];
            for (size_t i = j; i < w; i++)
                precision[j * w + i] += p->gain[i * w + k] * p->gain[j * w + k];
        }
}

/* --- Rewards --------------------------------------------------------------------------------------- */

/* What step h of a batch tells: `spread` is the precision meanwhile, and `rewards` that times the mean. */
static void add_rewards(tacit__mixture_belief *p, const tacit__played_batch *b, size_t h)
{
    const size_t pairs = p->model->pairs, first = reward_tables(p) == 1 ? 0 : h * pairs;
    const double *visits = p->visits + h * pairs,
                 *sums = b->shown.sums + p->steps * p->model->width + h * pairs;
    for (size_t pair = 0; pair < pairs; pair++) {
        const double v = visits[pair] * tacit__played_asked(b, h) / (double)b->shown.users,
                     noise = tacit__played_noise(b, h, REWARD_VARIANCE / (double)pairs),
                     cover = noise + v * p->unsure[first + pair] / b->truth;
        if (!(v > 0))
            continue;
        p->spread[first + pair] += v * v / cover;
        p->rewards[first + pair] += v * sums[pair] / cover;
    }
}

static void solve_rewards(tacit__mixture_belief *p)
{
    for (size_t i = 0; i < reward_tables(p) * p->model->pairs; i++) {
        p->rewards[i] /= p->spread[i];
        p->spread[i] = 1 / sqrt(p->spread[i]);
    }
}

/* One pass; `unsure` is set. */
static void pass_rewards(tacit__mixture_belief *p, const tacit__played_batch *batches, size_t n)
{
    const size_t cells = reward_tables(p) * p->model->pairs;
    memset(p->rewards, 0, cells * sizeof *p->rewards);
    for (size_t i = 0; i < cells; i++)
        p->spread[i] = REWARD_PRECISION;
    for (size_t k = 0; k < n; k++) {
        count_visits(p, &batches[k], p->visits);
        for (size_t h = 0; h <= p->steps; h++)
            add_rewards(p, &batches[k], h);
    }
    solve_rewards(p);
}

static void fit_rewards(tacit__mixture_belief *p, const tacit__played_batch *batches, size_t n)
{
    const size_t cells = reward_tables(p) * p->model->pairs;
    mix(p);
    for (size_t i = 0; i < cells; i++)
        p->unsure[i] = REWARD_VARIANCE;
    pass_rewards(p, batches, n);
    for (size_t i = 0; i < cells; i++)
        p->unsure[i] = fmax(LEAST_VARIANCE, REWARD_VARIANCE - p->rewards[i] * p->rewards[i]);
    pass_rewards(p, batches, n);
}

/* --- All of it ------------------------------------------------------------------------------------- */

/* Precision and target of a table become factor and mean. */
static void solve(tacit__mixture_belief *p, size_t table)
{
    const tacit__mixture_model *m = p->model;
    const size_t w = m->width, d = m->parts;
    double *weights = p->weights + table * d, *z = p->target + table * w;
    double *factor = p->factor + table * w * w;
    TACIT__REQUIRE(tacit__cholesky(w, factor));
    tacit__solve(w, factor, z);
    for (size_t j = 0; j < d; j++) {
        weights[j] = 1 / (double)d;
        for (size_t i = 0; i < w; i++)
            weights[j] += m->basis[i * d + j] * z[i];
    }
    tacit__simplex_project(d, weights, p->sorted);
}

/* What follows from the present means. */
static void mix_moments(tacit__mixture_belief *p)
{
    const tacit__mixture_model *m = p->model;
    mix(p);
    for (size_t t = 0; t < p->tables; t++)
        tacit__mixture_model_moments(m, p->chances + t * m->pairs * m->n_states,
                                     p->moments + t * m->pairs * m->width * m->width);
}

static void pass(tacit__mixture_belief *p, const tacit__played_batch *batches, size_t n)
{
    const tacit__mixture_model *m = p->model;
    const size_t w = m->width;
    mix_moments(p);
    memset(p->factor, 0, p->tables * w * w * sizeof *p->factor);
    memset(p->target, 0, p->tables * w * sizeof *p->target);
    for (size_t i = 0; i < p->tables * w; i++)
        p->factor[i / w * w * w + i % w * (w + 1)] = 2 * (double)m->parts;
    for (size_t k = 0; k < n; k++) {
        count_visits(p, &batches[k], p->visits);
        for (size_t h = 0; h < p->steps; h++)
            add_step(p, &batches[k], h);
    }
    for (size_t t = 0; t < p->tables; t++)
        solve(p, t);
}

/* How badly the present means fit the sums. */
typedef struct misfit {
    double square;  /* of the residuals, each over its deviation: at most `numbers` on average */
    double numbers; /* that they are of */
    double cost;    /* minus twice the logarithm of the likelihood and the prior */
} misfit;

static misfit misfit_of(tacit__mixture_belief *p, const tacit__played_batch *batches, size_t n)
{
    const tacit__mixture_model *m = p->model;
    const size_t w = m->width, d = m->parts;
    misfit out = {.numbers = (double)(n * p->steps * w)};
    mix_moments(p);
    for (size_t t = 0; t < p->tables; t++)
        tacit__mixture_model_differences(m, p->weights + t * d, p->target + t * w);
    for (size_t i = 0; i < p->tables * w; i++)
        out.cost += 2 * (double)d * p->target[i] * p->target[i];
    for (size_t k = 0; k < n; k++) {
        count_visits(p, &batches[k], p->visits);
        for (size_t h = 0; h < p->steps; h++) {
            const double *z = table_of(p, p->target, h, w);
            weigh_step(p, &batches[k], h);
            for (size_t i = 0; i < w; i++) {
                double left = p->rest[i];
                for (size_t j = 0; j < w; j++)
                    left -= p->gain[j * w + i] * z[j];
                out.square += left * left;
                out.cost += left * left + 2 * log(p->cover[i * (w + 1)]);
            }
        }
    }
    return out;
}

static misfit fit_from_here(tacit__mixture_belief *p, const tacit__played_batch *batches, size_t n)
{
    for (int round = 0; round < ROUNDS; round++)
        pass(p, batches, n);
    return misfit_of(p, batches, n);
}

/* Begins with other means as well: all weights alike, and most on one of them. */
static void fit_from_elsewhere(tacit__mixture_belief *p, const tacit__played_batch *batches,
                               size_t n, misfit best)
{
    const size_t d = p->model->parts, size = p->tables * d;
    memcpy(p->best, p->weights, size * sizeof *p->best);
    for (size_t start = 0; start <= d; start++) {
        for (size_t i = 0; i < size; i++)
            p->weights[i] = start == 0 ? 1 / (double)d
                                       : (1 - PEAK) / (double)d + (i % d == start - 1 ? PEAK : 0);
        const misfit found = fit_from_here(p, batches, n);
        if (found.cost < best.cost) {
            best = found;
            memcpy(p->best, p->weights, size * sizeof *p->best);
        }
    }
    memcpy(p->weights, p->best, size * sizeof *p->best);
    pass(p, batches, n);
}

void tacit__mixture_belief_fit(tacit__mixture_belief *p, const tacit__played_batch *batches,
                               size_t n)
{
    TACIT__REQUIRE(batches != NULL || n == 0);
    tacit__played_start(batches, n, p->model->n_states, p->start, p->sorted);
    const misfit found = fit_from_here(p, batches, n);
    if (found.square > found.numbers + DOUBT * sqrt(2 * found.numbers))
        fit_from_elsewhere(p, batches, n, found);
    for (size_t t = 0; t < p->tables; t++)
        measure_deviations(p, t);
    if (p->rewards != NULL)
        fit_rewards(p, batches, n);
}
