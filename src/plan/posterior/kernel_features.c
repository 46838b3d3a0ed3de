/* See kernel_features.h; docs/why/posterior-kernel.md has the reasons.
 *
 *     psi(w)                              pivoted Cholesky features (linalg/pivoted.c)
 *     sum_w play(w) psi psi^T = Q diag(lambda) Q^T,    phi = Q^T psi
 *     f = phi . theta,   theta ~ N(0, v0 I),   v0 = 0.3 norm^2 / p_eff,   p_eff = (sum lambda)^2 / sum lambda^2
 *
 * A random sum of bumps k(., w_i) of this norm has the variances norm^2 lambda_j / sum lambda and E f^2 =
 * norm^2 sum lambda^2 / sum lambda; a Gaussian process has equal ones, and v0 gives it 0.3 of that E f^2.
 *
 * Weights by water-filling: a sum over n users with noise variance s^2 leaves of direction j about lambda_j
 * v0 / (1 + c lambda_j q_j), with q_j = weight_j^2 lambda_j and c = v0 n^2 / s^2 (the weighted phi has the
 * mean square sum q_j = 1). The least sum of these is at q_j = (kappa - 1 / (c lambda_j))+. So the rank
 * follows from epsilon, n and the spectrum, and a direction that this sum cannot tell apart from noise gets
 * no part of it. */
#include "plan/posterior/kernel_features.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/pivoted.h"
#include "linalg/symmetric.h"

#define SMOOTH 0.3    /* of norm^2: chosen on the functions of docs/why/posterior-kernel.md */
#define CUT 1e-4      /* of the largest eigenvalue: below it nothing is told */
#define STRIDE 1.05   /* of the numbers of users that are tried */
#define RESIDUAL 1e-4 /* of the kernel, which is at most 1 */
#define MARGIN                                                                                     \
    (1 + 1e-12) /* for rounding of lengths; the curator cuts what is longer all the same */

double tacit__kernel_noise_variance(const tacit__kernel_noise *noise, double users)
{
    TACIT__REQUIRE(noise->scale >= 0 && users >= 0);
    const double sum = TACIT__KERNEL_BOUND * noise->scale;
    return sum * sum * (noise->local ? users : 1);
}

static double weight_of(const tacit__pairs *pairs, size_t w)
{
    const double actions = (double)pairs->n_actions, contexts = (double)pairs->n_contexts;
    return (pairs->weights != NULL ? pairs->weights[w / pairs->n_actions] : 1 / contexts) / actions;
}

/* phi and lambda from psi [n][rank] in `psi`. */
static void rotate(tacit__kernel_features *f, size_t rank, double norm, const double *psi,
                   double *full, double *values, double *scratch, double *play)
{
    memset(full, 0, rank * rank * sizeof *full);
    for (size_t w = 0; w < f->n; w++)
        play[w] = weight_of(&f->pairs, w);
    double *turned = scratch;
    tacit__rank_update(rank, f->n, play, psi, turned, full);
    tacit__eigen(rank, full, values, scratch);
    tacit__rotate_many(rank, f->n, full, psi, turned);
    const double least = CUT * fmax(0, values[rank - 1]);
    double sum = 0, square = 0;
    for (f->p = 0; f->p < rank && values[rank - 1 - f->p] > least; f->p++) {
        const double value = values[rank - 1 - f->p];
        f->lambda[f->p] = value;
        sum += value;
        square += value * value;
    }
    for (size_t w = 0; w < f->n; w++)
        for (size_t j = 0; j < f->p; j++)
            f->phi[w * f->p + j] = turned[w * rank + rank - 1 - j];
    f->variance = square > 0 ? norm * norm * square / sum : 0;
    f->prior = square > 0 ? SMOOTH * f->variance / sum : SMOOTH * norm * norm;
}

tacit_status tacit__kernel_features_create(const tacit__pairs *pairs, size_t rank, double norm,
                                           tacit__kernel_features **out)
{
    const size_t n = pairs->n_contexts * pairs->n_actions, cap = rank < n ? rank : n;
    const size_t real = sizeof(double), row = cap * real;
    TACIT__REQUIRE(n > 0 && rank > 0 && norm > 0);
    size_t work = tacit__eigen_scratch(cap);
    work = work > n * cap ? work : n * cap;
    tacit__kernel_features w = {.pairs = *pairs, .n = n};
    tacit__kernel_features *f =
        TACIT__WORKSPACE(w, {&w.phi, n, row}, TACIT__PIECE(w.lambda, cap),
                         TACIT__PIECE(w.spectrum, cap), TACIT__PIECE(w.weight, cap));
    double *psi, *full, *values, *scratch, *play;
    void *pieces = TACIT__PIECES({&psi, n, row}, {&full, cap, row}, TACIT__PIECE(values, cap),
                                 TACIT__PIECE(scratch, work), TACIT__PIECE(play, n));
    if (f == NULL || pieces == NULL) {
        tacit__workspace_destroy(pieces);
        tacit__workspace_destroy(f);
        return TACIT_NO_MEMORY;
    }
    const size_t made = tacit__pivoted_features(&pairs->kernel, n, pairs->points, NULL, NULL,
                                                RESIDUAL, cap, psi, play, scratch);
    if (made > 0)
        rotate(f, made, norm, psi, full, values, scratch, play);
    tacit__workspace_destroy(pieces);
    *out = f;
    return TACIT_OK;
}

