/* Explanations: the numbers are those of the plan and the accountant, the verdicts are right, nothing is promised that was
 * not declared. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/explain.h>

#include "base/memory.h"

static tacit_plan *plan_of(double column)
{
    tacit_plan *plan = NULL;
    tacit_error err = {0};
    const tacit_release lines[] = {
        {.name = "counts",
         .reason = "a <reason>",
         .dimension = 12,
         .steps = 4999,
         .l1 = 4,
         .l2 = 2,
         .column_l1 = column * column,
         .column_l2 = column},
        {.name = "sums",
         .dimension = 1,
         .steps = 1,
         .l1 = 3,
         .l2 = 3,
         .column_l1 = 1,
         .column_l2 = 1},
    };
    assert_ok(tacit_plan_create(&plan));
    for (size_t i = 0; i < 2; i++)
        assert_ok(tacit_plan_declare(plan, &lines[i], &err));
    return plan;
}

static tacit_explanation *explain(const tacit_plan *plan, tacit_guarantee claim,
                                  tacit_calibration calibration)
{
    tacit_explanation *e = NULL;
    tacit_error err = {0};
    const tacit_explanation_request request = {
        .claim = claim, .calibration = calibration, .plan = plan, .remark = "a remark"};
    assert_ok(tacit_explanation_create(&request, &e, &err));
    return e;
}

TEST(gaussian_costs_add_in_squares_to_the_claim)
{
    const tacit_guarantee claim = {TACIT_MODEL_JOINT, 1, 1e-6};
    tacit_plan *plan = plan_of(2.5);
    assert_ok(tacit_plan_calibrate(plan, claim, NULL));
    SCOPED(tacit_explanation) *e = explain(plan, claim, TACIT_CALIBRATION_TIGHT);
    double scale = tacit_plan_scale(plan, 0);
    tacit_plan_destroy(plan); /* nothing is borrowed */
    assert_int_equal(e->verdict, TACIT_VERDICT_HOLDS);
    assert_string_equal(e->words, "the claim holds");
    assert_string_equal(e->remark, "a remark");
    assert_int_equal(e->n_releases, 2);
    assert_string_equal(e->releases[0].release.name, "counts");
    assert_string_equal(e->releases[0].release.reason, "a <reason>");
    assert_string_equal(e->releases[1].release.reason, "");
    assert_true(e->releases[0].reach == 5 && e->releases[0].scale == scale);
    double squares = 0, mu;
    for (size_t i = 0; i < e->n_releases; i++)
        squares += e->releases[i].cost * e->releases[i].cost;
    assert_ok(tacit_gdp_mu(claim.epsilon, claim.delta, &mu));
    assert_close(sqrt(squares), mu, 1e-9);
    assert_close(e->real.mu, mu, 1e-9);
    assert_close(e->twice.mu, M_SQRT2 * mu, 1e-9);
    assert_true(e->twice.epsilon.high > e->real.epsilon.high);
    assert_non_null(strstr(e->releases[0].words, "12 numbers, shown up to 4,999 times"));
    assert_non_null(strstr(e->releases[0].words, "at most 2 (L2 norm)"));
    assert_non_null(strstr(e->releases[0].words, "together they move by 5, 2.5 times as far"));
    assert_non_null(strstr(e->releases[1].words, "1 number, shown once"));
    assert_non_null(strstr(e->composition, "squares add"));
    assert_int_equal(e->n_curve, 4); /* 1e-10, 1e-8, the claim's 1e-6, 1e-4 */
    for (size_t i = 0; i < e->n_curve; i++) {
        double epsilon;
        assert_ok(tacit_gdp_epsilon(e->real.mu, e->curve[i].delta, &epsilon));
        assert_close(e->curve[i].epsilon, epsilon, 1e-9);
        assert_true(i == 0 || (e->curve[i].delta > e->curve[i - 1].delta &&
                               e->curve[i].epsilon < e->curve[i - 1].epsilon));
    }
    assert_string_equal(e->report, "");
    assert_string_equal(e->paper, ""); /* of no kind */
}

/* The claim's delta takes its place among the others, wherever that is. */
TEST(the_curve_has_the_claim_in_its_place)
{
    static const double deltas[] = {1e-12, 3e-7, 0.01};
    static const size_t places[] = {0, 2, 4};
    for (size_t i = 0; i < 3; i++) {
        const tacit_guarantee claim = {TACIT_MODEL_JOINT, 1, deltas[i]};
        SCOPED(tacit_plan) *plan = plan_of(2.5);
        assert_ok(tacit_plan_calibrate(plan, claim, NULL));
        SCOPED(tacit_explanation) *e = explain(plan, claim, TACIT_CALIBRATION_TIGHT);
        assert_int_equal(e->n_curve, 5);
        assert_true(e->curve[places[i]].delta == deltas[i]);
        for (size_t j = 1; j < e->n_curve; j++)
            assert_true(e->curve[j].delta > e->curve[j - 1].delta);
    }
}

