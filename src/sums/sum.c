/* Private running sums: the public face. See include/tacit/sum.h.
 *
 * A step goes through the vector in tiles, so that encoding, noise and decoding of a tile meet in the
 * first-level cache. All checks come before the step is charged; after that nothing can fail. */
#include <tacit/sum.h>

#include <math.h>
#include <string.h>

#include "account/door.h"
#include "base/error.h"
#include "base/workspace.h"
#include "sums/lattice.h"
#include "sums/strategy.h"
#include "sums/sum_inside.h"

static const tacit__strategy *const strategies[] = {
    [TACIT_SUM_EXACT] = &tacit__strategy_exact,   [TACIT_SUM_TREE] = &tacit__strategy_tree,
    [TACIT_SUM_SMOOTH] = &tacit__strategy_smooth, [TACIT_SUM_BLT] = &tacit__strategy_blt,
    [TACIT_SUM_LOCAL] = &tacit__strategy_local,
};

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
    return (size_t)mechanism < sizeof strategies / sizeof *strategies;
}

const char *tacit_sum_mechanism_name(tacit_sum_mechanism mechanism)
{
    return is_mechanism(mechanism) ? strategies[mechanism]->name : "unknown";
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

/* Everything that follows from a spec. */
static tacit_status derive(const tacit_sum_spec *spec, tacit__lattice *lattice, tacit__shape *shape,
                           tacit_error *err)
{
    if (!is_mechanism(spec->mechanism))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "no mechanism has the number %d",
                           (int)spec->mechanism);
    const tacit__strategy *strategy = strategies[spec->mechanism];
    if (strategy->needs_noise != (spec->law != TACIT_LAW_NONE))
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           strategy->needs_noise ? "%s sums need Gaussian or Laplace noise"
                                                 : "%s sums take no noise",
                           strategy->name);
    size_t dimension = count_active(spec);
    if (spec->dimension > 0 && dimension == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "all coordinates are structural zeros");
    tacit_status status = tacit__lattice_choose(spec, dimension, lattice, err);
    if (status != TACIT_OK)
        return status;
    *shape = (tacit__shape){.law = spec->law,
                            .dimension = dimension,
                            .users = spec->users,
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
    tacit__lattice lattice;
    tacit__shape shape;
    tacit__columns columns;
    tacit_status status = derive(spec, &lattice, &shape, err);
    if (status == TACIT_OK)
        status = strategies[spec->mechanism]->columns(&shape, &columns, err);
    if (status != TACIT_OK)
        return status;
    const char *reason = lattice.bound.nonnegative
                             ? "|x-x'|_1 <= 2 max|x|_1; x.x' >= 0, so |x-x'|_2 <= sqrt(2) max|x|_2"
                             : "triangle inequality: |x-x'| <= 2 max|x| in either norm";
    bool has_l1 = isfinite(columns.l1);
    *release = (tacit_release){.name = name,
                               .reason = spec->reason != NULL ? spec->reason : reason,
                               .dimension = shape.dimension,
                               .steps = spec->users,
                               .l1 = has_l1 ? lattice.sensitivity_l1 : 0,
                               .l2 = lattice.sensitivity_l2,
                               .column_l1 = has_l1 ? columns.l1 : 1,
                               .column_l2 = columns.l2,
                               .weight = 1,
                               .mechanism = strategies[spec->mechanism]->name};
    return TACIT_OK;
}

