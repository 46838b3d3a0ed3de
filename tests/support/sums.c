#include "support/sums.h"

#include "support/check.h"

const sum_kind sum_kinds[N_SUM_KINDS] = {
    {TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN},   {TACIT_SUM_TREE, TACIT_LAW_LAPLACE},
    {TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN}, {TACIT_SUM_SMOOTH, TACIT_LAW_LAPLACE},
    {TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN},    {TACIT_SUM_LOCAL, TACIT_LAW_GAUSSIAN},
    {TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE},   {TACIT_SUM_EXACT, TACIT_LAW_NONE},
};

tacit_sum_spec sum_spec_of(sum_kind kind, size_t dimension, uint64_t users)
{
    tacit_sum_spec spec = {SUM_OF(kind.mechanism, kind.law, dimension, users)};
    if (kind.law == TACIT_LAW_LAPLACE)
        spec.bound.l1 = 1;
    else
        spec.bound.l2 = 1;
    return spec;
}

void sum_rig_open_ledger(sum_rig *rig, const tacit_sum_spec *spec, const char *name, double scale,
                         uint64_t seed)
{
    *rig = (sum_rig){0};
    assert_ok(tacit_sum_declare(spec, name, &rig->line, NULL));
    assert_ok(tacit_plan_create(&rig->plan));
    assert_ok(tacit_plan_declare(rig->plan, &rig->line, NULL));
    if (spec->law == TACIT_LAW_NONE)
        assert_ok(
            tacit_plan_calibrate(rig->plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, NULL));
    else
        assert_ok(tacit_plan_set_scale(rig->plan, name, spec->law, scale, NULL));
    assert_ok(tacit_noise_create_simulated(seed, &rig->noise));
    assert_ok(tacit_ledger_create(rig->plan, rig->noise, &rig->ledger, NULL));
}

void sum_rig_open(sum_rig *rig, const tacit_sum_spec *spec, const char *name, double scale,
                  uint64_t seed)
{
    sum_rig_open_ledger(rig, spec, name, scale, seed);
    assert_ok(tacit_sum_create(spec, rig->ledger, name, &rig->sum, NULL));
}

void sum_rig_open_unit(sum_rig *rig, const tacit_sum_spec *spec, uint64_t seed)
{
    tacit_release line;
    assert_ok(tacit_sum_declare(spec, "sum", &line, NULL));
    double reach =
        spec->law == TACIT_LAW_LAPLACE ? line.l1 * line.column_l1 : line.l2 * line.column_l2;
    sum_rig_open(rig, spec, "sum", reach, seed);
}

void sum_rig_close(sum_rig *rig)
{
    tacit_sum_destroy(rig->sum);
    tacit_ledger_destroy(rig->ledger);
    tacit_noise_destroy(rig->noise);
    tacit_plan_destroy(rig->plan);
    *rig = (sum_rig){0};
}
