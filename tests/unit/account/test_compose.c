/* Composition chooses the sharpest method, agrees with public values, and with the noise scales. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include <tacit/account.h>

#include "base/memory.h"

#define GAUSSIAN(l2, sigma, n)                                                                     \
    {                                                                                              \
        .kind = TACIT_COST_GAUSSIAN, .sensitivity = (l2), .scale = (sigma), .count = (n)           \
    }
#define LAPLACE(l1, b, n)                                                                          \
    {                                                                                              \
        .kind = TACIT_COST_LAPLACE, .sensitivity = (l1), .scale = (b), .count = (n)                \
    }
#define BOX(e, d, n)                                                                               \
    {                                                                                              \
        .kind = TACIT_COST_BLACK_BOX, .epsilon = (e), .delta = (d), .count = (n)                   \
    }
#define ZCDP(r, n)                                                                                 \
    {                                                                                              \
        .kind = TACIT_COST_ZCDP, .rho = (r), .count = (n)                                          \
    }
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

#define at_delta(list, delta) compose_at_delta(list, COUNT_OF(list), delta)
#define at_epsilon(list, epsilon) compose_at_epsilon(list, COUNT_OF(list), epsilon)

static void assert_ordered(tacit_interval i)
{
    assert_true(i.low <= i.high && i.low >= 0);
}

static tacit_composition compose_at_delta(const tacit_cost *costs, size_t n, double delta)
{
    tacit_composition c;
    tacit_error err = {0};
    assert_ok(tacit_compose_at_delta(costs, n, delta, &c, &err));
    assert_ordered(c.epsilon);
    assert_true(c.delta.low == delta && c.delta.high == delta);
    return c;
}

static tacit_composition compose_at_epsilon(const tacit_cost *costs, size_t n, double epsilon)
{
    tacit_composition c;
    tacit_error err = {0};
    assert_ok(tacit_compose_at_epsilon(costs, n, epsilon, &c, &err));
    assert_ordered(c.delta);
    assert_true(c.epsilon.low == epsilon && c.epsilon.high == epsilon);
    return c;
}

TEST(gaussians_compose_exactly)
{
    tacit_cost ten[] = {GAUSSIAN(1, 1, 10)};
    tacit_composition c = at_delta(ten, 1e-6);
    assert_string_equal(c.method, "gaussian");
    assert_close(c.epsilon.high, 19.42365647403, 1e-12);
    assert_within(c.epsilon.high - c.epsilon.low, 0, 1e-13 * c.epsilon.high);
    assert_close(c.mu, sqrt(10), 1e-15);
    assert_close(c.rho, 5, 1e-15);

    tacit_cost three[] = {GAUSSIAN(1, sqrt(3), 1), GAUSSIAN(2, 2 * sqrt(3), 2)};
    c = at_epsilon(three, 1);
    assert_close(c.delta.high, 0.126936737506644, 1e-12);
    assert_close(c.mu, 1, 1e-15);

    /* rows of a public table: (sigma, l2, epsilon) -> delta */
    tacit_cost ten_wide[] = {GAUSSIAN(1, 10, 1)}, twenty[] = {GAUSSIAN(2, 20, 1)};
    assert_close(at_epsilon(ten_wide, 0.1).delta.high, 0.008751768145810, 1e-12);
    assert_close(at_epsilon(twenty, 0.1).delta.high, 0.008751768145810, 1e-12);
    tacit_cost five[] = {GAUSSIAN(5, 10, 1)}, half[] = {GAUSSIAN(1, 0.5, 1)};
    assert_close(at_epsilon(five, log(3)).delta.high, 0.004159742234000802, 1e-12);
    assert_close(at_epsilon(half, 0).delta.high, 0.6826894921370859, 1e-12);
}

TEST(pure_epsilons_add_up_without_a_rounding)
{
    tacit_cost laplace[] = {LAPLACE(1, 1, 3), LAPLACE(1, 2, 2)};
    tacit_composition c = at_delta(laplace, 0);
    assert_string_equal(c.method, "pure");
    assert_true(c.epsilon.high == 4 && c.epsilon.low == 4);
    assert_true(isnan(c.mu) && c.rho > 0);
    c = at_epsilon(laplace, 4);
    assert_true(c.delta.high == 0);
    tacit_cost thirds[] = {LAPLACE(2, 6, 3), BOX(0.5, 0, 2)};
    assert_true(at_delta(thirds, 0).epsilon.high == 2);
}

