/* The inside of the tabular learners, shared by their files. */
#ifndef TACIT_AGENTS_TABULAR_AGENTS_H
#define TACIT_AGENTS_TABULAR_AGENTS_H

#include "agents/agent_base.h"
#include "agents/reading.h"
#include "contribute/tabular.h"
#include "plan/planner.h"

/* The parts of a tabular learner, beside its curator. */
typedef struct tabular_parts {
    const tacit__planner *planner;
    /* its paper has Laplace noise of scale  laplace H / epsilon  on a user's numbers */
    double laplace;
    bool pooled; /* it knows one model for all steps only */
} tabular_parts;

/* --- tabular_learners.c: the rows */

extern const tacit__agent_rows tacit__tabular_rows;

/* --- tabular_settings.c: what is made of a request */

/* *growth: joint, a release whenever users have grown by this factor; 0: after each. */
TACIT_MUST_USE tacit_status tacit__tabular_read(const tacit__reading *r, const tabular_parts *parts,
                                                tacit__tabular_options *out, double *growth,
                                                tacit_error *err);

/* The options of the planner of a learner with this curator; `sparse` and `tie_seed` are left to be filled
 * in. */
tacit__planner_options tacit__tabular_planning(const tacit__reading *r, const tabular_parts *parts);

/* Lists what the curator of an agent plays: noise, tables, releases, and what counts of a user. */
void tacit__tabular_fill_plays(tacit__agent_base *agent, const tacit__reading *r,
                               const tacit__tabular_options *counts, double growth);

/* Writes what its user must know about a complete agent: whether its theorem applies, and its claim.
 * `planner`: what that has to say. */
void tacit__tabular_remark(const tacit__reading *r, const tacit__tabular_options *counts,
                           tacit_ledger *ledger, const char *planner, char *out, size_t size);

#endif
