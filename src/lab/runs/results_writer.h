/* Results on disk: written as they come, and read back when a run is resumed. */
#ifndef TACIT_LAB_RESULTS_WRITER_H
#define TACIT_LAB_RESULTS_WRITER_H

#include "lab/runs/workers.h"

typedef struct tacit__results_writer tacit__results_writer;

/* Opens the directory and, by `mode`, refuses, loads finished jobs into the workers' results, or removes
 * the results that it holds. Nothing is written yet. EXISTS: the directory holds results of this
 * experiment; WRONG_PLAN: of another one; WRONG_VERSION: of another version. */
TACIT_MUST_USE tacit_status tacit__results_writer_open(tacit__workers *workers,
                                                       const char *directory, tacit_lab_mode mode,
                                                       tacit__results_writer **out,
                                                       tacit_error *err);

/* Worlds and agents are known now: writes them if they are missing, and starts a thread that writes new
 * results about once a second. A failure to write stops the workers and becomes their failure. */
TACIT_MUST_USE tacit_status tacit__results_writer_start(tacit__results_writer *writer,
                                                        tacit_error *err);

/* After the workers have ended: writes the rest. Accepts NULL, and writers that were not started. */
TACIT_MUST_USE tacit_status tacit__results_writer_finish(tacit__results_writer *writer,
                                                         tacit_error *err);
void tacit__results_writer_destroy(tacit__results_writer *writer);

#endif
