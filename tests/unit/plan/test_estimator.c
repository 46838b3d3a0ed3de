/* The estimator of an epoch: it is the published one, its sensitivity is reached and never exceeded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/pivoted.h"
#include "plan/estimator.h"
#include "support/check.h"
#include "support/random.h"

enum { CONTEXTS = 4, ACTIONS = 5, PAIRS = CONTEXTS * ACTIONS, D = 2, COPIES_OF_S = 2 };

static void words(void *context, uint64_t stream, uint64_t first, size_t n, uint64_t *out)
{
    uint64_t seed = *(const uint64_t *)context + 1000 * stream + first;
    for (size_t i = 0; i < n; i++)
        out[i] = random_word(&seed);
}

typedef struct rig {
    double points[PAIRS * D], weights[CONTEXTS];
    bool active[PAIRS];
    uint64_t seed;
    tacit__estimator *e;
} rig;

static void open_rig(rig *r, const char *kernel)
{
    tacit__pairs pairs = {
        .n_contexts = CONTEXTS, .n_actions = ACTIONS, .points = r->points, .weights = r->weights};
    uint64_t seed = 3;
    for (size_t i = 0; i < PAIRS * D; i++)
        r->points[i] = random_between(&seed, -1, 1);
    memcpy(r->points + 3 * D, r->points + 7 * D, D * sizeof *r->points); /* the same point twice */
    for (size_t c = 0; c < CONTEXTS; c++)
        r->weights[c] = (1 + (double)c) / 10;
    for (size_t w = 0; w < PAIRS; w++)
        r->active[w] = w % 3 != 1;
    r->seed = 17;
    assert_ok(tacit__kernel_read(kernel, D, 0, &pairs.kernel, NULL));
    tacit__kernel_fit(&pairs.kernel, PAIRS, r->points);
    assert_ok(tacit__estimator_create(&pairs, PAIRS, &r->e));
}

static tacit__estimator_design wish_of(rig *r, bool sampled, double copies)
{
    return (tacit__estimator_design){.active = r->active,
                                     .users = 30,
                                     .copies = copies,
                                     .sampled = sampled,
                                     .tol = 1e-12,
                                     .tau = 0.7,
                                     .bound = 0.5,
                                     .norm = 1,
                                     .words = words,
                                     .context = &r->seed,
                                     .stream = 1};
}

static double k(const rig *r, size_t a, size_t b)
{
    return tacit__kernel_value(&r->e->pairs.kernel, r->points + a * D, r->points + b * D);
}

/* M^+ b by eigenvectors, in the place of b; M is n x n, lower triangle. */
static void pseudo_solve(size_t n, double *m, double *b)
{
    double *values = calloc(n, sizeof *values), *turned = calloc(n, sizeof *turned);
    SCOPED_FREE double *scratch = calloc(tacit__eigen_scratch(n), sizeof *scratch);
    tacit__eigen(n, m, values, scratch);
    tacit__rotate_many(n, 1, m, b, turned);
    for (size_t j = 0; j < n; j++)
        turned[j] = values[j] > 1e-11 * values[n - 1] ? turned[j] / values[j] : 0;
    tacit__combine(n, n, m, turned, b);
    free(values);
    free(turned);
}

/* k_S(w)^T (K_SR K_RS + tau K_SS)^+ K_SW y, as printed, with S as a list that repeats itself. */
static double literal(const rig *r, size_t w, const double *y, const size_t *met, size_t n_met)
{
    const tacit__estimator *e = r->e;
    size_t S[PAIRS * COPIES_OF_S], n = 0;
    for (size_t copy = 0; copy < COPIES_OF_S; copy++)
        for (size_t i = 0; i < e->n; i++)
            if (e->candidate[i] && (copy == 0 || i % 2 == 0))
                S[n++] = e->which[i];
    double *m = calloc(n * n, sizeof *m), *b = calloc(n, sizeof *b), sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = e->tau * k(r, S[i], S[j]);
            for (size_t q = 0; q < e->n; q++)
                x += e->omega[q] * k(r, S[i], e->which[q]) * k(r, e->which[q], S[j]);
            m[j * n + i] = x;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < n_met; t++)
            b[i] += y[t] * k(r, S[i], met[t]);
    pseudo_solve(n, m, b);
    for (size_t i = 0; i < n; i++)
        sum += k(r, w, S[i]) * b[i];
    free(m);
    free(b);
    return sum;
}

TEST(estimates_are_those_of_the_printed_formula)
{
    static const char *const kernels[] = {"matern-0.5(0.8)", "linear", "poly-2(1)", "se(0.3)"};
    static const double copies[] = {1, 3};
    for (size_t q = 0; q < sizeof kernels / sizeof *kernels; q++)
        for (size_t c = 0; c < 2; c++) {
            rig r;
            open_rig(&r, kernels[q]);
            tacit__estimator_design wish = wish_of(&r, true, copies[c]);
            tacit__estimator_build(r.e, &wish, PAIRS);
            const tacit__estimator *e = r.e;
            enum { MET = 25 };
            double y[MET], g[PAIRS] = {0};
            size_t met[MET];
            uint64_t seed = 4;
            for (size_t t = 0; t < MET; t++) {
                size_t place = random_below(&seed, e->n);
                met[t] = e->which[place];
                y[t] = random_between(&seed, -0.5, 0.5);
                for (size_t j = 0; j < e->p; j++)
                    g[j] += y[t] * e->length * e->v[place * e->p + j];
            }
            for (size_t i = 0; i < e->n; i++) {
                double mu = 0;
                for (size_t j = 0; j < e->p; j++)
                    mu += e->length * e->v[i * e->p + j] * g[j];
                double wanted = literal(&r, e->which[i], y, met, MET);
                assert_within(mu - wanted, -1e-8, 1e-8);
            }
            tacit__estimator_destroy(r.e);
        }
}

