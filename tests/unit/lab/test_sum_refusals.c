/* What running sums refuse: specifications, plans, guarantees and contributions; a refusal changes nothing. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <tacit/sum.h>

#include "support/check.h"
#include "support/random.h"
#include "support/sums.h"

static void refuse_spec(tacit_sum_spec spec, tacit_status wanted)
{
    tacit_release line = {.name = "untouched", .dimension = 42}, before = line;
    tacit_error err = {0};
    assert_status(tacit_sum_declare(&spec, "sum", &line, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_true(strlen(err.message) > 0);
    assert_memory_equal(&line, &before, sizeof line);
}

TEST(specifications_that_make_no_sense_are_refused)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec good = sum_spec_of(sum_kinds[m], 3, 10), bad;
        static const bool all_zero[] = {true, true, true};
        bad = good;
        bad.users = 0;
        refuse_spec(bad, TACIT_BAD_COUNT);
        bad = good;
        bad.dimension = 0;
        refuse_spec(bad, TACIT_BAD_COUNT);
        bad = good;
        bad.structural_zero = all_zero;
        refuse_spec(bad, TACIT_BAD_COUNT);
        bad = good;
        bad.users = (uint64_t)1 << 53;
        refuse_spec(bad, TACIT_NO_ROOM);
        bad = good;
        bad.bound.l1 = bad.bound.l2 = 0;
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad.bound.l2 = -1;
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad.bound.l2 = (double)NAN;
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad.bound.l2 = HUGE_VAL;
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad = good;
        bad.reason = "said so";
        bad.sensitivity_l1 = -1;
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad.sensitivity_l1 = (double)NAN;
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad = good;
        bad.sensitivity_l2 = 0.5; /* without a reason */
        refuse_spec(bad, TACIT_BAD_SENSITIVITY);
        bad = good;
        bad.law = good.law == TACIT_LAW_NONE ? TACIT_LAW_GAUSSIAN : TACIT_LAW_NONE;
        refuse_spec(bad, TACIT_UNSUPPORTED);
        tacit_release line;
        assert_status(tacit_sum_declare(NULL, "sum", &line, NULL), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_declare(&good, "sum", NULL, NULL), TACIT_BAD_ARGUMENT);
    }
    refuse_spec(sum_spec_of((sum_kind){TACIT_SUM_BLT, TACIT_LAW_LAPLACE}, 3, 10),
                TACIT_UNSUPPORTED);
    refuse_spec(sum_spec_of((sum_kind){TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN}, 3, (uint64_t)1 << 31),
                TACIT_NO_ROOM);
    tacit_sum_spec none = sum_spec_of(sum_kinds[0], 3, 10);
    memset(&none.mechanism, 0x7f, sizeof none.mechanism);
    refuse_spec(none, TACIT_BAD_ARGUMENT);
    assert_string_equal(tacit_sum_mechanism_name(none.mechanism), "unknown");
}

/* Any spec that is declared can be put into a plan. */
TEST(whatever_a_sum_declares_a_plan_takes)
{
    uint64_t random = 8;
    for (int i = 0; i < 600; i++) {
        tacit_sum_spec spec =
            sum_spec_of(sum_kinds[i % N_SUM_KINDS], 1 + (size_t)random_below(&random, 50),
                        1 + random_below(&random, 3000));
        spec.bound.l2 = i % 3 == 0 ? 0 : exp(random_between(&random, -3, 3));
        spec.bound.l1 = i % 3 == 1 ? 0 : exp(random_between(&random, -3, 3));
        spec.bound.nonnegative = i % 2;
        spec.bound.nonzeros = random_below(&random, 5);
        if (i % 4 > 0) {
            spec.reason = "said so";
            spec.sensitivity_l1 = i % 4 & 1 ? exp(random_between(&random, -3, 3)) : 0;
            spec.sensitivity_l2 = i % 4 & 2 ? exp(random_between(&random, -3, 3)) : 0;
        }
        tacit_release line;
        tacit_plan *plan;
        tacit_error err = {0};
        assert_ok(tacit_sum_declare(&spec, "sum", &line, NULL));
        assert_ok(tacit_plan_create(&plan));
        tacit_status status = tacit_plan_declare(plan, &line, &err);
        tacit_plan_destroy(plan);
        if (status != TACIT_OK)
            fail_msg("%s", err.message);
    }
}