TEST(black_boxes_compose_optimally)
{
    tacit_cost boxes[] = {BOX(1, 0.001, 10), BOX(1, 0.001, 20)};
    tacit_composition c = at_epsilon(boxes, 22);
    assert_string_equal(c.method, "optimal");
    assert_true(c.delta.high <= 0.06);
    assert_true(at_epsilon(boxes, 20).delta.low > 0.06);
    assert_true(isnan(c.rho));
    tacit_cost two[] = {BOX(1, 0.1, 1), BOX(2, 0.2, 1)};
    c = at_epsilon(two, 3);
    assert_string_equal(c.method, "pld");
    assert_within(0.28, c.delta.low, c.delta.high);
    assert_within(c.delta.high - c.delta.low, 0, 1e-14);
    assert_true(isinf(at_delta(two, 0.27).epsilon.low));
}

TEST(mixtures_are_never_worse_than_adding_their_parts)
{
    tacit_cost all[] = {GAUSSIAN(1, 4, 3), LAPLACE(1, 10, 20), BOX(0.1, 1e-8, 5)};
    const double delta = 1e-6;
    tacit_composition c = at_delta(all, delta);
    assert_string_equal(c.method, "pld");
    double sum = compose_at_delta(&all[0], 1, 0.9e-6).epsilon.high + 2 + 0.5;
    assert_true(c.epsilon.high < sum);
    for (size_t i = 0; i < COUNT_OF(all); i++) /* and never better than one of them */
        assert_true(c.epsilon.high >= compose_at_delta(&all[i], 1, delta).epsilon.low);
    tacit_composition back = at_epsilon(all, c.epsilon.high);
    assert_within(back.delta.low, 0, delta * (1 + 1e-9));
    assert_close(back.delta.high, delta, 1e-3);
}

TEST(the_order_and_the_grouping_of_releases_do_not_matter)
{
    tacit_cost a[] = {LAPLACE(1, 10, 20), GAUSSIAN(1, 4, 3), LAPLACE(1, 5, 2)};
    tacit_cost b[] = {LAPLACE(2, 10, 1), GAUSSIAN(2, 8, 2), LAPLACE(1, 10, 15),
                      LAPLACE(1, 5, 1),  GAUSSIAN(1, 4, 1), LAPLACE(3, 30, 5)};
    tacit_composition x = at_delta(a, 1e-5), y = at_delta(b, 1e-5);
    assert_close(x.epsilon.high, y.epsilon.high, 1e-6);
}

TEST(zcdp_takes_everything_along)
{
    tacit_cost one[] = {ZCDP(1.0 / 32, 1)};
    tacit_composition c = at_delta(one, 1e-3);
    assert_string_equal(c.method, "zcdp");
    assert_close(c.epsilon.high, 0.6880024554878085, 1e-13);
    double gaussian;
    assert_ok(tacit_gdp_epsilon(0.25, 1e-3, &gaussian));
    assert_close(c.epsilon.low, gaussian, 1e-12);

    tacit_cost mixed[] = {ZCDP(0.01, 2), GAUSSIAN(1, 10, 1), LAPLACE(1, 10, 2), BOX(0.1, 1e-8, 2)};
    c = at_epsilon(mixed, 1);
    assert_string_equal(c.method, "zcdp");
    double rho = 0.02 + 0.005 + 4 * 0.1 * tanh(0.05), delta;
    assert_ok(tacit_zcdp_delta(rho, 1, &delta));
    assert_close(c.delta.high, delta + 2e-8, 1e-6);
    assert_true(isnan(c.rho) && isnan(c.mu));
    assert_close(at_delta(mixed, c.delta.high).epsilon.high, 1, 1e-9);
    assert_true(isinf(at_delta(mixed, 1e-8).epsilon.high)); /* the boxes alone fail more often */
}

