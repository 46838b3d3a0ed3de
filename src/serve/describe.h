/* Learners in JSON, as several routes show them. All of it is public. */
#ifndef TACIT_SERVE_DESCRIBE_H
#define TACIT_SERVE_DESCRIBE_H

#include "base/text.h"
#include "serve/learner.h"

const char *tacit__model_name(tacit_model model);
/* "model":..., "guarantee":{...}, "agent":{...}, "space":{...}, "episodes":... */
void tacit__describe_learner(const tacit__learner_config *config, tacit__text *out);
/* What the released mean reward costs, and all of it with the learner: basic composition, which holds in
 * both models. */
tacit_guarantee tacit__describe_together(const tacit__learner_config *config);
/* ,"monitor":{...},"together":{...}, each null where nothing is promised. */
void tacit__describe_monitor(const tacit__learner_config *config, tacit__text *out);
/* "policy":[...] or "mixed":[...]; nothing where the board is no table. With a comma before it. */
void tacit__describe_board(const tacit__learner_config *config, const tacit__board *board,
                           tacit__text *out);
/* "limit":..., "accepted":..., ... */
void tacit__describe_figures(const tacit__learner_figures *figures, tacit__text *out);

#endif
