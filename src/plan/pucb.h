/* PUCB [VBKW20]: optimism above a threshold on the noisy visits. */
#ifndef TACIT_PLAN_PUCB_H
#define TACIT_PLAN_PUCB_H

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/counts.h"

typedef struct tacit__pucb_options {
    double bonus_scale;   /* 1: the theorem */
    double error_scale;   /* of E; 1: the theorem */
    double printed_scale; /* the paper's 3 H / epsilon, or 0: the curator's error levels */
    double failure;
    uint64_t episodes;
    uint64_t tie_seed;
} tacit__pucb_options;

typedef struct tacit__pucb tacit__pucb;

TACIT_MUST_USE tacit_status tacit__pucb_create(tacit__space space,
                                               const tacit__pucb_options *options,
                                               tacit__pucb **out);
void tacit__pucb_destroy(tacit__pucb *planner);
tacit_billboard tacit__pucb_plan(tacit__pucb *planner, const tacit__counts *counts);

/* What the next plan depends on beside the release; see plan/induct.h. */
void tacit__pucb_save(const tacit__pucb *planner, tacit__writer *w);
bool tacit__pucb_load(tacit__pucb *planner, tacit__reader *r);

#endif
