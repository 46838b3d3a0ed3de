/* The calibrations that papers print for learners by regression: scales of noise and the levels that follow from them. What
 * they really give is computed elsewhere; here they are only written down. */
#ifndef TACIT_AGENTS_PRINTED_H
#define TACIT_AGENTS_PRINTED_H

#include <tacit/plan.h>

typedef struct tacit__printed_case {
    tacit_guarantee guarantee; /* joint or local, delta > 0 */
    double episodes, horizon, failure;
    double dimension[2]; /* of the regressions */
} tacit__printed_case;

/* In units in which features and targets of every step are at most 1 (or (H - h) / H where the paper's range is H). */
typedef struct tacit__printed_noise {
    double gram,
        response; /* of a node of the tree, or of a report: of packed coordinates, and of responses */
    double gram_level, response_level; /* Upsilon (or Sigma), and C (or what nu is made of) */
} tacit__printed_noise;

/* [LGLP21, Cor. 5 and 6], one regression; [LGLP21, Cor. 10 and 11], two; [Z22, Thm. 6.4], two. */
void tacit__printed_ucrl_vtr(const tacit__printed_case *c, tacit__printed_noise out[1]);
void tacit__printed_ucrl_vtr_plus(const tacit__printed_case *c, tacit__printed_noise out[2]);
void tacit__printed_linopt(const tacit__printed_case *c, tacit__printed_noise out[2]);

#endif
