/* The intervals of the privacy loss accountant hold values that are known otherwise, and are narrow.
 *
 * Known otherwise: compositions of a few Laplace, Gaussian and response losses by quadrature in 50
 * digits (tests/oracle), one Gaussian and equal responses through their closed forms. */
#include "support/check.h"

#include <math.h>

#include "account/fft.h"
#include "account/lattice_pair.h"
#include "account/optimal_composition.h"
#include "account/pld.h"
#include "base/memory.h"
#include "oracle/account_oracle.inc"

#define ROUNDING 1e-15 /* of the table itself */
#define NARROW 2e-4    /* the accountant's own goal */

static const tacit_interval never = {0, 0};

static tacit_interval delta_of(const tacit__loss *losses, size_t n, tacit_interval fail,
                               double epsilon)
{
    tacit__pld pld = {losses, n, fail};
    tacit_interval d;
    assert_ok(tacit__pld_delta(&pld, epsilon, &d));
    return d;
}

static tacit_interval epsilon_of(const tacit__loss *losses, size_t n, tacit_interval fail,
                                 double delta)
{
    tacit__pld pld = {losses, n, fail};
    tacit_interval e;
    assert_ok(tacit__pld_epsilon(&pld, delta, &e));
    return e;
}

static void assert_encloses(tacit_interval i, double truth)
{
    assert_within(truth, i.low * (1 - ROUNDING), i.high * (1 + ROUNDING));
    assert_within(i.high - i.low, 0, NARROW * i.high);
}

TEST(equal_laplace_losses_enclose_the_oracle)
{
    for (size_t i = 0; i < N_OF(oracle_laplace_many); i++) {
        tacit__loss loss = {TACIT__LOSS_LAPLACE, oracle_laplace_many[i].size,
                            (uint64_t)oracle_laplace_many[i].count};
        assert_encloses(delta_of(&loss, 1, never, oracle_laplace_many[i].epsilon),
                        oracle_laplace_many[i].delta);
    }
}

TEST(two_laplace_losses_off_each_others_lattice_enclose_the_oracle)
{
    for (size_t i = 0; i < N_OF(oracle_laplace_pair); i++) {
        tacit__loss losses[] = {{TACIT__LOSS_LAPLACE, oracle_laplace_pair[i].first, 1},
                                {TACIT__LOSS_LAPLACE, oracle_laplace_pair[i].second, 1}};
        assert_encloses(delta_of(losses, 2, never, oracle_laplace_pair[i].epsilon),
                        oracle_laplace_pair[i].delta);
    }
}

TEST(laplace_with_a_gaussian_encloses_the_oracle)
{
    for (size_t i = 0; i < N_OF(oracle_laplace_gaussian); i++) {
        tacit__loss losses[] = {{TACIT__LOSS_LAPLACE, oracle_laplace_gaussian[i].size, 1},
                                {TACIT__LOSS_GAUSSIAN, oracle_laplace_gaussian[i].mu, 1}};
        assert_encloses(delta_of(losses, 2, never, oracle_laplace_gaussian[i].epsilon),
                        oracle_laplace_gaussian[i].delta);
    }
}

TEST(responses_that_may_fail_with_laplace_enclose_the_oracle)
{
    for (size_t i = 0; i < N_OF(oracle_response_laplace); i++) {
        uint64_t k = (uint64_t)oracle_response_laplace[i].count;
        tacit__loss losses[] = {{TACIT__LOSS_RESPONSE, oracle_response_laplace[i].box_epsilon, k},
                                {TACIT__LOSS_LAPLACE, oracle_response_laplace[i].size, 1}};
        tacit_interval fail = tacit__any_failure(oracle_response_laplace[i].box_delta, k);
        assert_encloses(delta_of(losses, 2, fail, oracle_response_laplace[i].epsilon),
                        oracle_response_laplace[i].delta);
    }
}

TEST(a_gaussian_through_the_lattice_encloses_its_closed_form)
{
    for (double mu = 1e-3; mu < 20; mu *= 9)
        for (double z = -2; z < 12; z += 1.7) { /* down to delta = 1e-30 */
            double eps = mu * mu / 2 + z * mu, truth;
            if (eps < 0)
                continue;
            tacit__loss loss = {TACIT__LOSS_GAUSSIAN, mu, 1};
            assert_ok(tacit_gdp_delta(mu, eps, &truth));
            assert_encloses(delta_of(&loss, 1, never, eps), truth);
        }
    for (double delta = 1e-300; delta < 0.2; delta *= 1e37) {
        tacit__loss loss = {TACIT__LOSS_GAUSSIAN, 1.5, 1};
        double truth;
        assert_ok(tacit_gdp_epsilon(1.5, delta, &truth));
        assert_encloses(epsilon_of(&loss, 1, never, delta), truth);
    }
}

