/* The worlds of an experiment as the jobs share them. */
#ifndef TACIT_LAB_LAB_WORLDS_H
#define TACIT_LAB_LAB_WORLDS_H

#include "lab/results.h"
#include "lab/runs/play.h"

/* Creates every world and copies what is public about it to the results. Jobs check `stop` while they
 * play. */
TACIT_MUST_USE tacit_status tacit__lab_worlds_create(tacit_results *results, atomic_bool *stop,
                                                     tacit__lab_world **out, tacit_error *err);
/* Computes what the best policy of each earns, which is the longest part of the beginning. */
TACIT_MUST_USE tacit_status tacit__lab_worlds_solve(tacit__lab_world *lab_worlds,
                                                    tacit_results *results, tacit_error *err);
void tacit__lab_worlds_destroy(tacit__lab_world *lab_worlds, size_t n);

/* Creates every agent once, in every world where it plays, so that a mistake in the last of them is found
 * now and not hours later. Copies remarks and release plans to the results. */
TACIT_MUST_USE tacit_status tacit__check_agents(const tacit__lab_world *lab_worlds,
                                                tacit_results *results, tacit_error *err);

#endif
