/* The inside of the learners for linear rewards, shared by their files. */
#ifndef TACIT_AGENTS_LIN_UCB_AGENT_H
#define TACIT_AGENTS_LIN_UCB_AGENT_H

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "contribute/regression.h"
#include "plan/papers/lin_ucb.h"

typedef enum arms { SHARED, DISJOINT, OPPOSITE } arms;

typedef struct lin_ucb_agent {
    tacit__agent_base base;
    arms arms;
    size_t d, n_actions, n_states, per_user; /* per_user: numbers in a user's features */
    const double *points;
    double scale; /* 1 / bound */
    tacit__lin_ucb *planner;
    double *scratch; /* see scratch_size; NULL in a snapshot, where every call has its own */
    uint64_t version;
    bool follows; /* a model that was published elsewhere */
    const char *remark;
} lin_ucb_agent;

/* --- lin_explore.c */

/* How many users explore, by a public rule, if one release is made of them. */
uint64_t tacit__lin_explore(const tacit__regression_options *o);

#endif