TEST(exact_expectation_has_the_weights_of_contexts)
{
    rig r;
    open_rig(&r, "se(0.4)");
    tacit__estimator_design wish = wish_of(&r, false, 0);
    tacit__estimator_build(r.e, &wish, PAIRS);
    double sum = 0;
    for (size_t c = 0; c < CONTEXTS; c++)
        for (size_t i = r.e->start[c]; i < r.e->start[c + 1]; i++) {
            double m = (double)(r.e->start[c + 1] - r.e->start[c]);
            assert_close(r.e->omega[i], 30 * r.weights[c] / m, 1e-12);
            sum += r.e->omega[i];
        }
    assert_close(sum, 30, 1e-12);
    tacit__estimator_destroy(r.e);
}

TEST(a_pair_drawn_twice_counts_as_weight_two)
{
    rig r;
    open_rig(&r, "se(0.4)");
    tacit__estimator_design wish = wish_of(&r, false, 4);
    tacit__estimator_build(r.e, &wish, PAIRS);
    double sum = 0;
    for (size_t i = 0; i < r.e->n; i++) {
        assert_true(r.e->omega[i] * 4 == floor(r.e->omega[i] * 4));
        sum += r.e->omega[i];
    }
    assert_close(sum, 30, 1e-12);
    tacit__estimator_destroy(r.e);
}

/* 2 is what the release declares for y / b in [-1, 1] and the stored vectors. */
TEST(sensitivity_is_reached_by_the_extreme_pair_and_never_exceeded)
{
    rig r;
    open_rig(&r, "matern-1.5(0.5)");
    tacit__estimator_design wish = wish_of(&r, false, 2);
    tacit__estimator_build(r.e, &wish, PAIRS);
    const tacit__estimator *e = r.e;
    uint64_t seed = 6;
    double worst = 0, longest = 0;
    for (size_t i = 0; i < e->n; i++) {
        double square = 0;
        for (size_t j = 0; j < e->p; j++)
            square += e->v[i * e->p + j] * e->v[i * e->p + j];
        longest = fmax(longest, sqrt(square));
        assert_close(square * e->length * e->length, e->square[i], 1e-12);
    }
    assert_within(longest, 1 - 1e-9, 1);
    for (int trial = 0; trial < 20000; trial++) {
        size_t a = random_below(&seed, e->n), b = random_below(&seed, e->n);
        double x = random_between(&seed, -1, 1), y = random_between(&seed, -1, 1), square = 0;
        for (size_t j = 0; j < e->p; j++) {
            double d = x * e->v[a * e->p + j] - y * e->v[b * e->p + j];
            square += d * d;
        }
        worst = fmax(worst, sqrt(square));
    }
    assert_within(worst, 1, 2);
    assert_within(2 * longest, 2 - 1e-8, 2); /* the longest vector, rewards 1 and -1 */
    tacit__estimator_destroy(r.e);
}

/* sigma_max >= the longest vector; a rank cap leaves a residual that both know. */
TEST(a_rank_cap_moves_mass_into_the_residual)
{
    rig r;
    open_rig(&r, "se(0.4)");
    tacit__estimator_design wish = wish_of(&r, false, 0);
    tacit__estimator_build(r.e, &wish, PAIRS);
    double full = r.e->sigma_max, leak = r.e->leak;
    assert_within(leak, 0, 1e-9);
    tacit__estimator_build(r.e, &wish, 3);
    assert_int_equal(r.e->p, 3);
    assert_true(r.e->leak > 0.01 && r.e->sigma_max >= r.e->length && r.e->sigma_max >= full);
    tacit__estimator_divide(r.e, r.e->sigma_max);
    for (size_t i = 0; i < r.e->n; i++) {
        double square = 0;
        for (size_t j = 0; j < r.e->p; j++)
            square += r.e->v[i * r.e->p + j] * r.e->v[i * r.e->p + j];
        assert_close(square * r.e->length * r.e->length, r.e->square[i], 1e-12);
        assert_true(square <= 1);
    }
    tacit__estimator_destroy(r.e);
}

/* More noise, more regularization (docs/why/kernel.md#the-regularizer); and the choice is the grid's best by the plain formula. */
TEST(tau_grows_with_the_noise)
{
    rig r;
    open_rig(&r, "se(0.4)");
    double last = 0;
    for (double noise = 0; noise < 1e5; noise = noise == 0 ? 1 : 10 * noise) {
        tacit__estimator_design wish = wish_of(&r, false, 0);
        wish.tau = 0;
        wish.noise = noise;
        tacit__estimator_build(r.e, &wish, PAIRS);
        assert_true(r.e->tau >= last);
        last = r.e->tau;
    }
    assert_true(last > 1);
    tacit__estimator_destroy(r.e);
}