static void expect_no_sum(sum_rig *rig, tacit_sum_spec spec, const char *name, tacit_status wanted)
{
    tacit_sum *sum = NULL;
    tacit_error err = {0};
    assert_status(tacit_sum_create(&spec, rig->ledger, name, &sum, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_null(sum);
}

TEST(plans_that_do_not_cover_the_sum_are_refused)
{
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        tacit_sum_spec good = sum_spec_of(sum_kinds[m], 3, 10), other;
        SCOPED_BY(sum_rig_close) sum_rig rig;
        sum_rig_open_ledger(&rig, &good, "sum", 1, 1);
        expect_no_sum(&rig, good, "another", TACIT_UNDECLARED);
        other = good;
        other.dimension = 4;
        expect_no_sum(&rig, other, "sum", TACIT_BAD_PLAN);
        other = good;
        other.users = 11;
        expect_no_sum(&rig, other, "sum", TACIT_BAD_PLAN);
        other.users = 9;
        expect_no_sum(&rig, other, "sum", TACIT_BAD_PLAN);
        other = good;
        other.bound.l1 *= 1.001;
        other.bound.l2 *= 1.001;
        expect_no_sum(&rig, other, "sum", TACIT_BAD_PLAN);
        if (good.mechanism != TACIT_SUM_BLT) {
            other = good;
            other.law = good.law == TACIT_LAW_GAUSSIAN ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
            expect_no_sum(&rig, other, "sum", TACIT_BAD_PLAN);
        }
        if (good.mechanism == TACIT_SUM_LOCAL) { /* one node for each user: a tree has more */
            other = good;
            other.mechanism = TACIT_SUM_TREE;
            expect_no_sum(&rig, other, "sum", TACIT_BAD_PLAN);
        }
        expect_no_sum(&rig, sum_spec_of(sum_kinds[N_SUM_KINDS - 1], 3, 10), "sum", TACIT_BAD_PLAN);
        tacit_sum *sum = NULL;
        assert_status(tacit_sum_create(NULL, rig.ledger, "sum", &sum, NULL), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_create(&good, NULL, "sum", &sum, NULL), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_create(&good, rig.ledger, NULL, &sum, NULL), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_create(&good, rig.ledger, "sum", NULL, NULL), TACIT_BAD_ARGUMENT);
        /* after all these the line is still free, once */
        assert_ok(tacit_sum_create(&good, rig.ledger, "sum", &rig.sum, NULL));
        expect_no_sum(&rig, good, "sum", TACIT_RELEASED_TWICE);
    }
}

TEST(a_smaller_bound_than_the_plan_declares_is_fine)
{
    tacit_sum_spec wide = sum_spec_of(sum_kinds[0], 3, 10), narrow = wide;
    SCOPED_BY(sum_rig_close) sum_rig rig;
    narrow.bound.l2 = 0.5;
    sum_rig_open_ledger(&rig, &wide, "sum", 1, 1);
    assert_ok(tacit_sum_create(&narrow, rig.ledger, "sum", &rig.sum, NULL));
}

TEST(a_line_is_free_again_only_if_its_sum_was_never_used)
{
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], 3, 10);
        SCOPED_BY(sum_rig_close) sum_rig rig;
        static const double x[3];
        sum_rig_open(&rig, &spec, "sum", 1, 1);
        tacit_sum_destroy(rig.sum);
        assert_ok(tacit_sum_create(&spec, rig.ledger, "sum", &rig.sum, NULL));
        assert_ok(tacit_sum_add(rig.sum, x, NULL));
        tacit_sum_destroy(rig.sum); /* its first step has been paid for and shown */
        rig.sum = NULL;
        expect_no_sum(&rig, spec, "sum", TACIT_RELEASED_TWICE);
    }
}

TEST(noise_that_the_lattice_cannot_hold_is_refused_and_the_line_stays_free)
{
    tacit_sum_spec spec = sum_spec_of(sum_kinds[0], 3, 10);
    SCOPED_BY(sum_rig_close) sum_rig rig;
    sum_rig_open_ledger(&rig, &spec, "sum", 0x1p30, 1);
    expect_no_sum(&rig, spec, "sum", TACIT_BAD_SCALE);
    expect_no_sum(&rig, spec, "sum", TACIT_BAD_SCALE); /* not RELEASED_TWICE */
}

TEST(guarantees_out_of_range_are_refused)
{
    static const struct {
        double epsilon, delta;
        tacit_status wanted;
    } cases[] = {{0, 0, TACIT_BAD_EPSILON},
                 {-1, 0, TACIT_BAD_EPSILON},
                 {(double)NAN, 0, TACIT_BAD_EPSILON},
                 {HUGE_VAL, 0, TACIT_BAD_EPSILON},
                 {1, -1, TACIT_BAD_DELTA},
                 {1, 1, TACIT_BAD_DELTA},
                 {1, 2, TACIT_BAD_DELTA},
                 {1, (double)NAN, TACIT_BAD_DELTA}};
    tacit_sum_spec spec = sum_spec_of(sum_kinds[0], 3, 10);
    tacit_release line;
    SCOPED(tacit_plan) *plan = NULL;
    assert_ok(tacit_sum_declare(&spec, "sum", &line, NULL));
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &line, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_guarantee g = {TACIT_MODEL_JOINT, cases[i].epsilon, cases[i].delta};
        assert_status(tacit_plan_calibrate(plan, g, NULL), cases[i].wanted);
    }
    assert_ok(tacit_plan_calibrate(plan, (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6}, NULL));
}

