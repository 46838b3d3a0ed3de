/* One job in a bandit world: one agent, or baseline, plays one run. */
#ifndef TACIT_LAB_PLAY_ROUNDS_H
#define TACIT_LAB_PLAY_ROUNDS_H

#include "lab/runs/play.h"

/* Plays like tacit__play, without the time. */
TACIT_MUST_USE tacit_status tacit__rounds_play(const tacit__lab_world *lab_world, size_t agent,
                                               uint64_t run, tacit__worker_slot *slot,
                                               double *curve, tacit_job *job, tacit_error *err);

#endif
