/* LinOpt-PO [Z22, Alg. 2]: LinOpt-VI with policy optimization in the place of greedy choices. */
#ifndef TACIT_PLAN_PAPERS_LINOPT_PO_H
#define TACIT_PLAN_PAPERS_LINOPT_PO_H

#include "plan/optimist.h"

extern const tacit__soft_policy tacit__linopt_po;

#endif
