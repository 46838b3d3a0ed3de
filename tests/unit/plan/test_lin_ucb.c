/* LinUCB: sums, factorizations that follow, scores, limits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "base/cpu.h"
#include "contribute/regression.h"
#include "linalg/forms.h"
#include "linalg/symmetric.h"
#include "plan/papers/lin_ucb.h"
#include "release/curator.h"
#include "release/schedule.h"
#include "support/arena.h"
#include "support/random.h"
#include "support/solve.h"

SCOPED_TYPE(tacit__lin_ucb, tacit__lin_ucb_destroy)
SCOPED_TYPE(tacit__curator, tacit__curator_destroy)

enum { D = 5, ACTIONS = 21 };

static void random_vector(uint64_t *seed, size_t d, double *x)
{
    double square = 0;
    for (size_t i = 0; i < d; i++) {
        x[i] = random_normal(seed);
        square += x[i] * x[i];
    }
    double length = sqrt(random_unit(seed)) / sqrt(square);
    for (size_t i = 0; i < d; i++)
        x[i] *= length;
}

/* --- Arithmetic ---------------------------------------------------------------------------------- */

TEST(forms_are_those_of_a_plain_solve_on_every_path)
{
    static const size_t dimensions[] = {1, 2, 8, 20, 35}, numbers[] = {1, 2, 3, 4, 5, 6, 40};
    uint64_t seed = 2;
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 7; b++) {
            size_t d = dimensions[a], n = numbers[b];
            double *full = calloc(d * d, sizeof *full), *pivots = calloc(d, sizeof *pivots);
            double *theta = calloc(d, sizeof *theta), *x = calloc(n * d, sizeof *x);
            double *z = calloc(d, sizeof *z);
            float *rounded = calloc(d, sizeof *rounded);
            float *scratch = calloc(tacit__forms_scratch(d), sizeof *scratch);
            float *panels = calloc(tacit__panels_size(d), sizeof *panels);
            double inner[2][40], square[2][40];
            for (size_t i = 0; i < d; i++)
                full[i * d + i] = 1;
            for (int k = 0; k < 30; k++) {
                random_vector(&seed, d, z);
                tacit__rank_update(d, 1, NULL, z, NULL, full);
            }
            assert_true(tacit__cholesky(d, full));
            for (size_t i = 0; i < d; i++) {
                pivots[i] = 1 / full[i * d + i];
                theta[i] = random_normal(&seed);
            }
            for (size_t i = 0; i < n; i++)
                random_vector(&seed, d, x + i * d);
            tacit__panels_pack(d, full, pivots, panels);
            for (int base = 0; base < 2; base++) {
                tacit__cpu_pretend_base(base != 0);
                tacit__forms(d, n, panels, theta, x, scratch, inner[base], square[base]);
            }
            tacit__cpu_pretend_base(false);
            assert_memory_equal(inner[0], inner[1], n * sizeof(double));
            assert_memory_equal(square[0], square[1], n * sizeof(double));
            for (size_t i = 0; i < n; i++) {
                double sum = 0, exact = 0, squares = 0;
                memcpy(z, x + i * d, d * sizeof *z);
                for (size_t j = 0; j < d; j++) { /* row by row, in this order: the same bits */
                    rounded[j] = (float)z[j];
                    for (size_t k = 0; k < j; k++) {
                        z[j] -= full[k * d + j] * z[k];
                        rounded[j] -= (float)full[k * d + j] * rounded[k];
                    }
                    z[j] *= pivots[j];
                    rounded[j] *= (float)pivots[j];
                    sum += x[i * d + j] * theta[j];
                    exact += z[j] * z[j];
                    squares += (double)rounded[j] * (double)rounded[j];
                }
                assert_true(inner[0][i] == sum && square[0][i] == squares);
                assert_close(squares, exact, 1e-5);
            }
            free(full);
            free(pivots);
            free(theta);
            free(rounded);
            free(x);
            free(z);
            free(scratch);
            free(panels);
        }
}

/* --- Sums ------------------------------------------------------------------------------------------ */