TEST(people_are_said_to_be_in_so_many_steps)
{
    const tacit_guarantee claim = {TACIT_MODEL_JOINT, 1, 0};
    const tacit_release line = {.name = "sum",
                                .dimension = 2,
                                .steps = 15,
                                .l1 = 2,
                                .l2 = 2,
                                .column_l1 = 4,
                                .column_l2 = 2,
                                .mechanism = "tree"};
    SCOPED(tacit_plan) *plan = NULL;
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &line, NULL));
    assert_ok(tacit_plan_calibrate(plan, claim, NULL));
    SCOPED(tacit_explanation) *e = NULL;
    const tacit_explanation_request request = {.claim = claim, .plan = plan, .kind = "dp-ucbvi"};
    assert_ok(tacit_explanation_create(&request, &e, NULL));
    assert_string_equal(e->releases[0].release.mechanism, "tree");
    assert_non_null(strstr(e->releases[0].words,
                           "in at most 4 of the vectors that are noised (tree): together they move "
                           "by 8, 4 times as far"));
    assert_non_null(strstr(e->paper, "[QW23, section 5.1, Lemma 5.1]"));
    assert_int_equal(e->n_curve, 0);
}

TEST(visits_are_named_though_nobody_says_how_steps_share_their_noise)
{
    const tacit_guarantee claim = {TACIT_MODEL_JOINT, 1, 1e-6};
    const tacit_release line = {.name = "own",
                                .dimension = 2,
                                .steps = 15,
                                .l1 = 2,
                                .l2 = 2,
                                .column_l1 = 4,
                                .column_l2 = 2,
                                VISITS_OF(3, 4)};
    SCOPED(tacit_plan) *plan = NULL;
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &line, NULL));
    assert_ok(tacit_plan_calibrate(plan, claim, NULL));
    SCOPED(tacit_explanation) *e = explain(plan, claim, TACIT_CALIBRATION_TIGHT);
    assert_non_null(strstr(e->releases[0].words, "at most 3 visits, at least 4 users apart"));
    assert_null(strstr(e->releases[0].words, "(;"));
}

TEST(laplace_costs_add_to_the_claim)
{
    const tacit_guarantee claim = {TACIT_MODEL_LOCAL, 2, 0};
    SCOPED(tacit_plan) *plan = plan_of(1);
    assert_ok(tacit_plan_calibrate(plan, claim, NULL));
    SCOPED(tacit_explanation) *e = explain(plan, claim, TACIT_CALIBRATION_TIGHT);
    assert_int_equal(e->verdict, TACIT_VERDICT_HOLDS);
    assert_close(e->releases[0].cost + e->releases[1].cost, 2, 1e-9);
    assert_non_null(strstr(e->releases[0].words, "which leave a device"));
    assert_non_null(strstr(e->releases[0].words, "at most 4 (L1 norm)"));
    assert_non_null(strstr(e->against, "the curator included"));
    assert_non_null(strstr(e->composition, "these add"));
    assert_non_null(strstr(e->composition, "delta = 0 (below e^epsilon 2^-400"));
    assert_int_equal(e->report_bytes, 13 * 8);
    assert_non_null(
        strstr(e->report, "bytes 0 to 95: 12 numbers of 'counts', bytes 96 to 103: 1 "));
    assert_non_null(strstr(e->report, "104 bytes, and what frames them"));
}

/* The same noise under smaller and larger claims. */
TEST(verdicts_compare_the_claim_with_the_noise)
{
    const tacit_guarantee true_claim = {TACIT_MODEL_JOINT, 2, 0};
    SCOPED(tacit_plan) *plan = plan_of(1);
    assert_ok(tacit_plan_calibrate(plan, true_claim, NULL));
    tacit_guarantee claim = true_claim;
    claim.epsilon = 1;
    SCOPED(tacit_explanation) *e = explain(plan, claim, TACIT_CALIBRATION_PUBLISHED);
    assert_int_equal(e->verdict, TACIT_VERDICT_FAILS);
    assert_string_equal(tacit_verdict_name(e->verdict), "fails");
    assert_non_null(strstr(e->words, "does NOT hold: the paper's scales give epsilon 2"));
    tacit_explanation_destroy(e);
    e = explain(plan, claim, TACIT_CALIBRATION_FIGURE);
    assert_non_null(strstr(e->words, "not for people"));
    tacit_explanation_destroy(e);
    claim.epsilon = 4;
    e = explain(plan, claim, TACIT_CALIBRATION_TIGHT);
    assert_int_equal(e->verdict, TACIT_VERDICT_HOLDS);
    assert_non_null(strstr(e->words, "more noise than it needs"));
}