void tacit__kernel_features_destroy(tacit__kernel_features *f)
{
    tacit__workspace_destroy(f);
}

void tacit__kernel_features_prior(const tacit__kernel_features *f, double power, double share,
                                  double *out)
{
    double sum = 0;
    TACIT__REQUIRE(share > 0);
    for (size_t j = 0; j < f->p; j++) {
        out[j] = pow(f->lambda[j], power);
        sum += f->lambda[j] * out[j];
    }
    for (size_t j = 0; j < f->p; j++)
        out[j] *= share * f->variance / sum;
}

/* The level kappa of the first m directions: sum (kappa - 1 / (c s_j)) = 1. */
static double level(const double *spectrum, double c, size_t m)
{
    double sum = 1;
    for (size_t j = 0; j < m; j++)
        sum += 1 / (c * spectrum[j]);
    return sum / (double)m;
}

size_t tacit__kernel_fill(size_t p, const double *spectrum, double users, double variance,
                          double *weight)
{
    TACIT__REQUIRE(users >= 0 && variance >= 0);
    const double c = variance > 0 ? users * users / variance : HUGE_VAL;
    size_t m = p;
    memset(weight, 0, p * sizeof *weight);
    while (m > 0 && spectrum[m - 1] <= CUT * spectrum[0])
        m--;
    while (m > 1 && level(spectrum, c, m) <= 1 / (c * spectrum[m - 1]))
        m--;
    const double kappa = m > 0 ? level(spectrum, c, m) : 0;
    for (size_t j = 0; j < m; j++)
        weight[j] = sqrt((kappa - 1 / (c * spectrum[j])) / spectrum[j]);
    return m;
}

double tacit__kernel_features_left(const tacit__kernel_features *f,
                                   const tacit__kernel_noise *noise, double users)
{
    TACIT__REQUIRE(users >= 0);
    const double s2 = tacit__kernel_noise_variance(noise, users);
    double before = 0, after = 0;
    for (size_t j = 0; j < f->p; j++)
        f->spectrum[j] = f->prior * f->lambda[j];
    (void)tacit__kernel_fill(f->p, f->spectrum, users, s2, f->weight);
    for (size_t j = 0; j < f->p; j++) {
        const double s = f->spectrum[j], told = users * f->weight[j] * s;
        const double spread = s2 + users * TACIT__KERNEL_SPREAD * TACIT__KERNEL_SPREAD *
                                       f->weight[j] * f->weight[j] * s;
        before += s;
        after += s / (1 + (told > 0 ? told * told / spread : 0));
    }
    return before > 0 ? after / before : 0;
}

uint64_t tacit__kernel_features_users(const tacit__kernel_features *f,
                                      const tacit__kernel_noise *noise, double most)
{
    TACIT__REQUIRE(most > 0);
    double low = 0, high = 1;
    while (high < most && tacit__kernel_features_left(f, noise, high) > 0.5) {
        low = high;
        high *= 2;
    }
    while (high - low > fmax(1, 1e-3 * low)) {
        const double middle = floor((low + high) / 2);
        if (tacit__kernel_features_left(f, noise, middle) > 0.5)
            low = middle;
        else
            high = middle;
    }
    return (uint64_t)fmin(fmax(1, high), most);
}

/* For a Gaussian mean reward, the action that is best by estimates that leave the share l of its variance
 * open is worth sqrt(1 - l) times what the best one is worth. Uniform play is worth nothing. So n users who
 * explore lose n, and the others (K - n) (1 - sqrt(1 - l(n))), in units of what the best action is worth. */
uint64_t tacit__kernel_features_explore(const tacit__kernel_features *f,
                                        const tacit__kernel_noise *noise, double users)
{
    TACIT__REQUIRE(users > 0);
    double least = HUGE_VAL, explore = 1;
    for (double n = 1; n <= fmax(1, users / 2); n = ceil(STRIDE * n)) {
        const double left = tacit__kernel_features_left(f, noise, n);
        const double loss = n + (users - n) * (1 - sqrt(1 - left));
        if (loss < least) {
            least = loss;
            explore = n;
        }
    }
    return (uint64_t)explore;
}