tacit_status tacit__sum_predict(const tacit_sum_spec *spec, tacit__sum_prediction *out,
                                tacit_error *err)
{
    enum { SAMPLE = 64 };
    tacit__lattice lattice;
    tacit__shape shape;
    tacit__columns columns;
    void *state = NULL;
    tacit_status status = derive(spec, &lattice, &shape, err);
    if (status != TACIT_OK)
        return status;
    const tacit__strategy *strategy = strategies[spec->mechanism];
    status = strategy->columns(&shape, &columns, err);
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
                                .row = sqrt(strategy->most(state, spec->users)),
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
        TACIT__PIECE_IF(some, w.coordinates, w.dimension));
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
    tacit_release needed;
    tacit_status status = tacit_sum_declare(spec, name, &needed, err);
    if (status != TACIT_OK)
        return status;
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    size_t index = tacit_plan_index(plan, name);
    if (index == tacit_plan_size(plan))
        return tacit__fail(err, TACIT_UNDECLARED, "the plan has no release '%s'", name);
    status =
        check_line(tacit_plan_release(plan, index), &needed, spec->law, tacit_plan_law(plan), err);
    if (status != TACIT_OK)
        return status;

    tacit_sum w = {.strategy = strategies[spec->mechanism],
                   .outer_dimension = spec->dimension,
                   .users = spec->users,
                   .scale = tacit_plan_scale(plan, index)};
    tacit__shape shape;
    status = derive(spec, &w.lattice, &shape, err);
    if (status != TACIT_OK)
        return status;
    w.dimension = shape.dimension;
    w.draw_stddev = w.scale * (spec->law == TACIT_LAW_LAPLACE ? M_SQRT2 : 1);
    shape.scale = ldexp(w.scale, w.lattice.bits);
    tacit_sum *sum = allocate(w, spec->structural_zero);
    if (sum == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    status = sum->strategy->create(&shape, &sum->state, err);
    if (status == TACIT_OK)
        status = tacit__gate_open(ledger,
                                  &(tacit__gate_spec){.name = name,
                                                      .lattice_bits = sum->lattice.bits,
                                                      .places = sum->dimension,
                                                      .largest = sum->lattice.largest},
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

/* x without its structural zeros. */
static tacit_status pack(tacit_sum *sum, const double *x, const double **out, tacit_error *err)
{
    *out = x;
    if (sum->active == NULL)
        return TACIT_OK;
    size_t n = 0;
    for (size_t i = 0; i < sum->outer_dimension; i++)
        if (n < sum->dimension && sum->active[n] == i)
            sum->packed[n++] = x[i];
        else if (x[i] != 0)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "coordinate %zu is not 0, but was declared a structural zero", i);
    *out = sum->packed;
    return TACIT_OK;
}

/* The coordinate of outer index i; `dimension` if that is a structural zero. */
static size_t coordinate_of(const tacit_sum *sum, size_t i)
{
    size_t low = 0, high = sum->dimension;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sum->active[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sum->dimension && sum->active[low] == i ? low : sum->dimension;
}

/* The coordinates of a sparse contribution, checked: the indices themselves or, with structural zeros,
 * sum->coordinates. */
static tacit_status find_coordinates(const tacit_sum *sum, size_t n, const size_t *index,
                                     const size_t **coordinates, tacit_error *err)
{
    static const size_t none[1] = {0}; /* not NULL, which would be a dense contribution */
    *coordinates = sum->active != NULL ? sum->coordinates : n > 0 ? index : none;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && index[i] <= index[i - 1])
            return tacit__fail(err, TACIT_BAD_ARGUMENT,
                               "the indices of a sparse contribution are not ascending");
        if (index[i] >= sum->outer_dimension)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "an index is not below %zu",
                               sum->outer_dimension);
        if (sum->active != NULL &&
            (sum->coordinates[i] = coordinate_of(sum, index[i])) == sum->dimension)
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "a sparse contribution has a coordinate that was declared a "
                               "structural zero");
    }
    return TACIT_OK;
}

static tacit_status check_open(const tacit_sum *sum, tacit_error *err)
{
    if (sum->step < sum->users)
        return TACIT_OK;
    return tacit__fail(err, TACIT_EXHAUSTED,
                       "the sum was declared for %llu users and has had them all; a further user "
                       "needs a new sum with a budget of its own",
                       (unsigned long long)sum->users);
}

/* One tile of the contribution through the door; into the sum or, if there is one, into a report. */
static void pass_tile(tacit_sum *sum, size_t offset, size_t n, const int64_t *x, int64_t *report)
{
    const tacit__strategy *strategy = sum->strategy;
    int64_t noisy[TACIT__TILE]; /* public, unlike what is encoded */
    strategy->encode(sum->state, offset, n, x, sum->encoded);
    if (report != NULL) {
        tacit__gate_pass(sum->gate, offset, n, sum->encoded, report + offset);
        return;
    }
    if (strategy->needs_noise)
        tacit__gate_pass(sum->gate, offset, n, sum->encoded, noisy);
    strategy->absorb(sum->state, offset, n, x, strategy->needs_noise ? noisy : sum->encoded);
}

/* The contribution in sum->x, all checked: its n values at the coordinates, or all of them if that is
 * NULL. Into the sum, or into a report, and then the sum stays as it is. */
static tacit_status pass(tacit_sum *sum, size_t n, const size_t *coordinates, int64_t *report,
                         tacit_error *err)
{
    if (sum->strategy->needs_noise) {
        const tacit__input input = {.n = n, .index = coordinates, .value = sum->x};
        tacit_status status =
            tacit__gate_begin(sum->gate, tacit__gate_digest(sum->gate, &input), err);
        if (status != TACIT_OK)
            return status;
    }
    size_t next = 0, size = 0;
    for (size_t offset = 0; offset < sum->dimension; offset += size) {
        size = sum->dimension - offset < TACIT__TILE ? sum->dimension - offset : TACIT__TILE;
        if (coordinates == NULL) {
            pass_tile(sum, offset, size, sum->x + offset, report);
            continue;
        }
        size_t first = next;
        for (; next < n && coordinates[next] < offset + size; next++)
            sum->tile[coordinates[next] - offset] = sum->x[next];
        pass_tile(sum, offset, size, sum->tile, report);
        for (size_t i = first; i < next; i++)
            sum->tile[coordinates[i] - offset] = 0;
    }
    if (report != NULL)
        return TACIT_OK;
    sum->strategy->advance(sum->state);
    sum->step++;
    sum->released = false;
    return TACIT_OK;
}

static tacit_status quantize(tacit_sum *sum, const double *x, tacit_error *err)
{
    const double *packed;
    tacit_status status = pack(sum, x, &packed, err);
    return status == TACIT_OK
               ? tacit__lattice_quantize(&sum->lattice, packed, sum->dimension, sum->x, err)
               : status;
}

