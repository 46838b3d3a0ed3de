/* PUCB [VBKW20]: optimism above a threshold on the noisy visits. */
#ifndef TACIT_PLAN_PAPERS_PUCB_H
#define TACIT_PLAN_PAPERS_PUCB_H

#include "plan/planner.h"

extern const tacit__planner tacit__pucb;

#endif
