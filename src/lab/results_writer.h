/* Results on disk: what was found is kept as it comes, and what was kept is found again. */
#ifndef TACIT_LAB_RESULTS_WRITER_H
#define TACIT_LAB_RESULTS_WRITER_H

#include "lab/workers.h"

typedef struct tacit__results_writer tacit__results_writer;

/* Looks into the directory and, by `mode`, refuses, loads finished jobs into the workers's results, or forgets what is there.
 * Nothing is written yet. EXISTS: results of this experiment are there; WRONG_PLAN: of another one;
 * WRONG_VERSION: of another version. */
TACIT_MUST_USE tacit_status tacit__results_writer_open(tacit__workers *workers,
                                                       const char *directory, tacit_lab_mode mode,
                                                       tacit__results_writer **out,
                                                       tacit_error *err);

/* Worlds and agents are known now: writes them if they are not there, and begins to write down what the workers finds, in
 * a thread of its own, about once a second. A failure to write stops the workers and is its failure. */
TACIT_MUST_USE tacit_status tacit__results_writer_start(tacit__results_writer *writer,
                                                        tacit_error *err);

/* After the workers has gone home: writes what is left. Accepts NULL, and keepers that were not started. */
TACIT_MUST_USE tacit_status tacit__results_writer_finish(tacit__results_writer *writer,
                                                         tacit_error *err);
void tacit__results_writer_destroy(tacit__results_writer *writer);

#endif
