/* Private running sums: what they declare, and their life. See include/tacit/sum.h; people and releases are
 * in sum_steps.c. */
#include <tacit/sum.h>

#include <math.h>

#include "account/door.h"
#include "base/error.h"
#include "base/workspace.h"
#include "sums/lattice.h"
#include "sums/strategy.h"
#include "sums/sum_inside.h"
#include "sums/sum_steps.h"

tacit_sum_mechanism tacit_sum_default_mechanism(tacit_guarantee guarantee)
{
    if (guarantee.model == TACIT_MODEL_NONE)
        return TACIT_SUM_EXACT;
    if (guarantee.model == TACIT_MODEL_LOCAL)
        return TACIT_SUM_LOCAL;
    return guarantee.delta > 0 ? TACIT_SUM_BLT : TACIT_SUM_SMOOTH;
}

static bool is_mechanism(tacit_sum_mechanism mechanism)
{
    return (size_t)mechanism < TACIT__STRATEGIES && tacit__strategies[mechanism] != NULL;
}

const char *tacit_sum_mechanism_name(tacit_sum_mechanism mechanism)
{
    return is_mechanism(mechanism) ? tacit__strategies[mechanism]->name : "unknown";
}

static size_t count_active(const tacit_sum_spec *spec)
{
    if (spec->structural_zero == NULL)
        return spec->dimension;
    size_t active = 0;
    for (size_t i = 0; i < spec->dimension; i++)
        active += !spec->structural_zero[i];
    return active;
}

/* Visits after the last release are in none. */
static tacit_status read_visits(const tacit_sum_spec *spec, const tacit__batches *batches,
                                tacit__returning *out, tacit_error *err)
{
    TRY(tacit__returning_read(spec->visits, spec->apart, UINT64_MAX, out, err));
    if (batches->ends == NULL && batches->n < spec->users && out->most > 1)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "a sum whose releases are not known beforehand takes one visit of each "
                           "person");
    if (batches->ends == NULL)
        return tacit__returning_read(spec->visits, spec->apart, spec->users, out, err);
    const uint64_t last = batches->n > 0 ? batches->ends[batches->n - 1] : 0;
    const uint64_t fit = last > 0 ? 1 + (last - 1) / out->apart : 1;
    out->most = out->most < fit ? out->most : fit;
    return TACIT_OK;
}

/* Everything that follows from a spec. */
static tacit_status derive(const tacit_sum_spec *spec, const tacit__batches *batches,
                           tacit__lattice *lattice, tacit__shape *shape, tacit_error *err)
{
    const uint64_t releases = batches->n;
    if (!is_mechanism(spec->mechanism))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "no mechanism has the number %d",
                           (int)spec->mechanism);
    const tacit__strategy *strategy = tacit__strategies[spec->mechanism];
    if (strategy->needs_noise != (spec->law != TACIT_LAW_NONE))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           strategy->needs_noise ? "%s sums need Gaussian or Laplace noise"
                                                 : "%s sums take no noise",
                           strategy->name);
    if (releases > spec->users || (releases == 0 && spec->users > 0))
        return tacit__fail(
            err, TACIT_BAD_COUNT,
            "%llu releases of %llu users, expected at least 1 and no more than users",
            (unsigned long long)releases, (unsigned long long)spec->users);
    if (releases < spec->users && spec->mechanism == TACIT_SUM_LOCAL)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "every user of a local sum adds noise of their own: each is a release");
    tacit__returning visits;
    TRY(read_visits(spec, batches, &visits, err));
    size_t dimension = count_active(spec);
    if (spec->dimension > 0 && dimension == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "all coordinates are structural zeros");
    TRY(tacit__lattice_choose_for(spec, dimension, releases, lattice, err));
    *shape = (tacit__shape){.law = spec->law,
                            .dimension = dimension,
                            .steps = releases,
                            .visits = visits,
                            .ends = batches->ends,
                            .largest = lattice->largest,
                            .sensitivity = ldexp(lattice->sensitivity_l2, lattice->bits),
                            .differing = lattice->differing,
                            .unit = ldexp(1, -lattice->bits)};
    return TACIT_OK;
}

