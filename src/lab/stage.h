/* The worlds of an experiment, ready to be played in. */
#ifndef TACIT_LAB_STAGE_H
#define TACIT_LAB_STAGE_H

#include "lab/play.h"
#include "lab/results.h"

/* Creates every world and notes in the results what is public about it. `stop` is looked at while jobs are played. */
TACIT_MUST_USE tacit_status tacit__stages_create(tacit_results *results, atomic_bool *stop,
                                                 tacit__stage **out, tacit_error *err);
void tacit__stages_destroy(tacit__stage *stages, size_t n);

/* Creates every agent once, in every world where it plays: what is wrong with the last of them should not be found
 * hours later. Notes remarks and release plans in the results. */
TACIT_MUST_USE tacit_status tacit__rehearse(const tacit__stage *stages, tacit_results *results,
                                            tacit_error *err);

#endif
