/* What the ledger needs of a plan beyond its public face. */
#ifndef TACIT_ACCOUNT_PLAN_H
#define TACIT_ACCOUNT_PLAN_H

#include <stdbool.h>
#include <tacit/plan.h>

bool tacit__plan_is_calibrated(const tacit_plan *plan);
TACIT_MUST_USE tacit_status tacit__plan_copy(const tacit_plan *plan, tacit_plan **out);

#endif
