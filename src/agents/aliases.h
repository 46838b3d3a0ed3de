/* Names that stand for other kinds. See tacit_agent_choose in include/tacit/agent.h. */
#ifndef TACIT_AGENTS_ALIASES_H
#define TACIT_AGENTS_ALIASES_H

#include <tacit/agent.h>

/* The bit of tacit_agent_models that a guarantee needs, and its name. */
unsigned tacit__agent_model_bit(tacit_guarantee guarantee);
const char *tacit__agent_model_name(unsigned bit);

#endif
