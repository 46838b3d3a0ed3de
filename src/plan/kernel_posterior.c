/* See plan/kernel_posterior.h. With V = diag(weight), G = sum_w play(w) phi phi^T and m of the p directions
 * in a sum x over n users,
 *
 *     E x = J theta,   J = n V G   (m x p),
 *     R = variance I + n s^2 V G V   (m x m),   s: root mean square of a centered reward,
 *     precision = I / v0 + sum J^T R^-1 J,   precision mean = sum J^T R^-1 x.
 *
 * G is a product of public things: how people play is on the billboard, and how likely contexts are is
 * declared or was released. So no matrix has noise in it, and nothing is to be repaired. Cost of a batch: n
 * p^2 and p^3. */
#include "plan/kernel_posterior.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/pivoted.h"
#include "linalg/symmetric.h"

tacit_status tacit__kernel_posterior_create(const tacit__kernel_features *f,
                                            tacit__kernel_posterior **out)
{
    const size_t p = f->p, n = f->n, row = p * sizeof(double);
    const size_t work = tacit__eigen_scratch(p);
    tacit__kernel_posterior w = {.features = f};
    tacit__kernel_posterior *q = TACIT__WORKSPACE(
        w, {&w.precision, p, row}, TACIT__PIECE(w.target, p), TACIT__PIECE(w.mean, n),
        TACIT__PIECE(w.sd, n), {&w.cover, p, row}, {&w.gain, p, row}, {&w.factor, p, row},
        TACIT__PIECE(w.rest, p), {&w.zeta, n, row}, {&w.turned, n, row}, {&w.eigen, p, row},
        TACIT__PIECE(w.values, p), TACIT__PIECE(w.spectrum, p), TACIT__PIECE(w.weight, p),
        TACIT__PIECE(w.work, work > n ? work : n));
    if (q == NULL)
        return TACIT_NO_MEMORY;
    tacit__kernel_posterior_clear(q);
    tacit__kernel_posterior_solve(q);
    *out = q;
    return TACIT_OK;
}

void tacit__kernel_posterior_destroy(tacit__kernel_posterior *q)
{
    tacit__workspace_destroy(q);
}

void tacit__kernel_posterior_clear(tacit__kernel_posterior *q)
{
    const size_t p = q->features->p;
    memset(q->precision, 0, p * p * sizeof *q->precision);
    memset(q->target, 0, p * sizeof *q->target);
    for (size_t j = 0; j < p; j++)
        q->precision[j * p + j] = 1 / q->features->prior;
}

/* out [n][m]: sum_w play(w) right(w)_i left(w), for the n right-hand coordinates i; rows of both are those
 * of pairs. */
static void cross(tacit__kernel_posterior *q, const double *play, size_t m, const double *left,
                  size_t n, const double *right, double *out)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < q->features->n; w++)
            q->work[w] = play[w] * right[w * n + i];
        tacit__combine(m, q->features->n, left, q->work, out + i * m);
    }
}

void tacit__kernel_posterior_add(tacit__kernel_posterior *q, const tacit__kernel_batch *b)
{
    const size_t p = q->features->p, m = b->m;
    const double spread = b->users * TACIT__KERNEL_SPREAD * TACIT__KERNEL_SPREAD;
    TACIT__REQUIRE(m <= p);
    if (m == 0)
        return;
    cross(q, b->play, m, b->v, m, b->v, q->cover);
    for (size_t i = 0; i < m * m; i++)
        q->cover[i] *= spread;
    for (size_t j = 0; j < m; j++) /* the first part may be singular, and there may be no noise */
        q->cover[j * m + j] += b->variance + 1e-9 * q->cover[j * m + j] + 1e-300;
    if (!tacit__cholesky(m, q->cover))
        return; /* play that tells nothing */
    /* J, as p columns of m numbers */
    cross(q, b->play, m, b->v, p, q->features->phi, q->gain);
    for (size_t i = 0; i < m * p; i++)
        q->gain[i] *= b->users;
    memcpy(q->rest, b->sum, m * sizeof *q->rest);
    tacit__solve_lower_many(m, p, q->cover, q->gain);
    tacit__solve_lower(m, q->cover, q->rest);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < m; j++)
            q->target[i] += q->gain[i * m + j] * q->rest[j];
    /* precision += gain^T gain: rows of the gain as columns of p numbers */
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < m; j++)
            q->factor[j * p + i] = q->gain[i * m + j];
    tacit__rank_update(p, m, NULL, q->factor, NULL, q->precision);
}

void tacit__kernel_posterior_solve(tacit__kernel_posterior *q)
{
    const tacit__kernel_features *f = q->features;
    const size_t p = f->p, n = f->n;
    memcpy(q->factor, q->precision, p * p * sizeof *q->factor);
    memcpy(q->rest, q->target, p * sizeof *q->rest);
    if (p == 0 || !tacit__cholesky(p, q->factor)) {
        memset(q->mean, 0, n * sizeof *q->mean);
        memset(q->sd, 0, n * sizeof *q->sd);
        return;
    }
    tacit__solve(p, q->factor, q->rest);
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
size_t tacit__kernel_posterior_design(tacit__kernel_posterior *q, const double *play, double users,
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
