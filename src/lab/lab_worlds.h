/* The worlds of an experiment, ready to be played in. */
#ifndef TACIT_LAB_LAB_WORLDS_H
#define TACIT_LAB_LAB_WORLDS_H

#include "lab/play.h"
#include "lab/results.h"

/* Creates every world and notes in the results what is public about it. `stop` is looked at while jobs are played. */
TACIT_MUST_USE tacit_status tacit__lab_worlds_create(tacit_results *results, atomic_bool *stop,
                                                     tacit__lab_world **out, tacit_error *err);
void tacit__lab_worlds_destroy(tacit__lab_world *lab_worlds, size_t n);

/* Creates every agent once, in every world where it plays: what is wrong with the last of them should not be found
 * hours later. Notes remarks and release plans in the results. */
TACIT_MUST_USE tacit_status tacit__check_agents(const tacit__lab_world *lab_worlds,
                                                tacit_results *results, tacit_error *err);

#endif
