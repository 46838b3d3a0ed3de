/* Learners in JSON, as several routes show them. All of it is public. */
#ifndef TACIT_SERVE_LEARNER_DESCRIBE_H
#define TACIT_SERVE_LEARNER_DESCRIBE_H

#include "serve/learner/learner.h"
#include "text/text.h"

const char *tacit__model_name(tacit_model model);
/* "model":..., "guarantee":{...}, "agent":{...}, "space":{...}, "episodes":... */
void tacit__describe_learner(const tacit__learner_config *config, tacit__text *out);
/* {"epsilon":...,"delta":...}, or null where nothing is promised. */
void tacit__describe_guarantee(const tacit_guarantee *guarantee, tacit__text *out);
/* ,"monitor":{...},"together":{...}, each null where nothing is promised. */
void tacit__describe_monitor(const tacit__learner_config *config, tacit__text *out);
/* "policy":[...] or "mixed":[...]; nothing where the board is no table. With a comma before it. */
void tacit__describe_board(const tacit__learner_config *config, const tacit__board *board,
                           tacit__text *out);
/* "limit":..., "accepted":..., ... */
void tacit__describe_figures(const tacit__learner_figures *figures, tacit__text *out);

#endif
