/* Results on disk: what was found is kept as it comes, and what was kept is found again. */
#ifndef TACIT_LAB_KEEP_H
#define TACIT_LAB_KEEP_H

#include "lab/crew.h"

typedef struct tacit__keeper tacit__keeper;

/* Looks into the directory and, by `mode`, refuses, loads finished jobs into the crew's results, or forgets what is there.
 * Nothing is written yet. EXISTS: results of this experiment are there; WRONG_PLAN: of another one;
 * WRONG_VERSION: of another version. */
TACIT_MUST_USE tacit_status tacit__keeper_open(tacit__crew *crew, const char *directory,
                                               tacit_lab_mode mode, tacit__keeper **out,
                                               tacit_error *err);

/* Worlds and agents are known now: writes them if they are not there, and begins to write down what the crew finds, in
 * a thread of its own, about once a second. A failure to write stops the crew and is its failure. */
TACIT_MUST_USE tacit_status tacit__keeper_start(tacit__keeper *keeper, tacit_error *err);

/* After the crew has gone home: writes what is left. Accepts NULL, and keepers that were not started. */
TACIT_MUST_USE tacit_status tacit__keeper_finish(tacit__keeper *keeper, tacit_error *err);
void tacit__keeper_destroy(tacit__keeper *keeper);

#endif