static tacit_status quantize_sparse(tacit_sum *sum, size_t n, const size_t *index,
                                    const double *value, const size_t **coordinates,
                                    tacit_error *err)
{
    tacit_status status = find_coordinates(sum, n, index, coordinates, err);
    return status == TACIT_OK ? tacit__lattice_quantize(&sum->lattice, value, n, sum->x, err)
                              : status;
}

tacit_status tacit_sum_add(tacit_sum *sum, const double *x, tacit_error *err)
{
    if (sum == NULL || x == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = check_open(sum, err);
    if (status == TACIT_OK)
        status = quantize(sum, x, err);
    return status == TACIT_OK ? pass(sum, sum->dimension, NULL, NULL, err) : status;
}

tacit_status tacit_sum_add_sparse(tacit_sum *sum, size_t n, const size_t *index,
                                  const double *value, tacit_error *err)
{
    if (sum == NULL || (n > 0 && (index == NULL || value == NULL)))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const size_t *coordinates = NULL;
    tacit_status status = check_open(sum, err);
    if (status == TACIT_OK)
        status = quantize_sparse(sum, n, index, value, &coordinates, err);
    return status == TACIT_OK ? pass(sum, n, coordinates, NULL, err) : status;
}

tacit_status tacit_sum_report(tacit_sum *sum, const double *x, int64_t *report, tacit_error *err)
{
    if (sum == NULL || x == NULL || report == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = tacit__sum_check_local(sum, err);
    if (status == TACIT_OK)
        status = quantize(sum, x, err);
    return status == TACIT_OK ? pass(sum, sum->dimension, NULL, report, err) : status;
}

tacit_status tacit_sum_report_sparse(tacit_sum *sum, size_t n, const size_t *index,
                                     const double *value, int64_t *report, tacit_error *err)
{
    if (sum == NULL || report == NULL || (n > 0 && (index == NULL || value == NULL)))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const size_t *coordinates = NULL;
    tacit_status status = tacit__sum_check_local(sum, err);
    if (status == TACIT_OK)
        status = quantize_sparse(sum, n, index, value, &coordinates, err);
    return status == TACIT_OK ? pass(sum, n, coordinates, report, err) : status;
}

/* The step may be shown, and now is. */
static tacit_status mark_released(tacit_sum *sum, tacit_error *err)
{
    if (sum->step == 0)
        return tacit__fail_plain(err, TACIT_NOTHING_TO_RELEASE);
    if (sum->released)
        return tacit__fail(err, TACIT_RELEASED_TWICE,
                           "step %llu has been released already; keep the first answer",
                           (unsigned long long)sum->step);
    sum->released = true;
    return TACIT_OK;
}

tacit_status tacit_sum_release(tacit_sum *sum, double *noisy, tacit_error *err)
{
    if (sum == NULL || noisy == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = mark_released(sum, err);
    if (status != TACIT_OK)
        return status;
    sum->strategy->read(sum->state, noisy);
    if (sum->active !=
        NULL) { /* spread from the end, so that nothing is overwritten before it moves */
        size_t n = sum->dimension;
        for (size_t i = sum->outer_dimension; i-- > 0;)
            noisy[i] = n > 0 && sum->active[n - 1] == i ? noisy[--n] : 0;
    }
    return TACIT_OK;
}

const double *tacit__sum_at_hand(const tacit_sum *sum)
{
    return sum->strategy->show != NULL && sum->active == NULL ? sum->strategy->show(sum->state)
                                                              : NULL;
}

tacit_status tacit__sum_release_at_hand(tacit_sum *sum, tacit_error *err)
{
    TACIT__REQUIRE(tacit__sum_at_hand(sum) != NULL);
    return mark_released(sum, err);
}

uint64_t tacit_sum_step(const tacit_sum *sum)
{
    return sum->step;
}

tacit_status tacit_sum_stddev(const tacit_sum *sum, uint64_t k, double *stddev)
{
    if (sum == NULL || stddev == NULL || k == 0 || k > sum->users)
        return TACIT_BAD_ARGUMENT;
    *stddev = sum->draw_stddev * sqrt(sum->strategy->variance(sum->state, k));
    return TACIT_OK;
}

double tacit_sum_worst_stddev(const tacit_sum *sum)
{
    return sum->draw_stddev * sqrt(sum->strategy->most(sum->state, sum->users));
}

size_t tacit_sum_memory(const tacit_sum *sum)
{
    tacit__region regions[TACIT__MAX_REGIONS];
    size_t n = sum->strategy->regions(sum->state, regions), bytes = sizeof *sum;
    for (size_t i = 0; i < n; i++)
        bytes += regions[i].size;
    size_t scratch =
        sizeof *sum->x + (sum->active != NULL
                              ? sizeof *sum->active + sizeof *sum->packed + sizeof *sum->coordinates
                              : 0);
    return bytes + sum->dimension * scratch +
           tile_size(sum) * (sizeof *sum->tile + sizeof *sum->encoded);
}
