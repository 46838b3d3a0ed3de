/* Tabular agents: kinds, parameters, and the pairing of curator and planner. */
#ifndef TACIT_AGENTS_TABULAR_H
#define TACIT_AGENTS_TABULAR_H

#include <tacit/agent.h>

extern const tacit_agent_kind *const tacit__tabular_kinds;
extern const size_t tacit__tabular_kind_count;

typedef struct tacit__tabular_agent tacit__tabular_agent;

/* `index` of the kind in tacit__tabular_kinds. */
TACIT_MUST_USE tacit_status tacit__tabular_agent_create(size_t index,
                                                        const tacit_agent_request *request,
                                                        tacit_noise *noise,
                                                        tacit__tabular_agent **out,
                                                        tacit_error *err);
void tacit__tabular_agent_destroy(tacit__tabular_agent *agent);
TACIT_MUST_USE tacit_status tacit__tabular_agent_plan(tacit__tabular_agent *agent,
                                                      tacit_billboard *out, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__tabular_agent_learn(tacit__tabular_agent *agent,
                                                       const tacit_trajectory *user,
                                                       tacit_error *err);
const tacit_plan *tacit__tabular_agent_release_plan(const tacit__tabular_agent *agent);
tacit_ledger *tacit__tabular_agent_ledger(const tacit__tabular_agent *agent);
const char *tacit__tabular_agent_remark(const tacit__tabular_agent *agent);

#endif
