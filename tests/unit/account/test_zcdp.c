/* zCDP against a direct minimization over the Renyi order, and its ends. */
#include "support/check.h"

#include <float.h>
#include <math.h>

#include <tacit/account.h>

#include "oracle/account_oracle.inc"

TEST(delta_agrees_with_the_oracle_and_is_not_below_it)
{
    for (size_t i = 0; i < N_OF(oracle_zcdp_delta); i++) {
        double delta, wanted = oracle_zcdp_delta[i].delta;
        assert_ok(tacit_zcdp_delta(oracle_zcdp_delta[i].rho, oracle_zcdp_delta[i].epsilon, &delta));
        assert_within(delta, wanted * (1 - DBL_EPSILON), wanted * (1 + 1e-12));
    }
}

TEST(epsilon_agrees_with_the_oracle_and_is_not_below_it)
{
    for (size_t i = 0; i < N_OF(oracle_zcdp_epsilon); i++) {
        double epsilon, wanted = oracle_zcdp_epsilon[i].epsilon;
        assert_ok(
            tacit_zcdp_epsilon(oracle_zcdp_epsilon[i].rho, oracle_zcdp_epsilon[i].delta, &epsilon));
        assert_within(epsilon, wanted * (1 - DBL_EPSILON), wanted * (1 + 1e-12));
    }
}

TEST(known_public_values_are_met)
{
    double x;
    assert_ok(tacit_zcdp_epsilon(1.0 / 32, 1e-3, &x));
    assert_close(x, 0.6880024554878085, 1e-13);
    assert_ok(tacit_zcdp_delta(1.0 / 32, 0, &x));
    assert_close(x, 0.1508457845622862, 1e-13);
    assert_ok(tacit_zcdp_delta(0.05, 0.25, &x));
    assert_close(x, 8.17727531036956e-2, 1e-13);
    assert_ok(tacit_zcdp_delta(5e-30, 1e-13, &x));
    assert_close(x, 2.619676329730346e-234, 1e-11);
    /* sigma = 4.530877117 is (1, 1e-6)-DP by this conversion */
    assert_ok(tacit_zcdp_epsilon(1 / (2 * 4.530877117 * 4.530877117), 1e-6, &x));
    assert_close(x, 1, 1e-8);
}

TEST(every_renyi_order_gives_a_delta_that_is_no_smaller)
{
    const double rho = 0.2, eps = 1.7;
    double best;
    assert_ok(tacit_zcdp_delta(rho, eps, &best));
    for (double a = 1.01; a < 60; a *= 1.1) {
        double log_delta = (a - 1) * (a * rho - eps) + a * log1p(-1 / a) - log(a - 1);
        assert_true(exp(log_delta) >= best * (1 - 1e-12));
    }
}

TEST(the_two_directions_are_inverse)
{
    for (double rho = 1e-12; rho < 1e3; rho *= 17)
        for (double delta = 1e-200; delta < 1e-7; delta *= 1e23) {
            double eps, back;
            assert_ok(tacit_zcdp_epsilon(rho, delta, &eps));
            if (eps == 0)
                continue;
            assert_ok(tacit_zcdp_delta(rho, eps, &back));
            assert_close(back, delta, 1e-9);
        }
}

TEST(gaussian_noise_is_never_worse_than_its_rho)
{
    for (double mu = 0.01; mu < 20; mu *= 2.3)
        for (double eps = 0; eps < 30; eps = 1.5 * eps + 0.1) {
            double exact, by_rho;
            assert_ok(tacit_gdp_delta(mu, eps, &exact));
            assert_ok(tacit_zcdp_delta(mu * mu / 2, eps, &by_rho));
            assert_true(by_rho >= exact);
        }
}

TEST(the_ends_have_their_limits)
{
    double x;
    assert_ok(tacit_zcdp_delta(0, 1, &x));
    assert_true(x == 0);
    assert_ok(tacit_zcdp_delta(HUGE_VAL, 1, &x));
    assert_true(x == 1);
    assert_ok(tacit_zcdp_delta(1, HUGE_VAL, &x));
    assert_true(x == 0);
    assert_ok(tacit_zcdp_delta(1e300, 1, &x));
    assert_true(x == 1);
    assert_ok(tacit_zcdp_delta(1e-10, 1e10, &x));
    assert_true(x == DBL_TRUE_MIN);
    assert_ok(tacit_zcdp_epsilon(0, 0, &x));
    assert_true(x == 0);
    assert_ok(tacit_zcdp_epsilon(1, 0, &x));
    assert_true(x == HUGE_VAL);
    assert_ok(tacit_zcdp_epsilon(HUGE_VAL, 0.1, &x));
    assert_true(x == HUGE_VAL);
    assert_ok(tacit_zcdp_epsilon(1e-30, 0.5, &x));
    assert_true(x == 0);
}

TEST(wrong_arguments_get_their_status)
{
    double x = 42;
    assert_status(tacit_zcdp_delta(-1, 1, &x), TACIT_BAD_ARGUMENT);
    assert_status(tacit_zcdp_delta((double)NAN, 1, &x), TACIT_BAD_ARGUMENT);
    assert_status(tacit_zcdp_delta(1, -1, &x), TACIT_BAD_EPSILON);
    assert_status(tacit_zcdp_delta(1, 1, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_zcdp_epsilon(1, 1, &x), TACIT_BAD_DELTA);
    assert_status(tacit_zcdp_epsilon(1, (double)NAN, &x), TACIT_BAD_DELTA);
    assert_status(tacit_zcdp_epsilon(1, 0.1, NULL), TACIT_BAD_ARGUMENT);
    assert_true(x == 42);
}
