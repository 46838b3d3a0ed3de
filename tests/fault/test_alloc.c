/* Memory that runs out: every allocation in the life of a sum fails once, for every mechanism.
 *
 * The call that needed it says NO_MEMORY and leaves all as it was, so that the same call, made again when
 * there is memory, succeeds, and the whole life ends with the releases of an undisturbed one. What is lost
 * on the way is for a sanitizer to tell. */
#include "support/again.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include <tacit/sum.h>

#include "base/memory.h"
#include "support/sums.h"

enum { N = 9, USERS = 20, LINES = 6 };

typedef struct life {
    tacit_plan *plan;
    tacit_noise *noise;
    tacit_ledger *ledger, *second_ledger;
    tacit_sum *sum, *second;
    unsigned failures;
    double noisy[USERS][N];
} life;

static void declare_lines(life *l, const tacit_sum_spec *spec)
{
    for (int i = 0; i < LINES; i++) { /* more than a plan has room for at first */
        tacit_release line;
        TRY(l, tacit_sum_declare(spec, fmt("line %d", i), &line, &err));
        TRY(l, tacit_plan_declare(l->plan, &line, &err));
        assert_int_equal(tacit_plan_size(l->plan), i + 1);
    }
}

static void run(life *l, sum_kind kind)
{
    static const bool zeros[N] = {false, true};
    tacit_sum_spec spec = sum_spec_of(kind, N, USERS);
    tacit_guarantee target = {TACIT_MODEL_JOINT, 1, kind.law == TACIT_LAW_GAUSSIAN ? 1e-6 : 0};
    spec.structural_zero = zeros;
    if (kind.law == TACIT_LAW_NONE)
        target.model = TACIT_MODEL_NONE;
    TRY(l, tacit_plan_create(&l->plan));
    declare_lines(l, &spec);
    TRY(l, tacit_plan_calibrate(l->plan, target, &err));
    if (kind.law != TACIT_LAW_NONE) {
        tacit_composition c;
        TRY(l, tacit_plan_account(l->plan, target.delta, &c, &err));
    }
    TRY(l, tacit_noise_create_simulated(1, &l->noise));
    TRY(l, tacit_ledger_create(l->plan, l->noise, &l->ledger, &err));
    TRY(l, tacit_ledger_create(l->plan, l->noise, &l->second_ledger, &err));
    TRY(l, tacit_sum_create(&spec, l->ledger, "line 2", &l->sum, &err));
    TRY(l, tacit_sum_create(&spec, l->second_ledger, "line 2", &l->second, &err));

    static const double x[N] = {0.1, 0, -0.1, 0.2, 0, 0, 0.05, 0, 0.3};
    uint8_t saved[16384];
    size_t size = sizeof saved;
    for (int k = 0; k < USERS; k++) {
        if (k == USERS / 2) { /* the second one takes over */
            TRY(l, tacit_sum_save(l->sum, saved, &size, &err));
            TRY(l, tacit_sum_load(l->second, saved, size, &err));
        }
        tacit_sum *sum = k < USERS / 2 ? l->sum : l->second;
        TRY(l, tacit_sum_add(sum, x, &err));
        TRY(l, tacit_sum_release(sum, l->noisy[k], &err));
    }
}

static void end(life *l)
{
    tacit_sum_destroy(l->sum);
    tacit_sum_destroy(l->second);
    tacit_ledger_destroy(l->ledger);
    tacit_ledger_destroy(l->second_ledger);
    tacit_noise_destroy(l->noise);
    tacit_plan_destroy(l->plan);
}

TEST(every_allocation_in_the_life_of_a_sum_may_fail)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        life calm = {0};
        run(&calm, sum_kinds[m]);
        assert_true(calm.failures == 0);
        uint64_t n = 1;
        for (bool failed = true; failed; n++) {
            life troubled = {0};
            tacit__alloc_fail_at(n);
            run(&troubled, sum_kinds[m]);
            failed = tacit__alloc_has_failed();
            assert_true(troubled.failures == failed); /* told once, by the call that it hit */
            assert_memory_equal(calm.noisy, troubled.noisy, sizeof calm.noisy);
            end(&troubled);
        }
        tacit__alloc_fail_at(0);
        /* plan, lines, texts; ledgers with their copies; sums with their states */
        assert_true(n > 30);
        end(&calm);
    }
}

/* The same without a second try: half-built lives are taken down from where they stopped. */
static tacit_status run_once(life *l, const tacit_sum_spec *spec)
{
    tacit_release line;
    tacit_guarantee target = {TACIT_MODEL_JOINT, 1, 1e-6};
    tacit_status status = tacit_plan_create(&l->plan);
    if (status == TACIT_OK)
        status = tacit_sum_declare(spec, "sum", &line, NULL);
    if (status == TACIT_OK)
        status = tacit_plan_declare(l->plan, &line, NULL);
    if (status == TACIT_OK)
        status = tacit_plan_calibrate(l->plan, target, NULL);
    if (status == TACIT_OK)
        status = tacit_noise_create_from_os(&l->noise);
    if (status == TACIT_OK)
        status = tacit_ledger_create(l->plan, l->noise, &l->ledger, NULL);
    if (status == TACIT_OK)
        status = tacit_sum_create(spec, l->ledger, "sum", &l->sum, NULL);
    return status;
}

TEST(a_life_that_stops_at_any_allocation_can_be_taken_down)
{
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
        if (spec.law != TACIT_LAW_GAUSSIAN)
            continue;
        tacit_status status = TACIT_NO_MEMORY;
        for (uint64_t n = 1; status != TACIT_OK; n++) {
            life l = {0};
            tacit__alloc_fail_at(n);
            status = run_once(&l, &spec);
            assert_int_equal(status, tacit__alloc_has_failed() ? TACIT_NO_MEMORY : TACIT_OK);
            if (status != TACIT_OK)
                assert_null(l.sum); /* out-pointers are untouched */
            end(&l);
        }
        tacit__alloc_fail_at(0);
    }
}

TEST(a_size_that_overflows_is_no_memory)
{
    assert_null(tacit__alloc(SIZE_MAX, 2));
    assert_null(tacit__alloc(SIZE_MAX / 2 + 1, 2));
    assert_null(tacit__alloc(SIZE_MAX - 8, 1));
    uint8_t *p = tacit__alloc(0, 16); /* one element */
    assert_non_null(p);
    for (size_t i = 0; i < 16; i++)
        assert_true(p[i] == 0);
    assert_true((uintptr_t)p % 64 == 0);
    tacit__free(p);
    tacit__free(NULL);
    tacit__free_secret(NULL, 10);
}