/* rho = e tanh(e/2), from where its square leaves the doubles to where the tangent is 1. */
TEST(the_rho_of_a_tiny_release_is_never_rounded_away)
{
    for (int power = -320; power <= 300; power += 5) {
        double e = pow(10, power), wanted = e * tanh(e / 2);
        tacit_cost noise = LAPLACE(e, 1, 1), black = BOX(e, 0, 1);
        double laplace = compose_at_delta(&noise, 1, 0).rho,
               box = compose_at_delta(&black, 1, 0).rho;
        assert_true(laplace == box && laplace > 0);
        if (wanted > 1e-300)
            assert_within(laplace, wanted * (1 - 1e-15), wanted * (1 + 1e-15));
        else
            assert_true(laplace >= wanted && laplace <= 1e-300);
    }
    tacit_cost tiny = LAPLACE(1e-200, 1e200, 1000), many = LAPLACE(1, 1e155, 1000000000000);
    assert_true(compose_at_delta(&tiny, 1, 0).rho > 0);
    assert_close(compose_at_delta(&many, 1, 0).rho, 5e-299, 1e-14);
}

TEST(the_rho_of_pure_privacy_dominates_every_renyi_order)
{
    for (double e = 1e-3; e < 30; e *= 3) {
        tacit_cost box[] = {BOX(e, 0, 1)};
        double rho = at_delta(box, 0).rho, p = 1 / (1 + exp(-e)), q = exp(-e) * p;
        assert_true(rho <= e * e / 2 * (1 + 1e-14));
        for (double a = 1.001; a < 1000; a *= 1.3) {
            double renyi = log(pow(p / q, a - 1) * p + pow(q / p, a - 1) * q) / (a - 1);
            if (isfinite(renyi))
                assert_true(renyi <= a * rho * (1 + 1e-9) + 4e-16 / (a - 1)); /* of the log */
        }
    }
}

TEST(no_finite_epsilon_is_said_as_infinity)
{
    tacit_cost gaussian[] = {GAUSSIAN(1, 1, 1)}, box[] = {BOX(1, 0.1, 1)};
    tacit_cost mixed[] = {GAUSSIAN(1, 1, 1), LAPLACE(1, 1, 1)};
    assert_true(isinf(at_delta(gaussian, 0).epsilon.high));
    assert_true(isinf(at_delta(box, 0).epsilon.high));
    assert_true(at_delta(box, 0.1).epsilon.high == 1);
    assert_true(isinf(at_delta(mixed, 0).epsilon.high));
}

TEST(denormal_and_enormous_costs_give_numbers)
{
    tacit_cost costs[] = {GAUSSIAN(5e-324, 1e300, 1),
                          LAPLACE(5e-324, 1e300, 1),
                          GAUSSIAN(1e300, 1e-300, 1),
                          LAPLACE(1e300, 1e-300, 1),
                          GAUSSIAN(1, 1, UINT64_MAX),
                          LAPLACE(1, 1, UINT64_MAX),
                          BOX(0, 0, 1),
                          BOX(1e308, 0.999, UINT64_MAX),
                          ZCDP(5e-324, 1),
                          ZCDP(1e308, UINT64_MAX)};
    for (size_t i = 0; i < COUNT_OF(costs); i++)
        for (size_t j = i; j < COUNT_OF(costs); j++) {
            tacit_cost pair[] = {costs[i], costs[j]};
            tacit_composition c = compose_at_delta(pair, i == j ? 1 : 2, 1e-6);
            assert_false(isnan(c.epsilon.high) || isnan(c.epsilon.low));
            c = compose_at_epsilon(pair, i == j ? 1 : 2, 0.5);
            assert_within(c.delta.high, 0, 1);
        }
}

