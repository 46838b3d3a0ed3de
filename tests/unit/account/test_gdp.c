/* Gaussian DP against values computed in 120 digits, round trips, and its ends. */
#include "support/check.h"

#include <float.h>
#include <math.h>

#include <tacit/account.h>

#include "oracle/account_oracle.inc"

#define ULPS(n) ((n)*DBL_EPSILON)

TEST(mu_agrees_with_the_oracle_and_is_not_above_it)
{
    for (size_t i = 0; i < N_OF(oracle_gdp_mu); i++) {
        double mu;
        assert_ok(tacit_gdp_mu(oracle_gdp_mu[i].epsilon, oracle_gdp_mu[i].delta, &mu));
        assert_within(mu, oracle_gdp_mu[i].mu * (1 - 1e-12), oracle_gdp_mu[i].mu);
    }
}

TEST(delta_agrees_with_the_oracle_and_is_not_below_it)
{
    for (size_t i = 0; i < N_OF(oracle_gdp_delta); i++) {
        double delta, wanted = oracle_gdp_delta[i].delta;
        assert_ok(tacit_gdp_delta(oracle_gdp_delta[i].mu, oracle_gdp_delta[i].epsilon, &delta));
        assert_within(delta, wanted, wanted * (1 + ULPS(1)));
    }
}

TEST(epsilon_agrees_with_the_oracle_and_is_not_below_it)
{
    for (size_t i = 0; i < N_OF(oracle_gdp_delta); i++) {
        /* The table's delta is a double near the true one, which moves epsilon by as much as
         * delta / (d delta / d eps) <= 1 + 1/mu, relatively to a rounding of delta. */
        double mu = oracle_gdp_delta[i].mu, wanted = oracle_gdp_delta[i].epsilon, epsilon;
        double delta = oracle_gdp_delta[i].delta * (1 - ULPS(1));
        if (delta < DBL_MIN)
            continue;
        assert_ok(tacit_gdp_epsilon(mu, delta, &epsilon));
        double room = 1e-12 * wanted + ULPS(8) * mu * (1 + delta / (1 - delta)) + ULPS(8) * mu * mu;
        if (mu <= 1)
            assert_within(epsilon, wanted, wanted + room);
    }
}

TEST(known_public_values_are_met)
{
    double x;
    assert_ok(tacit_gdp_delta(0.1, 0.1, &x));
    assert_close(x, 0.008751768145810, 1e-12);
    assert_ok(tacit_gdp_delta(0.5, log(3), &x));
    assert_close(x, 0.004159742234000802, 1e-12);
    assert_ok(tacit_gdp_delta(2, 0, &x));
    assert_close(x, 0.6826894921370859, 1e-14);
    /* Published as 3.129776773173962e-141; 700 digits give 3.12977677298017e-141. */
    assert_ok(tacit_gdp_delta(10.0 / 500, 0.5, &x));
    assert_close(x, 3.129776772980175e-141, 1e-12);
    assert_ok(tacit_gdp_delta(1, 1, &x));
    assert_close(x, 0.126936737506644, 1e-12);
    assert_ok(tacit_gdp_epsilon(sqrt(10), 1e-6, &x));
    assert_close(x, 19.42365647403, 1e-12);
    assert_ok(tacit_gdp_mu(1, 1e-5, &x));
    assert_close(1 / x, 3.730631634816, 1e-12);
    assert_ok(tacit_gdp_mu(1, 0.78760074, &x));
    assert_close(1 / x, 1.0 / 3, 1e-8);
}

TEST(round_trips_never_promise_too_much)
{
    for (double log_eps = -3; log_eps <= 3; log_eps += 0.75)
        for (double log_delta = -300; log_delta < 0; log_delta *= 0.6) {
            if (log_delta > -0.05)
                break;
            double eps = pow(10, log_eps), delta = pow(10, log_delta), mu, back;
            assert_ok(tacit_gdp_mu(eps, delta, &mu));
            assert_ok(tacit_gdp_delta(mu, eps, &back));
            assert_within(back, delta * (1 - 1e-11), delta);
            assert_ok(tacit_gdp_epsilon(mu, delta, &back));
            assert_within(back, eps * (1 - 1e-11), eps);
            assert_ok(tacit_gdp_delta(mu, back, &back));
            assert_within(back, delta * (1 - 1e-11), delta);
        }
}

