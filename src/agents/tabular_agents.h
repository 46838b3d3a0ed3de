/* The inside of the tabular learners, shared by their files. */
#ifndef TACIT_AGENTS_TABULAR_AGENTS_H
#define TACIT_AGENTS_TABULAR_AGENTS_H

#include <tacit/agent.h>

#include "agents/reading.h"
#include "curate/tabular_curator.h"
#include "plan/ldp_obi.h"
#include "plan/private_ucb.h"
#include "plan/pucb.h"
#include "plan/ucbvi.h"

enum { UCBVI, DP_UCBVI, PRIVATE_UCB_VI, PRIVATE_UCB_PO, PUCB, LDP_OBI, TABULAR_KINDS };

/* One curator, and one of the planners. */
typedef struct tabular_agent {
    size_t kind;
    tacit__tabular *curator;
    tacit__ucbvi *ucbvi;
    tacit__private_ucb *private_ucb;
    tacit__pucb *pucb;
    tacit__ldp_obi *ldp_obi;
    char remark[400];
} tabular_agent;

/* --- tabular_settings.c: what a request may say, and what is made of it */

extern const tacit_agent_kind tacit__tabular_kinds[TABULAR_KINDS];

TACIT_MUST_USE tacit_status tacit__tabular_read(const tacit__reading *r, size_t kind,
                                                tacit__tabular_options *out, tacit_error *err);

/* The planner of an agent that has its curator. */
TACIT_MUST_USE tacit_status tacit__tabular_plan_by(tabular_agent *agent, const tacit__reading *r,
                                                   const tacit__tabular_options *o,
                                                   uint64_t tie_seed, tacit_error *err);

/* What must be known about an agent that is complete: whether its theorem applies, and its claim. */
void tacit__tabular_remark(tabular_agent *agent, const tacit__reading *r,
                           const tacit__tabular_options *o);

#endif
