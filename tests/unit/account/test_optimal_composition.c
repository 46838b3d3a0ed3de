/* Optimal composition of equal black boxes against the sum taken term by term in 50 digits. */
#include "support/check.h"

#include <float.h>
#include <math.h>

#include "account/optimal_composition.h"
#include "oracle/account_oracle.inc"

#define ROUNDING 1e-15 /* of the table itself */

TEST(delta_encloses_the_oracle_tightly)
{
    for (size_t i = 0; i < N_OF(oracle_kov); i++) {
        tacit_interval d =
            tacit__optimal_delta(oracle_kov[i].box_epsilon, oracle_kov[i].box_delta,
                                 (uint64_t)oracle_kov[i].count, oracle_kov[i].epsilon);
        assert_within(oracle_kov[i].delta, d.low * (1 - ROUNDING), d.high * (1 + ROUNDING));
        assert_within(d.high - d.low, 0, 1e-11 * d.high + DBL_TRUE_MIN);
    }
}

TEST(epsilon_is_the_inverse_of_delta)
{
    for (size_t i = 0; i < N_OF(oracle_kov); i++) {
        double box = oracle_kov[i].box_epsilon, fail = oracle_kov[i].box_delta;
        double delta = oracle_kov[i].delta;
        uint64_t count = (uint64_t)oracle_kov[i].count;
        if (delta == 0)
            continue;
        tacit_interval e = tacit__optimal_epsilon(box, fail, count, delta);
        if (isinf(e.high)) { /* nothing but failures, up to rounding */
            assert_true(delta < tacit__any_failure(fail, count).high);
            continue;
        }
        assert_true(tacit__optimal_delta(box, fail, count, e.high).high <= delta);
        assert_true(e.low == 0 || tacit__optimal_delta(box, fail, count, e.low).low > delta);
        if (fail > 0)
            continue; /* delta is mostly failures then, and says little about epsilon */
        assert_within(e.high - e.low, 0, 1e-10 * e.high + 1e-12);
        assert_within(oracle_kov[i].epsilon, e.low * (1 - 1e-10) - 1e-12, e.high * (1 + 1e-10));
    }
}

TEST(the_values_on_the_grid_of_the_theorem_agree_with_published_ones)
{
    /* The smallest epsilon *on the grid* is 22 (20) for 30 boxes (1, 0.001) at delta 0.06 (0.1). */
    assert_true(tacit__optimal_delta(1, 0.001, 30, 22).high <= 0.06);
    assert_true(tacit__optimal_delta(1, 0.001, 30, 20).low > 0.06);
    assert_true(tacit__optimal_delta(1, 0.001, 30, 20).high <= 0.1);
    assert_true(tacit__optimal_delta(1, 0.001, 30, 18).low > 0.1);
    /* and there is none for 30 boxes (1, 0.01) at 0.26 */
    assert_true(isinf(tacit__optimal_epsilon(1, 0.01, 30, 0.26).low));
    assert_true(isfinite(tacit__optimal_epsilon(1, 0.01, 30, 0.27).high));
    /* 50 boxes with epsilon 0.25 stay below (5, 0.01), with 0.3 they do not */
    assert_true(tacit__optimal_delta(0.25, 0, 50, 5).high <= 0.01);
    assert_true(tacit__optimal_delta(0.3, 0, 50, 5).low > 0.01);
}

TEST(one_box_is_itself)
{
    tacit_interval d = tacit__optimal_delta(1.5, 0.1, 1, 1.5);
    assert_true(d.low == 0.1 && d.high == 0.1);
    tacit_interval e = tacit__optimal_epsilon(1.5, 0.1, 1, 0.1);
    assert_within(1.5, e.low, e.high);
    assert_true(e.high == 1.5);
}

TEST(never_worse_than_adding_up)
{
    for (uint64_t k = 1; k < 3000; k = 3 * k + 1)
        for (double box = 1e-3; box < 20; box *= 7) {
            tacit_interval e = tacit__optimal_epsilon(box, 0, k, 0);
            assert_within(e.high, box * (double)k * (1 - 1e-15), box * (double)k * (1 + 1e-15));
            e = tacit__optimal_epsilon(box, 0, k, 1e-9);
            assert_true(e.high <= box * (double)k * (1 + 1e-15));
        }
}

TEST(ten_million_boxes_are_close_to_gaussian)
{
    /* Losses of +-e, k times: mean k e tanh(e/2), variance k e^2 up to e^4. Berry and Esseen allow
     * sqrt(1/k) of absolute difference, times 1 for the worst function: 3e-4. */
    const double box = 3e-4;
    const uint64_t k = 10000000;
    double gaussian;
    tacit_interval d = tacit__optimal_delta(box, 0, k, 1);
    assert_ok(tacit_gdp_delta(box * sqrt((double)k), 1, &gaussian));
    assert_within(d.high, gaussian - 4e-4, gaussian + 4e-4);
    assert_within(d.high - d.low, 0, 1e-10 * d.high);
}

TEST(log_binomial_sums_to_one)
{
    double sum = 0;
    for (uint64_t j = 0; j <= 200; j++)
        sum += exp(tacit__log_binomial(200, j, 0.7));
    assert_close(sum, 1, 1e-13);
    assert_close(exp(tacit__log_binomial(4, 2, 0)), 6.0 / 16, 1e-14);
}
