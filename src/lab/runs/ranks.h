/* Several processes at one experiment. Process 0 has the list of jobs and all results; the others ask for
 * jobs, play them, and send results. */
#ifndef TACIT_LAB_RANKS_H
#define TACIT_LAB_RANKS_H

#include "lab/experiment.h"
#include "lab/runs/workers.h"

typedef struct tacit__ranks tacit__ranks;

/* In process 0 the workers have slots for the threads of all processes, elsewhere for their own. */
TACIT_MUST_USE tacit_status tacit__ranks_create(tacit__workers *workers,
                                                const tacit_transport *transport,
                                                tacit__ranks **out, tacit_error *err);
void tacit__ranks_destroy(tacit__ranks *ranks);

/* Sends and receives what is due, without waiting; to be called often. A failure of the transport, or of
 * another process, becomes the workers'. False when nothing more is expected: in process 0, from the
 * others; elsewhere, from this one. */
bool tacit__ranks_poll(tacit__ranks *ranks);

/* Process 0, at the end: SYSTEM if others fell silent before they had sent all results. */
TACIT_MUST_USE tacit_status tacit__ranks_check(const tacit__ranks *ranks, tacit_error *err);

/* Tests only: seconds until a silent process is given up. */
void tacit__ranks_set_silence(double seconds);

#endif
