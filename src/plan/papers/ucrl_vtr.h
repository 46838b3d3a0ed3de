/* UCRL-VTR and UCRL-VTR+ [LGLP21, Alg. 1 and 3]: how sure their regressions are. The planning
 * itself is optimist.c. */
#ifndef TACIT_PLAN_PAPERS_UCRL_VTR_H
#define TACIT_PLAN_PAPERS_UCRL_VTR_H

#include "plan/radius.h"

tacit__confidence_fn tacit__ucrl_vtr_confidence, tacit__ucrl_vtr_plus_confidence;

/* [LGLP21, Cor. 5 and 6], one regression; [LGLP21, Cor. 10 and 11], two. */
tacit__printed_fn tacit__printed_ucrl_vtr, tacit__printed_ucrl_vtr_plus;

#endif