TEST(delta_falls_with_epsilon_and_rises_with_mu)
{
    double last_mu_row[12] = {0};
    for (double mu = 0.01; mu < 100; mu *= 3) {
        double last = 2;
        for (int i = 0; i < 12; i++) {
            double delta;
            assert_ok(tacit_gdp_delta(mu, 0.25 * i * (1 + mu), &delta));
            /* strictly, but where doubles end */
            assert_true(delta < last || delta == 1 || delta == DBL_TRUE_MIN);
            last = delta;
            assert_ok(tacit_gdp_delta(mu, 0.5 * i, &delta));
            assert_true(delta > last_mu_row[i] || delta == 1 || delta == DBL_TRUE_MIN);
            last_mu_row[i] = delta;
        }
    }
}

TEST(the_ends_have_their_limits)
{
    double x;
    assert_ok(tacit_gdp_delta(0, 1, &x));
    assert_true(x == 0);
    assert_ok(tacit_gdp_delta(HUGE_VAL, 1, &x));
    assert_true(x == 1);
    assert_ok(tacit_gdp_delta(1, HUGE_VAL, &x));
    assert_true(x == 0);
    assert_ok(tacit_gdp_delta(DBL_TRUE_MIN, 0.1, &x));
    assert_within(x, 0, DBL_TRUE_MIN);
    assert_ok(tacit_gdp_delta(1e-300, 0, &x));
    assert_close(x, 1e-300 / sqrt(2 * acos(-1)), 1e-12);
    assert_ok(tacit_gdp_delta(1e308, 1e308, &x));
    assert_true(x == 1);
    assert_ok(tacit_gdp_delta(1e9, 1e18, &x));
    assert_within(x, 0, DBL_TRUE_MIN);
    assert_ok(tacit_gdp_epsilon(1, 0, &x));
    assert_true(x == HUGE_VAL);
    assert_ok(tacit_gdp_epsilon(0, 0, &x));
    assert_true(x == 0);
    assert_ok(tacit_gdp_epsilon(1, 0.39, &x)); /* delta(0) = 0.3829 */
    assert_true(x == 0);
    assert_ok(tacit_gdp_mu(HUGE_VAL, 0.1, &x));
    assert_true(x == HUGE_VAL);
    assert_ok(tacit_gdp_mu(1, 0, &x));
    assert_true(x == 0);
    assert_ok(tacit_gdp_mu(0, 0.5, &x)); /* 2 Phi(mu/2) - 1 = 1/2 */
    assert_close(x, 1.348979500392163, 1e-14);
}

TEST(wrong_arguments_get_their_status_and_leave_the_result_alone)
{
    double x = 42, nan_value = (double)NAN;
    assert_status(tacit_gdp_delta(-1, 1, &x), TACIT_BAD_ARGUMENT);
    assert_status(tacit_gdp_delta(nan_value, 1, &x), TACIT_BAD_ARGUMENT);
    assert_status(tacit_gdp_delta(1, -1, &x), TACIT_BAD_EPSILON);
    assert_status(tacit_gdp_delta(1, nan_value, &x), TACIT_BAD_EPSILON);
    assert_status(tacit_gdp_delta(1, 1, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_gdp_epsilon(1, 1, &x), TACIT_BAD_DELTA);
    assert_status(tacit_gdp_epsilon(1, -1e-300, &x), TACIT_BAD_DELTA);
    assert_status(tacit_gdp_epsilon(1, nan_value, &x), TACIT_BAD_DELTA);
    assert_status(tacit_gdp_epsilon(nan_value, 0.1, &x), TACIT_BAD_ARGUMENT);
    assert_status(tacit_gdp_mu(-1, 0.1, &x), TACIT_BAD_EPSILON);
    assert_status(tacit_gdp_mu(1, 2, &x), TACIT_BAD_DELTA);
    assert_status(tacit_gdp_mu(1, 0.1, NULL), TACIT_BAD_ARGUMENT);
    assert_true(x == 42);
}
