/* Local sums in two halves: a device's report and its addition are what tacit_sum_add does at once. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include <tacit/sum.h>

#include "noise/sampler.h"
#include "support/random.h"
#include "support/sums.h"

enum { N = 9, USERS = 12 };

static const tacit_law laws[] = {TACIT_LAW_GAUSSIAN, TACIT_LAW_LAPLACE};

static tacit_sum_spec local_spec(tacit_law law, const bool *zeros)
{
    return (tacit_sum_spec){SUM_OF(TACIT_SUM_LOCAL, law, N, USERS), .bound = {.l1 = 1, .l2 = 1},
                            .structural_zero = zeros};
}

static void contribution(uint64_t k, const bool *zeros, double x[N])
{
    uint64_t random = k;
    for (size_t i = 0; i < N; i++)
        x[i] = zeros != NULL && zeros[i] ? 0 : 0.1 * (2 * random_unit(&random) - 1);
}

TEST(report_and_absorb_are_add)
{
    const bool zeros[N] = {false, true, false, true, true, false};
    for (int law = 0; law < 2; law++)
        for (int sparse = 0; sparse < 2; sparse++) {
            const bool *zero = sparse ? zeros : NULL;
            tacit_sum_spec spec = local_spec(laws[law], zero);
            SCOPED_BY(sum_rig_close) sum_rig whole, device, collector;
            sum_rig_open_unit(&whole, &spec, 5);
            sum_rig_open_unit(&device, &spec, 5);
            sum_rig_open_unit(&collector, &spec, 6);
            size_t n = tacit_sum_report_size(device.sum);
            assert_true(n == (sparse ? N - 3 : N));
            for (uint64_t k = 0; k < USERS; k++) {
                double x[N], noisy[N], again[N];
                int64_t report[N];
                contribution(k, zero, x);
                assert_ok(tacit_sum_add(whole.sum, x, NULL));
                assert_ok(tacit_sum_release(whole.sum, noisy, NULL));
                assert_ok(tacit_sum_report(device.sum, x, report, NULL));
                assert_true(tacit_sum_step(device.sum) == 0);
                assert_true(tacit_ledger_passed(device.ledger, 0) == k + 1);
                assert_ok(tacit_sum_check_report(collector.sum, report, NULL));
                assert_ok(tacit_sum_absorb(collector.sum, report, NULL));
                assert_true(tacit_sum_step(collector.sum) == k + 1);
                assert_ok(tacit_sum_release(collector.sum, again, NULL));
                assert_memory_equal(noisy, again, sizeof noisy);
            }
            double x[N] = {0};
            int64_t report[N] = {0};
            assert_status(tacit_sum_report(device.sum, x, report, NULL), TACIT_EXHAUSTED);
            assert_status(tacit_sum_absorb(collector.sum, report, NULL), TACIT_EXHAUSTED);
        }
}

TEST(reports_outside_the_bound_are_not_made)
{
    tacit_sum_spec spec = local_spec(TACIT_LAW_LAPLACE, NULL);
    SCOPED_BY(sum_rig_close) sum_rig device;
    double x[N] = {2};
    int64_t report[N];
    sum_rig_open_unit(&device, &spec, 5);
    assert_status(tacit_sum_report(device.sum, x, report, NULL), TACIT_OUT_OF_BOUND);
    assert_true(tacit_ledger_passed(device.ledger, 0) == 0);
}

/* What no honest device can send is refused, at the very bound, whichever the sign, and changes nothing. */
TEST(forged_reports_are_refused)
{
    for (int law = 0; law < 2; law++) {
        tacit_sum_spec spec = local_spec(laws[law], NULL);
        SCOPED_BY(sum_rig_close) sum_rig rig;
        sum_rig_open(&rig, &spec, "sum", 1, 5);
        int64_t report[N] = {0}, low = 0, high = INT64_MAX;
        while (high - low > 1) { /* the largest number that is taken */
            int64_t middle = low + (high - low) / 2;
            report[N - 1] = middle;
            if (tacit_sum_check_report(rig.sum, report, NULL) == TACIT_OK)
                low = middle;
            else
                high = middle;
        }
        /* the lattice has 2^26 steps to the bound; noise of scale 1 then has as many */
        double honest = 0x1p26 + TACIT__MAX_DRAW * 0x1p26;
        assert_within((double)low, honest, honest * 1.01);
        const int64_t forged[] = {high, -high, INT64_MAX, INT64_MIN};
        for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
            report[N - 1] = forged[i];
            assert_status(tacit_sum_absorb(rig.sum, report, NULL), TACIT_OUT_OF_BOUND);
            assert_true(tacit_sum_step(rig.sum) == 0);
        }
        report[N - 1] = -low;
        for (uint64_t k = 0; k < USERS; k++)
            assert_ok(tacit_sum_absorb(rig.sum, report, NULL));
        double noisy[N];
        assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
        assert_close(noisy[N - 1], -USERS * (double)low * 0x1p-26, 1e-12);
    }
}

TEST(only_local_sums_have_reports)
{
    tacit_sum_spec spec = local_spec(TACIT_LAW_GAUSSIAN, NULL);
    spec.mechanism = TACIT_SUM_TREE;
    SCOPED_BY(sum_rig_close) sum_rig rig;
    double x[N] = {0};
    int64_t report[N] = {0};
    sum_rig_open_unit(&rig, &spec, 5);
    assert_status(tacit_sum_report(rig.sum, x, report, NULL), TACIT_UNSUPPORTED);
    assert_status(tacit_sum_absorb(rig.sum, report, NULL), TACIT_UNSUPPORTED);
    assert_status(tacit_sum_report(NULL, x, report, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_sum_absorb(rig.sum, NULL, NULL), TACIT_BAD_ARGUMENT);
}
