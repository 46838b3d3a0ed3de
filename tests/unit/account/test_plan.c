/* Plans: what is refused, that calibration and accounting agree, and that the split is the best one. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/plan.h>

#include "account/plan_inside.h"
#include "support/random.h"

static const tacit_release valid = {.name = "counts",
                                    .reason = "because",
                                    .dimension = 3,
                                    .steps = 10,
                                    .l1 = 2,
                                    .l2 = 1.5,
                                    .column_l1 = 4,
                                    .column_l2 = 2,
                                    .weight = 1};

static tacit_guarantee joint(double epsilon, double delta)
{
    return (tacit_guarantee){TACIT_MODEL_JOINT, epsilon, delta};
}

static tacit_plan *empty_plan(void)
{
    tacit_plan *plan;
    assert_ok(tacit_plan_create(&plan));
    return plan;
}

static tacit_plan *plan_of_one(void)
{
    tacit_plan *plan = empty_plan();
    assert_ok(tacit_plan_declare(plan, &valid, NULL));
    return plan;
}

static void add_line(tacit_plan *plan, const char *name, double l1, double l2, double column_l1,
                     double column_l2, double weight)
{
    tacit_release r = valid;
    r.name = name;
    r.l1 = l1;
    r.l2 = l2;
    r.column_l1 = column_l1;
    r.column_l2 = column_l2;
    r.weight = weight;
    assert_ok(tacit_plan_declare(plan, &r, NULL));
}

/* Everything that can be read of a plan. */
enum { MAX_LINES = 4 };
typedef struct view {
    size_t size;
    tacit_law law;
    tacit_model model;
    bool calibrated;
    double scale[MAX_LINES];
    tacit_release release[MAX_LINES];
} view;

static view look(const tacit_plan *plan)
{
    view v;
    memset(&v, 0, sizeof v); /* padding too: views are compared as bytes */
    v.size = tacit_plan_size(plan);
    v.law = tacit_plan_law(plan);
    v.model = tacit_plan_model(plan);
    v.calibrated = tacit__plan_is_calibrated(plan);
    assert_true(v.size <= MAX_LINES);
    for (size_t i = 0; i < v.size; i++) {
        v.scale[i] = tacit_plan_scale(plan, i);
        v.release[i] = *tacit_plan_release(plan, i);
    }
    return v;
}

static void assert_unchanged(const tacit_plan *plan, const view *before)
{
    view after = look(plan);
    assert_memory_equal(&after, before, sizeof after);
}