/* growth 1: a release after each user. */
static tacit__curator *open_curator(tacit__regression_options o, double growth)
{
    uint64_t ends[256];
    tacit__curator *c = NULL;
    tacit__curator_spec spec;
    tacit_error err = {.message = ""};
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    if (growth > 1) {
        o.n_ends = tacit__schedule_from_root(o.users - 1, growth, ends);
        o.ends = ends;
    }
    if (tacit__regression_describe(&o, &spec, &err) != TACIT_OK ||
        tacit__curator_create(&spec, noise, &c, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return c;
}

static tacit_status add(tacit__curator *c, const double *x, size_t block, double y)
{
    return tacit__curator_add(c, &(tacit__user_view){.vector = x, .block = block, .y = y}, NULL);
}

static tacit__moments view(tacit__curator *c)
{
    if (tacit__curator_ends(c) == NULL)
        assert_ok(tacit__curator_refresh(c, NULL));
    return tacit__regression_view(tacit__curator_form(c), tacit__curator_stream(c, 0),
                                  tacit__curator_users(c), tacit__curator_shown(c),
                                  tacit__curator_released(c));
}

static tacit__curator *curator(tacit_guarantee g, double growth, uint64_t users, size_t blocks)
{
    const tacit__regression_options o = {.dimension = D,
                                         .blocks = blocks,
                                         .users = users,
                                         .guarantee = g,
                                         .mechanism = tacit_sum_default_mechanism(g),
                                         .response_weight = 1};
    return open_curator(o, growth);
}

/* Coordinate by coordinate, each product in its order: wide instructions give the same bits. */
TEST(a_user_is_placed_on_the_lattice)
{
    enum { LONG = 37, CELLS = LONG * (LONG + 1) / 2 + LONG };
    const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6};
    const tacit__regression_options o = {.dimension = LONG,
                                         .blocks = 1,
                                         .users = 1000,
                                         .guarantee = joint,
                                         .mechanism = tacit_sum_default_mechanism(joint),
                                         .response_weight = 0.7};
    uint64_t seed = 5;
    double x[LONG], unit[LONG];
    int64_t wide[CELLS], plain[CELLS];
    random_vector(&seed, LONG, x);
    SCOPED(tacit__curator) *c = open_curator(o, 1.2);
    const tacit__regression_form form = tacit__regression_form_of(tacit__curator_form(c));
    const double per_step = ldexp(1, form.bits);
    assert_ok(tacit__regression_contribute(&form, x, 0, -0.3, unit, wide, NULL));
    memcpy(x, unit, sizeof x);
    tacit__cpu_pretend_base(true);
    assert_ok(tacit__regression_contribute(&form, x, 0, -0.3, unit, plain, NULL));
    tacit__cpu_pretend_base(false);
    assert_memory_equal(wide, plain, sizeof wide);
    const int64_t *at = wide;
    for (size_t j = 0; j < LONG; j++)
        for (size_t i = 0; i <= j; i++) {
            double value = i < j ? M_SQRT2 * x[j] * x[i] : x[j] * x[j];
            assert_true((double)*at++ == rint(value * per_step));
        }
    for (size_t i = 0; i < LONG; i++)
        assert_true((double)*at++ == rint(0.7 * -0.3 * x[i] * per_step));
}

/* Two users with inner product r and opposite rewards; the bound is reached at r = s^2 / 2 (docs/why/kernel.md). */
TEST(the_sensitivity_is_the_largest_distance_of_two_users)
{
    static const double weights[] = {0.3, 1, M_SQRT2, 2};
    assert_close(tacit__regression_sensitivity(1), 2.1213203435596424, 1e-14);
    assert_close(tacit__regression_sensitivity(M_SQRT2), 2.8284271247461903, 1e-14);
    uint64_t seed = 4;
    for (size_t k = 0; k < 4; k++) {
        double s = weights[k], delta = tacit__regression_sensitivity(s), worst = 0;
        for (int trial = 0; trial < 200000; trial++) {
            double x[3], y[3], r = random_unit(&seed), p[6], q[6], square = 0;
            double length = trial % 2 ? 1 : random_unit(&seed),
                   u = trial % 3 ? 1 : random_between(&seed, -1, 1);
            x[0] = length;
            x[1] = 0;
            y[0] = r;
            y[1] = sqrt(1 - r * r);
            tacit__packed_outer(2, 1, x, p);
            tacit__packed_outer(2, 1, y, q);
            for (size_t i = 0; i < 2; i++) {
                p[3 + i] = s * u * x[i];
                q[3 + i] = -s * y[i];
            }
            for (size_t i = 0; i < 5; i++)
                square += (p[i] - q[i]) * (p[i] - q[i]);
            worst = fmax(worst, sqrt(square));
        }
        assert_within(worst / delta, 0.999, 1 + 1e-12);
    }
}

TEST(releases_come_when_users_have_grown)
{
    uint64_t at[64];
    size_t n = tacit__schedule_from_root(1000, 1.5, NULL);
    assert_int_equal(tacit__schedule_from_root(1000, 1.5, at), n);
    assert_int_equal(at[0], 32);
    for (size_t i = 1; i < n; i++)
        assert_true(at[i] == (uint64_t)ceil(1.5 * (double)at[i - 1]) && at[i] <= 1000);
    SCOPED(tacit__curator) *c =
        curator((tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6}, 1.5, 1001, 1);
    uint64_t seed = 9, version = 0;
    size_t next = 0;
    for (uint64_t t = 1; t <= 1000; t++) {
        double x[D];
        random_vector(&seed, D, x);
        assert_ok(add(c, x, 0, 1));
        bool due = next < n && at[next] == t;
        next += due;
        assert_true(view(c).version == version + due);
        version += due;
    }
    assert_int_equal(tacit_ledger_passed(tacit__curator_ledger(c), 0), n);
}

/* With next to no noise, batches and blocks add up to the exact sums. */
TEST(batches_add_up)
{
    const tacit_guarantee g[] = {
        {TACIT_MODEL_NONE, 0, 0}, {TACIT_MODEL_JOINT, 1e5, 0.4}, {TACIT_MODEL_LOCAL, 1e6, 0.4}};
    enum { USERS = 200, BLOCKS = 3 };
    tacit__curator *c[3];
    for (size_t m = 0; m < 3; m++)
        c[m] = curator(g[m], m == 0 ? 1 : 1.3, USERS + 1, BLOCKS);
    uint64_t seed = 6;
    for (uint64_t t = 0; t < USERS; t++) {
        double x[D], y = random_between(&seed, -1, 1);
        size_t block = random_below(&seed, BLOCKS);
        random_vector(&seed, D, x);
        for (size_t m = 0; m < 3; m++)
            assert_ok(add(c[m], x, block, y));
        tacit__moments exact = view(c[0]);
        uint64_t at[64];
        size_t n = tacit__schedule_from_root(USERS, 1.3, at);
        for (size_t m = 1; m < 3; m++)
            for (size_t i = 0; i < n; i++)
                if (at[i] == t + 1) {
                    tacit__moments noisy = view(c[m]);
                    for (size_t j = 0; j < BLOCKS * tacit__packed_size(D); j++)
                        assert_within(noisy.gram[j] - exact.gram[j], -0.2, 0.2);
                    for (size_t j = 0; j < BLOCKS * D; j++)
                        assert_within(noisy.response[j] - exact.response[j], -0.2, 0.2);
                }
    }
    for (size_t m = 0; m < 3; m++)
        tacit__curator_destroy(c[m]);
}

/* Users who all bring the same longest features and reward fill a batch to its bound, and rounding may push all of them in one
 * direction: none is refused for what the others brought. */
TEST(users_who_are_all_alike_fit_their_batch)
{
    enum { USERS = 3000 };
    uint64_t seed = 8;
    for (int trial = 0; trial < 10; trial++) {
        SCOPED(tacit__curator) *c =
            curator((tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6}, 2, USERS, 1);
        double x[D], square = 0;
        random_vector(&seed, D, x);
        for (size_t i = 0; i < D; i++)
            square += x[i] * x[i];
        for (size_t i = 0; i < D; i++)
            x[i] /= sqrt(square);
        for (uint64_t t = 0; t < USERS; t++)
            assert_ok(add(c, x, 0, trial % 2 == 0 ? 1 : -1));
    }
}

/* Noise of the declared size: users without features leave nothing else. 4000 numbers; five standard deviations. */
TEST(the_noise_has_the_size_that_is_told)
{
    const tacit_guarantee g[] = {{TACIT_MODEL_JOINT, 1, 1e-6}, {TACIT_MODEL_LOCAL, 1, 1e-6}};
    enum { BLOCKS = 200 };
    for (size_t m = 0; m < 2; m++) {
        SCOPED(tacit__curator) *c = curator(g[m], 1.5, 60, BLOCKS);
        const double zero[D] = {0};
        for (int t = 0; t < 59; t++)
            assert_ok(add(c, zero, 0, 0));
        tacit__moments r = view(c);
        double gram = 0, response = 0, n = BLOCKS * (double)tacit__packed_size(D);
        for (size_t i = 0; i < BLOCKS * tacit__packed_size(D); i++)
            gram += r.gram[i] * r.gram[i];
        for (size_t i = 0; i < BLOCKS * D; i++)
            response += r.response[i] * r.response[i];
        assert_within((gram / (r.gram_stddev * r.gram_stddev) - n) / sqrt(2 * n), -5, 5);
        n = BLOCKS * D;
        assert_within((response / (r.response_stddev * r.response_stddev) - n) / sqrt(2 * n), -5,
                      5);
    }
}

TEST(what_is_too_long_is_refused_and_changes_nothing)
{
    SCOPED(tacit__curator) *c = curator((tacit_guarantee){TACIT_MODEL_NONE, 0, 0}, 1, 10, 2);
    const double good[D] = {1}, bad[D] = {0.8, 0.8}, strange[D] = {(double)NAN};
    assert_status(add(c, bad, 0, 0), TACIT_OUT_OF_BOUND);
    assert_status(add(c, strange, 0, 0), TACIT_OUT_OF_BOUND);
    assert_status(add(c, good, 2, 0), TACIT_OUT_OF_BOUND);
    assert_status(add(c, good, 0, 1.1), TACIT_OUT_OF_BOUND);
    assert_status(add(c, good, 0, (double)NAN), TACIT_OUT_OF_BOUND);
    assert_true(view(c).users == 0);
    for (int t = 0; t < 10; t++)
        assert_ok(add(c, good, 0, 1));
    assert_status(add(c, good, 0, 1), TACIT_EXHAUSTED);
}

/* --- The planner ----------------------------------------------------------------------------------- */

/* theta by plain elimination on H = lambda I + V. */
static void solve_packed(const double *packed, double lambda, const double *u, double *theta)
{
    double a[D * D];
    for (size_t j = 0, n = 0; j < D; j++)
        for (size_t i = 0; i <= j; i++, n++)
            a[i * D + j] = a[j * D + i] = i == j ? packed[n] + lambda : packed[n] / M_SQRT2;
    (void)solve_plainly(D, a, u, theta);
}

TEST(the_factor_follows_the_sums)
{
    const tacit__lin_ucb_options o = {.dimension = D,
                                      .blocks = 2,
                                      .n_actions = 2,
                                      .users = 3000,
                                      .bonus_scale = 1,
                                      .regularizer = 0.5,
                                      .failure = 0.1,
                                      .parameter_norm = 1,
                                      .shift = 2};
    SCOPED(tacit__lin_ucb) *p = NULL;
    SCOPED(tacit__curator) *c = curator((tacit_guarantee){TACIT_MODEL_NONE, 0, 0}, 1, 3000, 2);
    assert_ok(tacit__lin_ucb_create(&o, &p));
    uint64_t seed = 12;
    for (int t = 0; t < 2500; t++) {
        double x[D], theta[D], wanted[D], beta, beta_fresh;
        tacit__moments m = view(c);
        assert_true(tacit__lin_ucb_update(p, &m));
        assert_false(tacit__lin_ucb_update(p, &m));
        if (t % 500 == 0) {
            size_t b = (size_t)(t / 500 % 2);
            SCOPED(tacit__lin_ucb) *fresh = NULL;
            assert_ok(tacit__lin_ucb_create(&o, &fresh));
            (void)tacit__lin_ucb_update(fresh, &m);
            tacit__lin_ucb_estimate(p, b, theta, &beta);
            tacit__lin_ucb_estimate(fresh, b, wanted, &beta_fresh);
            assert_close(beta, beta_fresh, 1e-9);
            solve_packed(m.gram + b * tacit__packed_size(D), 0.5, m.response + b * D, wanted);
            for (size_t i = 0; i < D; i++)
                assert_within(theta[i] - wanted[i], -1e-9, 1e-9);
        }
        random_vector(&seed, D, x);
        assert_ok(add(c, x, random_below(&seed, 2), random_between(&seed, -1, 1)));
    }
}

/* Noise can make a Gram matrix negative; both repairs give a learner that still answers, by finite numbers. */
TEST(noise_that_outweighs_the_data_is_repaired)
{
    double gram[15] = {0}, response[D] = {1, 2, 3, 4, 5}, scores[2], probability;
    for (size_t i = 0; i < 15; i++)
        gram[i] = i % 2 ? 300 : -400;
    for (int raise = 0; raise < 2; raise++)
        for (double shift = 0; shift <= 2; shift += 0.5) {
            const tacit__lin_ucb_options o = {.dimension = D,
                                              .blocks = 1,
                                              .n_actions = 2,
                                              .users = 100,
                                              .bonus_scale = 1,
                                              .regularizer = 1,
                                              .failure = 0.1,
                                              .parameter_norm = 1,
                                              .shift = shift,
                                              .raise = raise != 0};
            const double x[2 * D] = {1, 0, 0, 0, 0, 0, 1};
            SCOPED(tacit__lin_ucb) *p = NULL;
            tacit__moments m = {.users = 10,
                                .version = 1,
                                .gram = gram,
                                .response = response,
                                .gram_stddev = 100,
                                .response_stddev = 100};
            assert_ok(tacit__lin_ucb_create(&o, &p));
            (void)tacit__lin_ucb_update(p, &m);
            SCOPED_FREE double *scratch = calloc(tacit__lin_ucb_act_scratch(p), sizeof *scratch);
            uint32_t a = tacit__lin_ucb_act(p, x, 0.5, &probability, scores, scratch);
            assert_true(a < 2 && isfinite(scores[0]) && isfinite(scores[1]));
            assert_true(scores[a] >= scores[1 - a]);
        }
}

TEST(ties_are_broken_by_chance)
{
    const tacit__lin_ucb_options o = {.dimension = 1,
                                      .blocks = 1,
                                      .n_actions = 4,
                                      .users = 100,
                                      .bonus_scale = 1,
                                      .regularizer = 1,
                                      .failure = 0.1,
                                      .parameter_norm = 1};
    const double x[] = {0.5, 1, -1, 1}, zero = 0;
    double scores[4], probability;
    SCOPED(tacit__lin_ucb) *p = NULL;
    tacit__moments m = {.gram = &zero, .response = &zero};
    assert_ok(tacit__lin_ucb_create(&o, &p));
    (void)tacit__lin_ucb_update(p, &m);
    SCOPED_FREE double *scratch = calloc(tacit__lin_ucb_act_scratch(p), sizeof *scratch);
    assert_int_equal(tacit__lin_ucb_act(p, x, 0, &probability, scores, scratch), 1);
    assert_int_equal(tacit__lin_ucb_act(p, x, 0.5, &probability, scores, scratch), 2);
    assert_int_equal(tacit__lin_ucb_act(p, x, 0.99, &probability, scores, scratch), 3);
    assert_close(probability, 1.0 / 3, 1e-15);
}
