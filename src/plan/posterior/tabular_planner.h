/* Plans from rare releases of weighted counts: several for each release, drawn around the
 * estimates as their errors allow, and the weights with which the next users count. See
 * docs/why/posterior-tabular.md. */
#ifndef TACIT_PLAN_POSTERIOR_TABULAR_PLANNER_H
#define TACIT_PLAN_POSTERIOR_TABULAR_PLANNER_H

#include <tacit/billboard.h>

#include "base/bytes.h"
#include "plan/posterior/tabular_belief.h"

typedef struct tacit__tabular_planner_options {
    uint64_t episodes, tie_seed;
    size_t plans;         /* J: that share the users of a batch; at least 1 */
    size_t exploring;     /* more plans, for a few users of each batch */
    bool greedy;          /* the plan of the estimates alone: neither drawn nor careful */
    uint64_t user_visits; /* m: of a row, that a user's weights are made for */
    double user_norm;     /* B: the budget of a user; 0: everybody counts in full */
    size_t releases;      /* that are remembered; 0: only the last one is */
    bool separate;        /* each with noise of its own, in what it adds to the one before */
    double scarcity;      /* above 1: K users do not lift most rows out of the noise */
} tacit__tabular_planner_options;

typedef struct tacit__tabular_planner tacit__tabular_planner;

TACIT_MUST_USE tacit_status
tacit__tabular_planner_create(tacit__space space, const tacit__tabular_planner_options *options,
                              tacit__tabular_planner **out);
void tacit__tabular_planner_destroy(tacit__tabular_planner *planner);

/* A new release: all plans, and the weights for the users until the next one. */
void tacit__tabular_planner_absorb(tacit__tabular_planner *planner,
                                   const tacit__weighted_counts *counts);

/* The plan of the next user of a batch of `size` users of whom `done` have acted already: a few act by
 * the exploring plans, then the other plans take turns. Before the first release every action
 * is as likely; if users are scarce, some take one action throughout. */
tacit_billboard tacit__tabular_planner_billboard(tacit__tabular_planner *planner, uint64_t done,
                                                 uint64_t size);

/* The users of the release that the plans were made from; 0: there has been none. */
uint64_t tacit__tabular_planner_users(const tacit__tabular_planner *planner);

/* [rows]: how much a visit of a row counts for the user of the last billboard, at most. All 1 before the
 * first release. */
const double *tacit__tabular_planner_weights(const tacit__tabular_planner *planner);

/* Q of the last plan that was made, [horizon][states][actions], and the model behind it: for tests. */
const double *tacit__tabular_planner_q(const tacit__tabular_planner *planner);
const tacit__tabular_belief *tacit__tabular_planner_model(const tacit__tabular_planner *planner);

/* Plans, weights and public chance, as part of a saved state (base/bytes.h). Returns the users of
 * the release that the plans were made from: those of the planner, or those that are loaded. */
uint64_t tacit__tabular_planner_fields(tacit__tabular_planner *planner, tacit__saved *s);

#endif
