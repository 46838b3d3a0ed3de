/* Rewards of arms as scores, for bandits without contexts. */
#ifndef TACIT_CONTRIBUTE_ARM_REWARDS_H
#define TACIT_CONTRIBUTE_ARM_REWARDS_H

#include "contribute/scores.h"

/* `arms` must outlive the form: a table of one state, none of whose steps is scored, with rewards. */
tacit__score_form tacit__score_form_of_arms(const tacit__score_table *arms);

#endif