tacit_status tacit_sum_declare(const tacit_sum_spec *spec, const char *name, tacit_release *release,
                               tacit_error *err)
{
    if (spec == NULL || release == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    return tacit__sum_declare_released(spec, &(tacit__batches){.n = spec->users}, name, release,
                                       err);
}

/* Sensitivities are those of one person's vector, whatever the number of people in a step: two streams of
 * batches with one person replaced differ in the one batch that holds them, by x - x'. So the strategy's
 * column norm over all releases is all that this person can move; with several visits it is that of all their
 * steps together (returning.h). */
tacit_status tacit__sum_declare_released(const tacit_sum_spec *spec, const tacit__batches *releases,
                                         const char *name, tacit_release *release, tacit_error *err)
{
    tacit__lattice lattice;
    tacit__shape shape;
    tacit__columns columns;
    TRY(derive(spec, releases, &lattice, &shape, err));
    TRY(tacit__strategies[spec->mechanism]->columns(&shape, &columns, err));
    TACIT__REQUIRE(columns.l2 > 0);
    const char *reason = lattice.bound.nonnegative
                             ? "|x-x'|_1 <= 2 max|x|_1; x.x' >= 0, so |x-x'|_2 <= sqrt(2) max|x|_2"
                             : "triangle inequality: |x-x'| <= 2 max|x| in either norm";
    bool has_l1 = isfinite(columns.l1);
    *release = (tacit_release){.name = name,
                               .reason = spec->reason != NULL ? spec->reason : reason,
                               .dimension = shape.dimension,
                               .steps = releases->n,
                               .l1 = has_l1 ? lattice.sensitivity_l1 : 0,
                               .l2 = lattice.sensitivity_l2,
                               .column_l1 = has_l1 ? columns.l1 : 1,
                               .column_l2 = columns.l2,
                               .weight = 1,
                               .mechanism = tacit__strategies[spec->mechanism]->name,
                               .visits = spec->visits > 0 ? spec->visits : 1,
                               .apart = shape.visits.apart,
                               .packed = spec->mechanism == TACIT_SUM_BLT &&
                                         shape.visits.most > 1 && releases->ends == NULL};
    return TACIT_OK;
}

tacit_status tacit__sum_predict(const tacit_sum_spec *spec, tacit__sum_prediction *out,
                                tacit_error *err)
{
    return tacit__sum_predict_released(spec, &(tacit__batches){.n = spec->users}, out, err);
}

tacit_status tacit__sum_predict_released(const tacit_sum_spec *spec, const tacit__batches *releases,
                                         tacit__sum_prediction *out, tacit_error *err)
{
    enum { SAMPLE = 64 };
    tacit__lattice lattice;
    tacit__shape shape;
    tacit__columns columns;
    void *state = NULL;
    TRY(derive(spec, releases, &lattice, &shape, err));
    const tacit__strategy *strategy = tacit__strategies[spec->mechanism];
    tacit_status status = strategy->columns(&shape, &columns, err);
    shape.dimension = SAMPLE; /* the strategy works coordinate by coordinate */
    if (status == TACIT_OK)
        status = strategy->create(&shape, &state, err);
    if (status != TACIT_OK)
        return status;
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = strategy->regions(state, regions), bytes = 0;
    for (size_t i = 1; i < n; i++)
        bytes += regions[i].size;
    *out =
        (tacit__sum_prediction){.column = spec->law == TACIT_LAW_LAPLACE ? columns.l1 : columns.l2,
                                .row = sqrt(strategy->most(state, releases->n)),
                                .bytes = (double)bytes / SAMPLE + sizeof(int64_t)};
    strategy->destroy(state);
    return TACIT_OK;
}

/* The plan's line covers what the spec needs. */
static tacit_status check_line(const tacit_release *line, const tacit_release *needed,
                               tacit_law law, tacit_law plan_law, tacit_error *err)
{
    if (law != plan_law)
        return tacit__fail(err, TACIT_BAD_PLAN,
                           "release '%s': the sum is tuned to another noise than the plan's",
                           line->name);
    if (line->dimension != needed->dimension || line->steps != needed->steps)
        return tacit__fail(
            err, TACIT_BAD_PLAN,
            "release '%s' is declared with dimension %zu and %llu steps, the sum has %zu "
            "and %llu",
            line->name, line->dimension, (unsigned long long)line->steps, needed->dimension,
            (unsigned long long)needed->steps);
    bool covered = law == TACIT_LAW_NONE ||
                   (law == TACIT_LAW_GAUSSIAN
                        ? line->l2 >= needed->l2 && line->column_l2 >= needed->column_l2
                        : line->l1 >= needed->l1 && line->column_l1 >= needed->column_l1);
    if (!covered)
        return tacit__fail(
            err, TACIT_BAD_PLAN,
            "release '%s' declares less than the sum can move: l1 %g x %g, l2 %g x %g; "
            "needed are l1 %g x %g, l2 %g x %g",
            line->name, line->l1, line->column_l1, line->l2, line->column_l2, needed->l1,
            needed->column_l1, needed->l2, needed->column_l2);
    return TACIT_OK;
}

static size_t tile_size(const tacit_sum *sum)
{
    return sum->dimension < TACIT__TILE ? sum->dimension : TACIT__TILE;
}

/* The sum with its arrays; the index list of the coordinates that are not structural zeros is NULL when
 * all are. */
static tacit_sum *allocate(tacit_sum w, const bool *structural_zero)
{
    const bool some = w.dimension < w.outer_dimension;
    tacit_sum *sum = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.x, w.dimension), TACIT__PIECE(w.tile, tile_size(&w)),
        TACIT__PIECE(w.encoded, tile_size(&w)), TACIT__PIECE_IF(some, w.active, w.dimension),
        TACIT__PIECE_IF(some, w.packed, w.dimension),
        TACIT__PIECE_IF(some, w.coordinates, w.dimension),
        TACIT__PIECE_IF(w.releases < w.users, w.batch, w.dimension));
    for (size_t i = 0, n = 0; sum != NULL && some && i < w.outer_dimension; i++)
        if (!structural_zero[i])
            sum->active[n++] = i;
    return sum;
}

