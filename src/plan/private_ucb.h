/* Private-UCB-VI and Private-UCB-PO [CZ22]: optimism from plain noisy ratios, greedy or by policy optimisation. */
#ifndef TACIT_PLAN_PRIVATE_UCB_H
#define TACIT_PLAN_PRIVATE_UCB_H

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/counts.h"

typedef struct tacit__private_ucb_options {
    bool optimise;        /* PO: exponential weights instead of the greedy policy */
    double bonus_scale;   /* 1: the theorem */
    double error_scale;   /* of the noise's error levels; 1: the theorem */
    double step_size;     /* PO: eta; 0: sqrt(2 ln A / (H^2 K)) */
    double printed_scale; /* the paper's 3 H / epsilon, or 0: the curator's error levels */
    double printed_terms; /* with it: log2(K)^3 under joint privacy, K under local privacy */
    double failure;
    uint64_t episodes;
    uint64_t tie_seed;
} tacit__private_ucb_options;

typedef struct tacit__private_ucb tacit__private_ucb;

TACIT_MUST_USE tacit_status tacit__private_ucb_create(tacit__space space,
                                                      const tacit__private_ucb_options *options,
                                                      tacit__private_ucb **out);
void tacit__private_ucb_destroy(tacit__private_ucb *planner);
tacit_billboard tacit__private_ucb_plan(tacit__private_ucb *planner, const tacit__counts *counts);

/* What the next plan depends on beside the release; see plan/induct.h. */
void tacit__private_ucb_save(const tacit__private_ucb *planner, tacit__writer *w);
bool tacit__private_ucb_load(tacit__private_ucb *planner, tacit__reader *r);

#endif