/* Constants that nobody has compared with the paper's text say so; others do not. */
TEST(recalled_constants_are_told_from_read_ones)
{
    static const struct {
        const char *kind;
        tacit_model model;
        bool recalled;
    } cases[] = {
        {"dp-ucbvi", TACIT_MODEL_JOINT, false},      {"pucb", TACIT_MODEL_JOINT, true},
        {"private-ucb-vi", TACIT_MODEL_LOCAL, true}, {"private-ucb-po", TACIT_MODEL_JOINT, true},
        {"ldp-obi", TACIT_MODEL_LOCAL, true},        {"lin-ucb", TACIT_MODEL_JOINT, true},
        {"lin-ucb", TACIT_MODEL_LOCAL, true},        {"capri", TACIT_MODEL_JOINT, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tacit_guarantee claim = {cases[i].model, 1, 1e-6};
        SCOPED(tacit_plan) *plan = plan_of(2);
        SCOPED(tacit_explanation) *e = NULL;
        assert_ok(tacit_plan_calibrate(plan, claim, NULL));
        const tacit_explanation_request request = {
            .claim = claim, .plan = plan, .kind = cases[i].kind};
        assert_ok(tacit_explanation_create(&request, &e, NULL));
        assert_int_equal(e->paper[0], '[');
        assert_int_equal(strstr(e->paper, "not checked against the paper's own text") != NULL,
                         cases[i].recalled);
    }
}

TEST(without_a_claim_there_is_no_promise)
{
    tacit_error err = {0};
    tacit_explanation *e = NULL;
    tacit_explanation_request request = {.claim = {TACIT_MODEL_NONE, 0, 0}};
    assert_ok(tacit_explanation_create(&request, &e, &err));
    assert_int_equal(e->verdict, TACIT_VERDICT_NOTHING);
    assert_int_equal(e->n_releases, 0);
    assert_string_equal(e->words, "releases exact numbers and has no guarantee");
    assert_string_equal(e->remark, "");
    assert_string_equal(e->composition, "");
    tacit_explanation_destroy(e);
    request.baseline = true;
    assert_ok(tacit_explanation_create(&request, &e, &err));
    assert_non_null(strstr(e->words, "learns nothing"));
    tacit_explanation_destroy(e);
    request.claim = (tacit_guarantee){TACIT_MODEL_JOINT, 1, 0};
    assert_status(tacit_explanation_create(&request, &e, &err), TACIT_BAD_PLAN);
    assert_status(tacit_explanation_create(NULL, &e, &err), TACIT_BAD_ARGUMENT);
    assert_status(tacit_explanation_create(&request, NULL, &err), TACIT_BAD_ARGUMENT);
    tacit_explanation_destroy(NULL);
}

TEST(many_releases_and_long_names_fit)
{
    const tacit_guarantee claim = {TACIT_MODEL_JOINT, 1, 1e-6};
    char name[600];
    SCOPED(tacit_plan) *plan = NULL;
    assert_ok(tacit_plan_create(&plan));
    for (int i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof name, "%d%0500d", i, 0);
        const tacit_release line = {.name = name,
                                    .reason = name,
                                    .dimension = SIZE_MAX / 2,
                                    .steps = UINT64_MAX / 2,
                                    .l1 = 1.0 / 3,
                                    .l2 = 1.0 / 3,
                                    .column_l1 = 1.5,
                                    .column_l2 = 1.5};
        assert_ok(tacit_plan_declare(plan, &line, NULL));
    }
    assert_ok(tacit_plan_calibrate(plan, claim, NULL));
    SCOPED(tacit_explanation) *e = explain(plan, claim, TACIT_CALIBRATION_TIGHT);
    assert_int_equal(strlen(e->releases[39].release.name), 502);
    assert_int_equal(strlen(e->releases[39].release.reason), 502);
    assert_non_null(strstr(e->composition, "+ ..."));
}

TEST(memory_that_runs_out_is_told)
{
    const tacit_guarantee claim = {TACIT_MODEL_JOINT, 1, 1e-6};
    SCOPED(tacit_plan) *plan = plan_of(2);
    assert_ok(tacit_plan_calibrate(plan, claim, NULL));
    const tacit_explanation_request request = {.claim = claim, .plan = plan};
    uint64_t n = 1;
    for (;; n++) {
        tacit_explanation *e = NULL;
        tacit_error err = {0};
        tacit__alloc_fail_at(n);
        tacit_status status = tacit_explanation_create(&request, &e, &err);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        if (!failed) {
            assert_ok(status);
            tacit_explanation_destroy(e);
            break;
        }
        assert_status(status, TACIT_NO_MEMORY);
        assert_null(e);
    }
    assert_true(n > 3);
}
