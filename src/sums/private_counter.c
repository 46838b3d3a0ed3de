/* The common case of a running sum: people are counted, each in one of n counts. See include/tacit/sum.h.
 *
 * A person is a vector with a single 1, so both norms are 1, no coordinate is negative, and replacing one
 * person moves at most two coordinates by 1: |x - x'|_1 <= 2 and |x - x'|_2 <= sqrt(2). */
#include <tacit/sum.h>

#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

static const char name[] = "counts";

struct tacit_counter {
    size_t n;
    tacit_plan *plan;
    tacit_ledger *ledger;
    tacit_sum *sum;
    double *shown;  /* [n]: what was read last */
    uint64_t users; /* at that time */
};

/* All that stands behind the sum. */
static tacit_status open_sum(tacit_counter *c, uint64_t users, tacit_guarantee promise,
                             tacit_noise *noise, tacit_error *err)
{
    tacit_release release;
    const tacit_sum_spec spec = {.mechanism = tacit_sum_default_mechanism(promise),
                                 .law = promise.model == TACIT_MODEL_NONE ? TACIT_LAW_NONE
                                        : promise.delta > 0               ? TACIT_LAW_GAUSSIAN
                                                                          : TACIT_LAW_LAPLACE,
                                 .dimension = c->n,
                                 .users = users,
                                 .bound = {.l1 = 1, .l2 = 1, .nonnegative = true, .nonzeros = 1}};
    TRY(tacit_sum_declare(&spec, name, &release, err));
    if (tacit_plan_create(&c->plan) != TACIT_OK)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    TRY(tacit_plan_declare(c->plan, &release, err));
    TRY(tacit_plan_calibrate(c->plan, promise, err));
    TRY(tacit_ledger_create(c->plan, noise, &c->ledger, err));
    return tacit_sum_create(&spec, c->ledger, name, &c->sum, err);
}

tacit_status tacit_counter_create(size_t n, uint64_t users, tacit_guarantee promise,
                                  tacit_counter **out, tacit_error *err)
{
    if (out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (n == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "a counter needs at least one count");
    tacit_counter w = {.n = n};
    tacit_noise *noise = NULL;
    tacit_counter *c = TACIT__WORKSPACE(w, TACIT__PIECE(w.shown, n));
    tacit_status status = c != NULL ? tacit_noise_create_from_os(&noise) : TACIT_NO_MEMORY;
    if (status != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    else
        status = open_sum(c, users, promise, noise, err);
    tacit_noise_destroy(noise);
    if (status == TACIT_OK)
        *out = c;
    else
        tacit_counter_destroy(c);
    return status;
}

void tacit_counter_destroy(tacit_counter *c)
{
    if (c == NULL)
        return;
    tacit_sum_destroy(c->sum);
    tacit_ledger_destroy(c->ledger);
    tacit_plan_destroy(c->plan);
    tacit__workspace_destroy(c);
}

tacit_status tacit_counter_add(tacit_counter *c, size_t kind, tacit_error *err)
{
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    if (kind >= c->n)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the count is not below %zu", c->n);
    const double one = 1;
    return tacit_sum_add_sparse(c->sum, 1, &kind, &one, err);
}

tacit_status tacit_counter_read(tacit_counter *c, double *noisy, tacit_error *err)
{
    if (c == NULL || noisy == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const uint64_t users = tacit_sum_step(c->sum);
    if (users > c->users)
        TRY(tacit_sum_release(c->sum, c->shown, err));
    c->users = users;
    memcpy(noisy, c->shown, c->n * sizeof *noisy);
    return TACIT_OK;
}

tacit_sum *tacit_counter_sum(const tacit_counter *c)
{
    return c != NULL ? c->sum : NULL;
}
