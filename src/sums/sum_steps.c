/* People into a running sum, and its releases. See include/tacit/sum.h and sums/sum_steps.h.
 *
 * A step goes through the vector in tiles, so that encoding, noise and decoding of a tile meet in the
 * first-level cache. All checks come before the step is charged; after that nothing can fail. */
#include "sums/sum_steps.h"

#include <string.h>

#include "base/error.h"
#include "sums/sum_inside.h"

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
    if (sum->people < sum->users)
        return TACIT_OK;
    return tacit__fail(err, TACIT_EXHAUSTED,
                       "the sum was declared for %llu users and has had them all; a further user "
                       "needs a new sum with a budget of its own",
                       (unsigned long long)sum->users);
}

/* One tile of the contribution through the door; into the sum or, if there is one, into a report. */
static void pass_tile(tacit_sum *sum, size_t offset, size_t n, const int64_t *x, int64_t *report)
{
    TACIT__REQUIRE(n > 0);
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

/* A step whose input is x. Into the sum, or into a report, and then the sum stays as it is. */
static tacit_status pass(tacit_sum *sum, const tacit__input *x, int64_t *report, tacit_error *err)
{
    if (sum->strategy->needs_noise)
        TRY(tacit__gate_begin(sum->gate, tacit__gate_digest(sum->gate, x), err));
    size_t next = 0, size = 0;
    for (size_t offset = 0; offset < sum->dimension; offset += size) {
        size = sum->dimension - offset < TACIT__TILE ? sum->dimension - offset : TACIT__TILE;
        if (x->index == NULL) {
            pass_tile(sum, offset, size, x->value + offset, report);
            continue;
        }
        size_t first = next;
        for (; next < x->n && x->index[next] < offset + size; next++)
            sum->tile[x->index[next] - offset] = x->value[next];
        pass_tile(sum, offset, size, sum->tile, report);
        for (size_t i = first; i < next; i++)
            sum->tile[x->index[i] - offset] = 0;
    }
    if (report != NULL)
        return TACIT_OK;
    sum->strategy->advance(sum->state);
    sum->step++;
    sum->released = false;
    return TACIT_OK;
}

/* A person, all checked: a step by themselves, or one more who waits for it. */
static tacit_status add_person(tacit_sum *sum, const tacit__input *x, tacit_error *err)
{
    if (sum->batch == NULL) {
        tacit_status status = pass(sum, x, NULL, err);
        sum->people += status == TACIT_OK;
        return status;
    }
    for (size_t i = 0; i < x->n; i++) /* all people together are below 2^60: lattice.c */
        sum->batch[x->index != NULL ? x->index[i] : i] += x->value[i];
    sum->people++;
    sum->waiting++;
    return TACIT_OK;
}

static tacit_status quantize(tacit_sum *sum, const double *x, tacit_error *err)
{
    const double *packed;
    TRY(pack(sum, x, &packed, err));
    return tacit__lattice_quantize(&sum->lattice, packed, sum->dimension, sum->x, err);
}

static tacit_status quantize_sparse(tacit_sum *sum, size_t n, const size_t *index,
                                    const double *value, const size_t **coordinates,
                                    tacit_error *err)
{
    TRY(find_coordinates(sum, n, index, coordinates, err));
    return tacit__lattice_quantize(&sum->lattice, value, n, sum->x, err);
}

tacit_status tacit_sum_add(tacit_sum *sum, const double *x, tacit_error *err)
{
    if (sum == NULL || x == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = check_open(sum, err);
    if (status == TACIT_OK)
        status = quantize(sum, x, err);
    const tacit__input input = {.n = sum->dimension, .value = sum->x};
    return status == TACIT_OK ? add_person(sum, &input, err) : status;
}

tacit_status tacit_sum_add_many(tacit_sum *sum, size_t n, const double *x, size_t *added,
                                tacit_error *err)
{
    if (sum == NULL || added == NULL || (x == NULL && n > 0))
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    for (*added = 0; *added < n; (*added)++)
        TRY(tacit_sum_add(sum, x + *added * sum->outer_dimension, err));
    return TACIT_OK;
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
    const tacit__input input = {.n = n, .index = coordinates, .value = sum->x};
    return status == TACIT_OK ? add_person(sum, &input, err) : status;
}

tacit_status tacit_sum_report(tacit_sum *sum, const double *x, int64_t *report, tacit_error *err)
{
    if (sum == NULL || x == NULL || report == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = tacit__sum_check_local(sum, err);
    if (status == TACIT_OK)
        status = quantize(sum, x, err);
    const tacit__input input = {.n = sum->dimension, .value = sum->x};
    return status == TACIT_OK ? pass(sum, &input, report, err) : status;
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
    const tacit__input input = {.n = n, .index = coordinates, .value = sum->x};
    return status == TACIT_OK ? pass(sum, &input, report, err) : status;
}

tacit_status tacit__sum_add_placed(tacit_sum *sum, const tacit__input *x, tacit_error *err)
{
    TACIT__REQUIRE(sum->active == NULL);
    TRY(check_open(sum, err));
    return add_person(sum, x, err);
}

tacit_status tacit__sum_report_placed(tacit_sum *sum, const tacit__input *x, int64_t *report,
                                      tacit_error *err)
{
    TACIT__REQUIRE(sum->active == NULL);
    TRY(tacit__sum_check_local(sum, err));
    return pass(sum, x, report, err);
}

/* The people who wait become a step. On failure they go on waiting. */
static tacit_status pass_batch(tacit_sum *sum, tacit_error *err)
{
    if (sum->step == sum->releases)
        return tacit__fail(err, TACIT_EXHAUSTED,
                           "the sum was declared for %llu releases and has made them all",
                           (unsigned long long)sum->releases);
    const tacit__input input = {.n = sum->dimension, .value = sum->batch};
    TRY(pass(sum, &input, NULL, err));
    memset(sum->batch, 0, sum->dimension * sizeof *sum->batch);
    sum->waiting = 0;
    return TACIT_OK;
}

/* The step may be shown, and now is. */
static tacit_status mark_released(tacit_sum *sum, tacit_error *err)
{
    if (sum->batch != NULL && sum->waiting > 0)
        TRY(pass_batch(sum, err));
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
    TRY(mark_released(sum, err));
    sum->strategy->read(sum->state, noisy);
    if (sum->active !=
        NULL) { /* spread from the end, so that nothing is overwritten before it moves */
        size_t n = sum->dimension;
        for (size_t i = sum->outer_dimension; i-- > 0;)
            noisy[i] = n > 0 && sum->active[n - 1] == i ? noisy[--n] : 0;
    }
    return TACIT_OK;
}

const double *tacit__sum_get_released(const tacit_sum *sum)
{
    TACIT__REQUIRE(sum != NULL);
    return sum->strategy->get_released != NULL && sum->active == NULL
               ? sum->strategy->get_released(sum->state)
               : NULL;
}

tacit_status tacit__sum_release_in_place(tacit_sum *sum, tacit_error *err)
{
    TACIT__REQUIRE(tacit__sum_get_released(sum) != NULL);
    return mark_released(sum, err);
}
