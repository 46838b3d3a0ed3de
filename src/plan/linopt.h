/* LinOpt-VI and LinOpt-PO [Z22, Alg. 1 and 2]: how sure their regressions are, and how large a step of the policy is. The
 * planning itself is optimist.c. */
#ifndef TACIT_PLAN_LINOPT_H
#define TACIT_PLAN_LINOPT_H

#include "plan/radius.h"

tacit__confidence_fn tacit__linopt_confidence;

/* The theorem's eta = sqrt(2 log A / (H K H)) [Z22, Thm. 5.1]. */
double tacit__linopt_step_size(size_t n_actions, size_t horizon, uint64_t episodes);

#endif
