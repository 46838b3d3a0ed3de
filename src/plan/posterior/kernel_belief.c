/* See kernel_belief.h. With V = diag(weight), G = sum_w play(w) phi phi^T and m of the p directions
 * in a sum x over n users,
 *
 *     E x = J theta,   J = n V G   (m x p),
 *     R = variance I + n s^2 V G V   (m x m),   s: root mean square of a centered reward,
 *     precision = D^-1 + sum J^T R^-1 J,   precision mean = sum J^T R^-1 x,   D: the prior's variances.
 *
 * Which of several D and s is taken is for the sums to say. They are N(0, J D J^T + R), all batches in one
 * J and R, and the logarithm of their density is, but for a constant,
 *
 *     (mean^T precision mean - log det precision - log det D - x^T R^-1 x - log det R) / 2,
 *
 * to which the logarithm of D's own probability is added.
 *
 * G is a product of public things: how people play is on the billboard, and how likely contexts are is
 * declared or was released. So no matrix has noise in it, and nothing is to be repaired. Cost of a batch: n
 * p^2, and p^3 for each D and s. */
#include "plan/posterior/kernel_belief.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/pivoted.h"
#include "linalg/symmetric.h"
#include "text/values.h"

/* What is held possible: how variances fall with eigenvalues, and E f^2 as a share of that of a random sum of
 * bumps; from such sums (1, 1) and Gaussian processes (0, s) to what is rougher than the kernel. The first
 * is as likely beforehand as all others together, and these are equally likely. Chosen on the functions of
 * docs/why/posterior-kernel.md. */
static const struct {
    double power, share;
} priors[] = {{0.5, 1}, {0.5, 0.3}, {0.5, 3}, {1, 0.3},    {1, 1},    {1, 3},
              {0, 0.3}, {0, 1},     {0, 3},   {-0.5, 0.3}, {-0.5, 1}, {-0.5, 3}};

/* How much rewards spread: the second if they have two values. */
static const double spreads[] = {TACIT__KERNEL_SPREAD, TACIT__KERNEL_BOUND};

tacit_status tacit__kernel_belief_create(const tacit__kernel_features *f, bool chooses,
                                         tacit__kernel_belief **out)
{
    const size_t p = f->p, n = f->n, row = p * sizeof(double);
    const size_t work = tacit__eigen_scratch(p);
    tacit__kernel_belief w = {.features = f,
                              .n_priors = chooses ? TACIT__COUNT(priors) : 1,
                              .n_spreads = chooses ? TACIT__COUNT(spreads) : 1};
    tacit__kernel_belief *q = TACIT__WORKSPACE(
        w, {&w.priors, w.n_priors, row}, {&w.told, w.n_spreads * p, row},
        {&w.target, w.n_spreads, row}, TACIT__PIECE(w.fit, w.n_spreads), TACIT__PIECE(w.mean, n),
        TACIT__PIECE(w.sd, n), {&w.cover, p, row}, {&w.gain, p, row}, {&w.solved, p, row},
        {&w.moment, p, row}, {&w.factor, p, row}, TACIT__PIECE(w.rest, p), {&w.zeta, n, row},
        {&w.turned, n, row}, {&w.eigen, p, row}, TACIT__PIECE(w.values, p),
        TACIT__PIECE(w.spectrum, p), TACIT__PIECE(w.weight, p),
        TACIT__PIECE(w.work, work > n ? work : n));
    if (q == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < q->n_priors && chooses; i++)
        tacit__kernel_features_prior(f, priors[i].power, priors[i].share, q->priors + i * p);
    for (size_t j = 0; j < p && !chooses; j++)
        q->priors[j] = f->prior;
    tacit__kernel_belief_clear(q);
    tacit__kernel_belief_solve(q);
    *out = q;
    return TACIT_OK;
}

void tacit__kernel_belief_destroy(tacit__kernel_belief *q)
{
    tacit__workspace_destroy(q);
}

void tacit__kernel_belief_clear(tacit__kernel_belief *q)
{
    const size_t p = q->features->p;
    memset(q->told, 0, q->n_spreads * p * p * sizeof *q->told);
    memset(q->target, 0, q->n_spreads * p * sizeof *q->target);
    memset(q->fit, 0, q->n_spreads * sizeof *q->fit);
    q->n_batches = 0;
}

/* out [n][m]: sum_w play(w) right(w)_i left(w), for the n right-hand coordinates i; rows of both are those
 * of pairs. */
static void cross(tacit__kernel_belief *q, const double *play, size_t m, const double *left,
                  size_t n, const double *right, double *out)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < q->features->n; w++)
            q->work[w] = play[w] * right[w * n + i];
        tacit__combine(m, q->features->n, left, q->work, out + i * m);
    }
}

/* What the batch tells if rewards spread like this. `moment` [m][m] is n sum play v v^T, and `gain` is J, as
 * p columns of m numbers. */
static void add_spread(tacit__kernel_belief *q, const tacit__kernel_batch *b, size_t k)
{
    const size_t p = q->features->p, m = b->m;
    TACIT__REQUIRE(k < sizeof spreads / sizeof *spreads);
    double *target = q->target + k * p, square = 0;
    for (size_t i = 0; i < m * m; i++)
        q->cover[i] = spreads[k] * spreads[k] * q->moment[i];
    for (size_t j = 0; j < m; j++) /* the first part may be singular, and there may be no noise */
        q->cover[j * m + j] += b->variance + 1e-9 * q->cover[j * m + j] + 1e-300;
    if (!tacit__cholesky(m, q->cover))
        return; /* play that tells nothing */
    memcpy(q->solved, q->gain, m * p * sizeof *q->solved);
    memcpy(q->rest, b->sum, m * sizeof *q->rest);
    tacit__solve_lower_many(m, p, q->cover, q->solved);
    tacit__solve_lower(m, q->cover, q->rest);
    for (size_t j = 0; j < m; j++)
        square += q->rest[j] * q->rest[j];
    q->fit[k] -= (square + tacit__log_determinant(m, q->cover)) / 2;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < m; j++) {
            target[i] += q->solved[i * m + j] * q->rest[j];
            q->factor[j * p + i] = q->solved[i * m + j]; /* rows as columns of p numbers */
        }
    tacit__rank_update(p, m, NULL, q->factor, NULL, q->told + k * p * p);
}

