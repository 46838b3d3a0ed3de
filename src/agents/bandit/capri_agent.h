/* The inside of the learner capri, shared by its files. */
#ifndef TACIT_AGENTS_CAPRI_AGENT_H
#define TACIT_AGENTS_CAPRI_AGENT_H

#include "agents/bandit/epoch_agent.h"
#include "noise/stream.h"
#include "plan/papers/capri.h"

typedef struct capri_agent {
    tacit__epoch_agent base;
    tacit__capri_options options;
    tacit__site chance; /* public */
} capri_agent;

/* --- capri_settings.c: what a request may say */

extern const tacit__agent_rows tacit__capri_rows;

/* Everything but the source of public chance. */
TACIT_MUST_USE tacit_status tacit__capri_read(const tacit__reading *r, tacit__capri_options *out,
                                              tacit_error *err);
/* The scale that the paper prints, and the same if it is asked for, else 0. */
double tacit__capri_printed(const tacit_agent_request *q);
double tacit__capri_published(const tacit_agent_request *q);
/* The list of an agent that is complete (capri_plays.c). */
void tacit__capri_fill_plays(capri_agent *agent, const tacit__reading *r);
/* What is to be known about the settings beside their help. */
void tacit__capri_write_remark(capri_agent *agent, const tacit__reading *r);

#endif
