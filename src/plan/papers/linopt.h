/* LinOpt-VI and LinOpt-PO [Z22, Alg. 1 and 2]: how sure their regressions are. The planning itself
 * is optimist.c, the policy of LinOpt-PO linopt_po.c. */
#ifndef TACIT_PLAN_PAPERS_LINOPT_H
#define TACIT_PLAN_PAPERS_LINOPT_H

#include "plan/radius.h"

tacit__confidence_fn tacit__linopt_confidence;

/* [Z22, Thm. 6.4], two regressions. */
tacit__printed_fn tacit__printed_linopt;

#endif
