/* LDP-OBI [GPPP21]: optimistic backward induction on locally private counts of a stationary model. */
#ifndef TACIT_PLAN_LDP_OBI_H
#define TACIT_PLAN_LDP_OBI_H

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/counts.h"

typedef struct tacit__ldp_obi_options {
    double alpha;       /* > 1; the paper's 2 */
    double bonus_scale; /* 1: the theorem */
    double error_scale; /* of the precision levels; 1: the theorem */
    double
        printed_scale; /* the paper's Laplace scale 6 H / epsilon, or 0: the curator's error levels */
    double failure;
    uint64_t tie_seed;
} tacit__ldp_obi_options;

typedef struct tacit__ldp_obi tacit__ldp_obi;

TACIT_MUST_USE tacit_status tacit__ldp_obi_create(tacit__space space,
                                                  const tacit__ldp_obi_options *options,
                                                  tacit__ldp_obi **out);
void tacit__ldp_obi_destroy(tacit__ldp_obi *planner);
tacit_billboard tacit__ldp_obi_plan(tacit__ldp_obi *planner, const tacit__counts *counts);

/* What the next plan depends on beside the release; see plan/induct.h. */
void tacit__ldp_obi_save(const tacit__ldp_obi *planner, tacit__writer *w);
bool tacit__ldp_obi_load(tacit__ldp_obi *planner, tacit__reader *r);

#endif
