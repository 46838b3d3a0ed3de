/* Where papers print the noise of their algorithms: for people who check by hand. */
#ifndef TACIT_AGENTS_PRINTED_AT_H
#define TACIT_AGENTS_PRINTED_AT_H

#include <tacit/plan.h>

/* Paper, place and formula, in the words of docs/references.md; "" where there is nothing to point to. */
const char *tacit__printed_at(const char *kind, tacit_model model);

#endif
