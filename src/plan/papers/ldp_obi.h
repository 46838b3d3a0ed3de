/* LDP-OBI [GPPP21]: optimistic backward induction on locally private counts of a stationary model. */
#ifndef TACIT_PLAN_PAPERS_LDP_OBI_H
#define TACIT_PLAN_PAPERS_LDP_OBI_H

#include "plan/planner.h"

/* Its own setting: alpha > 1, how much of the noise is added to the visits; the paper's 2. */
extern const tacit__planner tacit__ldp_obi;

#endif