TEST(scales_agree_with_public_values)
{
    double x;
    assert_ok(tacit_gaussian_scale(1, 1e-5, 1, 1, &x, NULL));
    assert_close(x, 3.730631634816, 1e-12);
    assert_ok(tacit_gaussian_scale(1, 0.78760074, 1, 1, &x, NULL));
    assert_close(x, 1.0 / 3, 1e-8);
    assert_ok(tacit_gaussian_scale(1, 0.78760074, 6, 25, &x, NULL));
    assert_close(x, 10, 1e-8);
    assert_ok(tacit_laplace_scale(3, 0, 21, 10, &x, NULL));
    assert_true(x == 70);
    assert_ok(tacit_laplace_scale(1, 1e-4, 1, 20, &x, NULL));
    assert_within(x, 13.5, 13.7);
    assert_ok(tacit_laplace_scale(1, 1e-4, 0.5, 20, &x, NULL));
    assert_within(x, 6.7, 6.9);
    assert_ok(tacit_laplace_scale(1, 1e-4, 1, 500, &x, NULL));
    assert_within(x, 70.9, 71.1);
}

/* The total variation of Gaussian noise is 2 Phi(mu/2) - 1 = erf(mu / sqrt(8)); of one Laplace release 1 - e^(-l1 / (2 b)). */
TEST(an_epsilon_of_zero_bounds_the_total_variation)
{
    static const double deltas[] = {1e-12, 1e-6, 0.1, 0.5, 0.99};
    static const uint64_t counts[] = {1, 2, 40};
    double sigma, b, mu;
    assert_ok(tacit_gaussian_scale(0, 0.1, 1, 1, &sigma, NULL));
    assert_close(sigma, 3.978948280545, 1e-12);
    for (size_t i = 0; i < 5; i++) {
        assert_ok(tacit_gdp_mu(0, deltas[i], &mu));
        assert_close(erf(mu / sqrt(8)), deltas[i], 1e-13);
        for (size_t k = 0; k < 3; k++) {
            double n = (double)counts[k];
            assert_ok(tacit_gaussian_scale(0, deltas[i], 3, counts[k], &sigma, NULL));
            assert_close(erf(3 * sqrt(n) / sigma / sqrt(8)), deltas[i], 1e-13);
            tacit_cost gaussian = GAUSSIAN(3, sigma, counts[k]);
            assert_true(compose_at_delta(&gaussian, 1, deltas[i]).epsilon.high == 0);
            assert_ok(tacit_laplace_scale(0, deltas[i], 3, counts[k], &b, NULL));
            tacit_cost laplace = LAPLACE(3, b, counts[k]);
            assert_within(compose_at_epsilon(&laplace, 1, 0).delta.high, 0, deltas[i]);
            if (counts[k] == 1)
                assert_close(-expm1(-3 / (2 * b)), deltas[i], 1e-13);
            laplace.scale *= 0.999;
            assert_true(compose_at_epsilon(&laplace, 1, 0).delta.high > deltas[i]);
        }
    }
}

TEST(a_scale_keeps_its_promise_and_a_smaller_one_does_not)
{
    const double epsilons[] = {0.01, 1, 8}, deltas[] = {0, 1e-30, 1e-6, 0.1};
    const uint64_t counts[] = {1, 2, 17};
    for (size_t i = 0; i < COUNT_OF(epsilons); i++)
        for (size_t j = 0; j < COUNT_OF(deltas); j++)
            for (size_t k = 0; k < COUNT_OF(counts); k++) {
                double b, s, eps = epsilons[i], delta = deltas[j];
                assert_ok(tacit_laplace_scale(eps, delta, 3, counts[k], &b, NULL));
                tacit_cost kept[] = {LAPLACE(3, b, counts[k])};
                assert_true(at_delta(kept, delta).epsilon.high <= eps);
                tacit_cost broken[] = {LAPLACE(3, b * (1 - 1e-4), counts[k])};
                assert_true(at_delta(broken, delta).epsilon.low > eps * (1 - 1e-4));
                assert_true(at_delta(broken, delta).epsilon.high > eps);
                if (delta == 0)
                    continue;
                assert_ok(tacit_gaussian_scale(eps, delta, 3, counts[k], &s, NULL));
                tacit_cost noise[] = {GAUSSIAN(3, s, counts[k])};
                assert_true(at_delta(noise, delta).epsilon.high <= eps);
                tacit_cost less[] = {GAUSSIAN(3, s * (1 - 1e-11), counts[k])};
                assert_true(at_delta(less, delta).epsilon.high > eps);
            }
}