tacit_status tacit_sum_create(const tacit_sum_spec *spec, tacit_ledger *ledger, const char *name,
                              tacit_sum **out, tacit_error *err)
{
    if (spec == NULL || ledger == NULL || name == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    return tacit__sum_create_released(spec, &(tacit__batches){.n = spec->users}, ledger, name, out,
                                      err);
}

/* The largest value of a step's input: that of all people together, who fit into 2^60 (lattice.c). */
static double largest_input(const tacit_sum *sum)
{
    return sum->batch == NULL ? sum->lattice.largest : sum->lattice.largest * (double)sum->users;
}

tacit_status tacit__sum_create_released(const tacit_sum_spec *spec, const tacit__batches *releases,
                                        tacit_ledger *ledger, const char *name, tacit_sum **out,
                                        tacit_error *err)
{
    tacit_release needed;
    TRY(tacit__sum_declare_released(spec, releases, name, &needed, err));
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    size_t index = tacit_plan_index(plan, name);
    if (index == tacit_plan_size(plan))
        return tacit__fail(err, TACIT_UNDECLARED, "the plan has no release '%s'", name);
    TRY(check_line(tacit_plan_release(plan, index), &needed, spec->law, tacit_plan_law(plan), err));

    tacit_sum w = {.strategy = tacit__strategies[spec->mechanism],
                   .outer_dimension = spec->dimension,
                   .users = spec->users,
                   .releases = releases->n,
                   .scale = tacit_plan_scale(plan, index)};
    TACIT__REQUIRE(spec->law == TACIT_LAW_NONE || w.scale > 0);
    tacit__shape shape;
    TRY(derive(spec, releases, &w.lattice, &shape, err));
    w.dimension = shape.dimension;
    w.draw_stddev = w.scale * (spec->law == TACIT_LAW_LAPLACE ? M_SQRT2 : 1);
    shape.scale = ldexp(w.scale, w.lattice.bits);
    tacit_sum *sum = allocate(w, spec->structural_zero);
    if (sum == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = sum->strategy->create(&shape, &sum->state, err);
    if (status == TACIT_OK)
        status = tacit__gate_open(ledger,
                                  &(tacit__gate_spec){.name = name,
                                                      .lattice_bits = sum->lattice.bits,
                                                      .places = sum->dimension,
                                                      .largest = largest_input(sum)},
                                  &sum->gate, err);
    if (status != TACIT_OK) {
        tacit_sum_destroy(sum);
        return status;
    }
    tacit__sum_fingerprint(sum, tacit_plan_release(plan, index), spec->law, sum->fingerprint);
    *out = sum;
    return TACIT_OK;
}

void tacit_sum_destroy(tacit_sum *sum)
{
    if (sum == NULL)
        return;
    tacit__gate_close(sum->gate);
    sum->strategy->destroy(sum->state);
    tacit__workspace_destroy(sum);
}

uint64_t tacit_sum_step(const tacit_sum *sum)
{
    return sum->step;
}

const tacit__lattice *tacit__sum_lattice(const tacit_sum *sum)
{
    return &sum->lattice;
}

tacit_status tacit_sum_stddev(const tacit_sum *sum, uint64_t k, double *stddev)
{
    if (sum == NULL || stddev == NULL || k == 0 || k > sum->releases)
        return TACIT_BAD_ARGUMENT;
    *stddev = sum->draw_stddev * sqrt(sum->strategy->variance(sum->state, k));
    return TACIT_OK;
}

double tacit__sum_noisiest(const tacit_sum *sum, uint64_t k)
{
    TACIT__REQUIRE(k > 0 && k <= sum->releases);
    return sum->draw_stddev * sqrt(sum->strategy->most(sum->state, k));
}

double tacit_sum_worst_stddev(const tacit_sum *sum)
{
    return tacit__sum_noisiest(sum, sum->releases);
}

size_t tacit_sum_memory(const tacit_sum *sum)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = tacit__sum_regions(sum, regions), bytes = sizeof *sum;
    for (size_t i = 0; i < n; i++)
        bytes += regions[i].size;
    size_t scratch =
        sizeof *sum->x + (sum->active != NULL
                              ? sizeof *sum->active + sizeof *sum->packed + sizeof *sum->coordinates
                              : 0);
    return bytes + sum->dimension * scratch +
           tile_size(sum) * (sizeof *sum->tile + sizeof *sum->encoded);
}
