/* See gaussian_process.h. With counts n_w and means ybar_w at the distinct pairs u seen
 * (docs/why/kernel.md#the-posterior-without-privacy):
 *     K_uu + diag(tau / n_w) = C C^T,   mean = K_wu (C C^T)^-1 ybar,   covariance = K - |C^-1 K_uw|^2,
 * and one more observation at i, with s the i-th column of the covariance:
 *     mean += s (y - mean_i) / (tau + s_i),   covariance -= s s^T / (tau + s_i).
 * Rounding of the second adds up, so every AGAIN steps the first is computed.
 *
 * The product s s^T would move the whole covariance through memory for one observation. So the column
 * s / sqrt(tau + s_i) waits in `recent`, and LATER of them are subtracted together. A column of the
 * covariance is the matrix's less what is waiting; the diagonal, which learners read, is kept apart and up
 * to date. */
#include "plan/gaussian_process.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/pivoted.h"
#include "linalg/symmetric.h"

enum { LATER = TACIT__POSTERIOR_RECENT, AGAIN = 100 * LATER };

tacit_status tacit__gaussian_process_create(const tacit__pairs *pairs, double tau,
                                            tacit__gaussian_process **out)
{
    TACIT__REQUIRE(tau > 0);
    const size_t n = pairs->n_contexts * pairs->n_actions, row = n * sizeof(double);
    tacit__gaussian_process w = {.pairs = *pairs, .n = n, .tau = tau};
    tacit__gaussian_process *q =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.mean, n), {&w.covariance, n, row},
                         TACIT__PIECE(w.count, n), TACIT__PIECE(w.sum, n), TACIT__PIECE(w.seen, n),
                         TACIT__PIECE(w.variance, n), TACIT__PIECE(w.recent, n * LATER),
                         TACIT__PIECE(w.column, n), {&w.solve, n, row}, {&w.factor, n, row});
    if (q == NULL)
        return TACIT_NO_MEMORY;
    tacit__gaussian_process_clear(q);
    *out = q;
    return TACIT_OK;
}

void tacit__gaussian_process_destroy(tacit__gaussian_process *q)
{
    tacit__workspace_destroy(q);
}

static const double *point(const tacit__gaussian_process *q, size_t w)
{
    return q->pairs.points + w * q->pairs.kernel.dimension;
}

void tacit__gaussian_process_clear(tacit__gaussian_process *q)
{
    memset(q->count, 0, q->n * sizeof *q->count);
    memset(q->sum, 0, q->n * sizeof *q->sum);
    q->gain = 0;
    tacit__gaussian_process_solve(q);
}

static void read_variances(tacit__gaussian_process *q)
{
    for (size_t w = 0; w < q->n; w++)
        q->variance[w] = q->covariance[w * q->n + w];
}

void tacit__gaussian_process_solve(tacit__gaussian_process *q)
{
    const size_t n = q->n;
    size_t m = 0;
    memset(q->recent, 0, n * LATER * sizeof *q->recent);
    for (size_t w = 0; w < n; w++) {
        tacit__kernel_column(&q->pairs.kernel, n, q->pairs.points, NULL, point(q, w),
                             q->covariance + w * n);
        if (q->count[w] > 0)
            q->seen[m++] = w;
    }
    memset(q->mean, 0, n * sizeof *q->mean);
    q->steps = 0;
    read_variances(q);
    if (m == 0)
        return;
    for (size_t j = 0; j < m; j++) {
        const double *column = q->covariance + q->seen[j] * n;
        for (size_t i = 0; i < m; i++)
            q->factor[j * m + i] = column[q->seen[i]];
        q->factor[j * m + j] += q->tau / q->count[q->seen[j]];
        q->column[j] = q->sum[q->seen[j]] / q->count[q->seen[j]];
    }
    (void)tacit__cholesky(m, q->factor); /* at least tau / count */
    for (size_t w = 0; w < n; w++)
        for (size_t j = 0; j < m; j++)
            q->solve[w * m + j] = q->covariance[q->seen[j] * n + w];
    tacit__solve_lower_many(m, n, q->factor, q->solve);
    tacit__solve_lower(m, q->factor, q->column);
    tacit__inner_many(m, n, q->solve, q->column, q->mean);
    tacit__subtract_gram(m, n, q->solve, q->covariance);
    read_variances(q);
}

void tacit__gaussian_process_add(tacit__gaussian_process *q, size_t pair, double y, bool lazy)
{
    TACIT__REQUIRE(pair < q->n);
    q->count[pair] += 1;
    q->sum[pair] += y;
    if (lazy)
        return;
    const size_t n = q->n, waiting = q->steps % LATER;
    double *s = q->column;
    tacit__inner_many(LATER, n, q->recent, q->recent + pair * LATER, s);
    for (size_t w = 0; w < n; w++)
        s[w] = q->covariance[pair * n + w] - s[w];
    const double below = q->tau + s[pair], step = (y - q->mean[pair]) / below;
    const double scale = 1 / sqrt(below);
    q->gain += 0.5 * log1p(fmax(0, s[pair]) / q->tau);
    for (size_t w = 0; w < n; w++) {
        const double v = scale * s[w];
        q->mean[w] += s[w] * step;
        q->variance[w] -= v * v;
        q->recent[w * LATER + waiting] = v;
    }
    q->steps++;
    if (q->steps == AGAIN) {
        tacit__gaussian_process_solve(q);
    } else if (waiting + 1 == LATER) {
        tacit__subtract_gram(LATER, n, q->recent, q->covariance);
        memset(q->recent, 0, n * LATER * sizeof *q->recent);
    }
}