void tacit__kernel_belief_add(tacit__kernel_belief *q, const tacit__kernel_batch *b)
{
    const size_t p = q->features->p, m = b->m;
    TACIT__REQUIRE(m <= p);
    if (m == 0)
        return;
    cross(q, b->play, m, b->v, m, b->v, q->moment);
    cross(q, b->play, m, b->v, p, q->features->phi, q->gain);
    for (size_t i = 0; i < m * m; i++)
        q->moment[i] *= b->users;
    for (size_t i = 0; i < m * p; i++)
        q->gain[i] *= b->users;
    for (size_t k = 0; k < q->n_spreads; k++)
        add_spread(q, b, k);
    q->n_batches++;
}

/* The factor of the precision, and the parameters' mean in `rest`, under one of the priors and spreads. */
static bool fit(tacit__kernel_belief *q, size_t prior, size_t spread)
{
    const size_t p = q->features->p;
    memcpy(q->factor, q->told + spread * p * p, p * p * sizeof *q->factor);
    memcpy(q->rest, q->target + spread * p, p * sizeof *q->rest);
    for (size_t j = 0; j < p; j++)
        q->factor[j * p + j] += 1 / q->priors[prior * p + j];
    if (p == 0 || !tacit__cholesky(p, q->factor))
        return false;
    tacit__solve(p, q->factor, q->rest);
    return true;
}

double tacit__kernel_belief_evidence(tacit__kernel_belief *q, size_t prior, size_t spread)
{
    const size_t p = q->features->p;
    TACIT__REQUIRE(prior < q->n_priors && spread < q->n_spreads);
    if (!fit(q, prior, spread))
        return -HUGE_VAL;
    double sum = -tacit__log_determinant(p, q->factor);
    for (size_t j = 0; j < p; j++)
        sum += q->target[spread * p + j] * q->rest[j] - log(q->priors[prior * p + j]);
    return q->fit[spread] + sum / 2 - (prior > 0 ? log((double)(q->n_priors - 1)) : 0);
}

/* Before there are sums, the first prior and the first spread. */
static void choose(tacit__kernel_belief *q)
{
    double most = -HUGE_VAL;
    q->prior = q->spread = 0;
    if (q->n_priors * q->n_spreads == 1 || q->n_batches == 0)
        return;
    for (size_t k = 0; k < q->n_spreads; k++)
        for (size_t i = 0; i < q->n_priors; i++) {
            const double evidence = tacit__kernel_belief_evidence(q, i, k);
            if (evidence > most) {
                most = evidence;
                q->prior = i;
                q->spread = k;
            }
        }
}

void tacit__kernel_belief_solve(tacit__kernel_belief *q)
{
    const tacit__kernel_features *f = q->features;
    const size_t p = f->p, n = f->n;
    choose(q);
    if (!fit(q, q->prior, q->spread)) {
        memset(q->mean, 0, n * sizeof *q->mean);
        memset(q->sd, 0, n * sizeof *q->sd);
        return;
    }
    tacit__inner_many(p, n, f->phi, q->rest, q->mean);
    memcpy(q->zeta, f->phi, n * p * sizeof *q->zeta);
    tacit__solve_lower_many(p, n, q->factor, q->zeta);
    tacit__squares_many(p, n, q->zeta, q->sd);
    for (size_t w = 0; w < n; w++)
        q->sd[w] = sqrt(q->sd[w]);
}

/* With t ~ N(0, I) for what is left open, f = zeta . t. Turned into the eigenvectors of sum play zeta
 * zeta^T its coordinates eta have the variances `spectrum` where people play, and water-filling tells their
 * weights. What is longer than `length` is cut to it: J is made of the vectors as they are, so cutting
 * costs a little of what the longest ones tell, and dividing all by the longest would cost more. */
size_t tacit__kernel_belief_design(tacit__kernel_belief *q, const double *play, double users,
                                   double variance, double length, size_t most, double *v)
{
    TACIT__REQUIRE(users >= 0 && variance >= 0);
    const size_t p = q->features->p, n = q->features->n;
    if (p == 0)
        return 0;
    memset(q->eigen, 0, p * p * sizeof *q->eigen);
    tacit__rank_update(p, n, play, q->zeta, q->turned, q->eigen);
    tacit__eigen(p, q->eigen, q->values, q->work);
    tacit__rotate_many(p, n, q->eigen, q->zeta, q->turned);
    for (size_t j = 0; j < p; j++)
        q->spectrum[j] = fmax(0, q->values[p - 1 - j]);
    size_t m = tacit__kernel_fill(p, q->spectrum, users, variance, q->weight);
    m = m < most ? m : most;
    for (size_t w = 0; w < n; w++) {
        double square = 0;
        for (size_t j = 0; j < m; j++) {
            const double x = q->weight[j] * q->turned[w * p + p - 1 - j];
            v[w * m + j] = x;
            square += x * x;
        }
        const double factor = length / fmax(1, sqrt(square));
        for (size_t j = 0; j < m; j++)
            v[w * m + j] *= factor;
    }
    return m;
}