static void refuse_line(tacit_plan *plan, tacit_release r, tacit_status wanted)
{
    view before = look(plan);
    tacit_error err = {0};
    assert_status(tacit_plan_declare(plan, &r, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_true(strlen(err.message) > 0);
    assert_status(tacit_plan_declare(plan, &r, NULL),
                  wanted); /* and without a place for the words */
    assert_unchanged(plan, &before);
}

/* refuse({.l1 = -1}, status): the valid line with one field changed. */
#define REFUSE(field, value, wanted)                                                               \
    do {                                                                                           \
        tacit_release changed = valid;                                                             \
        changed.name = "other";                                                                    \
        changed.field = value;                                                                     \
        refuse_line(plan, changed, wanted);                                                        \
    } while (0)

TEST(lines_that_do_not_add_up_are_refused_and_leave_the_plan_as_it_was)
{
    tacit_plan *plan = plan_of_one();
    REFUSE(name, NULL, TACIT_BAD_PLAN);
    REFUSE(name, "", TACIT_BAD_PLAN);
    REFUSE(name, "counts", TACIT_BAD_PLAN); /* twice */
    REFUSE(dimension, 0, TACIT_BAD_COUNT);
    REFUSE(steps, 0, TACIT_BAD_COUNT);
    REFUSE(l1, -1, TACIT_BAD_SENSITIVITY);
    REFUSE(l1, (double)NAN, TACIT_BAD_SENSITIVITY);
    REFUSE(l1, HUGE_VAL, TACIT_BAD_SENSITIVITY);
    REFUSE(l2, -0.1, TACIT_BAD_SENSITIVITY);
    REFUSE(l2, (double)NAN, TACIT_BAD_SENSITIVITY);
    REFUSE(l2, HUGE_VAL, TACIT_BAD_SENSITIVITY);
    REFUSE(l2, 2.1, TACIT_BAD_PLAN); /* more than l1 */
    REFUSE(column_l1, 0.5, TACIT_BAD_PLAN);
    REFUSE(column_l1, (double)NAN, TACIT_BAD_PLAN);
    REFUSE(column_l1, HUGE_VAL, TACIT_BAD_PLAN);
    REFUSE(column_l2, 0, TACIT_BAD_PLAN);
    REFUSE(column_l2, (double)NAN, TACIT_BAD_PLAN);
    REFUSE(column_l2, HUGE_VAL, TACIT_BAD_PLAN);
    REFUSE(weight, -1, TACIT_BAD_PLAN);
    REFUSE(weight, (double)NAN, TACIT_BAD_PLAN);
    REFUSE(weight, HUGE_VAL, TACIT_BAD_PLAN);
    tacit_release unknown = valid;
    unknown.name = "other";
    unknown.l1 = unknown.l2 = 0;
    refuse_line(plan, unknown, TACIT_BAD_SENSITIVITY);
    assert_status(tacit_plan_declare(NULL, &valid, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_plan_declare(plan, NULL, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_plan_create(NULL), TACIT_BAD_ARGUMENT);
    tacit_plan_destroy(plan);
    tacit_plan_destroy(NULL);
}

TEST(a_plan_keeps_its_own_copy_of_what_is_declared)
{
    char name[] = "mine", reason[] = "why";
    tacit_release r = valid;
    r.name = name;
    r.reason = reason;
    r.weight = 0;
    SCOPED(tacit_plan) *plan = empty_plan();
    assert_ok(tacit_plan_declare(plan, &r, NULL));
    memset(name, 'x', 4);
    memset(reason, 'x', 3);
    const tacit_release *kept = tacit_plan_release(plan, 0);
    assert_string_equal(kept->name, "mine");
    assert_string_equal(kept->reason, "why");
    assert_true(kept->weight == 1); /* 0 stands for 1 */
    assert_true(kept->dimension == 3 && kept->steps == 10 && kept->l1 == 2 && kept->l2 == 1.5);
    assert_true(kept->column_l1 == 4 && kept->column_l2 == 2);
}

TEST(lines_are_found_by_name_however_many_there_are)
{
    SCOPED(tacit_plan) *plan = empty_plan();
    char name[32];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "gram[%d]", i);
        add_line(plan, name, 2, 1, 1, 1, 1);
    }
    assert_int_equal(tacit_plan_size(plan), 100);
    for (size_t i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "gram[%zu]", i);
        assert_int_equal(tacit_plan_index(plan, name), i);
        assert_string_equal(tacit_plan_release(plan, i)->name, name);
        assert_true(isnan(tacit_plan_scale(plan, i)));
    }
    assert_int_equal(tacit_plan_index(plan, "gram"), 100);
}

static void refuse_target(tacit_plan *plan, tacit_guarantee target, tacit_status wanted)
{
    view before = look(plan);
    tacit_error err = {0};
    assert_status(tacit_plan_calibrate(plan, target, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_unchanged(plan, &before);
}

TEST(guarantees_out_of_range_are_refused_and_leave_the_plan_as_it_was)
{
    SCOPED(tacit_plan) *plan = plan_of_one();
    refuse_target(plan, joint(0, 0), TACIT_BAD_EPSILON);
    refuse_target(plan, joint(0, 1), TACIT_BAD_DELTA);
    refuse_target(plan, joint(-1, 1e-6), TACIT_BAD_EPSILON);
    refuse_target(plan, joint((double)NAN, 1e-6), TACIT_BAD_EPSILON);
    refuse_target(plan, joint(HUGE_VAL, 1e-6), TACIT_BAD_EPSILON);
    refuse_target(plan, joint(1, -1e-9), TACIT_BAD_DELTA);
    refuse_target(plan, joint(1, 1), TACIT_BAD_DELTA);
    refuse_target(plan, joint(1, 1.5), TACIT_BAD_DELTA);
    refuse_target(plan, joint(1, (double)NAN), TACIT_BAD_DELTA);
    assert_status(tacit_plan_calibrate(NULL, joint(1, 0), NULL), TACIT_BAD_ARGUMENT);
}

TEST(an_epsilon_of_zero_is_a_target_beside_a_delta)
{
    static const double deltas[] = {1e-9, 1e-3, 0.5};
    for (size_t i = 0; i < 3; i++) {
        SCOPED(tacit_plan) *plan = empty_plan();
        tacit_composition c;
        add_line(plan, "first", 2, 1, 1, 3, 1);
        add_line(plan, "second", 9, 4, 2, 1, 7);
        assert_ok(tacit_plan_calibrate(plan, joint(0, deltas[i]), NULL));
        assert_ok(tacit_plan_account(plan, deltas[i], &c, NULL));
        assert_true(c.epsilon.high == 0);
        assert_close(erf(c.mu / sqrt(8)), deltas[i], 1e-11); /* 2 Phi(mu/2) - 1 */
    }
}

TEST(a_plan_without_lines_cannot_be_calibrated)
{
    SCOPED(tacit_plan) *plan = empty_plan();
    refuse_target(plan, joint(1, 0), TACIT_BAD_PLAN);
    refuse_target(plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, TACIT_BAD_PLAN);
}

TEST(a_law_whose_sensitivity_is_unknown_is_refused)
{
    SCOPED(tacit_plan) *only_l2 = empty_plan(), *only_l1 = empty_plan();
    add_line(only_l2, "first", 2, 1, 1, 1, 1);
    add_line(only_l2, "second", 0, 1, 0, 1, 1);
    add_line(only_l1, "first", 2, 0, 1, 0, 1);
    refuse_target(only_l2, joint(1, 0), TACIT_BAD_PLAN);
    refuse_target(only_l1, joint(1, 1e-6), TACIT_BAD_PLAN);
    view before = look(only_l2);
    assert_status(tacit_plan_set_scale(only_l2, "first", TACIT_LAW_LAPLACE, 1, NULL),
                  TACIT_BAD_PLAN);
    assert_unchanged(only_l2, &before);
    assert_ok(tacit_plan_calibrate(only_l2, joint(1, 1e-6), NULL));
    assert_ok(tacit_plan_calibrate(only_l1, joint(1, 0), NULL));
}

TEST(a_calibrated_plan_is_closed)
{
    SCOPED(tacit_plan) *plan = plan_of_one();
    assert_ok(tacit_plan_calibrate(plan, joint(1, 1e-6), NULL));
    tacit_release other = valid;
    other.name = "other";
    refuse_line(plan, other, TACIT_BAD_PLAN);
    refuse_target(plan, joint(2, 1e-6), TACIT_BAD_PLAN);
    refuse_target(plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, TACIT_BAD_PLAN);
    view before = look(plan);
    assert_status(tacit_plan_set_scale(plan, "counts", TACIT_LAW_GAUSSIAN, 1, NULL),
                  TACIT_BAD_PLAN);
    assert_unchanged(plan, &before);
    tacit_plan_destroy(plan);

    plan = plan_of_one(); /* without noise it is closed as well */
    assert_ok(tacit_plan_calibrate(plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, NULL));
    assert_true(tacit_plan_scale(plan, 0) == 0);
    refuse_line(plan, other, TACIT_BAD_PLAN);
    refuse_target(plan, joint(2, 1e-6), TACIT_BAD_PLAN);
}

static void refuse_scale(tacit_plan *plan, const char *name, tacit_law law, double scale,
                         tacit_status wanted)
{
    view before = look(plan);
    tacit_error err = {0};
    assert_status(tacit_plan_set_scale(plan, name, law, scale, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_unchanged(plan, &before);
}

TEST(scales_set_by_hand_are_checked_one_by_one)
{
    SCOPED(tacit_plan) *plan = plan_of_one();
    add_line(plan, "second", 2, 1, 1, 1, 1);
    refuse_scale(plan, "third", TACIT_LAW_LAPLACE, 1, TACIT_UNDECLARED);
    refuse_scale(plan, NULL, TACIT_LAW_LAPLACE, 1, TACIT_BAD_ARGUMENT);
    refuse_scale(plan, "counts", TACIT_LAW_NONE, 1, TACIT_BAD_ARGUMENT);
    refuse_scale(plan, "counts", TACIT_LAW_LAPLACE, 0, TACIT_BAD_SCALE);
    refuse_scale(plan, "counts", TACIT_LAW_LAPLACE, -1, TACIT_BAD_SCALE);
    refuse_scale(plan, "counts", TACIT_LAW_LAPLACE, (double)NAN, TACIT_BAD_SCALE);
    refuse_scale(plan, "counts", TACIT_LAW_LAPLACE, HUGE_VAL, TACIT_BAD_SCALE);
    assert_status(tacit_plan_set_scale(NULL, "counts", TACIT_LAW_LAPLACE, 1, NULL),
                  TACIT_BAD_ARGUMENT);

    assert_ok(tacit_plan_set_scale(plan, "counts", TACIT_LAW_LAPLACE, 16, NULL));
    assert_false(tacit__plan_is_calibrated(plan)); /* the second has none yet */
    tacit_composition c;
    assert_status(tacit_plan_account(plan, 0, &c, NULL), TACIT_BAD_PLAN);
    refuse_scale(plan, "second", TACIT_LAW_GAUSSIAN, 1, TACIT_BAD_PLAN); /* one law for all */
    refuse_target(plan, joint(1, 0), TACIT_BAD_PLAN);
    tacit_release third = valid;
    third.name = "third";
    refuse_line(plan, third, TACIT_BAD_PLAN);
    assert_ok(tacit_plan_set_scale(plan, "second", TACIT_LAW_LAPLACE, 4, NULL));
    assert_true(tacit__plan_is_calibrated(plan));
    assert_true(tacit_plan_model(plan) == TACIT_MODEL_JOINT);
    assert_ok(tacit_plan_account(plan, 0, &c, NULL));
    assert_close(c.epsilon.high, 2.0 * 4 / 16 + 2.0 * 1 / 4, 1e-12); /* l1 * column / scale */
    assert_ok(tacit_plan_account_lives(plan, 3, 0, &c, NULL));
    assert_close(c.epsilon.high, 3 * (2.0 * 4 / 16 + 2.0 * 1 / 4), 1e-12);
    assert_status(tacit_plan_account_lives(plan, 0, 0, &c, NULL), TACIT_BAD_ARGUMENT);
}

TEST(a_plan_without_noise_promises_nothing)
{
    SCOPED(tacit_plan) *plan = plan_of_one();
    tacit_composition c;
    assert_status(tacit_plan_account(plan, 1e-6, &c, NULL), TACIT_BAD_PLAN);
    assert_ok(tacit_plan_calibrate(plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, NULL));
    assert_status(tacit_plan_account(plan, 1e-6, &c, NULL), TACIT_BAD_PLAN);
    assert_status(tacit_plan_account(NULL, 1e-6, &c, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_plan_account(plan, 1e-6, NULL, NULL), TACIT_BAD_ARGUMENT);
}

/* A plan of 1, 2, 5 or 20 lines whose sensitivities, columns and weights span orders of magnitude. */
static tacit_plan *varied_plan(size_t n, uint64_t *random)
{
    tacit_plan *plan = empty_plan();
    for (size_t i = 0; i < n; i++) {
        const char *name = fmt("line %zu", i);
        double l2 = exp(random_between(random, -7, 7)), column = exp(random_between(random, 0, 4));
        add_line(plan, name, l2 * random_between(random, 1, 30), l2, column * column, column,
                 exp(random_between(random, -5, 5)));
    }
    return plan;
}

TEST(calibration_and_accounting_agree)
{
    static const double epsilons[] = {1e-2, 0.1, 0.5, 1, 2, 8, 50};
    static const double deltas[] = {0, 1e-12, 1e-6, 1e-3, 0.1};
    static const size_t sizes[] = {1, 2, 5, 20};
    uint64_t random = 1;
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
        for (size_t d = 0; d < sizeof deltas / sizeof *deltas; d++) {
            SCOPED(tacit_plan) *plan = varied_plan(sizes[(e + d) % 4], &random);
            tacit_composition c;
            assert_ok(tacit_plan_calibrate(plan, joint(epsilons[e], deltas[d]), NULL));
            assert_true(tacit_plan_law(plan) ==
                        (deltas[d] > 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE));
            assert_true(tacit_plan_model(plan) == TACIT_MODEL_JOINT);
            assert_ok(tacit_plan_account(plan, deltas[d], &c, NULL));
            assert_within(c.epsilon.high, epsilons[e] * (1 - 1e-6), epsilons[e] * (1 + 1e-9));
            assert_within(c.epsilon.low, 0, c.epsilon.high);
        }
}

static double reach(const tacit_plan *plan, size_t i)
{
    const tacit_release *r = tacit_plan_release(plan, i);
    return tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN ? r->l2 * r->column_l2 : r->l1 * r->column_l1;
}

/* What line i takes of the budget at this scale. */
static double share(const tacit_plan *plan, size_t i, double scale)
{
    double ratio = reach(plan, i) / scale;
    return tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN ? ratio * ratio : ratio;
}

static void check_split(const tacit_plan *plan)
{
    bool gaussian = tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN;
    size_t n = tacit_plan_size(plan);
    for (size_t i = 0; i < n; i++) {
        double d = reach(plan, i), w = tacit_plan_release(plan, i)->weight;
        double d0 = reach(plan, 0), w0 = tacit_plan_release(plan, 0)->weight;
        double formula = gaussian ? cbrt(d * d / w / (d0 * d0 / w0)) : sqrt(d / w / (d0 / w0));
        assert_close(tacit_plan_scale(plan, i) / tacit_plan_scale(plan, 0), formula, 1e-12);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (double h = -0.3; h < 0.35 && i != j; h += 0.06) {
                /* scale i by 1 + h, and j so that the two take together what they took */
                double si = tacit_plan_scale(plan, i), sj = tacit_plan_scale(plan, j);
                double wi = tacit_plan_release(plan, i)->weight;
                double wj = tacit_plan_release(plan, j)->weight, moved = si * (1 + h);
                double left = share(plan, i, si) + share(plan, j, sj) - share(plan, i, moved);
                if (left <= 0)
                    continue;
                double other = reach(plan, j) / (gaussian ? sqrt(left) : left);
                assert_true(wi * moved + wj * other >= (wi * si + wj * sj) * (1 - 1e-12));
            }
}

TEST(no_other_split_of_the_budget_has_a_lower_weighted_sum)
{
    uint64_t random = 2;
    for (int i = 0; i < 40; i++) {
        SCOPED(tacit_plan) *plan = varied_plan(2 + (size_t)i % 5, &random);
        assert_ok(tacit_plan_calibrate(plan, joint(1, i % 2 == 0 ? 0 : 1e-6), NULL));
        check_split(plan);
    }
}

TEST(the_model_does_not_change_the_scales)
{
    SCOPED(tacit_plan) *trusted = plan_of_one(), *local = plan_of_one();
    assert_ok(tacit_plan_calibrate(trusted, joint(1, 1e-6), NULL));
    assert_ok(tacit_plan_calibrate(local, (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 1e-6}, NULL));
    assert_true(tacit_plan_model(local) == TACIT_MODEL_LOCAL);
    assert_true(tacit_plan_scale(trusted, 0) == tacit_plan_scale(local, 0));
}

/* Sensitivities are legal from the smallest double to the largest: what comes out of calibration is a
 * scale, or a refusal. */
TEST(calibration_never_leaves_a_scale_that_is_not_a_positive_number)
{
    static const double sizes[] = {DBL_TRUE_MIN, 1e-300, 1e-200, 1e-160,
                                   1e160,        1e200,  1e300,  DBL_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int law = 0; law < 2; law++) {
            SCOPED(tacit_plan) *plan = empty_plan();
            add_line(plan, "extreme", sizes[i], sizes[i], 3, 2, 1);
            add_line(plan, "usual", 2, 1, 3, 2, 1);
            view before = look(plan);
            tacit_composition c;
            if (tacit_plan_calibrate(plan, joint(1, law == 0 ? 0 : 1e-6), NULL) == TACIT_OK) {
                for (size_t k = 0; k < 2; k++)
                    assert_within(tacit_plan_scale(plan, k), DBL_TRUE_MIN, DBL_MAX);
                assert_ok(tacit_plan_account(plan, law == 0 ? 0 : 1e-6, &c, NULL));
                assert_within(c.epsilon.high, 0, 1 + 1e-9);
            } else {
                assert_unchanged(plan, &before);
            }
        }
}

TEST(a_copy_reads_the_same_as_its_original)
{
    uint64_t random = 3;
    SCOPED(tacit_plan) *plan = varied_plan(3, &random), *copy = NULL;
    assert_ok(tacit_plan_calibrate(plan, joint(1, 1e-6), NULL));
    view original = look(plan);
    assert_ok(tacit__plan_copy(plan, &copy));
    view copied = look(copy);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(copied.release[i].name, original.release[i].name);
        assert_string_equal(copied.release[i].reason, original.release[i].reason);
        assert_true(copied.release[i].name != original.release[i].name); /* strings of its own */
        copied.release[i].name = original.release[i].name;
        copied.release[i].reason = original.release[i].reason;
    }
    assert_memory_equal(&copied, &original, sizeof copied);
}

/* One answer of epsilon 1: delta is (e - e^x) / (1 + e) at epsilon x for the worst of all with that epsilon, and less for Laplace
 * noise. */
TEST(answers_cost_what_the_worst_mechanism_costs)
{
    tacit_plan *plan = NULL;
    tacit_composition real;
    const tacit_release line = {.name = "answers",
                                .dimension = 1,
                                .steps = 10,
                                .l1 = 1,
                                .column_l1 = 1,
                                .column_l2 = 1,
                                .mechanism = "fresh",
                                .answers = 5};
    const tacit_release number = {
        .name = "number", .dimension = 1, .steps = 1, .l1 = 1, .column_l1 = 1, .column_l2 = 1};
    tacit_release odd = line;
    odd.answers = 1;
    odd.name = "odd";
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &line, NULL));
    assert_status(tacit_plan_declare(plan, &number, NULL), TACIT_BAD_PLAN);
    assert_status(tacit_plan_declare(plan, &odd, NULL), TACIT_BAD_COUNT);
    assert_status(tacit_plan_calibrate(plan, (tacit_guarantee){TACIT_MODEL_LOCAL, 0, 0.1}, NULL),
                  TACIT_BAD_EPSILON);
    assert_ok(tacit_plan_calibrate(plan, (tacit_guarantee){TACIT_MODEL_LOCAL, 1, 0.1}, NULL));
    assert_true(tacit_plan_law(plan) == TACIT_LAW_RESPONSE);
    assert_close(tacit_plan_scale(plan, 0), 1, 1e-9);
    assert_ok(tacit_plan_account(plan, 0, &real, NULL));
    assert_within(real.epsilon.high, 1 - 1e-9, 1);
    assert_ok(tacit_plan_account(plan, 0.1, &real, NULL));
    assert_close(real.epsilon.high, log(exp(1) - 0.1 * (1 + exp(1))), 1e-6);
    tacit_plan_destroy(plan);
}
