/* Where papers print the noise of their algorithms: for people who check by hand. */
#ifndef TACIT_AGENTS_PRINTED_AT_H
#define TACIT_AGENTS_PRINTED_AT_H

#include <stdbool.h>

#include <tacit/plan.h>

/* Paper, place and formula, in the words of docs/references.md; "" where there is nothing to point to. `recalled`: the formula was taken from
 * later papers and public code, and nobody here has compared it with the paper's own text. */
typedef struct tacit__printed_place {
    const char *words;
    bool recalled;
} tacit__printed_place;

tacit__printed_place tacit__printed_at(const char *kind, tacit_model model);

#endif
