/* The collector's side of a `local` sum: what it does with what devices send. (Their side is
 * tacit_sum_report, sum_steps.c.)
 *
 * A report is the user's vector on the lattice with the noise added, coordinates without structural zeros.
 * An honest one is no larger than the largest contribution and the largest draw together; what is larger
 * is forged, or made for another sum, and is refused, so that no report can push the total out of its 64
 * bits. */
#include <math.h>

#include "base/error.h"
#include "noise/sampler.h"
#include "sums/sum_inside.h"

tacit_status tacit__sum_check_local(const tacit_sum *sum, tacit_error *err)
{
    if (sum->strategy != &tacit__strategy_local)
        return tacit__fail(err, TACIT_UNSUPPORTED, "only local sums have reports; this one is %s",
                           sum->strategy->name);
    return TACIT_OK;
}

size_t tacit_sum_report_size(const tacit_sum *sum)
{
    return sum->dimension;
}

tacit_status tacit_sum_check_report(const tacit_sum *sum, const int64_t *report, tacit_error *err)
{
    if (sum == NULL || report == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(tacit__sum_check_local(sum, err));
    if (sum->step == sum->users)
        return tacit__fail(err, TACIT_EXHAUSTED,
                           "the sum was declared for %llu users and has had them all",
                           (unsigned long long)sum->users);
    /* below 2^60 + 2^55, so the conversion is safe */
    double scale = ldexp(sum->scale, sum->lattice.bits);
    int64_t limit = (int64_t)(sum->lattice.largest + TACIT__MAX_DRAW * scale) + 1;
    for (size_t i = 0; i < sum->dimension; i++)
        if (report[i] > limit || report[i] < -limit || !tacit__total_has_room(sum->state, i, limit))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "the report's number %zu is larger than any that this sum can get",
                               i);
    return TACIT_OK;
}

tacit_status tacit_sum_absorb(tacit_sum *sum, const int64_t *report, tacit_error *err)
{
    TRY(tacit_sum_check_report(sum, report, err));
    sum->strategy->absorb(sum->state, 0, sum->dimension, NULL, report);
    sum->strategy->advance(sum->state);
    sum->step++;
    sum->people++;
    sum->released = false;
    return TACIT_OK;
}