TEST(equal_responses_through_the_lattice_enclose_the_optimal_composition)
{
    tacit__loss losses[] = {{TACIT__LOSS_RESPONSE, 0.1, 100},
                            {TACIT__LOSS_RESPONSE, 1, 1},
                            {TACIT__LOSS_RESPONSE, 0.01, 30000}};
    for (size_t i = 0; i < N_OF(losses); i++)
        for (double share = 0.05; share < 0.95; share += 0.2) {
            double eps = share * fmin(losses[i].size * (double)losses[i].count,
                                      30 * losses[i].size * sqrt((double)losses[i].count));
            tacit_interval exact = tacit__optimal_delta(losses[i].size, 0, losses[i].count, eps);
            tacit_interval got = delta_of(&losses[i], 1, never, eps);
            assert_encloses(got, exact.low);
            assert_encloses(got, exact.high);
        }
}

TEST(a_loss_split_into_two_entries_costs_the_same)
{
    tacit__loss whole = {TACIT__LOSS_LAPLACE, 0.05, 300};
    /* the second size differs by one rounding, so that the entries stay apart */
    tacit__loss parts[] = {{TACIT__LOSS_LAPLACE, 0.05, 120},
                           {TACIT__LOSS_LAPLACE, nextafter(0.05, 1), 180}};
    tacit_interval a = epsilon_of(&whole, 1, never, 1e-7);
    tacit_interval b = epsilon_of(parts, 2, never, 1e-7);
    assert_true(a.low <= b.high && b.low <= a.high);
    assert_within(b.high - b.low, 0, NARROW * b.high);
}

TEST(epsilon_and_delta_are_inverse_to_each_other)
{
    tacit__loss losses[] = {{TACIT__LOSS_GAUSSIAN, 0.4, 1},
                            {TACIT__LOSS_LAPLACE, 0.1, 30},
                            {TACIT__LOSS_RESPONSE, 0.25, 4}};
    const tacit_interval fail = {1e-9, 1e-9};
    for (double delta = 1e-8; delta < 0.3; delta *= 30) {
        tacit_interval e = epsilon_of(losses, 3, fail, delta);
        tacit_interval d = delta_of(losses, 3, fail, e.high);
        assert_within(d.low, 0, delta * (1 + 1e-12));
        d = delta_of(losses, 3, fail, e.low);
        assert_true(d.high >= delta * (1 - 1e-12));
    }
}

TEST(a_hundred_thousand_laplace_releases_are_narrow)
{
    tacit__loss loss = {TACIT__LOSS_LAPLACE, 1e-3, 100000};
    tacit_interval e = epsilon_of(&loss, 1, never, 1e-6);
    assert_within(e.high - e.low, 0, NARROW * e.high);
    /* Renyi orders alone prove 1.5 at most, and no composition is better than its central limit: */
    assert_within(e.low, 1.3, 1.5);
    tacit_interval d = delta_of(&loss, 1, never, 3.7);
    assert_within(d.high - d.low, 0, NARROW * d.high);
    assert_within(d.low, 1e-33, 1e-31);
}

TEST(the_ends_have_their_limits)
{
    tacit__loss laplace = {TACIT__LOSS_LAPLACE, 0.5, 40};
    tacit_interval e = epsilon_of(&laplace, 1, never, 1e-300);
    assert_encloses(e, 20);
    assert_within(e.high, 20 * (1 - 1e-12), 20 * (1 + 1e-12));
    tacit_interval d = delta_of(&laplace, 1, never, 20.0001);
    assert_true(d.low == 0 && d.high == 0);
    assert_true(epsilon_of(&laplace, 1, never, 0.9).high == 0); /* total variation 0.858 */

    const tacit_interval fail = {0.01, 0.01};
    assert_true(isinf(epsilon_of(&laplace, 1, fail, 0.0099).low));
    assert_encloses(epsilon_of(&laplace, 1, fail, 0.01), 20);
    d = delta_of(NULL, 0, fail, 0);
    assert_true(d.low == 0.01 && d.high == 0.01);

    tacit__loss gaussian = {TACIT__LOSS_GAUSSIAN, 1, 1};
    d = delta_of(&gaussian, 1, never, 1000); /* e^-500000 */
    assert_true(d.low == 0 && d.high > 0 && d.high < 1e-300);
}

TEST(absurd_sizes_still_give_sound_intervals)
{
    tacit__loss tiny = {TACIT__LOSS_LAPLACE, 1e-300, 5}, huge = {TACIT__LOSS_LAPLACE, 1e200, 5};
    tacit__loss many = {TACIT__LOSS_LAPLACE, 1e-7, UINT64_C(1000000000000)};
    tacit_interval d = delta_of(&tiny, 1, never, 0); /* between one and the sum of five */
    assert_within(d.low, 0, 5e-301);
    assert_within(d.high, 5e-301, 2.6e-300);
    d = delta_of(&huge, 1, never, 3);
    assert_within(d.low, 0.99, 1);
    assert_true(d.high == 1);
    tacit_interval e = epsilon_of(&many, 1, never, 1e-6); /* like mu = 0.1 */
    double gaussian;
    assert_ok(tacit_gdp_epsilon(0.1, 1e-6, &gaussian));
    assert_true(e.low <= gaussian && e.high >= gaussian && e.high < 1);
    /* a Gaussian far below the step of its neighbor */
    tacit__loss pair[] = {{TACIT__LOSS_GAUSSIAN, 1e-200, 1}, {TACIT__LOSS_LAPLACE, 1, 1}};
    assert_encloses(delta_of(pair, 2, never, 0.5), -expm1(-0.25));
}

