/* See estimator.h.
 *
 *     psi(w) = L^-1 k_pi(w)                     pivoted Cholesky features of the active pairs (linalg/pivoted.c)
 *     G = sum_R omega psi psi^T + tau I = C C^T
 *     v(w) = C^-1 psi(w)                        |v|^2 = k_S^T M^+ k_S: what a user adds is y v
 *     u(w) = C^-T v(w) = G^-1 psi(w)
 *
 * This is the published estimator exactly (docs/why/kernel.md#any-square-root-will-do), without any
 * inverse: G is at least tau, so its Cholesky needs no jitter. The table v is made once, its
 * longest column measured, and the very same numbers are what users' rewards are multiplied with:
 * however kernels, pivots or solves were rounded, or cut off by a rank, the noise fits what is
 * summed.
 *
 * tau: with Q diag(lambda) Q^T = sum omega psi psi^T and a = Q^T psi, |v|^2 = sum a_j^2 / (lambda_j
 * + tau) and |u|^2 has the denominators squared, so one decomposition serves a grid of 25 values;
 * the least of
 *     mean_w [ norm^2 b1^2 + b^2 (1 + 1/copies) q + noise b^2 v_max^2 |v|^2 ],   b1^2 = tau^2 |u|^2 + res, q = |v|^2 - tau |u|^2
 * is taken. All of it is public and comes before the data. Cost: n p^2 a few times, p^3 once. */
#include "plan/estimator.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/pivoted.h"
#include "linalg/symmetric.h"

enum { GRID = 25, PIECE = 512 };

static double grid_tau(size_t i)
{
    return pow(10, -2 + 0.25 * (double)i);
}

tacit_status tacit__estimator_create(const tacit__pairs *pairs, size_t cap, tacit__estimator **out)
{
    TACIT__REQUIRE(cap > 0 && pairs->n_contexts > 0 && pairs->n_actions > 0);
    const size_t n = pairs->n_contexts * pairs->n_actions, real = sizeof(double);
    cap = cap < n ? cap : n;
    const size_t work = tacit__eigen_scratch(cap);
    tacit__estimator w = {.pairs = *pairs, .cap = cap};
    *out = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.which, n), TACIT__PIECE(w.start, pairs->n_contexts + 1),
        TACIT__PIECE(w.place, n), {&w.psi, n, cap * real}, {&w.v, n, cap * real},
        TACIT__PIECE(w.residual, n), TACIT__PIECE(w.square, n), TACIT__PIECE(w.omega, n),
        TACIT__PIECE(w.candidate, n), {&w.factor, cap, cap * real}, {&w.eigen, cap, cap * real},
        TACIT__PIECE(w.values, cap), TACIT__PIECE(w.scratch, work > n ? work : n),
        {&w.grid, GRID, (n + 3 * cap) * real});
    return *out != NULL ? TACIT_OK : TACIT_NO_MEMORY;
}

void tacit__estimator_destroy(tacit__estimator *e)
{
    tacit__workspace_destroy(e);
}

static double weight_of(const tacit__pairs *pairs, size_t context)
{
    return pairs->weights != NULL ? pairs->weights[context] : 1 / (double)pairs->n_contexts;
}

/* True if these are the pairs that are listed already. */
static bool is_listed(const tacit__estimator *e, const bool *active)
{
    for (size_t w = 0; w < e->pairs.n_contexts * e->pairs.n_actions; w++)
        if (active[w] != (e->place[w] != SIZE_MAX))
            return false;
    return e->n > 0;
}

static void list_active(tacit__estimator *e, const bool *active)
{
    const size_t A = e->pairs.n_actions;
    e->n = 0;
    for (size_t c = 0; c < e->pairs.n_contexts; c++) {
        e->start[c] = e->n;
        for (size_t w = c * A; w < (c + 1) * A; w++) {
            e->place[w] = active[w] ? e->n : SIZE_MAX;
            if (active[w])
                e->which[e->n++] = w;
        }
    }
    e->start[e->pairs.n_contexts] = e->n;
}

/* `draws` pairs from (weights, uniform active action): count[place] += share for each. Two words a draw. */
static void draw(const tacit__estimator *e, const tacit__estimator_design *design, uint64_t stream,
                 double draws, double share, double *count)
{
    uint64_t words[PIECE];
    uint64_t n = (uint64_t)ceil(draws);
    for (uint64_t i = 0; i < n; i++) {
        size_t at = (size_t)(2 * i % PIECE);
        if (at == 0)
            design->words(design->context, stream, 2 * i, PIECE, words);
        double u = (double)(words[at] >> 11) * 0x1p-53;
        size_t c = 0, last = e->pairs.n_contexts - 1;
        if (e->pairs.weights == NULL) {
            c = (size_t)(u * (double)e->pairs.n_contexts);
        } else {
            for (u -= e->pairs.weights[0]; u >= 0 && c < last; u -= e->pairs.weights[c])
                c++;
        }
        size_t m = e->start[c + 1] - e->start[c];
        size_t a = (size_t)((double)(words[at + 1] >> 11) * 0x1p-53 * (double)m);
        count[e->start[c] + a] += share;
    }
}

