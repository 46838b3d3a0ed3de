/* What families read from a request alike. */
#ifndef TACIT_AGENTS_READING_H
#define TACIT_AGENTS_READING_H

#include <tacit/agent.h>
#include <tacit/sum.h>

#include "base/settings.h"

/* A request whose settings have been checked: values[i] is the value of kind->parameters[i]. */
typedef struct tacit__reading {
    const tacit_agent_request *request;
    const tacit_agent_kind *kind;
    tacit__value values[TACIT__MAX_PARAMETERS];
} tacit__reading;

TACIT_MUST_USE tacit_status tacit__reading_open(const tacit_agent_request *request,
                                                const tacit_agent_kind *kind, tacit__reading *out,
                                                tacit_error *err);

/* The index of a text value among the choices, a NULL-terminated list; -1 with an error. */
int tacit__reading_choose(const tacit__reading *reading, size_t parameter,
                          const char *const *choices, tacit_error *err);

/* A failure at the line of the agent, or of one of its settings. */
__attribute__((format(printf, 4, 5))) tacit_status tacit__reading_fail(
    const tacit__reading *reading, tacit_error *err, tacit_status status, const char *format, ...);

/* The mechanism of running sums: what `sums` says, else the papers' tree for their own calibrations, else the least
 * noisy one. */
TACIT_MUST_USE tacit_status tacit__reading_mechanism(const tacit__reading *reading,
                                                     tacit_sum_mechanism *out, tacit_error *err);

/* Public chance that breaks ties; without a source of noise (model none) a fixed one. */
uint64_t tacit__reading_tie_seed(tacit_noise *noise);

#endif