/* A sum that is offered everything that is wrong, at every step, releases what an undisturbed one does. */
TEST(after_any_refusal_the_sum_is_as_it_was)
{
    enum { N = 5, USERS = 6 };
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
        SCOPED_BY(sum_rig_close) sum_rig calm, troubled;
        double x[N] = {0.1, -0.2, 0, 0.3, 0}, a[N], b[N];
        tacit_error err;
        sum_rig_open_unit(&calm, &spec, 9);
        sum_rig_open_unit(&troubled, &spec, 9);
        tacit_sum *sum = troubled.sum;
        assert_status(tacit_sum_release(sum, b, &err), TACIT_NOTHING_TO_RELEASE);
        assert_int_equal(err.status, TACIT_NOTHING_TO_RELEASE);
        for (uint64_t k = 1; k <= USERS; k++) {
            const double outside[N] = {0.9, 0.9, 0, 0, 0},
                         not_a_number[N] = {0, (double)NAN, 0, 0, 0};
            const double infinite[N] = {0, 0, 0, 0, -HUGE_VAL}, huge[N] = {0, 0, DBL_MAX, 0, 0};
            assert_status(tacit_sum_add(sum, outside, NULL), TACIT_OUT_OF_BOUND);
            assert_status(tacit_sum_add(sum, huge, NULL), TACIT_OUT_OF_BOUND);
            assert_status(tacit_sum_add(sum, not_a_number, &err), TACIT_NOT_FINITE);
            assert_int_equal(err.status, TACIT_NOT_FINITE);
            assert_status(tacit_sum_add(sum, infinite, NULL), TACIT_NOT_FINITE);
            assert_status(tacit_sum_add(sum, NULL, NULL), TACIT_BAD_ARGUMENT);
            assert_status(tacit_sum_release(sum, NULL, NULL), TACIT_BAD_ARGUMENT);
            const size_t up[] = {1, 3}, down[] = {3, 1}, twice[] = {2, 2}, beyond[] = {1, N};
            assert_status(tacit_sum_add_sparse(sum, 2, down, x, NULL), TACIT_BAD_ARGUMENT);
            assert_status(tacit_sum_add_sparse(sum, 2, twice, x, NULL), TACIT_BAD_ARGUMENT);
            assert_status(tacit_sum_add_sparse(sum, 2, beyond, x, &err), TACIT_OUT_OF_BOUND);
            assert_int_equal(err.status, TACIT_OUT_OF_BOUND);
            assert_status(tacit_sum_add_sparse(sum, 2, up, outside, NULL), TACIT_OUT_OF_BOUND);
            assert_status(tacit_sum_add_sparse(sum, 2, up, not_a_number, NULL), TACIT_NOT_FINITE);
            assert_status(tacit_sum_add_sparse(sum, 2, NULL, x, NULL), TACIT_BAD_ARGUMENT);
            assert_status(tacit_sum_add_sparse(sum, 2, up, NULL, NULL), TACIT_BAD_ARGUMENT);
            assert_status(tacit_sum_add_sparse(NULL, 2, up, x, NULL), TACIT_BAD_ARGUMENT);
            assert_true(tacit_sum_step(sum) == k - 1);

            assert_ok(tacit_sum_add(calm.sum, x, NULL));
            assert_ok(tacit_sum_add(sum, x, NULL));
            assert_ok(tacit_sum_release(calm.sum, a, NULL));
            assert_ok(tacit_sum_release(sum, b, NULL));
            assert_memory_equal(a, b, sizeof a);
            assert_status(tacit_sum_release(sum, b, NULL), TACIT_RELEASED_TWICE);
            assert_memory_equal(a, b, sizeof a); /* and nothing was written */
        }
        for (int again = 0; again < 3; again++) {
            assert_status(tacit_sum_add(sum, x, &err), TACIT_EXHAUSTED);
            assert_int_equal(err.status, TACIT_EXHAUSTED);
            assert_true(tacit_sum_step(sum) == USERS);
        }
        assert_true(tacit_ledger_passed(troubled.ledger, 0) == (m < N_NOISY_SUM_KINDS ? USERS : 0));
    }
    assert_status(tacit_sum_add(NULL, NULL, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_sum_release(NULL, NULL, NULL), TACIT_BAD_ARGUMENT);
    tacit_sum_destroy(NULL);
}
