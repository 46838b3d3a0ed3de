/* See account/single.h: a plan of one line, calibrated, and its ledger. For learners with a single
 * release. */
#include "account/single.h"

#include "base/error.h"

tacit_status tacit__ledger_open_single(const tacit_release *line, tacit_guarantee guarantee,
                                       double published_scale, tacit_noise *noise,
                                       tacit_ledger **out, double *scale, tacit_error *err)
{
    TACIT__REQUIRE(line != NULL && noise != NULL && out != NULL);
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_plan_declare(plan, line, err);
    if (status == TACIT_OK)
        status = published_scale > 0 ? tacit_plan_set_scale(plan, line->name, TACIT_LAW_GAUSSIAN,
                                                            published_scale, err)
                                     : tacit_plan_calibrate(plan, guarantee, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, out, err);
    if (status == TACIT_OK && scale != NULL)
        *scale = tacit_plan_scale(plan, 0);
    tacit_plan_destroy(plan);
    return status;
}