TEST(memory_that_runs_out_is_reported_wherever_it_happens)
{
    tacit__loss losses[] = {{TACIT__LOSS_LAPLACE, 0.5, 3},
                            {TACIT__LOSS_LAPLACE, 0.37, 2},
                            {TACIT__LOSS_GAUSSIAN, 0.4, 1},
                            {TACIT__LOSS_RESPONSE, 0.2, 2}};
    tacit__pld pld = {losses, N_OF(losses), never};
    tacit_interval d;
    uint64_t n = 1;
    for (;; n++) {
        tacit__alloc_fail_at(n);
        tacit_status got = tacit__pld_delta(&pld, 1, &d);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        if (!failed) {
            assert_ok(got);
            break;
        }
        assert_status(got, TACIT_NO_MEMORY);
    }
    assert_true(n > 20);
}

/* delta of a lattice distribution, by its definition */
static double delta_by_sum(const tacit__cells *cells, const double *mass, double epsilon)
{
    double sum = 0;
    for (size_t i = 0; i <= cells->n; i++) {
        double loss = cells->step * (double)(cells->first + (int64_t)i);
        if (loss > epsilon)
            sum += mass[i] * -expm1(epsilon - loss);
    }
    return sum;
}

TEST(spreading_raises_and_gathering_lowers_delta_everywhere)
{
    const double loss[] = {-0.93, -0.5, -0.31, -0.3, -0.27, 0.04,
                           0.05,  0.11, 0.52,  0.58, 0.61,  0.99};
    const double mass[] = {0.05, 0.1, 0.02, 0.08, 0.1, 0.1, 0.05, 0.15, 0.05, 0.1, 0.15, 0.05};
    tacit__cells cells;
    double up[22], down[22];
    assert_int_equal(tacit__cells_create(&cells, 0.1, 0, -10, 21), 0);
    for (size_t i = 0; i < N_OF(loss); i++)
        tacit__cells_add(&cells, loss[i], mass[i]);
    tacit__cells_spread(&cells, up); /* before gather, which uses the cells up */
    tacit__cells_gather(&cells, down);
    double total_up = 0, total_down = 0;
    for (size_t i = 0; i <= cells.n; i++) {
        assert_true(up[i] >= 0 && down[i] >= 0);
        total_up += up[i];
        total_down += down[i];
    }
    assert_close(total_up, 1, 1e-14);
    assert_close(total_down, 1, 1e-14);
    double widest = 0;
    for (double eps = -1; eps < 1.1; eps += 0.013) {
        double exact = 0;
        for (size_t i = 0; i < N_OF(loss); i++)
            if (loss[i] > eps)
                exact += mass[i] * -expm1(eps - loss[i]);
        double high = delta_by_sum(&cells, up, eps), low = delta_by_sum(&cells, down, eps);
        assert_true(low <= exact + 1e-15 && exact <= high + 1e-15);
        widest = fmax(widest, high - low);
    }
    assert_within(widest, 1e-6, 0.1); /* not trivially equal, and within one step */
    tacit__cells_destroy(&cells);
}

TEST(the_transform_agrees_with_the_sum_it_stands_for)
{
    enum { LOG2_N = 12, N = 1 << LOG2_N };
    static double re[N], im[N], x[N], y[N];
    tacit__fft fft;
    assert_int_equal(tacit__fft_create(&fft, LOG2_N), 0);
    for (size_t j = 0; j < N; j++) {
        x[j] = re[j] = sin(0.37 * (double)(j * j % 1009));
        y[j] = im[j] = cos(0.11 * (double)(j * j % 733));
    }
    tacit__fft_forward(&fft, re, im);
    for (size_t place = 0; place < N; place += 97) {
        size_t k = 0;
        for (unsigned b = 0; b < LOG2_N; b++)
            k |= (place >> b & 1) << (LOG2_N - 1 - b);
        double a = 0, b = 0;
        for (size_t j = 0; j < N; j++) {
            double t = -2 * acos(-1) * (double)(j * k % N) / N;
            a += x[j] * cos(t) - y[j] * sin(t);
            b += x[j] * sin(t) + y[j] * cos(t);
        }
        assert_within(hypot(re[place] - a, im[place] - b), 0, 1e-9);
        size_t mate = tacit__fft_mirror(place), minus = 0;
        for (unsigned bit = 0; bit < LOG2_N; bit++)
            minus |= (mate >> bit & 1) << (LOG2_N - 1 - bit);
        assert_int_equal((k + minus) % N, 0);
    }
    tacit__fft_inverse(&fft, re, im);
    double error = 0, norm = 0;
    for (size_t j = 0; j < N; j++) {
        error += (re[j] - x[j]) * (re[j] - x[j]) + (im[j] - y[j]) * (im[j] - y[j]);
        norm += x[j] * x[j] + y[j] * y[j];
    }
    assert_within(sqrt(error / norm), 0, 2 * tacit__fft_error(N));
    tacit__fft_destroy(&fft);
}
