/* Tests on noise: sound draws pass, each fault has its name. Draws come from the library's own sampler. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "audit/residuals.h"
#include "noise/sampler.h"

enum { N = 16, STEPS = 200 };

typedef enum fault { SOUND, HALF, SHIFTED, ZERO, AGAIN, SHARED, SEED, DRIFT } fault;

static tacit__residual_test judge(tacit_law law, double scale, uint64_t seed, fault what,
                                  double error)
{
    tacit_noise *root, *other_root;
    tacit__site site, other_site;
    tacit__residuals r = {0}, first = {0};
    int64_t draws[N], before[N], other[N];
    assert_ok(tacit_noise_create_simulated(seed, &root));
    assert_ok(tacit_noise_create_simulated(what == SEED ? seed : seed + 1000000, &other_root));
    tacit__site_open(&site, root, "draws");
    tacit__site_open(&other_site, other_root, "draws");
    tacit__noise_law kind = law == TACIT_LAW_GAUSSIAN ? TACIT__GAUSSIAN : TACIT__LAPLACE;
    for (uint64_t t = 0; t < STEPS; t++) {
        tacit__noise_draw(&site, what == AGAIN ? 0 : t, 0, kind, scale, N, draws);
        tacit__noise_draw(&other_site, t, 0, kind, scale, N, other);
        for (size_t i = 0; i < N; i++) {
            if (what == HALF)
                draws[i] /= 2;
            if (what == SHIFTED)
                draws[i] += (int64_t)(scale / 4);
            if (what == SHARED && i > 0)
                draws[i] = draws[0];
            if (what == DRIFT && t > 0)
                draws[i] = (int64_t)(0.5 * (double)before[i] + 0.866 * (double)draws[i]);
        }
        if (what == ZERO)
            draws[3] = 0;
        tacit__residuals_add(t < STEPS / 2 ? &first : &r, law, scale, N, draws,
                             t > 0 ? before : NULL, other);
        memcpy(before, draws, sizeof before);
    }
    tacit__residuals_merge(&r, &first);
    tacit_noise_destroy(root);
    tacit_noise_destroy(other_root);
    assert_true(r.n == (double)N * STEPS);
    return tacit__residuals_judge(&r, error);
}

/* 200 sets at an error probability of 0.05 each: 10 false alarms allowed, 26 have a chance of 1e-5. */
TEST(sound_noise_is_seldom_suspected)
{
    for (int law = 0; law < 2; law++) {
        unsigned alarms = 0;
        for (uint64_t seed = 0; seed < 200; seed++)
            alarms += judge(law == 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE, 1000, seed, SOUND,
                            0.05) != TACIT__RESIDUAL_TESTS;
        assert_true(alarms <= 25);
        assert_int_equal(judge(TACIT_LAW_GAUSSIAN, 2, 5, SOUND, 1e-6), TACIT__RESIDUAL_TESTS);
        assert_int_equal(judge(TACIT_LAW_LAPLACE, 2, 5, SOUND, 1e-6), TACIT__RESIDUAL_TESTS);
    }
}

TEST(every_fault_is_named)
{
    for (int law = 0; law < 2; law++) {
        tacit_law l = law == 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE;
        assert_int_equal(judge(l, 1e5, 1, HALF, 1e-6), TACIT__TEST_SIZE);
        assert_int_equal(judge(l, 1e5, 1, SHIFTED, 1e-6), TACIT__TEST_MEAN);
        assert_int_equal(judge(l, 1e5, 1, ZERO, 1e-6), TACIT__TEST_ZEROS);
        assert_int_equal(judge(l, 1e5, 1, AGAIN, 1e-6), TACIT__TEST_SAME_STEP);
        assert_int_equal(judge(l, 1e5, 1, SHARED, 1e-6), TACIT__TEST_SAME_COORDINATE);
        assert_int_equal(judge(l, 1e5, 1, SEED, 1e-6), TACIT__TEST_SAME_RUN);
        assert_int_equal(judge(l, 1e5, 1, DRIFT, 1e-6), TACIT__TEST_STEPS);
    }
}

TEST(few_draws_are_not_judged)
{
    tacit__residuals r = {0};
    int64_t zeros[N] = {0};
    tacit__residuals_add(&r, TACIT_LAW_LAPLACE, 1000, N, zeros, NULL, NULL);
    assert_int_equal(tacit__residuals_judge(&r, 0.5), TACIT__RESIDUAL_TESTS);
    assert_true(isnan(tacit__residuals_size(&(tacit__residuals){0})));
}