TEST(wrong_costs_are_refused_by_name)
{
    const struct {
        tacit_cost cost;
        tacit_status status;
    } rows[] = {
        {GAUSSIAN(1, 1, 0), TACIT_BAD_COUNT},
        {GAUSSIAN(0, 1, 1), TACIT_BAD_SENSITIVITY},
        {GAUSSIAN((double)NAN, 1, 1), TACIT_BAD_SENSITIVITY},
        {LAPLACE(HUGE_VAL, 1, 1), TACIT_BAD_SENSITIVITY},
        {LAPLACE(1, 0, 1), TACIT_BAD_SCALE},
        {LAPLACE(1, HUGE_VAL, 1), TACIT_BAD_SCALE},
        {BOX(-1, 0, 1), TACIT_BAD_EPSILON},
        {BOX(HUGE_VAL, 0, 1), TACIT_BAD_EPSILON},
        {BOX(1, 1, 1), TACIT_BAD_DELTA},
        {ZCDP(0, 1), TACIT_BAD_ARGUMENT},
        {{.kind = (tacit_cost_kind)99, .count = 1}, TACIT_BAD_ARGUMENT},
    };
    tacit_composition c = {.mu = 42};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        tacit_cost list[] = {GAUSSIAN(1, 1, 1), rows[i].cost};
        tacit_error err = {0};
        assert_status(tacit_compose_at_delta(list, 2, 1e-5, &c, &err), rows[i].status);
        assert_int_equal(err.status, rows[i].status);
        assert_non_null(strstr(err.message, "release 2"));
        assert_status(tacit_compose_at_epsilon(list, 2, 1, &c, NULL), rows[i].status);
    }
    assert_status(tacit_compose_at_delta(NULL, 0, 1e-5, &c, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_compose_at_delta(&rows[0].cost, 1, 1, &c, NULL), TACIT_BAD_DELTA);
    assert_status(tacit_compose_at_epsilon(&rows[0].cost, 1, -1, &c, NULL), TACIT_BAD_EPSILON);
    assert_true(c.mu == 42);

    double x = 42;
    assert_status(tacit_gaussian_scale(0, 0, 1, 1, &x, NULL), TACIT_BAD_EPSILON);
    assert_status(tacit_laplace_scale(0, 0, 1, 1, &x, NULL), TACIT_BAD_EPSILON);
    assert_status(tacit_gaussian_scale(-1, 0.1, 1, 1, &x, NULL), TACIT_BAD_EPSILON);
    assert_status(tacit_gaussian_scale(1, 0, 1, 1, &x, NULL), TACIT_BAD_DELTA);
    assert_status(tacit_gaussian_scale(1, 0.1, -1, 1, &x, NULL), TACIT_BAD_SENSITIVITY);
    assert_status(tacit_gaussian_scale(1, 0.1, 1, 0, &x, NULL), TACIT_BAD_COUNT);
    assert_status(tacit_laplace_scale(HUGE_VAL, 0, 1, 1, &x, NULL), TACIT_BAD_EPSILON);
    assert_status(tacit_laplace_scale(1, 1, 1, 1, &x, NULL), TACIT_BAD_DELTA);
    assert_status(tacit_laplace_scale(1, 0, 1, 1, NULL, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_laplace_scale(1e-300, 0, 1e300, 1, &x, NULL), TACIT_UNREACHABLE_TARGET);
    assert_true(x == 42);
}

TEST(memory_that_runs_out_leaves_the_result_alone)
{
    tacit_cost list[] = {GAUSSIAN(1, 4, 3), LAPLACE(1, 10, 20)};
    tacit_composition c = {.mu = 42};
    tacit_error err = {0};
    for (uint64_t n = 1; n < 8; n++) {
        tacit__alloc_fail_at(n);
        tacit_status got = tacit_compose_at_delta(list, 2, 1e-6, &c, &err);
        assert_true(tacit__alloc_has_failed());
        tacit__alloc_fail_at(0);
        assert_status(got, TACIT_NO_MEMORY);
        assert_true(c.mu == 42);
    }
}