/* Computes how much each active pair counts in the covariance. */
static void set_omega(tacit__estimator *e, const tacit__estimator_design *design)
{
    e->copies = design->copies;
    if (design->copies > 0) {
        memset(e->omega, 0, e->n * sizeof *e->omega);
        draw(e, design, 2 * design->stream, design->copies * design->users, 1 / design->copies,
             e->omega);
    } else {
        for (size_t c = 0; c < e->pairs.n_contexts; c++)
            for (size_t i = e->start[c]; i < e->start[c + 1]; i++)
                e->omega[i] = design->users * weight_of(&e->pairs, c) /
                              (double)(e->start[c + 1] - e->start[c]);
    }
    e->leak = 0;
}

void tacit__estimator_project(tacit__estimator *e, const tacit__estimator_design *design,
                              size_t rank)
{
    TACIT__REQUIRE(rank <= e->cap && design->active != NULL);
    if (e->projected && !design->sampled && design->tol == e->tol && rank == e->rank &&
        is_listed(e, design->active))
        return;
    list_active(e, design->active);
    e->projected = !design->sampled;
    e->tol = design->tol;
    e->rank = rank;
    if (design->sampled) {
        memset(e->square, 0, e->n * sizeof *e->square);
        draw(e, design, 2 * design->stream + 1, design->users, 1, e->square);
        for (size_t i = 0; i < e->n; i++)
            e->candidate[i] = e->square[i] > 0;
    }
    size_t cap = rank < e->cap ? rank : e->cap;
    e->p = tacit__pivoted_features(&e->pairs.kernel, e->n, e->pairs.points, e->which,
                                   design->sampled ? e->candidate : NULL, design->tol, cap, e->psi,
                                   e->residual, e->scratch);
}

/* The predicted cost of a value of tau; see the head. */
typedef struct cost {
    double bias, spread, square, longest;
} cost;

static double total(const tacit__estimator_design *design, double copies, const cost *c)
{
    double b = design->bound, more = copies > 0 ? 1 + 1 / copies : 1;
    return design->norm * design->norm * c->bias + b * b * more * c->spread +
           design->noise * b * b * c->longest * c->square;
}

/* The grid's best value. `full` is the lower triangle of sum omega psi psi^T. */
static double choose_tau(tacit__estimator *e, const tacit__estimator_design *design)
{
    const size_t n = e->n, p = e->p;
    double *once = e->grid, *means = once + GRID * p, *squares = means + 2 * GRID * p;
    memcpy(e->eigen, e->factor, p * p * sizeof *e->eigen);
    tacit__eigen(p, e->eigen, e->values, e->scratch);
    tacit__rotate_many(p, n, e->eigen, e->psi, e->v);
    memset(means, 0, p * sizeof *means);
    double residual = 0;
    for (size_t i = 0; i < n; i++) {
        residual += e->residual[i];
        for (size_t j = 0; j < p; j++) {
            double a = e->v[i * p + j];
            e->v[i * p + j] = a * a;
            means[j] += a * a / (double)n;
        }
    }
    for (size_t g = 0; g < GRID; g++)
        for (size_t j = 0; j < p; j++)
            once[g * p + j] = 1 / (fmax(0, e->values[j]) + grid_tau(g));
    tacit__products(p, n, GRID, e->v, once, squares);
    double best = HUGE_VAL, tau = 1;
    for (size_t g = 0; g < GRID; g++) {
        double t = grid_tau(g), u_square = 0;
        cost c = {0};
        for (size_t i = 0; i < n; i++)
            c.longest = fmax(c.longest, squares[i * GRID + g]);
        for (size_t j = 0; j < p; j++) {
            double d = once[g * p + j];
            c.square += means[j] * d;
            u_square += means[j] * d * d;
        }
        c.bias = t * t * u_square + residual / (double)n;
        c.spread = fmax(0, c.square - t * u_square);
        double sum = total(design, e->copies, &c);
        if (sum < best) {
            best = sum;
            tau = t;
        }
    }
    e->error = sqrt(best);
    return tau;
}

void tacit__estimator_build(tacit__estimator *e, const tacit__estimator_design *design, size_t rank)
{
    TACIT__REQUIRE(design->users > 0 && design->tau >= 0);
    tacit__estimator_project(e, design, rank);
    set_omega(e, design);
    const size_t n = e->n, p = e->p;
    memset(e->factor, 0, p * p * sizeof *e->factor);
    tacit__rank_update(p, n, e->omega, e->psi, e->v, e->factor);
    e->error = (double)NAN;
    e->tau = design->tau > 0 ? design->tau : choose_tau(e, design);
    for (size_t j = 0; j < p; j++)
        e->factor[j * p + j] += e->tau;
    (void)tacit__cholesky(p, e->factor); /* at least tau > 0 */
    memcpy(e->v, e->psi, n * p * sizeof *e->v);
    tacit__solve_lower_many(p, n, e->factor, e->v);
    tacit__squares_many(p, n, e->v, e->square);
    double longest = 0, sigma = 0;
    for (size_t i = 0; i < n; i++) {
        longest = fmax(longest, e->square[i]);
        sigma = fmax(sigma, e->square[i] + e->residual[i] / e->tau);
        e->leak += e->omega[i] * e->residual[i];
    }
    e->sigma_max = sqrt(sigma) * (1 + 1e-12);
    e->length = 1;
    tacit__estimator_divide(e, sqrt(longest) * (1 + 1e-12));
}

void tacit__estimator_divide(tacit__estimator *e, double length)
{
    double factor = length > 0 ? e->length / length : 1;
    for (size_t i = 0; i < e->n * e->p; i++)
        e->v[i] *= factor;
    e->length = length > 0 ? length : 1;
}
