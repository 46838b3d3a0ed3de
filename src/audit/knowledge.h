/* Public knowledge of the auditor's own: a request like another one, in a world with other rewards and
 * features.
 *
 * A learner's promise holds whatever is publicly known. But what users can do depends on it: where
 * expected rewards lie in the middle of their range, or features are short, no user comes near the bounds
 * that are declared for all worlds of this size, and noise that is too small goes unnoticed. Worlds at the
 * ends of the range have users that do. */
#ifndef TACIT_AUDIT_KNOWLEDGE_H
#define TACIT_AUDIT_KNOWLEDGE_H

#include <tacit/agent.h>

typedef struct tacit__knowledge {
    tacit_agent_request request; /* refers to what follows */
    tacit_mixture mixture;
    tacit_linear linear;
    tacit_bandit bandit;
    double *rewards, *points, *scratch;
} tacit__knowledge;

/* *known: there is something that could be otherwise. The result refers to *out, which must stay where it
 * is, and to what the request refers to. NO_MEMORY at worst. */
TACIT_MUST_USE tacit_status tacit__knowledge_open(tacit__knowledge *out,
                                                  const tacit_agent_request *request, bool *known);
void tacit__knowledge_close(tacit__knowledge *knowledge);

#endif
