/* What audits need of an agent beyond its public face. */
#ifndef TACIT_AGENTS_AGENT_H
#define TACIT_AGENTS_AGENT_H

#include <tacit/agent.h>

/* The door of this agent, to be recorded and replayed; NULL with model none. */
tacit_ledger *tacit__agent_ledger(const tacit_agent *agent);

#endif
